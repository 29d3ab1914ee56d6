"""The options of `weft server` and `weft launch` about TLS and tokens."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.cluster.guard.security import Credentials

_FILES = {
    "cert": ("--tls-cert", "the certificate of the server: it speaks TLS"),
    "key": ("--tls-key", "the key of the certificate"),
    "ca": ("--tls-ca", "the CA that signs the certificates of the cluster"),
    "token_file": ("--token-file", "the tokens that are accepted, one a line; the first is sent"),
}


def add_arguments(parser: Any) -> None:
    group = parser.add_argument_group("security (default: what WEFT_TLS_* and WEFT_TOKEN_FILE say)")
    for name, (option, help) in _FILES.items():
        group.add_argument(option, dest=name, metavar="FILE", help=help)
    group.add_argument(
        "--tls-name", dest="server_name", metavar="NAME",
        help="what the certificates of servers are for, if not for their host",
    )  # fmt: skip
    group.add_argument(
        "--require-client-cert", action="store_true", default=None,
        help="whoever connects must have a certificate that the CA has signed",
    )  # fmt: skip


def _said(arguments: Any) -> dict[str, Any]:
    """What was given; files by their full path, since tasks may run elsewhere."""
    names = (*_FILES, "server_name", "require_client_cert")
    found = {name: getattr(arguments, name) for name in names}
    return {
        name: os.path.abspath(value) if name in _FILES else value
        for name, value in found.items()
        if value is not None
    }


def credentials_of(arguments: Any) -> Credentials:
    """What the command line says; for the rest, the environment."""
    from dataclasses import replace

    from weft.cluster.guard.security import Credentials

    return replace(Credentials.from_environment(), **_said(arguments))


def environment_of(arguments: Any) -> dict[str, str]:
    """The same for the processes of a cluster."""
    return credentials_of(arguments).to_environment() if _said(arguments) else {}
