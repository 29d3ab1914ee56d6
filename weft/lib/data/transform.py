"""Datasets made of others without looking at the elements."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import get_default_graph
from weft.graph.op_def import OpDef, raw
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.options import Options
from weft.lib.data.random_seed import get_seed
from weft.lib.data.sources import range_
from weft.lib.data.structure import convert_legacy_structure, flat_tensor_shapes, flat_tensor_types
from weft.lib.platform.behavior import v2_behavior_enabled
from weft.ops.kit.eager import executing_eagerly

_MAX_INT64 = 2**63 - 1


def unary(op: OpDef, dataset: Dataset, *arguments: Any, **attrs: Any) -> Dataset:
    """A dataset of the same structure that `op` makes of `dataset`."""
    variant = op(dataset._variant_tensor, *arguments, **attrs, **dataset._flat_structure)
    return DatasetV1Adapter(variant, dataset.element_spec, [dataset])


def int64(value: Any, name: str) -> Any:
    return convert_to_tensor(value, dtype=dtypes.int64, name=name)


def repeat(dataset: Dataset, count: Any) -> Dataset:
    if count is None:
        times = constant(-1, dtype=dtypes.int64, name="count")
    else:
        times = int64(count, "count")
    return unary(raw.RepeatDataset, dataset, times)


def take(dataset: Dataset, count: Any) -> Dataset:
    return unary(raw.TakeDataset, dataset, int64(count, "count"))


def skip(dataset: Dataset, count: Any) -> Dataset:
    return unary(raw.SkipDataset, dataset, int64(count, "count"))


def shard(dataset: Dataset, num_shards: Any, index: Any) -> Dataset:
    arguments = int64(num_shards, "num_shards"), int64(index, "index")
    return unary(raw.ShardDataset, dataset, *arguments)


def cache(dataset: Dataset, filename: Any) -> Dataset:
    name = convert_to_tensor(filename, dtype=dtypes.string, name="filename")
    return unary(raw.CacheDataset, dataset, name)


def _outlives_iterators() -> bool:
    """Whether a dataset is made once, and not whenever an iterator is initialized."""
    return executing_eagerly() or get_default_graph().building_function


def shuffle(dataset: Dataset, buffer_size: Any, seed: Any, reshuffle: bool | None) -> Dataset:
    size = int64(buffer_size, "buffer_size")
    anew = True if reshuffle is None else reshuffle
    if anew and v2_behavior_enabled() and _outlives_iterators():
        generator, _ = raw.AnonymousRandomSeedGenerator(*get_seed(seed))
        return unary(raw.ShuffleDatasetV2, dataset, size, generator)
    return unary(raw.ShuffleDataset, dataset, size, *get_seed(seed), reshuffle_each_iteration=anew)


def prefetch(dataset: Dataset, buffer_size: Any, slack_period: int | None = None) -> Dataset:
    size = int64(-1 if buffer_size is None else buffer_size, "buffer_size")
    return unary(raw.PrefetchDataset, dataset, size, slack_period=slack_period or 0)


def enumerate_(dataset: Dataset, start: Any) -> Dataset:
    return zip_((range_(start, _MAX_INT64), dataset))


def zip_(datasets: Any) -> Dataset:
    flat = nest.flatten(datasets)
    for each in flat:
        if isinstance(each, Dataset):
            continue
        message = "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
        if isinstance(each, list):
            message += " Nested structures do not support Python lists; please use a tuple instead."
        raise TypeError(message)
    spec = nest.pack_sequence_as(datasets, [each.element_spec for each in flat])
    variant = raw.ZipDataset(
        [each._variant_tensor for each in flat], output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, flat)


def concatenate(first: Dataset, second: Dataset) -> Dataset:
    if not hasattr(second, "element_spec"):
        raise TypeError(
            f"`dataset_or_iterator` must be a Dataset or Iterator object, but got {type(second)}."
        )
    if first.output_types != second.output_types:
        raise TypeError(
            "Two datasets to concatenate have different types"
            f" {first.output_types} and {second.output_types}"
        )
    if first.output_classes != second.output_classes:
        raise TypeError(
            "Two datasets to concatenate have different classes"
            f" {first.output_classes} and {second.output_classes}"
        )
    shapes = [
        a.most_specific_compatible_shape(b)
        for a, b in zip(
            nest.flatten(first.output_shapes), nest.flatten(second.output_shapes), strict=True
        )
    ]
    spec = convert_legacy_structure(
        first.output_types, nest.pack_sequence_as(first.output_shapes, shapes),
        first.output_classes,
    )  # fmt: skip
    variant = raw.ConcatenateDataset(
        first._variant_tensor, second._variant_tensor, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [first, second])


# ---- options -------------------------------------------------------------------------------------


def with_options(dataset: Dataset, options: Options) -> Dataset:
    merged = dataset.options().merge(options)
    return DatasetV1Adapter(
        dataset._variant_tensor, dataset.element_spec, [dataset], options=merged
    )


def apply_options(dataset: Dataset) -> Dataset:
    """The dataset that an iterator is made of: with the datasets its options ask for around it."""
    options = dataset.options()
    threading, tuning = options.experimental_threading, options.experimental_optimization
    if threading.max_intra_op_parallelism is not None:
        count = int64(threading.max_intra_op_parallelism, "max_intra_op_parallelism")
        dataset = unary(raw.MaxIntraOpParallelismDataset, dataset, count)
    if threading.private_threadpool_size is not None:
        count = int64(threading.private_threadpool_size, "num_threads")
        dataset = unary(raw.PrivateThreadPoolDataset, dataset, count)
    rewrites = options.optimizations()
    if rewrites and _reads_ref_variables(dataset):
        warnings.warn(
            "tf.data static optimizations are not compatible with tf.Variable. The following"
            f" optimizations will be disabled: {', '.join(rewrites)}. To enable optimizations, use"
            " resource variables instead by calling `tf.enable_resource_variables()` at the start"
            " of the program.",
            stacklevel=4,
        )
    elif rewrites:
        asked = convert_to_tensor(rewrites, dtype=dtypes.string, name="optimizations")
        configs = options.optimization_configs()
        dataset = unary(raw.OptimizeDataset, dataset, asked, optimization_configs=configs)
    if tuning.autotune is not False:
        algorithm, budget = tuning.autotune_algorithm or 0, tuning.autotune_cpu_budget or 0
        dataset = unary(raw.ModelDataset, dataset, algorithm=algorithm, cpu_budget=budget)
    stats = options.experimental_stats
    if stats.aggregator is not None:
        dataset = unary(
            raw.SetStatsAggregatorDataset, dataset, stats.aggregator._resource, stats.prefix,
            stats.counter_prefix,
        )  # fmt: skip
    return dataset


def _reads_ref_variables(dataset: Dataset) -> bool:
    """Whether a function of a pipeline takes something that is made of a reference variable."""
    pending = [
        tensor for function in _all_functions(dataset) for tensor in function.captured_inputs
    ]
    seen = set(pending)
    while pending:
        tensor = pending.pop()
        if tensor.dtype._is_ref_dtype:
            return True
        pending += [each for each in tensor.op.inputs if each not in seen]
        seen.update(tensor.op.inputs)
    return False


def _all_functions(dataset: Dataset) -> Iterator[Any]:
    yield from dataset._functions()
    for each in dataset._inputs():
        yield from _all_functions(each)
