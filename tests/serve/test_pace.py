"""Short steps of REST are answered at once, others in a thread, both with the same words."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from tests.serve.serving import Client, Start, models
from weft.core import dtypes
from weft.serve import json_requests
from weft.serve.config import Batching
from weft.serve.pace import Pace
from weft.serve.rest import Rest, RestRequest, TakesTime
from weft.serve.signatures import Slot

PREDICT = "/v1/models/half_plus_two:predict"
_SHORT, _DELAYED, _LONG = 1e-6, 4e-3, 1.0


@pytest.mark.parametrize(
    ("seconds", "is_short"),
    [
        ([], False), ([_SHORT] * 2, False), ([_SHORT] * 3, True), ([_SHORT] * 9, True),
        ([_LONG, *[_SHORT] * 3], True), ([*[_SHORT] * 9, _LONG], False),
        ([*[_SHORT] * 9, _LONG, _SHORT], False), ([*[_SHORT] * 40, _DELAYED], True),
        ([*[_SHORT] * 40, *[_DELAYED] * 4], False), ([*[_SHORT] * 1000, _LONG], False),
    ],
)  # fmt: skip
def test_steps_are_short_that_have_been_so(seconds: list[float], is_short: bool) -> None:
    pace = Pace()
    for each in seconds:
        pace.note("step", each)
    assert pace.is_short("step") == is_short and not pace.is_short("another")


def test_only_so_many_steps_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.serve.pace._MOST_KEPT", 2)
    pace = Pace()
    for step in range(3):
        for _ in range(3):
            pace.note(step, _SHORT)
    assert [pace.is_short(step) for step in range(3)] == [False, False, True]


def _rest(client: Client) -> Rest:
    return Rest(client.server.models, client.server.observer)


def _ask(rest: Rest, body: Any, at_once: bool = True, path: str = PREDICT) -> Any:
    try:
        request = RestRequest("POST", path, json.dumps(body).encode(), None, at_once)
        return rest.answer(request)
    except TakesTime:
        return None


def test_a_step_that_is_known_to_be_short_is_answered_at_once(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.serve.pace._SHORT", 60.0)
    rest, body = _rest(client), {"instances": [1.0]}
    for _ in range(3):
        assert _ask(rest, body) is None
        answer = _ask(rest, body, at_once=False)
    assert _ask(rest, body) == answer and _ask(rest, {"instances": [3.0]})[0] == 200
    assert _ask(rest, {"instances": [1.0, 2.0]}) is None  # a shape that is not known
    monkeypatch.setattr("weft.serve.pace._SHORT", 1e-9)
    assert _ask(rest, body) == answer
    assert _ask(rest, body) is None  # it has been long


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        (PREDICT, {}, 400), ("/v1/models/no:predict", {}, 404), ("/v1/elsewhere", {}, 400),
        (f"{PREDICT[:-8]}:classify", {"examples": [{"x": 1.0}]}, None),
        (f"{PREDICT[:-8]}:regress", {"examples": [{"x": 1.0}]}, None),
    ],
)  # fmt: skip
def test_what_needs_no_step_is_answered_at_once(
    path: str, body: Any, code: int | None, client: Client
) -> None:
    answer = _ask(_rest(client), body, path=path)
    assert (answer and answer[0]) == code


def test_batches_take_time(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.serve.pace._SHORT", 60.0)
    rest = _rest(start(models=models("half_plus_two"), batching=Batching()))
    for _ in range(4):
        assert _ask(rest, {"instances": [1.0]}, at_once=False)[0] == 200
    assert _ask(rest, {"instances": [1.0]}) is None


def test_short_steps_run_in_the_thread_of_the_front(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.serve.pace._SHORT", 60.0)
    (servable,) = client.server.models.available("half_plus_two").values()
    run, threads = servable.run, []

    def seen(*arguments: Any) -> Any:
        threads.append(threading.current_thread().name.rstrip("0123456789_"))
        return run(*arguments)

    servable.run = seen
    answers = {client.post(PREDICT, {"instances": [1.0]}) for _ in range(4)}
    assert threads == [*["weft-rest"] * 3, "weft-http"] and len(answers) == 1


ROWS = [
    [[1.0, 2.5]], [[1.0], [2.0]], [[1e300], [-1e300]], [[1.0, 2]], [[1.0], [2.0, 3.0]], [[]],
    [[1.0], []], [[1.0], 2.0], [[1.0], {"b64": ""}], [[1.0], {"x": 1}], [[True]], [["1.0"]],
    [[[1.0]]], [1.0, 2.0], [[float("inf"), float("-inf")]],
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "string"])
@pytest.mark.parametrize("rows", ROWS, ids=repr)
def test_rows_of_floats_are_read_as_all_others(
    rows: list[Any], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot = Slot("x", "x:0", dtypes.as_dtype(dtype), None)

    def read() -> Any:
        try:
            array = json_requests.inputs_of({"instances": rows}, {"x": slot})[0]["x"]
        except Exception as error:
            return str(error)
        return array.dtype, array.shape, array.tolist()

    quick = read()
    monkeypatch.setattr(json_requests, "matrix", lambda *arguments: None)
    assert quick == read()


def test_a_mark_of_the_encoding_is_no_part_of_the_text() -> None:
    assert json_requests.parse(b"\xef\xbb\xbf{}") == {}


def test_metrics_may_be_where_rest_is(start: Start) -> None:
    client = start(models=models("half_plus_two"), metrics_path="/v1/metrics")
    assert client.get("/v1/metrics")[1].startswith("# HELP :tensorflow:serving:")
