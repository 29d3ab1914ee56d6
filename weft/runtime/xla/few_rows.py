"""Products of a few rows and a large matrix, as small batches make them, in programs for x86.

XLA's library for products packs the large matrix for them, which on a few cores takes longer than
the product itself. A matrix given by columns, as for the gradient of a layer, takes its place
instead: then the rows are packed. One given by rows goes to XLA's own products, which take what
does not lie in memory as that library wants it: rows that were copied to columns.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from weft.core import machine
from weft.runtime.xla.cut_fusion import blocks, maker_of, op_name

# With more cores than that, packing takes less time than what is done to go without.
MOST_CORES = 4
# Rows are few next to a matrix with so many elements for each of them.
_EACH = 2**16


def multiply_few_rows(module: Any) -> int:
    """Rewrites such products of a StableHLO module, in place; returns how many."""
    if machine.IS_ARM:  # whose products XLA computes itself
        return 0
    functions = [each.operation for each in module.body.operations]
    found = [p for f in functions for block in blocks(f, 1) for p in _products(block)]
    for operation in found:
        _rewrite(operation)
    return len(found)


def _products(block: Any) -> Iterator[Any]:
    for each in block.operations:
        operation = each.operation
        if op_name(operation) == "dot_general" and _has_few_rows(operation):
            yield operation


def _has_few_rows(operation: Any) -> bool:
    a, b = operation.operands
    if str(a.type.element_type) != "f32" or not len(a.type.shape) == len(b.type.shape) == 2:
        return False
    over = _contracted(operation)
    if [len(axes) for axes in over] != [1, 1] or not _is_last(a, *over[0]):
        return False
    rows: int = a.type.shape[1 - over[0][0]]
    return 1 < rows and rows * _EACH <= math.prod(b.type.shape)


def _contracted(operation: Any) -> tuple[list[int], list[int]]:
    """The axes of both operands over which a dot_general adds up."""
    from jaxlib.mlir.dialects import stablehlo

    numbers = stablehlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])
    return numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions


def _is_last(value: Any, axis: int) -> bool:
    """Whether an axis is the last in memory. XLA multiplies what was transposed as it was."""
    maker = maker_of(value)
    if maker is not None and op_name(maker) == "transpose":
        axis = list(maker.attributes["permutation"])[axis]
    return axis == len(value.type.shape) - 1


def _rewrite(operation: Any) -> None:
    """Has the rows copied to columns; they come second if the matrix is given by columns."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    (a, b), (over_a, over_b) = operation.operands, _contracted(operation)
    exchanged = _is_last(b, *over_b)
    with operation.location, ir.InsertionPoint(operation):

        def kept(value: Any) -> Any:
            return stablehlo.optimization_barrier([value])

        def turned(value: Any) -> Any:
            return stablehlo.transpose(value, [1, 0])

        def product(first: Any, second: Any, over: tuple[list[int], list[int]]) -> Any:
            ends = (
                v.type.shape[1 - axis] for v, (axis,) in zip((first, second), over, strict=True)
            )
            kind = ir.RankedTensorType.get(list(ends), a.type.element_type)
            numbers = stablehlo.DotDimensionNumbers.get([], [], *over)
            precision = operation.attributes["precision_config"]
            return stablehlo.dot_general(kind, first, second, numbers, precision_config=precision)

        columns = kept(a if over_a == [0] else turned(a))
        if exchanged:
            result = turned(kept(product(b, columns, (over_b, [0]))))
        else:
            result = product(columns, b, ([0], over_b))
    operation.results[0].replace_all_uses_with(result)
    operation.erase()
