"""NaNs in programs for x86, where the library that XLA leaves sums to takes maximum(NaN, 1) for 1.

It does so to the maxima and minima that it adds up, as in a sum of rectified numbers. Written as a
comparison and a choice those are what IEEE's rules make of them, whoever computes them. All others
stay as they are: XLA computes them itself, rightly, and quicker than choices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft.core import machine
from weft.runtime.xla.cut_fusion import APART, blocks, is_kept, op_name

_EXTREMES = {"maximum": "GT", "minimum": "LT"}
# What adds up, or may be resolved into something that does.
_TAKES_IN = frozenset(("reduce", "while", "case", "if"))


def keep_nans(module: Any) -> int:
    """Writes the extremes that a StableHLO module may add up as choices; returns how many."""
    if machine.IS_ARM:  # whose own instructions keep NaNs
        return 0
    functions = [each.operation for each in module.body.operations]
    bodies = [(each, blocks(each)) for each in functions]
    summing = {_symbol(each) for each, found in bodies if any(map(_has_more, found))}
    count = 0
    for _, found in bodies:
        for block in found:
            for operation in list(_may_be_added_up(block, summing)):
                _write_as_choice(operation)
                count += 1
    return count


def _symbol(function: Any) -> str:
    name: str = function.attributes["sym_name"].value
    return name


def _has_more(block: Any) -> bool:
    return any(op_name(each.operation) in _TAKES_IN | {"call"} for each in block.operations)


def _may_be_added_up(block: Any, summing: set[str]) -> Iterator[Any]:
    """The extremes of floats from which a way through elements leads to a sum, or out."""
    operations = [each.operation for each in block.operations]
    maker = {result: each for each in operations for result in each.results}
    seen = set[Any]()
    waiting = [v for each in operations if _takes_in(each, summing) for v in each.operands]
    while waiting:
        value = waiting.pop()
        if value in seen or value not in maker:
            continue
        seen.add(value)
        operation = maker[value]
        if op_name(operation) in _EXTREMES and _is_array_of_floats(value):
            yield operation
        if op_name(operation) not in APART and not is_kept(operation):
            waiting += operation.operands


def _takes_in(operation: Any, summing: set[str]) -> bool:
    """Whether what makes its operands may be computed together with a sum."""
    name = op_name(operation)
    if name == "return":  # of a function that is called, or of a loop's body
        return operation.parent.name != "func.func" or _symbol(operation.parent) != "main"
    if name == "call":
        return operation.attributes["callee"].value in summing and not is_kept(operation)
    return name in _TAKES_IN


def _is_array_of_floats(value: Any) -> bool:
    """Numbers by themselves are what processes reduce by."""
    return len(value.type.shape) > 0 and "f" in str(value.type.element_type)


def _write_as_choice(operation: Any) -> None:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    a, b = operation.operands
    with operation.location, ir.InsertionPoint(operation):

        def compared(x: Any, y: Any, how: str) -> Any:
            direction = stablehlo.ComparisonDirectionAttr.get(how)
            return stablehlo.compare(x, y, comparison_direction=direction)

        is_more = compared(a, b, _EXTREMES[op_name(operation)])
        chosen = stablehlo.select(stablehlo.or_(is_more, compared(a, a, "NE")), a, b)
    operation.results[0].replace_all_uses_with(chosen)
    operation.erase()
