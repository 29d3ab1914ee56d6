"""What columns are called, what they parse, what they refuse, and their records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.lib.feature_column.base import is_feature_column_v2
from weft.lib.feature_column.serialization import (
    deserialize_feature_columns,
    serialize_feature_columns,
)

fc = tf.feature_column


def twice(x: Any) -> Any:
    return x * 2


def some_columns() -> list[Any]:
    price = fc.numeric_column("price", shape=(2,), default_value=1.5, normalizer_fn=twice)
    buckets = fc.bucketized_column(price, [0, 1])
    words = fc.categorical_column_with_vocabulary_list("words", ("a", "b"), num_oov_buckets=1)
    cross = fc.crossed_column([words, buckets, "raw"], 10, hash_key=7)
    weighted = fc.weighted_categorical_column(fc.categorical_column_with_identity("id", 4), "heavy")
    steps = fc.sequence_categorical_column_with_hash_bucket("steps", 8, dtype=tf.int64)
    return [
        price,
        buckets,
        cross,
        fc.indicator_column(weighted),
        fc.embedding_column(steps, 3, combiner="sum"),
        fc.sequence_numeric_column("pace", shape=(2, 2)),
    ]


def test_names() -> None:
    assert [column.name for column in some_columns()] == [
        "price",
        "price_bucketized",
        "price_bucketized_X_raw_X_words",
        "id_weighted_by_heavy_indicator",
        "steps_embedding",
        "pace",
    ]


def test_a_column_shows_its_fields() -> None:
    shown = "NumericColumn(key='x', shape=(1,), default_value=None, dtype=tf.float32, "
    assert str(fc.numeric_column("x")) == shown + "normalizer_fn=None)"


def test_what_is_parsed() -> None:
    columns = [column for column in some_columns() if column.name != "pace"]
    assert fc.make_parse_example_spec(columns) == {
        "price": tf.FixedLenFeature((2,), tf.float32, (1.5, 1.5)),
        "words": tf.VarLenFeature(tf.string),
        "raw": tf.VarLenFeature(tf.string),
        "id": tf.VarLenFeature(tf.int64),
        "heavy": tf.VarLenFeature(tf.float32),
        "steps": tf.VarLenFeature(tf.int64),
    }
    with pytest.raises(ValueError, match="contain different parse_spec for key x"):
        fc.make_parse_example_spec(
            [fc.numeric_column("x"), fc.categorical_column_with_hash_bucket("x", 4)]
        )


def test_parsing_examples_end_to_end() -> None:
    example = tf.train.Example()
    example.features.feature["x"].float_list.value.append(2.5)
    example.features.feature["w"].bytes_list.value.extend([b"b", b"zz"])
    words = fc.categorical_column_with_vocabulary_list("w", ["a", "b"])
    columns = [fc.numeric_column("x"), fc.indicator_column(words)]
    spec = fc.make_parse_example_spec(columns)
    features = tf.parse_example([example.SerializeToString()], spec)
    with tf.Session() as session:
        session.run([])
        output = fc.input_layer(features, columns)
        session.run(tf.tables_initializer())
        assert session.run(output).tolist() == [[0.0, 1.0, 2.5]]


def test_records_come_back_as_equal_columns() -> None:
    columns = some_columns()
    records = serialize_feature_columns(columns)
    made = deserialize_feature_columns(records, custom_objects={"twice": twice})
    for old, new in zip(columns, made, strict=True):
        if "embedding" not in old.name:  # initializers are compared by identity
            assert old == new
    assert made[4].initializer.get_config() == columns[4].initializer.get_config()
    assert made[2].keys[1].source_column is made[0]
    with pytest.raises(ValueError, match="Unknown feature_column_v2"):
        deserialize_feature_columns([{"class_name": "Nothing", "config": {}}])


def test_which_columns_hold_no_state() -> None:
    words = [fc.categorical_column_with_hash_bucket(key, 4) for key in "ab"]
    assert is_feature_column_v2(some_columns())
    assert not is_feature_column_v2(fc.shared_embedding_columns(words, 2))


def test_the_size_of_a_vocabulary_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("a\nb\nc\n")
    column = fc.categorical_column_with_vocabulary_file("w", str(path), num_oov_buckets=2)
    assert (column.vocabulary_size, column.num_buckets) == (3, 5)
    with pytest.raises(ValueError, match="vocabulary_file in w does not exist"):
        fc.categorical_column_with_vocabulary_file("w", str(tmp_path / "none"))


REFUSED = [
    (TypeError, lambda: fc.numeric_column("x", shape=[1.0]), "dimensions must be integer"),
    (ValueError, lambda: fc.numeric_column("x", shape=[0]), "must be greater than 0"),
    (ValueError, lambda: fc.numeric_column("x", dtype=tf.string), "must be convertible to float"),
    (ValueError, lambda: fc.numeric_column("x", (2,), [1, 2, 3]), "default_value must be equal"),
    (TypeError, lambda: fc.numeric_column("x", default_value="a"), "must be compatible with dtype"),
    (ValueError, lambda: fc.numeric_column(("x",)), "key must be a string"),
    (ValueError, lambda: fc.bucketized_column(fc.numeric_column("x"), [2, 1]), "sorted list"),
    (ValueError, lambda: fc.bucketized_column("x", [1]), "generated with numeric_column"),
    (ValueError, lambda: fc.categorical_column_with_hash_bucket("x", 0), "must be at least 1"),
    (
        ValueError,
        lambda: fc.categorical_column_with_hash_bucket("x", 2, tf.float32),
        "dtype must be string or integer",
    ),
    (ValueError, lambda: fc.categorical_column_with_identity("x", 3, 3), r"not in range \[0, 3\)"),
    (
        ValueError,
        lambda: fc.categorical_column_with_vocabulary_list("x", ["a", "a"]),
        "Duplicate keys in vocabulary_list",
    ),
    (
        ValueError,
        lambda: fc.categorical_column_with_vocabulary_list(
            "x", [1], default_value=0, num_oov_buckets=1
        ),
        "Can't specify both",
    ),
    (ValueError, lambda: fc.crossed_column(["a"], 4), "keys must be a list with length > 1"),
    (
        ValueError,
        lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("b", 4)], 4),
        "is not supported for crossing",
    ),
    (ValueError, lambda: fc.embedding_column(None, 0), "Invalid dimension 0"),
    (
        ValueError,
        lambda: fc.embedding_column(None, 1, ckpt_to_load_from="x"),
        "Must specify both `ckpt_to_load_from`",
    ),
]


@pytest.mark.parametrize(("error", "make", "message"), REFUSED)
def test_refused(error: type[Exception], make: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        make()
