"""Datasets that call functions of their elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes, machine
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import OpDef, raw
from weft.graph.type_spec import TensorSpec
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.dataset_spec import DatasetSpec
from weft.lib.data.functions import StructuredFunction
from weft.lib.data.structure import flat_tensor_shapes, flat_tensor_types
from weft.lib.data.transform import int64


def calling(
    op: OpDef, dataset: Dataset, function: StructuredFunction, spec: Any, *more: Any,
    argument: str = "f", **attrs: Any,
) -> Dataset:  # fmt: skip
    """A dataset that `op` makes of `dataset` with a function of its elements."""
    variant = op(
        dataset._variant_tensor, function.captured_inputs, *more,
        **{argument: function.reference}, **attrs, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [dataset], [function])


def map_(
    dataset: Dataset, map_func: Callable[..., Any], num_parallel_calls: Any, legacy: bool = False,
    **attrs: Any,
) -> Dataset:  # fmt: skip
    function = StructuredFunction(map_func, "Dataset.map()", dataset.element_spec, legacy)
    spec = function.output_structure
    if num_parallel_calls is None:
        return calling(raw.MapDataset, dataset, function, spec, **attrs)
    calls = convert_to_tensor(num_parallel_calls, dtype=dtypes.int32, name="num_parallel_calls")
    return calling(raw.ParallelMapDataset, dataset, function, spec, calls)


def filter_(dataset: Dataset, predicate: Callable[..., Any], legacy: bool = False) -> Dataset:
    function = StructuredFunction(predicate, "Dataset.filter()", dataset.element_spec, legacy)
    check_predicate(function)
    return calling(raw.FilterDataset, dataset, function, dataset.element_spec, argument="predicate")


def check_predicate(function: StructuredFunction) -> None:
    found = function.output_structure
    wanted = TensorSpec([], dtypes.bool)
    if not isinstance(found, TensorSpec) or not found.is_compatible_with(wanted):
        raise ValueError(
            f"`predicate` return type must be convertible to a scalar boolean tensor. Was {found}."
        )


def inner_spec(function: StructuredFunction) -> Any:
    """The specs of the elements of the datasets that a function makes."""
    found = function.output_structure
    if not isinstance(found, DatasetSpec):
        raise TypeError("`map_func` must return a `Dataset` object.")
    return found._element_spec


def flat_map(dataset: Dataset, map_func: Callable[..., Any]) -> Dataset:
    function = StructuredFunction(map_func, "Dataset.flat_map()", dataset.element_spec)
    if not isinstance(function.output_structure, DatasetSpec):
        raise TypeError(
            f"`map_func` must return a `Dataset` object. Got {type(function.output_structure)}"
        )
    return calling(raw.FlatMapDataset, dataset, function, inner_spec(function))


def interleave(
    dataset: Dataset, map_func: Callable[..., Any], cycle_length: Any, block_length: Any,
    num_parallel_calls: Any,
) -> Dataset:  # fmt: skip
    function = StructuredFunction(map_func, "Dataset.interleave()", dataset.element_spec)
    if not isinstance(function.output_structure, DatasetSpec):
        raise TypeError(
            f"`map_func` must return a `Dataset` object. Got {type(function.output_structure)}"
        )
    spec = inner_spec(function)
    if isinstance(cycle_length, int) and cycle_length == -1:
        cycle_length = machine.cores()
    cycle, block = int64(cycle_length, "cycle_length"), int64(block_length, "block_length")
    if num_parallel_calls is None:
        return calling(raw.InterleaveDataset, dataset, function, spec, cycle, block)
    calls = int64(num_parallel_calls, "num_parallel_calls")
    return calling(raw.ParallelInterleaveDatasetV2, dataset, function, spec, cycle, block, calls)
