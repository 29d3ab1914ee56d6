"""Attention in one op: what passes/optimize/attention.py puts in the place of its parts.

The output is softmax(scale * query key^T + mask) value, for query [.., t, d], key and value
[.., s, d]. On a GPU cuDNN computes it without ever writing out the [t, s] scores, and on a CPU a
kernel of weft's own. Elsewhere, and for shapes that neither takes, `parts` computes it as the
program spelled it.

`causal` says that the masks hide exactly what comes later, which then costs nothing. `adj_key` is
False where the program gave the key as [.., d, s]. `seen` says which scores count, or, with
`hides`, which do not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import op
from weft.graph.traits import costs
from weft.ops.kit import native
from weft.ops.kit.target import target_platform

Array = Any
TYPES = ("float16", "bfloat16", "float32")
LEAST_SCORES = 2**14  # below this cuDNN has nothing to save
LEAST_IN_CPUS = 2**15  # and below this a native kernel
LEAST_ROWS = 4  # which share what the kernel prepares of keys and values
_INPUTS = "query: T, key: T, value: T, masks: Tmasks, seen: N * bool"
_ATTRS = (
    "T: {half, bfloat16, float}, Tmasks: list(type) >= 0, N: int >= 0, scale: float, adj_key: bool,"
    " hides: bool, causal: bool, training: bool, parts: func"
)


# ---- cuDNN ------------------------------------------------------------------------------------


def flash() -> str | None:
    """jax's name of the implementation that the program being traced may use, if any."""
    return "cudnn" if target_platform() in ("gpu", "cuda") else None


def _suits(q: Array, k: Array, v: Array, terms: Sequence[Array]) -> bool:
    """Whether cuDNN takes arrays of these shapes; k is [.., s, d], `terms` are masks."""
    if (
        q.dtype.itemsize != 2
        or q.ndim not in (3, 4)
        or k.shape != v.shape
        or q.shape[:-2] != k.shape[:-2]
    ):
        return False
    t, length, depth = q.shape[-2], k.shape[-2], q.shape[-1]
    if depth % 8 or depth > 128 or t * length < LEAST_SCORES:
        return False
    even = t % 2 == 0 and length % 2 == 0
    return not terms or (even and all(term.ndim <= q.ndim for term in terms))


def _heads_third(x: Array) -> Array:
    """[batch, heads, length, depth], or without heads, as [batch, length, heads, depth]."""
    import jax.numpy as jnp

    return jnp.swapaxes(x if x.ndim == 4 else x[:, None], 1, 2)


def _whole(term: Array, q: Array, k: Array) -> Array:
    """A mask as cuDNN wants it: four axes, of which the last two are whole."""
    import jax.numpy as jnp

    if q.ndim == 3 and term.ndim == 3:
        term = term[:, None]
    term = term.reshape((1,) * (4 - term.ndim) + term.shape)
    return jnp.broadcast_to(term, (*term.shape[:2], q.shape[-2], k.shape[-2]))


@by_library
def _fused(
    xp: Any,
    arrays: Sequence[Array],
    masks: Sequence[Array],
    seen: Sequence[Array],
    scale: float,
    adj_key: bool,
    hides: bool,
    causal: bool,
) -> Callable[..., Array] | None:
    """Attention as a function of q, k and v that can be differentiated, where cuDNN has it."""
    import jax
    import jax.numpy as jnp

    def straight(k: Array) -> Array:
        return k if adj_key else jnp.swapaxes(k, -1, -2)

    q, k, v = arrays[0], straight(arrays[1]), arrays[2]
    implementation = flash()
    terms = [] if causal else [*masks, *seen]
    if implementation is None or not _suits(q, k, v, terms):
        return None
    options: dict[str, Any] = {"scale": scale, "is_causal": causal}
    if masks and not causal:
        options["bias"] = _whole(masks[0], q, k).astype(q.dtype)
    if seen and not causal:
        options["mask"] = _whole(seen[0], q, k) ^ hides

    def attend(q: Array, k: Array, v: Array) -> Array:
        turned = [_heads_third(x) for x in (q, straight(k), v)]
        attention: Any = jax.nn.dot_product_attention
        out = attention(*turned, **options, implementation=implementation)
        return jnp.swapaxes(out, 1, 2).reshape(q.shape)

    return attend


@_fused.numpy
def _(
    xp: Any,
    arrays: Sequence[Array],
    masks: Sequence[Array],
    seen: Sequence[Array],
    scale: float,
    adj_key: bool,
    hides: bool,
    causal: bool,
) -> Callable[..., Array] | None:
    return None


# ---- native -----------------------------------------------------------------------------------


def _call_of(
    arrays: Sequence[Array],
    masks: Sequence[Array],
    seen: Sequence[Array],
    scale: float,
    adj_key: bool,
    causal: bool,
) -> tuple[list[Array], list[int]] | None:
    """The mask, if any, and the sizes that a native kernel is to be given, where it suits."""
    q, k, v = arrays
    terms = [] if causal else [*masks, *seen]
    if not (
        adj_key
        and q.ndim in (3, 4)
        and q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
        and k.shape[-2] == v.shape[-2]
        and np.prod(q.shape[:-1]) * k.shape[-2] >= LEAST_IN_CPUS
        and min(q.shape[-1], v.shape[-1]) > 0
        and q.shape[-2] >= LEAST_ROWS
        and (q.shape[-2] == k.shape[-2] if causal else len(masks) <= 1 and not seen)
    ):
        return None
    whole = (*q.shape[:-1], k.shape[-2])
    steps = _steps(terms[0].shape, whole) if terms else [0] * 4
    if steps is None or not native.offers("attend", *arrays, *terms):
        return None
    batch, heads, rows, keys = _four(whole)
    bits = int(np.float32(scale).view(np.int32))
    depths = [q.shape[-1], v.shape[-1]]
    return terms, [batch, heads, rows, keys, *depths, causal, bits, len(terms), *steps]


def _steps(shape: Sequence[int], whole: Sequence[int]) -> list[int] | None:
    """How far apart the numbers of a mask lie along each of four axes of scores, which it must
    not extend: 0 where they are the same."""
    padded = (1,) * (len(whole) - len(shape)) + tuple(shape)
    if len(padded) > len(whole) or any(a not in (1, b) for a, b in zip(padded, whole, strict=True)):
        return None
    four = _four(padded)
    return [0 if n == 1 else int(np.prod(four[i + 1 :])) for i, n in enumerate(four)]


def _four(dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(dims) if len(dims) == 4 else (dims[0], 1, *dims[1:])


# ---- ops --------------------------------------------------------------------------------------


def _product_dims(c: s.ShapeContext) -> s.Dims:
    q, v = c.dims(0), c.dims(2)
    return None if q is None or v is None else (*q[:-1], v[-1])


def _flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    return 4.0 * float(np.prod(dims[0])) * dims[2][-2]


@op(
    "_FusedAttention",
    inputs=_INPUTS,
    outputs="output: T",
    attrs=_ATTRS,
    shape=_product_dims,
    traits=costs(_flops),
)
def fused_attention(
    xp: Any,
    query: Array,
    key: Array,
    value: Array,
    masks: list[Array],
    seen: list[Array],
    *,
    scale: float,
    adj_key: bool,
    hides: bool,
    causal: bool,
    training: bool,
    parts: Callable[..., list[Array]],
) -> Array:
    arrays = [query, key, value]
    attend = _fused(xp, arrays, masks, seen, scale, adj_key, hides, causal)
    if attend is not None:
        import jax

        # For training the kernel also gives what its gradient needs. The gradient op asks for the
        # same again, and XLA makes the two calls one.
        try:
            return jax.vjp(attend, *arrays)[0] if training else attend(*arrays)
        except _REFUSED:
            pass
    suited = _call_of(arrays, masks, seen, scale, adj_key, causal)
    if suited is not None:
        terms, sizes = suited
        shape = (*query.shape[:-1], value.shape[-1])
        return native.call("attend", shape, *arrays, *terms, sizes=sizes)
    return parts(xp, [*arrays, *masks, *seen])[0].astype(query.dtype)


@op(
    "_FusedAttentionGrad",
    inputs=_INPUTS + ", gradient: T",
    outputs="query_grad: T, key_grad: T, value_grad: T",
    attrs=_ATTRS + ", wanted: list(bool)",
    shape=lambda c: [c.dims(0), c.dims(1), c.dims(2)],
    traits=costs(lambda dims, attrs: 2.5 * _flops(dims, attrs)),
)
def fused_attention_grad(
    xp: Any,
    query: Array,
    key: Array,
    value: Array,
    masks: list[Array],
    seen: list[Array],
    gradient: Array,
    *,
    scale: float,
    adj_key: bool,
    hides: bool,
    causal: bool,
    wanted: list[bool],
    parts: Callable[..., list[Array]],
) -> list[Array]:
    arrays = [query, key, value]
    attend = _fused(xp, arrays, masks, seen, scale, adj_key, hides, causal)
    if attend is not None:
        import jax

        try:
            return list(jax.vjp(attend, *arrays)[1](gradient))
        except _REFUSED:
            pass
    suited = _call_of(arrays, masks, seen, scale, adj_key, causal)
    if suited is not None:
        terms, sizes = suited
        shapes = [x.shape for x in arrays]
        return native.results("attend_gradient", shapes, *arrays, gradient, *terms, sizes=sizes)
    found = iter(parts(xp, [*arrays, *masks, *seen, gradient]))
    # Nothing reads the gradients that the program did not ask for.
    gradients = [next(found) if asked else x for asked, x in zip(wanted, arrays, strict=True)]
    return [x.astype(query.dtype) for x in gradients]


# As jax says that the fused kernel does not take the arrays.
_REFUSED = (NotImplementedError, RuntimeError, ValueError)
