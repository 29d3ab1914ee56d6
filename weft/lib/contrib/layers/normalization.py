"""Normalization of each example: over a layer, per instance and channel, or in groups."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.framework.variables import model_variable
from weft.lib.contrib.layers import utils
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.math import moments as nn_moments
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import ones_initializer, zeros_initializer

_INITIAL = {"beta": zeros_initializer(), "gamma": ones_initializer()}


def _parameters(
    shape: Any,
    dtype: Any,
    center: bool,
    scale: bool,
    initializers: dict[str, Any] | None,
    collections: Any,
    trainable: bool,
    wide: list[int] | None = None,
) -> tuple[Any, Any]:
    """beta and gamma, None where not asked for; with `wide`, in that shape."""
    initial = {**_INITIAL, **(initializers or {})}

    def variable(name: str) -> Any:
        made = model_variable(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initial[name],
            collections=utils.get_variable_collections(collections, name),
            trainable=trainable,
        )
        return made if wide is None else array.reshape(made, wide)

    return variable("beta") if center else None, variable("gamma") if scale else None


def _known_rank(inputs: Tensor) -> int:
    if inputs.shape.ndims is None:
        raise ValueError(f"Inputs {inputs.name} has undefined rank.")
    return inputs.shape.ndims


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Tensor:
    """Normalizes each example over all axes from `begin_norm_axis` on.

    Args:
        inputs: a tensor of known rank.
        center, scale: whether there are variables `beta` and `gamma`.
        activation_fn: of the result; None: none.
        reuse: whether to share the variables of the scope.
        variables_collections, outputs_collections: graph collections that they join.
        trainable: whether optimizers update the variables.
        begin_norm_axis: the first dimension that is normalized over.
        begin_params_axis: the first dimension of the variables.
        scope: the variable scope.

    Returns:
        A tensor like `inputs`.

    Raises:
        ValueError: the rank or a size is unknown, or an axis is outside.

    Example:
        >>> y = tf.contrib.layers.layer_norm(tf.constant([[1.0, 3.0]]))
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(y).round(2)
        array([[-1.,  1.]], dtype=float32)
    """
    with vs.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        rank, dtype = _known_rank(inputs), inputs.dtype.base_dtype
        begin = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or begin >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin}) must be "
                f"< rank(inputs) ({rank})"
            )
        shape = inputs.shape[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: "
                f"{inputs.shape}"
            )
        beta, gamma = _parameters(
            shape, dtype, center, scale, None, variables_collections, trainable
        )
        mean, variance = nn_moments.moments(inputs, list(range(begin, rank)), keep_dims=True)
        outputs = nn_moments.batch_normalization(
            inputs,
            mean,
            variance,
            offset=beta,
            scale=gamma,
            variance_epsilon=1e-3 if dtype == dtypes.float16 else 1e-12,
        )
        outputs.set_shape(inputs.shape)
        return utils.finished(outputs, opened.name, outputs_collections, activation_fn)


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: dict[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Tensor:
    """Normalizes each channel of each example by itself."""
    inputs = convert_to_tensor(inputs)
    rank = _known_rank(inputs)
    utils.check_format(data_format, "NCHW", "NHWC")
    axis = 1 if data_format == "NCHW" else rank - 1
    with vs.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        shape = inputs.shape[axis : axis + 1]
        if not shape.is_fully_defined():
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension {shape}.")
        first = data_format == "NCHW"
        beta, gamma = _parameters(
            shape,
            inputs.dtype.base_dtype,
            center,
            scale,
            param_initializers,
            variables_collections,
            trainable,
            wide=[1, *shape.as_list(), *[1] * (rank - 2)] if first else None,
        )
        axes = [i for i in range(1, rank) if i != axis]
        mean, variance = nn_moments.moments(inputs, axes, keep_dims=True)
        outputs = nn_moments.batch_normalization(
            inputs, mean, variance, beta, gamma, epsilon, name="instancenorm"
        )
        return utils.finished(outputs, opened.name, outputs_collections, activation_fn)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Any = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: dict[str, Any] | None = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Tensor:
    """Normalizes groups of channels of each example together."""
    inputs = convert_to_tensor(inputs)
    rank = _known_rank(inputs)
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    axis = channels_axis + rank if channels_axis < 0 else channels_axis
    reduced = [a + rank if a < 0 else a for a in reduction_axes]
    channels = _checked_channels(inputs, axis, reduced, groups)
    sizes = _sizes(inputs)
    split = [*sizes[:axis], groups, channels // groups, *sizes[axis + 1 :]]
    wide = [1] * axis + [groups, channels // groups] + [1] * (rank - axis - 1)
    x = array.reshape(inputs, split)
    with vs.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as opened:
        beta, gamma = _parameters(
            [channels],
            x.dtype.base_dtype,
            center,
            scale,
            param_initializers,
            variables_collections,
            trainable,
            wide,
        )
        axes = [axis + 1, *(a + 1 if a > axis else a for a in reduced)]
        if mean_close_to_zero:
            counts, sums, squares, _ = nn_moments.sufficient_statistics(x, axes, keep_dims=True)
            mean, variance = nn_moments.normalize_moments(counts, sums, squares, shift=None)
        else:
            mean, variance = nn_moments.moments(x, axes, keep_dims=True)
        gain = math.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * gamma, offset * gamma
        if beta is not None:
            offset = offset + beta
        outputs = array.reshape(x * gain + offset, sizes)
        return utils.finished(outputs, opened.name, outputs_collections, activation_fn)


def _sizes(inputs: Tensor) -> list[Any]:
    """The size of each axis: a number where known, a tensor elsewhere."""
    dims, now = inputs.shape.as_list(), array.shape(inputs)
    return [now[i] if size is None else size for i, size in enumerate(dims)]


def _checked_channels(inputs: Tensor, axis: int, reduced: list[int], groups: int) -> int:
    dims, name = inputs.shape.as_list(), inputs.name
    channels = dims[axis]
    if channels is None:
        raise ValueError(f"Inputs {name} has undefined channel dimension: {axis}.")
    out = next((a for a in reduced if a >= len(dims) or dims[a] is None or a == axis), None)
    if out is not None:
        if out >= len(dims):
            raise ValueError("Axis is out of bounds.")
        if dims[out] is None:
            raise ValueError(f"Inputs {name} has undefined dimensions {out}.")
        raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError(f"Invalid groups {groups} for {channels} channels.")
    if channels % groups:
        raise ValueError(f"{channels} channels is not commensurate with {groups} groups.")
    return channels
