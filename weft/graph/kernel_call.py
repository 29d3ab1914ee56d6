"""Binding a kernel to a node's attributes: the one calling convention of all kernels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.core.deferred import Deferred
from weft.graph.counts import checked_count
from weft.graph.op_def import ArgDef, OpDef

Call = Callable[..., Sequence[Any]]


def bind(definition: OpDef, attrs: dict[str, Any], traced: bool = False) -> Call:
    """`call(xp, inputs, *extra) -> flat outputs` for a node with these attributes.

    `extra` is the ctx or rng of kernels that take one. `traced` prefers the kernel for tracing.
    A kernel that has to wait gives a promise of its outputs, which is handed on as it is.
    """
    kernel = definition.traced_kernel if traced and definition.traced_kernel else definition.kernel
    assert kernel is not None, definition.name
    named = kernel_attrs(definition, attrs)
    group = _grouper(definition, attrs) if definition.has_list_input else None
    single, waits = definition.single_output, definition.blocking

    def call(xp: Any, inputs: Sequence[Any], *extra: Any) -> Sequence[Any]:
        args = group(inputs) if group is not None else inputs
        result = kernel(xp, *extra, *args, **named)
        if waits and isinstance(result, Deferred):
            return result  # type: ignore[return-value]
        if single:
            return (result,)
        return () if result is None else result

    return call


def kernel_attrs(definition: OpDef, attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes of a node that its kernel takes, by the names of its parameters."""
    return {k: attrs[k if k in attrs else k.rstrip("_")] for k in definition.kernel_attrs}


def _grouper(definition: OpDef, attrs: dict[str, Any]) -> Callable[[Sequence[Any]], list[Any]]:
    """Flat inputs -> one value per argument, lists as lists."""
    cuts: list[tuple[int, int | None]] = []
    position = 0
    for arg in definition.input_args:
        if arg.is_list:
            count = list_length(arg, attrs)
            cuts.append((position, position + count))
            position += count
        else:
            cuts.append((position, None))
            position += 1

    def group(inputs: Sequence[Any]) -> list[Any]:
        return [inputs[a] if b is None else list(inputs[a:b]) for a, b in cuts]

    return group


def list_length(arg: ArgDef, attrs: dict[str, Any]) -> int:
    """How many tensors a list argument of a node has."""
    if arg.number_attr is not None:
        return checked_count(arg.number_attr, attrs[arg.number_attr])
    return len(attrs[arg.type_list_attr or ""])


def flat_args(definition: OpDef, attrs: dict[str, Any]) -> list[ArgDef]:
    """The argument that each flat input belongs to."""
    flat: list[ArgDef] = []
    for arg in definition.input_args:
        flat += [arg] * (list_length(arg, attrs) if arg.is_list else 1)
    return flat


def flat_arg_names(definition: OpDef, attrs: dict[str, Any]) -> list[str]:
    """The argument name of each flat input."""
    return [arg.name for arg in flat_args(definition, attrs)]
