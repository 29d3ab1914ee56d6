"""tf.RaggedTensor: the class, its parts, and what a session makes of it."""

from __future__ import annotations

from typing import Any

from weft.client.fetches import register_session_run_conversion_functions
from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor, register_tensor_conversion_function
from weft.graph.graph import Graph, name_scope
from weft.graph.tensor import Tensor
from weft.graph.type_spec import register_type_spec_from_value_converter
from weft.lib.ragged import conversion
from weft.lib.ragged.factories import Factories
from weft.lib.ragged.partition import Partition
from weft.lib.ragged.rows import (
    INDEX_TYPES,
    MISMATCH,
    index_type,
    positive_axis,
    row_splits_to_segment_ids,
    splits_to_lengths,
)
from weft.lib.ragged.spec import RaggedTensorSpec
from weft.lib.ragged.value import RaggedTensorValue, ragged_value
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.kit.eager import EagerTensor
from weft.ops.math import math


class RaggedTensor(Factories):
    """Rows of different lengths: `values`, and `row_splits` that say where rows begin and end.

    `values` may be ragged itself; the innermost values are `flat_values`. Made by the `from_*`
    methods; with `validate` they add operations that check what they are given.
    """

    def __init__(
        self,
        values: Any,
        row_splits: Tensor,
        cached_row_lengths: Tensor | None = None,
        cached_value_rowids: Tensor | None = None,
        cached_nrows: Tensor | None = None,
        internal: bool = False,
    ) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        for part, kinds, rule in (
            (row_splits, (Tensor,), "Row-partitioning argument must be a Tensor"),
            (values, (RaggedTensor, Tensor), "values must be a Tensor or RaggedTensor"),
        ):
            if not isinstance(part, kinds):
                raise TypeError(f"{rule}, got {part!r}")
        if row_splits.dtype not in INDEX_TYPES:
            raise ValueError("Row-partitioning argument must be int32 or int64")
        row_splits.set_shape(row_splits.shape.with_rank(1))
        values.shape.with_rank_at_least(1)
        self._values: Any = values
        self._row_splits = row_splits
        for cached in (cached_row_lengths, cached_value_rowids, cached_nrows):
            _check_cached(cached)
        self._row_lengths, self._value_rowids = cached_row_lengths, cached_value_rowids
        self._nrows = cached_nrows

    # ---- parts ----

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The known shape; ragged dimensions are None."""
        splits = self._row_splits.shape.as_list()[0]
        rows = None if splits is None else splits - 1
        return TensorShape([rows, None]).concatenate(self._values.shape[1:])

    def get_shape(self) -> TensorShape:
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return len(self.nested_row_splits)

    @property
    def values(self) -> Any:
        """The rows one after the other."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Row i is `values[row_splits[i]:row_splits[i + 1]]`."""
        return self._row_splits

    @property
    def flat_values(self) -> Tensor:
        """The innermost values."""
        inner = isinstance(self._values, RaggedTensor)
        return self._values.flat_values if inner else self._values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The splits of all ragged dimensions, outermost first."""
        inner = isinstance(self._values, RaggedTensor)
        return (self._row_splits, *(self._values.nested_row_splits if inner else ()))

    @property
    def graph(self) -> Graph:
        return self._row_splits.graph

    @property
    def op(self) -> Any:
        return self.flat_values.op

    def _levels(self) -> list[RaggedTensor]:
        inner = isinstance(self._values, RaggedTensor)
        return [self, *(self._values._levels() if inner else ())]

    def value_rowids(self, name: str | None = None) -> Tensor:
        """The row of each value."""
        if self._value_rowids is not None:
            return self._value_rowids
        with name_scope(name, "RaggedValueRowIds", [self]):
            return row_splits_to_segment_ids(self._row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """`value_rowids` of all ragged dimensions, outermost first."""
        with name_scope(name, "RaggedNestedValueRowIds", [self]):
            return tuple(level.value_rowids() for level in self._levels())

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        kind = index_type(self._row_splits, out_type)
        if (known := self._nrows) is not None:
            return math.cast(known, kind)
        with name_scope(name, "RaggedNRows", [self]):
            return self._count_rows(kind)

    def _count_rows(self, dtype: DType) -> Tensor:
        return array.shape(self._row_splits, out_type=dtype)[0] - 1

    def row_starts(self, name: str | None = None) -> Tensor:
        """The start of each row in `values`."""
        with name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name: str | None = None) -> Tensor:
        """The end of each row in `values`."""
        with name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The length of each row in dimension `axis`."""
        with name_scope(name, "RaggedRowLengths", [self]):
            depth = positive_axis(axis, self.shape.ndims)
            if depth > 1:
                return self.with_values(self._lengths_of_values(depth - 1))
            return self._own_lengths() if depth else self.nrows()

    def _own_lengths(self) -> Tensor:
        known = self._row_lengths
        return splits_to_lengths(self._row_splits) if known is None else known

    def _lengths_of_values(self, axis: int) -> Any:
        values, kind = self._values, self._row_splits.dtype
        if isinstance(values, RaggedTensor):
            return values.row_lengths(axis)
        sizes = array.shape(values, out_type=kind)
        return array.ones(sizes[:axis], kind) * sizes[axis]

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The lengths of rows in all ragged dimensions, outermost first."""
        with name_scope(name, "RaggedNestedRowLengths", [self]):
            return tuple(level.row_lengths() for level in self._levels())

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest dense tensor that has room for all values."""
        dtype = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with name_scope(name, "RaggedBoundingBox", [self, axis]):
            longest = [
                math.cast(math.maximum(math.reduce_max(splits_to_lengths(splits)), 0), dtype)
                for splits in self.nested_row_splits
            ]
            rows = self._count_rows(dtype)
            if isinstance(axis, int) and axis in (0, 1):
                return longest[0] if axis else rows
            inner = array.shape(self.flat_values, out_type=dtype)[1:]
            box = array.concat([array.stack([rows, *longest]), inner], axis=0)
            return box if axis is None else gather(box, axis)

    # ---- changed parts ----

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows of other values."""
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        splits = new_values.row_splits if isinstance(new_values, RaggedTensor) else None
        if splits is not None and splits.dtype != self._row_splits.dtype:
            raise ValueError(
                "self and new_values have mismatched row_splits dtypes; use "
                "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
            )
        known = self._row_lengths, self._value_rowids, self._nrows
        return RaggedTensor(new_values, self._row_splits, *known, internal=True)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows, at all levels, of other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same with splits of another type."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in INDEX_TYPES:
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        known = self._row_splits, self._row_lengths, self._value_rowids, self._nrows
        parts: list[Any] = [None if each is None else math.cast(each, dtype) for each in known]
        return RaggedTensor._made(Partition(values, *parts))

    # ---- in other forms ----

    def to_tensor(self, default_value: Any = None, name: str | None = None) -> Tensor:
        """A dense tensor with `default_value` (0 or "") after the end of rows."""
        with name_scope(name, "RaggedToTensor", [self, default_value]):
            return conversion.to_tensor(self, default_value)

    def to_sparse(self, name: str | None = None) -> Any:
        """A sparse tensor of the same values."""
        with name_scope(name, "RaggedToSparse", [self]):
            return conversion.to_sparse(self)

    def to_list(self) -> list[Any]:
        """Nested Python lists, where the values are known: in eager execution."""
        value = self._eager_value()
        if value is not None:
            return value.to_list()
        raise ValueError(
            "RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the "
            "RaggedTensor first and then use RaggedTensorValue.to_list()."
        )

    def _eager_value(self) -> RaggedTensorValue | None:
        """The value of a tensor of eager execution; None in graphs."""
        parts = self._composite_components()
        if not all(isinstance(part, EagerTensor) for part in parts):
            return None
        flat, *splits = [part.numpy() for part in parts]
        value: RaggedTensorValue = ragged_value(flat, splits)
        return value

    def _to_variant(self, batched_input: bool = False, name: str | None = None) -> Tensor:
        """One variant, or one for each row."""
        with name_scope(name, "RaggedToVariant", [self, batched_input]):
            return conversion.to_variant(self, batched_input)

    def __repr__(self) -> str:
        value = self._eager_value()
        if value is not None:
            return f"<tf.RaggedTensor {value.to_list()}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def eval(self, feed_dict: Any = None, session: Any = None) -> RaggedTensorValue:
        """The value in the session, or in the default one."""
        from weft.graph.tensor import _session_for

        return _session_for(session, self.graph, "evaluate tensor", "eval").run(self, feed_dict)

    def consumers(self) -> list[Any]:
        """The operations that take one of the parts."""
        found = (op for part in self._composite_components() for op in part.consumers())
        return list(dict.fromkeys(found))

    def _shape_invariant_to_type_spec(self, shape: TensorShape) -> RaggedTensorSpec:
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    @property
    def _type_spec(self) -> RaggedTensorSpec:
        return RaggedTensorSpec.from_value(self)

    def _composite_components(self) -> list[Any]:
        return [self.flat_values, *self.nested_row_splits]

    def _from_components(self, parts: list[Any]) -> Any:
        return RaggedTensor.from_nested_row_splits(parts[0], parts[1:], validate=False)

    def _as_graph_element(self) -> Tensor:
        return self.flat_values


def _check_cached(value: Any) -> None:
    if value is not None and not isinstance(value, Tensor):
        raise TypeError("Cached value must be a Tensor or None.")
    if value is not None and value.dtype not in INDEX_TYPES:
        raise TypeError("Cached value must be int32 or int64.")


# ---- values that may be ragged ------------------------------------------------------------------


def is_ragged(value: Any) -> bool:
    """Whether `value` is a ragged tensor or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def match_row_splits_dtypes(*tensors: Any) -> tuple[DType, list[Any]]:
    """(the one type of splits, the tensors); ValueError if there are two."""
    found = {t.row_splits.dtype for t in tensors if isinstance(t, RaggedTensor)}
    if len(found) > 1:
        raise ValueError(MISMATCH)
    return (found.pop() if found else dtypes.int64), list(tensors)


def convert_alike(types: dict[str, Any], **given: Any) -> tuple[DType, list[Any]]:
    """(the one type of splits, the arguments as tensors of their names and, if any, `types`)."""
    tensors = [
        convert_to_tensor_or_ragged_tensor(value, types.get(name), name=name)
        for name, value in given.items()
    ]
    return match_row_splits_dtypes(*tensors)


def convert_to_tensor_or_ragged_tensor(
    value: Any, dtype: Any = None, preferred_dtype: Any = None, name: str | None = None
) -> Any:
    """A RaggedTensor for ragged values, a Tensor otherwise."""
    if isinstance(value, RaggedTensor):
        if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for RaggedTensor"
                f" with dtype {value.dtype.name}: {value!r}"
            )
        return value
    if isinstance(value, RaggedTensorValue):
        with name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat = convert_to_tensor(
                value.flat_values, dtype, preferred_dtype=preferred_dtype, name="flat_values"
            )
            splits = value.nested_row_splits
            return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)
    return convert_to_tensor(value, dtype, preferred_dtype=preferred_dtype, name=name)


def _refuse(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
    raise TypeError(f"Failed to convert object of type {type(value)} to Tensor. Contents: {value}.")


def _fetch(tensor: RaggedTensor) -> Any:
    return tensor._composite_components(), lambda parts: ragged_value(parts[0], parts[1:])


def _feed(tensor: RaggedTensor, value: Any) -> Any:
    fed = [value.flat_values, *value.nested_row_splits]
    return list(zip(tensor._composite_components(), fed, strict=True))


register_tensor_conversion_function((RaggedTensor, RaggedTensorValue), _refuse, 0)
register_session_run_conversion_functions(RaggedTensor, _fetch, _feed)
register_type_spec_from_value_converter(RaggedTensor, RaggedTensorSpec.from_value)
register_type_spec_from_value_converter(RaggedTensorValue, RaggedTensorSpec.from_value)
