"""Constants and tensor messages of Python values: their types, shapes, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

QUANTIZED = [tf.qint8, tf.quint8, tf.qint16, tf.quint16, tf.qint32]

SHAPED = {
    "nothing is zeros": ([], {"shape": [2]}, "float32", [0.0, 0.0]),
    "nothing is empty text": ([], {"shape": [2], "dtype": tf.string}, "string", [b"", b""]),
    "an empty array is zeros": (np.array([]), {"shape": [2]}, "float64", [0.0, 0.0]),
    "an empty shape asks for no type": (5, {"shape": [0]}, "float32", []),
    "an empty shape is any value's": (5, {"shape": [0], "verify_shape": True}, "float32", []),
    "an empty shape of a type": ("a", {"shape": [0], "dtype": tf.string}, "string", []),
    "the last is repeated": ([1, 2], {"shape": [2, 2]}, "int32", [[1, 2], [2, 2]]),
}


@pytest.mark.parametrize("case", SHAPED)
def test_a_constant_fills_its_shape(case: str) -> None:
    value, options, dtype, expected = SHAPED[case]
    made = tf.constant(value, **options)
    assert made.dtype.name == dtype
    with tf.Session() as session:
        assert session.run(made).tolist() == expected


@pytest.mark.parametrize(
    "content, dims, expected",
    [
        (b"\x02\x00\x01abc", [3], [b"ab", b"", b"c"]),
        (b"\x01\x01xy", [2, 1], [[b"x"], [b"y"]]),
        (b"\xac\x02" + b"z" * 300, [], b"z" * 300),
    ],
)
def test_texts_in_bytes(content: bytes, dims: list[int], expected: object) -> None:
    """As TensorFlow's own runtime writes constants, for example of a client's graph."""
    proto = tf.make_tensor_proto("", tf.string)
    proto.ClearField("string_val")
    proto.tensor_shape.CopyFrom(tf.TensorShape(dims).as_proto())
    proto.tensor_content = content
    assert tf.make_ndarray(proto).tolist() == expected
    with tf.Session() as session:
        assert np.array(session.run(tf.constant(proto)), object).tolist() == expected


@pytest.mark.parametrize("content", [b"\x03ab", b"\x01", b"\x80", b"\xff" * 11, b"\x01\x01a"])
def test_fewer_texts_than_there_should_be(content: bytes) -> None:
    proto = tf.make_tensor_proto(["", ""])
    proto.ClearField("string_val")
    proto.tensor_content = content
    with pytest.raises(ValueError, match=r"There are not .* strings in a tensor"):
        tf.make_ndarray(proto)


FAILED = (
    r"^Failed to convert object of type <class '{}'> to Tensor\. Contents: {}\. Consider casting"
)
REFUSED: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "None in a list": ([None, 10], {}, TypeError, FAILED.format("list", r"\[None, 10\]")),
    "text beside a number": (["a", 1], {}, TypeError, FAILED.format("list", r"\['a', 1\]")),
    "a dictionary": ({"a": 1}, {}, TypeError, FAILED.format("dict", "{'a': 1}")),
    "a dimension": ([tf.Dimension(1)], {}, TypeError, FAILED.format("list", r"\[Dimension.1.\]")),
    "None of a type": (
        [1, None], {"dtype": tf.int32}, TypeError, "Expected int32, got None of type 'NoneType'",
    ),
    "None itself": (None, {}, ValueError, "None values not supported."),
    "a handle": (3, {"dtype": tf.resource}, TypeError, "Incompatible types: <dtype: 'resource'>"),
    "a large array": (np.arange(3), {"shape": [0]}, ValueError, "at most 0, but received 3"),
    "a shape of unknown size": (3, {"shape": [None]}, TypeError, "NoneType"),
}  # fmt: skip


@pytest.mark.parametrize("make", [tf.constant, tf.make_tensor_proto])
@pytest.mark.parametrize("case", REFUSED)
def test_values_that_are_no_tensor(case: str, make: Any) -> None:
    value, options, error, message = REFUSED[case]
    with pytest.raises(error, match=message):
        make(value, **options)


@pytest.mark.parametrize("make", [tf.constant, tf.make_tensor_proto])
@pytest.mark.parametrize("wrap", [lambda tensor: tensor, lambda tensor: [tensor, 1]])
def test_tensors_are_no_values(make: Any, wrap: Any) -> None:
    with pytest.raises(TypeError, match="List of Tensors when single Tensor expected"):
        make(wrap(tf.placeholder(tf.float32, [])))


@pytest.mark.parametrize("dtype", QUANTIZED)
def test_an_element_of_a_quantized_type_is_a_tuple(dtype: Any) -> None:
    fed = tf.placeholder(dtype)
    made = [tf.constant(value, dtype) for value in ((3,), [(3,)], [[(1,), (2,)]])]
    made += [tf.zeros([2], dtype), tf.ones([2], dtype), fed]
    with tf.Session() as session:
        values = session.run([tf.cast(each, tf.int32) for each in made], {fed: [(4,), (5,)]})
    expected = [3, [3], [[1, 2]], [0, 0], [1, 1], [4, 5]]
    assert [value.tolist() for value in values] == expected


@pytest.mark.parametrize("make", [tf.constant, tf.make_tensor_proto])
@pytest.mark.parametrize("value", [3, [3], [[1], [(2,)]]])
def test_a_number_is_no_element_of_a_quantized_type(make: Any, value: Any) -> None:
    with pytest.raises(TypeError, match=r"Expected qint8, got \d of type 'int' instead"):
        make(value, dtype=tf.qint8)


def test_a_message_holds_the_elements_that_there_are() -> None:
    few = tf.make_tensor_proto([1, 2], shape=[4])
    assert list(few.int_val) == [1, 2] and not few.tensor_content
    assert [dim.size for dim in few.tensor_shape.dim] == [4]
    assert tf.make_ndarray(few).tolist() == [1, 2, 2, 2]
    words = tf.make_tensor_proto(["a", "b"], shape=[3])
    assert list(words.string_val) == [b"a", b"b"]
    whole = tf.make_tensor_proto([1, 2, 3, 4], shape=[2, 2])
    assert whole.tensor_content == np.arange(1, 5, dtype=np.int32).tobytes()


@pytest.mark.parametrize("one", [7, [7]])
def test_one_element_is_broadcast(one: Any) -> None:
    message = tf.make_tensor_proto(one, shape=[2, 2], allow_broadcast=True)
    assert list(message.int_val) == [7]
    assert tf.make_ndarray(message).tolist() == [[7, 7], [7, 7]]


def test_several_elements_are_not_broadcast() -> None:
    with pytest.raises(TypeError, match=r"Expected Tensor's shape: \(4,\), got \(2,\)\."):
        tf.make_tensor_proto([1, 2], shape=[4], allow_broadcast=True)
    with pytest.raises(ValueError, match="allow_broadcast and verify_shape are not both"):
        tf.make_tensor_proto(7, shape=[], allow_broadcast=True, verify_shape=True)


def _of_two_types() -> tf.Tensor:
    value = tf.AttrValue(tensor=tf.make_tensor_proto([1.0, 2.0]))
    attrs = {"value": value, "dtype": tf.AttrValue(type=tf.int32.as_datatype_enum)}
    graph = tf.get_default_graph()
    return graph.create_op("Const", [], [tf.int32], attrs=attrs, name="two").outputs[0]


def _in_a_dataset() -> tf.Tensor:
    dataset = tf.data.Dataset.range(2).map(lambda _: _of_two_types())
    return tf.data.make_one_shot_iterator(dataset).get_next()


@pytest.mark.parametrize("make", [_of_two_types, _in_a_dataset])
def test_a_constant_made_of_two_types_does_not_run(make: Any) -> None:
    made = make()
    message = r"Type mismatch between value \(float\) and dtype \(int32\)\n\t \[\[\{\{node two\}\}"
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(made)


def test_a_message_is_a_constant() -> None:
    """Its type and shape hold, whatever is asked for."""
    message = tf.make_tensor_proto([1, 2], dtype=tf.int64)
    for made in (tf.constant(message), tf.convert_to_tensor(message)):
        assert made.dtype == tf.int64 and made.shape.as_list() == [2]
    with tf.Session() as session:
        assert session.run(tf.constant(message, shape=[5])).tolist() == [1, 2]
