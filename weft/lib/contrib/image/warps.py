"""Images bent by a flow: one for each pixel, or a spline through a few points."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import dimension_value
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.control import check
from weft.ops.kit.seed_counts import count_further
from weft.ops.linalg.linalg import matrix_solve
from weft.ops.linalg.matrices import eye
from weft.ops.math import math

# The smallest squared distance of which a logarithm is taken.
_EPSILON = 1e-10


def dense_image_warp(image: Any, flow: Any, name: str = "dense_image_warp") -> Tensor:
    """An image whose pixel at a place comes from that place less the flow there.

    Args:
        image: `[batch, height, width, channels]`.
        flow: `[batch, height, width, 2]`: rows and columns.
        name: of the operations.

    Returns:
        An image of the same shape, interpolated linearly; places outside of it are at its edge.

    Raises:
        ValueError: the image has not four dimensions.
        InvalidArgumentError: when run, if it is less than two pixels high or wide.
    """
    with name_scope(name):
        image, flow = convert_to_tensor(image), convert_to_tensor(flow)
        if len(image.shape) != 4:
            raise ValueError(f"Grid must be 4 dimensional. Received size: {image.shape}")
        batch, height, width, channels = array.unstack(array.shape(image), num=4)
        rows = array.expand_dims(math.range(height), 1) + array.zeros([1, width], dtypes.int32)
        columns = array.expand_dims(math.range(width), 0) + array.zeros([height, 1], dtypes.int32)
        here = math.cast(array.stack([rows, columns], axis=2), flow.dtype)
        sources = array.reshape(array.expand_dims(here, 0) - flow, [batch, height * width, 2])
        count_further(27)
        return array.reshape(_between_pixels(image, sources), [batch, height, width, channels])


def _between_pixels(image: Tensor, points: Tensor) -> Tensor:
    """The linear interpolation of an image at `[batch, points, 2]` places."""
    batch, *sizes, channels = array.unstack(array.shape(image), num=4)
    count = array.shape(points)[1]
    checks = [
        check.assert_equal(
            array.shape(points)[2], 2, message="Query points must be size 2 in dim 2."
        ),
        check.assert_greater_equal(sizes[0], 2, message="Grid height must be at least 2."),
        check.assert_greater_equal(sizes[1], 2, message="Grid width must be at least 2."),
    ]
    with control_dependencies(checks):
        axes = array.unstack(array.identity(points), axis=2)
    before, shares = zip(*map(_cell, axes, sizes, [image.dtype] * 2), strict=True)
    pixels = array.reshape(image, [-1, channels])
    first = array.reshape(math.range(batch), [-1, 1]) * sizes[0] * sizes[1]

    def corner(down: int, right: int) -> Tensor:
        found = gather(pixels, first + (before[0] + down) * sizes[1] + before[1] + right)
        return array.reshape(found, [batch, count, channels])

    top, bottom = (
        shares[1] * (corner(down, 1) - corner(down, 0)) + corner(down, 0) for down in (0, 1)
    )
    return shares[0] * (bottom - top) + top


def _cell(at: Tensor, size: Tensor, dtype: dtypes.DType) -> tuple[Tensor, Tensor]:
    """The pixel before a place on one axis, and how far the place is on the way to the next."""
    last = math.cast(size - 2, at.dtype)
    floor = math.minimum(math.maximum(math.floor(at), array.zeros([], at.dtype)), last)
    share = math.cast(at - floor, dtype)
    share = math.minimum(math.maximum(share, array.zeros([], dtype)), array.ones([], dtype))
    return math.cast(floor, dtypes.int32), array.expand_dims(share, 2)


# ---- splines through points ----


def interpolate_spline(
    train_points: Any,
    train_values: Any,
    query_points: Any,
    order: int,
    regularization_weight: float = 0.0,
    name: str = "interpolate_spline",
) -> Tensor:
    """Values between points by a polyharmonic spline: radial functions plus a linear one.

    Args:
        train_points: `[batch, n, d]`: where values are known.
        train_values: `[batch, n, k]`.
        query_points: `[batch, m, d]`: where they are wanted.
        order: of the spline; 1 is linear, 2 a thin plate.
        regularization_weight: how smooth it is rather than exact; 0 goes through all points.
        name: of the operations.

    Returns:
        `[batch, m, k]`.

    Raises:
        ValueError: d or k is not known.
    """
    with name_scope(name):
        points, values = convert_to_tensor(train_points), convert_to_tensor(train_values)
        queries = convert_to_tensor(query_points)
        with name_scope("solve"):
            radial, linear = _fitted(points, values, order, regularization_weight)
        with name_scope("predict"):
            near = math.matmul(_phi(_squared_distances(queries, points), order), radial)
            return near + math.matmul(_with_ones(queries), linear)


def _fitted(
    points: Tensor, values: Tensor, order: int, regularization: float
) -> tuple[Tensor, Tensor]:
    """The weights of the radial functions and of the linear one."""
    sizes = {"input points (d)": points.shape[-1], "output values (k)": values.shape[-1]}
    for what, size in sizes.items():
        if dimension_value(size) is None:
            raise ValueError(f"The dimensionality of the {what} must be statically-inferrable.")
    count = array.shape(points)[1]
    kernel = _phi(_squared_distances(points, points), order)
    if regularization > 0:
        kernel += regularization * array.expand_dims(eye(count, dtype=points.dtype), 0)
    affine = _with_ones(points)
    corner = array.zeros_like(math.matmul(affine, affine, transpose_a=True))
    upper = array.concat([kernel, affine], 2)
    lower = array.concat([array.matrix_transpose(affine), corner], 2)
    nothing = array.zeros_like(math.matmul(affine, values, transpose_a=True))
    solved = matrix_solve(array.concat([upper, lower], 1), array.concat([values, nothing], 1))
    return solved[:, :count], solved[:, count:]


def _with_ones(points: Tensor) -> Tensor:
    return array.concat([points, array.ones_like(points[..., :1])], 2)


def _squared_distances(a: Tensor, b: Tensor) -> Tensor:
    lengths = [math.reduce_sum(math.square(each), 2) for each in (a, b)]
    products = math.matmul(a, b, transpose_b=True)
    return array.expand_dims(lengths[0], 2) - 2 * products + array.expand_dims(lengths[1], 1)


def _phi(squared: Tensor, order: int) -> Tensor:
    """The radial function of an order, of squared distances: a power, with a logarithm if even."""
    safe = math.maximum(squared, _EPSILON)
    if order % 2:
        return math.sqrt(safe) if order == 1 else math.pow(safe, 0.5 * order)
    exact = {2: squared, 4: math.square(squared)}
    power = exact[order] if order in exact else math.pow(safe, 0.5 * order)
    return 0.5 * power * math.log(safe)


def sparse_image_warp(
    image: Any,
    source_control_point_locations: Any,
    dest_control_point_locations: Any,
    interpolation_order: int = 2,
    regularization_weight: float = 0.0,
    num_boundary_points: int = 0,
    name: str = "sparse_image_warp",
) -> tuple[Tensor, Tensor]:
    """An image bent so that some of its points go to other places.

    Args:
        image: `[batch, height, width, channels]`, all of them known.
        source_control_point_locations: `[batch, points, 2]`: where these points are.
        dest_control_point_locations: where they go.
        interpolation_order, regularization_weight: of the spline between them.
        num_boundary_points: into how many parts points that stay divide each edge; 1: the corners.
        name: of the operations.

    Returns:
        The image, and the flow of each of its pixels.
    """
    image = convert_to_tensor(image)
    places = convert_to_tensor(dest_control_point_locations)
    flows = places - convert_to_tensor(source_control_point_locations)
    with name_scope(name):
        batch, height, width, _ = image.shape.as_list()
        grid = np.argwhere(np.ones([height, width]))
        if num_boundary_points > 0:
            edge = np.tile(_on_edges(height, width, num_boundary_points), [batch, 1, 1])
            places = array.concat([places, constant(edge, places.dtype)], 1)
            flows = array.concat([flows, array.zeros(edge.shape, flows.dtype)], 1)
        everywhere = constant(np.tile(grid, [batch, 1, 1]), image.dtype)
        dense = interpolate_spline(
            places, flows, everywhere, interpolation_order, regularization_weight
        )
        dense = array.reshape(dense, [batch, height, width, 2])
        return dense_image_warp(image, dense), dense


def _on_edges(height: int, width: int, steps: int) -> np.ndarray:
    """Places on the edges of an image, `steps` even steps from corner to corner."""
    axes = [np.linspace(0, size - 1, steps + 1) for size in (height, width)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), -1)
    at_end = (places == 0) | (places == [height - 1, width - 1])
    return places[at_end.any(-1)]
