"""Fully connected, dropout and flattening layers."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.graph.shape_fn import size
from weft.graph.slices import SparseTensor
from weft.layers import named
from weft.layers.base import Layer
from weft.layers.decide import choose
from weft.layers.functional import functional
from weft.layers.input_spec import InputSpec
from weft.ops import array_pass, array_shape, casts, matmul, nn_impl
from weft.ops.initializers import zeros_initializer

_ZEROS = zeros_initializer()


class Dense(Layer):
    """`activation(inputs @ kernel + bias)`, along the last axis of the inputs."""

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        self.units = int(units)
        self.activation = named.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = named.initializer(kernel_initializer)
        self.bias_initializer = named.initializer(bias_initializer)
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        dtype = dtypes.as_dtype(self.dtype or dtypes.float32)
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {dtype}")
        depth = TensorShape(input_shape).as_list()[-1]
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found `None`."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = self.add_weight(
            "kernel",
            shape=[depth, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            dtype=self.dtype,
            trainable=True,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                dtype=self.dtype,
                trainable=True,
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        rank = inputs.shape.ndims
        if rank > 2:
            outputs = matmul.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            outputs.set_shape([*inputs.shape.as_list()[:-1], self.units])
        else:
            inputs = casts.cast(inputs, self.dtype)
            if isinstance(inputs, SparseTensor):
                outputs = raw.SparseTensorDenseMatMul(
                    inputs.indices, inputs.values, inputs.dense_shape, self.kernel
                )
            else:
                outputs = raw.MatMul(inputs, self.kernel)
        if self.use_bias:
            outputs = nn_impl.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        shape = TensorShape(input_shape).with_rank_at_least(2)
        if shape.as_list()[-1] is None:
            raise ValueError(
                f"The innermost dimension of input_shape must be defined, but saw: {input_shape}"
            )
        return shape[:-1].concatenate(self.units)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.units,
            "activation": named.activation_name(self.activation),
            "use_bias": self.use_bias,
            "kernel_initializer": named.initializer_config(self.kernel_initializer),
            "bias_initializer": named.initializer_config(self.bias_initializer),
            "kernel_regularizer": self.kernel_regularizer,
            "bias_regularizer": self.bias_regularizer,
            "activity_regularizer": self.activity_regularizer,
            "kernel_constraint": self.kernel_constraint,
            "bias_constraint": self.bias_constraint,
        }


dense = functional(Dense, "dense", "A fully connected layer applied to `inputs`.")


class Dropout(Layer):
    """Zeroes a part `rate` of the inputs in training and scales up the rest."""

    def __init__(
        self,
        rate: Any = 0.5,
        noise_shape: Any = None,
        seed: int | None = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Tensor) -> Any:
        """The noise shape; None in it means the size of the inputs there."""
        if self.noise_shape is None:
            return None
        sizes = array_shape.shape(inputs)
        return convert_to_tensor(
            [sizes[i] if size is None else size for i, size in enumerate(self.noise_shape)]
        )

    def call(self, inputs: Any, training: Any = False) -> Tensor:
        def dropped() -> Tensor:
            return nn_impl.dropout(
                inputs, noise_shape=self._get_noise_shape(inputs), seed=self.seed, rate=self.rate
            )

        return choose(training, dropped, lambda: array_pass.identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "rate": self.rate,
            "noise_shape": self.noise_shape,
            "seed": self.seed,
        }


def dropout(
    inputs: Any,
    rate: Any = 0.5,
    noise_shape: Any = None,
    seed: int | None = None,
    training: Any = False,
    name: str | None = None,
) -> Tensor:
    """Dropout applied to `inputs` when `training`; otherwise they pass unchanged."""
    layer = Dropout(rate, noise_shape=noise_shape, seed=seed, name=name)
    return layer.apply(inputs, training=training)


class Flatten(Layer):
    """Makes all but the first axis into one; channels come last."""

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = (data_format or "channels_last").lower()
        if self.data_format not in ("channels_first", "channels_last"):
            raise ValueError(
                "The `data_format` argument must be one of "
                f'"channels_first", "channels_last". Received: {data_format}'
            )
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Tensor:
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = array_shape.transpose(inputs, perm=[0, *range(2, rank), 1])
        dims = inputs.shape.as_list()
        if None not in dims[1:]:
            outputs = array_shape.reshape(inputs, (-1, int(np.prod(dims[1:]))))
        else:
            outputs = array_shape.reshape(inputs, (dims[0] or array_shape.shape(inputs)[0], -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        if not dims:
            return TensorShape([1])
        return TensorShape([dims[0], size(tuple(dims[1:]))])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "data_format": self.data_format}


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Tensor:
    """`inputs` with all but the first axis made into one."""
    return Flatten(name=name, data_format=data_format).apply(inputs)
