"""The HTTP server of weft's pages and of the model server: starlette's applications on uvicorn."""

from __future__ import annotations

import threading
import time
from typing import Any

import uvicorn

from weft.cluster.guard.security import Credentials
from weft.core import errors

_START_SECONDS = 20.0


class Listener:
    """Serves an application at any number of addresses, each on a thread of its own."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._servers: list[tuple[uvicorn.Server, threading.Thread]] = []

    def listen(self, credentials: Credentials, **where: Any) -> int:
        """Serves at a host and port, or at a socket of the file system (`uds`); the port."""
        config = uvicorn.Config(
            self._app, log_config=None, log_level="critical", access_log=False, lifespan="off",
            server_header=False, date_header=False, proxy_headers=False,
            **_tls(credentials, "uds" in where), **where,
        )  # fmt: skip
        server = uvicorn.Server(config)
        failed: list[BaseException] = []

        def serve() -> None:
            try:
                server.run()
            except BaseException as error:  # uvicorn ends the process if it cannot listen
                failed.append(error)

        thread = threading.Thread(target=serve, name="weft-http", daemon=True)
        thread.start()
        until = time.monotonic() + _START_SECONDS
        while not server.started:
            if failed or not thread.is_alive() or time.monotonic() > until:
                raise errors.UnavailableError(None, None, f"No HTTP server can listen at {where}")
            time.sleep(0.01)
        self._servers.append((server, thread))
        sockets = server.servers[0].sockets
        return sockets[0].getsockname()[1] if "uds" not in where else 0

    def close(self, seconds: float) -> None:
        """Takes no more connections, and waits until no client holds one, or so long."""
        for listening in [each for server, _ in self._servers for each in server.servers]:
            listening.get_loop().call_soon_threadsafe(listening.close)
        until = time.monotonic() + seconds
        while any(server.server_state.connections for server, _ in self._servers):
            if time.monotonic() > until:
                return
            time.sleep(0.01)

    def stop(self, seconds: float) -> None:
        """Takes no more requests; those under way have so long."""
        for server, _ in self._servers:
            server.config.timeout_graceful_shutdown = max(1, int(seconds))
            server.should_exit = True
        for _, thread in self._servers:
            thread.join(seconds + 5.0)


def _tls(credentials: Credentials, local: bool) -> dict[str, Any]:
    """TLS for uvicorn, as the identity has it for gRPC; none on sockets of the file system."""
    import ssl

    if not credentials.cert or local:
        return {}
    found: dict[str, Any] = {"ssl_certfile": credentials.cert, "ssl_keyfile": credentials.key}
    if credentials.require_client_cert:
        found |= {"ssl_ca_certs": credentials.ca, "ssl_cert_reqs": ssl.CERT_REQUIRED}
    return found
