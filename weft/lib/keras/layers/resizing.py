"""Layers that lengthen, pad and crop the spatial axes of their inputs."""

from __future__ import annotations

from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.lib.keras import backend
from weft.lib.keras.engine.base_layer import InputSpec, Layer
from weft.lib.keras.layers import windows
from weft.lib.keras.layers.settings import record
from weft.ops.array import array


class _Resizing(Layer):
    """The base: `_resized` says what becomes of the length of one spatial axis."""

    rank = 1
    data_format = "channels_last"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def _resized(self, axis: int, length: int) -> int:
        raise NotImplementedError

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        dims = TensorShape(input_shape).as_list()
        space = [
            None if length is None else self._resized(axis, length)
            for axis, length in enumerate(windows.spatial(dims, self.data_format))
        ]
        channels = dims[windows.channel_axis(self.data_format)]
        return TensorShape(windows.joined(dims[0], space, channels, self.data_format))


# ---- each entry several times ----


class UpSampling1D(_Resizing):
    """Every step `size` times."""

    def __init__(self, size: int = 2, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.size = int(size)

    def _resized(self, axis: int, length: int) -> int:
        return length * self.size

    def call(self, inputs: Any) -> Tensor:
        return backend.repeat_elements(inputs, self.size, axis=1)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "size")}


class _UpSampling(_Resizing):
    size: tuple[int, ...]

    def __init__(self, size: Any, data_format: str | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format)
        self.size = windows.normalize_tuple(size, self.rank, "size")

    def _resized(self, axis: int, length: int) -> int:
        return length * self.size[axis]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "size data_format")}


class UpSampling2D(_UpSampling):
    """Images made larger by whole factors."""

    rank = 2

    def __init__(
        self,
        size: Any = (2, 2),
        data_format: str | None = None,
        interpolation: str = "nearest",
        **kwargs: Any,
    ) -> None:
        super().__init__(size, data_format, **kwargs)
        if interpolation not in ("nearest", "bilinear"):
            raise ValueError(
                '`interpolation` argument should be one of `"nearest"` or `"bilinear"`.'
            )
        self.interpolation = interpolation

    def call(self, inputs: Any) -> Tensor:
        rows, columns = self.size
        return backend.resize_images(inputs, rows, columns, self.data_format, self.interpolation)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "interpolation")}


class UpSampling3D(_UpSampling):
    """Volumes made larger by repeating their entries."""

    rank = 3

    def __init__(
        self, size: Any = (2, 2, 2), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(size, data_format, **kwargs)
        self.input_spec = None

    def call(self, inputs: Any) -> Tensor:
        depth, rows, columns = self.size
        return backend.resize_volumes(inputs, depth, rows, columns, self.data_format)


# ---- zeros around, or less ----

_EDGES = {
    2: "(symmetric_height_{0}, symmetric_width_{0}), or a tuple of 2 tuples of 2 ints "
    "((top_{0}, bottom_{0}), (left_{0}, right_{0}))",
    3: "(symmetric_dim1_{0}, symmetric_dim2_{0}, symmetric_dim3_{0}), or a tuple of 3 tuples of 2 "
    "ints ((left_dim1_{0}, right_dim1_{0}), (left_dim2_{0}, right_dim2_{0}), "
    "(left_dim3_{0}, right_dim2_{0}))",
}


def _normalize_edges(value: Any, rank: int, name: str, short: str) -> tuple[Any, ...]:
    """(before, after) for every axis: the same for all, for both ends, or each on its own."""
    if isinstance(value, int):
        return ((value, value),) * rank
    if not hasattr(value, "__len__"):
        raise ValueError(
            f"`{name}` should be either an int, a tuple of {rank} ints "
            f"{_EDGES[rank].format(short)}. Found: {value}"
        )
    if len(value) != rank:
        count = "two" if rank == 2 else str(rank)
        raise ValueError(f"`{name}` should have {count} elements. Found: {value}")
    places = ("1st", "2nd", "3rd")
    return tuple(
        windows.normalize_tuple(one, 2, f"{place} entry of {name}")
        for one, place in zip(value, places, strict=False)
    )


class _ZeroPadding(_Resizing):
    padding: tuple[Any, ...]

    def __init__(self, padding: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format)
        self.padding = _normalize_edges(padding, self.rank, "padding", "pad")

    def _edges(self) -> tuple[Any, ...]:
        return self.padding

    def _resized(self, axis: int, length: int) -> int:
        return length + sum(self._edges()[axis])

    def call(self, inputs: Any) -> Tensor:
        edges = [list(edge) for edge in self._edges()]
        return array.pad(inputs, windows.joined([0, 0], edges, [0, 0], self.data_format))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "padding data_format")}


class ZeroPadding1D(_ZeroPadding):
    """Zeros before and after sequences."""

    def __init__(self, padding: Any = 1, **kwargs: Any) -> None:
        _Resizing.__init__(self, **kwargs)
        self.padding = windows.normalize_tuple(padding, 2, "padding")

    def _edges(self) -> tuple[Any, ...]:
        return (self.padding,)

    def get_config(self) -> dict[str, Any]:
        return {**_Resizing.get_config(self), **record(self, "padding")}


class ZeroPadding2D(_ZeroPadding):
    """Zeros around images."""

    rank = 2

    def __init__(
        self, padding: Any = (1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(padding, data_format, **kwargs)


class ZeroPadding3D(_ZeroPadding):
    """Zeros around volumes."""

    rank = 3

    def __init__(
        self, padding: Any = (1, 1, 1), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(padding, data_format, **kwargs)


class _Cropping(_Resizing):
    cropping: tuple[Any, ...]

    def __init__(self, cropping: Any, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = windows.normalize_data_format(data_format)
        self.cropping = _normalize_edges(cropping, self.rank, "cropping", "crop")

    def _edges(self) -> tuple[Any, ...]:
        return self.cropping

    def _resized(self, axis: int, length: int) -> int:
        return length - sum(self._edges()[axis])

    def call(self, inputs: Any) -> Tensor:
        every = slice(None)
        inner = [slice(before, -after if after else None) for before, after in self._edges()]
        return inputs[tuple(windows.joined(every, inner, every, self.data_format))]

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **record(self, "cropping data_format")}


class Cropping1D(_Cropping):
    """Sequences without their first and last steps."""

    def __init__(self, cropping: Any = (1, 1), **kwargs: Any) -> None:
        _Resizing.__init__(self, **kwargs)
        self.cropping = windows.normalize_tuple(cropping, 2, "cropping")

    def _edges(self) -> tuple[Any, ...]:
        return (self.cropping,)

    def get_config(self) -> dict[str, Any]:
        return {**_Resizing.get_config(self), **record(self, "cropping")}


class Cropping2D(_Cropping):
    """Images without their borders."""

    rank = 2

    def __init__(
        self, cropping: Any = ((0, 0), (0, 0)), data_format: str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)


class Cropping3D(_Cropping):
    """Volumes without their borders."""

    rank = 3

    def __init__(
        self,
        cropping: Any = ((1, 1), (1, 1), (1, 1)),
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cropping, data_format, **kwargs)
