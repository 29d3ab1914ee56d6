"""Functions that are made of tables complain of wrong arguments as written ones do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft as tf

X = [[1.0, 2.0]]
WRONG: list[tuple[Callable[[], Any], str, str]] = [
    (
        lambda: tf.layers.dense(X, 3, activaton=None),
        "dense() got an unexpected keyword argument 'activaton'",
        "Did you mean 'activation'?",
    ),
    (lambda: tf.layers.dense(), "dense() missing a required argument: 'inputs'", ""),
    (
        lambda: tf.losses.mean_squared_error(X, X, wieghts=2.0),
        "mean_squared_error() got an unexpected keyword argument 'wieghts'",
        "Did you mean 'weights'?",
    ),
    (
        lambda: tf.metrics.accuracy(X, X, wieghts=2.0),
        "accuracy() got an unexpected keyword argument 'wieghts'",
        "Did you mean 'weights'?",
    ),
    (
        lambda: tf.compat.v2.reduce_sum(X, axs=1),
        "reduce_sum() got an unexpected keyword argument 'axs'",
        "Did you mean 'axis'?",
    ),
    (
        lambda: tf.keras.layers.Dense(3, activaton="relu"),
        "('Keyword argument not understood:', 'activaton')",
        "Did you mean 'activation'",
    ),
]


@pytest.mark.parametrize(("call", "message", "note"), WRONG)
def test_wrong_arguments(call: Callable[[], Any], message: str, note: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == message
    assert note in "".join(getattr(caught.value, "__notes__", []))
