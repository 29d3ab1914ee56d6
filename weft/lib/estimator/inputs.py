"""tf.estimator.inputs: input functions over arrays and data frames in memory."""

from __future__ import annotations

import importlib
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.lib.estimator.feeding import enqueue_columns

_TARGET_KEY = "__target_key__"


def _check_shuffle(shuffle: Any) -> None:
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended to set it "
            f"as True for training); got {shuffle}"
        )


def _batch(queue: Any, batch_size: int, num_epochs: int | None) -> list[Any]:
    """The columns of the next batch, without the index; the last batch may be smaller."""
    take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
    return take(batch_size)[1:]


# ---- arrays --------------------------------------------------------------------------------------


def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An input function over arrays: `x` is one or a dict of them, and so is `y`, if given.

    Args:
        x: an array, or a dict of arrays with one first dimension.
        y: the labels: likewise, or None.
        batch_size: how many rows a step sees.
        num_epochs: how often to see the data; None: for ever.
        shuffle: whether the order is random; must be given.
        queue_capacity: how many rows wait.
        num_threads: that read; more than one may mix the order.

    Returns:
        A function that gives tensors of features, and of labels.

    Raises:
        ValueError: `shuffle` is not given, or the lengths differ.
        TypeError: `x` is neither an array nor a dict.

    Example:
        >>> data = {"x": np.array([1.0, 2.0])}
        >>> callable(tf.estimator.inputs.numpy_input_fn(data, np.array([0, 1]), shuffle=False))
        True
    """
    _check_shuffle(shuffle)

    def input_fn() -> Any:
        features = _feature_columns(x)
        targets = _target_columns(y, features)
        columns = {**features, **targets}
        _check_lengths(features, targets, y)
        queue = enqueue_columns(
            list(columns.values()),
            np.arange(len(next(iter(columns.values()))), dtype=np.int64),
            queue_capacity,
            shuffle=bool(shuffle),
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
        )
        batch = dict(zip(columns, _batch(queue, batch_size, num_epochs), strict=True))
        inputs: Any = {name: batch[name] for name in features}
        if isinstance(x, np.ndarray):
            (inputs,) = inputs.values()
        if y is None:
            return inputs
        labels: Any = {name: batch[name] for name in targets}
        if not isinstance(y, dict):
            (labels,) = labels.values()
        return inputs, labels

    return input_fn


def _sorted(columns: dict[str, Any]) -> dict[str, Any]:
    return dict(sorted(columns.items()))


def _feature_columns(x: Any) -> dict[str, Any]:
    match x:
        case dict():
            if not x:
                raise ValueError("x cannot be an empty dict")
            return _sorted(x)
        case np.ndarray():
            if x.size == 0:
                raise ValueError("x cannot be an empty array")
            return {"__direct_np_input__": x}
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _target_columns(y: Any, features: dict[str, Any]) -> dict[str, Any]:
    if y is None:
        return {}
    if not isinstance(y, dict):
        key = _TARGET_KEY
        while key in features:
            key += "_n"
        return {key: y}
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    common = set(features) & set(y)
    if common:
        raise ValueError(f"{len(common)} duplicate keys are found in both x and y: {common}")
    return _sorted(y)


def _check_lengths(features: dict[str, Any], targets: dict[str, Any], y: Any) -> None:
    if len({each.shape[0] for each in (*features.values(), *targets.values())}) == 1:
        return
    shapes = {name: each.shape for name, each in targets.items()}
    raise ValueError(
        "Length of tensors in x and y is mismatched. All elements in x and y must have the same "
        f"length.\nShapes in x: { {name: each.shape for name, each in features.items()} }\n"
        f"Shapes in y: {None if y is None else shapes if isinstance(y, dict) else y.shape}\n"
    )


# ---- data frames ---------------------------------------------------------------------------------


def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: Any = "target",
) -> Callable[[], Any]:
    """An input function over a pandas DataFrame `x`; `y` is a Series, or a DataFrame too."""
    try:
        pd = importlib.import_module("pandas")
    except ImportError:
        raise TypeError("pandas_input_fn should not be called without pandas installed") from None
    _check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    frame = x.copy()
    targets: dict[str, str] = {}  # in the frame -> in the labels
    if y is not None:
        _check_target(frame, y, target_column)
        if isinstance(y, pd.DataFrame):
            targets = {_new_name(frame, column): column for column in y}
            frame[list(targets)] = y
        else:
            targets = {target_column: target_column}
            frame[target_column] = y
    if queue_capacity is None:
        queue_capacity = (4 if shuffle else 1) * len(frame)
    capacity = queue_capacity

    def input_fn() -> Any:
        queue = enqueue_columns(
            [frame[column].values for column in frame.columns],
            frame.index.values,
            capacity,
            shuffle=bool(shuffle),
            min_after_dequeue=max(capacity / 4, 1),
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
        )
        features = dict(zip(frame.columns, _batch(queue, batch_size, num_epochs), strict=True))
        if y is None:
            return features
        labels: Any = {name: features.pop(column) for column, name in targets.items()}
        if not isinstance(y, pd.DataFrame):
            (labels,) = labels.values()
        return features, labels

    return input_fn


def _check_target(frame: Any, y: Any, target_column: str) -> None:
    if target_column in frame:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already has a column "
            f"with that name: {frame.columns}"
        )
    if not np.array_equal(frame.index, y.index):
        raise ValueError(
            f"Index for x and y are mismatched.\nIndex for x: {frame.index}\n"
            f"Index for y: {y.index}\n"
        )


def _new_name(frame: Any, column: str) -> str:
    return f"{column}_{uuid.uuid4()}" if column in frame else column
