"""A site of a few pages: files that belong to weft, and answers that functions make."""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from weft.cluster.guard.limits import COMPLAINTS
from weft.cluster.guard.security import Credentials, Identity, is_loopback
from weft.core import errors
from weft.pages.http import Listener

STATIC = Path(__file__).with_name("static")
Answer = Callable[[Mapping[str, str]], Any]
"""A function of the query -> bytes, or what JSON can hold. OpErrors are told to the asker."""
Endpoint = Callable[[Request], Awaitable[Response]]


def static_file(name: str) -> Endpoint:
    """A file of the package."""
    data, kind = (STATIC / name).read_bytes(), mimetypes.guess_type(name)[0] or "text/plain"

    async def show(request: Request) -> Response:
        return Response(data, media_type=kind, headers={"Cache-Control": "no-cache"})

    return show


class Site:
    """`page` at `/`, other files beside it, and answers: those to GET, and those to POST.

    Who has no token may see the files, in which there is nothing, but gets no answers.
    """

    def __init__(
        self, page: str, files: tuple[str, ...], answers: Mapping[str, Answer],
        actions: Mapping[str, Answer] | None = None, credentials: Credentials | None = None,
    ) -> None:  # fmt: skip
        self._credentials = credentials or Credentials()
        self._identity = Identity(self._credentials)
        self._only_here = True
        routes = [Route("/", self._checked(static_file(page)))]
        routes += [Route(f"/{name}", self._checked(static_file(name))) for name in files]
        for method, table in (("GET", answers), ("POST", actions or {})):
            routes += [
                Route(
                    f"/{name}", self._checked(self._guarded(endpoint_of(answer))), methods=[method]
                )
                for name, answer in table.items()
            ]
        self._listener = Listener(Starlette(routes=routes))

    def _checked(self, endpoint: Endpoint) -> Endpoint:
        """A page of another site may not call itself by our address to read ours."""

        async def checked(request: Request) -> Response:
            host = request.headers.get("host", "")
            address = host if ":" in host.rpartition("]")[2] else f"{host}:80"
            if self._only_here and not is_loopback(address):
                return PlainTextResponse(f"There is no {host[:100]} here\n", 421)
            return await endpoint(request)

        return checked

    def _guarded(self, endpoint: Endpoint) -> Endpoint:
        async def guarded(request: Request) -> Response:
            refusal = self._identity.refusal(request.headers.items())
            if refusal:
                COMPLAINTS.say(refusal, f"{request.method} {request.url.path[:200]}: {refusal}")
                return PlainTextResponse(refusal + "\n", 401)
            return await endpoint(request)

        return guarded

    def listen(self, host: str, port: int) -> str:
        """Starts to serve; the address of the page."""
        self._only_here = is_loopback(f"{host}:{port}")
        bound = self._listener.listen(self._credentials, host=host, port=port)
        scheme = "https" if self._credentials.cert else "http"
        return f"{scheme}://{host}:{bound}/"

    def stop(self) -> None:
        self._listener.stop(1.0)


def endpoint_of(answer: Answer) -> Endpoint:
    """The endpoint of starlette for a function, which answers on a thread of its own."""

    async def endpoint(request: Request) -> Response:
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(None, answer, dict(request.query_params))
        except errors.NotFoundError as error:
            return PlainTextResponse(error.message + "\n", 404)
        except errors.OpError as error:
            return PlainTextResponse(error.message + "\n", 503)
        if isinstance(found, bytes):
            return Response(found, media_type="application/octet-stream")
        return JSONResponse(found)

    return endpoint
