"""Accumulators as objects: gradients in, their mean or sum out once enough have come."""

from __future__ import annotations

from collections import deque
from copy import deepcopy
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.kit.shared import invalid
from weft.ops.kit.waiting import DONE, WAIT, Monitor, Waiter
from weft.ops.queues.queue_values import fits


class TakeGradient(Waiter):
    cancelled = "TakeGrad operation was cancelled"

    def __init__(self, required: int) -> None:
        super().__init__()
        self.required = required
        self.result: tuple[Any, ...] = ()

    def attempt(self, owner: Accumulator) -> int:
        if owner.count < self.required:
            return WAIT
        self.result = owner.take_all(self.required)
        return DONE

    def outputs(self) -> tuple[Any, ...]:
        return self.result


class Accumulator(Monitor):
    """Dense gradients of one shape. Those older than `global_step` do not count.

    They are kept until the next are taken, one for each that a take asks for: after a failure the
    chief sets the step back, and a worker may be there before it. Its gradient counts then, since
    the worker hands in no other one.
    """

    def __init__(self, name: str, dtype: DType, dims: Dims, reduction: str) -> None:
        super().__init__()
        self.name, self.dtype, self.dims, self.reduction = name, dtype, dims, reduction
        self.global_step = self.count = 0
        self.total: Any = None
        self.late: deque[tuple[int, tuple[Any, ...]]] = deque(maxlen=0)

    def apply(self, local_step: Any, *gradient: Any) -> None:
        """Adds a gradient that was computed at `local_step`."""
        if np.ndim(local_step):
            raise invalid(
                "Argument local_step must be scalar, but had bad shape"
                f" {s.show(np.shape(local_step))}"
            )

        self.change(lambda: self.admit(int(local_step), gradient))

    def take(self, required: Any) -> Any:
        """The gradients' mean or sum, once there are `required` of them; then it starts anew."""
        if np.ndim(required):
            raise invalid(
                "Argument num_required must be scalar, but had bad shape"
                f" {s.show(np.shape(required))}"
            )
        if int(required) <= 0:
            raise invalid(f"Argument num_required must be positive, but was {int(required)}")
        return self.submit(0, TakeGradient(int(required)))

    def set_global_step(self, step: Any) -> None:
        """Says which gradients are late from now on."""

        def change() -> None:
            self.global_step = int(step)
            late = list(self.late)
            self.late.clear()
            for local_step, gradient in late:
                self.admit(local_step, gradient)

        self.change(change)

    # ---- under the lock ----

    def admit(self, local_step: int, gradient: tuple[Any, ...]) -> None:
        if local_step < self.global_step:
            if self.late.maxlen:
                self.late.append((local_step, deepcopy(gradient)))
            return
        self.check(*gradient)
        self.add(*gradient)
        self.count += 1

    def take_all(self, required: int) -> tuple[Any, ...]:
        self.global_step += 1
        self.late = deque(maxlen=required)
        result = self.result()
        self.count, self.total = 0, None
        return result

    def check(self, *parts: Any) -> None:
        (gradient,) = parts
        expected = self.total.shape if self.count else self.dims
        if not fits(expected, gradient.shape) or not fits(self.dims, gradient.shape):
            raise invalid(
                f"Shape mismatch: expected {s.show(expected)}, got {s.show(gradient.shape)}"
            )

    def add(self, *parts: Any) -> None:
        (gradient,) = parts
        self.total = np.array(gradient) if not self.count else self.total + gradient

    def result(self) -> tuple[Any, ...]:
        if self.reduction == "SUM":
            return (self.total,)
        return (divided(self.total, np.array(self.count)),)


class SparseAccumulator(Accumulator):
    """Gradients given as rows and where they belong; each row has its own count for the mean."""

    def __init__(self, name: str, dtype: DType, dims: Dims, reduction: str) -> None:
        super().__init__(name, dtype, dims, reduction)
        self.indices: list[int] = []
        self.counts: np.ndarray = np.zeros(0, np.int64)

    def check(self, *parts: Any) -> None:
        """`parts` are indices, values and shape, which is None when the gradient does not say."""
        indices, values, shape = parts
        if indices.ndim != 1:
            raise invalid(
                f"Input indices should be vector but received shape: {s.show(indices.shape)}"
            )
        if not values.ndim:
            raise invalid("Values cannot be 0-dimensional.")
        if len(values) != len(indices):
            raise invalid(f"Expected {len(indices)} non-empty input values, got {len(values)}")
        dims = self.dims or ()
        if shape is not None:
            self._check_shape(dims, [int(n) for n in shape])
        if dims and dims[0] is not None:
            for i in np.flatnonzero(indices >= dims[0])[:1]:
                raise invalid(
                    f"Shape mismatch: index of slice {i} exceeded limits of shape; index is"
                    f" {indices[i]} exceeded {dims[0]}"
                )
        self._check_values(dims, values)

    def _check_shape(self, dims: tuple[int | None, ...], shape: list[int]) -> None:
        if len(dims) > len(shape):
            raise invalid(
                f"Shape mismatch: expected shape rank at least {len(dims)}, got {len(shape)}"
            )
        for i, (d, n) in enumerate(zip(dims, shape, strict=False)):
            if d is not None and d != n:
                raise invalid(f"Shape mismatch: expected shape dim {i} to be {d}, got {n}")

    def _check_values(self, dims: tuple[int | None, ...], values: Any) -> None:
        if self.count:
            dims = self.total.shape
            if len(dims) != values.ndim:
                raise invalid(
                    f"Shape mismatch: expected values rank {len(dims)}, got {values.ndim}"
                )
        elif len(dims) > values.ndim:
            raise invalid(
                f"Shape mismatch: expected values rank at least {len(dims)}, got {values.ndim}"
            )
        for i, d in enumerate(dims[1:], 1):
            if d is not None and d != values.shape[i]:
                raise invalid(
                    f"Shape mismatch: expected values dim {i} to be {d}, got {values.shape[i]}"
                )

    def add(self, *parts: Any) -> None:
        indices, values, _ = parts
        new = indices.tolist()
        if not self.count:
            self.indices, self.total = new, np.array(values)
            self.counts = np.ones(len(new), np.int64)
            return
        pairs = merged(self.indices, new)
        ours = [k for k, (a, _) in enumerate(pairs) if a is not None]
        theirs = [k for k, (_, b) in enumerate(pairs) if b is not None]
        total = np.zeros((len(pairs), *values.shape[1:]), values.dtype)
        counts = np.zeros(len(pairs), np.int64)
        # Both lists name each place once, in the order of the rows they came from.
        total[ours], counts[ours] = self.total, self.counts
        total[theirs] += values
        counts[theirs] += 1
        self.indices = [self.indices[a] if a is not None else new[b] for a, b in pairs]
        self.total, self.counts = total, counts

    def result(self) -> tuple[Any, ...]:
        values = self.total
        if self.reduction != "SUM":
            counts = self.counts.reshape(-1, *(1,) * (values.ndim - 1))
            values = divided(values, counts)
        first = self.dims[0] if self.dims else None
        shape = [-1 if first is None else first, *values.shape[1:]]
        return np.array(self.indices, np.int64), values, np.array(shape, np.int64)


def merged(ours: list[int], theirs: list[int]) -> list[tuple[Any, Any]]:
    """Two sorted lists as one of pairs of positions; None where a list has no such value."""
    pairs: list[tuple[Any, Any]] = []
    i = j = 0
    while i < len(ours) and j < len(theirs):
        a, b = ours[i], theirs[j]
        pairs.append((i if a <= b else None, j if b <= a else None))
        i, j = i + (a <= b), j + (b <= a)
    pairs += [(k, None) for k in range(i, len(ours))]
    return pairs + [(None, k) for k in range(j, len(theirs))]


def divided(total: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """A quotient of the same type; integers are cut off toward zero."""
    if total.dtype.kind in "iu":
        quotient = np.abs(total) // counts.astype(total.dtype)
        return (np.sign(total) * quotient).astype(total.dtype)
    return (total / counts.astype(total.dtype)).astype(total.dtype)


def check_type(accumulator: Accumulator, dtype: DType) -> None:
    if accumulator.dtype != dtype:
        raise errors.InvalidArgumentError(
            None, None, f"Accumulator '{accumulator.name}' holds {accumulator.dtype.name}, not"
            f" {dtype.name}",
        )  # fmt: skip
