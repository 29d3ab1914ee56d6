"""tf.data.experimental: public names, re-exported from where they are made."""

from weft.lib.data.dataset_spec import from_variant as from_variant, to_variant as to_variant
from weft.lib.data.experimental_calls import (
    bytes_produced_stats as bytes_produced_stats,
    copy_to_device as copy_to_device,
    dense_to_sparse_batch as dense_to_sparse_batch,
    enumerate_dataset as enumerate_dataset,
    ignore_errors as ignore_errors,
    latency_stats as latency_stats,
    map_and_batch as map_and_batch,
    map_and_batch_with_legacy_function as map_and_batch_with_legacy_function,
    parallel_interleave as parallel_interleave,
    prefetch_to_device as prefetch_to_device,
    scan as scan,
    shuffle_and_repeat as shuffle_and_repeat,
    take_while as take_while,
    unbatch as unbatch,
    unique as unique,
)
from weft.lib.data.experimental_types import (
    AUTOTUNE as AUTOTUNE,
    DatasetStructure as DatasetStructure,
    INFINITE_CARDINALITY as INFINITE_CARDINALITY,
    OptionalStructure as OptionalStructure,
    RaggedTensorStructure as RaggedTensorStructure,
    SparseTensorStructure as SparseTensorStructure,
    StatsAggregator as StatsAggregator,
    Structure as Structure,
    TensorArrayStructure as TensorArrayStructure,
    TensorStructure as TensorStructure,
    TFRecordWriter as TFRecordWriter,
    UNKNOWN_CARDINALITY as UNKNOWN_CARDINALITY,
)
from weft.lib.data.features import (
    make_batched_features_dataset as make_batched_features_dataset,
    parse_example_dataset as parse_example_dataset,
)
from weft.lib.data.grouping import (
    bucket_by_sequence_length as bucket_by_sequence_length,
    group_by_reducer as group_by_reducer,
    group_by_window as group_by_window,
    Reducer as Reducer,
)
from weft.lib.data.iterator import get_next_as_optional as get_next_as_optional
from weft.lib.data.make_iterator import get_structure as get_structure
from weft.lib.data.mixing import (
    choose_from_datasets as choose_from_datasets,
    Counter as Counter,
    RandomDataset as RandomDataset,
    rejection_resample as rejection_resample,
    sample_from_datasets as sample_from_datasets,
)
from weft.lib.data.optional import Optional as Optional
from weft.lib.data.options import (
    DistributeOptions as DistributeOptions,
    MapVectorizationOptions as MapVectorizationOptions,
    OptimizationOptions as OptimizationOptions,
    StatsOptions as StatsOptions,
    ThreadingOptions as ThreadingOptions,
)
from weft.lib.data.reduction import (
    cardinality as cardinality,
    get_single_element as get_single_element,
)
from weft.lib.data.saving import (
    CheckpointInputPipelineHook as CheckpointInputPipelineHook,
    make_saveable_from_iterator as make_saveable_from_iterator,
)
from weft.lib.data.tables import (
    CsvDataset as CsvDataset,
    make_csv_dataset as make_csv_dataset,
    SqlDataset as SqlDataset,
)
