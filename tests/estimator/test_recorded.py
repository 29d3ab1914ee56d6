"""weft's Estimators do what TensorFlow's do: names, losses, metrics, predictions, events.

What TensorFlow did is in recorded.json; record.py wrote it. Both begin with TensorFlow's own first
checkpoint, so that everything after it can be compared as numbers.
"""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.estimator import programs
from weft.core import flags

HERE = Path(__file__).parent
ADDED_LATER = {"multi_label_head": {"classes"}}  # predictions that TensorFlow 1.15 has not
# The rest runs node by node: what XLA makes of such graphs is not the question here.
COMPILED = ("dnn_regressor", "linear_regressor", "baseline", "custom")


@functools.cache
def recorded() -> dict[str, Any]:
    return json.loads((HERE / "recorded.json").read_text())


@functools.cache
def done(name: str, folder: str) -> dict[str, Any]:
    """What weft does from TensorFlow's first checkpoint on."""
    for each in (HERE / "data" / name).iterdir():
        shutil.copy(each, folder)
    tf.train.update_checkpoint_state(folder, str(Path(folder) / "model.ckpt-0"))
    with flags.XLA.override(name in COMPILED):
        return programs.run(tf, name, folder)


# A few that show most; the others with the slow tests.
QUICK = ("dnn_classifier", "baseline", "custom", "poisson_head")
PARAMS = [
    pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow])
    for name in programs.ESTIMATORS
]


@pytest.fixture(params=PARAMS, scope="module")
def pair(request: Any, tmp_path_factory: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(what weft does, what TensorFlow did)"""
    name = request.param
    theirs = recorded()[name]
    for row in theirs["predictions"]:
        for key in ADDED_LATER.get(name, ()):
            row.pop(key, None)
    return done(name, str(tmp_path_factory.mktemp(name))), theirs


def _close(ours: Any, theirs: Any, what: str) -> None:
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    assert ours.shape == theirs.shape, what
    if theirs.dtype.kind in "iub":
        assert ours.dtype.kind == theirs.dtype.kind, what
    if theirs.dtype.kind in "iubU":
        np.testing.assert_array_equal(ours, theirs, what)
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=2e-5, err_msg=what)


def test_variables(pair: Any) -> None:
    ours, theirs = pair[0]["variables"], pair[1]["variables"]
    assert sorted(ours) == sorted(theirs)
    for name in theirs:
        _close(ours[name], theirs[name], name)


def test_metrics(pair: Any) -> None:
    ours, theirs = pair[0]["metrics"], pair[1]["metrics"]
    assert sorted(ours) == sorted(theirs)
    for name in theirs:
        _close(ours[name], theirs[name], name)


def test_predictions(pair: Any) -> None:
    ours, theirs = pair[0]["predictions"], pair[1]["predictions"]
    assert len(ours) == len(theirs)
    for mine, other in zip(ours, theirs, strict=True):
        assert sorted(mine) == sorted(other)
        for name in other:
            _close(mine[name], other[name], name)


def test_events(pair: Any) -> None:
    assert pair[0]["tags"] == pair[1]["tags"]
    assert pair[0]["eval_tags"] == pair[1]["eval_tags"]
