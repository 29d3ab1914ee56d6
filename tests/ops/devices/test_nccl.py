"""Reductions over devices of one process."""

from __future__ import annotations

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
    many = ops.NcclAllReduce(input=[1.0], reduction="sum", num_devices=2, shared_name="b")
    with tf.Session() as session:
        assert [each.tolist() for each in session.run([alone, spread])] == [[1.0], [2.0]]
        with pytest.raises(errors.UnimplementedError, match="over 2 devices"):
            session.run(many)
