"""Convolutions over sequences, images and volumes."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape, dims_of
from weft.core.signatures import with_parameters_of
from weft.graph.graph import Tensor
from weft.lib.keras import regularizers
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.settings import record, take_named, weight
from weft.ops.array import array
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import dilated as nn_dilated


class Conv(Layer):
    """A convolution of `rank` spatial dimensions, with bias and activation."""

    activation: Any
    bias: Any
    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]
    dilation_rate: tuple[int, ...]
    padding: Any
    data_format: str

    def __init__(
        self,
        rank: int,
        filters: Any,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
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
            trainable=trainable,
            name=name,
            activity_regularizer=regularizers.get(activity_regularizer),
            **kwargs,
        )
        self.rank, self.filters, self.use_bias = rank, filters, use_bias
        sizes = {"kernel_size": kernel_size, "strides": strides, "dilation_rate": dilation_rate}
        windows.take(self, rank, padding, data_format, **sizes)
        if self.padding == "causal" and rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        take_named(self, locals())
        self.input_spec = InputSpec(ndim=rank + 2)

    def build(self, input_shape: Any) -> None:
        channels = windows.known_channels(TensorShape(input_shape), self.data_format)
        self._make_kernels(channels)
        self.bias = weight(self, "bias", (self._depth(channels),)) if self.use_bias else None
        self.input_spec = InputSpec(
            ndim=self.rank + 2, axes={windows.channel_axis(self.data_format): channels}
        )
        self._make_operation(dims_of(TensorShape(input_shape)))
        self.built = True

    def _make_operation(self, input_dims: Any) -> None:
        """What `call` applies to inputs and kernel; its constants are made with the weights."""
        self._convolution = nn_dilated.Convolution(
            input_dims,
            dims_of(self.kernel.shape),
            self._op_padding(),
            self.strides,
            self.dilation_rate,
            windows.op_format(self.data_format, self.rank + 2),
        )

    def _make_kernels(self, channels: int) -> None:
        self.kernel = weight(self, "kernel", (*self.kernel_size, channels, self.filters))

    def _depth(self, channels: int) -> int:
        """How many channels the outputs have."""
        return self.filters

    def call(self, inputs: Any) -> Any:
        return self._finished(self._convolution(self._padded(inputs), self.kernel))

    def _op_padding(self) -> Any:
        """The padding that is left to the operation."""
        if isinstance(self.padding, (list, tuple)):
            return self.padding
        return "VALID" if self.padding == "causal" else self.padding.upper()

    def _padded(self, inputs: Any) -> Any:
        """Inputs with zeros before them, so that no output sees a later input."""
        if self.padding != "causal":
            return inputs
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        return array.pad(inputs, windows.joined([0, 0], [[before, 0]], [0, 0], self.data_format))

    def _finished(self, outputs: Tensor) -> Any:
        """Outputs with bias and activation."""
        if self.use_bias and self.data_format == "channels_first" and self.rank == 1:
            outputs = outputs + array.reshape(self.bias, (1, self.filters, 1))
        elif self.use_bias:
            order = "NCHW" if self.data_format == "channels_first" else "NHWC"
            outputs = nn_impl.bias_add(outputs, self.bias, data_format=order)
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims: list[Any] = TensorShape(input_shape).as_list()
        space = self._output_space(windows.spatial(dims, self.data_format))
        depth = self._depth(dims[windows.channel_axis(self.data_format)])
        return TensorShape(windows.joined(dims[0], space, depth, self.data_format))

    def _output_space(self, space: Any) -> list[Any]:
        sizes = zip(space, self.kernel_size, self.strides, self.dilation_rate, strict=True)
        return [
            windows.output_length(length, window, self.padding, stride, rate)
            for length, window, stride, rate in sizes
        ]

    def get_config(self) -> dict[str, Any]:
        keys = (
            "filters kernel_size strides padding data_format dilation_rate activation use_bias "
            "kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
            "activity_regularizer kernel_constraint bias_constraint"
        )
        return {**super().get_config(), **record(self, keys)}


BASE_ONLY = ("rank", "trainable", "name")


class Conv1D(Conv):
    """A convolution over sequences."""

    @with_parameters_of(Conv.__init__, without=BASE_ONLY, data_format="channels_last")
    def __init__(self, **settings: Any) -> None:
        super().__init__(rank=1, **settings)


class Conv2D(Conv):
    """A convolution over images.

    Args:
        filters: how many channels come out.
        kernel_size: the size of the window: a number, or two.
        strides: how far it moves.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; None: as configured.
        dilation_rate: the distance between the pixels that neighbouring weights see.
        activation: a function, its name, or None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: first values.
        kernel_regularizer, bias_regularizer, activity_regularizer: penalties on weights and
            outputs.
        kernel_constraint, bias_constraint: project the weights after updates.
        **kwargs: further arguments of layers, such as `input_shape` and `name`.

    Example:
        >>> tf.keras.layers.Conv2D(16, 3, padding="same")(tf.ones([1, 8, 8, 3])).shape.as_list()
        [1, 8, 8, 16]
    """

    @with_parameters_of(Conv.__init__, without=BASE_ONLY, strides=(1, 1), dilation_rate=(1, 1))
    def __init__(self, **settings: Any) -> None:
        super().__init__(rank=2, **settings)


class Conv3D(Conv):
    """A convolution over volumes."""

    @with_parameters_of(
        Conv.__init__, without=BASE_ONLY, strides=(1, 1, 1), dilation_rate=(1, 1, 1)
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(rank=3, **settings)


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
