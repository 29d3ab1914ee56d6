"""tf.contrib.data: tf.data.experimental under its older name, and what did not come along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.op_def import raw
from weft.graph.type_spec import TensorSpec
from weft.lib.data import nest
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.experimental_calls import copy_to_device as copy_to_device
from weft.lib.data.experimental_calls import dense_to_sparse_batch as dense_to_sparse_batch
from weft.lib.data.experimental_calls import enumerate_dataset as enumerate_dataset
from weft.lib.data.experimental_calls import ignore_errors as ignore_errors
from weft.lib.data.experimental_calls import latency_stats as latency_stats
from weft.lib.data.experimental_calls import map_and_batch as map_and_batch
from weft.lib.data.experimental_calls import parallel_interleave as parallel_interleave
from weft.lib.data.experimental_calls import prefetch_to_device as prefetch_to_device
from weft.lib.data.experimental_calls import scan as scan
from weft.lib.data.experimental_calls import shuffle_and_repeat as shuffle_and_repeat
from weft.lib.data.experimental_calls import unbatch as unbatch
from weft.lib.data.experimental_calls import unique as unique
from weft.lib.data.experimental_types import AUTOTUNE as AUTOTUNE
from weft.lib.data.experimental_types import StatsAggregator as StatsAggregator
from weft.lib.data.experimental_types import TFRecordWriter as TFRecordWriter
from weft.lib.data.features import make_batched_features_dataset as make_batched_features_dataset
from weft.lib.data.features import parse_example_dataset as parse_example_dataset
from weft.lib.data.grouping import Reducer as Reducer
from weft.lib.data.grouping import bucket_by_sequence_length as bucket_by_sequence_length
from weft.lib.data.grouping import group_by_reducer as group_by_reducer
from weft.lib.data.grouping import group_by_window as group_by_window
from weft.lib.data.iterator import get_next_as_optional as get_next_as_optional
from weft.lib.data.mixing import Counter as Counter
from weft.lib.data.mixing import RandomDataset as RandomDataset
from weft.lib.data.mixing import choose_from_datasets as choose_from_datasets
from weft.lib.data.mixing import rejection_resample as rejection_resample
from weft.lib.data.mixing import sample_from_datasets as sample_from_datasets
from weft.lib.data.optional import Optional as Optional
from weft.lib.data.options import Options
from weft.lib.data.readers import FixedLengthRecordDataset as FixedLengthRecordDataset
from weft.lib.data.readers import TextLineDataset as TextLineDataset
from weft.lib.data.readers import TFRecordDataset as TFRecordDataset
from weft.lib.data.reduction import get_single_element as get_single_element
from weft.lib.data.saving import CheckpointInputPipelineHook as CheckpointInputPipelineHook
from weft.lib.data.saving import make_saveable_from_iterator as make_saveable_from_iterator
from weft.lib.data.structure import (
    batched,
    convert_legacy_structure,
    flat_tensor_shapes,
    flat_tensor_types,
)
from weft.lib.data.tables import CsvDataset as CsvDataset
from weft.lib.data.tables import SqlDataset as SqlDataset
from weft.lib.data.tables import make_csv_dataset as make_csv_dataset
from weft.lib.data.transform import int64

Transformation = Callable[[Dataset], Dataset]


def batch_and_drop_remainder(batch_size: Any) -> Transformation:
    """A transformation to batches; the last elements, if too few for one, are dropped."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: Any, padded_shapes: Any, padding_values: Any = None
) -> Transformation:
    """A transformation to padded batches that drops a last, smaller one."""
    return lambda dataset: dataset.padded_batch(
        batch_size, padded_shapes, padding_values, drop_remainder=True
    )


def sloppy_interleave(
    map_func: Callable[..., Any], cycle_length: Any, block_length: Any = 1
) -> Transformation:
    """`parallel_interleave` that takes elements as they come, in any order."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def assert_element_shape(expected_shapes: Any) -> Transformation:
    """Elements whose shapes are checked in every step, and known from here on."""
    from weft.ops.array.placeholders import ensure_shape

    def apply(dataset: Dataset) -> Dataset:
        flat = nest.flatten(expected_shapes)

        def checked(*components: Any) -> Any:
            given = components if type(dataset.element_spec) is tuple else components[0]
            leaves = zip(nest.flatten(given), flat, strict=True)
            found = [ensure_shape(value, shape) for value, shape in leaves]
            return nest.pack_sequence_as(given, found)

        merged = nest.map_structure(
            lambda own, wanted: own.merge_with(wanted), dataset.output_shapes, expected_shapes
        )
        mapped = dataset.map(checked)
        spec = convert_legacy_structure(dataset.output_types, merged, dataset.output_classes)
        return DatasetV1Adapter(mapped._variant_tensor, spec, [mapped])

    return apply


def sliding_window_batch(
    window_size: Any, stride: Any = None, window_shift: Any = None, window_stride: Any = 1
) -> Transformation:
    """Batches that overlap: each begins `window_shift` elements after the one before."""
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = stride if window_shift is None else window_shift

    def apply(dataset: Dataset) -> Dataset:
        spec = batched(dataset.element_spec, None)
        variant = raw.SlidingWindowDataset(
            dataset._variant_tensor, int64(window_size, "window_size"),
            int64(1 if shift is None else shift, "window_shift"),
            int64(window_stride, "window_stride"), output_types=flat_tensor_types(spec),
            output_shapes=flat_tensor_shapes(spec),
        )  # fmt: skip
        return DatasetV1Adapter(variant, spec, [dataset])

    return apply


def set_stats_aggregator(
    stats_aggregator: StatsAggregator, prefix: str = "", counter_prefix: str = ""
) -> Transformation:
    """Lets an aggregator know what datasets measure."""

    def apply(dataset: Dataset) -> Dataset:
        options = Options()
        options.experimental_stats.aggregator = stats_aggregator
        options.experimental_stats.prefix = prefix
        options.experimental_stats.counter_prefix = counter_prefix
        return dataset.with_options(options)

    return apply


def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Any:
    """The result of a reducer for a whole dataset."""
    if not isinstance(dataset, Dataset):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    zero = convert_to_tensor(0, dtype=dtypes.int64)
    last = dataset.reduce(reducer.init_func(zero), reducer.reduce_func)
    return reducer.finalize_func(last)


def read_batch_features(
    file_pattern: Any, batch_size: Any, features: Any, reader: Any = None,
    reader_args: Any = None, randomize_input: bool = True, num_epochs: Any = None,
    capacity: Any = 10000,
) -> Any:  # fmt: skip
    """The features of a batch of Examples, another one in every step."""

    dataset = make_batched_features_dataset(
        file_pattern, batch_size, features, reader=reader or TFRecordDataset,
        reader_args=reader_args, shuffle=randomize_input, num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )  # fmt: skip
    return dataset.make_one_shot_iterator().get_next()


class LMDBDataset(DatasetV1Adapter):
    """Keys and values of LMDB files."""

    def __init__(self, filenames: Any) -> None:
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        spec = TensorSpec([], dtypes.string), TensorSpec([], dtypes.string)
        variant = raw.LMDBDataset(
            names, output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec)
        )
        super().__init__(variant, spec)
