"""Requests that are wrong are told so, and the server goes on."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from benchmarks.common import resident_mb
from tests.serve.malformed import NAMES, send_many
from tests.serve.serving import Client, Start, models


def _check_alive(client: Client) -> None:
    assert client.predict("half_plus_two", x=np.float32([2.0]))["y"].tolist() == [3.0]
    assert client.server.is_ready


def test_some_hundred_malformed_requests(start: Start) -> None:
    client = start(models=models(*NAMES))
    found = send_many(client, 400, 7)
    assert {"INVALID_ARGUMENT", "NOT_FOUND", "400", "404"} <= set(found)
    _check_alive(client)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_ten_thousand_malformed_requests(start: Start) -> None:
    """And memory is bounded: the second half takes no more than the first."""
    client = start(models=models(*NAMES))
    send_many(client, 5000, 1)
    gc.collect()
    before = resident_mb()
    send_many(client, 5000, 2)
    gc.collect()
    assert resident_mb() < before + 100
    _check_alive(client)
