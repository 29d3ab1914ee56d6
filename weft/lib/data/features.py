"""tf.data.experimental: files of Examples as batches of features."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft.core import dtypes
from weft.graph.op_def import raw
from weft.graph.type_spec import SparseTensorSpec, TensorSpec
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.readers import TFRecordDataset
from weft.lib.data.structure import are_compatible, flat_tensor_shapes, flat_tensor_types
from weft.lib.data.tables import AUTOTUNE, interleaved, shuffled
from weft.ops.parsing.features import SparseFeature, _assembled, _with_rows, request
from weft.ops.queues.readers import ReaderBase


def parse_example_dataset(
    features: Mapping[str, Any], num_parallel_calls: Any = 1
) -> Callable[[Dataset], Dataset]:
    """Batches of serialized Examples -> dicts of tensors."""
    if features is None:
        raise ValueError(f"Missing: features was {features}.")

    def apply(dataset: Dataset) -> Dataset:
        if not are_compatible(dataset.element_spec, TensorSpec([None], dtypes.string)):
            raise TypeError("Input dataset should be a dataset of vectors of strings")
        wanted = _with_rows(features)
        parsed = _parsed(dataset, wanted, num_parallel_calls)
        if not any(isinstance(each, SparseFeature) for each in features.values()):
            return parsed
        return parsed.map(lambda found: _assembled(wanted, found), num_parallel_calls)

    return apply


def _parsed(dataset: Dataset, features: Mapping[str, Any], calls: Any) -> Dataset:
    wanted = request(features)
    rows = dataset.output_shapes
    spec: dict[str, Any] = {
        key: TensorSpec(rows.concatenate(shape), dtype)
        for key, shape, dtype in zip(
            wanted.dense_keys, wanted.dense_shapes, wanted.dense_types, strict=True
        )
    }
    for key, dtype in zip(wanted.sparse_keys, wanted.sparse_types, strict=True):
        spec[key] = SparseTensorSpec(rows.concatenate([None]), dtype)
    variant = raw.ParseExampleDataset(
        dataset._variant_tensor, calls, wanted.default_tensors(),
        sparse_keys=wanted.sparse_keys, dense_keys=wanted.dense_keys,
        sparse_types=wanted.sparse_types, dense_shapes=wanted.dense_shapes,
        output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [dataset])


def make_batched_features_dataset(
    file_pattern: Any, batch_size: Any, features: Mapping[str, Any], reader: Any = TFRecordDataset,
    label_key: str | None = None, reader_args: Any = None, num_epochs: Any = None,
    shuffle: bool = True, shuffle_buffer_size: Any = 10000, shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None, reader_num_threads: Any = None,
    parser_num_threads: Any = None, sloppy_ordering: bool = False, drop_final_batch: bool = False,
) -> Dataset:  # fmt: skip
    """Batches of the Examples in files, as dicts; with `label_key`, pairs of a dict and labels."""
    if isinstance(reader, type) and issubclass(reader, ReaderBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are"
            " not supported. For example, pass `tf.data.TFRecordDataset` instead of"
            " `tf.TFRecordReader`."
        )
    files = Dataset.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    arguments = reader_args or []
    threads = 1 if reader_num_threads is None else reader_num_threads
    dataset = interleaved(files, lambda name: reader(name, *arguments), threads, sloppy_ordering)
    if dataset.output_types == (dtypes.string, dtypes.string):
        dataset = dataset.map(lambda _, value: value)
    dataset = shuffled(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    calls = 2 if parser_num_threads is None else parser_num_threads
    dataset = dataset.apply(parse_example_dataset(features, num_parallel_calls=calls))
    if label_key:
        if label_key not in features:
            raise ValueError(
                f"The `label_key` provided ({label_key!r}) must be one of the `features` keys."
            )
        dataset = dataset.map(lambda found: (found, found.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)
