"""tf.parse_example and its kin, from messages to tensors."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf


def example(**features: list) -> bytes:
    def feature(values: list) -> tf.train.Feature:
        if isinstance(values[0], bytes):
            return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
        if isinstance(values[0], int):
            return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))

    made = {key: feature(values) for key, values in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def test_a_batch() -> None:
    serialized = [example(n=[i, -i], x=[i / 2], s=[b"a" * i] * (i % 3 + 1)) for i in range(300)]
    features = {
        "n": tf.FixedLenFeature([2], tf.int64),
        "x": tf.FixedLenFeature([], tf.float32),
        "s": tf.VarLenFeature(tf.string),
        "gone": tf.FixedLenFeature([1], tf.float32, [7.0]),
        "rows": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    with tf.Session() as sess:
        found = sess.run(tf.parse_example(serialized, features))
    assert np.array_equal(found["n"], [[i, -i] for i in range(300)])
    assert np.array_equal(found["x"], np.arange(300, dtype=np.float32) / 2)
    assert found["s"].dense_shape.tolist() == [300, 3]
    assert found["s"].values[-1] == b"a" * 299
    assert found["gone"].shape == (300, 1) and np.all(found["gone"] == 7)
    assert found["rows"].shape == (300, 0)


def test_one_example_in_every_kind_of_feature() -> None:
    serialized = example(n=[1, 2, 3], k=[0, 2], v=[0.5, 1.5], image=[b"\0binary\0"])
    features = {
        "n": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "image": tf.FixedLenFeature([], tf.string),
        "sparse": tf.SparseFeature("k", "v", tf.float32, 4),
    }
    parsed = tf.parse_single_example(serialized, features)
    assert parsed["n"].shape.as_list() == [None] and parsed["image"].shape.as_list() == []
    with tf.Session() as sess:
        found = sess.run(parsed)
        dense = sess.run(tf.sparse_tensor_to_dense(parsed["sparse"]))
    assert found["n"].tolist() == [1, 2, 3] and found["image"] == b"\0binary\0"
    assert dense.tolist() == [0.5, 0, 1.5, 0] and set(found) == set(features)


def test_an_example_with_a_name_says_it() -> None:
    features = {"a": tf.FixedLenFeature([], tf.int64)}
    parsed = tf.parse_single_example(example(b=[1]), features, example_names="the one")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="the one"):
        sess.run(parsed)


def test_what_is_no_example() -> None:
    parsed = tf.parse_example([b"\xff\xff"], {"a": tf.VarLenFeature(tf.int64)})
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Could not"):
        sess.run(parsed)


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (tf.FixedLenFeature(None, tf.int64), "Missing shape for feature a."),
        (tf.FixedLenFeature([None], tf.int64), "First dimension of shape for feature a unknown"),
        (tf.VarLenFeature(None), "Missing type for feature a."),
        (tf.SparseFeature("", "v", tf.int64, 3), "Missing index_key for SparseFeature"),
        (tf.FixedLenSequenceFeature([], tf.int64), "requires allow_missing to be True"),
        ("a", "Invalid feature a:a."),
    ],
)
def test_features_that_cannot_be(feature: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.parse_example([b""], {"a": feature})


def test_a_sequence() -> None:
    step = [tf.train.Feature(int64_list=tf.train.Int64List(value=[i, i])) for i in range(3)]
    lists = tf.train.FeatureLists(feature_list={"t": tf.train.FeatureList(feature=step)})
    context = tf.train.Features(
        feature={"c": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"]))}
    )
    serialized = tf.train.SequenceExample(context=context, feature_lists=lists)
    parsed = tf.parse_single_sequence_example(
        serialized.SerializeToString(),
        {"c": tf.FixedLenFeature([], tf.string)},
        {"t": tf.FixedLenSequenceFeature([2], tf.int64), "v": tf.VarLenFeature(tf.float32)},
    )
    with tf.Session() as sess:
        context_found, found = sess.run(parsed)
    assert context_found["c"] == b"x"
    assert found["t"].tolist() == [[0, 0], [1, 1], [2, 2]]
    assert found["v"].dense_shape.tolist() == [0, 0]


def test_json() -> None:
    text = '{"features": {"feature": {"a": {"int64List": {"value": [1, "-2"]}}}}}'
    binary = tf.decode_json_example([text])
    with tf.Session() as sess:
        (found,) = sess.run(binary)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Error while parsing JSON"):
            sess.run(tf.decode_json_example("{"))
    assert tf.train.Example.FromString(found).features.feature["a"].int64_list.value == [1, -2]


def test_a_tensor_there_and_back() -> None:
    for value in (np.arange(6.0).reshape(2, 3), np.array([True, False]), np.array([b"a", b""])):
        tensor = tf.constant(value)
        again = tf.parse_tensor(tf.serialize_tensor(tensor), tensor.dtype)
        with tf.Session() as sess:
            assert np.array_equal(sess.run(again), sess.run(tensor))


def test_lines_of_fields() -> None:
    a, b = tf.decode_csv(["1,x", '2,"y,z"'], [[0], [""]])
    with tf.Session() as sess:
        assert sess.run(a).tolist() == [1, 2] and sess.run(b).tolist() == [b"x", b"y,z"]
    with pytest.raises(ValueError, match="not strictly increasing"):
        tf.decode_csv(["1,x"], [[0], [0]], select_cols=[1, 1])


UNUSUAL = [
    b"",  # no feature at all
    b"\x0a\x00",  # an empty list
    b"\x0a\x03\x0a\x01a\x0a\x03\x0a\x01b",  # a list in two pieces
    b"\x0a\x05\x10\x01\x0a\x01a",  # a field that is not known
    b"\x0a\x83\x00\x0a\x01a",  # a length that is longer than need be
]


@pytest.mark.parametrize("odd", UNUSUAL)
def test_strings_among_others_are_those_of_one_example(odd: bytes) -> None:
    from weft.core import dtypes
    from weft.ops.strings.example_wire import column

    def fail(index: int, message: str) -> None:
        raise AssertionError(message)

    usual = [b"\x0a\x06\x0a\x01x\x0a\x01y", b"\x0a\x02\x0a\x00", b"\x0a\x03\x0a\x01z"]
    alone = column([odd], dtypes.string, fail, str)
    values, counts, missing = column([*usual, odd, *usual], dtypes.string, fail, str)
    around = [b"x", b"y", b"", b"z"]
    assert values.tolist() == [*around, *alone[0].tolist(), *around]
    assert counts.tolist() == [2, 1, 1, *alone[1].tolist(), 2, 1, 1]
    assert missing == [3 for _ in alone[2]]


def test_a_string_that_is_cut_off_among_others() -> None:
    good, cut_off = example(s=[b"abc"]), b"\x0a\x05\x0a\x06abc"
    entry = b"\x0a\x01s\x12" + bytes([len(cut_off)]) + cut_off
    bad = b"\x0a" + bytes([len(entry) + 2]) + b"\x0a" + bytes([len(entry)]) + entry
    parsed = tf.parse_example([good, bad, good], {"s": tf.VarLenFeature(tf.string)})["s"]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Index: 1"):
        sess.run(parsed)


# ---- what sequences lack ----------------------------------------------------------------------


def _sequence_example():
    def integers(*values):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))

    lists = {"f": tf.train.FeatureList(feature=[integers(1), integers(2, 3)])}
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"c": integers(1, 2)}),
        feature_lists=tf.train.FeatureLists(feature_list=lists),
    ).SerializeToString()


@pytest.mark.parametrize(
    ("context", "lists", "message"),
    [
        ({"c": tf.FixedLenFeature([3], tf.int64)}, None, "Inconsistent .* feature c: 2 vs 1"),
        ({"c": tf.VarLenFeature(tf.float32)}, None, "Error in context feature c in example x"),
        ({"z": tf.FixedLenFeature([], tf.int64)}, None, "Inconsistent .* feature z: 0 vs 1"),
        (None, {"f": tf.FixedLenSequenceFeature([], tf.int64)}, "elements in feature f, example x"),
        (None, {"f": tf.FixedLenSequenceFeature([2], tf.int64)}, "shape error in feature f"),
        (None, {"f": tf.VarLenFeature(tf.string)}, "Error in sequence feature f in example x"),
        (None, {"z": tf.FixedLenSequenceFeature([], tf.int64)}, "Missing feature z in example x"),
    ],
)
def test_a_batch_of_sequences_tells_less(sess, context, lists, message):
    parsed = tf.io.parse_sequence_example([_sequence_example()], context, lists, ["x"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(parsed)


def test_a_sequence_without_a_name_has_none(sess):
    lists = {"z": tf.FixedLenSequenceFeature([], tf.int64)}
    parsed = tf.parse_single_sequence_example(_sequence_example(), None, lists)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: , Feature list 'z' is"):
        sess.run(parsed)


def test_one_example_with_another_count_cannot_be_parsed(sess):
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))
    example = tf.train.Example(features=tf.train.Features(feature={"c": feature}))
    for wanted in (
        tf.FixedLenFeature([3], tf.int64),
        tf.FixedLenSequenceFeature([3], tf.int64, allow_missing=True),
    ):
        parsed = tf.parse_single_example(example.SerializeToString(), {"c": wanted})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Key: c.  Can't parse"):
            sess.run(parsed)
