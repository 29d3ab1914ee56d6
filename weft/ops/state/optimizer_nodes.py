"""Ops that update a variable and its slots by one step of an optimizer.

The table declares from each formula the dense and sparse, reference and resource ops. A sparse op
applies the formula to the rows named by `indices` only; a row named twice is updated twice, in
order.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, NoReturn

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import OpDef, op
from weft.graph.traits import STATEFUL, UPDATES_ROWS, costs
from weft.ops.kit.row_updates import check_range, update_rows
from weft.ops.kit.value_checks import require, write_parts
from weft.ops.state import optimizer_formulas as formulas
from weft.ops.state.optimizer_formulas import Array, State
from weft.ops.state.variable_nodes import variable_dims


class _Optimizer(NamedTuple):
    name: str
    formula: Callable[..., State]
    variables: str  # the variable and its slots, in input order
    dense: str  # the other inputs of the dense op
    sparse: str | None = None  # and of the sparse op, if there is one
    attr: str = ""  # a switch besides use_locking
    reference: bool = True  # whether there are ops on reference variables too
    signs: bool = False  # whether the signs of the scalars are looked at


_OPTIMIZERS = (
    _Optimizer("GradientDescent", formulas.gradient_descent, "var", "alpha delta"),
    _Optimizer(
        "ProximalGradientDescent",
        formulas.proximal_gradient_descent,
        "var",
        "alpha l1 l2 delta",
        "alpha l1 l2 grad indices",
    ),
    _Optimizer(
        "Momentum",
        formulas.momentum,
        "var accum",
        "lr grad momentum",
        "lr grad indices momentum",
        "use_nesterov: bool = false",
    ),
    _Optimizer(
        "KerasMomentum",
        formulas.keras_momentum,
        "var accum",
        "lr grad momentum",
        "lr grad indices momentum",
        "use_nesterov: bool = false",
        reference=False,
    ),
    _Optimizer(
        "Adagrad",
        formulas.adagrad,
        "var accum",
        "lr grad",
        "lr grad indices",
        "update_slots: bool = true",
    ),
    _Optimizer(
        "AdagradV2",
        formulas.adagrad_v2,
        "var accum",
        "lr epsilon grad",
        "lr epsilon grad indices",
        "update_slots: bool = true",
    ),
    _Optimizer(
        "AdagradDA",
        formulas.adagrad_da,
        "var gradient_accumulator gradient_squared_accumulator",
        "grad lr l1 l2 global_step",
        "grad indices lr l1 l2 global_step",
    ),
    _Optimizer(
        "ProximalAdagrad",
        formulas.proximal_adagrad,
        "var accum",
        "lr l1 l2 grad",
        "lr l1 l2 grad indices",
        signs=True,
    ),
    _Optimizer(
        "Adadelta",
        formulas.adadelta,
        "var accum accum_update",
        "lr rho epsilon grad",
        "lr rho epsilon grad indices",
    ),
    _Optimizer(
        "Adam",
        formulas.adam,
        "var m v",
        "beta1_power beta2_power lr beta1 beta2 epsilon grad",
        attr="use_nesterov: bool = false",
    ),
    _Optimizer(
        "AdamWithAmsgrad",
        formulas.adam_with_amsgrad,
        "var m v vhat",
        "beta1_power beta2_power lr beta1 beta2 epsilon grad",
        reference=False,
    ),
    _Optimizer("AdaMax", formulas.ada_max, "var m v", "beta1_power lr beta1 beta2 epsilon grad"),
    _Optimizer(
        "RMSProp",
        formulas.rms_prop,
        "var ms mom",
        "lr rho momentum epsilon grad",
        "lr rho momentum epsilon grad indices",
    ),
    _Optimizer(
        "CenteredRMSProp",
        formulas.centered_rms_prop,
        "var mg ms mom",
        "lr rho momentum epsilon grad",
        "lr rho momentum epsilon grad indices",
    ),
    _Optimizer(
        "Ftrl",
        formulas.ftrl,
        "var accum linear",
        "grad lr l1 l2 lr_power",
        "grad indices lr l1 l2 lr_power",
        signs=True,
    ),
    _Optimizer(
        "FtrlV2",
        formulas.ftrl_v2,
        "var accum linear",
        "grad lr l1 l2 l2_shrinkage lr_power",
        "grad indices lr l1 l2 l2_shrinkage lr_power",
        signs=True,
    ),
    _Optimizer("AddSign", formulas.add_sign, "var m", "lr alpha sign_decay beta grad"),
    _Optimizer("PowerSign", formulas.power_sign, "var m", "lr logbase sign_decay beta grad"),
)

_FIXED_TYPES = {"indices": "Tindices", "global_step": "int64"}
_NOT_SCALARS = {"grad", "delta", "indices"}
# Scalar -> the words of the error where its sign is wrong, and whether it is right.
_SIGNS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "lr": ("lr is not a positive", lambda x: x > 0),
    "l1": ("l1 regularization strength is not a non-negative", lambda x: x >= 0),
    "l2": ("l2 regularization strength is not a non-negative", lambda x: x >= 0),
    "lr_power": ("lr_power is not a non-positive", lambda x: x <= 0),
    "l2_shrinkage": (
        "l2 shrinkage regularization strength is not a non-negative",
        lambda x: x >= 0,
    ),
}


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
        if spec.signs:
            _check_signs(xp, given)
        if sparse:
            indices, grad = given.pop("indices"), given.pop("grad")
            check_range(xp, indices, values[0].shape[0], _out_of_range)

            def step(rows: Any, grad: Array) -> State:
                return spec.formula(xp, *rows, grad=grad, **given, **attrs)

            def update(void: Any) -> list[Array]:
                return _as_before(values, update_rows(xp, values, indices, (grad,), step, void))

            write_parts(cells, update)
        else:
            new = _as_before(values, spec.formula(xp, *values, **given, **attrs))
            for cell, value in zip(cells, new, strict=True):
                cell.write(value)
        return None if resource else cells[0]

    positional = [
        inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ["xp", *state, *rest]
    ]
    keyword = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in switch]
    kernel.__signature__ = inspect.Signature(positional + keyword)  # type: ignore[attr-defined]
    return kernel


def _as_before(values: list[Array], new: Sequence[Array]) -> list[Array]:
    """New values in the types of the old ones."""
    pairs = zip(values, new, strict=True)
    return [n if n.dtype == old.dtype else n.astype(old.dtype) for old, n in pairs]


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


def _check_signs(xp: Any, given: dict[str, Array]) -> None:
    for name, (words, is_right) in _SIGNS.items():
        if name in given:
            require(
                xp,
                is_right(given[name]),
                partial(errors.InvalidArgumentError, None, None, f"{words} scalar: []"),
            )


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
                given = s.with_rank_at_least(given, 1) or ()
                s.merge(given[:1], rows)
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
    traits = STATEFUL | UPDATES_ROWS if sparse else STATEFUL
    return op(
        "Resource" * resource + "Sparse" * sparse + "Apply" + spec.name,
        inputs=", ".join(
            [f"{name}: {holder}" for name in state]
            + [f"{name}: {_FIXED_TYPES.get(name, 'T')}" for name in rest]
        ),
        outputs="" if resource else "out: ref(T)",
        attrs=", ".join(attrs),
        shape=_shape_rule(len(state), rest, resource),
        traits=traits | costs(_flops(len(state), rest)),
    )(_kernel(spec, rest, sparse, resource))


for _spec in _OPTIMIZERS:
    for _sparse in (False, True) if _spec.sparse else (False,):
        for _resource in (False, True) if _spec.reference else (True,):
            _declare(_spec, _sparse, _resource)
