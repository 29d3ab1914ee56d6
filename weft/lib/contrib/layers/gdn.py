"""Generalized divisive normalization: each channel over a norm of all of them, at every place.

Ballé, Laparra, Simoncelli, "Density Modeling of Images using a Generalized Normalization
Transformation" (2015).
"""

from __future__ import annotations

from typing import Any

from weft.autodiff.registration import RegisterGradient
from weft.core.shapes import TensorShape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.keras.engine.input_spec import InputSpec
from weft.lib.layers.base import Layer
from weft.lib.layers.functional import functional
from weft.ops.array import array
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.nn.activations import bias_add
from weft.ops.nn.dilated import convolution

_CHANNEL_AXES = {"channels_first": 1, "channels_last": -1}
_FORMATS = {1: "NWC", 2: "NHWC", 3: "NDHWC"}


@RegisterGradient("GDNLowerBound")
def _pass_what_raises(op: Operation, grad: Tensor) -> Any:
    """The gradient of a lower bound: one that would raise a value gets through below it."""
    passes = math.logical_or(op.inputs[0] >= op.inputs[1], grad < 0)
    return math.cast(passes, grad.dtype) * grad, None


def _lower_bound(values: Any, bound: Tensor) -> Tensor:
    with get_default_graph().gradient_override_map({"Maximum": "GDNLowerBound"}):
        return raw.Maximum(values, bound, name="GDNLowerBound")


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
        offset = self._reparam_offset
        pedestal = constant(offset**2, self.dtype)
        bounds = [(self._beta_min + offset**2) ** 0.5, offset]
        beta_bound, gamma_bound = (constant(bound, self.dtype) for bound in bounds)

        def squared(name: str, sizes: list[int], start: Any, bound: Tensor) -> Tensor:
            def rooted(shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
                least = constant(offset**2, dtype)
                return math.sqrt(start(shape, dtype) + least)

            kept = self.add_variable(name, sizes, initializer=rooted, dtype=self.dtype)
            return math.square(_lower_bound(kept, bound)) - pedestal

        self.beta = squared("reparam_beta", [channels], array.ones, beta_bound)
        self.gamma = squared("reparam_gamma", [channels] * 2, self._diagonal, gamma_bound)
        self.built = True

    def _diagonal(self, shape: Any, dtype: Any) -> Tensor:
        return self._gamma_init * eye(shape[0], dtype=dtype)

    def call(self, inputs: Any, **kwargs: Any) -> Tensor:
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        norm = math.sqrt(self._pooled(inputs))
        outputs = inputs * norm if self.inverse else inputs / norm
        outputs.set_shape(inputs.shape)
        return outputs

    def _pooled(self, inputs: Tensor) -> Tensor:
        """At every place, the weighted sums of the squares of its channels."""
        first, dims = self.data_format == "channels_first", len(inputs.dims or ()) - 2
        format = _FORMATS[dims]
        format = "NC" + format[1:-1] if first else format
        kernel = array.reshape(self.gamma, [1] * dims + self.gamma.shape.as_list())
        sums = convolution(math.square(inputs), kernel, "VALID", data_format=format)
        if not first:
            return bias_add(sums, self.beta)
        if dims == 1:
            biased = bias_add(array.expand_dims(sums, 2), self.beta, data_format="NCHW")
            return array.squeeze(biased, [2])
        if dims == 2:
            return bias_add(sums, self.beta, data_format="NCHW")
        return sums + array.reshape(self.beta, [-1] + [1] * dims)

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
