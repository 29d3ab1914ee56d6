"""Large matrices whose rows become columns, in programs for a host: by a kernel of our own.

XLA goes along one of the two, and waits for memory at each step along the other. What is only used
to multiply it never turns, and what is computed element by element it turns on the way: the kernel
is for what has to lie in memory turned, as a result or as what another kernel is given.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.ops.kit import native
from weft.runtime.xla.cut_fusion import blocks, op_name

_LARGE, _SHORTEST = 2**17, 32  # elements, and of a row or column
_IN_MEMORY = frozenset(("return", "custom_call"))


def turn_matrices(module: Any) -> int:
    """Rewrites such transpositions of a StableHLO module, in place; returns how many."""
    if not native.has("turn"):
        return 0
    found = [operation for operation in _operations(module) if _is_large(operation)]
    for operation in found:
        _rewrite(operation)
    return len(found)


def _operations(module: Any) -> list[Any]:
    functions = [each.operation for each in module.body.operations]
    return [o.operation for f in functions for block in blocks(f, 1) for o in block.operations]


def _is_large(operation: Any) -> bool:
    if op_name(operation) != "transpose":
        return False
    kind, order = operation.operands[0].type, list(operation.attributes["permutation"])
    rank = len(order)
    if (
        rank < 2
        or order != [*range(rank - 2), rank - 1, rank - 2]
        or str(kind.element_type) != "f32"
    ):
        return False
    is_large = math.prod(kind.shape) >= _LARGE and min(kind.shape[-2:]) >= _SHORTEST
    return is_large and all(op_name(use.owner) in _IN_MEMORY for use in operation.results[0].uses)


def _rewrite(operation: Any) -> None:
    from jaxlib.mlir import ir

    result = operation.results[0]
    with operation.location, ir.InsertionPoint(operation):
        texts = _attributes(tuple(operation.operands[0].type.shape))
        attributes = {name: ir.Attribute.parse(text) for name, text in texts.items()}
        made = ir.Operation.create(
            "stablehlo.custom_call", [result.type], list(operation.operands), attributes
        )
    result.replace_all_uses_with(made.results[0])
    operation.erase()


def _attributes(shape: tuple[int, ...]) -> dict[str, str]:
    """How a call of the kernel is written, as jax writes one."""
    import jax

    *batch, rows, columns = shape
    sizes = math.prod(batch), rows, columns
    alone = jax.jit(lambda x: native.call("turn", (*batch, columns, rows), x, sizes=sizes))
    array: Any = jax.ShapeDtypeStruct
    module = alone.lower(array(shape, np.float32)).compiler_ir()
    call = next(each for each in _operations(module) if op_name(each) == "custom_call")
    return {name: str(call.attributes[name]) for name in call.attributes}
