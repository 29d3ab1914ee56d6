"""The axes of samples: those of the samples, then those of the batch, then those of the event.

An operator that acts on columns takes all samples of a batch at once, once they are its columns.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.distributions.sample_shapes import pick_vector
from weft.ops.array import array, slicing
from weft.ops.control.check_types import assert_integer


@contextlib.contextmanager
def _scope(name: str) -> Iterator[None]:
    with name_scope("DistributionShape"), name_scope(name):
        yield


class EventAxes:
    """Batches of so many axes of vectors."""

    def __init__(self, batch_rank: int) -> None:
        self._batch_rank = batch_rank
        with _scope("init"):
            self._batch_count = convert_to_tensor(batch_rank, dtypes.int32, name="batch_ndims")
            convert_to_tensor(1, dtypes.int32, name="event_ndims")

    def fits(self, x: Tensor) -> bool:
        """Whether the axes of `x` are known, and are enough."""
        return x.dims is not None and len(x.dims) > self._batch_rank

    def as_columns(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """[batch, event, samples] of [samples, batch, event], and the shape of the samples."""
        with _scope("make_batch_of_event_sample_matrices"):
            samples, batch, event = self._shapes(x)
            batch = pick_vector(False, [1], batch)
            return _turned(array.reshape(x, array.concat([[-1], batch, event], 0)), -1), samples

    def as_samples(self, columns: Tensor, samples: Tensor) -> Tensor:
        """The way back."""
        with _scope("undo_make_batch_of_event_sample_matrices"):
            x = _turned(columns, 1)
            _, batch, event = self._shapes(x)
            return array.reshape(x, array.concat([samples, batch, event], 0))

    def _shapes(self, x: Tensor) -> list[Tensor]:
        """The shapes of samples, batch and event, constants as far as they are known."""
        dims = x.dims
        assert dims is not None
        outer = len(dims) - self._batch_rank - 1
        with _scope("get_shape"):
            with _scope("get_shape"):
                with _scope("get_shape"):
                    convert_to_tensor(len(dims), dtypes.int32, name="ndims")
                count = convert_to_tensor(outer, dtypes.int32, name="sample_ndims")
            zero = constant(0, dtypes.int32, name="zero")

            def part(name: str, starts: list[Tensor], size: Any, known: Any) -> Tensor:
                if None not in known:
                    return constant(np.array(known, np.int32), name=name)
                return slicing.slice(array.shape(x), [sum(starts)], [size])

            return [
                part("sample_shape", [zero], count, dims[:outer]),
                part("batch_shape", [count], self._batch_count, dims[outer:-1]),
                part("event_shape", [count, self._batch_count], 1, dims[-1:]),
            ]


def _turned(x: Tensor, shift: int) -> Tensor:
    """Its axes moved to the right, around the end."""
    with name_scope("rotate_transpose"):
        assert_integer(convert_to_tensor(shift, dtypes.int32, name="shift"))
        return array.transpose(x, np.roll(np.arange(len(x.shape)), shift))
