"""Samples of conv.py, pooling.py, morphology.py and data_format.py.

TensorFlow's CPU kernels want channels last; test_conv.py compares the other layouts with
these. Values are small fractions, so that sums are exact in half precision, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.sample import Sample, Skip, bf16, f16, f32, f64, i8, i32, i64, skip, u8

FLOATS = (f16, bf16, f32, f64)


def some(make: Any, *shape: int, start: int = 0) -> Any:
    """Values of no particular order, exact in every dtype."""
    count = int(np.prod(shape))
    return make((((np.arange(count) + start) * 37 % 23) - 11) / 4, shape)


def conv(
    op: str,
    x: tuple[int, ...],
    w: tuple[int, ...],
    y: tuple[int, ...],
    make: Any = f32,
    **attrs: Any,
) -> Sample:
    """A convolution of x and w, or a gradient of it, whose result has shape y."""
    if op.endswith(("BackpropInput", "BackpropInputV2")):
        return Sample(op, i32(x), some(make, *w), some(make, *y, start=3), **attrs)
    if op.endswith(("BackpropFilter", "BackpropFilterV2")):
        return Sample(op, some(make, *x), i32(w), some(make, *y, start=3), **attrs)
    return Sample(op, some(make, *x), some(make, *w, start=5), **attrs)


def unit(rank: int, *inner: int) -> list[int]:
    return [1, *(inner or (1,) * (rank - 2)), 1]


CONV2D = ("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")
CONV3D = ("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")
DEPTHWISE = (
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
)
X, W = (2, 5, 6, 3), (3, 2, 3, 4)
SHAPES = (
    (X, W, (2, 5, 6, 4), {"strides": unit(4), "padding": "SAME"}),
    (X, W, (2, 3, 5, 4), {"strides": unit(4), "padding": "VALID"}),
    (X, W, (2, 3, 3, 4), {"strides": unit(4, 2, 2), "padding": "SAME"}),
    (X, W, (2, 2, 2, 4), {"strides": unit(4, 2, 3), "padding": "VALID"}),
    (X, (1, 1, 3, 4), (2, 5, 6, 4), {"strides": unit(4), "padding": "SAME"}),
    (X, (1, 1, 3, 4), (2, 3, 3, 4), {"strides": unit(4, 2, 2), "padding": "VALID"}),
    (X, (5, 6, 3, 4), (2, 1, 1, 4), {"strides": unit(4), "padding": "VALID"}),
    (
        X,
        W,
        (2, 6, 9, 4),
        {
            "strides": unit(4),
            "padding": "EXPLICIT",
            "explicit_paddings": [0, 0, 1, 2, 4, 0, 0, 0],
        },
    ),
    (
        X,
        W,
        (2, 3, 4, 4),
        {
            "strides": unit(4, 2, 2),
            "padding": "EXPLICIT",
            "explicit_paddings": [0, 0, 2, 1, 1, 2, 0, 0],
        },
    ),
)
CUBE, FILTER = (1, 3, 4, 3, 2), (2, 2, 3, 2, 3)
SHAPES_3D = (
    (CUBE, FILTER, (1, 3, 4, 3, 3), {"strides": unit(5), "padding": "SAME"}),
    (CUBE, FILTER, (1, 2, 3, 1, 3), {"strides": unit(5), "padding": "VALID"}),
    (CUBE, FILTER, (1, 2, 2, 2, 3), {"strides": unit(5, 2, 2, 2), "padding": "SAME"}),
    (CUBE, FILTER, (1, 1, 2, 1, 3), {"strides": unit(5, 2, 2, 1), "padding": "VALID"}),
    (CUBE, (1, 1, 1, 2, 3), (1, 3, 4, 3, 3), {"strides": unit(5), "padding": "VALID"}),
)
V, D = (2, 5, 6, 3), (3, 2, 3, 2)
SHAPES_DEPTHWISE = (
    (V, D, (2, 5, 6, 6), {"strides": unit(4), "padding": "SAME"}),
    (V, D, (2, 3, 5, 6), {"strides": unit(4), "padding": "VALID"}),
    (V, D, (2, 3, 3, 6), {"strides": unit(4, 2, 2), "padding": "SAME"}),
    (V, D, (2, 2, 3, 6), {"strides": unit(4, 2, 2), "padding": "VALID"}),
    (V, (3, 3, 3, 1), (2, 5, 6, 3), {"strides": unit(4), "padding": "SAME"}),
)
MANY_CHANNELS = {"strides": unit(4), "padding": "SAME"}

CONVOLUTIONS: list[Sample] = [
    *[
        conv(op, x, w, y, make, **attrs)
        for op in CONV2D
        for make in (f32, f64)
        for x, w, y, attrs in SHAPES
    ],
    *[
        conv(op, *SHAPES[0][:3], make, rtol=rtol, **SHAPES[0][3])
        for op in CONV2D
        for make, rtol in ((f16, 0.02), (bf16, 0.2))
    ],
    *[
        conv(op, (2, 9, 10, 20), (k, k, 20, 24), (2, 9, 10, 24), rtol=1e-4, **MANY_CHANNELS)
        for op in CONV2D
        for k in (3, 5)
    ],
    *[
        conv(op, x, w, y, make, **attrs)
        for op in CONV3D
        for make in (f32, f64)
        for x, w, y, attrs in SHAPES_3D
    ],
    *[
        conv(op, x, w, y, make, **attrs)
        for op in DEPTHWISE
        for make in (f32, f64)
        for x, w, y, attrs in SHAPES_DEPTHWISE
    ],
    *[conv(op, *SHAPES_DEPTHWISE[0][:3], f16, **SHAPES_DEPTHWISE[0][3]) for op in DEPTHWISE],
    *[
        conv(
            "Conv2D", X, W, (), strides=unit(4), padding=padding, dilations=unit(4, *d), grad=False
        )
        for padding in ("SAME", "VALID")
        for d in ((2, 2), (2, 1))
    ],
    Sample("Conv2D", f32([], (0, 5, 6, 3)), some(f32, *W), strides=unit(4), padding="SAME"),
    Sample("Conv2D", some(f32, *X), some(f32, 3, 2, 2, 4), strides=unit(4), padding="SAME"),
    Sample("Conv2D", some(f32, 2, 5, 6), some(f32, *W), strides=unit(4), padding="SAME"),
    Sample("Conv2D", some(f32, *X), some(f32, *W), strides=[1, 1, 1], padding="SAME"),
    Sample("Conv2D", some(f32, *X), some(f32, 7, 7, 3, 1), strides=unit(4), padding="VALID"),
    Sample(
        "Conv2D",
        some(f32, *X),
        some(f32, *W),
        strides=unit(4),
        padding="EXPLICIT",
        explicit_paddings=[0, 0, 1, 1],
    ),
    Sample(
        "Conv2D",
        some(f32, *X),
        some(f32, *W),
        strides=unit(4),
        padding="SAME",
        explicit_paddings=[0, 0, 1, 1, 0, 0, 0, 0],
    ),
    conv("Conv2DBackpropInput", X, W, (2, 4, 6, 4), strides=unit(4), padding="SAME"),
    conv("Conv2DBackpropFilter", X, W, (2, 5, 6, 3), strides=unit(4), padding="SAME"),
    Sample(
        "DepthwiseConv2dNative",
        some(f32, *V),
        some(f32, 3, 2, 2, 2),
        strides=unit(4),
        padding="SAME",
    ),
]

POOLS = (
    (
        (2, 5, 6, 3),
        (2, 3, 3, 3),
        {"ksize": [1, 2, 2, 1], "strides": unit(4, 2, 2), "padding": "SAME"},
    ),
    (
        (2, 4, 6, 3),
        (2, 2, 3, 3),
        {"ksize": [1, 2, 2, 1], "strides": unit(4, 2, 2), "padding": "VALID"},
    ),
    ((2, 5, 6, 3), (2, 5, 6, 3), {"ksize": [1, 3, 3, 1], "strides": unit(4), "padding": "SAME"}),
    (
        (2, 5, 6, 3),
        (2, 2, 2, 3),
        {"ksize": [1, 3, 3, 1], "strides": unit(4, 2, 2), "padding": "VALID"},
    ),
    (
        (1, 7, 5, 2),
        (1, 3, 3, 2),
        {"ksize": [1, 2, 1, 1], "strides": unit(4, 3, 2), "padding": "SAME"},
    ),
    ((1, 4, 3, 2), (1, 1, 1, 2), {"ksize": [1, 4, 3, 1], "strides": unit(4), "padding": "VALID"}),
)
POOLS_3D = (
    (
        (1, 4, 3, 4, 2),
        (1, 2, 2, 2, 2),
        {"ksize": [1, 2, 2, 2, 1], "strides": unit(5, 2, 2, 2), "padding": "SAME"},
    ),
    (
        (1, 4, 3, 4, 2),
        (1, 3, 2, 3, 2),
        {"ksize": [1, 2, 2, 2, 1], "strides": unit(5), "padding": "VALID"},
    ),
)


def pooled(x: np.ndarray, y: tuple[int, ...], attrs: dict[str, Any]) -> np.ndarray:
    """The maxima of x over the windows; what the gradient ops take as their original output."""
    ksize, strides = attrs["ksize"], attrs["strides"]
    result = np.empty(y, x.dtype)
    before = [0] * len(y)
    if attrs["padding"] == "SAME":
        before = [
            max((y[i] - 1) * strides[i] + ksize[i] - x.shape[i], 0) // 2 for i in range(len(y))
        ]
    for at in np.ndindex(y):
        corner = [at[i] * strides[i] - before[i] for i in range(len(y))]
        window = tuple(slice(max(c, 0), c + k) for c, k in zip(corner, ksize, strict=True))
        result[at] = x[window].max()
    return result


def pool_gradients(op: str, make: Any, x: Any, y: Any, attrs: dict[str, Any]) -> list[Sample]:
    values = some(make, *x)
    return [
        Sample(op + "Grad", values, pooled(values, y, attrs), some(make, *y, start=2), **attrs),
        Sample(op + "GradGrad", values, pooled(values, y, attrs), some(make, *x, start=2), **attrs),
    ]


def sizes_as_inputs(sample: Sample) -> Sample:
    attrs = dict(sample.attrs)
    sizes = i32(attrs.pop("ksize")), i32(attrs.pop("strides"))
    return Sample(sample.op + "V2", *sample.inputs, *sizes, **attrs)


POOLING: list[Sample] = [
    *[
        Sample(op, some(make, *x), **attrs)
        for op in ("MaxPool", "AvgPool", "MaxPoolWithArgmax")
        for make in (f32, f64)
        for x, _, attrs in POOLS
    ],
    *[Sample("MaxPool", some(make, *POOLS[0][0]), **POOLS[0][2]) for make in (f16, bf16)],
    *[Sample("AvgPool", some(make, *POOLS[0][0]), **POOLS[0][2]) for make in (f16, bf16)],
    *[
        Sample("MaxPool", make(np.arange(48).reshape(1, 4, 6, 2) * 7 % 31), **POOLS[1][2])
        for make in (i8, u8, i32, i64)
    ],
    *[
        sample
        for make in (f32, f64)
        for p in POOLS
        for sample in pool_gradients("MaxPool", make, *p)
    ],
    *[
        sizes_as_inputs(sample)
        for x, y, attrs in POOLS[:3]
        for sample in (
            Sample("MaxPool", some(f32, *x), **attrs),
            *pool_gradients("MaxPool", f32, x, y, attrs),
        )
    ],
    *[
        Sample("AvgPoolGrad", i32(x), some(make, *y), **attrs)
        for make in (f32, f64)
        for x, y, attrs in POOLS
    ],
    *[
        Sample(op, some(f32, *x), **attrs)
        for op in ("MaxPool3D", "AvgPool3D")
        for x, _, attrs in POOLS_3D
    ],
    Sample("AvgPool3D", some(f64, *POOLS_3D[0][0]), **POOLS_3D[0][2]),
    *[sample for p in POOLS_3D for sample in pool_gradients("MaxPool3D", f32, *p)],
    *[
        Sample("AvgPool3DGrad", i32(x), some(make, *y), **attrs)
        for make in (f32, f64)
        for x, y, attrs in POOLS_3D
    ],
    Sample("MaxPool", f32(np.ones((1, 4, 4, 1))), **POOLS[0][2]),
    Sample(
        "MaxPool", some(f32, 1, 2, 2, 4), ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="SAME"
    ),
    Sample("MaxPool", f32([], (0, 4, 4, 1)), **POOLS[0][2]),
    Sample("MaxPool", some(f32, 2, 4, 6), **POOLS[0][2]),
    Sample("AvgPool", some(f32, 2, 4, 6, 3), ksize=[1, 2, 2], strides=unit(4), padding="SAME"),
    *[
        Sample("MaxPoolWithArgmax", some(f32, *POOLS[0][0]), **POOLS[0][2], **more)
        for more in ({"include_batch_in_index": True}, {"Targmax": "int32"})
    ],
    *[
        Sample(
            "MaxPoolGradWithArgmax",
            some(f32, 2, 2, 4, 1),
            f32([[[[1.0], [2.0]]], [[[3.0], [4.0]]]]),
            at([[[[0], [3]]], [[[5], [5]]]]),
            ksize=[1, 2, 2, 1],
            strides=unit(4, 2, 2),
            padding="VALID",
        )
        for at in (i64,)
    ],
    Sample(
        "MaxPoolGradWithArgmax",
        some(f32, 2, 2, 4, 1),
        f32([[[[1.0], [2.0]]], [[[3.0], [4.0]]]]),
        i64([[[[0], [3]]], [[[13], [15]]]]),
        ksize=[1, 2, 2, 1],
        strides=unit(4, 2, 2),
        padding="VALID",
        include_batch_in_index=True,
    ),
]

GRAY = {"strides": unit(4), "rates": unit(4), "padding": "SAME"}
DILATIONS = (
    ((2, 4, 5, 2), (2, 3, 2), (2, 4, 5, 2), GRAY),
    ((2, 4, 5, 2), (2, 3, 2), (2, 3, 3, 2), GRAY | {"padding": "VALID"}),
    ((2, 4, 5, 2), (2, 3, 2), (2, 2, 3, 2), GRAY | {"strides": unit(4, 2, 2)}),
    ((2, 4, 5, 2), (2, 2, 2), (2, 2, 3, 2), GRAY | {"rates": unit(4, 2, 2), "padding": "VALID"}),
)
MORPHOLOGY: list[Sample] = [
    *[
        Sample("Dilation2D", some(make, *x), some(make, *w, start=5), **attrs)
        for make in (f32, f64)
        for x, w, _, attrs in DILATIONS
    ],
    Sample("Dilation2D", some(f16, *DILATIONS[0][0]), some(f16, *DILATIONS[0][1]), **GRAY),
    Sample(
        "Dilation2D",
        i32(np.arange(12).reshape(1, 3, 4, 1) * 5 % 7 - 9),
        i32([[[1], [-2]], [[0], [3]]]),
        grad=False,
        **GRAY,
    ),
    *[
        Sample(op, some(f32, *x), some(f32, *w, start=5), some(f32, *y, start=2), **attrs)
        for op in ("Dilation2DBackpropInput", "Dilation2DBackpropFilter")
        for x, w, y, attrs in DILATIONS
    ],
    Sample("Dilation2D", some(f32, 1, 3, 3, 2), some(f32, 2, 2, 3), **GRAY),
]

FORMATS: list[Sample] = [
    Sample("DataFormatDimMap", i32([-4, -1, 0, 1, 2, 3])),
    Sample("DataFormatDimMap", i64([[1], [3]]), src_format="NHWC", dst_format="HWNC"),
    Sample("DataFormatDimMap", i32([4, -2]), src_format="NDHWC", dst_format="NCDHW"),
    Sample("DataFormatDimMap", i32([0]), src_format="NHWC", dst_format="NHHC"),
    Sample("DataFormatVecPermute", i32([7, 4, 9, 3])),
    Sample("DataFormatVecPermute", i64([[7, 4], [9, 3], [4, 5], [5, 1]])),
    Sample("DataFormatVecPermute", i32([7, 4, 9, 3]), src_format="NCHW", dst_format="HWCN"),
    Sample("DataFormatVecPermute", i32([7, 4])),
    Sample("DataFormatVecPermute", i32([7, 4, 9])),
]

SKIPS: list[Skip] = [
    *[
        skip(op, "no longer runs in TensorFlow 2; shares its kernel with " + op + "V2")
        for op in ("Conv3DBackpropInput", "Conv3DBackpropFilter")
    ],
    skip(
        "MaxPoolGradGradWithArgmax", "TensorFlow has no CPU kernel; see tests/ops/nn/test_conv.py"
    ),
]

SAMPLES: list[Sample | Skip] = [*CONVOLUTIONS, *POOLING, *MORPHOLOGY, *FORMATS, *SKIPS]
