"""Authentication between processes: certificates for TLS, and tokens.

`Credentials` name files, and can travel in a session's config. An `Identity` is what is in those
files: it opens channels and ports, and is never printed, logged or sent, but for the token.
"""

from __future__ import annotations

import hmac
import ipaddress
import json
import os
import socket
import ssl
import stat
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from weft.core import errors, flags
from weft.runtime.debug import report

_CONFIG_FIELD = 77001  # of ConfigProto: one that TensorFlow does not have, and skips
_HEADER = "authorization"
_SCHEME = "Bearer "
_warned: set[str] = set()  # files whose permissions have been complained about


@dataclass(frozen=True)
class Credentials:
    """Files with the identity of a process and the authorities it trusts; empty: not used.

    With `cert` and `key` a server speaks TLS; with `ca`, or `tls`, a client does. `ca` must have
    signed the certificates of others; with `require_client_cert` also those of clients. The lines
    of `token_file` are the tokens that a server accepts; the first is what a client sends.
    `server_name` is what servers' certificates are for, if not the host in their address.
    """

    cert: str = ""
    key: str = ""
    ca: str = ""
    token_file: str = ""
    server_name: str = ""
    require_client_cert: bool = False
    tls: bool = False

    @staticmethod
    def from_environment() -> Credentials:
        """The credentials that the `WEFT_TLS*` switches and `WEFT_TOKEN_FILE` name."""
        return Credentials(
            flags.TLS_CERT.value, flags.TLS_KEY.value, flags.TLS_CA.value, flags.TOKEN_FILE.value,
            flags.TLS_NAME.value, flags.TLS_CLIENTS.value, flags.TLS.value,
        )  # fmt: skip

    def to_environment(self) -> dict[str, str]:
        """The switches that say the same to another process."""
        values = {
            flags.TLS_CERT.name: self.cert, flags.TLS_KEY.name: self.key,
            flags.TLS_CA.name: self.ca, flags.TOKEN_FILE.name: self.token_file,
            flags.TLS_NAME.name: self.server_name, flags.TLS.name: "1" * self.tls,
            flags.TLS_CLIENTS.name: "1" * self.require_client_cert,
        }  # fmt: skip
        return {name: value for name, value in values.items() if value}

    def added_to(self, config: Any = None) -> Any:
        """A copy of a ConfigProto with these credentials in it; they never leave the process."""
        from tensorboard.compat.proto.config_pb2 import ConfigProto

        from weft.cluster.transport.wire import head

        made = stripped(config) if config is not None else ConfigProto()
        data = json.dumps(asdict(self)).encode()
        made.MergeFromString(head(_CONFIG_FIELD, len(data)) + data)
        return made


def from_config(config: Any) -> Credentials | None:
    """The credentials that were added to a ConfigProto, if any were."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    if config is None:
        return None
    found = [f.data for f in UnknownFieldSet(config) if f.field_number == _CONFIG_FIELD]
    return Credentials(**json.loads(found[-1])) if found else None


def stripped(config: Any) -> Any:
    """A copy of a ConfigProto without credentials: what others may see."""
    copy = type(config)()
    copy.CopyFrom(config)
    copy.DiscardUnknownFields()
    return copy


def identity(credentials: Credentials | None, config: Any, tls: bool = False) -> Identity:
    """Of what was given, of what is in the config, or of what the environment says."""
    found = credentials or from_config(config) or Credentials.from_environment()
    return Identity(found, tls)


class Identity:
    """The contents of the files of credentials, checked. `tls`: TLS is used in any case."""

    def __init__(self, credentials: Credentials, tls: bool = False) -> None:
        self._files = credentials
        if bool(credentials.cert) != bool(credentials.key):
            raise _wrong("TLS takes a certificate and its key: one of the two is missing")
        self.uses_tls = tls or credentials.tls or bool(credentials.cert or credentials.ca)
        self.server_name = credentials.server_name
        self._tokens = _read_tokens(credentials.token_file)
        self._pem = {name: _read(getattr(credentials, name)) for name in ("cert", "key", "ca")}
        for secret in (credentials.key, credentials.token_file):
            _warn_if_others_can_read(secret)
        if self.uses_tls:
            self.context()

    def __repr__(self) -> str:
        return f"Identity({self._files})"

    # ---- TLS ----

    def context(self) -> ssl.SSLContext:
        """The same certificates for Python's own TLS. InvalidArgumentError if they are none."""
        files = self._files
        try:
            made = ssl.create_default_context(cafile=files.ca or None)
        except (OSError, ValueError) as error:
            raise _wrong(f"No CA could be read from {files.ca}: {_reason(error)}") from None
        try:
            if files.cert:
                made.load_cert_chain(files.cert, files.key, password=lambda: b"")
        except (OSError, ValueError) as error:
            raise _wrong(
                f"No certificate and key that belong together could be read from {files.cert} and"
                f" {files.key}: {_reason(error)}"
            ) from None
        return made

    @property
    def has_certificate(self) -> bool:
        return bool(self._files.cert)

    @property
    def authority(self) -> str:
        """Whom we trust, in words."""
        return self._files.ca or "the CAs that gRPC knows"

    def channel(self, address: str, options: Iterable[tuple[str, Any]]) -> Any:
        """A gRPC channel."""
        import grpc

        options = list(options)
        if self._tokens and not self.uses_tls and not is_loopback(address):
            report.log(f"weft: the token goes to {address} in the clear, for want of TLS")
        if not self.uses_tls:
            return grpc.insecure_channel(address, options=options)
        if self.server_name:
            options.append(("grpc.ssl_target_name_override", self.server_name))
        pem = self._pem
        made = grpc.ssl_channel_credentials(pem["ca"], pem["key"], pem["cert"])
        return grpc.secure_channel(address, made, options=options)

    def listen(self, server: Any, address: str) -> int:
        """Opens a port of a gRPC server; 0, or RuntimeError, if that cannot be."""
        import grpc

        if not self.uses_tls:
            if self._tokens and not is_loopback(address):
                report.log(f"weft: tokens come to {address} in the clear, for want of TLS")
            port: int = server.add_insecure_port(address)
            return port
        pem, wanted = self._pem, self._files.require_client_cert
        made = grpc.ssl_server_credentials(
            [(pem["key"], pem["cert"])], pem["ca"] if wanted else None, wanted
        )
        port = server.add_secure_port(address, made)
        return port

    def check_server(self) -> None:
        """InvalidArgumentError if a server lacks something."""
        files = self._files
        if self.uses_tls and not files.cert:
            raise _wrong(
                "A server that speaks TLS takes a certificate and its key (--tls-cert, --tls-key;"
                f" {flags.TLS_CERT.name}, {flags.TLS_KEY.name})"
            )
        if files.require_client_cert and not (self.uses_tls and files.ca):
            raise _wrong(
                "A server that wants certificates of clients takes a certificate and key of its own"
                f" and the CA that signs theirs (--tls-ca, {flags.TLS_CA.name})"
            )

    def check_open_to(self, address: str, anyone: bool) -> None:
        """InvalidArgumentError if other machines could use a server without authentication.

        A client with a session can run anything with the rights of the server. `anyone`: that is
        wanted.
        """
        if anyone or self._tokens or self.uses_tls or is_of_this_machine(address):
            return
        raise _wrong(
            f"Without a token or TLS, other machines could run what they like here: {address} is"
            " not an address of this machine alone. Give the server a token (--token-file,"
            f" {flags.TOKEN_FILE.name}) and TLS (--tls-cert, --tls-key), use localhost, or say"
            " --insecure"
        )

    def reach(self, address: str) -> str:
        """The clients that can use a server at `address`, in words."""
        local = is_of_this_machine(address)
        who = "processes of this machine only" if local else "whoever reaches its port"
        if self._tokens:
            return f"open to {who}, with a token"
        if self._files.require_client_cert:
            return f"open to {who}, with a certificate"
        return f"open to {who}: there is no token"

    # ---- tokens ----

    @property
    def token(self) -> bytes:
        """The token sent to other processes; empty if there is none."""
        return self._tokens[0] if self._tokens else b""

    @property
    def metadata(self) -> tuple[tuple[str, str], ...] | None:
        """The metadata of every call over gRPC."""
        return ((_HEADER, _SCHEME + self.token.decode()),) if self._tokens else None

    def accepts(self, token: bytes) -> bool:
        """Whether a token is the server's; that takes as long for a good guess as for a bad one."""
        matches = [hmac.compare_digest(token, each) for each in self._tokens]
        return any(matches) or not self._tokens

    @property
    def has_tokens(self) -> bool:
        """Whether a call must show one."""
        return bool(self._tokens)

    def refusal(self, metadata: Iterable[tuple[str, Any]]) -> str:
        """The reason for refusing a call with this metadata; empty if it is accepted."""
        if not self._tokens:
            return ""
        shown = next((v for k, v in metadata if k == _HEADER), None)
        if shown is None:
            return (
                "The server wants a token, and the call has none: give its token file to the"
                f" client, too (token_file of its Credentials, or {flags.TOKEN_FILE.name})"
            )
        token = shown.removeprefix(_SCHEME) if isinstance(shown, str) else ""
        return "" if self.accepts(token.encode()) else "The token is none of the server's tokens"


def is_of_this_machine(address: str) -> bool:
    """Whether only processes of this machine can reach a server at `address`, by its name."""
    host = address.rpartition(":")[0].strip("[]") or "localhost"
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        return is_loopback(address)
    hosts = [str(where[4][0]).partition("%")[0] for where in found]
    return all(ipaddress.ip_address(host).is_loopback for host in hosts)


def is_loopback(address: str) -> bool:
    """Whether only processes of this machine can reach `address`."""
    host = address.rpartition(":")[0].strip("[]") or "localhost"
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read(path: str) -> bytes | None:
    if not path:
        return None
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise _wrong(f"Cannot read {path}: {error.strerror}") from None


def _read_tokens(path: str) -> tuple[bytes, ...]:
    lines = (_read(path) or b"").splitlines()
    tokens = tuple(line.strip() for line in lines if line.strip())
    if path and not tokens:
        raise _wrong(f"There is no token in {path}: a line of text is wanted")
    if not all(token.isascii() and token.decode().isprintable() for token in tokens):
        raise _wrong(f"The tokens in {path} must be of printable ASCII characters")
    return tokens


def _warn_if_others_can_read(path: str) -> None:
    if not path or path in _warned:
        return
    if os.stat(path).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        _warned.add(path)
        report.log(f"weft: {path} is a secret that other users can read: chmod 600 {path}")


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)


def _wrong(text: str) -> errors.OpError:
    return errors.InvalidArgumentError(None, None, text)


NOBODY = Identity(Credentials())
"""No TLS and no token, as with TensorFlow."""
