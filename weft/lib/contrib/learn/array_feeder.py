"""Arrays for an Estimator of tf.contrib.learn: placeholders, and a hook that feeds them batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import as_dtype
from weft.graph.graph import Tensor
from weft.lib.contrib.learn.pandas_io import extract_pandas_data, extract_pandas_labels
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array.placeholders import placeholder


class ArrayFeeder(SessionRunHook):
    """Feeds rows of arrays: in training shuffled and for ever, else in order and once.

    The rows are shuffled anew for every pass, always by the same numbers; the last batch of a pass
    has what is left.
    """

    def __init__(self, x: Any, y: Any, batch_size: int | None, train: bool) -> None:
        self._arrays = {"input": _parts(extract_pandas_data(x), _as_rows)}
        if y is not None:
            self._arrays["output"] = _parts(extract_pandas_labels(y), _as_labels)
        self._rows = len(next(iter(self._arrays["input"].values())))
        self._batch_size, self._train = batch_size or self._rows, train
        self._random = np.random.RandomState(42)
        self._start_pass()

    def _start_pass(self) -> None:
        shuffled = self._random.permutation(self._rows) if self._train else np.arange(self._rows)
        self._order: Any = shuffled
        self._at = 0

    def input_fn(self) -> tuple[Any, Any]:
        """(features, labels), which are fed."""
        self._fed: dict[Tensor, Any] = {}
        made = {kind: self._placeholders(kind, parts) for kind, parts in self._arrays.items()}
        return made["input"], made.get("output")

    def _placeholders(self, kind: str, parts: dict[Any, Any]) -> Any:
        made = {}
        for key, array in parts.items():
            name = kind if key is None else f"{kind}_{key}"
            made[key] = placeholder(as_dtype(array.dtype), [None, *array.shape[1:]], name)
            self._fed[made[key]] = array
        return made[None] if None in made else made

    def before_run(self, run_context: Any) -> SessionRunArgs:
        if self._at >= self._rows:
            if not self._train:
                raise errors.OutOfRangeError(None, None, "All rows were fed.")
            self._start_pass()
        rows = self._order[self._at : self._at + self._batch_size]
        self._at += self._batch_size
        return SessionRunArgs(None, {tensor: array[rows] for tensor, array in self._fed.items()})


def _parts(given: Any, shaped: Any) -> dict[Any, Any]:
    """Arrays by name, or one without."""
    named = given if isinstance(given, dict) else {None: given}
    return {key: shaped(np.asarray(value)) for key, value in named.items()}


def _as_rows(array: Any) -> Any:
    return array[:, None] if array.ndim == 1 else array


def _as_labels(array: Any) -> Any:
    """One label for each row is a vector."""
    return array.reshape(-1) if array.ndim == 2 and array.shape[1] == 1 else array
