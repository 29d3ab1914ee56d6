"""The columns of tf.contrib.layers, and models of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.ops.sparse.feature_cross import sparse_feature_cross

layers = tf.contrib.layers
FEATURES = {"w": [["a"], ["c"], [""]], "x": [[1.0], [20.0], [300.0]]}


def features() -> dict[str, Any]:
    return {key: tf.constant(value) for key, value in FEATURES.items()}


def filled(*fetches: Any) -> list[Any]:
    """The fetches with every variable counting up from 1."""
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        for variable in tf.global_variables():
            shape = variable.shape.as_list()
            variable.load(np.arange(1.0, 1 + np.prod(shape)).reshape(shape), session)
        return session.run(list(fetches))


def columns() -> tuple[Any, Any, Any]:
    words = layers.sparse_column_with_keys("w", ["a", "b", "c"])
    number = layers.real_valued_column("x", normalizer=lambda x: x / 10.0)
    buckets = layers.bucketized_column(layers.real_valued_column("x"), [10, 10, 100])
    return words, number, buckets


def test_the_input_of_a_network() -> None:
    words, number, buckets = columns()
    wanted = [number, buckets, layers.one_hot_column(words), layers.embedding_column(words, 2)]
    outputs: dict[Any, Any] = {}
    joined = layers.input_from_feature_columns(features(), wanted, cols_to_outs=outputs)
    assert [v.op.name for v in tf.global_variables()] == [
        "input_from_feature_columns/w_embedding/weights"
    ]
    assert tf.get_collection(tf.GraphKeys.MODEL_VARIABLES) == tf.global_variables()
    whole, *each = filled(joined, *(outputs[column] for column in wanted))
    np.testing.assert_allclose(each[0], [[0.1], [2], [30]], rtol=1e-6)
    assert each[1].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert each[2].tolist() == [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert each[3].tolist() == [[1, 2], [5, 6], [0, 0]]
    assert whole.shape == (3, 9)


def test_weighted_sums() -> None:
    words, number, buckets = columns()
    crossed = layers.crossed_column([words, buckets], 10, hash_key=3)
    total, variables, bias = layers.weighted_sum_from_feature_columns(
        features(), [words, number, crossed], num_outputs=1
    )
    names = {column.name: [v.op.name for v in vs] for column, vs in variables.items()}
    scope = "weighted_sum_from_feature_columns/"
    assert names == {
        "w": [scope + "w/weights"],
        "x": [scope + "x/weight"],
        "w_X_x_bucketized": [scope + "w_X_x_bucketized/weights"],
    }
    assert bias.op.name == scope + "bias_weight"
    ids = tf.sparse_tensor_to_dense(layers.transform_features(features(), [crossed])[crossed])
    found, places = filled(total, ids)
    # word, cross, bias, and a tenth of the number; the empty word has an id of its own in a cross
    expected = [[1 + 0.1], [3 + 2.0], [30.0]] + (places + 1) + 1
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_joint_sums_have_one_variable() -> None:
    words, number, buckets = columns()
    total, variables, _ = layers.joint_weighted_sum_from_feature_columns(
        features(), [words, buckets], num_outputs=1
    )
    assert [v.shape.as_list() for v in variables] == [[6, 1]]
    # buckets come first, words after them
    assert filled(total)[0].tolist() == [[1 + 4 + 1], [2 + 6 + 1], [3 + 1]]
    with pytest.raises(NotImplementedError, match="Real-valued columns are not supported"):
        layers.joint_weighted_sum_from_feature_columns(features(), [number], 1)


def test_weights_of_ids() -> None:
    ids = layers.sparse_column_with_integerized_feature("i", 3)
    weighted = layers.weighted_sparse_column(ids, "heavy")
    given = {
        "i": tf.SparseTensor([[0, 0], [1, 0]], tf.constant([1, 5], tf.int64), [2, 1]),
        "heavy": tf.SparseTensor([[0, 0], [1, 0]], [0.5, 4.0], [2, 1]),
    }
    one_hot = layers.input_from_feature_columns(given, [layers.one_hot_column(weighted)])
    total, _, _ = layers.weighted_sum_from_feature_columns(given, [weighted], 1)
    one_hot, total = filled(one_hot, total)
    assert one_hot.tolist() == [[0, 0.5, 0], [0, 0, 4]]
    assert total.tolist() == [[0.5 * 2 + 1], [4 * 3 + 1]]


def test_shared_and_scattered_embeddings() -> None:
    first, second = (layers.sparse_column_with_keys(key, ["a", "b", "c"]) for key in "wv")
    shared = layers.shared_embedding_columns([first, second], 2)
    scattered = layers.scattered_embedding_column("w", 50, 4, hash_key=5)
    sparse = tf.SparseTensor([[0, 0], [1, 0]], ["a", "c"], [2, 1])
    given = {"w": sparse, "v": tf.SparseTensor([[0, 0], [1, 0]], ["c", "a"], [2, 1])}
    outputs: dict[Any, Any] = {}
    layers.input_from_feature_columns(given, [*shared, scattered], cols_to_outs=outputs)
    shapes = {v.op.name.split("/")[-1]: v.shape.as_list() for v in tf.global_variables()}
    assert shapes == {"v_w_shared_embedding": [3, 2], "weights": [50]}
    left, right, spread = filled(*(outputs[column] for column in [*shared, scattered]))
    np.testing.assert_array_equal(left, right[::-1])
    assert spread.shape == (2, 4) and spread.min() >= 1 and spread.max() <= 50


def test_columns_are_columns_of_feature_column_too() -> None:
    words, number, buckets = columns()
    dense = [number, buckets, layers.one_hot_column(words), layers.embedding_column(words, 2)]
    joined = tf.feature_column.input_layer(features(), dense)
    total = tf.feature_column.linear_model(features(), [words, buckets])
    joined, total = filled(joined, total)
    assert joined[1].tolist() == [5, 6, 0, 0, 1, 2, 0, 1, 0]
    assert total.tolist() == [[1 + 1 + 1], [3 + 2 + 1], [3 + 1]]


def test_what_is_parsed() -> None:
    words, number, buckets = columns()
    spec = layers.create_feature_spec_for_parsing([number, layers.one_hot_column(words)])
    assert spec == {"x": tf.FixedLenFeature([1], tf.float32), "w": tf.VarLenFeature(tf.string)}
    made = layers.make_place_holder_tensors_for_base_features([words, buckets])
    assert made["x"].shape.as_list() == [None, 1] and made["w"].dtype == tf.string
    inferred = layers.infer_real_valued_columns({"z": tf.zeros([4, 2, 3])})
    assert inferred == [layers.real_valued_column("z", dimension=6)]


def test_crosses_hash_as_in_tensorflow() -> None:
    """Hashes that TensorFlow's own tests expect of its kernels."""
    texts = ["batch1-FC1-F1", "batch1-FC2-F1", "batch1-FC3-F1"]
    inputs = [tf.SparseTensor([[0, 0]], [text], [1, 1]) for text in texts]
    key = layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    crosses = [sparse_feature_cross(inputs, True, hash_key=k) for k in (None, key, key + 1)]
    crosses.append(sparse_feature_cross(inputs))
    values = [cross.values for cross in crosses]
    with tf.Session() as session:
        found = [value.tolist() for value in session.run(values)]
    hashes = [[3735511728867393167], [1971693436396284976], [4847552627144134031]]
    assert found == [*hashes, [b"_X_".join(text.encode() for text in texts)]]


REFUSED = [
    (ValueError, lambda w, n: layers.check_feature_columns([n, n._replace()]), "Duplicate"),
    (ValueError, lambda w, n: layers.check_feature_columns({"n": n}), "found dict"),
    (ValueError, lambda w, n: layers.input_from_feature_columns(features(), [w]), "in DNN"),
    (TypeError, lambda w, n: layers.crossed_column([w, n], 10), "columns must be a set of"),
    (ValueError, lambda w, n: layers.crossed_column([w], 10), "at least 2 elements"),
    (TypeError, lambda w, n: layers.bucketized_column(w, [1]), "instance of _RealValuedColumn"),
    (ValueError, lambda w, n: layers.bucketized_column(n, [2, 1]), "sorted list"),
    (TypeError, lambda w, n: layers.real_valued_column("x", default_value="a"), "compatible with"),
    (ValueError, lambda w, n: layers.sparse_column_with_hash_bucket("w", 0), "at least 1"),
    (ValueError, lambda w, n: layers.sparse_column_with_vocabulary_file("w", "f"), "vocab_size"),
    (ValueError, lambda w, n: layers.sequence_input_from_feature_columns({}, [w]), "sequence data"),
]


@pytest.mark.parametrize(("error", "make", "message"), REFUSED)
def test_refused(error: type[Exception], make: Any, message: str) -> None:
    words, number, _ = columns()
    with pytest.raises(error, match=message):
        make(words, number)
