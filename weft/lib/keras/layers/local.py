"""Convolutions whose filters differ from place to place."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from weft.core.shapes import TensorShape
from weft.core.signatures import with_parameters_of
from weft.graph.graph import Tensor
from weft.graph.op_def import raw
from weft.lib.keras import backend, regularizers
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.settings import record, take_named, weight
from weft.ops.array import array
from weft.ops.math import math


class _LocallyConnected(Layer):
    """`implementation` says how the weights are kept.

    1: a matrix for each place of the outputs; 2: one weight for each pair of an input and an
    output, most of them masked; 3: the weights that are not masked, as a sparse matrix.
    """

    rank = 2
    activation: Any
    kernel_size: tuple[int, ...]
    strides: tuple[int, ...]
    padding: Any
    data_format: str

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: str = "valid",
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        implementation: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.filters, self.use_bias, self.implementation = filters, use_bias, implementation
        windows.take(
            self, self.rank, padding, data_format, kernel_size=kernel_size, strides=strides
        )
        if self.padding != "valid" and implementation == 1:
            raise ValueError(
                f"Invalid border mode for LocallyConnected{self.rank}D (only "
                f'"valid" is supported if implementation is 1): {padding}'
            )
        take_named(self, locals())
        self.activity_regularizer = regularizers.get(activity_regularizer)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    # ---- weights ----

    def build(self, input_shape: Any) -> None:
        dims: list[Any] = TensorShape(input_shape).as_list()
        axis = windows.channel_axis(self.data_format)
        channels, space = dims[axis], tuple(windows.spatial(dims, self.data_format))
        self._check_sizes(channels, space, tuple(dims))
        output_space = tuple(self._output_space(space))
        self._places = output_space
        if self.implementation == 1:
            patch = int(np.prod(self.kernel_size)) * channels
            self.kernel_shape: Any = (int(np.prod(output_space)), patch, self.filters)
        elif self.implementation == 2:
            self.kernel_shape = self._pairs(space, channels, output_space, self.filters)
            self.kernel_mask = self._mask(space, output_space)
        elif self.implementation == 3:
            self.kernel_shape = (
                int(np.prod(output_space)) * self.filters,
                int(np.prod(space)) * channels,
            )
            self.kernel_idxs = self._indices(space, channels, output_space)
        else:
            raise ValueError(f"Unrecognized implementation mode: {self.implementation}.")
        count = (len(self.kernel_idxs),) if self.implementation == 3 else self.kernel_shape
        self.kernel = weight(self, "kernel", count)
        self.bias = weight(self, "bias", (*output_space, self.filters)) if self.use_bias else None
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        self.built = True

    def _check_sizes(self, channels: Any, space: tuple[Any, ...], dims: tuple[Any, ...]) -> None:
        raise NotImplementedError

    def _pairs(self, space: Any, channels: int, output_space: Any, filters: int) -> tuple[int, ...]:
        """The shape of something for every input and output, in the order of the data."""
        if self.data_format == "channels_first":
            return channels, *space, filters, *output_space
        return *space, channels, *output_space, filters

    def _reached(self, space: tuple[int, ...], place: tuple[int, ...]) -> Any:
        """The places of the inputs that the output at `place` sees."""
        if self.padding not in ("valid", "same"):
            raise NotImplementedError(
                f"Padding type {self.padding} not supported. Only "
                '"valid" and "same" are implemented.'
            )
        ranges = []
        sizes = zip(space, place, self.kernel_size, self.strides, strict=True)
        for length, at, window, stride in sizes:
            start = at * stride - (window // 2 if self.padding == "same" else 0)
            ranges.append(range(max(start, 0), min(start + window, length)))
        return itertools.product(*ranges)

    def _mask(self, space: tuple[int, ...], output_space: tuple[int, ...]) -> np.ndarray:
        mask = np.zeros((*space, *output_space), bool)
        for place in np.ndindex(*output_space):
            for source in self._reached(space, place):
                mask[source + place] = True
        return mask.reshape(self._pairs(space, 1, output_space, 1)).astype(np.float32)

    def _indices(self, space: Any, channels: int, output_space: Any) -> list[tuple[int, int]]:
        """(output, input) of every weight, both as positions in the flattened data."""

        def position(place: tuple[int, ...], sizes: tuple[int, ...], i: int, count: int) -> int:
            flat = int(np.ravel_multi_index(place, sizes))
            first = self.data_format == "channels_first"
            return i * int(np.prod(sizes)) + flat if first else flat * count + i

        return sorted(
            (position(place, output_space, f, self.filters), position(source, space, c, channels))
            for place in np.ndindex(*output_space)
            for source in self._reached(space, place)
            for f in range(self.filters)
            for c in range(channels)
        )

    # ---- calls ----

    def call(self, inputs: Any) -> Any:
        product = self._by_patches if self.implementation == 1 else self._by_matrix
        outputs = product(inputs)
        if self.use_bias:
            outputs = backend.bias_add(outputs, self.bias, data_format=self.data_format)
        return self.activation(outputs)

    def _by_patches(self, inputs: Any) -> Tensor:
        sizes = (self.kernel_size, self.strides, self._places)
        return backend.local_conv(inputs, self.kernel, *sizes, self.data_format)

    def _by_matrix(self, inputs: Any) -> Tensor:
        flat = array.reshape(inputs, (array.shape(inputs)[0], -1))
        if self.implementation == 2:
            masked = self.kernel_mask * self.kernel
            sizes, half = array.shape(masked), self.rank + 1
            halves = [sizes[:half], sizes[half:]]
            matrix = array.reshape(masked, [math.reduce_prod(part) for part in halves])
            products = raw.SparseMatMul(flat, matrix, b_is_sparse=True)
        else:
            indices, size = np.array(self.kernel_idxs, np.int64), np.array(self.kernel_shape)
            products = array.transpose(
                raw.SparseTensorDenseMatMul(
                    indices, self.kernel, size.astype(np.int64), flat, adjoint_b=True
                )
            )
        dims = self.compute_output_shape(inputs.shape).as_list()
        return array.reshape(products, [array.shape(products)[0], *dims[1:]])

    def _output_space(self, space: Any) -> list[Any]:
        sizes = zip(space, self.kernel_size, self.strides, strict=True)
        return [windows.output_length(n, window, self.padding, step) for n, window, step in sizes]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        space = self._output_space(windows.spatial(dims, self.data_format))
        return TensorShape(windows.joined(dims[0], space, self.filters, self.data_format))

    def get_config(self) -> dict[str, Any]:
        keys = (
            "filters kernel_size strides padding data_format activation use_bias "
            "kernel_initializer bias_initializer kernel_regularizer bias_regularizer "
            "activity_regularizer kernel_constraint bias_constraint implementation"
        )
        return {**super().get_config(), **record(self, keys)}


class LocallyConnected1D(_LocallyConnected):
    """As `Conv1D`, with filters of its own for every step."""

    rank = 1

    def _check_sizes(self, channels: Any, space: tuple[Any, ...], dims: tuple[Any, ...]) -> None:
        if channels is None:
            raise ValueError("Axis 2 of input should be fully-defined. Found shape:", dims)


class LocallyConnected2D(_LocallyConnected):
    """As `Conv2D`, with filters of its own for every place."""

    @with_parameters_of(_LocallyConnected.__init__, strides=(1, 1))
    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)

    def _check_sizes(self, channels: Any, space: tuple[Any, ...], dims: tuple[Any, ...]) -> None:
        if None in space:
            raise ValueError(
                "The spatial dimensions of the inputs to  a LocallyConnected2D layer should be "
                f"fully-defined, but layer received the inputs shape {dims}"
            )
