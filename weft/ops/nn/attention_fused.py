"""Attention in one op: what passes/optimize/attention.py puts in the place of its parts.

The output is softmax(scale * query key^T + mask) value, for query [.., t, d], key and value
[.., s, d]. On a GPU cuDNN computes it without ever writing out the [t, s] scores. Elsewhere, and
for shapes that cuDNN does not take, the parts are computed as the program spelled them.

`causal` says that the mask hides exactly what comes later, which then costs nothing. `adj_key` is
False where the program gave the key as [.., d, s].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.by_library import by_library
from weft.graph.op_def import OpDef, op
from weft.graph.traits import costs
from weft.ops.kit.declare import literal
from weft.ops.math.matmul import batch_mat_mul_v2
from weft.ops.math.reduce import wide
from weft.ops.nn.softmax import softmax_

Array = Any
HALF = ("float16", "bfloat16")
LEAST_SCORES = 2**14  # below this cuDNN has nothing to save
_INPUTS = "query: T, key: T, value: T, mask: N * T"
_ATTRS = (
    "T: {half, bfloat16}, N: int >= 0, scale: float, adj_key: bool, causal: bool, training: bool"
)


def _kernel(definition: OpDef) -> Callable[..., Any]:
    assert definition.kernel is not None
    return definition.kernel


def _product(xp: Any, x: Array, y: Array, adj_x: bool = False, adj_y: bool = False) -> Array:
    return _kernel(batch_mat_mul_v2)(xp, x, y, adj_x=adj_x, adj_y=adj_y)


# ---- the parts --------------------------------------------------------------------------------


def _probabilities(
    xp: Any, q: Array, k: Array, mask: Sequence[Array], scale: float, adj_key: bool
) -> Array:
    scores = _product(xp, q, k, adj_y=adj_key)
    if scale != 1:
        scores = scores * literal(scores, scale)
    for term in mask:
        scores = scores + term
    return _kernel(softmax_)(xp, scores)


def _gradients(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    g: Array,
    mask: Sequence[Array],
    scale: float,
    adj_key: bool,
) -> list[Array]:
    p = _probabilities(xp, q, k, mask, scale, adj_key)
    dp = _product(xp, g, v, adj_y=True)
    total = xp.sum(wide(dp * p), axis=-1, keepdims=True).astype(p.dtype)
    ds = (dp - total) * p
    if scale != 1:
        ds = ds * literal(ds, scale)
    dk = _product(xp, ds, q, adj_x=True) if adj_key else _product(xp, q, ds, adj_x=True)
    return [_product(xp, ds, k, adj_y=not adj_key), dk, _product(xp, p, g, adj_x=True)]


# ---- cuDNN ------------------------------------------------------------------------------------


def flash() -> tuple[str, str] | None:
    """(XLA's name of the platform, jax's of the implementation) of a fused kernel, if any."""
    import jax

    return ("cuda", "cudnn") if jax.default_backend() == "gpu" else None


def _suits(q: Array, k: Array, v: Array, mask: Sequence[Array], causal: bool) -> bool:
    """Whether cuDNN takes arrays of these shapes; k is [.., s, d]."""
    if q.ndim not in (3, 4) or k.shape != v.shape or q.shape[:-2] != k.shape[:-2]:
        return False
    t, length, depth = q.shape[-2], k.shape[-2], q.shape[-1]
    if depth % 8 or depth > 128 or t * length < LEAST_SCORES:
        return False
    biased = bool(mask) and not causal
    return not biased or (t % 2 == 0 and length % 2 == 0 and mask[0].ndim <= q.ndim)


def _heads_third(x: Array) -> Array:
    """[batch, heads, length, depth], or without heads, as [batch, length, heads, depth]."""
    import jax.numpy as jnp

    return jnp.swapaxes(x if x.ndim == 4 else x[:, None], 1, 2)


def _bias(mask: Sequence[Array], q: Array, k: Array, causal: bool) -> Array | None:
    """The mask as cuDNN wants it: four axes, of which the last two are whole."""
    import jax.numpy as jnp

    if causal or not mask:
        return None
    (term,) = mask
    if q.ndim == 3 and term.ndim == 3:
        term = term[:, None]
    term = term.reshape((1,) * (4 - term.ndim) + term.shape)
    return jnp.broadcast_to(term, (*term.shape[:2], q.shape[-2], k.shape[-2]))


@by_library
def _fused(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    mask: Sequence[Array],
    scale: float,
    adj_key: bool,
    causal: bool,
) -> Callable[..., Array] | None:
    """Attention as a function of q, k and v that can be differentiated, where cuDNN has it."""
    import jax
    import jax.numpy as jnp

    def straight(k: Array) -> Array:
        return k if adj_key else jnp.swapaxes(k, -1, -2)

    found = flash()
    if found is None or not _suits(q, straight(k), v, mask, causal):
        return None
    bias = _bias(mask, q, straight(k), causal)

    def attend(q: Array, k: Array, v: Array) -> Array:
        arrays = [_heads_third(x) for x in (q, straight(k), v)]
        attention: Any = jax.nn.dot_product_attention
        out = attention(*arrays, bias, scale=scale, is_causal=causal, implementation=found[1])
        return jnp.swapaxes(out, 1, 2).reshape(q.shape)

    return attend


@_fused.numpy
def _(
    xp: Any,
    q: Array,
    k: Array,
    v: Array,
    mask: Sequence[Array],
    scale: float,
    adj_key: bool,
    causal: bool,
) -> Callable[..., Array] | None:
    return None


def _either(by_flash: Callable[..., Any], by_parts: Callable[..., Any], *arrays: Array) -> Any:
    """By the fused kernel on its platform. Where that does not take the arrays, by parts."""
    from jax import lax

    found = flash()
    assert found is not None
    try:
        return lax.platform_dependent(*arrays, **{found[0]: by_flash}, default=by_parts)
    except (NotImplementedError, RuntimeError, ValueError):
        return by_parts(*arrays)


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
    mask: list[Array],
    *,
    scale: float,
    adj_key: bool,
    causal: bool,
    training: bool,
) -> Array:
    def by_parts(q: Array, k: Array, v: Array) -> Array:
        return _product(xp, _probabilities(xp, q, k, mask, scale, adj_key), v)

    attend = _fused(xp, query, key, value, mask, scale, adj_key, causal)
    if attend is None:
        return by_parts(query, key, value)

    def by_flash(q: Array, k: Array, v: Array) -> Array:
        import jax

        # For training the kernel also gives what its gradient needs. The gradient op asks for the
        # same again, and XLA makes the two calls one.
        return jax.vjp(attend, q, k, v)[0] if training else attend(q, k, v)

    return _either(by_flash, by_parts, query, key, value)


@op(
    "_FusedAttentionGrad",
    inputs=_INPUTS + ", gradient: T",
    outputs="query_grad: T, key_grad: T, value_grad: T",
    attrs=_ATTRS,
    shape=lambda c: [c.dims(0), c.dims(1), c.dims(2)],
    traits=costs(lambda dims, attrs: 2.5 * _flops(dims, attrs)),
)
def fused_attention_grad(
    xp: Any,
    query: Array,
    key: Array,
    value: Array,
    mask: list[Array],
    gradient: Array,
    *,
    scale: float,
    adj_key: bool,
    causal: bool,
) -> list[Array]:
    def by_parts(q: Array, k: Array, v: Array, g: Array) -> list[Array]:
        return _gradients(xp, q, k, v, g, mask, scale, adj_key)

    attend = _fused(xp, query, key, value, mask, scale, adj_key, causal)
    if attend is None:
        return by_parts(query, key, value, gradient)

    def by_flash(q: Array, k: Array, v: Array, g: Array) -> list[Array]:
        import jax

        return list(jax.vjp(attend, q, k, v)[1](g))

    return _either(by_flash, by_parts, query, key, value, gradient)
