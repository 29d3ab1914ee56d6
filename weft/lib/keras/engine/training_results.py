"""Results of the batches of an epoch together: mean losses, last metrics, joined predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import nest
from weft.graph.slices import SparseTensorValue
from weft.lib.keras.engine.training_data import is_composite


class Metrics:
    """The loss is averaged over samples (or steps); metrics average themselves."""

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self.results: list[Any] = []
        self._weights = 0

    def add(self, outputs: list[Any], start: int, weight: int) -> None:
        loss = np.float64(outputs[0]) * weight
        self.results = [loss + self.results[0] if self.results else loss, *outputs[1:]]
        self._weights += weight

    def finish(self) -> list[Any]:
        if not self.results:
            raise ValueError("Empty training data.")
        self.results[0] = self.results[0] / (self.total or self._weights)
        return self.results


class Predictions:
    """All outputs, in the order of the samples; `total` samples if that is known before."""

    def __init__(self, total: int | None = None) -> None:
        self.total = total
        self._structure: Any = None
        self._parts: list[list[Any]] = []
        self._whole: list[np.ndarray] = []

    def add(self, outputs: Any, start: int, weight: int) -> None:
        flat = nest.flatten(outputs)
        if self._structure is None:
            _check_can_be_joined(flat)
            self._structure = outputs
            self._parts = [[] for _ in flat]
            if self.total is not None and all(isinstance(x, np.ndarray) for x in flat):
                self._whole = [np.empty((self.total, *x.shape[1:]), x.dtype) for x in flat]
        if self._whole:
            for whole, part in zip(self._whole, flat, strict=True):
                if weight == self.total and len(part) != self.total:
                    raise ValueError(
                        "Mismatch between expected batch size and model output batch size. Output "
                        f"shape = {part.shape}, expected output shape = shape {whole.shape}"
                    )
                whole[start : start + weight] = part
            return
        for parts, part in zip(self._parts, flat, strict=True):
            parts.append(part)

    def finish(self) -> Any:
        joined = self._whole or [_joined(parts) for parts in self._parts]
        return [] if self._structure is None else nest.pack_sequence_as(self._structure, joined)


def _check_can_be_joined(outputs: list[Any]) -> None:
    for each in outputs:
        if not isinstance(each, np.ndarray) and not is_composite(each):
            raise RuntimeError(f"Attempted to aggregate unsupported object {each}.")


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if isinstance(parts[0], SparseTensorValue):
        return _joined_sparse(parts)
    if hasattr(parts[0], "row_splits"):
        return _joined_ragged(parts)
    return np.concatenate(parts, axis=0)


def _joined_sparse(parts: list[Any]) -> SparseTensorValue:
    rows = np.cumsum([0, *(part.dense_shape[0] for part in parts)])
    indices = [
        part.indices + np.array([row] + [0] * (part.indices.shape[1] - 1))
        for part, row in zip(parts, rows[:-1], strict=True)
    ]
    widest = np.max([part.dense_shape[1:] for part in parts], axis=0)
    values = np.concatenate([part.values for part in parts])
    return SparseTensorValue(np.concatenate(indices), values, np.array([rows[-1], *widest]))


def _joined_ragged(parts: list[Any]) -> Any:
    kind = type(parts[0])
    starts = np.cumsum([0, *(part.row_splits[-1] for part in parts)])
    splits = [part.row_splits[1:] + at for part, at in zip(parts, starts[:-1], strict=True)]
    values = _joined([part.values for part in parts])
    return kind(values, np.concatenate([[0], *splits]).astype(parts[0].row_splits.dtype))
