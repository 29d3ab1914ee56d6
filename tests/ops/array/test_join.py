"""Gradients of joined tensors whose own gradient is rows: nodes, names and values of 1.15.5."""

from __future__ import annotations

import pytest

import weft as tf

COLUMNS = (
    "Const FloorMod Const Const Const Const ExpandDims Const Fill Sub Const Sub Const Fill Const"
    " Const ConcatV2 Const Fill Const Const Slice Const Const ConcatV2 Slice Mul Add Const Const"
    " Slice Const Const ConcatV2 Slice Mul Add"
)
ROWS = (
    "Const FloorMod Const Const Const Const GatherV2 AddV2 GreaterEqual Less LogicalAnd Where"
    " Squeeze Const GatherV2 Sub Const GatherV2 Const GatherV2 AddV2 GreaterEqual Less LogicalAnd"
    " Where Squeeze Const GatherV2 Sub Const GatherV2"
)
AGAIN = ("Const FloorMod ", "Const FloorMod Const ")  # of a negative axis the rank is asked again
CASES = {
    1: (COLUMNS, [4, 2], [4, 3]),
    -1: (COLUMNS.replace(*AGAIN, 1), [4, 2], [4, 3]),
    0: (ROWS, [4, 2], [3, 2]),
    -2: (ROWS.replace(*AGAIN, 1), [4, 2], [3, 2]),
}


@pytest.mark.parametrize("axis", CASES)
def test_rows_of_joined_tensors(axis: int) -> None:
    types, *shapes = CASES[axis]
    parts = [tf.ones(each, name=f"part{i}") for i, each in enumerate(shapes)]
    rows = tf.gather(tf.concat(parts, axis), [0, 2, 0])
    grads = tf.gradients(tf.reduce_sum(rows * rows), parts)
    made = [
        op
        for op in tf.get_default_graph().get_operations()
        if op.name.startswith("gradients/concat_grad/")
    ]
    assert " ".join(op.type for op in made) == types
    assert [grad.dense_shape.op.name.split("/")[-1] for grad in grads] == ["Shape", "Shape_1"]
    with tf.Session() as session:
        first = session.run(grads[0])
    assert first.indices.tolist() == [0, 2, 0] and (first.values == 2).all()
