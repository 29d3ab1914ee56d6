"""Attention becomes one node, its gradients another; the results stay what they were."""

import math

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.ops.nn import attention_fused
from weft.passes.pipeline import Options, prepare
from weft.runtime.debug.dump import text

SHAPE = [2, 3, 4, 8]


def inputs(names: str, shape=SHAPE, dtype=tf.bfloat16):
    return [tf.placeholder(dtype, shape, name=name) for name in names]


def causal(length: int, dtype=tf.bfloat16):
    rows = tf.range(length)
    return (1 - tf.cast(rows[:, None] >= rows, dtype)) * -1e9


def attention(q, k, v, mask=None, scale=0.25):
    scores = tf.matmul(q, k, transpose_b=True, name="scores") * scale
    scores = scores if mask is None else scores + mask
    return tf.matmul(tf.nn.softmax(scores, name="p"), v, name="out")


def graph_of(fetches, feeds):
    (part,) = prepare(feeds, fetches, [], Options())
    return part.graph


def kinds(fetches, feeds):
    return sorted(node.type for node in graph_of(fetches, feeds).nodes if node.type[0] == "_")


def lines(fetches, feeds):
    shown = text(graph_of(fetches, feeds)).splitlines()
    return [line for line in shown if "Const" not in line and "_Arg" not in line]


def test_forward():
    q, k, v = inputs("qkv")
    assert lines([attention(q, k, v, causal(4))], [q, k, v]) == [
        "out/fused = _FusedAttention(_feed_0_q, _feed_1_k, _feed_2_v, mul/folded) -> bfloat16",
        "fetch out/fused",
    ]


def test_gradients():
    q, k, v, g = inputs("qkvg")
    out = attention(q, k, v, causal(4))
    fused = "gradients/out_grad/MatMul/fused"
    args = "_feed_0_q, _feed_1_k, _feed_2_v, mul/folded"
    assert lines([out, *tf.gradients(out, [q, k, v], g)], [q, k, v, g]) == [
        f"out/fused = _FusedAttention({args}) -> bfloat16",
        f"{fused} = _FusedAttentionGrad({args}, _feed_3_g) -> bfloat16 bfloat16 bfloat16",
        f"fetch out/fused, {fused}, {fused}:1, {fused}:2",
    ]


def test_gradients_with_groups_that_wait():
    """The gradients of a constant scale and mask, which nobody reads, go as well."""
    q, k, v = inputs("qkv")
    factors = [tf.get_variable(name, [8], tf.bfloat16) for name in "abc"]
    out = attention(*(x * f for x, f in zip((q, k, v), factors, strict=True)), causal(4))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(out * out))
    (part,) = prepare([q, k, v], [], [train], Options())
    found = [node.type for node in part.graph.nodes]
    assert found.count("_FusedAttention") == found.count("_FusedAttentionGrad") == 1
    assert not {"Softmax", "BatchMatMulV2", "Sub"} & set(found)


def attributes(fetch, feeds):
    return next(n for n in graph_of([fetch], feeds).nodes if n.type == "_FusedAttention").attrs


def test_attributes():
    q, k, v = inputs("qkv")
    plain = attributes(attention(q, k, v, scale=1), [q, k, v])
    assert (plain["Tmasks"], plain["scale"]) == ([], 1)
    assert not (plain["causal"] or plain["training"])
    masked = attributes(attention(q, k, v, causal(4)), [q, k, v])
    assert (masked["Tmasks"], masked["scale"], masked["causal"]) == ([tf.bfloat16], 0.25, True)
    divided = tf.matmul(q, k, transpose_b=True) / 4
    other = tf.matmul(tf.nn.softmax(tf.transpose(causal(4)) + divided), v)
    assert attributes(other, [q, k, v])["scale"] == 0.25
    assert not attributes(other, [q, k, v])["causal"]


def test_what_is_looked_at_stays():
    q, k, v = inputs("qkv")
    out = attention(q, k, v)
    graph = tf.get_default_graph()
    for name in ("scores", "p", "mul"):
        inside = graph.get_tensor_by_name(f"{name}:0")
        assert "_FusedAttention" not in kinds([out, inside], [q, k, v])
        assert "_FusedAttention" not in kinds([out, tf.reduce_max(inside)], [q, k, v])
    check = tf.check_numerics(graph.get_tensor_by_name("p:0"), "p")
    with tf.control_dependencies([check]):
        assert "_FusedAttention" not in kinds([tf.identity(out)], [q, k, v])


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_types(dtype):
    q, k, v = inputs("qkv", dtype=dtype)
    fused = "_FusedAttention" in kinds([attention(q, k, v)], [q, k, v])
    assert fused == (dtype != tf.float64)


def test_a_mask_that_is_learnt_stays():
    q, k, v, g = inputs("qkvg")
    (mask,) = inputs("m", [3, 4, 4])
    out = attention(q, k, v, mask)
    grads = tf.gradients(out, [q, mask], g)
    assert kinds([out, *grads], [q, k, v, g, mask]) == ["_Arg"] * 5
    assert "_FusedAttentionGrad" in kinds([out, grads[0]], [q, k, v, g, mask])


# ---- how programs spell it --------------------------------------------------------------------


def product(q, k):
    return tf.matmul(q, k, transpose_b=True)


def plain(q, k, v):
    return tf.matmul(tf.nn.softmax(product(q * 0.25, k)), v)


def bert(q, k, v):
    """A mask of what is padding, added after scaling."""
    seen = tf.cast(tf.sequence_mask([3, 64], 64), tf.bfloat16)[:, None, None, :]
    scores = tf.multiply(product(q, k), 1 / math.sqrt(16.0)) + (1.0 - seen) * -10000.0
    return tf.matmul(tf.nn.softmax(scores), v)


def gpt2(q, k, v):
    """A mask that is multiplied and subtracted, and a softmax by hand."""
    w = product(q, k) * tf.rsqrt(tf.cast(v.shape[-1].value, v.dtype))
    i, j = tf.range(64)[:, None], tf.range(64)
    b = tf.reshape(tf.cast(i >= j, w.dtype), [1, 1, 64, 64])
    w = w * b - tf.cast(1e10, w.dtype) * (1 - b)
    e = tf.exp(w - tf.reduce_max(w, axis=-1, keepdims=True))
    return tf.matmul(e / tf.reduce_sum(e, axis=-1, keepdims=True), v)


def tensor2tensor(q, k, v):
    """Queries that are scaled before, and a bias."""
    lower = tf.linalg.band_part(tf.ones([64, 64], tf.bfloat16), -1, 0)
    logits = product(q * 16**-0.5, k) + tf.reshape((1 - lower) * -1e9, [1, 1, 64, 64])
    return tf.matmul(tf.nn.softmax(logits, name="attention_weights"), v)


def divided(q, k, v):
    scores = product(q, k) / tf.sqrt(tf.cast(tf.shape(k)[-1], tf.bfloat16))
    return tf.matmul(tf.nn.softmax(scores), v)


def where(q, k, v):
    """Scores that do not count are replaced."""
    scores = product(q, k) / 4.0
    hidden = tf.equal(tf.linalg.band_part(tf.ones_like(scores), -1, 0), 0)
    return tf.matmul(tf.nn.softmax(tf.where(hidden, tf.ones_like(scores) * -1e9, scores)), v)


def where_seen(q, k, v):
    seen = tf.sequence_mask([3, 64], 64)[:, None, None, :]
    scores = tf.where_v2(seen, product(q, k) * 0.25, tf.constant(-1e9, tf.bfloat16))
    return tf.matmul(tf.nn.softmax(scores), v)


def softmax_in_float32(q, k, v):
    scores = tf.cast(product(q, k), tf.float32) * 0.25 + causal(64, tf.float32)
    return tf.matmul(tf.cast(tf.nn.softmax(scores), q.dtype), v)


def key_turned(q, k, v):
    return tf.matmul(tf.nn.softmax(tf.matmul(q, tf.transpose(k, [0, 1, 3, 2])) * 0.25), v)


SPELLINGS = [
    *(plain, bert, gpt2, tensor2tensor, divided, where, where_seen, softmax_in_float32),
    key_turned,
]
CAUSAL = {gpt2, tensor2tensor, where, softmax_in_float32}
# Of these the scale or the mask is computed in the step if the size of a batch is not known.
KNOWN_BATCH = {divided, where}


@pytest.mark.parametrize(
    ("spelling", "batch"),
    [(s, b) for s in SPELLINGS for b in (2, None) if b or s not in KNOWN_BATCH],
)
def test_spellings(spelling, batch):
    q, k, v, g = inputs("qkvg", [batch, *LONG[1:]])
    out = spelling(q, k, v)
    fetches, feeds = [out, *tf.gradients(out, [q, k, v], g)], [q, k, v, g]
    found = graph_of(fetches, feeds)
    fused = [node for node in found.nodes if node.type.startswith("_Fused")]
    assert [node.type for node in fused] == ["_FusedAttention", "_FusedAttentionGrad"]
    assert not {"Softmax", "Exp", "BatchMatMulV2"} & {node.type for node in found.nodes}
    assert all(node.attrs["causal"] == (spelling in CAUSAL) for node in fused)
    values_ = dict(zip(feeds, values("qkvg"), strict=True))
    for ours, plain in zip(run(fetches, values_, True), run(fetches, values_, False), strict=True):
        np.testing.assert_array_equal(ours, plain)


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_spellings_by_a_fused_kernel(monkeypatch, spelling):
    """jax's own attention stands in for cuDNN's, on the CPU."""
    monkeypatch.setattr(attention_fused, "flash", lambda: "xla")
    monkeypatch.setattr(attention_fused, "LEAST_SCORES", 1)
    q, k, v, g = inputs("qkvg", LONG)
    feeds = dict(zip([q, k, v, g], values("qkvg"), strict=True))
    out = spelling(q, k, v)
    fetches = [out, *tf.gradients(out, [q, k, v], g)]
    with tf.Session() as session:
        for _ in range(2):
            compiled = session.run(fetches, feeds)
    for ours, theirs in zip(compiled, run(fetches, feeds, False), strict=True):
        np.testing.assert_allclose(np.float32(ours), theirs, rtol=0.03, atol=0.05)


@pytest.mark.parametrize("gradients", ["q", "v", "kv"])
def test_only_some_gradients(gradients):
    tensors = dict(zip("qkvg", inputs("qkvg", LONG), strict=True))
    q, k, v, g = tensors.values()
    out = softmax_in_float32(q, k, v)
    fetches = [out, *tf.gradients(out, [tensors[name] for name in gradients], g)]
    assert kinds(fetches, [q, k, v, g])[-1] == "_FusedAttentionGrad"
    feeds = dict(zip([q, k, v, g], values("qkvg"), strict=True))
    for ours, plain in zip(run(fetches, feeds, True), run(fetches, feeds, False), strict=True):
        np.testing.assert_array_equal(ours, plain)


def test_a_long_mask_is_causal_too():
    shape = [1, 2, 1500, 16]
    q, k, v = inputs("qkv", shape)
    assert attributes(attention(q, k, v, causal(1500)), [q, k, v])["causal"]


def test_a_mask_that_is_scaled_too_stays():
    q, k, v = inputs("qkv", LONG)
    scores = (product(q, k) + causal(64)) * 0.25
    out = tf.matmul(tf.nn.softmax(scores), v)
    assert "_FusedAttention" not in kinds([out], [q, k, v])


LONG = [2, 2, 64, 16]  # enough to be compiled


def values(names: str):
    random = np.random.default_rng(5)
    dtype = tf.bfloat16.as_numpy_dtype
    return [random.standard_normal(LONG).astype(dtype) for _ in names]


def run(fetches, feeds, fuse: bool):
    config = tf.ConfigProto()
    if not fuse:
        config.graph_options.rewrite_options.disable_meta_optimizer = True
    with flags.XLA.override(False), tf.Session(config=config) as session:
        return [np.float32(x) for x in session.run(fetches, feeds)]


def both(transposed: bool, masked: bool):
    """Results and gradients of one attention, and feeds."""
    q, k, v, g = inputs("qkvg", LONG)
    feeds = dict(zip([q, k, v, g], values("qkvg"), strict=True))
    mask = causal(LONG[2]) if masked else None
    if transposed:
        turned = tf.transpose(k, [0, 1, 3, 2])
        scores = tf.matmul(q, turned) * 0.25
        out = tf.matmul(tf.nn.softmax(scores if mask is None else scores + mask), v)
    else:
        out = attention(q, k, v, mask)
    return [out, *tf.gradients(out, [q, k, v], g)], feeds


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_same_results_by_parts(transposed: bool, masked: bool):
    fetches, feeds = both(transposed, masked)
    assert kinds(fetches, list(feeds))[-2:] == ["_FusedAttention", "_FusedAttentionGrad"]
    for fuse, plain in zip(run(fetches, feeds, True), run(fetches, feeds, False), strict=True):
        np.testing.assert_array_equal(fuse, plain)


@pytest.mark.parametrize(("transposed", "masked"), [(False, True), (True, False)])
def test_same_results_by_a_fused_kernel(monkeypatch, transposed: bool, masked: bool):
    """jax's own attention stands in for cuDNN's, on the CPU."""
    asked = []
    monkeypatch.setattr(attention_fused, "flash", lambda: asked.append(1) or "xla")
    monkeypatch.setattr(attention_fused, "LEAST_SCORES", 1)
    fetches, feeds = both(transposed, masked)
    with tf.Session() as session:
        for _ in range(2):
            compiled = session.run(fetches, feeds)
    assert asked
    plain = run(fetches, feeds, False)
    for ours, theirs in zip(compiled, plain, strict=True):
        # A few units in the last place of a bfloat16, which are large for large numbers.
        np.testing.assert_allclose(np.float32(ours), theirs, rtol=0.03, atol=0.05)
