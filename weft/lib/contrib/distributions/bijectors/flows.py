"""Transforms whose shift and scale are computed by networks: real NVP and autoregressive flows."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.graph.convert import constant
from weft.graph.graph import Tensor, name_scope
from weft.lib.contrib.distributions.bijectors.base import Bijector
from weft.lib.layers.core import Dense, dense
from weft.ops.array import array
from weft.ops.control.while_loop import while_loop
from weft.ops.math import math
from weft.ops.math.clip import clip_by_value
from weft.ops.nn.activations import relu
from weft.ops.state.initializers import glorot_normal_initializer
from weft.ops.state.template import make_template
from weft.ops.state.variable_scope import get_variable_scope, variable_scope

ShiftAndScale = Callable[..., tuple[Any, Any]]


def _scaled(x: Any, shift: Any, log_scale: Any) -> Any:
    x = x if log_scale is None else x * math.exp(log_scale)
    return x if shift is None else x + shift


def _unscaled(y: Any, shift: Any, log_scale: Any) -> Any:
    y = y if shift is None else y - shift
    return y if log_scale is None else y * math.exp(-log_scale)


def _log_volume(at: Tensor, log_scale: Any, forward: bool) -> Tensor:
    """The log-determinant of a scale of every number, or of none."""
    if log_scale is None:
        return constant(0.0, at.dtype, name="fldj" if forward else "ildj")
    total = math.reduce_sum(log_scale, axis=-1)
    return total if forward else -total


def _widths(hidden: Sequence[int], activation: Any, last: int) -> list[tuple[int, Any]]:
    """(units, activation) of every layer of a network."""
    return [*((units, activation) for units in hidden), (last, None)]


@contextlib.contextmanager
def _cached_where_used() -> Iterator[None]:
    """A scope whose variables are read on the devices that use them, once in a loop."""
    with variable_scope(get_variable_scope()) as scope:
        if scope.caching_device is None:
            scope.set_caching_device(lambda op: op.device)
        yield


def _known_depth(x: Tensor) -> int:
    depth = x.shape.with_rank_at_least(1).dims
    if depth is None or depth[-1].value is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return depth[-1].value


class RealNVP(Bijector):
    """The first `num_masked` numbers stay; they say how the others are shifted and scaled."""

    def __init__(
        self, num_masked: int, shift_and_log_scale_fn: ShiftAndScale,
        is_constant_jacobian: bool = False, validate_args: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args, name=name or "real_nvp",
        )  # fmt: skip

    def _parts(self, x: Tensor) -> tuple[Any, Any, Any, Any]:
        """(what stays, the rest, its shift, the logarithm of its scale)"""
        rest = _known_depth(x) - self._num_masked
        if rest <= 0:
            raise ValueError("Number of masked units must be smaller than the event size.")
        kept, others = x[..., : self._num_masked], x[..., self._num_masked :]
        return kept, others, *self._shift_and_log_scale_fn(kept, rest)

    def _forward(self, x: Any) -> Tensor:
        kept, others, shift, log_scale = self._parts(x)
        return array.concat([kept, _scaled(others, shift, log_scale)], axis=-1)

    def _inverse(self, y: Any) -> Tensor:
        kept, others, shift, log_scale = self._parts(y)
        return array.concat([kept, _unscaled(others, shift, log_scale)], axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return _log_volume(y, self._parts(y)[3], forward=False)

    def _forward_log_det_jacobian(self, x: Any) -> Tensor:
        return _log_volume(x, self._parts(x)[3], forward=True)


def real_nvp_default_template(
    hidden_layers: Sequence[int], shift_only: bool = False, activation: Any = relu,
    name: str | None = None, *args: Any, **kwargs: Any,
) -> Callable[..., Any]:  # fmt: skip
    """A network for `RealNVP`: dense layers of these sizes."""
    with name_scope(name, "real_nvp_default_template"):

        def network(x: Any, output_units: int) -> tuple[Any, Any]:
            last = output_units if shift_only else 2 * output_units
            for units, function in _widths(hidden_layers, activation, last):
                x = dense(*args, inputs=x, units=units, activation=function, **kwargs)
            if shift_only:
                return x, None
            shift, log_scale = array.split(x, 2, axis=-1)
            return shift, log_scale

        return make_template("real_nvp_default_template", network)


class MaskedAutoregressiveFlow(Bijector):
    """Every number is shifted and scaled by what the ones before it say.

    The inverse is one evaluation of the network; `forward` takes as many as an event has numbers.
    """

    def __init__(
        self, shift_and_log_scale_fn: ShiftAndScale, is_constant_jacobian: bool = False,
        validate_args: bool = False, unroll_loop: bool = False, name: str | None = None,
    ) -> None:  # fmt: skip
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(
            forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args, name=name or "masked_autoregressive_flow",
        )  # fmt: skip

    def _forward(self, x: Any) -> Tensor:
        dims = x.shape.with_rank_at_least(1).dims
        size = None if dims is None else dims[-1].value
        y = array.zeros_like(x, name="y0")
        if not self._unroll_loop:
            return self._looped(x, y, size)
        if size is None:
            raise ValueError(
                "The final dimension of `x` must be known at graph construction time if"
                f" `unroll_loop=True`. `x.shape: {x.shape!r}`"
            )
        for _ in range(size):
            y = _scaled(x, *self._shift_and_log_scale_fn(y))
        return y

    def _looped(self, x: Tensor, start: Tensor, size: int | None) -> Tensor:
        self._shift_and_log_scale_fn(start)  # so that variables are made outside of the loop
        count = array.shape(x)[-1]

        def body(index: Any, y: Any) -> tuple[Any, Any]:
            with _cached_where_used():
                shift, log_scale = self._shift_and_log_scale_fn(y)
            return index + 1, _scaled(x, shift, log_scale)

        state = 0, start
        return while_loop(lambda i, _: i < count, body, state, maximum_iterations=size)[1]

    def _inverse(self, y: Any) -> Tensor:
        return _unscaled(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y: Any) -> Tensor:
        return _log_volume(y, self._shift_and_log_scale_fn(y)[1], forward=False)


def block_mask(blocks: int, inputs: int, outputs: int, exclusive: bool) -> np.ndarray:
    """[inputs, outputs]: which inputs an output may depend on, both in `blocks` of equal sizes."""
    rows, columns = inputs // blocks, outputs // blocks
    mask = np.zeros((inputs, outputs), np.float32)
    for block in range(blocks):
        first = (block + exclusive) * columns
        mask[block * rows : (block + 1) * rows, first:] = 1
    return mask


def masked_dense(
    inputs: Tensor, units: int, num_blocks: int | None = None, exclusive: bool = False,
    kernel_initializer: Any = None, reuse: bool | None = None, name: str | None = None,
    *args: Any, **kwargs: Any,
) -> Tensor:  # fmt: skip
    """A dense layer in which a block of outputs depends only on blocks of inputs before it."""
    depth = _known_depth(inputs)
    mask = block_mask(num_blocks or depth, depth, units, exclusive)
    initial = kernel_initializer or glorot_normal_initializer()

    def masked(shape: Any, dtype: Any = None, partition_info: Any = None) -> Any:
        return mask * initial(shape, dtype, partition_info)

    with name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        kernel = {"kernel_initializer": masked, "kernel_constraint": lambda x: mask * x}
        placed = {"name": name, "_scope": name, "_reuse": reuse}
        kind = inputs.dtype.base_dtype
        return Dense(units, *args, dtype=kind, **kernel, **placed, **kwargs).apply(inputs)


def masked_autoregressive_default_template(
    hidden_layers: Sequence[int], shift_only: bool = False, activation: Any = relu,
    log_scale_min_clip: float = -5.0, log_scale_max_clip: float = 3.0,
    log_scale_clip_gradient: bool = False, name: str | None = None, *args: Any, **kwargs: Any,
) -> Callable[..., Any]:  # fmt: skip
    """A network for `MaskedAutoregressiveFlow`: masked dense layers of these sizes."""
    name = name or "masked_autoregressive_default_template"
    clip = clip_by_value if log_scale_clip_gradient else _clipped_with_gradient
    with name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):

        def network(x: Tensor) -> tuple[Any, Any]:
            depth, shape = _known_depth(x), array.shape(x)
            last = depth if shift_only else 2 * depth
            for i, (units, function) in enumerate(_widths(hidden_layers, activation, last)):
                x = masked_dense(  # type: ignore[misc]
                    *args, inputs=x, units=units, num_blocks=depth, exclusive=i == 0,
                    activation=function, **kwargs,
                )  # fmt: skip
            if shift_only:
                return array.reshape(x, shape), None
            shift, log_scale = _halves(x, shape)
            return shift, clip(log_scale, log_scale_min_clip, log_scale_max_clip)

        return make_template(name, network)


def _halves(x: Tensor, shape: Tensor) -> list[Tensor]:
    """Two numbers for each of `shape`, apart."""
    pairs = array.reshape(x, array.concat([shape, [2]], axis=0))
    return array.unstack(pairs, num=2, axis=-1)


def _clipped_with_gradient(x: Tensor, low: float, high: float) -> Tensor:
    """A clipped value, with the gradient of one that is not."""
    with name_scope(None, "clip_by_value_preserve_grad", [x, low, high]):
        return x + array.stop_gradient(clip_by_value(x, low, high) - x)
