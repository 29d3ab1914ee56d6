"""Input functions over arrays and data frames."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.estimator.feeding import Rows

numpy_input_fn = tf.estimator.inputs.numpy_input_fn


def batches(input_fn: Any) -> list[Any]:
    """All batches of an input function."""
    found = []
    with tf.Graph().as_default():
        fetches = input_fn()
        with tf.train.MonitoredSession() as sess:
            while not sess.should_stop():
                found.append(sess.run(fetches))
    return found


def test_arrays_in_order() -> None:
    x = {"b": np.arange(5), "a": np.arange(10.0).reshape(5, 2)}
    found = batches(numpy_input_fn(x, np.arange(5) * 10, 2, 2, shuffle=False))
    labels = [batch[1].tolist() for batch in found]
    assert labels == [[0, 10], [20, 30], [40, 0], [10, 20], [30, 40]]
    assert list(found[0][0]) == ["a", "b"]
    assert found[1][0]["a"].tolist() == [[4, 5], [6, 7]] and found[0][0]["b"].dtype == np.int64


def test_the_last_batch_may_be_smaller() -> None:
    found = batches(numpy_input_fn({"x": np.arange(5)}, batch_size=2, shuffle=False))
    assert [len(batch["x"]) for batch in found] == [2, 2, 1]


def test_one_array_and_labels_by_name() -> None:
    x, y = np.arange(4.0), {"p": np.arange(4), "q": -np.arange(4)}
    ((features, labels),) = batches(numpy_input_fn(x, y, 4, shuffle=False))
    assert features.tolist() == [0, 1, 2, 3] and labels["q"].tolist() == [0, -1, -2, -3]


def test_shuffling_loses_nothing() -> None:
    x = np.arange(50)
    found = batches(numpy_input_fn({"x": x}, batch_size=7, shuffle=True))
    rows = np.concatenate([batch["x"] for batch in found])
    assert sorted(rows) == x.tolist() and rows.tolist() != x.tolist()


def test_rows_of_epochs() -> None:
    rows = Rows(3, 2, False, 2)
    assert [rows(), rows(), rows()] == [[0, 1], [2, 0], [1, 2]]
    with pytest.raises(tf.errors.OutOfRangeError, match="Already emitted 2 epochs"):
        rows()
    rows = Rows(3, 7, False, 2)
    assert rows() == [0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({"x": {}}, ValueError, "x cannot be an empty dict"),
        ({"x": np.array([])}, ValueError, "x cannot be an empty array"),
        ({"x": [1, 2]}, TypeError, "x must be a dict or array; got list"),
        ({"x": {"a": np.ones(2)}, "y": {}}, ValueError, "y cannot be empty dict"),
        (
            {"x": {"a": np.ones(2)}, "y": {"a": np.ones(2)}},
            ValueError,
            "1 duplicate keys are found in both x and y: {'a'}",
        ),
        (
            {"x": {"a": np.ones(2)}, "y": np.ones(3)},
            ValueError,
            r"Length of tensors in x and y is mismatched.*\nShapes in x: {'a': \(2,\)}\n"
            r"Shapes in y: \(3,\)",
        ),
    ],
)
def test_mistakes(arguments: Any, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        numpy_input_fn(**arguments, shuffle=False)()


def test_shuffle_must_be_said() -> None:
    with pytest.raises(ValueError, match="shuffle must be provided and explicitly set"):
        numpy_input_fn(np.ones(3))


def test_threads_that_read_the_same_are_warned_of(log: Any) -> None:
    with tf.Graph().as_default():
        numpy_input_fn(np.ones(3), num_threads=2, shuffle=False)()
    assert sum("num_threads > 1" in line for line in log()) == 2


def test_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    x = pd.DataFrame({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}, index=[7, 8, 9])
    y = pd.Series([1, 0, 1], index=[7, 8, 9])
    pandas_input_fn = tf.estimator.inputs.pandas_input_fn
    found = batches(pandas_input_fn(x, y, 2, shuffle=False))
    assert [batch[1].tolist() for batch in found] == [[1, 0], [1]]
    assert found[0][0]["b"].tolist() == [0.5, 1.5]
    both = pd.DataFrame({"a": [1, 0, 1], "c": [4, 5, 6]}, index=[7, 8, 9])
    ((features, labels),) = batches(pandas_input_fn(x, both, 3, shuffle=False))
    assert sorted(features) == ["a", "b"] and labels["a"].tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="Index for x and y are mismatched"):
        pandas_input_fn(x, pd.Series([1, 0, 1]), shuffle=False)
    with pytest.raises(ValueError, match="Cannot use name a for target column"):
        pandas_input_fn(x, y, shuffle=False, target_column="a")


def test_without_pandas(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(TypeError, match="should not be called without pandas installed"):
        tf.estimator.inputs.pandas_input_fn(None, shuffle=False)
