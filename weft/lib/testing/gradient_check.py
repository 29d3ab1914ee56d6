"""tf.test.compute_gradient: the gradient of a graph next to the slopes of its values."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.autodiff.gradients import gradients
from weft.core import dtypes
from weft.core.signatures import with_parameters_of
from weft.graph.convert import constant
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.graph.stacks import get_default_session
from weft.graph.tensor import Tensor

Jacobians = tuple[np.ndarray, np.ndarray]


def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Tensor,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: dict[Any, Any] | None = None,
) -> Any:
    """The Jacobian of y by x, as gradients give it and as small steps of x show it.

    Both are matrices with a row for each element of x and a column for each of y; a complex
    element counts as two real ones. For a list of x, a list of such pairs.
    """
    if init_targets is not None:
        for target in init_targets:
            get_default_session().run(target)
    if not isinstance(x, list):
        return _Check(x, x_shape, y, y_shape, x_init_value, delta, extra_feed_dict).run()
    values = [None] * len(x) if x_init_value is None else x_init_value
    # All gradients are built before any is run.
    checks = [
        _Check(each, shape, y, y_shape, value, delta, extra_feed_dict)
        for each, shape, value in zip(x, x_shape, values, strict=True)
    ]
    return [check.run() for check in checks]


@with_parameters_of(compute_gradient)
def compute_gradient_error(**arguments: Any) -> float:
    """The largest difference between the two Jacobians of `compute_gradient`."""
    found = compute_gradient(**arguments)
    pairs = [found] if isinstance(found, tuple) else found
    return max([float(np.abs(a - b).max()) for a, b in pairs if a.size or b.size], default=0.0)


class _Check:
    """One x and one y."""

    def __init__(
        self, x: Tensor, x_shape: Any, y: Tensor, y_shape: Any, value: Any, delta: float, feeds: Any
    ) -> None:
        for tensor in (x, y):
            if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
                raise TypeError(f"compute_gradient needs floating point tensors, got {tensor}")
        self.x, self.y, self.delta, self.feeds = x, y, delta, feeds or {}
        self.y_shape = tuple(int(d) for d in y_shape)
        self.value = self._start(tuple(int(d) for d in x_shape), value)
        with x.graph.as_default():
            self.dy = constant(1.0, shape=self.y_shape, dtype=y.dtype.base_dtype)
            # A tensor that is fed cannot be fetched too, and dx may be dy itself.
            self.dx = gradients(y, x, raw.Identity(self.dy))[0]

    def _start(self, shape: tuple[int, ...], value: Any) -> np.ndarray:
        kind = self.x.dtype.as_numpy_dtype
        if value is not None:
            value = np.asarray(value)
            if value.shape != shape:
                raise ValueError(f"x_init_value has shape {value.shape}, but x_shape is {shape}")
            return value.astype(kind)
        found = np.random.random_sample(shape)
        if self.x.dtype.is_complex:
            found = found + 1j * np.random.random_sample(shape)
        return found.astype(kind)

    def run(self) -> Jacobians:
        return self._from_gradients(), self._from_differences()

    def _evaluate(self, fetch: Any, feeds: dict[Any, Any]) -> Any:
        return get_default_session().run(fetch, feed_dict={**self.feeds, **feeds})

    def _from_gradients(self) -> np.ndarray:
        """One run for each element of y: the gradient of that element alone."""
        seed = np.zeros(self.y_shape, self.y.dtype.as_numpy_dtype)
        flat = _reals(seed, self.y.dtype)
        rows = _reals(self.value, self.x.dtype).size
        jacobian = np.zeros((rows, flat.size), self.x.dtype.real_dtype.as_numpy_dtype)
        for column in range(flat.size):
            flat[column] = 1
            jacobian[:, column] = _reals(self._gradient(seed), self.x.dtype)
            flat[column] = 0
        if not flat.size and np.any(self._gradient(seed)):
            raise ValueError("Empty tensor with nonzero gradients")
        return jacobian

    def _gradient(self, seed: np.ndarray) -> np.ndarray:
        feeds = {self.x: self.value, self.dy: seed}
        if not isinstance(self.dx, IndexedSlices):
            found = self._evaluate(self.dx, feeds)
            if np.shape(found) != self.value.shape:
                raise ValueError(
                    f"The gradient has shape {np.shape(found)}, x has {self.value.shape}"
                )
            return np.ascontiguousarray(found)
        indices, values = self._evaluate([self.dx.indices, self.dx.values], feeds)
        dense = np.zeros_like(self.value)
        np.add.at(dense, indices, values)
        return dense

    def _from_differences(self) -> np.ndarray:
        """Two runs for each element of x: a little more, a little less."""
        kind = self.x.dtype.real_dtype.as_numpy_dtype
        flat = _reals(self.value, self.x.dtype)
        jacobian = np.zeros((flat.size, _reals(np.zeros(
            self.y_shape, self.y.dtype.as_numpy_dtype), self.y.dtype).size), kind)  # fmt: skip
        for row in range(flat.size):
            step = max(self.delta, 2 * float(np.spacing(np.abs(flat[row]))))
            (above, high), (below, low) = self._at(row, step), self._at(row, -step)
            slope = (high.astype(np.float64) - low.astype(np.float64)) / (above - below)
            jacobian[row] = slope.astype(kind)
        return jacobian

    def _at(self, row: int, step: float) -> tuple[float, np.ndarray]:
        """x with one element moved, and y there. The move is what was left after rounding."""
        moved = self.value.copy()
        flat = _reals(moved, self.x.dtype)
        flat[row] += np.asarray(step, flat.dtype)
        found = np.asarray(self._evaluate(self.y, {self.x: moved}))
        return float(flat[row]), _reals(np.ascontiguousarray(found), self.y.dtype)


def _reals(array: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    """A flat view of the real numbers in `array`."""
    return array.reshape(-1).view(dtype.real_dtype.as_numpy_dtype)
