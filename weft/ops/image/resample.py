"""ScaleAndTranslate: images resampled through a kernel of a chosen shape.

Along each axis the kernel, centred where an output pixel lies in the input, gives a row of weights;
the image is multiplied by the matrix of these rows from both sides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.ops.image.sizes import checked_size, resized
from weft.ops.kit.shared import invalid
from weft.ops.kit.value_checks import require

F = np.float32
Kernel = Callable[[Any, Any], Any]


# ---- kernels -------------------------------------------------------------------------------------


def _lanczos(radius: float) -> Kernel:
    pi = F(3.14159265359)

    def kernel(xp: Any, x: Any) -> Any:
        near, far = x <= F(1e-3), x > F(radius)
        safe = xp.where(near, F(1), x)
        wave = F(radius) * xp.sin(pi * safe) * xp.sin(pi * safe / F(radius))
        return xp.where(far, F(0), xp.where(near, F(1), wave / (pi * pi * safe * safe)))

    return kernel


def _gaussian(xp: Any, x: Any) -> Any:
    return xp.where(x >= F(1.5), F(0), xp.exp(-x * x * F(2)))


def _box(xp: Any, x: Any) -> Any:
    return xp.where(x < F(0.5), F(1), xp.where(x == F(0.5), F(0.5), F(0)))


def _triangle(xp: Any, x: Any) -> Any:
    return xp.maximum(F(1) - x, F(0))


def _cubic(inner: tuple[float, ...], outer: tuple[float, ...]) -> Kernel:
    """Polynomials below 1 and below 2, highest power first."""

    def kernel(xp: Any, x: Any) -> Any:
        pieces = []
        for a, b, c, d in (inner, outer):
            pieces.append(((F(a) * x + F(b)) * x + F(c)) * x + F(d))
        return xp.where(x >= F(2), F(0), xp.where(x >= F(1), pieces[1], pieces[0]))

    return kernel


_KERNELS: dict[str, Kernel] = {
    "lanczos1": _lanczos(1.0),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
    "gaussian": _gaussian,
    "box": _box,
    "triangle": _triangle,
    "keyscubic": _cubic((1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2)),
    "mitchellcubic": _cubic((7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9)),
}


# ---- weights -------------------------------------------------------------------------------------


class _Axis(NamedTuple):
    """Of rows or of columns: how many there are before and after, and how they move."""

    size: int
    wanted: int
    scale: Any
    shift: Any


def _weights(xp: Any, kernel: Kernel, axis: _Axis, antialias: bool) -> Any:
    """[count, size]: what each output pixel takes of each input pixel."""
    size, count, scale, shift = axis
    inverse = F(1) / scale
    width = xp.maximum(inverse, F(1)) if antialias else F(1)
    at = (np.arange(count, dtype=F) + F(0.5)) * inverse - inverse * shift
    distance = np.arange(size, dtype=F) + F(0.5) - at[:, None]
    found = kernel(xp, abs(distance * (F(1) / width)))
    total = found.sum(axis=1, keepdims=True)
    usable = abs(total) >= F(1000) * np.finfo(F).tiny
    inside = ((at >= 0) & (at <= size))[:, None]
    return xp.where(inside & usable, found / xp.where(usable, total, F(1)), F(0)).astype(F)


def _pair(values: Any) -> tuple[Any, Any]:
    if values.ndim != 1:
        raise invalid(f"t must be 1-dimensional{s.show(values.shape)}")
    if values.shape[0] != 2:
        raise invalid(f"t must have two elements{s.show(values.shape)}")
    return values[0], values[1]


def _axes(
    xp: Any, image: tuple[int, ...], size: tuple[int, int], scale: Any, translation: Any,
    kernel_type: str,
) -> list[_Axis]:  # fmt: skip
    if kernel_type not in _KERNELS:
        raise invalid(f"Unrecognized kernel type: {kernel_type}")
    scales, shifts = _pair(scale), _pair(translation)
    positive = (scales[0] > 0) & (scales[1] > 0)
    require(xp, positive, lambda: invalid("Scale must be greater than zero."))
    return list(map(_Axis, image[1:3], size, scales, shifts))


def _both(xp: Any, axes: list[_Axis], kernel_type: str, antialias: bool) -> list[Any]:
    kernel = _KERNELS[kernel_type]
    return [_weights(xp, kernel, axis, antialias) for axis in axes]


@by_library
def _exact_product(xp: Any, x: Any, y: Any, axes: Any) -> Any:
    return xp.tensordot(x, y, axes=axes, precision="highest")


@_exact_product.numpy
def _(xp: Any, x: Any, y: Any, axes: Any) -> Any:
    return np.tensordot(x, y, axes=axes)


def _applied(xp: Any, images: Any, rows: Any, columns: Any) -> Any:
    found = _exact_product(xp, images, columns, ([2], [1]))
    found = _exact_product(xp, found, rows, ([1], [1]))
    return xp.transpose(found, (0, 3, 2, 1))


_ATTRS = 'kernel_type: string = "lanczos3", antialias: bool = true'


@op(
    "ScaleAndTranslate",
    inputs="images: T, size: int32, scale: float, translation: float",
    outputs="resized_images: float",
    attrs="T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double},"
    f" {_ATTRS}",
    shape=resized, static="size",
)  # fmt: skip
def scale_and_translate_(
    xp: Any, images: Any, size: Any, scale: Any, translation: Any, *, kernel_type: str,
    antialias: bool,
) -> Any:  # fmt: skip
    wanted = checked_size(images, size, False, False)
    axes = _axes(xp, images.shape, wanted, scale, translation, kernel_type)
    if 0 in images.shape:
        return xp.zeros((images.shape[0], *wanted, images.shape[3]), F)
    return _applied(xp, images.astype(F), *_both(xp, axes, kernel_type, antialias))


@op(
    "ScaleAndTranslateGrad",
    inputs="grads: T, original_image: T, scale: float, translation: float", outputs="output: T",
    attrs=f"T: {{float}}, {_ATTRS}", shape=lambda c: c.dims(1),
)  # fmt: skip
def scale_and_translate_grad_(
    xp: Any, grads: Any, original_image: Any, scale: Any, translation: Any, *, kernel_type: str,
    antialias: bool,
) -> Any:  # fmt: skip
    if grads.ndim != 4 or original_image.ndim != 4:
        raise invalid("original_image and grads must be 4-dimensional")
    size = grads.shape[1:3]
    axes = _axes(xp, original_image.shape, size, scale, translation, kernel_type)
    if 0 in grads.shape or 0 in original_image.shape:
        return xp.zeros(original_image.shape, original_image.dtype)
    weights = _both(xp, axes, kernel_type, antialias)
    return _applied(xp, grads, *(xp.transpose(each) for each in weights))


@scale_and_translate_.gradient
def _(op: Operation, grad: Any) -> Any:
    images, _, scale, translation = op.inputs
    back = raw.ScaleAndTranslateGrad(
        grad, images, scale, translation, kernel_type=op.get_attr("kernel_type"),
        antialias=op.get_attr("antialias"),
    )  # fmt: skip
    return back, None, None, None
