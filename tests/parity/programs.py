"""Small whole programs, written once and built with either library.

Each takes the module that plays `tf` and returns the steps to run: TensorFlow records what they
give (`record_graphdefs.py`), weft runs TensorFlow's graphs and TensorFlow runs weft's.
No program draws unseeded random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

PROGRAMS: dict[str, Callable[[Any], list[Step]]] = {}


@dataclass
class Step:
    """One `Session.run`: tensors and operations to fetch, values to feed."""

    fetches: list[Any]
    feeds: dict[Any, Any] = field(default_factory=dict)


def program(build: Callable[[Any], list[Step]]) -> Callable[[Any], list[Step]]:
    PROGRAMS[build.__name__] = build
    return build


def ramp(*shape: int, low: float = -1.0, high: float = 1.0) -> np.ndarray:
    count = int(np.prod(shape))
    order = np.arange(count) * 7919 % max(count, 1)  # not monotonous along any axis
    return (low + (high - low) * order / max(count - 1, 1)).reshape(shape).astype(np.float32)


@program
def arithmetic(tf: Any) -> list[Step]:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.placeholder(tf.float32, [3], name="y")
    total = (x + y) * 2.0 - x / (tf.abs(y) + 1.0)
    power = tf.pow(tf.abs(x), 1.5) + tf.sqrt(tf.square(y) + 1.0)
    unary = tf.exp(x) + tf.log1p(tf.abs(x)) + tf.tanh(x) * tf.sigmoid(y) - tf.rsqrt(x * x + 0.5)
    chosen = tf.where(tf.greater(x, x * 0.0 + y), total, -power)
    bounded = tf.clip_by_value(tf.maximum(x, y) - tf.minimum(x, 0.25), -0.5, 0.5)
    whole = tf.cast(tf.floor(x * 10.0), tf.int32)
    division = [whole // 3, whole % 3, tf.floormod(whole, -4), tf.truediv(whole, 7)]
    logic = tf.logical_or(tf.equal(whole, 0), tf.logical_not(x >= y))
    feeds = {x: ramp(4, 3), y: ramp(3, low=-0.5)}
    return [
        Step([total, power, unary, chosen, bounded], feeds),
        Step([*division, logic], feeds),
        Step([total], {x: ramp(1, 3), y: ramp(3)}),
    ]


def _mlp(tf: Any, use_resource: bool, make_optimizer: Callable[[], Any]) -> list[Step]:
    x = tf.placeholder(tf.float32, [None, 6], name="x")
    labels = tf.placeholder(tf.int32, [None], name="labels")
    with tf.variable_scope("net", use_resource=use_resource):
        w1 = tf.get_variable("w1", initializer=tf.constant(ramp(6, 8)))
        b1 = tf.get_variable("b1", [8], initializer=tf.zeros_initializer())
        w2 = tf.get_variable("w2", initializer=tf.constant(ramp(8, 4)))
        b2 = tf.get_variable("b2", [4], initializer=tf.constant_initializer(0.25))
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w1), b1), name="hidden")
    logits = tf.matmul(hidden, w2) + b2
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss") + 0.01 * tf.nn.l2_loss(w1)
    grads = tf.gradients(loss, [w1, b1, w2, b2, x])
    train = make_optimizer().minimize(loss)
    feeds = {x: ramp(5, 6), labels: np.array([0, 3, 1, 2, 3], np.int32)}
    return [
        Step([tf.global_variables_initializer()]),
        Step([logits, loss, *grads], feeds),
        *[Step([train], feeds)] * 3,
        Step([loss, w1, b1, w2, b2], feeds),
    ]


@program
def mlp_reference_variables(tf: Any) -> list[Step]:
    return _mlp(tf, False, lambda: tf.train.GradientDescentOptimizer(0.5))


@program
def mlp_resource_variables(tf: Any) -> list[Step]:
    return _mlp(tf, True, lambda: tf.train.AdamOptimizer(0.05))


@program
def slicing(tf: Any) -> list[Step]:
    x = tf.placeholder(tf.float32, [4, None, 6], name="x")
    i = tf.placeholder(tf.int32, [], name="i")
    pieces = [
        x[0],
        x[..., -1],
        x[1:3, ::2, tf.newaxis, ::-1],
        x[:, i, 2:],
        x[i:, :-1],
        tf.slice(x, [1, 0, 2], [2, -1, 3]),
    ]
    parts = tf.split(x, 3, axis=2)
    joined = tf.concat([parts[2], parts[0]], axis=-1)
    stacked = tf.stack(tf.unstack(x, axis=0)[1:3], axis=1)
    moved = tf.transpose(tf.pad(x, [[0, 0], [1, 0], [0, 2]], constant_values=7.0), [2, 0, 1])
    tiled = tf.tile(tf.expand_dims(x[:, 0], 1), [1, 2, 1])
    picked = tf.gather(x, [3, 0, 0], axis=2) + tf.gather(x, [[1]], axis=0)[0][:1, :, :3]
    pointed = tf.gather_nd(x, [[0, 1], [3, 0]])
    back = tf.gradients([joined, stacked, moved, tiled, picked, *pieces], x)[0]
    hot = tf.one_hot([0, 2, -1], 3, on_value=5.0) + tf.reverse(tf.constant(ramp(3, 3)), [1])
    feeds = {x: ramp(4, 3, 6), i: np.int32(1)}
    return [
        Step(pieces, feeds),
        Step([joined, stacked, moved, tiled, picked, pointed, back, hot], feeds),
    ]


@program
def strings(tf: Any) -> list[Step]:
    words = tf.placeholder(tf.string, [None], name="words")
    constant = tf.constant([[b"left", b"right"], [b"\x00\xff", b""]])
    kept = tf.Variable([b"kept"], name="kept")
    same = [tf.equal(words, "weft"), tf.where(tf.not_equal(words, "weft"), words, words[::-1])]
    joined = tf.concat([words, constant[:, 0], kept], 0)
    feeds = {words: np.array([b"warp", b"weft"], object)}
    return [
        Step([tf.global_variables_initializer()]),
        Step([constant, *same, joined], feeds),
        Step([tf.reshape(constant, [4])[1:], tf.gather(joined, [4, 0]), tf.shape(joined)], feeds),
        Step([tf.assign(kept, [b"new"]), tf.transpose(tf.tile(constant, [1, 2]))]),
    ]


@program
def convolution(tf: Any) -> list[Step]:
    images = tf.placeholder(tf.float32, [None, 7, 7, 2], name="images")
    kernel = tf.Variable(ramp(3, 3, 2, 4), name="kernel")
    bias = tf.Variable(np.linspace(0.0, 0.3, 4, dtype=np.float32), name="bias")
    features = tf.nn.conv2d(images, kernel, strides=[1, 2, 2, 1], padding="SAME")
    features = tf.nn.relu(tf.nn.bias_add(features, bias))
    pooled = tf.nn.max_pool(features, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    smooth = tf.nn.avg_pool(images, [1, 3, 3, 1], [1, 2, 2, 1], "VALID")
    dilated = tf.nn.conv2d(images, kernel, [1, 1, 1, 1], "VALID", dilations=[1, 2, 2, 1])
    flat = tf.reshape(pooled, [-1, 2 * 2 * 4])
    loss = tf.reduce_sum(tf.square(flat)) + tf.reduce_sum(smooth)
    grads = tf.gradients(loss, [kernel, bias, images])
    feeds = {images: ramp(2, 7, 7, 2)}
    return [
        Step([tf.global_variables_initializer()]),
        Step([features, pooled, smooth, dilated, flat, loss, *grads], feeds),
    ]


@program
def reductions(tf: Any) -> list[Step]:
    x = tf.placeholder(tf.float32, [None, None, 3], name="x")
    values = [
        tf.reduce_sum(x),
        tf.reduce_mean(x, axis=[0, -1], keepdims=True),
        tf.reduce_max(x, axis=1),
        tf.reduce_min(x, axis=[1, 2]),
        tf.reduce_prod(x + 2.0, axis=2),
        tf.reduce_logsumexp(x, axis=1),
        tf.norm(x, axis=2),
        tf.cumsum(x, axis=1, exclusive=True, reverse=True),
    ]
    flags = [tf.reduce_all(x > -2.0), tf.reduce_any(x > 0.9, axis=0)]
    places = [tf.argmax(x, axis=1), tf.argmin(x, axis=-1, output_type=tf.int32)]
    mean, variance = tf.nn.moments(x, axes=[0, 1])
    segments = tf.unsorted_segment_sum(x[0], [1, 0, 1, 1], 3)
    back = tf.gradients([*values, mean, variance, segments], x)[0]
    feeds = {x: ramp(2, 4, 3)}
    return [Step(values, feeds), Step([*flags, *places, mean, variance, segments, back], feeds)]


@program
def dynamic_shapes(tf: Any) -> list[Step]:
    x = tf.placeholder(tf.float32, name="x")
    rows = tf.placeholder_with_default(tf.constant(2), [], name="rows")
    shape = tf.shape(x)
    flat = tf.reshape(x, [-1, shape[-1]])
    filled = tf.fill([rows, shape[0]], 1.5) + tf.zeros([rows, 1])
    counted = tf.range(0, rows * 3, 2)
    squeezed = tf.squeeze(tf.expand_dims(flat, 0), [0])
    like = tf.ones_like(x) + tf.zeros_like(flat)[0, 0]
    sizes = [shape, tf.size(x), tf.rank(x)]
    spread = tf.broadcast_to(flat[:1], tf.stack([rows, shape[-1]]))
    back = tf.gradients([squeezed, spread], x)[0]
    return [
        Step([flat, filled, counted, squeezed, like, *sizes, spread, back], {x: ramp(2, 2, 3)}),
        Step([flat, filled, counted, spread], {x: ramp(5, 1), rows: np.int32(3)}),
    ]


def _embedding(tf: Any, use_resource: bool, make_optimizer: Callable[[], Any]) -> list[Step]:
    ids = tf.placeholder(tf.int32, [None], name="ids")
    table = tf.get_variable("table", initializer=tf.constant(ramp(6, 3)), use_resource=use_resource)
    rows = tf.nn.embedding_lookup(table, ids)
    loss = tf.reduce_sum(tf.square(rows - 0.5))
    dense = tf.convert_to_tensor(tf.gradients(loss, table)[0])
    train = make_optimizer().minimize(loss)
    bumped = tf.scatter_add(table, [0, 0], ramp(2, 3))
    feeds = {ids: np.array([4, 1, 4], np.int32)}
    return [
        Step([tf.global_variables_initializer()]),
        Step([rows, loss, dense], feeds),
        *[Step([train], feeds)] * 2,
        Step([bumped]),
        Step([table]),
    ]


@program
def embedding_reference(tf: Any) -> list[Step]:
    return _embedding(tf, False, lambda: tf.train.GradientDescentOptimizer(0.1))


@program
def embedding_resource(tf: Any) -> list[Step]:
    return _embedding(tf, True, lambda: tf.train.AdamOptimizer(0.1))


@program
def classification(tf: Any) -> list[Step]:
    logits = tf.placeholder(tf.float32, [None, 5], name="logits")
    targets = tf.placeholder(tf.float32, [None, 5], name="targets")
    soft = [tf.nn.softmax(logits), tf.nn.log_softmax(logits)]
    losses = [
        tf.nn.softmax_cross_entropy_with_logits_v2(labels=targets, logits=logits),
        tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits),
    ]
    bent = [
        tf.nn.elu(logits),
        tf.nn.softplus(logits),
        tf.nn.leaky_relu(logits),
        tf.nn.relu6(logits),
    ]
    best, places = tf.nn.top_k(logits, 3)
    right = tf.nn.in_top_k(logits, tf.argmax(targets, 1), 2)
    normal = tf.nn.l2_normalize(logits, 1)
    back = tf.gradients([*soft, *losses, *bent, best, normal], [logits])[0]
    feeds = {
        logits: ramp(3, 5, low=-4.0, high=4.0),
        targets: np.eye(5, dtype=np.float32)[[1, 4, 0]],
    }
    return [Step([*soft, *losses, *bent, best, places, right, normal, back], feeds)]


@program
def ordering(tf: Any) -> list[Step]:
    steps = []
    count = tf.Variable(0, name="count", trainable=False)
    total = tf.get_variable("total", [2], tf.float64, tf.ones_initializer(), use_resource=True)
    with tf.control_dependencies([count.assign_add(1)]):
        doubled = total.assign(tf.identity(total) * 2.0)
        with tf.control_dependencies([doubled]):
            seen = tf.identity(count)
    both = tf.group(tf.assign_sub(count, 5), total.assign_add([0.5, -0.5]))
    steps.append(Step([tf.global_variables_initializer(), tf.no_op()]))
    steps.append(Step([seen]))
    steps.append(Step([both]))
    steps.append(Step([count, total.read_value() if hasattr(total, "read_value") else total]))
    steps.append(Step([tf.is_variable_initialized(count)]))
    return steps


@program
def element_types(tf: Any) -> list[Step]:
    constants = [
        tf.constant(ramp(3).astype(np.float16)),
        tf.constant(ramp(3).astype(ml_dtypes.bfloat16)),
        tf.constant(np.array([1 + 2j, -3j], np.complex64)),
        tf.constant(np.array([2**40, -1])),
        tf.constant(np.array([[250, 3]], np.uint8)),
        tf.constant([-128, 127], tf.int8),
        tf.constant([True, False, True]),
        tf.zeros([2, 0, 3], tf.float64),
        tf.constant(1.25, shape=[2, 3]),
        tf.constant([], tf.int32),
        tf.constant(np.full([3, 40], 7, np.int16)),
    ]
    x = tf.placeholder(tf.float64, [3], name="x")
    names = ("half", "bfloat16", "float32", "int8", "int32", "int64", "uint8", "bool", "complex64")
    casts = [tf.cast(x, getattr(tf, name)) for name in names]
    half = tf.cast(x, tf.half) * 3 + constants[0]
    brain = tf.cast(x, tf.bfloat16) * constants[1]
    turned = constants[2] * tf.conj(constants[2])
    parts = [tf.real(turned), tf.imag(turned), tf.abs(constants[2])]
    feeds = {x: np.array([0.0, 1.7, 99.5])}
    return [
        Step([tf.identity(c) for c in constants]),
        Step([*casts, half, brain, turned, *parts], feeds),
    ]


@program
def seeded_random(tf: Any) -> list[Step]:
    tf.set_random_seed(87)
    draws = [
        tf.random_uniform([2, 3], seed=1),
        tf.random_normal([5], mean=2.0, stddev=0.5, seed=2),
        tf.truncated_normal([4, 2], seed=3),
        tf.random_uniform([7], minval=-5, maxval=100, dtype=tf.int32, seed=4),
    ]
    return [Step(draws), Step(draws)]


@program
def branches(tf: Any) -> list[Step]:
    x = tf.placeholder(tf.float32, [2], name="x")
    take = tf.placeholder(tf.bool, [], name="take")
    total = tf.Variable(1.0, name="total")
    chosen = tf.cond(take, lambda: tf.exp(x), lambda: x * 3.0)
    inner = tf.cond(take, lambda: tf.cond(x[0] > 0.0, lambda: x[0], lambda: -x[1]), lambda: x[1])
    pair = tf.cond(take, lambda: (x[0], tf.constant(1)), lambda: (x[1] * x[1], tf.constant(2)))
    with tf.control_dependencies([tf.cond(take, lambda: total.assign_add(2.0), lambda: 0.0)]):
        counted = tf.identity(total)
    back = tf.gradients([chosen, inner, pair[0]], x)[0]
    values = np.array([0.5, -2.0], np.float32)
    fetches = [chosen, inner, *pair, back, counted]
    return [
        Step([tf.global_variables_initializer()]),
        Step(fetches, {x: values, take: np.bool_(True)}),
        Step(fetches, {x: values, take: np.bool_(False)}),
        Step(fetches, {x: -values, take: np.bool_(True)}),
    ]


@program
def loops(tf: Any) -> list[Step]:
    x = tf.placeholder(tf.float32, [2], name="x")
    n = tf.placeholder(tf.int32, [], name="n")
    w = tf.get_variable("w", initializer=tf.constant([0.5, 0.75]), use_resource=True)
    count, power = tf.while_loop(
        lambda i, v: i < n, lambda i, v: (i + 1, v * w + tf.sin(v)), [tf.constant(0), x]
    )

    def outer(i: Any, total: Any) -> Any:
        _, inside = tf.while_loop(
            lambda j, t: j <= i, lambda j, t: (j + 1, t + tf.cast(j, tf.float32) * x), [0, total]
        )
        return i + 1, tf.cond(i > 1, lambda: inside * 2.0, lambda: inside)

    nested = tf.while_loop(lambda i, total: i < n, outer, [0, tf.zeros([2])])[1]
    grown = tf.while_loop(
        lambda v: tf.shape(v)[0] < 2 * n,
        lambda v: tf.concat([v, v[:1] * 0.5], 0),
        [x],
        shape_invariants=[tf.TensorShape([None])],
    )
    back = tf.gradients([power, nested], [x, w])
    values = np.array([0.5, -2.0], np.float32)
    fetches = [count, power, nested, grown, *back]
    return [
        Step([tf.global_variables_initializer()]),
        Step(fetches, {x: values, n: np.int32(4)}),
        Step(fetches, {x: values, n: np.int32(1)}),
        Step([count, power, nested, *back], {x: -values, n: np.int32(0)}),
    ]


@program
def tensor_arrays(tf: Any) -> list[Step]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    n = tf.shape(x)[0]
    rows = tf.TensorArray(tf.float32, n, clear_after_read=False).unstack(x)
    sums = tf.TensorArray(tf.float32, n, element_shape=[2])

    def body(i: Any, carry: Any, out: Any) -> Any:
        carry = carry * 0.5 + rows.read(i)
        return i + 1, carry, out.write(i, carry)

    start = tf.zeros([2])
    _, last, sums = tf.while_loop(lambda i, c, o: i < n, body, [0, start, sums])
    stacked = sums.stack()
    joined = tf.TensorArray(tf.float32, 2, infer_shape=False).split(x, [1, n - 1]).concat()
    picked = rows.gather([2, 0])
    back = tf.gradients([stacked, last, joined, picked], x)[0]
    return [Step([stacked, last, joined, picked, rows.size(), back], {x: ramp(4, 2)})]
