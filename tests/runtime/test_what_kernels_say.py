"""What a step says of inputs that a kernel has no words of its own for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

raw = tf.raw_ops


def unknown(value: Any, dtype: Any) -> Any:
    """A tensor of which nothing is known when the graph is built."""
    return tf.placeholder_with_default(np.array(value, dtype), None)


def levels(count: int) -> Any:
    return tf.cast(unknown(range(count), np.int32), tf.quint8)


SAID: dict[str, Callable[[], Any]] = {
    "Trying to access a handle's resource using the wrong type: it is a Variable": lambda: (
        raw.QueueSize(handle=raw.VariableV2(shape=[2], dtype=tf.string))
    ),
    "Trying to access a handle's resource using the wrong type: it is a Stack": lambda: (
        raw.ReadVariableOp(resource=raw.StackV2(max_size=2, elem_type=tf.int32), dtype=tf.int32)
    ),
    "An input that must be a scalar is not": lambda: raw.UnsortedSegmentProd(
        data=unknown([1, 2], np.float32),
        segment_ids=unknown([0, 1], np.int32),
        num_segments=unknown([2, 2], np.int32),
    ),
    "Incompatible shapes: [2] vs. [3]": lambda: raw.QuantizedAdd(
        x=levels(2), y=levels(3), min_x=0.0, max_x=1.0, min_y=0.0, max_y=1.0
    ),
    "An input does not have the rank or size that the operation takes": lambda: raw.SparseReshape(
        input_indices=unknown([1], np.int64),
        input_shape=unknown([2], np.int64),
        new_shape=unknown([2], np.int64),
    ),
}


@pytest.mark.parametrize("words", SAID)
def test_inputs_that_do_not_fit(words: str) -> None:
    made = SAID[words]()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as raised:
        session.run(made)
    assert raised.value.message.startswith(words)
