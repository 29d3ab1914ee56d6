"""Rows of floats go by a way of their own, to the same answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.serve.serving import Client, Start
from weft.serve.config import Batching, ModelConfig

PREDICT = "/v1/models/m:predict"
_OUTPUTS = {
    "rows": lambda x: 0.3 * x,
    "numbers": lambda x: tf.reduce_sum(x, 1),
    "deep": lambda x: tf.expand_dims(x, 0),
    "one": lambda x: tf.reduce_sum(x),
    "nothing": lambda x: x[:, :0],
    "none": lambda x: x[:0],
    "other": lambda x: tf.cast(x, tf.int32),
}
_BODIES: list[Any] = [
    {"instances": [[1.0, 2.0]]}, {"instances": [[1.0, 2.0], [1e30, -0.1]]},
    {"signature_name": "serving_default", "instances": [[1.5, 2.5]]},
    {"instances": [[1.0, 2]]}, {"instances": [[1.0]]}, {"instances": [[1.0, 2.0], [3.0]]},
    {"instances": []}, {"instances": [[]]}, {"instances": 1.0}, {"instances": [1.0, 2.0]},
    {"instances": [[1.0, 2.0]], "inputs": [[1.0, 2.0]]}, {"inputs": [[1.0, 2.0]]},
    {"instances": [{"x": [1.0, 2.0]}]}, {"instances": [[True, 1.0]]}, {"instances": [["1", "2"]]},
    {"instances": [[float("inf"), float("nan")]]}, {"instances": [[[1.0, 2.0]]]}, {},
    {"signature_name": "no", "instances": [[1.0, 2.0]]},
]  # fmt: skip


def _export(folder: Path, make: Any, dtype: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(dtype, [None, 2], name="x")
        tf.saved_model.simple_save(session, str(folder / "1"), {"x": x}, {"y": make(x)})


def _serve(start: Start, folder: Path, output: str = "rows", **options: Any) -> Client:
    _export(folder, _OUTPUTS[output], options.pop("dtype", tf.float32))
    return start(models=(ModelConfig("m", str(folder)),), **options)


def _ways(client: Client) -> dict[str, Any]:
    (servable,) = client.server.models.available("m").values()
    return servable.plain_rows


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("output", _OUTPUTS)
def test_the_short_way_gives_the_same_answers(
    output: str, dtype: Any, start: Start, tmp_path: Path
) -> None:
    client = _serve(start, tmp_path, output, dtype=dtype)
    client.post(PREDICT, _BODIES[0])
    assert (_ways(client)[""] is not None) == (output != "other")
    short = [client.post(PREDICT, json.dumps(body)) for body in _BODIES]
    _ways(client).update({"": None, "serving_default": None})
    assert short == [client.post(PREDICT, json.dumps(body)) for body in _BODIES]


def test_batches_have_no_short_way(start: Start, tmp_path: Path) -> None:
    client = _serve(start, tmp_path, batching=Batching())
    assert client.post(PREDICT, _BODIES[0])[0] == 200
    assert _ways(client) == {"": None}


def test_ways_are_those_of_signatures(start: Start, tmp_path: Path) -> None:
    client = _serve(start, tmp_path)
    for name in ("", "serving_default", "no", "x"):
        client.post(PREDICT, {"signature_name": name, "instances": [[1.0, 2.0]]})
    assert set(_ways(client)) == {"", "serving_default"}
