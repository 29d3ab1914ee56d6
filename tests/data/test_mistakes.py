"""Mistakes with datasets end in the errors of TensorFlow 1.15."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft as tf

errors = tf.errors
FAILED, END = "failed", "end"


def numbers(count: int = 10) -> Any:
    return tf.data.Dataset.range(count)


def from_generator(value: Any, *structure: Any, **options: Any) -> Any:
    return tf.data.Dataset.from_generator(lambda: iter([value]), *structure, **options)


BUILDING: list[tuple[Callable[[], Any], Any, str]] = [
    (lambda: tf.data.Dataset.from_tensor_slices(3), ValueError,
     'Value Tensor("normalize_element/component_0:0", shape=(), dtype=int32) has insufficient rank'
     " for batching."),
    (lambda: numbers().map(3), ValueError, "Argument must be callable"),
    (lambda: numbers().interleave(lambda x: x, 2), TypeError,
     "`map_func` must return a `Dataset` object. Got <class 'weft.graph.type_spec.TensorSpec'>"),
    (lambda: tf.data.Iterator.from_structure({"a": tf.int64}).make_initializer(numbers()),
     ValueError,
     "The two structures don't have the same nested structure.\n\nFirst structure: type=dict"
     " str={'a': tf.int64}\n\nSecond structure: type=DType str=<dtype: 'int64'>\n\nMore"
     " specifically: Substructure \"type=dict str={'a': tf.int64}\" is a sequence, while"
     " substructure \"type=DType str=<dtype: 'int64'>\" is not"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "text"), BUILDING)
def test_what_is_found_when_the_graph_is_made(make: Any, kind: Any, text: str) -> None:
    with pytest.raises(kind) as found:
        make()
    assert str(found.value) == text


RUNNING: list[tuple[Callable[[], Any], Any, str]] = [
    (lambda: tf.data.Dataset.list_files("/no/such/place/*"), errors.NotFoundError,
     "/no/such/place; No such file or directory"),
    (lambda: tf.data.experimental.SqlDataset("other", "a", "b", tf.int32),
     errors.InvalidArgumentError,
     "The database type, other, is not supported by SqlDataset. The set of supported databases is:"
     " {'sqlite'}."),
    (lambda: tf.data.experimental.SqlDataset("sqlite", ":memory:", "select * from t", tf.int32),
     errors.UnknownError, "Prepare() failed: [1] no such table: t: select * from t"),
    (lambda: tf.data.experimental.CsvDataset("file", [0, 0], select_cols=[0]),
     errors.InvalidArgumentError, "select_cols should match output size"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "text"), RUNNING)
def test_what_is_found_when_elements_are_made(make: Any, kind: Any, text: str) -> None:
    iterator = make().make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session, pytest.raises(kind) as found:
        session.run(iterator.initializer)
        session.run(element)
    assert found.value.message.split("\n")[0] == text


def test_too_many_calls() -> None:
    iterator = numbers().make_one_shot_iterator()
    for _ in range(32):
        iterator.get_next()
    with pytest.warns(UserWarning, match="An unusually high number"):
        iterator.get_next()


def test_a_large_number_is_cut() -> None:
    element = from_generator(2**40 + 3, tf.int32).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        assert session.run(element) == 3


# ---- errors of functions whose results are batched -----------------------------------------------


def fails_at_four(x: Any) -> Any:
    return tf.check_numerics(1.0 / tf.cast(x - 4, tf.float32), "bad")


def outcomes(dataset: Any) -> list[Any]:
    """How many elements each batch has, or that there is none."""
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    found: list[Any] = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while END not in found:
            try:
                found.append(len(session.run(element)))
            except errors.OutOfRangeError:
                found.append(END)
            except errors.InvalidArgumentError:
                found.append(FAILED)
    return found


BATCHES: dict[str, tuple[Callable[[], Any], list[Any]]] = {
    "fused": (lambda: numbers().map(fails_at_four).batch(3), [3, FAILED, 3, 1, END]),
    "in parallel": (
        lambda: numbers().map(fails_at_four, num_parallel_calls=2).batch(3), [3, FAILED, 3, 1, END]
    ),
    "nothing between": (
        lambda: numbers().map(fails_at_four).prefetch(0).batch(3), [3, FAILED, 3, 1, END]
    ),
    "not fused": (
        lambda: numbers().map(fails_at_four).filter(lambda x: True).batch(3), [3, FAILED, 3, 2, END]
    ),
    "whole ones": (
        lambda: numbers().map(fails_at_four).batch(4, drop_remainder=True), [4, FAILED, END]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BATCHES)
def test_an_error_takes_its_batch_along(name: str) -> None:
    make, wanted = BATCHES[name]
    assert outcomes(make()) == wanted


def test_results_of_different_shapes() -> None:
    dataset = numbers().map(lambda x: tf.fill([x], x)).batch(2)
    element = dataset.make_one_shot_iterator().get_next()
    text = r"number of elements does not match. Shapes are: \[tensor\]: \[1\], \[batch\]: \[0\]"
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError, match=text):
        session.run(element)


# ---- files ---------------------------------------------------------------------------------------


def test_patterns_begin_in_a_directory(tmp_path: Path) -> None:
    assert tf.gfile.Glob(f"{tmp_path}/*") == []
    assert tf.gfile.Glob(f"{tmp_path}/[ab]/*") == []
    for pattern in (f"{tmp_path}/none/*", f"{tmp_path}/none/file"):
        with pytest.raises(errors.NotFoundError, match="none; No such file or directory"):
            tf.gfile.Glob(pattern)
    with pytest.raises(errors.NotFoundError, match="none; No such file or directory"):
        tf.train.checkpoint_exists(f"{tmp_path}/none/model")
    text = "Failed to get matching files on .*none/model: Not found: .*none; No such file"
    with pytest.raises(errors.InvalidArgumentError, match=text):
        tf.train.load_checkpoint(f"{tmp_path}/none/model")
