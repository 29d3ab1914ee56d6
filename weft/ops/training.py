"""Ops that update a variable and its slots by one step of an optimizer.

Every optimizer is one formula on arrays: it takes the variable, its slots and the step's inputs by
name, and returns the new variable and slots in the same order. The table at the end declares from
each formula the dense and sparse, reference and resource ops. A sparse op applies the formula to
the rows named by `indices` only; a row named twice is updated twice, in order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.ops.rows import check_range, update_rows
from weft.ops.state import variable_dims

Array = Any
State = tuple[Array, ...]


# ---- formulas ---------------------------------------------------------------------------------


def gradient_descent(xp: Any, var: Array, alpha: Array, grad: Array) -> State:
    return (var - grad * alpha,)


def proximal_gradient_descent(
    xp: Any, var: Array, alpha: Array, l1: Array, l2: Array, grad: Array
) -> State:
    return (_proximal(xp, var, alpha, l1, l2, grad),)


def momentum(
    xp: Any, var: Array, accum: Array, lr: Array, grad: Array, momentum: Array, use_nesterov: bool
) -> State:
    accum = accum * momentum + grad
    step = grad * lr + accum * momentum * lr if use_nesterov else accum * lr
    return var - step, accum


def keras_momentum(
    xp: Any, var: Array, accum: Array, lr: Array, grad: Array, momentum: Array, use_nesterov: bool
) -> State:
    accum = accum * momentum - grad * lr
    step = accum * momentum - grad * lr if use_nesterov else accum
    return var + step, accum


def adagrad(xp: Any, var: Array, accum: Array, lr: Array, grad: Array, update_slots: bool) -> State:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / xp.sqrt(accum), accum


def adagrad_v2(
    xp: Any, var: Array, accum: Array, lr: Array, epsilon: Array, grad: Array, update_slots: bool
) -> State:
    accum = accum + grad * grad if update_slots else accum
    return var - grad * lr / (xp.sqrt(accum) + epsilon), accum


def adagrad_da(
    xp: Any,
    var: Array,
    gradient_accumulator: Array,
    gradient_squared_accumulator: Array,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    global_step: Array,
) -> State:
    step = global_step.astype(var.dtype)
    total = gradient_accumulator + grad
    squares = gradient_squared_accumulator + grad * grad
    kept = xp.sign(total) * xp.maximum(xp.abs(total) - step * l1, 0)
    return -(lr * kept) / (l2 * (step * lr) + xp.sqrt(squares)), total, squares


def proximal_adagrad(
    xp: Any, var: Array, accum: Array, lr: Array, l1: Array, l2: Array, grad: Array
) -> State:
    accum = accum + grad * grad
    return _proximal(xp, var, lr / xp.sqrt(accum), l1, l2, grad), accum


def adadelta(
    xp: Any,
    var: Array,
    accum: Array,
    accum_update: Array,
    lr: Array,
    rho: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    accum = accum * rho + grad * grad * (1 - rho)
    update = xp.sqrt(accum_update + epsilon) / xp.sqrt(accum + epsilon) * grad
    return var - update * lr, accum, accum_update * rho + update * update * (1 - rho)


def adam(
    xp: Any,
    var: Array,
    m: Array,
    v: Array,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
    use_nesterov: bool,
) -> State:
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    direction = grad * (1 - beta1) + beta1 * m if use_nesterov else m
    return var - direction * alpha / (xp.sqrt(v) + epsilon), m, v


def adam_with_amsgrad(
    xp: Any,
    var: Array,
    m: Array,
    v: Array,
    vhat: Array,
    beta1_power: Array,
    beta2_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    alpha = lr * xp.sqrt(1 - beta2_power) / (1 - beta1_power)
    m = m + (grad - m) * (1 - beta1)
    v = v + (grad * grad - v) * (1 - beta2)
    vhat = xp.maximum(vhat, v)
    return var - m * alpha / (xp.sqrt(vhat) + epsilon), m, v, vhat


def ada_max(
    xp: Any,
    var: Array,
    m: Array,
    v: Array,
    beta1_power: Array,
    lr: Array,
    beta1: Array,
    beta2: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    m = m + (grad - m) * (1 - beta1)
    v = xp.maximum(beta2 * v, xp.abs(grad))
    return var - lr / (1 - beta1_power) * (m / (v + epsilon)), m, v


def rms_prop(
    xp: Any,
    var: Array,
    ms: Array,
    mom: Array,
    lr: Array,
    rho: Array,
    momentum: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms + epsilon)
    return var - mom, ms, mom


def centered_rms_prop(
    xp: Any,
    var: Array,
    mg: Array,
    ms: Array,
    mom: Array,
    lr: Array,
    rho: Array,
    momentum: Array,
    epsilon: Array,
    grad: Array,
) -> State:
    ms = ms + (grad * grad - ms) * (1 - rho)
    mg = mg + (grad - mg) * (1 - rho)
    mom = mom * momentum + grad * lr / xp.sqrt(ms - mg * mg + epsilon)
    return var - mom, mg, ms, mom


def ftrl(
    xp: Any,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
) -> State:
    return _ftrl(xp, var, accum, linear, grad, grad, lr, l1, l2, lr_power)


def ftrl_v2(
    xp: Any,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    l2_shrinkage: Array,
    lr_power: Array,
) -> State:
    shrunk = grad + 2 * l2_shrinkage * var
    return _ftrl(xp, var, accum, linear, grad, shrunk, lr, l1, l2, lr_power)


def add_sign(
    xp: Any,
    var: Array,
    m: Array,
    lr: Array,
    alpha: Array,
    sign_decay: Array,
    beta: Array,
    grad: Array,
) -> State:
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - lr * (alpha + sign_decay * agreement) * grad, m


def power_sign(
    xp: Any,
    var: Array,
    m: Array,
    lr: Array,
    logbase: Array,
    sign_decay: Array,
    beta: Array,
    grad: Array,
) -> State:
    m = m * beta + grad * (1 - beta)
    agreement = xp.sign(grad) * xp.sign(m)
    return var - lr * xp.exp(logbase * sign_decay * agreement) * grad, m


def _proximal(xp: Any, var: Array, rate: Array, l1: Array, l2: Array, grad: Array) -> Array:
    """A gradient step, then the closest point under the l1 and l2 penalties."""
    moved = var - grad * rate
    return xp.sign(moved) * xp.maximum(xp.abs(moved) - rate * l1, 0) / (1 + l2 * rate)


def _ftrl(
    xp: Any,
    var: Array,
    accum: Array,
    linear: Array,
    grad: Array,
    shrunk: Array,
    lr: Array,
    l1: Array,
    l2: Array,
    lr_power: Array,
) -> State:
    new_accum = accum + grad * grad
    new_scale, scale = _rate_power(xp, new_accum, lr_power), _rate_power(xp, accum, lr_power)
    linear = linear + shrunk - (new_scale - scale) / lr * var
    clipped = xp.maximum(xp.minimum(linear, l1), -l1)
    return (clipped - linear) / (new_scale / lr + 2 * l2), new_accum, linear


def _rate_power(xp: Any, accum: Array, lr_power: Array) -> Array:
    # The usual power is -1/2; a square root is both quicker and what TensorFlow takes.
    if xp is np:
        return np.sqrt(accum) if lr_power == -0.5 else np.power(accum, -lr_power)
    return xp.where(lr_power == -0.5, xp.sqrt(accum), xp.power(accum, -lr_power))


# ---- declarations -----------------------------------------------------------------------------


class _Optimizer(NamedTuple):
    name: str
    formula: Callable[..., State]
    variables: str  # the variable and its slots, in input order
    dense: str  # the other inputs of the dense op
    sparse: str | None = None  # and of the sparse op, if there is one
    attr: str = ""  # a switch besides use_locking
    reference: bool = True  # whether there are ops on reference variables too


_OPTIMIZERS = (
    _Optimizer("GradientDescent", gradient_descent, "var", "alpha delta"),
    _Optimizer(
        "ProximalGradientDescent",
        proximal_gradient_descent,
        "var",
        "alpha l1 l2 delta",
        "alpha l1 l2 grad indices",
    ),
    _Optimizer(
        "Momentum",
        momentum,
        "var accum",
        "lr grad momentum",
        "lr grad indices momentum",
        "use_nesterov: bool = false",
    ),
    _Optimizer(
        "KerasMomentum",
        keras_momentum,
        "var accum",
        "lr grad momentum",
        "lr grad indices momentum",
        "use_nesterov: bool = false",
        reference=False,
    ),
    _Optimizer(
        "Adagrad", adagrad, "var accum", "lr grad", "lr grad indices", "update_slots: bool = true"
    ),
    _Optimizer(
        "AdagradV2",
        adagrad_v2,
        "var accum",
        "lr epsilon grad",
        "lr epsilon grad indices",
        "update_slots: bool = true",
    ),
    _Optimizer(
        "AdagradDA",
        adagrad_da,
        "var gradient_accumulator gradient_squared_accumulator",
        "grad lr l1 l2 global_step",
        "grad indices lr l1 l2 global_step",
    ),
    _Optimizer(
        "ProximalAdagrad",
        proximal_adagrad,
        "var accum",
        "lr l1 l2 grad",
        "lr l1 l2 grad indices",
    ),
    _Optimizer(
        "Adadelta",
        adadelta,
        "var accum accum_update",
        "lr rho epsilon grad",
        "lr rho epsilon grad indices",
    ),
    _Optimizer(
        "Adam",
        adam,
        "var m v",
        "beta1_power beta2_power lr beta1 beta2 epsilon grad",
        attr="use_nesterov: bool = false",
    ),
    _Optimizer(
        "AdamWithAmsgrad",
        adam_with_amsgrad,
        "var m v vhat",
        "beta1_power beta2_power lr beta1 beta2 epsilon grad",
        reference=False,
    ),
    _Optimizer("AdaMax", ada_max, "var m v", "beta1_power lr beta1 beta2 epsilon grad"),
    _Optimizer(
        "RMSProp",
        rms_prop,
        "var ms mom",
        "lr rho momentum epsilon grad",
        "lr rho momentum epsilon grad indices",
    ),
    _Optimizer(
        "CenteredRMSProp",
        centered_rms_prop,
        "var mg ms mom",
        "lr rho momentum epsilon grad",
        "lr rho momentum epsilon grad indices",
    ),
    _Optimizer(
        "Ftrl",
        ftrl,
        "var accum linear",
        "grad lr l1 l2 lr_power",
        "grad indices lr l1 l2 lr_power",
    ),
    _Optimizer(
        "FtrlV2",
        ftrl_v2,
        "var accum linear",
        "grad lr l1 l2 l2_shrinkage lr_power",
        "grad indices lr l1 l2 l2_shrinkage lr_power",
    ),
    _Optimizer("AddSign", add_sign, "var m", "lr alpha sign_decay beta grad"),
    _Optimizer("PowerSign", power_sign, "var m", "lr logbase sign_decay beta grad"),
)

_FIXED_TYPES = {"indices": "Tindices", "global_step": "int64"}
_NOT_SCALARS = {"grad", "delta", "indices"}


def _kernel(spec: _Optimizer, rest: list[str], sparse: bool, resource: bool) -> Callable[..., Any]:
    """The op's kernel: read the cells, apply the formula, write the cells."""
    state = spec.variables.split()
    switch = [spec.attr.split(":")[0]] if spec.attr else []

    def kernel(xp: Any, *inputs: Any, **attrs: Any) -> Any:
        cells, given = inputs[: len(state)], dict(zip(rest, inputs[len(state) :], strict=True))
        values = [cell.read() for cell in cells]
        if "delta" in given:
            given["grad"] = given.pop("delta")
        _check_shapes(list(zip(state, values, strict=True)), given)
        if sparse:
            indices, grad = given.pop("indices"), given.pop("grad")
            if xp is np:
                check_range(indices, values[0].shape[0], _out_of_range)
            new = update_rows(
                xp,
                values,
                indices,
                (grad,),
                lambda rows, grad: spec.formula(xp, *rows, grad=grad, **given, **attrs),
            )
        else:
            new = list(spec.formula(xp, *values, **given, **attrs))
        for cell, old, value in zip(cells, values, new, strict=True):
            cell.write(value if value.dtype == old.dtype else value.astype(old.dtype))
        return None if resource else cells[0]

    positional = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ["xp", *state, *rest]
    ]
    keyword = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in switch]
    kernel.__signature__ = inspect.Signature(positional + keyword)  # type: ignore[attr-defined]
    return kernel


def _out_of_range(index: int, position: tuple[int, ...], limit: int) -> str:
    return f"Index {index} at offset {position[0]} in indices is out of range"


def _check_shapes(state: list[tuple[str, Array]], given: dict[str, Array]) -> None:
    """Raises what TensorFlow's kernels raise for shapes the graph could not know."""
    var, grad = state[0][1], given["grad"]
    for name, value in state:
        if value.shape != var.shape:
            _refuse(f"var and {name} do not have the same shape{_text(var)} {_text(value)}")
    for name, value in given.items():
        if name not in _NOT_SCALARS and value.ndim != 0:
            _refuse(f"{name} is not a scalar: {_text(value)}")
    indices = given.get("indices")
    if indices is not None:
        _check_rows(var, grad, indices)
    elif grad.shape != var.shape:
        _refuse(f"var and grad do not have the same shape{_text(var)} {_text(grad)}")


def _check_rows(var: Array, grad: Array, indices: Array) -> None:
    if var.ndim < 1:
        _refuse("var must be at least 1 dimensional")
    if indices.ndim != 1:
        _refuse("indices must be one-dimensional")
    if grad.ndim != var.ndim:
        _refuse("var and grad must have the same rank")
    for axis in range(1, var.ndim):
        if var.shape[axis] != grad.shape[axis]:
            _refuse(f"var and grad must match in dimension {axis}")
    if grad.shape[0] != indices.shape[0]:
        _refuse("grad must be the same size as indices in the first dimension.")


def _refuse(message: str) -> NoReturn:
    raise errors.InvalidArgumentError(None, None, message)


def _text(value: Array) -> str:
    return "[" + ",".join(map(str, value.shape)) + "]"


def _shape_rule(count: int, rest: list[str], resource: bool) -> Callable[[Any], Any]:
    """Variables agree with each other and the gradient (beyond its rows); the rest are scalars."""
    grad = count + rest.index("grad" if "grad" in rest else "delta")
    indices = count + rest.index("indices") if "indices" in rest else None

    def rule(c: Any) -> Any:
        dims = variable_dims(c.op.inputs[0])
        for i in range(1, count):
            dims = s.merge(dims, variable_dims(c.op.inputs[i]))
        if indices is None:
            dims = s.merge(dims, c.dims(grad))
        else:
            given, rows = c.dims(grad), s.with_rank(c.dims(indices), 1)
            if given is not None:
                s.merge((given[0],), rows)
                dims = s.merge(dims, (None, *given[1:]))
        for i in range(count, count + len(rest)):
            if i not in (grad, indices):
                s.with_rank(c.dims(i), 0)
        return [] if resource else dims

    return rule


def _flops(count: int, rest: list[str]) -> Callable[..., float]:
    """About four array operations for every array that changes, as large as the gradient."""
    grad = count + rest.index("grad" if "grad" in rest else "delta")
    return lambda dims, attrs: 4.0 * count * float(np.prod(dims[grad]))


def _declare(spec: _Optimizer, sparse: bool, resource: bool) -> OpDef:
    state = spec.variables.split()
    inputs = spec.sparse if sparse else spec.dense
    assert inputs is not None
    rest = inputs.split()
    holder = "resource" if resource else "ref(T)"
    attrs = ["T: numbertype", "Tindices: indextype"] if sparse else ["T: numbertype"]
    attrs += ["use_locking: bool = false"] + [spec.attr] * bool(spec.attr)
    return op(
        "Resource" * resource + "Sparse" * sparse + "Apply" + spec.name,
        inputs=", ".join(
            [f"{name}: {holder}" for name in state]
            + [f"{name}: {_FIXED_TYPES.get(name, 'T')}" for name in rest]
        ),
        outputs="" if resource else "out: ref(T)",
        attrs=", ".join(attrs),
        shape=_shape_rule(len(state), rest, resource),
        stateful=True,
        flops=_flops(len(state), rest),
    )(_kernel(spec, rest, sparse, resource))


for _spec in _OPTIMIZERS:
    for _sparse in (False, True) if _spec.sparse else (False,):
        for _resource in (False, True) if _spec.reference else (True,):
            _declare(_spec, _sparse, _resource)
