"""Transposed convolutions: from the outputs of a convolution to the shape of its inputs."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.layers import windows
from weft.layers.convolutional import Conv
from weft.layers.functional import functional
from weft.ops import array_join, array_shape, nn_conv, nn_impl


class _ConvTranspose(Conv):
    @with_parameters_of(Conv.__init__, without=("dilation_rate",))
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def _make_kernels(self, channels: int) -> None:
        self.kernel = self._make_kernel("kernel", (*self.kernel_size, self.filters, channels))

    def _lengths(self, space: Any) -> list[Any]:
        return [
            windows.transposed_length(length, window, self.padding, stride)
            for length, window, stride in zip(space, self.kernel_size, self.strides, strict=True)
        ]

    def call(self, inputs: Any) -> Any:
        sizes = array_shape.shape(inputs)
        first = 2 if self.data_format == "channels_first" else 1
        space = self._lengths([sizes[first + i] for i in range(self.rank)])
        outputs = self._transpose(
            inputs,
            self.kernel,
            array_join.stack(windows.joined(sizes[0], space, self.filters, self.data_format)),
            windows.joined(1, self.strides, 1, self.data_format),
            padding=self.padding.upper(),
            data_format=windows.op_format(self.data_format, self.rank + 2),
        )
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            order = windows.op_format(self.data_format, 4)
            outputs = nn_impl.bias_add(outputs, self.bias, data_format=order)
        return self._activated(outputs)

    def _transpose(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        space = self._lengths(windows.spatial(dims, self.data_format))
        return TensorShape(windows.joined(dims[0], space, self.filters, self.data_format))

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        del config["dilation_rate"]
        return config


class Conv2DTranspose(_ConvTranspose):
    """The transpose of a convolution over images."""

    rank = 2

    def _transpose(self, *args: Any, **kwargs: Any) -> Any:
        return nn_conv.conv2d_transpose(*args, **kwargs)


class Conv3DTranspose(_ConvTranspose):
    """The transpose of a convolution over volumes."""

    rank = 3

    def _transpose(self, *args: Any, **kwargs: Any) -> Any:
        return nn_conv.conv3d_transpose(*args, **kwargs)


conv2d_transpose = functional(
    Conv2DTranspose,
    "conv2d_transpose",
    "The transpose of a convolution over images, applied to `inputs`.",
    strides=(1, 1),
)
conv3d_transpose = functional(
    Conv3DTranspose,
    "conv3d_transpose",
    "The transpose of a convolution over volumes, applied to `inputs`.",
    strides=(1, 1, 1),
)
