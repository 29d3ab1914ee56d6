"""Requests as the real client made them get the answers of TensorFlow's own session."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest

from tests.serve.serving import DATA, PREDICTION, Client, Start, models, read_tensor
from weft.protos.serving import message
from weft.serve.config import Batching

RECORDED = json.loads((DATA / "recorded.json").read_text())
_RESPONSES = {
    "Predict": "PredictResponse",
    "Classify": "ClassificationResponse",
    "Regress": "RegressionResponse",
    "MultiInference": "MultiInferenceResponse",
}


def _check(case: dict[str, Any], client: Client) -> None:
    kind = message(_RESPONSES[case["method"]])
    data = client.call(PREDICTION + case["method"], base64.b64decode(case["request"]))
    found, expected = kind.FromString(data), kind.FromString(base64.b64decode(case["response"]))
    if case["method"] == "Predict":
        _check_tensors(found, expected)
    else:
        _check_numbers(found, expected)
    if case["method"] != "MultiInference":
        assert found.model_spec == expected.model_spec


def _check_tensors(found: Any, expected: Any) -> None:
    assert set(found.outputs) == set(expected.outputs)
    for alias in expected.outputs:
        value, wanted = read_tensor(found.outputs[alias]), read_tensor(expected.outputs[alias])
        assert value.dtype == wanted.dtype and value.shape == wanted.shape
        if value.dtype == object or value.dtype.kind in "bi":
            assert value.tolist() == wanted.tolist()
        else:
            np.testing.assert_allclose(value, wanted, rtol=2e-6)


def _leaves(part: Any) -> list[Any]:
    """The numbers and strings of a message, in order."""
    found: list[Any] = []
    for field, value in part.ListFields():
        for each in value if field.is_repeated else [value]:
            found += _leaves(each) if hasattr(each, "ListFields") else [(field.name, each)]
    return found


def _check_numbers(found: Any, expected: Any) -> None:
    one, other = _leaves(found), _leaves(expected)
    assert [name for name, _ in one] == [name for name, _ in other]
    for (_, value), (_, wanted) in zip(one, other, strict=True):
        assert value == (pytest.approx(wanted, rel=2e-6) if isinstance(wanted, float) else wanted)


@pytest.mark.parametrize("name", list(RECORDED))
def test_the_answers_are_tensorflows(name: str, start: Start) -> None:
    client = start(models=models(name))
    for case in RECORDED[name]:
        _check(case, client)


@pytest.mark.parametrize("name", [name for name in RECORDED if name != "objects"])
def test_batches_change_no_answer(name: str, start: Start) -> None:
    """Sizes are rounded up to 8, so that every request is padded."""
    batching = Batching(max_batch_size=8, allowed_batch_sizes=(8,))
    client = start(models=models(name), batching=batching)
    for case in RECORDED[name]:
        _check(case, client)
