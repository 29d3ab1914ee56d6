"""Arguments of tf.raw_ops under the names that TensorFlow's callers use."""

import inspect

import numpy as np
import pytest

import weft as tf

X = np.array([[3.0, 1.0], [2.0, 5.0]], np.float32)
REDUCTIONS = "All Any EuclideanNorm Max Mean Min Prod Sum".split()
SIGNATURES = {
    **{name: "input axis keep_dims" for name in REDUCTIONS},
    "ExpandDims": "input axis",
    "Squeeze": "input axis",
    "Select": "condition x y",
    "Split": "axis value num_split",
    "SplitV": "value size_splits axis num_split",
    "Where": "condition",
    "MaxPoolWithArgmax": "input ksize strides padding Targmax include_batch_in_index",
}
CALLS = [
    ("ExpandDims", dict(input=X, axis=1), X[:, None]),
    ("Squeeze", dict(input=X[:, None], axis=[1]), X),
    ("Select", dict(condition=[True, False], x=X, y=-X), [[3, 1], [-2, -5]]),
    ("Split", dict(axis=0, value=X, num_split=2), [X[:1], X[1:]]),
    ("SplitV", dict(value=X, size_splits=[1, 1], axis=1, num_split=2), [X[:, :1], X[:, 1:]]),
    ("Where", dict(condition=[False, True]), [[1]]),
    ("Sum", dict(input=X, axis=0), [5, 6]),
    ("Sum", dict(input=X, axis=[0, 1], keep_dims=True), [[11]]),
    ("Mean", dict(input=X, axis=1), [2, 3.5]),
    ("All", dict(input=X > 1, axis=0), [True, False]),
    ("Sum", dict(input=X, reduction_indices=0), [5, 6]),
]


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature(name):
    shown = list(inspect.signature(getattr(tf.raw_ops, name)).parameters)
    assert shown == [*SIGNATURES[name].split(), "name"]


@pytest.mark.parametrize("name, arguments, wanted", CALLS)
def test_call(name, arguments, wanted):
    found = getattr(tf.raw_ops, name)(**arguments)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(found), wanted)


def test_constants_have_the_names_of_the_node_s_inputs():
    total = tf.raw_ops.Sum(input=X, axis=0, name="total")
    assert [tensor.name for tensor in total.op.inputs] == [
        "total/input:0",
        "total/reduction_indices:0",
    ]


def test_one_argument_under_two_names():
    with pytest.raises(TypeError, match="multiple values"):
        tf.raw_ops.Sum(input=X, axis=0, reduction_indices=1)
