"""Functions of numbers that distributions need: the normal distribution's integrals, and others."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.math import math

# Between these log(ndtr) is good enough; below there is a series, above log1p(-x) is about -x.
_LOG_NDTR_RANGE = {np.dtype(np.float32): (-10.0, 5.0), np.dtype(np.float64): (-20.0, 8.0)}

# Rational approximations of the inverse normal integral (Cephes, ndtri), highest power first.
_CENTER = (
    [-59.96335010141079, 98.00107541859997, -56.67628574690703, 13.931260938727968,
     -1.2391658386738125],
    [1.0, 1.9544885833814176, 4.676279128988815, 86.36024213908905, -225.46268785411937,
     200.26021238006066, -82.03722561683334, 15.90562251262117, -1.1833162112133],
)  # fmt: skip
_TAIL = (
    [4.0554489230596245, 31.525109459989388, 57.16281922464213, 44.08050738932008,
     14.684956192885803, 2.1866330685079025, -0.1402560791713545, -0.03504246268278482,
     -0.0008574567851546854],
    [1.0, 15.779988325646675, 45.39076351288792, 41.3172038254672, 15.04253856929075,
     2.504649462083094, -0.14218292285478779, -0.03808064076915783, -0.0009332594808954574],
)  # fmt: skip
_FAR_TAIL = (
    [3.2377489177694603, 6.915228890689842, 3.9388102529247444, 1.3330346081580755,
     0.20148538954917908, 0.012371663481782003, 0.00030158155350823543, 2.6580697468673755e-06,
     6.239745391849833e-09],
    [1.0, 6.02427039364742, 3.6798356385616087, 1.3770209948908132, 0.21623699359449663,
     0.013420400608854318, 0.00032801446468212774, 2.8924786474538068e-06,
     6.790194080099813e-09],
)  # fmt: skip


@contextlib.contextmanager
def _given(name: str | None, default: str | None = None, **values: Any) -> Iterator[list[Tensor]]:
    """The scope of a function, and its arguments as tensors of their names."""
    with name_scope(name, default, values=list(values.values())):
        yield [convert_to_tensor(value, name=each) for each, value in values.items()]


def _float_tensor(x: Any, name: str) -> Tensor:
    tensor = convert_to_tensor(x, name=name)
    if np.dtype(tensor.dtype.as_numpy_dtype) not in _LOG_NDTR_RANGE:
        raise TypeError(
            f"{name}.dtype={tensor.dtype} is not handled, see docstring for supported types."
        )
    return tensor


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """P[X <= x] of the standard normal distribution, for 32 or 64 bits."""
    with name_scope(name, values=[x]):
        return _ndtr(_float_tensor(x, "x"))


def _ndtr(x: Tensor) -> Tensor:
    half_root = constant(0.5 * np.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    w = x * half_root
    z = math.abs(w)
    tails = where_v2(math.greater(w, 0.0), 2.0 - math.erfc(z), math.erfc(z))
    return 0.5 * where_v2(math.less(z, half_root), 1.0 + math.erf(w), tails)


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """x with P[X <= x] = p of the standard normal distribution, for 32 or 64 bits."""
    with name_scope(name, values=[p]):
        return _ndtri(_float_tensor(p, "p"))


def _ratio(polynomials: tuple[list[float], list[float]], x: Tensor) -> Tensor:
    above, below = (math.polyval([constant(c, x.dtype) for c in each], x) for each in polynomials)
    return above / below


def _ndtri(p: Tensor) -> Tensor:
    upper = p > 1.0 - np.exp(-2.0)
    small = where_v2(upper, 1.0 - p, p)
    safe = where_v2(small <= 0.0, 0.5 * array.ones_like(p), small)  # ends are set below
    w = safe - 0.5
    ww = math.square(w)
    central = (w + w * ww * _ratio(_CENTER, ww)) * -np.sqrt(2.0 * np.pi)
    z = math.sqrt(-2.0 * math.log(safe))
    first = z - math.log(z) / z
    near, far = (first - _ratio(each, 1.0 / z) / z for each in (_TAIL, _FAR_TAIL))
    x = where_v2(safe > np.exp(-2.0), central, where_v2(z >= 8.0, far, near))
    x = where_v2(upper, x, -x)
    infinity = np.inf * array.ones_like(p)
    return where_v2(p <= 0.0, -infinity, where_v2(p >= 1.0, infinity, x))


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Tensor:
    """log(ndtr(x)), good also where ndtr(x) is too small for a number."""
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if not 0 <= series_order <= 30:
        bound = "non-negative" if series_order < 0 else "<= 30"
        raise ValueError(f"series_order must be {bound}.")
    with _given(name, x=x) as (x,):
        kind = np.dtype(x.dtype.as_numpy_dtype)
        if kind not in _LOG_NDTR_RANGE:
            raise TypeError(f"x.dtype={x.dtype} is not supported.")
        low, high = (kind.type(end) for end in _LOG_NDTR_RANGE[kind])
        middle = math.log(_ndtr(math.maximum(x, low)))
        lower = _log_ndtr_lower(math.minimum(x, low), series_order)
        return where_v2(
            math.greater(x, high), -_ndtr(-x), where_v2(math.greater(x, low), middle, lower)
        )


def _log_ndtr_lower(x: Tensor, order: int) -> Tensor:
    """By the asymptotic series 1 - 1/x^2 + 3/x^4 - 15/x^6 ..."""
    square = math.square(x)
    scale = -0.5 * square - math.log(-x) - 0.5 * np.log(2.0 * np.pi)
    total, term = array.ones_like(x), array.ones_like(x)
    for n in range(1, order + 1):
        term = term * (1.0 - 2.0 * n) / square
        total += term
    return scale + math.log(total)


def erfinv(x: Any, name: str = "erfinv") -> Tensor:
    """The inverse of `erf`."""
    with name_scope(name, values=[x]):
        x = _float_tensor(x, "x")
        return ndtri((x + 1.0) / 2.0) / np.sqrt(2)


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Tensor:
    """log P[X <= x] of Laplace's standard distribution: half an exponential on either side."""
    with _given(name, x=x) as (x,):
        above = math.log1p(-0.5 * math.exp(-math.abs(x)))
        return where_v2(x < 0.0, x - np.log(2.0), above)


def softplus_inverse(x: Any, name: str | None = None) -> Tensor:
    """y with log(1 + exp(y)) = x, for x > 0: near 0 that is log(x), far from it x itself."""
    with _given(name, "softplus_inverse", x=x) as (x,):
        limit = np.log(np.finfo(x.dtype.as_numpy_dtype).eps) + 2.0
        near, far = math.less(x, np.exp(limit)), math.greater(x, -limit)
        is_end = math.logical_or(near, far)
        exact = _log_expm1(where_v2(is_end, array.ones_like(x), x))
        logarithm = math.log(x)
        return where_v2(near, logarithm, where_v2(far, x, exact))


def _log_expm1(x: Tensor) -> Tensor:
    """log(exp(x) - 1), for x > 0."""
    return x + math.log(-math.expm1(-x))


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Tensor:
    """The logarithm of the number of orders in which `n` things of these counts can come."""
    with _given(name, n=n, counts=counts) as (n, counts):
        return math.lgamma(n + 1) - math.reduce_sum(math.lgamma(counts + 1), axis=[-1])


def reduce_weighted_logsumexp(
    logx: Any, w: Any = None, axis: Any = None, keep_dims: bool = False,
    return_sign: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """log |sum w exp(logx)|, and the sign of the sum if asked for."""
    with name_scope(name, "reduce_weighted_logsumexp", [logx, w]):
        terms = convert_to_tensor(logx, name="logx")
        sign = None
        if w is None:
            total = math.reduce_logsumexp(terms, axis, keep_dims)
        else:
            weights = convert_to_tensor(w, terms.dtype, name="w")
            terms = terms + math.log(math.abs(weights))
            total, sign = _signed_logsumexp(terms, weights, axis, keep_dims)
        if not return_sign:
            return total
        return total, array.ones_like(total) if sign is None else sign


def _signed_logsumexp(logs: Tensor, w: Tensor, axis: Any, keep_dims: bool) -> tuple[Tensor, Tensor]:
    """(log |s|, sign of s) for the sum s of exp(logs), each with the sign of its weight."""
    most = _finite_max(logs, axis)
    parts = math.sign(w) * math.exp(logs - most)
    total = math.reduce_sum(parts, axis=axis, keepdims=keep_dims)
    most = most if keep_dims else array.squeeze(most, axis)
    sign = math.sign(total)
    return most + math.log(sign * total), sign


def _finite_max(x: Tensor, axis: Any) -> Tensor:
    """The largest number, or 0 where it is infinite."""
    most = math.reduce_max(x, axis=axis, keepdims=True)
    return where_v2(math.is_inf(most), array.zeros_like(most), most)


def new_seed(seed: int | None, salt: str) -> int | None:
    """A seed for another stream of numbers, or None."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[:4], "big") & 0x7FFFFFFF
