"""`urllib2`: opening addresses."""

from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlparse
from urllib.request import *  # noqa: F403
from urllib.request import (
    BaseHandler,
    HTTPCookieProcessor,
    HTTPHandler,
    HTTPSHandler,
    ProxyHandler,
    Request,
    build_opener,
    install_opener,
    urlopen,
)

__all__ = [
    "BaseHandler",
    "HTTPCookieProcessor",
    "HTTPError",
    "HTTPHandler",
    "HTTPSHandler",
    "ProxyHandler",
    "Request",
    "URLError",
    "build_opener",
    "install_opener",
    "quote",
    "unquote",
    "urlopen",
    "urlparse",
]
