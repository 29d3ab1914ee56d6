"""Why the operations of tf.data have no samples: they make objects, not arrays."""

from __future__ import annotations

from tests.ops.sample import skip

_WHERE = "makes or takes a dataset or an iterator: see tests/data"
_OPS = """
    AnonymousIterator AnonymousIteratorV2 AnonymousMemoryCache AnonymousMultiDeviceIterator
    AnonymousRandomSeedGenerator AssertNextDataset AutoShardDataset BatchDataset CacheDatasetV2
    ChooseFastestBranchDataset ChooseFastestDataset DeleteMemoryCache DeleteMultiDeviceIterator
    DeleteRandomSeedGenerator ExperimentalChooseFastestDataset ExperimentalRebatchDataset
    ExperimentalThreadPoolDataset ExperimentalThreadPoolHandle MapDefun MultiDeviceIterator
    MultiDeviceIteratorFromStringHandle MultiDeviceIteratorGetNextFromShard
    MultiDeviceIteratorInit MultiDeviceIteratorToStringHandle RebatchDataset SamplingDataset
    ShuffleDatasetV2 SnapshotDataset ThreadPoolDataset ThreadPoolHandle
    BatchDatasetV2 BytesProducedStatsDataset CSVDataset CacheDataset ConcatenateDataset
    DatasetCardinality DatasetToSingleElement DatasetToTFRecord DeleteIterator
    DenseToSparseBatchDataset DeserializeIterator DirectedInterleaveDataset
    ExperimentalAssertNextDataset ExperimentalAutoShardDataset
    ExperimentalBytesProducedStatsDataset ExperimentalCSVDataset ExperimentalDatasetCardinality
    ExperimentalDatasetToTFRecord ExperimentalDenseToSparseBatchDataset
    ExperimentalDirectedInterleaveDataset ExperimentalGroupByReducerDataset
    ExperimentalGroupByWindowDataset ExperimentalIgnoreErrorsDataset
    ExperimentalIteratorGetDevice ExperimentalLMDBDataset ExperimentalLatencyStatsDataset
    ExperimentalMapAndBatchDataset ExperimentalMapDataset ExperimentalMatchingFilesDataset
    ExperimentalMaxIntraOpParallelismDataset ExperimentalNonSerializableDataset
    ExperimentalParallelInterleaveDataset ExperimentalParseExampleDataset
    ExperimentalPrivateThreadPoolDataset ExperimentalRandomDataset ExperimentalScanDataset
    ExperimentalSetStatsAggregatorDataset ExperimentalSleepDataset
    ExperimentalSlidingWindowDataset ExperimentalSqlDataset ExperimentalStatsAggregatorHandle
    ExperimentalStatsAggregatorSummary ExperimentalTakeWhileDataset ExperimentalUnbatchDataset
    ExperimentalUniqueDataset FilterByLastComponentDataset FilterDataset
    FixedLengthRecordDataset FixedLengthRecordDatasetV2 FlatMapDataset GeneratorDataset
    GroupByReducerDataset GroupByWindowDataset IgnoreErrorsDataset InterleaveDataset Iterator
    IteratorFromStringHandle IteratorFromStringHandleV2 IteratorGetDevice IteratorGetNext
    IteratorGetNextAsOptional IteratorGetNextSync IteratorToStringHandle IteratorV2 LMDBDataset
    LatencyStatsDataset MakeIterator MapAndBatchDataset MapDataset MatchingFilesDataset
    MaxIntraOpParallelismDataset ModelDataset NonSerializableDataset OneShotIterator
    OptimizeDataset OptionsDataset PaddedBatchDataset PaddedBatchDatasetV2
    ParallelInterleaveDataset ParallelInterleaveDatasetV2 ParallelInterleaveDatasetV3
    ParallelInterleaveDatasetV4 ParallelMapDataset ParallelMapDatasetV2 ParseExampleDataset
    PrefetchDataset PrivateThreadPoolDataset RandomDataset RangeDataset ReduceDataset RepeatDataset
    ScanDataset SerializeIterator SetStatsAggregatorDataset ShardDataset ShuffleAndRepeatDataset
    ShuffleDataset SkipDataset SleepDataset SlidingWindowDataset SparseTensorSliceDataset
    SqlDataset StatsAggregatorHandle StatsAggregatorSummary TFRecordDataset TakeDataset
    TakeWhileDataset TensorDataset TensorSliceDataset TextLineDataset UnbatchDataset
    UniqueDataset UnwrapDatasetVariant WindowDataset WrapDatasetVariant ZipDataset
"""

SAMPLES = [skip(name, _WHERE) for name in _OPS.split()]
