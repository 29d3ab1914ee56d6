"""Ways to make a RaggedTensor: from values and what says where rows end, or from other tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.ragged import conversion, partition
from weft.lib.ragged.partition import Partition


class Factories:
    """The `from_*` methods of `RaggedTensor`."""

    @classmethod
    def _made(cls, parts: Partition) -> Self:
        return cls(*parts, internal=True)  # type: ignore[call-arg]

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Self:
        """Rows given by the row of each value, in ascending order."""
        _check_bool(validate)
        with name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            return cls._made(partition.from_value_rowids(values, value_rowids, nrows, validate))

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Rows given by where they begin, and where the last one ends."""
        _check_bool(validate)
        match row_splits:
            case list() | tuple() if not row_splits:
                raise ValueError("row_splits tensor may not be empty.")
        with name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            return cls._made(partition.from_row_splits(values, row_splits, validate))

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Rows given by their lengths."""
        _check_bool(validate)
        with name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            return cls._made(partition.from_row_lengths(values, row_lengths, validate))

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Rows given by where they begin."""
        _check_bool(validate)
        with name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            return cls._made(partition.from_row_starts(values, row_starts, validate))

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> Self:
        """Rows given by where they end."""
        _check_bool(validate)
        with name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            return cls._made(partition.from_row_limits(values, row_limits, validate))

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged dimensions, outermost first; see `from_value_rowids`."""
        _check_bool(validate)
        _check_list("nested_value_rowids", nested_value_rowids)
        _check_list("nested_nrows", nested_nrows)
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        result, levels = flat_values, list(zip(nested_value_rowids, counts, strict=True))
        scope = [flat_values, *nested_value_rowids, *counts]
        with name_scope(name, "RaggedFromNestedValueRowIds", scope):
            for rowids, nrows in reversed(levels):
                result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
            return result

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged dimensions, outermost first; see `from_row_splits`."""
        _check_bool(validate)
        _check_list("nested_row_splits", nested_row_splits)
        with name_scope(name, "RaggedFromNestedRowSplits", [flat_values, *nested_row_splits]):
            return _nested(cls.from_row_splits, flat_values, nested_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Several ragged dimensions, outermost first; see `from_row_lengths`."""
        _check_bool(validate)
        _check_list("nested_row_lengths", nested_row_lengths)
        with name_scope(name, "RaggedFromNestedRowlengths", [flat_values, *nested_row_lengths]):
            return _nested(cls.from_row_lengths, flat_values, nested_row_lengths, validate)

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: str | None = None,
        row_splits_dtype: Any = dtypes.int64,
    ) -> Self:
        """A dense tensor, whose rows may be cut to `lengths` or before trailing `padding`."""
        if all(given is not None for given in (lengths, padding)):
            raise ValueError("Specify lengths or padding, but not both")
        _check_levels(ragged_rank)
        with name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            kind = dtypes.as_dtype(row_splits_dtype)
            return conversion.from_tensor(cls, tensor, lengths, padding, ragged_rank, kind)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = dtypes.int64
    ) -> Self:
        """A sparse matrix whose rows have their values at the beginning, without gaps."""
        dtype = dtypes.as_dtype(row_splits_dtype)
        return conversion.from_sparse(cls, st_input, name, dtype)

    @classmethod
    def _from_variant(
        cls,
        variant: Any,
        dtype: DType,
        output_ragged_rank: int,
        input_ragged_rank: int | None = None,
        name: str | None = None,
    ) -> Self:
        """Variants that hold ragged tensors, with their own shape as outer dimensions."""
        return conversion.from_variant(
            cls, variant, dtype, output_ragged_rank, input_ragged_rank, name
        )


def _nested(make: Callable[..., Any], values: Any, levels: Sequence[Any], validate: bool) -> Any:
    """Rows, of rows, of `values`; the outermost level comes first."""
    for level in reversed(levels):
        values = make(values, level, validate=validate)
    return values


def _check_levels(ragged_rank: Any) -> None:
    if not isinstance(ragged_rank, int):
        raise TypeError(f"ragged_rank expected int, got {ragged_rank!r}")
    if ragged_rank <= 0:
        raise ValueError(f"ragged_rank must be greater than 0; got {ragged_rank}")


def _check_bool(validate: Any) -> None:
    if not isinstance(validate, bool):
        raise TypeError("validate must have type bool")


def _check_list(name: str, value: Any) -> None:
    if isinstance(value, Tensor):
        raise TypeError(f"{name} must be a list of Tensors")
