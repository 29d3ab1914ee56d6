"""tf.map_fn over ragged rows, and with rows of different lengths as results.

A ragged result is kept as its parts: in one TensorArray the flat values of every iteration, in
others the lengths of its rows, and at the end each is concatenated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.dtypes import int32
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.tensor import Tensor
from weft.lib.ragged.spec import RaggedTensorSpec
from weft.lib.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged
from weft.ops.array import array
from weft.ops.control.control import Assert
from weft.ops.control.while_loop import while_loop
from weft.ops.functions import functional as dense
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import math


def map_fn(
    fn: Callable[[Any], Any],
    elems: Any,
    dtype: Any = None,
    parallel_iterations: int | None = None,
    back_prop: bool = True,
    swap_memory: bool = False,
    infer_shape: bool = True,
    name: str | None = None,
    fn_output_signature: Any = None,
) -> Any:
    """Applies `fn` to every row of `elems` and stacks the results.

    Args:
        fn: a function of a row; of a structure of rows, if `elems` is one.
        elems: a tensor, ragged tensor, or a structure of them with one first dimension.
        dtype: the structure of types that `fn` returns, if not that of `elems`; where it has a
            RaggedTensorSpec, results become a ragged tensor.
        parallel_iterations: how many rows may be computed at once; None: 10.
        back_prop: whether gradients flow.
        swap_memory: whether what gradients need may wait on the host.
        infer_shape: whether all results have one shape.
        name: of the operations.
        fn_output_signature: a newer name of `dtype`.

    Returns:
        A tensor, or a structure of them, with a row for each row.

    Raises:
        TypeError: `fn` cannot be called, or its results are not of the form `dtype` says.
        ValueError: there are no elements.

    Example:
        >>> session.run(tf.map_fn(lambda row: tf.reduce_sum(row), tf.constant([[1, 2], [3, 4]])))
        array([3, 7], dtype=int32)
    """
    kinds = dtype if fn_output_signature is None else fn_output_signature
    leaves = [*nest.flatten(elems), *nest.flatten(kinds)]
    options = parallel_iterations, back_prop, swap_memory, infer_shape, name
    if not any(is_ragged(leaf) or isinstance(leaf, RaggedTensorSpec) for leaf in leaves):
        return dense.map_fn(fn, elems, kinds, *options)
    if not callable(fn):
        raise TypeError("fn must be callable.")
    return _mapped(fn, elems, kinds, *options)


def _mapped(
    fn: Any, elems: Any, kinds: Any, parallel: Any, back_prop: bool, swap: bool, infer: bool,
    name: str | None,
) -> Any:  # fmt: skip
    with name_scope(name, "map", nest.flatten(elems)):
        rows = nest.map_structure(
            lambda elem: convert_to_tensor_or_ragged_tensor(elem, name="elem"), elems
        )
        if kinds is None:
            kinds = nest.map_structure(_kind_of_rows, rows)
        count = _count(nest.flatten(rows)[0])
        results = [_Result(kind, count, infer) for kind in nest.flatten(kinds)]

        def compute(i: Tensor, states: list[Any]) -> Any:
            value = fn(nest.map_structure(lambda elem: elem[i], rows))
            nest.assert_same_structure(kinds, value)
            leaves = zip(results, states, nest.flatten(value), strict=True)
            return i + 1, [result.write(arrays, i, leaf) for result, arrays, leaf in leaves]

        _, states = while_loop(
            lambda i, _: i < count, compute, (constant(0), [r.arrays for r in results]),
            parallel_iterations=parallel or 10, back_prop=back_prop, swap_memory=swap,
            maximum_iterations=count,
        )  # fmt: skip
        found = [result.joined(arrays) for result, arrays in zip(results, states, strict=True)]
        return nest.pack_sequence_as(kinds, found)


def _count(rows: Any) -> Tensor:
    if isinstance(rows, RaggedTensor):
        return rows.nrows(out_type=int32)
    return array.shape(rows)[0]


def _kind_of_rows(rows: Any) -> Any:
    return rows._type_spec._unbatch() if isinstance(rows, RaggedTensor) else rows.dtype


class _Result:
    """One tensor that the function returns, and the arrays that collect it."""

    def __init__(self, kind: Any, count: Tensor, infer_shape: bool) -> None:
        self.ragged = isinstance(kind, RaggedTensorSpec)
        if not self.ragged:
            self.arrays = [TensorArray(kind, size=count, infer_shape=infer_shape)]
            return
        self.dtype, self.splits_dtype = kind._dtype, kind._row_splits_dtype
        self.levels = kind._ragged_rank
        # The values, how their inner dimensions are, and lengths of rows from the outermost in.
        types = [kind._dtype, int32, *[kind._row_splits_dtype] * (self.levels + 1)]
        self.arrays = [TensorArray(each, size=count, infer_shape=False) for each in types]

    def write(self, arrays: list[Any], i: Tensor, value: Any) -> list[Any]:
        parts = self._parts(value) if self.ragged else [value]
        return [each.write(i, part) for each, part in zip(arrays, parts, strict=True)]

    def _parts(self, value: Any) -> list[Any]:
        value = convert_to_tensor_or_ragged_tensor(value)
        levels = value.ragged_rank if isinstance(value, RaggedTensor) else 0
        if levels != self.levels:
            raise ValueError(
                f"The declared ragged rank ({self.levels + 1}) mismatches the result ({levels + 1})"
            )
        if value.shape.ndims == 0:
            raise ValueError(f"fn returned a scalar where its type is a row: {value}. Pass dtype.")
        if value.dtype != self.dtype:
            raise ValueError(
                f"The declared dtype ({self.dtype}) mismatches the result ({value.dtype})"
            )
        flat, nested = value, ()
        if isinstance(value, RaggedTensor):
            value = value.with_row_splits_dtype(self.splits_dtype)
            flat, nested = value.flat_values, value.nested_row_lengths()
        rows = math.cast(_count(value), self.splits_dtype)
        return [flat, array.shape(flat)[1:], array.expand_dims(rows, 0), *nested]

    def joined(self, arrays: list[Any]) -> Any:
        if not self.ragged:
            return arrays[0].stack()
        values, inner, *lengths = arrays
        shapes = inner.stack()
        message = "All flat_values must have compatible shapes"
        same = Assert(math.reduce_all(math.equal(shapes, shapes[:1])), [message, shapes])
        with control_dependencies([same]):
            flat = array.identity(convert_to_tensor(values.concat()))
        nested = [each.concat() for each in lengths]
        return RaggedTensor.from_nested_row_lengths(flat, nested, validate=False)
