"""Repeated elements: the nodes of TensorFlow 1.15.5 in its order, and its words."""

from __future__ import annotations

import pytest

import weft as tf


def test_nodes_of_counts_whose_rank_is_not_known() -> None:
    tf.repeat(tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32))
    names = [op.name.removeprefix("Repeat/") for op in tf.get_default_graph().get_operations()]
    at = names.index("Cast")
    assert (
        names[at : at + 10]
        == (
            "Cast Shape Shape_1 Rank sub/x sub strided_slice/stack strided_slice/stack_1"
            " strided_slice/stack_2 strided_slice"
        ).split()
    )


def test_counts_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        tf.repeat(tf.zeros([2, 3]), [1, 2, 3], axis=0)
