"""Generalized divisive normalization: each channel over a norm of all of them, at every place.

Ballé, Laparra, Simoncelli, "Density Modeling of Images using a Generalized Normalization
Transformation" (2015).
"""

from __future__ import annotations

from typing import Any

from weft.autodiff.custom_gradient import custom_gradient
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.lib.keras.engine.input_spec import InputSpec
from weft.lib.layers.base import Layer
from weft.lib.layers.functional import functional
from weft.ops.array import array
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.math.matmul import tensordot

_CHANNEL_AXES = {"channels_first": 1, "channels_last": -1}


def _lower_bound(values: Any, bound: float) -> Tensor:
    """The larger of both; a gradient that would raise a value gets through below the bound."""

    @custom_gradient
    def bounded(x: Tensor) -> Any:
        def back(grad: Tensor) -> Tensor:
            passes = math.logical_or(x >= bound, grad < 0)
            return math.cast(passes, grad.dtype) * grad

        return math.maximum(x, bound), back

    return bounded(convert_to_tensor(values))


class GDN(Layer):
    """Divides each channel by the root of `beta` and a weighted sum of all squares, `gamma`.

    Args:
        inverse: multiply instead.
        beta_min: the smallest `beta`.
        gamma_init: what `gamma` begins with, on its diagonal.
        reparam_offset: keeps gradients of both away from zero.
        data_format: "channels_last" or "channels_first".
        activity_regularizer, trainable, name: as in other layers.

    Raises:
        ValueError: another format, or the number of channels is not known.
    """

    def __init__(
        self,
        inverse: bool = False,
        beta_min: float = 1e-6,
        gamma_init: float = 0.1,
        reparam_offset: float = 2**-18,
        data_format: str = "channels_last",
        activity_regularizer: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs
        )
        if data_format not in _CHANNEL_AXES:
            raise ValueError(f"Unsupported `data_format` for GDN layer: {data_format}.")
        self.inverse, self.data_format = inverse, data_format
        self._beta_min, self._gamma_init = beta_min, gamma_init
        self._reparam_offset = reparam_offset
        self.input_spec = InputSpec(min_ndim=3, max_ndim=5)

    def build(self, input_shape: Any) -> None:
        axis, shape = _CHANNEL_AXES[self.data_format], TensorShape(input_shape)
        channels = shape.as_list()[axis]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `GDN` must be defined.")
        self.input_spec = InputSpec(ndim=shape.ndims, axes={axis: channels})
        pedestal = self._reparam_offset**2

        def rooted(start: Any) -> Any:
            def initializer(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
                return math.sqrt(start(shape, dtype) + pedestal)

            return initializer

        def squared(name: str, sizes: list[int], start: Any, bound: float) -> Tensor:
            kept = self.add_variable(name, sizes, initializer=rooted(start), dtype=self.dtype)
            return math.square(_lower_bound(kept, bound)) - pedestal

        self.beta = squared(
            "reparam_beta", [channels], array.ones, (self._beta_min + pedestal) ** 0.5
        )
        self.gamma = squared(
            "reparam_gamma", [channels] * 2,
            lambda sizes, dtype: self._gamma_init * eye(sizes[0], dtype=dtype),
            self._reparam_offset,
        )  # fmt: skip
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Tensor:
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        axis, rank = _CHANNEL_AXES[self.data_format], inputs.shape.ndims
        pool = tensordot(math.square(inputs), self.gamma, [[axis % rank], [0]]) + self.beta
        if axis == 1:
            pool = array.transpose(pool, [0, rank - 1, *range(1, rank - 1)])
        norm = math.sqrt(pool)
        outputs = inputs * norm if self.inverse else inputs / norm
        outputs.set_shape(inputs.shape)
        return outputs

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The shape of its inputs."""
        shape = TensorShape(input_shape)
        if not 3 <= (shape.ndims or 0) <= 5:
            raise ValueError("`input_shape` must be of rank 3 to 5, inclusive.")
        if shape.as_list()[_CHANNEL_AXES[self.data_format]] is None:
            raise ValueError("The channel dimension of `input_shape` must be defined.")
        return shape


gdn = functional(
    GDN, "gdn", "Divides each channel by a norm of all, with a `GDN` layer.",
    "tf.contrib.layers.gdn(tf.ones([1, 4, 4, 3])) -> [1, 4, 4, 3]",
)  # fmt: skip
