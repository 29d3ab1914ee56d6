"""Fully connected layers, activations, and layers that only arrange their inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.graph.shape_fn import size
from weft.graph.slices import SparseTensor
from weft.lib.keras import backend, regularizers
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.settings import name_input_shape, record, take, take_named, weight
from weft.ops.array import array
from weft.ops.math import math, matmul
from weft.ops.nn import activations as nn_impl


class Dense(Layer):
    """`activation(inputs @ kernel + bias)`, along the last axis of the inputs.

    Args:
        units: how many values come out.
        activation: a function, its name, or None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: first values.
        kernel_regularizer, bias_regularizer, activity_regularizer: penalties on weights and
            outputs.
        kernel_constraint, bias_constraint: project the weights after updates.
        **kwargs: further arguments of layers, such as `input_shape` and `name`.

    Example:
        >>> layer = tf.keras.layers.Dense(4, activation="relu")
        >>> layer(tf.ones([2, 3])).shape.as_list(), [w.shape.as_list() for w in layer.weights]
        ([2, 4], [[3, 4], [4]])
    """

    activation: Any

    def __init__(
        self,
        units: int,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        name_input_shape(kwargs, "input_dim")
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.units, self.use_bias = int(units), use_bias
        take_named(self, locals())
        self.supports_masking = True
        self.input_spec = InputSpec(min_ndim=2)

    def build(self, input_shape: Any) -> None:
        depth = self._known_depth(input_shape)
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        self.kernel = weight(self, "kernel", [depth, self.units])
        self.bias = weight(self, "bias", [self.units]) if self.use_bias else None
        self.built = True

    def _known_depth(self, input_shape: Any) -> int:
        """The size of the last axis; checks that weights of this type can be made for it."""
        kind = dtypes.as_dtype(self.dtype or backend.floatx())
        if not (kind.is_floating or kind.is_complex):
            raise TypeError(f"Unable to build `Dense` layer with non-floating point dtype {kind}")
        *_, depth = TensorShape(input_shape).as_list()
        if depth is not None:
            return depth
        raise ValueError(
            "The last dimension of the inputs to `Dense` should be defined. Found `None`."
        )

    def call(self, inputs: Any) -> Any:
        outputs = self._product(inputs)
        if self.use_bias:
            outputs = nn_impl.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def _product(self, inputs: Any) -> Any:
        """`inputs @ kernel`, along the last axis."""
        rank = inputs.shape.ndims
        if rank > 2:
            product = matmul.tensordot(inputs, self.kernel, [[rank - 1], [0]])
            product.set_shape([*inputs.shape.as_list()[:-1], self.units])
            return product
        x = math.cast(inputs, self._compute_dtype)
        if not isinstance(x, SparseTensor):
            return raw.MatMul(x, self.kernel)
        return raw.SparseTensorDenseMatMul(x.indices, x.values, x.dense_shape, self.kernel)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        *outer, depth = TensorShape(input_shape).with_rank_at_least(2).as_list()
        if depth is None:
            raise ValueError(
                "The innermost dimension of input_shape must be defined, but saw: "
                f"{TensorShape(input_shape)}"
            )
        return TensorShape([*outer, self.units])

    def get_config(self) -> dict[str, Any]:
        keys = (
            "units activation use_bias kernel_initializer bias_initializer kernel_regularizer "
            "bias_regularizer activity_regularizer kernel_constraint bias_constraint"
        )
        return {**super().get_config(), **record(self, keys)}


class Activation(Layer):
    """An activation function applied to the inputs."""

    activation: Any

    def __init__(self, activation: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        take(self, activation=activation)

    def call(self, inputs: Any) -> Any:
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "activation")}


class ActivityRegularization(Layer):
    """Passes its inputs on, and adds what their size costs to the losses."""

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1, self.l2 = l1, l2

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "l1 l2")}


class Masking(Layer):
    """Masks the steps of a sequence in which every entry is `mask_value`."""

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value
        self._compute_output_and_mask_jointly = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Tensor:
        return self._unmasked(inputs)

    def _unmasked(self, inputs: Any, keepdims: bool = False) -> Tensor:
        differs = math.not_equal(inputs, self.mask_value)
        return math.reduce_any(differs, axis=-1, keepdims=keepdims)

    def call(self, inputs: Any) -> Tensor:
        kept = self._unmasked(inputs, keepdims=True)
        outputs = inputs * math.cast(kept, inputs.dtype)
        outputs._keras_mask = array.squeeze(kept, axis=-1)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "mask_value")}


class Flatten(Layer):
    """Makes all but the first axis into one; channels come last.

    Args:
        data_format: "channels_first" moves the channels to the end before; None: as configured.
        **kwargs: further arguments of layers.

    Example:
        >>> tf.keras.layers.Flatten()(tf.ones([2, 3, 4])).shape.as_list()
        [2, 12]
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs: Any) -> Tensor:
        rank = inputs.shape.ndims
        if self.data_format == "channels_first" and rank is not None and rank > 1:
            inputs = array.transpose(inputs, perm=[0, *range(2, rank), 1])
        batch = inputs.shape.as_list()[0] or array.shape(inputs)[0]
        outputs = array.reshape(inputs, (batch, -1))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        match TensorShape(input_shape).as_list():
            case [batch, *rest]:
                return TensorShape([batch, size(tuple(rest))])
        return TensorShape([1])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "data_format")}


class Reshape(Layer):
    """Gives each example the shape `target_shape`, in which one size may be -1."""

    def __init__(self, target_shape: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs: Any) -> Tensor:
        outputs = array.reshape(inputs, (array.shape(inputs)[0], *self.target_shape))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims: list[Any] = TensorShape(input_shape).as_list()
        batch, dims = dims[0], dims[1:]
        if None in dims:
            return TensorShape([batch, *(None if n == -1 else n for n in self.target_shape)])
        return TensorShape([batch, *self._filled_in(int(np.prod(dims)))])

    def _filled_in(self, elements: int) -> list[int]:
        """The target shape, with the one size that is open worked out."""
        if sum(n < 0 for n in self.target_shape) > 1:
            raise ValueError("Can only specify one unknown dimension.")
        known = int(np.prod([n for n in self.target_shape if n >= 0]))
        is_open = any(n < 0 for n in self.target_shape)
        if (is_open and (known == 0 or elements % known)) or (not is_open and elements != known):
            raise ValueError("total size of new array must be unchanged")
        return [elements // known if n < 0 else n for n in self.target_shape]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "target_shape")}


class Permute(Layer):
    """Reorders the axes after the first; `dims` counts them from 1."""

    def __init__(self, dims: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        rank = 1 + len(dims)
        if sorted(dims) != list(range(1, rank)):
            raise ValueError(
                f"Invalid permutation `dims` for Permute Layer: {dims}. The set of indices in "
                "`dims` must be consecutive and start from 1."
            )
        self.dims, self.input_spec = tuple(dims), InputSpec(ndim=rank)

    def call(self, inputs: Any) -> Tensor:
        return array.transpose(inputs, perm=(0, *self.dims))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        return TensorShape([dims[axis] for axis in (0, *self.dims)])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "dims")}


class RepeatVector(Layer):
    """Each example `n` times, as the steps of a sequence."""

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = n
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Any) -> Tensor:
        return array.tile(array.expand_dims(inputs, 1), array.stack([1, self.n, 1]))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        batch, depth = TensorShape(input_shape).as_list()
        return TensorShape([batch, self.n, depth])

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "n")}
