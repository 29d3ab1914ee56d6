"""Collectives of a TPU's replicas, in a process that is the only one."""

import numpy as np
import pytest

import weft as tf

ops = tf.raw_ops
ALONE = {
    "CrossReplicaSum": dict(group_assignment=[[0]]),
    "AllToAll": dict(group_assignment=[[0]], concat_dimension=0, split_dimension=1, split_count=1),
    "CollectivePermute": dict(source_target_pairs=[[0, 0]]),
}


@pytest.mark.parametrize("name", ALONE)
def test_alone(name):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1.0, 2.0]])
        y = getattr(ops, name)(input=x, **ALONE[name])
        (gradient,) = tf.gradients(y, x)
        assert y.shape == x.shape
        np.testing.assert_array_equal(session.run([y, gradient]), [[[1, 2]], [[1, 1]]])


def test_nothing_is_sent():
    with tf.Graph().as_default(), tf.Session() as session:
        y = ops.CollectivePermute(input=[1.0], source_target_pairs=np.zeros([0, 2], np.int32))
        assert session.run(y) == [0.0]


def test_others_that_are_not_there():
    with tf.Graph().as_default(), tf.Session() as session:
        y = ops.CrossReplicaSum(input=[1.0], group_assignment=[[0, 1]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="this process is in no group"):
            session.run(y)


WRONG = {
    "split_count 2 must equal the size of the second dimension of group_assignment 1": (
        [4], [[0]], 0, 0, 2,
    ),
    "split_count 0 must at least be one": ([4], [[0]], 0, 0, 0),
    "concat_dimension 1 is out of range of input rank 1": ([4], [[0]], 1, 0, 1),
    "split_dimension 1 is out of range of input rank 1": ([4], [[0]], 0, 1, 1),
    "input dimension 3 not divisible by split_count 2": ([3, 1], [[0, 1]], 1, 0, 2),
}  # fmt: skip


@pytest.mark.parametrize("message", WRONG)
def test_shapes_that_do_not_fit(message):
    shape, groups, joined, cut, count = WRONG[message]
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        ops.AllToAll(
            input=tf.zeros(shape), group_assignment=groups, concat_dimension=joined,
            split_dimension=cut, split_count=count,
        )  # fmt: skip
