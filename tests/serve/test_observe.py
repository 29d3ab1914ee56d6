"""What is counted of requests: nothing is lost between their end and the look at it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.serve.extra import LIBRARIES as LIBRARIES
from weft.serve.metrics import Metrics
from weft.serve.observe import Observer, Seen
from weft.serve.request_log import RequestLog

_REQUESTS = ':tensorflow:serving:request_count{model_name="%s",status="OK"} %d.0'


def _observer(*models: str) -> Observer:
    observer = Observer(Metrics(), RequestLog())
    observer.knows = set(models).__contains__
    return observer


def _see(observer: Observer, count: int, model: str = "m") -> None:
    for _ in range(count):
        seen = Seen(observer, "Predict", "GRPC", 10)
        seen.about(model, "", 1)
        seen.end(0)


@pytest.mark.parametrize("count", [1, 511, 512, 513, 2000])
def test_all_requests_are_counted(count: int) -> None:
    observer = _observer("m")
    _see(observer, count)
    lines = observer.metrics.text().decode().splitlines()
    assert _REQUESTS % ("m", count) in lines
    assert len(observer.recent("m")["requests"]) == count


def test_requests_that_end_at_once_are_all_counted() -> None:
    observer = _observer("m")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: _see(observer, 500), range(8)))
    assert _REQUESTS % ("m", 4000) in observer.metrics.text().decode().splitlines()


def test_a_request_counts_for_the_model_that_there_was() -> None:
    models = {"m", "other"}
    observer = _observer()
    observer.knows = models.__contains__
    _see(observer, 2)
    models.remove("m")
    _see(observer, 3)
    observer.forget(models)
    lines = observer.metrics.text().decode().splitlines()
    assert _REQUESTS % ("m", 2) in lines and _REQUESTS % ("(unknown)", 3) in lines
    assert observer.recent("m")["requests"] == []
