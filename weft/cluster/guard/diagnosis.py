"""Reasons for a failed connection: no server there, wrong certificates, TLS at one end only.

gRPC says little of that ("Socket closed"), so the server is called once more, by Python's own TLS.
"""

from __future__ import annotations

import socket
import ssl

from weft.cluster.guard.security import Identity
from weft.core import flags

# How long it takes at most, and how long when there is no time left.
SECONDS, IN_HASTE = 2.0, 0.5
# Of OpenSSL: what is wrong with a certificate.
_NOT_YET, _EXPIRED, _WRONG_NAME, _WRONG_ADDRESS = 9, 10, 62, 64


def diagnose(address: str, identity: Identity, seconds: float = SECONDS) -> str:
    """A message that names a TLS problem and its remedy; empty if TLS is not the problem."""
    host, _, port = address.rpartition(":")
    host = host.strip("[]") or "localhost"
    try:
        with socket.create_connection((host, int(port)), seconds) as connection:
            if identity.uses_tls:
                return _with_tls(connection, identity.server_name or host, identity)
            return _without_tls(connection)
    except (OSError, ValueError):
        return ""  # no server is there: not a problem of TLS


def unreachable(address: str) -> str:
    """The error of a connection to `address`; empty if a server accepts it."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]") or "localhost", int(port)), IN_HASTE).close()
    except (OSError, OverflowError) as error:
        return str(error)
    return ""


def _with_tls(connection: socket.socket, name: str, identity: Identity) -> str:
    context = identity.context()
    context.set_alpn_protocols(["h2"])
    try:
        with context.wrap_socket(connection, server_hostname=name) as secure:
            return _after_handshake(secure, identity)
    except ssl.SSLCertVerificationError as error:
        return _of_certificate(error.verify_code, name, identity)
    except ssl.SSLError:
        return (
            "the server does not speak TLS: start it with a certificate and key (--tls-cert,"
            " --tls-key), or leave out what asks for TLS here (ca, cert, tls, grpcs://)"
        )


def _after_handshake(secure: ssl.SSLSocket, identity: Identity) -> str:
    """A server that is content speaks first; one that wants another certificate hangs up."""
    try:
        if secure.recv(1):
            return ""
    except (ssl.SSLError, ConnectionError):
        pass
    except TimeoutError:
        return ""
    cert, key = flags.TLS_CERT.name, flags.TLS_KEY.name
    if identity.has_certificate:
        return (
            "the server refused the certificate of this process: it must be valid, and signed by"
            f" the CA that the server was given ({cert}, {key})"
        )
    return (
        "the server wants a certificate of its clients, and this process has none: give it one,"
        f" signed by the CA that the server was given (cert and key, or {cert} and {key})"
    )


def _of_certificate(code: int, name: str, identity: Identity) -> str:
    if code in (_EXPIRED, _NOT_YET):
        when = "has expired" if code == _EXPIRED else "is not valid yet"
        return f"the certificate of the server {when}: give the server a new one"
    if code in (_WRONG_NAME, _WRONG_ADDRESS):
        return (
            f"the certificate of the server is not for {name!r}: it takes one that names this host"
            " among its subjectAltNames, or say here what name it has (server_name, or"
            f" {flags.TLS_NAME.name})"
        )
    return (
        f"the certificate of the server is not signed by {identity.authority}: name the CA that"
        f" signed it (ca, or {flags.TLS_CA.name})"
    )


def _without_tls(connection: socket.socket) -> str:
    """A server that answers to the beginning of TLS speaks it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    try:
        with context.wrap_socket(connection):
            pass
    except (ssl.SSLError, ConnectionError):
        return ""
    return (
        "the server speaks TLS: name the CA that signed its certificate (ca of the Credentials in"
        f" the session's config, or {flags.TLS_CA.name})"
    )
