"""Convolutions and pools: every lowering does the same, and so does every data format."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import machine
from weft.ops.nn import conv_lowering
from weft.ops.nn.windows import window_of

RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def run(*tensors: Any) -> Any:
    with tf.Session() as session:
        return session.run(list(tensors))


# window, stride, dilation, padding
SHAPES = [
    ((3, 3), 1, 1, "SAME"),
    ((5, 5), 1, 1, "SAME"),
    ((3, 1), 1, 1, "VALID"),
    ((2, 4), 1, 1, "SAME"),
    ((3, 3), 2, 1, "SAME"),
    ((3, 3), 1, 2, "VALID"),
    ((1, 1), 2, 1, "VALID"),
    ((11, 9), 1, 1, "VALID"),
]


@pytest.mark.parametrize("task", ["forward", "input", "filter"])
@pytest.mark.parametrize("size, stride, dilation, padding", SHAPES)
def test_lowerings_agree(
    task: str, size: Any, stride: int, dilation: int, padding: str, monkeypatch: Any
) -> None:
    window = window_of((11, 9), size, (stride,) * 2, (dilation,) * 2, padding)
    x, w = normal(2, 11, 9, 20), normal(*size, 20, 24)
    g = normal(2, *window.output, 24)
    compute = {
        "forward": lambda: conv_lowering.convolve(x, w, window),
        "input": lambda: conv_lowering.convolve_input(w, g, window, 20),
        "filter": lambda: conv_lowering.convolve_filter(x, g, window, w.shape),
    }[task]
    import jax

    lowerings = [conv_lowering.XLA, conv_lowering.PATCHES]
    if conv_lowering._covers_all(window) or size == (1, 1):
        lowerings.append(conv_lowering.MATMUL)
    if window.plain and set(size) <= {1, 3, 5}:
        lowerings.append(conv_lowering.WINOGRAD)
    results = {}
    for lowering in lowerings:
        monkeypatch.setattr(conv_lowering, "choose", lambda *_, to=lowering: to)
        results[lowering] = np.asarray(jax.jit(compute)())
    limit = 1e-5 * np.abs(results["xla"]).max()
    for lowering, result in results.items():
        assert np.abs(result - results["xla"]).max() < limit, lowering


@pytest.mark.parametrize(
    ("input", "size", "stride", "filled"),
    [
        ((11, 9), (3, 9), 1, 1),
        ((11, 9), (11, 2), 2, 0),
        ((4, 6, 5), (2, 6, 5), 1, 1),
        ((11, 9), (11, 9), 1, None),
        ((11, 1), (3, 1), 1, None),
    ],
)
@pytest.mark.parametrize("channels", [1, 3])
def test_an_axis_that_windows_fill_becomes_channels(
    input: Any, size: Any, stride: int, filled: int | None, channels: int
) -> None:
    import jax

    window = window_of(input, size, (stride,) * len(size), (1,) * len(size), "VALID")
    x, w = normal(2, *input, channels), normal(*size, channels, 4)
    assert conv_lowering._filled_axis(window) == filled
    y, transpose = jax.vjp(lambda x, w: conv_lowering._xla(x, w, window), x, w)
    g = normal(*y.shape)
    of_x, of_w = transpose(g)
    for found, wanted in (
        (conv_lowering.convolve(x, w, window), y),
        (conv_lowering.convolve_input(w, g, window, channels), of_x),
        (conv_lowering.convolve_filter(x, g, window, w.shape), of_w),
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "batch, size, channels, on_arm, on_x86",
    [
        (8, 28, 256, "winograd", "winograd"),
        (8, 28, 64, "winograd", "xla"),
        (8, 28, 4, "xla", "xla"),
        (1, 7, 512, "xla", "xla"),
        (1, 9, 20, "xla", "xla"),
    ],
)
def test_winograd_only_where_it_pays(
    batch: int, size: int, channels: int, on_arm: str, on_x86: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = window_of((size, size), (3, 3), (1, 1), (1, 1), "SAME")
    for is_arm, expected in ((True, on_arm), (False, on_x86)):
        monkeypatch.setattr(machine, "IS_ARM", is_arm)
        assert conv_lowering.choose("forward", window, batch, channels, channels) == expected


@pytest.mark.parametrize(
    "task, batch, channels, stride, expected",
    [
        ("filter", 1, 64, 1, "winograd"),
        ("filter", 4, 64, 2, "patches"),
        ("filter", 32, 64, 1, "xla"),
        ("input", 32, 3, 1, "patches"),
        ("input", 32, 64, 1, "xla"),
        ("input", 32, 64, 2, "patches"),
        ("forward", 32, 64, 2, "xla"),
    ],
)
def test_on_x86_products_replace_what_xla_is_slow_at(
    task: str, batch: int, channels: int, stride: int, expected: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(machine, "IS_ARM", False)
    window = window_of((28, 28), (3, 3), (stride, stride), (1, 1), "SAME")
    assert conv_lowering.choose(task, window, batch, channels, 64) == expected


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("multiplier", [1, 3])
@pytest.mark.parametrize("most", [49, 5])
def test_depthwise_by_taps(stride: int, multiplier: int, most: int, monkeypatch: Any) -> None:
    import jax

    monkeypatch.setattr(conv_lowering, "_MANY_TAPS", most)  # beyond, by rows
    window = window_of((9, 8), (3, 2), (stride, stride), (1, 1), "SAME")
    x, w = normal(2, 9, 8, 4), normal(3, 2, 4, multiplier)
    g = normal(2, *window.output, 4 * multiplier)

    def compute() -> Any:
        return (
            conv_lowering.depthwise(x, w, window),
            conv_lowering.depthwise_input(w, g, window),
            conv_lowering.depthwise_filter(x, g, window, w.shape),
        )

    by_xla = jax.jit(compute)()
    monkeypatch.setattr(conv_lowering, "FEW", 0)
    for ours, theirs in zip(jax.jit(lambda: compute())(), by_xla, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)


def test_a_large_depthwise_window_is_not_written_out() -> None:
    import jax

    window = window_of((40, 40), (11, 11), (1, 1), (1, 1), "VALID")
    x, w = normal(1, 40, 40, 3), normal(11, 11, 3, 1)
    program = str(jax.make_jaxpr(lambda x, w: conv_lowering.depthwise(x, w, window))(x, w))
    assert program.count(" mul ") < 20


def test_groups_of_channels() -> None:
    x, w = normal(2, 6, 5, 4), normal(3, 3, 2, 6)
    grouped = tf.nn.conv2d(x, w, 1, "SAME")
    halves = [
        tf.nn.conv2d(x[..., i : i + 2], w[..., j : j + 3], 1, "SAME") for i, j in [(0, 0), (2, 3)]
    ]
    grads = tf.gradients(grouped, [grouped.op.inputs[0], grouped.op.inputs[1]], normal(2, 6, 5, 6))
    together, *parts, dx, dw = run(grouped, *halves, *grads)
    np.testing.assert_allclose(together, np.concatenate(parts, -1), rtol=1e-4, atol=1e-4)
    assert dx.shape == x.shape and dw.shape == w.shape


FIRST = {"NHWC": "NCHW", "NDHWC": "NCDHW"}


def moved(values: Any) -> list[Any]:
    """Per-axis lists with the channels' entry second."""
    return [values[0], values[-1], *values[1:-1]]


CALLS = {
    "conv2d": lambda x, f, **o: tf.nn.conv2d(
        x, normal_filter(3, 2, 3, 4), padding="SAME", data_format=f, **o
    ),
    "depthwise": lambda x, f, **o: tf.nn.depthwise_conv2d_native(
        x, normal_filter(3, 2, 3, 2), padding="VALID", data_format=f, **o
    ),
    "conv3d": lambda x, f, **o: tf.nn.conv3d(
        x, normal_filter(2, 2, 2, 3, 4), padding="SAME", data_format=f, **o
    ),
}


def normal_filter(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)).reshape(shape) % 7 - 3).astype(np.float32)


@pytest.mark.parametrize("name", CALLS)
def test_convolution_of_channels_first(name: str) -> None:
    rank = 5 if name == "conv3d" else 4
    x = normal(2, *(5, 6, 4)[: rank - 2], 3)
    strides = [1, *(2,) * (rank - 2), 1]
    last, first = ("NDHWC", "NCDHW") if rank == 5 else ("NHWC", "NCHW")
    here, there = tf.constant(x), tf.constant(np.moveaxis(x, -1, 1))
    y = CALLS[name](here, last, strides=strides)
    z = CALLS[name](there, first, strides=moved(strides))
    results = run(y, z, tf.gradients(y * y, here)[0], tf.gradients(z * z, there)[0])
    y, z, dy, dz = results
    np.testing.assert_allclose(np.moveaxis(z, 1, -1), y, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.moveaxis(dz, 1, -1), dy, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("pool", ["max_pool", "avg_pool", "max_pool3d", "avg_pool3d"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_pool_of_channels_first(pool: str, padding: str) -> None:
    rank = 5 if pool.endswith("3d") else 4
    x = normal(2, *(5, 6, 4)[: rank - 2], 3)
    last, first = ("NDHWC", "NCDHW") if rank == 5 else ("NHWC", "NCHW")
    here, there = tf.constant(x), tf.constant(np.moveaxis(x, -1, 1))
    call = getattr(tf.nn, pool)
    y = call(here, 3, 2, padding, data_format=last)
    z = call(there, 3, 2, padding, data_format=first)
    y, z, dy, dz = run(y, z, tf.gradients(y * y, here)[0], tf.gradients(z * z, there)[0])
    np.testing.assert_allclose(np.moveaxis(z, 1, -1), y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.moveaxis(dz, 1, -1), dy, rtol=1e-5, atol=1e-6)


def test_unpooling_takes_any_positions() -> None:
    x, where = normal(1, 2, 2, 1), np.array([[[[3]]]])
    back = tf.raw_ops.MaxPoolGradWithArgmax(
        input=x,
        grad=np.array([[[[5.0]]]], np.float32),
        argmax=where,
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )
    taken = tf.raw_ops.MaxPoolGradGradWithArgmax(
        input=x,
        grad=x,
        argmax=where,
        ksize=[1, 2, 2, 1],
        strides=[1, 2, 2, 1],
        padding="VALID",
    )
    back, taken = run(back, taken)
    assert back.ravel().tolist() == [0, 0, 0, 5] and taken.item() == x[0, 1, 1, 0]


def test_older_gradients_of_volumes() -> None:
    x, w = normal(1, 3, 4, 3, 2), normal(2, 2, 3, 2, 3)
    y = tf.nn.conv3d(x, w, [1] * 5, "SAME")
    g = normal(*y.shape.as_list())
    older = [
        op(input=x, filter=w, out_backprop=g, strides=[1] * 5, padding="SAME")
        for op in (tf.raw_ops.Conv3DBackpropInput, tf.raw_ops.Conv3DBackpropFilter)
    ]
    newer = tf.gradients(y, list(y.op.inputs), g)
    a, b, c, d = run(*older, *newer)
    np.testing.assert_array_equal(a, c)
    np.testing.assert_array_equal(b, d)


def test_dilated_convolution_is_a_spread_out_one() -> None:
    x, w = normal(1, 9, 8, 2), normal(3, 3, 2, 3)
    spread = np.zeros((5, 5, 2, 3), np.float32)
    spread[::2, ::2] = w
    for padding in ("SAME", "VALID"):
        by_batches = tf.nn.atrous_conv2d(x, w, 2, padding)
        at_once = tf.nn.conv2d(x, w, 1, padding, dilations=2)
        plain = tf.nn.conv2d(x, spread, 1, padding)
        assert by_batches.op.type == "BatchToSpaceND"
        a, b, c = run(by_batches, at_once, plain)
        np.testing.assert_allclose(a, c, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(b, c, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transposed_convolution_is_the_transpose(padding: str) -> None:
    w = normal(3, 3, 2, 4)
    x = normal(1, 7, 6, 2)
    y = tf.nn.conv2d(x, w, 2, padding)
    g = normal(*y.shape.as_list())
    back = tf.nn.conv2d_transpose(g, w, x.shape, 2, padding)
    y, back = run(y, back)
    assert abs(np.sum(y * g) - np.sum(x * back)) < 1e-3 * abs(np.sum(y * g))
    assert tf.get_default_graph().get_operations()[-1].name.startswith("conv2d_transpose")


@pytest.mark.parametrize(
    ("length", "size", "stride", "padding", "edges"),
    [
        (32, 7, 2, (3, 3), (3, 3)),  # 2 behind would do, but cuDNN wants both ends alike
        (8, 1, 2, (0, 0), (0, 0)),  # the last position is not read; nothing is cut off
        (8, 3, 2, "SAME", (0, 1)),
        (9, 3, 1, "SAME", (1, 1)),
    ],
)
def test_padding_is_symmetric_where_it_may_be(length, size, stride, padding, edges) -> None:
    pads = None if padding == "SAME" else [padding]
    name = padding if pads is None else "EXPLICIT"
    window = window_of((length,), (size,), (stride,), (1,), name, pads)
    assert conv_lowering._edges(window) == [edges]


@pytest.mark.parametrize(
    ("stride", "dilation", "padding", "m"),
    [((1, 1), (1, 1), "SAME", 1), ((2, 1), (1, 1), "VALID", 2), ((1, 1), (2, 3), "SAME", 2),
     ((3, 2), (1, 1), "SAME", 3)],
)  # fmt: skip
def test_depthwise_filters_row_by_row(stride, dilation, padding, m):
    """The gradient that is added up by rows is the transpose of XLA's own convolution."""
    random = np.random.RandomState(0)
    x = random.randn(2, 11, 9, 4).astype(np.float32)
    window = window_of(x.shape[1:3], (3, 2), stride, dilation, padding)
    g = random.randn(2, *window.output, 4 * m).astype(np.float32)
    found = conv_lowering._depthwise_filter_by_rows(x, g, window, m)
    wanted = conv_lowering._transpose(
        lambda w: conv_lowering._xla(x, w, window), (3, 2, 1, 4 * m), g
    )
    np.testing.assert_allclose(found, np.reshape(wanted, [3, 2, 4, m]), rtol=1e-4, atol=1e-4)
