from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.graph.bounded_spec import BoundedTensorSpec
from weft.graph.type_spec import type_spec_from_value


def test_tensor_spec() -> None:
    spec = tf.TensorSpec([None, 3], tf.int32, "x")
    assert (spec.shape.as_list(), spec.dtype, spec.name) == ([None, 3], tf.int32, "x")
    assert repr(spec) == "TensorSpec(shape=(?, 3), dtype=tf.int32, name='x')"
    assert spec == tf.TensorSpec([None, 3], "int32", "x")
    assert spec != tf.TensorSpec([None, 3], tf.int32)
    assert hash(spec) == hash(tf.TensorSpec.from_spec(spec))
    assert tf.TensorSpec.from_spec(spec, "y").name == "y"
    x = tf.placeholder(tf.int32, [2, 3], name="fed")
    assert tf.TensorSpec.from_tensor(x) == tf.TensorSpec([2, 3], tf.int32, "fed")
    assert spec.value_type is tf.Tensor


def test_what_fits_a_tensor_spec() -> None:
    spec = tf.TensorSpec([None, 3])
    assert spec.is_compatible_with(tf.zeros([2, 3]))
    assert spec.is_compatible_with(np.zeros((4, 3), np.float32))
    assert spec.is_compatible_with(tf.TensorSpec(None))
    assert not spec.is_compatible_with(tf.zeros([2, 4]))
    assert not spec.is_compatible_with(tf.TensorSpec([2, 3], tf.int32))


def test_common_types() -> None:
    common = tf.TensorSpec([2, 3], name="a").most_specific_compatible_type(tf.TensorSpec([2, 4]))
    assert common == tf.TensorSpec([2, None])
    with pytest.raises(ValueError, match="not compatible"):
        common.most_specific_compatible_type(tf.TensorSpec([2, 3], tf.int32))
    sparse = tf.SparseTensorSpec([2, None]).most_specific_compatible_type(
        tf.SparseTensorSpec([None, 3])
    )
    assert sparse == tf.SparseTensorSpec([None, None])
    with pytest.raises(ValueError, match="No TypeSpec"):
        sparse.most_specific_compatible_type(common)


def values():
    slices = tf.IndexedSlices(tf.zeros([2, 3]), tf.constant([0, 4]), tf.constant([5, 3]))
    array = tf.TensorArray(tf.float32, 3, dynamic_size=True, element_shape=[2])
    return [
        (tf.zeros([2], name="x"), tf.TensorSpec([2], name="x")),
        (tf.SparseTensor([[0, 1]], [1.0], [2, 3]), tf.SparseTensorSpec([2, 3])),
        (slices, tf.IndexedSlicesSpec([5, 3], tf.float32, tf.int32, tf.int32, [2])),
        (array, tf.TensorArraySpec([2], dynamic_size=True)),
    ]


@pytest.mark.parametrize("i", range(4))
def test_values_have_specs_and_come_back_from_their_parts(i) -> None:
    value, spec = values()[i]
    assert type_spec_from_value(value) == spec
    assert spec.is_compatible_with(value)
    parts = spec._to_tensor_list(value)
    assert all(isinstance(part, tf.Tensor) for part in parts)
    assert len(parts) == len(spec._flat_tensor_specs)
    again = spec._from_tensor_list(parts)
    assert isinstance(again, spec.value_type)
    assert type_spec_from_value(again) == spec


def test_what_has_no_spec() -> None:
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(object())


def test_the_spec_of_a_sparse_value() -> None:
    value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([2.0]), np.array([3, 4]))
    assert tf.SparseTensorSpec.from_value(value) == tf.SparseTensorSpec([3, 4], tf.float64)
    sparse = tf.SparseTensor([[0, 1]], [2.0], [3, 4])
    assert tf.SparseTensorSpec.from_value(sparse) == tf.SparseTensorSpec([3, 4], tf.float32)
    listed = tf.SparseTensorValue([[0, 1]], [2.0], [3, 4])
    assert tf.SparseTensorSpec.from_value(listed) == tf.SparseTensorSpec([3, 4], tf.float32)
    with pytest.raises(TypeError, match="Expected SparseTensor or SparseTensorValue"):
        tf.SparseTensorSpec.from_value(1)


def test_limits_of_a_spec_of_arrays() -> None:
    class ArraySpec:
        shape, dtype, name = (2,), np.dtype(np.int32), "x"

    found = BoundedTensorSpec.from_spec(ArraySpec())
    assert found.dtype == tf.int32 and found.name == "x"
    assert (found.minimum, found.maximum) == (tf.int32.min, tf.int32.max)
