"""The HTTP server: REST, metrics, health and the page, on starlette and uvicorn."""

from __future__ import annotations

import asyncio
import functools
import re
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from weft.cluster.guard.limits import COMPLAINTS
from weft.cluster.guard.security import Credentials, Identity
from weft.core import errors
from weft.pages.http import Listener
from weft.pages.site import endpoint_of, static_file
from weft.serve import json_text
from weft.serve.metrics import Metrics
from weft.serve.page import Page
from weft.serve.rest import Answered, Rest, RestRequest, TakesTime, http_status

_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_REST = "/v1/"
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "POST, GET",
    "Access-Control-Allow-Headers": "Content-Type",
}
_JSON = (b"content-type", b"application/json")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_FAREWELL = 0.5  # seconds
_SMALL = 4096  # bytes of a body, which are read in less time than a thread takes to begin
METRICS_PATH = "/monitoring/prometheus/metrics"


@functools.lru_cache(256)
def _rest_path(method: str, path: bytes) -> str:
    """The path of a request for REST; "" if it is for something else, or written another way."""
    found = path.decode("latin-1")
    return found if found.startswith(_REST) and method in ("GET", "POST") else ""


class _Answer(Response):
    """JSON, with headers that are ready: starlette would make them anew for each answer."""

    def __init__(self, text: str, status: int, headers: list[tuple[bytes, bytes]]) -> None:
        self.body, self.status_code = text.encode("utf-8", "surrogateescape"), status
        self.raw_headers = [*headers, (b"content-length", b"%d" % len(self.body)), _JSON]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        status, headers = self.status_code, self.raw_headers
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": self.body})


@dataclass(frozen=True)
class HttpLimits:
    """Of one body in bytes, of an answer in seconds, of requests at once."""

    body: int
    seconds: float
    calls: int
    threads: int


class HttpFront:
    """The HTTP server, on a thread of its own."""

    def __init__(
        self,
        rest: Rest,
        metrics: Metrics,
        page: Page,
        identity: Identity,
        is_ready: Callable[[], bool],
        limits: HttpLimits,
        cors: bool = False,
        metrics_path: str = METRICS_PATH,
    ) -> None:
        self._rest, self._metrics, self._page = rest, metrics, page
        self._identity, self._is_ready, self._limits = identity, is_ready, limits
        self._headers = _CORS if cors else {}
        self._raw_headers = [(k.lower().encode(), v.encode()) for k, v in self._headers.items()]
        self._pool = ThreadPoolExecutor(limits.threads, "weft-rest")
        self._busy = 0
        self._metrics_path = metrics_path
        self._site = Starlette(
            routes=[
                Route("/", self._show_page),
                Route("/look.css", static_file("look.css")),
                Route("/page/state", self._guarded(self._page_state)),
                Route("/status", static_file("status.html")),
                Route("/status.js", static_file("status.js")),
                Route("/make.js", static_file("make.js")),
                Route("/status.json", self._guarded(endpoint_of(page.status))),
                Route("/graph.json", self._guarded(endpoint_of(page.graph))),
                Route("/trace", self._guarded(endpoint_of(page.trace)), methods=["POST"]),
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route(metrics_path, self._guarded(self._show_metrics)),
                Route("/{path:path}", self._elsewhere, methods=list(_METHODS)),
            ]
        )
        self._listener = Listener(self)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """REST goes straight to its answer, as starlette would go after trying every route."""
        path = _rest_path(scope["method"], scope["raw_path"]) if scope["type"] == "http" else ""
        if path and path != self._metrics_path:
            response = await self._answer(path, scope, receive)
            await response(scope, receive, send)
        else:
            await self._site(scope, receive, send)

    # ---- who may ask ----

    def _guarded(
        self, endpoint: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def guarded(request: Request) -> Response:
            return self._refused(request.scope) or await endpoint(request)

        return guarded

    def _refused(self, scope: Any) -> Response | None:
        """The answer to who may not ask."""
        refusal = self._identity.refusal(map(_as_text, scope["headers"]))
        if not refusal:
            return None
        path = Request(scope).url.path[:200]
        COMPLAINTS.say(refusal, f"{scope['method']} {path}: {refusal}")
        return self._failed(errors.UNAUTHENTICATED, refusal)

    def _failed(self, code: int, text: str, status: int | None = None) -> Response:
        return _Answer(json_text.error(text), status or http_status(code), self._raw_headers)

    # ---- REST ----

    async def _elsewhere(self, request: Request) -> Response:
        """What no route is for: REST by another way of writing it, or nothing."""
        path = request.scope.get("raw_path", b"").decode("latin-1") or request.url.path
        if path[: len(_REST)].lower() != _REST:
            return self._refused(request.scope) or PlainTextResponse("Not Found", 404)
        if request.method == "OPTIONS":
            return self._refused(request.scope) or self._preflight(request)
        return await self._answer(path, request.scope, request.receive)

    async def _answer(self, path: str, scope: Any, receive: Any) -> Response:
        if self._identity.has_tokens and (refused := self._refused(scope)) is not None:
            return refused
        part = await receive()
        body = part.get("body")
        if body is None or part.get("more_body") or len(body) > self._limits.body:
            body = await self._whole(part, scope, receive)
            if isinstance(body, Response):
                return body
        if self._busy >= self._limits.calls:
            return self._failed(errors.RESOURCE_EXHAUSTED, "Concurrent request limit exceeded!")
        until = time.monotonic() + self._limits.seconds
        asked = RestRequest(scope["method"], path, body, until, True)
        try:
            answered = self._rest.answer(asked) if len(body) <= _SMALL else None
        except TakesTime:  # others would have to wait for their answers
            answered = None
        answered = answered or await self._in_thread(asked._replace(at_once=False))
        if answered is None:
            return self._failed(errors.DEADLINE_EXCEEDED, "Timed out waiting for the answer")
        return _Answer(answered[1], answered[0], self._raw_headers)

    async def _whole(self, part: Any, scope: Any, receive: Any) -> bytes | Response:
        """The body that begins with a part, or the answer to one that breaks off or is too large.

        No more of it is kept than the limit.
        """
        most = self._limits.body
        said = dict(scope["headers"]).get(b"content-length", b"")
        if said.isdigit() and int(said) > most:
            return self._too_large()
        chunks, size = [part.get("body", b"")], len(part.get("body", b""))
        while part.get("more_body", False) and size <= most:
            part = await receive()
            chunks.append(part.get("body", b""))
            size += len(chunks[-1])
        if part["type"] == "http.disconnect":
            return Response(status_code=499)
        return b"".join(chunks) if size <= most else self._too_large()

    def _too_large(self) -> Response:
        text = f"The request is larger than the {self._limits.body} bytes that are received here"
        return self._failed(errors.RESOURCE_EXHAUSTED, text, 413)

    async def _in_thread(self, asked: RestRequest) -> Answered | None:
        """The answer; None if it does not come in time."""
        self._busy += 1
        step = asyncio.get_running_loop().run_in_executor(self._pool, self._rest.answer, asked)
        step.add_done_callback(self._finished)
        done, _ = await asyncio.wait({step}, timeout=self._limits.seconds)
        return step.result() if done else None

    def _finished(self, step: Any) -> None:
        self._busy -= 1
        step.exception()  # looked at, so that asyncio does not complain

    def _preflight(self, request: Request) -> Response:
        if not re.search("https?://", request.headers.get("origin", "")):
            return self._failed(
                errors.FAILED_PRECONDITION, "Origin header is missing in CORS preflight"
            )
        return Response(b"", 200, self._headers)

    # ---- the rest ----

    async def _show_metrics(self, request: Request) -> Response:
        text = await asyncio.get_running_loop().run_in_executor(None, self._metrics.text)
        return Response(text, media_type=_METRICS)

    async def _healthz(self, request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _readyz(self, request: Request) -> Response:
        ready = self._is_ready()
        return PlainTextResponse("ready\n" if ready else "not ready\n", 200 if ready else 503)

    async def _show_page(self, request: Request) -> Response:
        return Response(self._page.html, media_type="text/html; charset=utf-8")

    async def _page_state(self, request: Request) -> Response:
        return JSONResponse(self._page.state())

    # ---- running ----

    def listen(self, credentials: Credentials, **where: Any) -> int:
        """Serves at a host and port, or at a socket of the file system (`uds`); the port."""
        return self._listener.listen(credentials, **where)

    def stop(self, seconds: float) -> None:
        """Takes no more requests; those under way have so long.

        Before that, clients that ask without pause are told to ask elsewhere: on a connection that
        is closed between two of their requests, the second would be lost.
        """
        self._raw_headers.append((b"connection", b"close"))
        self._listener.close(min(_FAREWELL, seconds))
        self._listener.stop(seconds)
        self._pool.shutdown(wait=False, cancel_futures=True)


def _as_text(header: tuple[bytes, bytes]) -> tuple[str, str]:
    name, value = header
    return name.decode("latin-1"), value.decode("latin-1")
