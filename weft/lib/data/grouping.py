"""tf.data.experimental: elements grouped by a key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.dataset_spec import DatasetSpec
from weft.lib.data.functions import StructuredFunction
from weft.lib.data.reduction import stateful_function
from weft.lib.data.structure import flat_tensor_shapes, flat_tensor_types
from weft.ops.control.check import assert_less
from weft.ops.math import math

Transformation = Callable[[Dataset], Dataset]
_KEY = TensorSpec([], dtypes.int64)


def _key_function(key_func: Callable[..., Any], name: str, dataset: Dataset) -> StructuredFunction:
    def key_func_wrapper(*args: Any) -> Tensor:
        return convert_to_tensor(key_func(*args), dtype=dtypes.int64)

    called = key_func_wrapper if "window" in name else key_func
    function = StructuredFunction(called, name, dataset.element_spec)
    found = function.output_structure
    if not (isinstance(found, TensorSpec) and found.is_compatible_with(_KEY)):
        raise ValueError(
            "`key_func` must return a single tf.int64 scalar tensor."
            if "window" in name
            else "`key_func` must return a single tf.int64 tensor. Got type="
            f"{function.output_types} and shape={function.output_shapes}"
        )
    return function


# ---- windows -------------------------------------------------------------------------------------


def group_by_window(
    key_func: Callable[..., Any], reduce_func: Callable[..., Any], window_size: Any = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:  # fmt: skip
    """Collects windows of elements with equal keys; `reduce_func(key, window)` gives a dataset."""
    if (window_size is not None) == bool(window_size_func):
        raise ValueError("Must pass either window_size or window_size_func.")
    size = window_size_func or (lambda _: convert_to_tensor(window_size, dtype=dtypes.int64))
    return lambda dataset: _group_by_window(dataset, key_func, reduce_func, size)


def _group_by_window(dataset: Dataset, key_func: Any, reduce_func: Any, size_func: Any) -> Dataset:
    name = "tf.data.experimental.group_by_window()"
    key = _key_function(key_func, name, dataset)
    reduce = StructuredFunction(reduce_func, name, (_KEY, DatasetSpec(dataset.element_spec)))
    if not isinstance(reduce.output_structure, DatasetSpec):
        raise TypeError("`reduce_func` must return a `Dataset` object.")

    def window_size_func_wrapper(value: Any) -> Tensor:
        return convert_to_tensor(size_func(value), dtype=dtypes.int64)

    sizes = StructuredFunction(window_size_func_wrapper, name, _KEY)
    if not sizes.output_structure.is_compatible_with(_KEY):
        raise ValueError("`window_size_func` must return a single tf.int64 scalar tensor.")
    spec = reduce.output_structure._element_spec
    variant = raw.GroupByWindowDataset(
        dataset._variant_tensor, key.captured_inputs, reduce.captured_inputs,
        sizes.captured_inputs, key_func=key.reference, reduce_func=reduce.reference,
        window_size_func=sizes.reference, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [dataset], [key, reduce, sizes])


# ---- reductions ----------------------------------------------------------------------------------


class Reducer:
    """The reduction of a group: `finalize(reduce(... reduce(init(key), element) ...))`."""

    def __init__(
        self, init_func: Callable[..., Any], reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:  # fmt: skip
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        return self._functions[2]


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """One element for each key: what `reducer` makes of the elements that have it."""

    def apply(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.group_by_reducer()"
        key = _key_function(key_func, name, dataset)
        begin = StructuredFunction(reducer.init_func, name, _KEY)
        reduce, state = stateful_function(
            reducer.reduce_func, name, dataset, begin.output_structure,
            lambda function: function.output_structure,
        )  # fmt: skip
        finish = StructuredFunction(reducer.finalize_func, name, state)
        spec = finish.output_structure
        variant = raw.GroupByReducerDataset(
            dataset._variant_tensor, key.captured_inputs, begin.captured_inputs,
            reduce.captured_inputs, finish.captured_inputs, key_func=key.reference,
            init_func=begin.reference, reduce_func=reduce.reference,
            finalize_func=finish.reference, output_types=flat_tensor_types(spec),
            output_shapes=flat_tensor_shapes(spec),
        )  # fmt: skip
        return DatasetV1Adapter(variant, spec, [dataset], [key, begin, reduce, finish])

    return apply


# ---- buckets -------------------------------------------------------------------------------------


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
    pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
) -> Transformation:  # fmt: skip
    """Batches of elements of about the same length."""
    with name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        batch_sizes = constant(list(bucket_batch_sizes), dtype=dtypes.int64)

    def bucket_of(*args: Any) -> Tensor:
        length = element_length_func(*args)
        limits = np.iinfo(np.int32)
        low = raw.LessEqual([limits.min, *bucket_boundaries], length)
        high = raw.Less(length, [*bucket_boundaries, limits.max])
        return math.reduce_min(raw.Where(raw.LogicalAnd(low, high)))

    def size_of(bucket: Tensor) -> Tensor:
        return batch_sizes[bucket]

    def batching_fn(bucket: Tensor, window: Dataset) -> Dataset:
        size = size_of(bucket)
        if no_padding:
            return window.batch(size, drop_remainder=drop_remainder)
        filler = None
        if pad_to_bucket_boundary:
            filler = _boundary(bucket, bucket_boundaries, len(bucket_batch_sizes))
        shapes = _padded_shapes(padded_shapes or window.output_shapes, filler)
        return window.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

    return lambda dataset: dataset.apply(
        group_by_window(bucket_of, batching_fn, window_size_func=size_of)
    )


def _boundary(bucket: Tensor, boundaries: Sequence[int], buckets: int) -> Tensor:
    """The largest length in a bucket."""
    check = assert_less(
        bucket, constant(buckets - 1, dtype=dtypes.int64),
        message="When pad_to_bucket_boundary=True, elements must have length <"
        " max(bucket_boundaries).",
    )  # fmt: skip
    with control_dependencies([check]):
        return constant(list(boundaries), dtype=dtypes.int64)[bucket] - 1


def _padded_shapes(shapes: Any, filler: Any) -> Any:
    found = []
    for shape in nest.flatten(shapes):
        dims = TensorShape(shape).dims or []
        found.append([filler if d.value is None else d.value for d in dims])
    return nest.pack_sequence_as(shapes, found)
