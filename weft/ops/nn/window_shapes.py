"""Data formats, checks and static shapes that convolutions and pooling share.

A data format (NHWC, NCHW, NDHWC, NCDHW) says which dimension of a tensor, or which entry of a list
such as `strides`, belongs to the batch, the channels and the spatial axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.graph import shape_fn as s
from weft.ops.array.array import invalid
from weft.ops.nn.windows import Window, padded_size, window_of

Array = Any


# ---- data formats -----------------------------------------------------------------------------


def channels_first(data_format: str) -> bool:
    return data_format.startswith("NC")


def spatial(values: Sequence[Any], data_format: str) -> tuple[Any, ...]:
    """The entries of a per-dimension list that belong to spatial axes."""
    return tuple(values[2:] if channels_first(data_format) else values[1:-1])


def depth(values: Sequence[Any], data_format: str) -> Any:
    return values[1 if channels_first(data_format) else -1]


def arranged(batch: Any, inner: Sequence[Any], channels: Any, data_format: str) -> tuple[Any, ...]:
    if channels_first(data_format):
        return (batch, channels, *inner)
    return (batch, *inner, channels)


def channels_last(xp: Any, x: Array, data_format: str) -> Array:
    return xp.moveaxis(x, 1, -1) if channels_first(data_format) else x


def as_format(xp: Any, x: Array, data_format: str) -> Array:
    """Back from channels last."""
    return xp.moveaxis(x, -1, 1) if channels_first(data_format) else x


# ---- checks and windows -----------------------------------------------------------------------


def check_window_lists(name: str, rank: int, data_format: str, **lists: Sequence[int]) -> None:
    """Strides and the like: one entry per dimension, positive, and 1 for batch and channels."""
    for what, values in lists.items():
        if len(values) != rank:
            raise invalid(f"Sliding window {what} field must specify {rank} dimensions")
        if values[0] != 1 or depth(values, data_format) != 1:
            raise invalid(
                f"Current implementation does not yet support {what} in the batch and depth "
                "dimensions."
            )
        if min(values) < 1:
            raise invalid(f"{name}: {what} should be larger than 0, received {list(values)}")


def explicit_edges(
    padding: str, explicit_paddings: Sequence[int], rank: int, data_format: str
) -> list[tuple[int, int]] | None:
    """Checked (before, after) per spatial axis; ValueError for paddings that cannot be."""
    if padding != "EXPLICIT":
        if explicit_paddings:
            raise ValueError(
                "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT"
            )
        return None
    if len(explicit_paddings) != 2 * rank:
        raise ValueError(
            f"explicit_paddings attribute must contain {2 * rank} values, "
            f"but got: {len(explicit_paddings)}"
        )
    if min(explicit_paddings) < 0:
        raise ValueError("All elements of explicit_paddings must be nonnegative")
    pairs = list(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))
    if any(pairs[0]) or any(depth(pairs, data_format)):
        raise ValueError(
            "Nonzero explicit padding in the batch or depth dimensions is not supported"
        )
    return list(spatial(pairs, data_format))


def conv_window(
    name: str,
    input_shape: Sequence[int],
    filter_shape: Sequence[int],
    strides: Sequence[int],
    padding: str,
    dilations: Sequence[int],
    data_format: str,
    explicit_paddings: Sequence[int] = (),
) -> Window:
    """The windows of a convolution, after checking ranks, strides and paddings."""
    rank = len(data_format)
    for what, dims in (("input", input_shape), ("filter", filter_shape)):
        if len(dims) != rank:
            raise invalid(f"{what} must be {rank}-dimensional: {s.show(tuple(dims))}")
    check_window_lists(name, rank, data_format, strides=strides, dilations=dilations)
    try:
        edges = explicit_edges(padding, explicit_paddings, rank, data_format)
    except ValueError as error:
        raise invalid(str(error)) from None
    return window_of(
        spatial(input_shape, data_format),
        filter_shape[: rank - 2],
        spatial(strides, data_format),
        spatial(dilations, data_format),
        padding,
        edges,
    )


def window_attr(c: s.ShapeContext, attr: str, name: str, rank: int = 4) -> Sequence[int]:
    """Strides, say, which have an entry for each dimension; `name` is for the complaint."""
    values: Sequence[int] = c.attr(attr)
    if len(values) != rank:
        what = {"strides": "stride", "dilations": "dilation"}.get(attr, attr)
        raise ValueError(
            f"{name} requires the {what} attribute to contain {rank} values, but got: {len(values)}"
        )
    return values


def window_dims(
    sizes: Sequence[int | None],
    windows: Sequence[int | None],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    edges: Sequence[tuple[int, int]] | None = None,
) -> tuple[int | None, ...]:
    """Output sizes where the inputs' are known."""
    found: list[int | None] = []
    for i, size in enumerate(sizes):
        if strides[i] < 1:
            raise ValueError(f"Stride must be > 0, but got {strides[i]}")
        if dilations[i] < 1:
            raise ValueError(f"Dilation rate must be >= 1, but got {dilations[i]}")
        window = windows[i]
        if size is None or (window is None and padding != "SAME"):
            found.append(None)
            continue
        window = 1 if window is None else window
        pads = edges[i] if edges else (0, 0)
        extent = (window - 1) * dilations[i] + 1
        if padding != "SAME" and size + sum(pads) < extent:
            raise ValueError(
                f"Negative dimension size caused by subtracting {extent} from {size + sum(pads)}"
            )
        found.append(padded_size(size, window, strides[i], dilations[i], padding, pads)[0])
    return tuple(found)
