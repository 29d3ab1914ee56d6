"""Which of XLA's two libraries multiplies the matrices of a program for x86, and in which form.

One is quicker at what a batch of few rows, or many small matrices, is multiplied by; the other at a
second matrix that is given by its columns, as in the gradients of layers. A program has one for all
its products: the one that saves more than it costs. Few rows by a large matrix of columns are the
quickest as the product with both exchanged.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from weft.core import machine
from weft.runtime.xla.cut_fusion import blocks, maker_of, op_name

_KINDS = ("f32", "f64")
# Rows that are few, and elements of a matrix from which on exchanging it with them is worth it.
_FEW_ROWS, _LARGE = 64, 2**20
# Multiplications from which on a product is large: then it matters little who multiplies.
_MANY = 2**27
# What part of its time a product saves with XLA's own library; below 0, what it costs.
_FEW_OR_SMALL, _BY_ROWS, _BY_ROWS_LARGE = 0.3, 0.2, -0.05
_BY_COLUMNS, _BY_COLUMNS_LARGE = -0.7, -0.2


@dataclass(frozen=True)
class Product:
    """A product of matrices, [.., rows, inner] by [.., inner, columns], batches of it counted."""

    operation: Any
    batch: int
    rows: int
    inner: int
    columns: int
    first_by_rows: bool  # how the elements of the matrices lie in memory
    second_by_rows: bool

    @property
    def multiplications(self) -> int:
        return self.batch * self.rows * self.inner * self.columns

    @property
    def exchanges(self) -> bool:
        """Whether it is quicker with both matrices exchanged."""
        is_few_by_many = self.rows <= _FEW_ROWS and self.inner * self.columns >= _LARGE
        is_plain = all(len(value.type.shape) == 2 for value in self.operation.operands)
        return is_plain and self.first_by_rows and not self.second_by_rows and is_few_by_many

    @property
    def saves(self) -> float:
        """How much of a unit of time XLA's own library saves."""
        if not self.first_by_rows:
            return 0.0
        is_large = self.multiplications >= _MANY
        if self.batch > 1 or self.exchanges or (self.second_by_rows and self.rows <= _FEW_ROWS):
            part = _FEW_OR_SMALL
        elif self.second_by_rows:
            part = _BY_ROWS_LARGE if is_large else _BY_ROWS
        else:
            part = _BY_COLUMNS_LARGE if is_large else _BY_COLUMNS
        return part * self.multiplications


def own_library(module: Any) -> bool:
    """Whether XLA's own library is to multiply for a StableHLO module, which then fits it."""
    if machine.IS_ARM:
        return True
    functions = [each.operation for each in module.body.operations]
    found = [p for f in functions for block in blocks(f, 1) for p in _products(block)]
    if sum(product.saves for product in found) <= 0:
        return False
    for product in found:
        if product.exchanges:
            _exchange(product.operation)
    return True


def _products(block: Any) -> Iterator[Product]:
    for each in block.operations:
        operation = each.operation
        if op_name(operation) == "dot_general":
            product = _product(operation)
            if product is not None:
                yield product


def _product(operation: Any) -> Product | None:
    """What a dot_general multiplies, if both libraries know how."""
    numbers = _numbers(operation)
    over = numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions
    kinds = [value.type for value in operation.operands]
    shapes = [list(kind.shape) for kind in kinds]
    if str(kinds[0].element_type) not in _KINDS or len(over[0]) != 1 or 0 in shapes[0] + shapes[1]:
        return None
    batch = math.prod(shapes[0][i] for i in numbers.lhs_batching_dimensions)
    inner = shapes[0][over[0][0]]
    rows, columns = (math.prod(shape) // (batch * inner) for shape in shapes)
    if 1 in (rows, columns):
        return None
    by_rows = [
        _is_last(value, axes[0]) for value, axes in zip(operation.operands, over, strict=True)
    ]
    return Product(operation, batch, rows, inner, columns, by_rows[0], not by_rows[1])


def _numbers(operation: Any) -> Any:
    from jaxlib.mlir.dialects import stablehlo

    return stablehlo.DotDimensionNumbers(operation.attributes["dot_dimension_numbers"])


def _is_last(value: Any, axis: int) -> bool:
    """Whether an axis is the last in memory. XLA multiplies what was transposed as it was."""
    maker = maker_of(value)
    if maker is not None and op_name(maker) == "transpose":
        axis = list(maker.attributes["permutation"])[axis]
    return axis == len(value.type.shape) - 1


def _exchange(operation: Any) -> None:
    """Writes a b as (b' a')', with the few rows of a copied to columns."""
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    (a, b), numbers = operation.operands, _numbers(operation)
    with operation.location, ir.InsertionPoint(operation):

        def kept(value: Any) -> Any:
            return stablehlo.optimization_barrier([value])

        turned = a if numbers.lhs_contracting_dimensions == [0] else stablehlo.transpose(a, [1, 0])
        exchanged = stablehlo.DotDimensionNumbers.get(
            [], [], numbers.rhs_contracting_dimensions, [0]
        )
        columns = [i for i in range(2) if i not in numbers.rhs_contracting_dimensions]
        shape = [b.type.shape[columns[0]], *operation.results[0].type.shape[:1]]
        kind = ir.RankedTensorType.get(shape, a.type.element_type)
        product = stablehlo.dot_general(
            kind,
            b,
            kept(turned),
            exchanged,
            precision_config=operation.attributes["precision_config"],
        )
        result = stablehlo.transpose(kept(product), [1, 0])
    operation.results[0].replace_all_uses_with(result)
    operation.erase()
