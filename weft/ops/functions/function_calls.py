"""Conditionals, loops and calls over functions made by `Defun`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core import dtypes
from weft.graph.graph import Operation, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.ops.functions.defun import DefinedFunction, Defun, get_extra_args
from weft.ops.functions.function_nodes import remote_call, symbolic_gradient

__all__ = ["For", "If", "While", "partitioned_call", "remote_call", "symbolic_gradient"]


def _result_types(function: Any) -> list[Any]:
    return [dtypes.as_dtype(arg.type) for arg in function.definition.signature.output_arg]


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def If(
    cond: Any,
    inputs: Sequence[Any],
    then_branch: DefinedFunction,
    else_branch: DefinedFunction,
    name: str | None = None,
) -> Any:
    """The results of `then_branch` for `inputs` if `cond` holds, or else of `else_branch`."""
    types = _result_types(then_branch)
    return raw.If(cond, list(inputs), types, then_branch, else_branch, name=name)


def While(
    input_: Sequence[Any],
    cond: DefinedFunction,
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Any = None,
) -> Any:
    """Applies `body` to its own results, from `input_` on, as long as `cond` of them holds."""
    if cond.captured_inputs:
        raise ValueError(
            "While op 'cond' argument must be a function without implicitly captured inputs."
        )
    declared = list(body.declared_input_types)
    if list(cond.declared_input_types) != declared:
        raise ValueError(
            "While op 'cond' and 'body' signatures do not match."
            f" {cond.declared_input_types!r} vs {body.declared_input_types!r}"
        )
    captured = list(body.captured_inputs)
    if not captured:
        return raw.While(list(input_), cond, body, name=name)

    @Defun(*declared, *(t.dtype.base_dtype for t in captured), func_name=f"{cond.name}_Wrapper")
    def wrapper(*args: Tensor) -> Any:
        return cond(*args[: len(declared)])

    found = raw.While([*input_, *captured], wrapper, _handing_on(body), name=name)
    return found[: -len(captured)]


def For(
    start: Any,
    limit: Any,
    delta: Any,
    inputs: Sequence[Any],
    body: DefinedFunction,
    name: str | None = None,
    hostmem: Any = None,
    rewrite_with_while: bool | None = None,
) -> Any:
    """Applies `body(i, *values)` to its own results for each `i` of the range."""
    if rewrite_with_while:
        return _counting_while(start, limit, delta, inputs, body, name)
    captured = list(body.captured_inputs)
    if not captured:
        return raw.For(start, limit, delta, list(inputs), body, name=name)
    found = raw.For(start, limit, delta, [*inputs, *captured], _handing_on(body), name=name)
    return found[: -len(captured)]


def _counting_while(
    start: Any, limit: Any, delta: Any, inputs: Sequence[Any], body: DefinedFunction,
    name: str | None,
) -> Any:  # fmt: skip
    """The same loop by way of `While`, with a counter that starts at zero."""
    with name_scope(name, "For_rewrite"):
        step = raw.Abs(delta)
        turns = raw.FloorDiv(raw.Sub(raw.Add(raw.Abs(raw.Sub(limit, start)), step), 1), step)
    types = [dtypes.int32] * 4 + list(body.declared_input_types)[1:]

    @Defun(*types, func_name=f"{body.name}_Cond")
    def more(i: Tensor, n: Tensor, *_: Tensor) -> Any:
        return raw.Less(i, n)

    @Defun(*types, func_name=f"{body.name}_Body")
    def turn(i: Tensor, n: Tensor, first: Tensor, by: Tensor, *values: Tensor) -> Any:
        result = body(raw.Add(first, raw.Mul(i, by)), *values)
        own = [] if isinstance(result, Operation) else _listed(result)
        return [raw.Add(i, 1), n, first, by, *own]

    return While([0, turns, start, delta, *inputs], more, turn, name=name)[4:]


def _handing_on(body: DefinedFunction) -> DefinedFunction:
    """`body`, which returns what it has captured too, as a loop needs it."""

    @Defun(*body.declared_input_types, func_name=f"{body.name}_Wrapper")
    def wrapper(*args: Tensor) -> Any:
        result = body(*args)
        own = [] if isinstance(result, Operation) else _listed(result)
        return [*own, *get_extra_args()]

    made: DefinedFunction = wrapper
    return made


def partitioned_call(
    args: Sequence[Any],
    f: DefinedFunction,
    tout: Sequence[Any] | None = None,
    executing_eagerly: bool | None = None,
    config: Any = None,
    executor_type: str | None = None,
) -> Any:
    """Calls `f` with `args` (its captured inputs are among them); gives results or operation."""
    types = _result_types(f) if tout is None else [dtypes.as_dtype(each) for each in tout]
    make = raw.StatefulPartitionedCall if f.stateful_ops else raw.PartitionedCall
    found = make(list(args), types, f, executor_type=executor_type or "")
    return tuple(found) if isinstance(found, list) else found
