"""Model servers for tests, in this process and on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture
def start() -> Iterator[Any]:
    """Starts servers; they stop with the test."""
    from tests.serve.serving import Client, started

    made: list[Client] = []

    def starts(**options: Any) -> Client:
        made.append(Client(started(**options)))
        return made[-1]

    yield starts
    for client in made:
        client.close()
        client.server.stop(5.0)


@pytest.fixture
def client(start: Any) -> Any:
    """A client of a server of half_plus_two."""
    from tests.serve.serving import models

    return start(models=models("half_plus_two"))
