"""How ops on elements are declared, and how an op becomes a public function.

`unary` (see unary.py, special.py) and `binary` declare the regular ones, each in one entry. A
kernel is `f(xp, x)` or `f(xp, x, y)` and keeps the dtype of its inputs; binary kernels broadcast.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.graph import Tensor, control_dependencies
from weft.graph.op_def import OpDef, op, raw
from weft.graph.slices import SparseTensor
from weft.graph.traits import ELEMENTWISE, PLAIN, Traits
from weft.ops.kit.broadcast import check_broadcast
from weft.ops.kit.describe import describe

Array = Any


Kernel = Callable[..., Array]
Gradient = Callable[..., Any]


def unary(
    name: str,
    types: str,
    kernel: Kernel,
    *,
    from_x: Gradient | None = None,
    from_y: Gradient | None = None,
    gradient: Gradient | None = None,
    out: str = "T",
    traits: Traits = PLAIN,
) -> OpDef:
    """Declares `y = kernel(xp, x)`.

    `from_x(grad, x)` and `from_y(grad, y)` give the gradient from the conjugated input or output,
    computed no earlier than `grad`; `gradient(op, grad)` is the general form.
    """
    attrs = f"T: {types}" if types else ""
    inputs = "x: T" if types else "x: bool"
    declare = op(
        name,
        inputs=inputs,
        outputs=f"y: {out}",
        attrs=attrs,
        shape=s.unchanged,
        traits=traits | ELEMENTWISE,
    )
    definition = declare(kernel)
    if from_x is not None or from_y is not None:

        def gradient(op: Any, grad: Any) -> Any:
            with control_dependencies([grad]):
                if from_x is not None:
                    return from_x(grad, conj(op.inputs[0]))
                return from_y(grad, conj(op.outputs[0]))  # type: ignore[misc]

    if gradient is not None:
        definition.gradient(gradient)
    return definition


def binary(
    name: str,
    types: str,
    kernel: Kernel,
    *,
    inputs: str = "x, y",
    out: str = "z: T",
    attrs: str = "",
    infix: str | None = None,
    traits: Traits = PLAIN,
    shape: s.Rule = s.broadcast,
) -> OpDef:
    """Declares `z = kernel(xp, x, y)` with broadcasting.

    `infix`: the operator of Python that does the same for numbers.
    """
    first, second = inputs.split(", ")
    kind = "T" if types else "bool"
    declared = ", ".join(part for part in (f"T: {types}" if types else "", attrs) if part)
    declare = op(
        name,
        inputs=f"{first}: {kind}, {second}: {kind}",
        outputs=out,
        attrs=declared,
        shape=shape,
        traits=traits | ELEMENTWISE | Traits(infix=infix),
    )

    def checked(xp: Any, *operands: Array) -> Array:
        try:
            return kernel(xp, *operands)
        except (TypeError, ValueError):
            check_broadcast(*operands)
            raise

    return declare(checked)


def literal(like: Array, value: complex) -> Any:
    """`value` as a scalar of `like`'s dtype: bfloat16 arrays widen when they meet a float."""
    return like.dtype.type(value)


def is_integer(x: Array) -> bool:
    return x.dtype.kind in "iu"


def conj(x: Tensor) -> Tensor:
    """The complex conjugate; real tensors are returned as they are."""
    return raw.Conj(x) if x.dtype.is_complex else x


def no_gradient(op: Any, grad: Any) -> Any:
    # Registered, so that asking for it is no error; the derivative is zero almost everywhere.
    return [None] * len(op.inputs)


def cast_to(x: Tensor, dtype: DType) -> Tensor:
    return x if x.dtype.base_dtype is dtype else raw.Cast(x, DstT=dtype)


def public(
    name: str, op_name: str, doc: str, parameters: str = "x", sparse: bool = False
) -> Callable[..., Any]:
    """The op as a function with TensorFlow's parameters: its inputs, and attributes if listed.

    With `sparse`, a SparseTensor argument has the function applied to its values. `doc` is the
    first sentence of its docstring.
    """
    definition = getattr(raw, op_name)
    names = parameters.split(", ")
    assert definition.params[: len(names)] == names, op_name

    def function(*args: Any, **kwargs: Any) -> Any:
        if sparse and args and isinstance(args[0], SparseTensor):
            x, *rest = args
            return SparseTensor(x.indices, definition(x.values, *rest, **kwargs), x.dense_shape)
        return definition(*args, **kwargs)

    known = inspect.signature(definition).parameters
    shown = [definition.api_names.get(parameter, parameter) for parameter in (*names, "name")]
    listed = [known[parameter] for parameter in shown]
    returned = "Tensor" if definition.single_output else "Any"
    signature = inspect.Signature(listed, return_annotation=returned)
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__name__ = function.__qualname__ = name
    function.__module__ = sys._getframe(1).f_globals["__name__"]
    function.__doc__ = describe(name, definition, doc, shown)
    return function
