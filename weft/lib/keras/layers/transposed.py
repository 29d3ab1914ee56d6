"""Transposed convolutions: from the outputs of a convolution to the shape of its inputs."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.convolutional import Conv, Conv2D, Conv3D
from weft.lib.keras.layers.settings import weight
from weft.ops.array import array
from weft.ops.nn import conv as nn_conv
from weft.ops.nn import dilated as nn_dilated


class _Transposed(Conv):
    """The base of the transposes; goes before the convolution that is transposed."""

    def __init__(self, output_padding: Any = None, **settings: Any) -> None:
        super().__init__(**settings)
        self.output_padding = output_padding
        if output_padding is not None:
            padding = windows.normalize_tuple(output_padding, self.rank, "output_padding")
            if any(pad >= stride for pad, stride in zip(padding, self.strides, strict=True)):
                raise ValueError(
                    f"Stride {self.strides} must be greater than output padding {padding}"
                )
            self.output_padding = padding

    def build(self, input_shape: Any) -> None:
        rank = TensorShape(input_shape).ndims
        if rank != self.rank + 2:
            raise ValueError(
                f"Inputs should have rank {self.rank + 2}. Received input shape: "
                f"{TensorShape(input_shape)}"
            )
        super().build(input_shape)

    def _make_kernels(self, channels: int) -> None:
        self.kernel = weight(self, "kernel", (*self.kernel_size, self.filters, channels))

    def _make_operation(self, input_dims: Any) -> None:
        """None: `call` has functions of its own."""

    def _output_space(self, space: Any) -> list[Any]:
        padding = self.output_padding or (None,) * self.rank
        sizes = zip(space, self.kernel_size, self.strides, padding, self.dilation_rate, strict=True)
        return [
            windows.transposed_length(length, window, self.padding, stride, pad, rate)
            for length, window, stride, pad, rate in sizes
        ]

    def call(self, inputs: Any) -> Any:
        sizes = array.shape(inputs)
        first = 2 if self.data_format == "channels_first" else 1
        batch, *space = (sizes[i] for i in (0, *range(first, first + self.rank)))
        dims = windows.joined(batch, self._output_space(space), self.filters, self.data_format)
        outputs = self._transpose(inputs, array.stack(dims))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        return self._finished(outputs)

    def _transpose(self, inputs: Any, output_shape: Any) -> Any:
        operation = nn_conv.conv2d_transpose if self.rank == 2 else nn_conv.conv3d_transpose
        return operation(
            inputs,
            self.kernel,
            output_shape,
            windows.joined(1, self.strides, 1, self.data_format),
            padding=self.padding.upper(),
            data_format=windows.op_format(self.data_format, self.rank + 2),
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "output_padding": self.output_padding}


class Conv2DTranspose(_Transposed, Conv2D):
    """The transpose of a convolution over images."""

    @with_parameters_of(Conv2D.__init__, extra={"output_padding": ("padding", None)})
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def _transpose(self, inputs: Any, output_shape: Any) -> Any:
        if self.dilation_rate == (1, 1):
            _ = output_shape[0]  # a node of TensorFlow's that nothing reads
            return super()._transpose(inputs, output_shape)
        first = self.data_format == "channels_first"
        if first:
            inputs = array.transpose(inputs, (0, 2, 3, 1))
            output_shape = array.stack([output_shape[i] for i in (0, 2, 3, 1)])
        outputs = nn_dilated.atrous_conv2d_transpose(
            inputs, self.kernel, output_shape, self.dilation_rate[0], self.padding.upper()
        )
        return array.transpose(outputs, (0, 3, 1, 2)) if first else outputs


class Conv3DTranspose(_Transposed, Conv3D):
    """The transpose of a convolution over volumes."""

    @with_parameters_of(
        Conv3D.__init__, without=("dilation_rate",), extra={"output_padding": ("padding", None)}
    )
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["dilation_rate"]
        return config


Convolution2DTranspose, Convolution3DTranspose = Conv2DTranspose, Conv3DTranspose
