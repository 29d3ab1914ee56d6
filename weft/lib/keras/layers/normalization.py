"""Batch normalization: by the moments of the batch in training, by moving averages otherwise."""

from __future__ import annotations

import logging
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, get_default_graph
from weft.lib.keras import backend
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers.decide import choose, known_value, only_in_training
from weft.lib.keras.layers.moving_statistics import (
    MovingStatistics,
    size_if_it_may_be_empty,
    unless_empty,
)
from weft.lib.keras.layers.settings import record, take_named, weight
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.math import moments as nn_moments
from weft.ops.state.variables import VariableAggregation, VariableSynchronization

_CLIPPING = ("rmax", "rmin", "dmax")


class BatchNormalization(MovingStatistics, Layer):
    """`(inputs - mean) / sqrt(variance + epsilon) * gamma + beta`, per entry of `axis`.

    A training loop has to run the updates of the moving averages (`updates`) with each step.
    """

    moving_mean_initializer: Any
    moving_variance_initializer: Any
    _scope: Any = None
    _ones: Any = None
    _zeros: Any = None

    def __init__(
        self,
        axis: Any = -1,
        momentum: Any = 0.99,
        epsilon: float = 1e-3,
        center: bool = True,
        scale: bool = True,
        beta_initializer: Any = "zeros",
        gamma_initializer: Any = "ones",
        moving_mean_initializer: Any = "zeros",
        moving_variance_initializer: Any = "ones",
        beta_regularizer: Any = None,
        gamma_regularizer: Any = None,
        beta_constraint: Any = None,
        gamma_constraint: Any = None,
        renorm: bool = False,
        renorm_clipping: dict[str, Any] | None = None,
        renorm_momentum: Any = 0.99,
        fused: bool | None = None,
        trainable: bool = True,
        virtual_batch_size: int | None = None,
        adjustment: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        if not isinstance(axis, (int, list)):
            raise TypeError(f"axis must be int or list, type given: {type(axis)}")
        self.axis: Any = axis if isinstance(axis, int) else axis[:]
        self.momentum, self.epsilon = momentum, epsilon
        self.center, self.scale = center, scale
        take_named(self, locals())
        self.renorm, self.renorm_momentum = renorm, renorm_momentum
        self.renorm_clipping = renorm_clipping or {}
        if renorm and set(self.renorm_clipping) - set(_CLIPPING):
            raise ValueError(
                f"renorm_clipping {renorm_clipping} contains keys not in {list(_CLIPPING)}"
            )
        self.fused = fused is None or fused
        self.virtual_batch_size, self.adjustment = virtual_batch_size, adjustment
        self.supports_masking = True

    # ---- variables ----

    @property
    def _param_dtype(self) -> dtypes.DType:
        """Statistics of half-precision inputs are kept in single precision."""
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        return dtypes.float32 if dtype in (dtypes.float16, dtypes.bfloat16) else dtype

    def build(self, input_shape: Any) -> None:
        shape = TensorShape(input_shape)
        if not shape.ndims:
            raise ValueError("Input has undefined rank:", shape)
        self.axis = checked_axes(self.axis, shape.ndims)
        self._check_virtual_batches()
        self.fused = bool(self.fused) and shape.ndims == 4 and self._fused_can_be_used()
        sizes: dict[int, Any] = {axis: shape.as_list()[axis] for axis in self.axis}
        if None in sizes.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", shape)
        self.input_spec = InputSpec(ndim=shape.ndims, axes=sizes)
        self._make_variables(self._param_shape(sizes, shape.ndims))
        self.built = True

    def _fused_can_be_used(self) -> bool:
        special = self.renorm or self.virtual_batch_size is not None or self.adjustment is not None
        return self.axis in ([1], [3]) and not special

    def _check_virtual_batches(self) -> None:
        size = self.virtual_batch_size
        if size is None:
            return
        problems = {
            "virtual_batch_size must be a positive integer that divides the true batch size of "
            "the input Tensor": size <= 0,
            "When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot "
            "include 0": 0 in self.axis,
            "When using virtual_batch_size, adjustment cannot be specified": self.adjustment
            is not None,
        }
        for problem in (text for text, found in problems.items() if found):
            raise ValueError(problem)

    def _param_shape(self, sizes: dict[int, int], rank: int) -> list[int]:
        if len(sizes) == 1 and self.virtual_batch_size is None:
            return list(sizes.values())
        shape = [sizes.get(axis, 1) for axis in range(rank)]
        if self.virtual_batch_size is not None:
            # The batch becomes two axes.
            shape.insert(1, 1)
            self.axis = [axis + 1 for axis in self.axis]
        return shape

    def _make_variables(self, shape: list[int]) -> None:
        fixed: dict[str, Any] = {"dtype": self._param_dtype, "experimental_autocast": False}
        self.gamma = weight(self, "gamma", shape, **fixed) if self.scale else None
        if self.fused and not self.scale:
            self._ones = constant(1.0, self._param_dtype, shape)
        self.beta = weight(self, "beta", shape, **fixed) if self.center else None
        if self.fused and not self.center:
            self._zeros = constant(0.0, self._param_dtype, shape)
        partitioner = self._scope.partitioner if self._scope else None
        if partitioner:
            self._scope.set_partitioner(None)
        try:
            self._make_averages(shape)
        finally:
            if partitioner:
                self._scope.set_partitioner(partitioner)

    def _make_averages(self, shape: list[int]) -> None:
        def initial_stddev(*args: Any, **kwargs: Any) -> Tensor:
            return math.sqrt(self.moving_variance_initializer(*args, **kwargs))

        self.moving_mean = self._average("moving_mean", shape, self.moving_mean_initializer)
        self.moving_variance = self._average(
            "moving_variance", shape, self.moving_variance_initializer
        )
        if self.renorm:
            self.moving_stddev = self._average("moving_stddev", shape, initial_stddev)
            self.renorm_mean = self._average("renorm_mean", shape, self.moving_mean_initializer)
            self.renorm_stddev = self._average("renorm_stddev", shape, initial_stddev)

    def _average(self, name: str, shape: list[int], initializer: Any) -> Any:
        return self.add_weight(
            name=name,
            shape=shape,
            dtype=self._param_dtype,
            initializer=initializer,
            synchronization=VariableSynchronization.ON_READ,
            trainable=False,
            aggregation=VariableAggregation.MEAN,
            experimental_autocast=False,
        )

    # ---- calls ----

    def call(self, inputs: Any, training: Any = None) -> Any:
        if training is None:
            training = backend.learning_phase()
        if self.fused:
            return self._fused_batch_norm(inputs, training)
        if self.virtual_batch_size is None:
            return self._batch_norm(inputs, training)
        shape = [-1, *inputs.shape.as_list()[1:]]
        split = array.reshape(inputs, [self.virtual_batch_size, -1, *shape[1:]])
        return array.reshape(self._batch_norm(split, training), shape)

    def _fused_batch_norm(self, inputs: Any, training: Any) -> Tensor:
        # The operation wants both.
        gamma = self.gamma if self.scale else self._in_place_of(self._ones, 1.0)
        beta = self.beta if self.center else self._in_place_of(self._zeros, 0.0)
        data_format = "NCHW" if self.axis == [1] else "NHWC"

        def normalized(**statistics: Any) -> Any:
            return nn_moments.fused_batch_norm(
                inputs, gamma, beta, epsilon=self.epsilon, data_format=data_format, **statistics
            )

        def by_averages() -> Any:
            return normalized(
                mean=self.moving_mean, variance=self.moving_variance, is_training=False
            )

        output, mean, variance = choose(training, normalized, by_averages)
        self._update_fused(mean, variance, training, size_if_it_may_be_empty(inputs))
        return output

    def _in_place_of(self, made: Any, value: float) -> Any:
        """The constant `made` when the layer was built, or another in a graph that is not its."""
        if made.graph is get_default_graph():
            return made
        return constant(value, self._param_dtype, self.moving_mean.shape.as_list())

    def _batch_norm(self, inputs: Any, training: Any) -> Tensor:
        shape = inputs.shape
        reduced = [i for i in range(shape.ndims) if i not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]
        broadcast_shape = [1] * shape.ndims
        broadcast_shape[self.axis[0]] = shape.as_list()[self.axis[0]]
        last = reduced == list(range(shape.ndims - 1))

        def broadcast(v: Any) -> Any:
            if v is None or last or v.shape.ndims == shape.ndims:
                return v
            return array.reshape(v, broadcast_shape)

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        known = known_value(training)
        if known is not None and not known:
            mean, variance = self.moving_mean, self.moving_variance
        else:
            if self.adjustment:
                scale, offset = self._adjusted(inputs, training, scale, offset)
            size = size_if_it_may_be_empty(inputs)
            mean, variance, new_mean, new_variance = self._statistics(
                inputs, reduced, training, size
            )
            if self.renorm:
                r, d, new_mean, new_variance = self._renorm_correction(
                    new_mean, new_variance, training, size
                )
                r = broadcast(array.stop_gradient(r, name="renorm_r"))
                d = broadcast(array.stop_gradient(d, name="renorm_d"))
                scale, offset = _compose(r, d, scale, offset)
            self._add_updates(new_mean, new_variance, training, size)
        outputs = nn_moments.batch_normalization(
            inputs,
            broadcast(math.cast(mean, inputs.dtype)),
            broadcast(math.cast(variance, inputs.dtype)),
            None if offset is None else math.cast(offset, inputs.dtype),
            None if scale is None else math.cast(scale, inputs.dtype),
            self.epsilon,
        )
        outputs.set_shape(shape)
        return outputs

    def _statistics(
        self, inputs: Any, reduced: list[int], training: Any, size: Tensor | None
    ) -> tuple[Any, ...]:
        """Mean and variance to normalize by, and those to move the averages towards."""
        keep = self.virtual_batch_size is not None or len(self.axis) > 1
        found = nn_moments.moments(math.cast(inputs, self._param_dtype), reduced, keep_dims=keep)
        batch = [unless_empty(each, size) for each in found]
        mean = choose(training, lambda: batch[0], lambda: convert_to_tensor(self.moving_mean))
        variance = choose(
            training, lambda: batch[1], lambda: convert_to_tensor(self.moving_variance)
        )
        if self.virtual_batch_size is None:
            return mean, variance, mean, variance
        together = [math.reduce_mean(v, axis=1, keepdims=True) for v in (mean, variance)]
        return mean, variance, *together

    def _adjusted(self, inputs: Any, training: Any, scale: Any, offset: Any) -> tuple[Any, Any]:
        by, plus = self.adjustment(array.shape(inputs))
        by = only_in_training(training, by, array.ones_like)
        return _compose(by, only_in_training(training, plus, array.zeros_like), scale, offset)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        keys = (
            "axis momentum epsilon center scale beta_initializer gamma_initializer "
            "moving_mean_initializer moving_variance_initializer beta_regularizer "
            "gamma_regularizer beta_constraint gamma_constraint"
        )
        if self.renorm:
            keys += " renorm renorm_clipping renorm_momentum"
        if self.virtual_batch_size is not None:
            keys += " virtual_batch_size"
        if self.adjustment is not None:
            logging.getLogger("weft").warning(
                "The `adjustment` function of this `BatchNormalization` layer cannot be "
                "serialized and has been omitted from the layer config. It will not be included "
                "when re-creating the layer from the saved config."
            )
        config = {**super().get_config(), **record(self, keys)}
        if self.virtual_batch_size is not None and self.built:
            # Before the batch became two axes.
            config["axis"] = [axis - 1 for axis in self.axis]
        return config


def _compose(scale: Any, offset: Any, then_scale: Any, then_offset: Any) -> tuple[Any, Any]:
    """Scale and offset that do the first pair, then the second."""
    if then_scale is not None:
        scale, offset = scale * then_scale, offset * then_scale
    if then_offset is not None:
        offset = offset + then_offset
    return scale, offset


def checked_axes(axis: Any, rank: int) -> list[int]:
    """`axis`, one or several of them, counted from the front."""
    axes = [x + rank if x < 0 else x for x in ([axis] if isinstance(axis, int) else axis)]
    if not axes:
        raise ValueError(f"Invalid axis: {axis}")
    for x in axes:
        if not 0 <= x < rank:
            raise ValueError(f"Invalid axis: {x}")
    if len(axes) != len(set(axes)):
        raise ValueError(f"Duplicate axis: {axes}")
    return axes
