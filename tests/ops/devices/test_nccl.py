"""Reductions over devices of one process."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.core import errors


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [("sum", [5, 7]), ("prod", [6, 10]), ("min", [2, 2]), ("max", [3, 5])],
)
def test_reductions(reduction: str, expected: list[int]) -> None:
    found = tf.raw_ops.NcclReduce(input=[[2.0, 5.0], [3.0, 2.0]], reduction=reduction)
    with tf.Session() as session:
        assert session.run(found).tolist() == expected


def test_one_device() -> None:
    ops = tf.raw_ops
    alone = ops.NcclAllReduce(input=[1.0], reduction="sum", num_devices=1, shared_name="a")
    spread = ops.NcclBroadcast(input=[2.0], shape=[1])
    with tf.Session() as session:
        assert [each.tolist() for each in session.run([alone, spread])] == [[1.0], [2.0]]


def test_all_devices() -> None:
    """Each node has the sum of all, and its gradient is a sum of all, too."""
    values, sums = [], []
    for i in range(2):
        with tf.device(f"/cpu:{i}"):
            values.append(tf.constant([i + 1.0]))
            sums.append(
                tf.raw_ops.NcclAllReduce(
                    input=values[i], reduction="sum", num_devices=2, shared_name="all"
                )
            )
    grads = [
        tf.gradients(s * (i + 1.0), v)[0] for i, (s, v) in enumerate(zip(sums, values, strict=True))
    ]
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        for _ in range(3):
            found = session.run([sums, grads])
            assert np.array_equal(found, np.full([2, 2, 1], 3.0))


def test_shapes_differ() -> None:
    args = dict(reduction="sum", num_devices=2, shared_name="all")
    sums = [tf.raw_ops.NcclAllReduce(input=[0.0] * n, **args) for n in (1, 2)]
    with tf.Session() as session:
        with pytest.raises(errors.InvalidArgumentError, match="Shapes of the members"):
            session.run(sums)
