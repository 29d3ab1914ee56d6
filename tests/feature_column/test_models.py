"""input_layer and linear_model: variables, collections, partitions, checkpoints, messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

fc = tf.feature_column
WORDS = {"w": [["a", "b"], ["", "c"]], "x": [[1.0], [2.0]]}


def words() -> Any:
    return fc.categorical_column_with_vocabulary_list("w", ["a", "b", "c"])


def run(*fetches: Any) -> list[Any]:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return session.run(list(fetches))


def test_input_layer_tells_outputs_and_variables_by_column() -> None:
    number, embedded = fc.numeric_column("x"), fc.embedding_column(words(), 2)
    variables: dict[Any, Any] = {}
    outputs: dict[Any, Any] = {}
    both = fc.input_layer(
        WORDS, [number, embedded], cols_to_vars=variables, cols_to_output_tensors=outputs
    )
    assert variables[number] == []
    assert [v.name for v in variables[embedded]] == ["input_layer/w_embedding/embedding_weights:0"]
    whole, left, right = run(both, outputs[embedded], outputs[number])
    np.testing.assert_array_equal(whole, np.concatenate([left, right], 1))


def test_a_second_input_layer_has_variables_of_its_own() -> None:
    column = fc.embedding_column(words(), 2)
    for _ in range(2):
        fc.input_layer(WORDS, [column])
    assert [v.op.name for v in tf.global_variables()] == [
        "input_layer/w_embedding/embedding_weights",
        "input_layer_1/w_embedding/embedding_weights",
    ]


def test_collections_and_trainability() -> None:
    columns = [fc.embedding_column(words(), 2), fc.embedding_column(words(), 3)._replace()]
    fc.input_layer(WORDS, columns[:1], weight_collections=["mine"], trainable=False)
    assert tf.trainable_variables() == []
    (variable,) = tf.get_collection("mine")
    assert tf.get_collection(tf.GraphKeys.MODEL_VARIABLES) == [variable]
    assert tf.global_variables() == [variable]


def test_partitions_of_an_embedding_and_of_linear_weights() -> None:
    with tf.variable_scope("model", partitioner=tf.fixed_size_partitioner(2)):
        deep = fc.input_layer(WORDS, [fc.embedding_column(words(), 2)])
        wide = fc.linear_model(WORDS, [words()])
    assert [v.op.name for v in tf.global_variables()] == [
        "model/input_layer/w_embedding/embedding_weights/part_0",
        "model/input_layer/w_embedding/embedding_weights/part_1",
        "model/linear_model/w/weights/part_0",
        "model/linear_model/w/weights/part_1",
        "model/linear_model/bias_weights/part_0",
    ]
    assert [value.shape for value in run(deep, wide)] == [(2, 2), (2, 1)]


def test_an_embedding_starts_as_a_tensor_of_a_checkpoint(tmp_path: Path) -> None:
    table = np.arange(6, dtype=np.float32).reshape(3, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        saved = tf.Variable(table, name="table")
        session.run(saved.initializer)
        path = tf.train.Saver().save(session, str(tmp_path / "model"))
    column = fc.embedding_column(words(), 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table")
    (found,) = run(fc.input_layer(WORDS, [column]))
    np.testing.assert_array_equal(found, [(table[0] + table[1]) / 2, table[2]])


def test_shared_embeddings_have_one_variable() -> None:
    other = fc.categorical_column_with_vocabulary_list("v", ["a", "b", "c"])
    columns = fc.shared_embedding_columns([words(), other], 2)
    features = {"w": [["a"], ["c"]], "v": [["c"], ["a"]]}
    (found,) = run(fc.input_layer(features, columns))
    assert [v.op.name for v in tf.global_variables()] == [
        "input_layer/v_w_shared_embedding/embedding_weights"
    ]
    np.testing.assert_array_equal(found[0, :2], found[1, 2:])


def test_linear_model_sums_and_tells_its_variables() -> None:
    number = fc.numeric_column("x")
    variables: dict[Any, Any] = {}
    sums = fc.linear_model(WORDS, [words(), number], units=2, cols_to_vars=variables)
    assert {getattr(k, "name", k): [v.op.name for v in vs] for k, vs in variables.items()} == {
        "w": ["linear_model/w/weights"],
        "x": ["linear_model/x/weights"],
        "bias": ["linear_model/bias_weights"],
    }
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        assert not session.run(sums).any()
        variables["bias"][0].load([1.0, 2.0], session)
        variables[number][0].load([[10.0, 20.0]], session)
        variables[words()][0].load([[100.0, 0], [200, 0], [400, 0]], session)
        np.testing.assert_array_equal(session.run(sums), [[311, 22], [421, 42]])


def test_gradients_name_each_row_once() -> None:
    column = fc.categorical_column_with_identity("i", 5)
    embedded = fc.input_layer({"i": [[3], [1], [3]]}, [fc.embedding_column(column, 2)])
    (gradient,) = tf.gradients(embedded, tf.trainable_variables())
    indices, values = run(gradient.indices, gradient.values)
    assert indices.tolist() == [3, 1]
    np.testing.assert_array_equal(values, [[2, 2], [1, 1]])


MESSAGES = [
    (lambda: fc.input_layer(WORDS, [words()]), "must be a _DenseColumn"),
    (lambda: fc.input_layer(WORDS, []), "feature_columns must not be empty"),
    (lambda: fc.input_layer(WORDS, {"x": words()}), "to be iterable, found dict"),
    (lambda: fc.input_layer({}, fc.numeric_column("x")), "Feature x is not in features dictionary"),
    (
        lambda: fc.input_layer(WORDS, [fc.numeric_column("x"), fc.numeric_column("x")]),
        "Duplicate feature column name found for columns",
    ),
    (
        lambda: fc.input_layer({"x": 1.0}, [fc.numeric_column("x")]),
        r"Feature \(key: x\) cannot have rank 0",
    ),
    (
        lambda: fc.linear_model(
            {"x": [[1.0]], "y": [[1.0], [2.0]]}, [fc.numeric_column("x"), fc.numeric_column("y")]
        ),
        r"Batch size of columns \(x, y\): \(1, 2\)",
    ),
    (
        lambda: fc.input_layer(
            WORDS,
            fc.indicator_column(fc.sequence_categorical_column_with_hash_bucket("w", 3)),
        ),
        "must not be of type _SequenceCategoricalColumn",
    ),
]


@pytest.mark.parametrize(("make", "message"), MESSAGES)
def test_messages(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
