"""Which module of weft.ops declares what; written by `make stubs`."""

PLACES = {
    "array.blocks": "BatchToSpace BatchToSpaceND SpaceToBatch SpaceToBatchND",
    "array.data_format": "DataFormatDimMap DataFormatVecPermute",
    "array.depth_blocks": "DepthToSpace SpaceToDepth",
    "array.diag": (
        "BatchMatrixBandPart BatchMatrixDiag BatchMatrixDiagPart BatchMatrixSetDiag Diag DiagPart "
        "MatrixBandPart MatrixDiag MatrixDiagPart MatrixSetDiag"
    ),
    "array.diag_bands": (
        "MatrixDiagPartV2 MatrixDiagPartV3 MatrixDiagV2 MatrixDiagV3 MatrixSetDiagV2 "
        "MatrixSetDiagV3"
    ),
    "array.distinct": "ListDiff Unique UniqueV2 UniqueWithCounts UniqueWithCountsV2",
    "array.fill": "BroadcastTo Empty Fill OnesLike ZerosLike",
    "array.gather": "Gather GatherNd GatherV2",
    "array.join": "Concat ConcatOffset ConcatV2 Pack ParallelConcat",
    "array.moving_slices": (
        "PeriodicResample PeriodicResampleOpGrad ReduceSliceMax ReduceSliceMin ReduceSliceProd "
        "ReduceSliceSum XlaDynamicSlice XlaDynamicUpdateSlice"
    ),
    "array.one_hot_search": "LowerBound OneHot UnravelIndex UpperBound Where",
    "array.pad": "MirrorPad MirrorPadGrad Pad PadV2",
    "array.partition": "DynamicPartition DynamicStitch ParallelDynamicStitch",
    "array.patches": "ExtractImagePatches ExtractVolumePatches",
    "array.placeholders": (
        "CheckNumerics DeepCopy EnsureShape GuaranteeConst Identity IdentityN Placeholder "
        "PlaceholderV2 PlaceholderWithDefault PreventGradient RefIdentity Snapshot StopGradient"
    ),
    "array.repeat": "Tile TileGrad",
    "array.reverse": "Reverse ReverseSequence ReverseV2 Roll",
    "array.scatter": (
        "InplaceAdd InplaceSub InplaceUpdate ScatterNd ScatterNdNonAliasingAdd TensorScatterAdd "
        "TensorScatterMax TensorScatterMin TensorScatterSub TensorScatterUpdate"
    ),
    "array.shape": (
        "ConjugateTranspose ExpandDims InvertPermutation Rank Reshape Shape ShapeN Size Squeeze "
        "Transpose"
    ),
    "array.slicing": "Slice",
    "array.split": "Split SplitV Unpack",
    "array.strided": "StridedSlice StridedSliceGrad",
    "array.unique_sums": "_SumRepeated",
    "control.clock": "Timestamp",
    "control.control": "Assert ControlTrigger NoOp",
    "control.control_nodes": (
        "Enter Exit LoopCond Merge NextIteration RefEnter RefExit RefMerge RefNextIteration "
        "RefSwitch Switch"
    ),
    "control.critical_section": "ConsumeMutexLock MutexLock MutexV2",
    "control.debug_nodes": (
        "Copy CopyHost DebugGradientIdentity DebugIdentity DebugNanCount DebugNumericSummary"
    ),
    "control.optional": "OptionalFromValue OptionalGetValue OptionalHasValue OptionalNone",
    "control.printing": "Print PrintV2",
    "control.process_nodes": "Abort DebugGradientRefIdentity Fact HostConst ImmutableConst",
    "dataset.batch": (
        "BatchDataset BatchDatasetV2 DenseToSparseBatchDataset "
        "ExperimentalDenseToSparseBatchDataset ExperimentalUnbatchDataset PaddedBatchDataset "
        "PaddedBatchDatasetV2 UnbatchDataset"
    ),
    "dataset.cache": "CacheDataset",
    "dataset.choose": "RepeatDataset ShardDataset SkipDataset TakeDataset",
    "dataset.csv": "CSVDataset ExperimentalCSVDataset",
    "dataset.databases": "ExperimentalLMDBDataset ExperimentalSqlDataset LMDBDataset SqlDataset",
    "dataset.files": (
        "ExperimentalMatchingFilesDataset FixedLengthRecordDataset FixedLengthRecordDatasetV2 "
        "MatchingFilesDataset TFRecordDataset TextLineDataset"
    ),
    "dataset.flat_map": (
        "ExperimentalParallelInterleaveDataset FlatMapDataset InterleaveDataset "
        "LegacyParallelInterleaveDatasetV2 ParallelInterleaveDataset ParallelInterleaveDatasetV2 "
        "ParallelInterleaveDatasetV3 ParallelInterleaveDatasetV4"
    ),
    "dataset.generator": "GeneratorDataset",
    "dataset.graphs": "DatasetFromGraph DatasetToGraph",
    "dataset.group": (
        "ExperimentalGroupByReducerDataset ExperimentalGroupByWindowDataset GroupByReducerDataset "
        "GroupByWindowDataset"
    ),
    "dataset.iterator_ops": (
        "AnonymousIterator AnonymousIteratorV2 DeleteIterator DeserializeIterator "
        "ExperimentalIteratorGetDevice Iterator IteratorFromStringHandle "
        "IteratorFromStringHandleV2 IteratorGetDevice IteratorGetNext IteratorGetNextAsOptional "
        "IteratorGetNextSync IteratorToStringHandle IteratorV2 MakeIterator OneShotIterator "
        "SerializeIterator"
    ),
    "dataset.map": (
        "ExperimentalMapDataset ExperimentalScanDataset ExperimentalTakeWhileDataset "
        "FilterByLastComponentDataset FilterDataset MapDataset ParallelMapDataset "
        "ParallelMapDatasetV2 ScanDataset TakeWhileDataset"
    ),
    "dataset.map_and_batch": "ExperimentalMapAndBatchDataset MapAndBatchDataset",
    "dataset.multi_device": (
        "AnonymousMultiDeviceIterator DeleteMultiDeviceIterator MapDefun MultiDeviceIterator "
        "MultiDeviceIteratorFromStringHandle MultiDeviceIteratorGetNextFromShard "
        "MultiDeviceIteratorInit MultiDeviceIteratorToStringHandle"
    ),
    "dataset.parse_example": "ExperimentalParseExampleDataset ParseExampleDataset",
    "dataset.passing": (
        "AssertNextDataset AutoShardDataset ExperimentalAssertNextDataset "
        "ExperimentalAutoShardDataset ExperimentalIgnoreErrorsDataset "
        "ExperimentalMaxIntraOpParallelismDataset ExperimentalNonSerializableDataset "
        "ExperimentalPrivateThreadPoolDataset ExperimentalSleepDataset ExperimentalUniqueDataset "
        "IgnoreErrorsDataset MaxIntraOpParallelismDataset ModelDataset NonSerializableDataset "
        "OptimizeDataset OptionsDataset PrivateThreadPoolDataset RewriteDataset SleepDataset "
        "UniqueDataset"
    ),
    "dataset.prefetch": "PrefetchDataset",
    "dataset.rearranging": (
        "ChooseFastestBranchDataset ChooseFastestDataset ExperimentalChooseFastestDataset "
        "ExperimentalRebatchDataset ExperimentalThreadPoolDataset ExperimentalThreadPoolHandle "
        "RebatchDataset SamplingDataset SnapshotDataset ThreadPoolDataset ThreadPoolHandle"
    ),
    "dataset.reduction": (
        "DatasetCardinality DatasetToSingleElement DatasetToTFRecord "
        "ExperimentalDatasetCardinality ExperimentalDatasetToTFRecord ReduceDataset "
        "UnwrapDatasetVariant WrapDatasetVariant"
    ),
    "dataset.several": (
        "ConcatenateDataset DirectedInterleaveDataset ExperimentalDirectedInterleaveDataset "
        "ZipDataset"
    ),
    "dataset.shared_state": (
        "AnonymousMemoryCache AnonymousRandomSeedGenerator CacheDatasetV2 DeleteMemoryCache "
        "DeleteRandomSeedGenerator ShuffleDatasetV2"
    ),
    "dataset.shuffle": "ShuffleAndRepeatDataset ShuffleDataset",
    "dataset.sources": (
        "ExperimentalRandomDataset RandomDataset RangeDataset SparseTensorSliceDataset "
        "TensorDataset TensorSliceDataset"
    ),
    "dataset.stats": (
        "BytesProducedStatsDataset ExperimentalBytesProducedStatsDataset "
        "ExperimentalLatencyStatsDataset ExperimentalSetStatsAggregatorDataset "
        "ExperimentalStatsAggregatorHandle ExperimentalStatsAggregatorSummary LatencyStatsDataset "
        "SetStatsAggregatorDataset StatsAggregatorHandle StatsAggregatorHandleV2 "
        "StatsAggregatorSetSummaryWriter StatsAggregatorSummary"
    ),
    "dataset.window": "ExperimentalSlidingWindowDataset SlidingWindowDataset WindowDataset",
    "devices.collective": (
        "CollectiveBcastRecv CollectiveBcastSend CollectiveGather CollectiveReduce"
    ),
    "devices.memory": "BytesInUse BytesLimit MaxBytesInUse",
    "devices.nccl": "NcclAllReduce NcclBroadcast NcclReduce",
    "devices.process_collectives": (
        "_AllToAll _CollectiveBcastRecv _CollectiveBcastSend _CollectiveGather _CollectivePermute "
        "_CollectiveReduce _CrossReplicaSum"
    ),
    "devices.remote_calls": "Rpc TryRpc",
    "devices.replica_collectives": (
        "_ReplicaAllToAll _ReplicaCollectiveReduce _ReplicaGather _ReplicaGroupSum _ReplicaPermute "
        "_ReplicaReduce _ReplicaSum _ReplicaValue"
    ),
    "devices.replicas": "AllToAll CollectivePermute CrossReplicaSum",
    "devices.transfer": "_HostRecv _HostSend _Recv _Send",
    "files.checkpoint": (
        "MergeV2Checkpoints Restore RestoreSlice RestoreV2 Save SaveSlices SaveV2 ShardedFilename "
        "ShardedFilespec"
    ),
    "files.checkpoint_remap": "GenerateVocabRemapping LoadAndRemapMatrix",
    "files.restore": "_RestoreVariables",
    "files.summary": (
        "AudioSummary AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary "
        "TensorSummary TensorSummaryV2"
    ),
    "files.summary_writer": (
        "CloseSummaryWriter CreateSummaryDbWriter CreateSummaryFileWriter FlushSummaryWriter "
        "ImportEvent SummaryWriter WriteAudioSummary WriteGraphSummary WriteHistogramSummary "
        "WriteImageSummary WriteRawProtoSummary WriteScalarSummary WriteSummary"
    ),
    "functions.function_nodes": (
        "Case FakeParam For If PartitionedCall RemoteCall StatefulPartitionedCall StatelessCase "
        "StatelessIf StatelessWhile SymbolicGradient While"
    ),
    "functions.py_func": "EagerPyFunc PyFunc PyFuncStateless",
    "image.audio": "AudioSpectrogram DecodeWav EncodeWav Mfcc",
    "image.boxes": (
        "DrawBoundingBoxes DrawBoundingBoxesV2 SampleDistortedBoundingBox "
        "SampleDistortedBoundingBoxV2"
    ),
    "image.color": "AdjustContrast AdjustContrastv2 AdjustHue AdjustSaturation HSVToRGB RGBToHSV",
    "image.components": "ImageConnectedComponents",
    "image.crop_resize": "CropAndResize CropAndResizeGradBoxes CropAndResizeGradImage",
    "image.decode": (
        "DecodeAndCropJpeg DecodeBmp DecodeGif DecodeImage DecodeJpeg DecodePng ExtractJpegShape"
    ),
    "image.encode": "EncodeJpeg EncodeJpegVariableQuality EncodePng",
    "image.ffmpeg": "DecodeAudio DecodeAudioV2 DecodeVideo EncodeAudio EncodeAudioV2",
    "image.fused_conv": "FusedConv2DBiasActivation FusedPadConv2D FusedResizeAndPadConv2D",
    "image.glimpse": "ExtractGlimpse",
    "image.match": "BipartiteMatch",
    "image.proposals": "GenerateBoundingBoxProposals",
    "image.resample": "ScaleAndTranslate ScaleAndTranslateGrad",
    "image.resize": (
        "ResizeArea ResizeBicubic ResizeBicubicGrad ResizeBilinear ResizeBilinearGrad "
        "ResizeNearestNeighbor ResizeNearestNeighborGrad"
    ),
    "image.suppression": (
        "NonMaxSuppression NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 "
        "NonMaxSuppressionV5 NonMaxSuppressionWithOverlaps"
    ),
    "image.suppression_combined": "CombinedNonMaxSuppression",
    "image.transform": (
        "ImageProjectiveTransform ImageProjectiveTransformV2 ImageProjectiveTransformV3"
    ),
    "image.yiq": "AdjustHsvInYiq",
    "kit.broadcast": "BroadcastArgs BroadcastGradientArgs",
    "linalg.decompose": (
        "BatchSelfAdjointEig BatchSelfAdjointEigV2 BatchSvd Lu MatrixExponential MatrixLogarithm "
        "MatrixSquareRoot Qr SelfAdjointEig SelfAdjointEigV2 Svd"
    ),
    "linalg.fft": (
        "BatchFFT BatchFFT2D BatchFFT3D BatchIFFT BatchIFFT2D BatchIFFT3D FFT FFT2D FFT3D IFFT "
        "IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D RFFT RFFT2D RFFT3D"
    ),
    "linalg.solve": (
        "BatchCholesky BatchCholeskyGrad BatchMatrixDeterminant BatchMatrixInverse "
        "BatchMatrixSolve BatchMatrixSolveLs BatchMatrixTriangularSolve Cholesky CholeskyGrad "
        "LogMatrixDeterminant MatrixDeterminant MatrixInverse MatrixSolve MatrixSolveLs "
        "MatrixTriangularSolve"
    ),
    "linalg.tridiagonal": "TridiagonalMatMul TridiagonalSolve",
    "lists.list_batches": "TensorListConcatLists TensorListPushBackBatch",
    "lists.stacks": (
        "Stack StackClose StackCloseV2 StackPop StackPopV2 StackPush StackPushV2 StackV2"
    ),
    "lists.tensor_array_nodes": (
        "TensorArrayCloseV3 TensorArrayConcatV3 TensorArrayGatherV3 TensorArrayGradV3 "
        "TensorArrayGradWithShape TensorArrayReadV3 TensorArrayScatterV3 TensorArraySizeV3 "
        "TensorArraySplitV3 TensorArrayV3 TensorArrayWriteV3"
    ),
    "lists.tensor_array_old": (
        "TensorArray TensorArrayClose TensorArrayCloseV2 TensorArrayConcat TensorArrayConcatV2 "
        "TensorArrayGather TensorArrayGatherV2 TensorArrayGrad TensorArrayGradV2 TensorArrayPack "
        "TensorArrayRead TensorArrayReadV2 TensorArrayScatter TensorArrayScatterV2 TensorArraySize "
        "TensorArraySizeV2 TensorArraySplit TensorArraySplitV2 TensorArrayUnpack TensorArrayV2 "
        "TensorArrayWrite TensorArrayWriteV2"
    ),
    "lists.tensor_list": (
        "EmptyTensorList TensorListConcat TensorListConcatV2 TensorListElementShape "
        "TensorListFromTensor TensorListGather TensorListGetItem TensorListLength "
        "TensorListPopBack TensorListPushBack TensorListReserve TensorListResize TensorListScatter "
        "TensorListScatterIntoExistingList TensorListScatterV2 TensorListSetItem TensorListSplit "
        "TensorListStack"
    ),
    "lookup.table_nodes": (
        "HashTable HashTableV2 InitializeTable InitializeTableFromTextFile "
        "InitializeTableFromTextFileV2 InitializeTableV2 LookupTableExport LookupTableExportV2 "
        "LookupTableFind LookupTableFindV2 LookupTableImport LookupTableImportV2 LookupTableInsert "
        "LookupTableInsertV2 LookupTableRemoveV2 LookupTableSize LookupTableSizeV2 "
        "MutableDenseHashTable MutableDenseHashTableV2 MutableHashTable MutableHashTableOfTensors "
        "MutableHashTableOfTensorsV2 MutableHashTableV2"
    ),
    "math.arg_extremes": "ArgMax ArgMin",
    "math.casts": "Angle Bitcast Cast Complex ComplexAbs Conj Imag Real",
    "math.counting": (
        "DenseBincount DenseCountSparseOutput RaggedBincount RaggedCountSparseOutput "
        "SparseBincount SparseCountSparseOutput"
    ),
    "math.cumulative": "Cumprod Cumsum CumulativeLogsumexp",
    "math.einsum": "Einsum",
    "math.elementwise": (
        "AccumulateNV2 Add AddN AddV2 ApproximateEqual Atan2 BitwiseAnd BitwiseOr BitwiseXor Div "
        "DivNoNan Equal FloorDiv FloorMod Greater GreaterEqual LeftShift Less LessEqual LogicalAnd "
        "LogicalOr Maximum Minimum Mod Mul MulNoNan NextAfter NotEqual Pow RealDiv RightShift "
        "SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy"
    ),
    "math.histogram": "Bincount Bucketize CompareAndBitpack HistogramFixedWidth",
    "math.matmul": "BatchMatMul BatchMatMulV2 BatchMatMulV3 Cross MatMul SparseMatMul",
    "math.reduce": "All Any EuclideanNorm Max Mean Min Prod Sum",
    "math.segment": (
        "SegmentMax SegmentMean SegmentMin SegmentProd SegmentSum UnsortedSegmentMax "
        "UnsortedSegmentMin UnsortedSegmentProd UnsortedSegmentSum"
    ),
    "math.segment_sparse": (
        "SparseSegmentMean SparseSegmentMeanGrad SparseSegmentMeanWithNumSegments "
        "SparseSegmentSqrtN SparseSegmentSqrtNGrad SparseSegmentSqrtNWithNumSegments "
        "SparseSegmentSum SparseSegmentSumWithNumSegments"
    ),
    "math.sequence": "LinSpace Range",
    "math.special": (
        "BesselI0e BesselI1e Betainc Digamma Erf Erfc Igamma IgammaGradA Igammac Lgamma Polygamma "
        "Zeta"
    ),
    "math.special_later": (
        "BesselI0 BesselI1 BesselJ0 BesselJ1 BesselK0 BesselK0e BesselK1 BesselK1e BesselY0 "
        "BesselY1 Dawsn Erfinv Expint FresnelCos FresnelSin Ndtri Spence"
    ),
    "math.top_k": "InTopK InTopKV2 NthElement TopK TopKV2",
    "math.unary": (
        "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Exp Expm1 Floor Inv InvGrad Invert "
        "IsFinite IsInf IsNan Log Log1p LogicalNot Neg PopulationCount Reciprocal ReciprocalGrad "
        "Rint Round Rsqrt RsqrtGrad Sigmoid SigmoidGrad Sign Sin Sinh Sqrt SqrtGrad Square Tan "
        "Tanh TanhGrad"
    ),
    "math.where_clip": "ClipByValue RefSelect Select SelectV2",
    "nn.activation_nodes": (
        "Elu EluGrad L2Loss LRN LRNGrad LeakyRelu LeakyReluGrad Relu Relu6 Relu6Grad ReluGrad Selu "
        "SeluGrad Softplus SoftplusGrad Softsign SoftsignGrad"
    ),
    "nn.attention_fused": "_FusedAttention _FusedAttentionGrad",
    "nn.batch_norm": (
        "BatchNormWithGlobalNormalization BatchNormWithGlobalNormalizationGrad FusedBatchNorm "
        "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2 "
        "FusedBatchNormV3"
    ),
    "nn.bias": "BiasAdd BiasAddGrad BiasAddV1",
    "nn.candidate_sampling": (
        "AllCandidateSampler ComputeAccidentalHits FixedUnigramCandidateSampler "
        "LearnedUnigramCandidateSampler LogUniformCandidateSampler "
        "ThreadUnsafeUnigramCandidateSampler UniformCandidateSampler"
    ),
    "nn.conv_nodes": (
        "Conv2D Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilter "
        "Conv3DBackpropFilterV2 Conv3DBackpropInput Conv3DBackpropInputV2 DepthwiseConv2dNative "
        "DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput"
    ),
    "nn.ctc": "CTCLoss CTCLossV2",
    "nn.ctc_decode": "CTCBeamSearchDecoder CTCGreedyDecoder",
    "nn.cudnn_rnn": (
        "CudnnRNN CudnnRNNBackprop CudnnRNNBackpropV2 CudnnRNNBackpropV3 CudnnRNNCanonicalToParams "
        "CudnnRNNCanonicalToParamsV2 CudnnRNNParamsSize CudnnRNNParamsToCanonical "
        "CudnnRNNParamsToCanonicalV2 CudnnRNNV2 CudnnRNNV3"
    ),
    "nn.fractional_pool": (
        "FractionalAvgPool FractionalAvgPoolGrad FractionalMaxPool FractionalMaxPoolGrad"
    ),
    "nn.gather_tree": "GatherTree",
    "nn.gru_block": "GRUBlockCell GRUBlockCellGrad",
    "nn.hyperplane_probes": "HyperplaneLSHProbes",
    "nn.morphology": "Dilation2D Dilation2DBackpropFilter Dilation2DBackpropInput",
    "nn.pool_argmax": "MaxPoolGradGradWithArgmax MaxPoolGradWithArgmax MaxPoolWithArgmax",
    "nn.pool_nodes": (
        "AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad MaxPool MaxPool3D MaxPool3DGrad "
        "MaxPool3DGradGrad MaxPoolGrad MaxPoolGradGrad MaxPoolGradGradV2 MaxPoolGradV2 MaxPoolV2"
    ),
    "nn.rnn_blocks": (
        "BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 LSTMBlockCell LSTMBlockCellGrad"
    ),
    "nn.skip_gram": "SkipGramGenerateCandidates",
    "nn.softmax": (
        "LogSoftmax Softmax SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits"
    ),
    "nn.word2vec": "NegTrain Skipgram",
    "parsing.csv": "DecodeCSV",
    "parsing.example_nodes": "ParseExample ParseSingleExample",
    "parsing.example_v2": "ParseExampleV2",
    "parsing.libsvm": "DecodeLibsvm",
    "parsing.proto_codec": "DecodeProtoV2 EncodeProto",
    "parsing.sequence": "ParseSequenceExample ParseSingleSequenceExample",
    "parsing.sequence_v2": "ParseSequenceExampleV2",
    "quantized.arithmetic": (
        "QuantizeDownAndShrinkRange QuantizedAdd QuantizedBiasAdd QuantizedConcat QuantizedMatMul "
        "QuantizedMul QuantizedRelu QuantizedRelu6 QuantizedReluX QuantizedReshape "
        "RequantizationRange Requantize"
    ),
    "quantized.fake_quant": (
        "FakeQuantWithMinMaxArgs FakeQuantWithMinMaxArgsGradient FakeQuantWithMinMaxVars "
        "FakeQuantWithMinMaxVarsGradient FakeQuantWithMinMaxVarsPerChannel "
        "FakeQuantWithMinMaxVarsPerChannelGradient"
    ),
    "quantized.fused": (
        "QuantizedConv2DAndRelu QuantizedConv2DAndReluAndRequantize QuantizedConv2DAndRequantize "
        "QuantizedConv2DPerChannel QuantizedConv2DWithBias QuantizedConv2DWithBiasAndRelu "
        "QuantizedConv2DWithBiasAndReluAndRequantize QuantizedConv2DWithBiasAndRequantize "
        "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize QuantizedConv2DWithBiasSumAndRelu "
        "QuantizedConv2DWithBiasSumAndReluAndRequantize QuantizedDepthwiseConv2D "
        "QuantizedDepthwiseConv2DWithBias QuantizedDepthwiseConv2DWithBiasAndRelu "
        "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize QuantizedMatMulWithBias "
        "QuantizedMatMulWithBiasAndRelu QuantizedMatMulWithBiasAndReluAndRequantize "
        "RequantizationRangePerChannel RequantizePerChannel"
    ),
    "quantized.norms": (
        "QuantizedBatchNormWithGlobalNormalization QuantizedInstanceNorm QuantizedResizeBilinear"
    ),
    "quantized.quantize": (
        "Dequantize QuantizeAndDequantize QuantizeAndDequantizeV2 QuantizeAndDequantizeV3 "
        "QuantizeAndDequantizeV4 QuantizeAndDequantizeV4Grad QuantizeV2"
    ),
    "quantized.windows": "QuantizedAvgPool QuantizedConv2D QuantizedMaxPool",
    "queues.accumulators": (
        "AccumulatorApplyGradient AccumulatorNumAccumulated AccumulatorSetGlobalStep "
        "AccumulatorTakeGradient ConditionalAccumulator ResourceAccumulatorApplyGradient "
        "ResourceAccumulatorNumAccumulated ResourceAccumulatorSetGlobalStep "
        "ResourceAccumulatorTakeGradient ResourceConditionalAccumulator "
        "SparseAccumulatorApplyGradient SparseAccumulatorTakeGradient SparseConditionalAccumulator"
    ),
    "queues.barrier": (
        "Barrier BarrierClose BarrierIncompleteSize BarrierInsertMany BarrierReadySize "
        "BarrierTakeMany"
    ),
    "queues.batching": "Batch BatchFunction Unbatch UnbatchGrad",
    "queues.queue_nodes": (
        "FIFOQueue FIFOQueueV2 FakeQueue PaddingFIFOQueue PaddingFIFOQueueV2 PriorityQueue "
        "PriorityQueueV2 QueueClose QueueCloseV2 QueueDequeue QueueDequeueMany QueueDequeueManyV2 "
        "QueueDequeueUpTo QueueDequeueUpToV2 QueueDequeueV2 QueueEnqueue QueueEnqueueMany "
        "QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosed QueueIsClosedV2 QueueSize QueueSizeV2 "
        "RandomShuffleQueue RandomShuffleQueueV2"
    ),
    "queues.readers": (
        "FixedLengthRecordReader FixedLengthRecordReaderV2 IdentityReader IdentityReaderV2 "
        "LMDBReader MatchingFiles ReadFile ReaderNumRecordsProduced ReaderNumRecordsProducedV2 "
        "ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2 ReaderRead ReaderReadUpTo "
        "ReaderReadUpToV2 ReaderReadV2 ReaderReset ReaderResetV2 ReaderRestoreState "
        "ReaderRestoreStateV2 ReaderSerializeState ReaderSerializeStateV2 TFRecordReader "
        "TFRecordReaderV2 TextLineReader TextLineReaderV2 WholeFileReader WholeFileReaderV2 "
        "WriteFile"
    ),
    "queues.record_input": "RecordInput",
    "queues.staging": (
        "MapClear MapIncompleteSize MapPeek MapSize MapStage MapUnstage MapUnstageNoKey "
        "OrderedMapClear OrderedMapIncompleteSize OrderedMapPeek OrderedMapSize OrderedMapStage "
        "OrderedMapUnstage OrderedMapUnstageNoKey Stage StageClear StagePeek StageSize Unstage"
    ),
    "queues.tensors_map": (
        "AddManySparseToTensorsMap AddSparseToTensorsMap TakeManySparseFromTensorsMap"
    ),
    "ragged.conversion_nodes": (
        "RaggedTensorFromVariant RaggedTensorToSparse RaggedTensorToTensor RaggedTensorToVariant"
    ),
    "ragged.cross": "RaggedCross",
    "ragged.nodes": "RaggedGather RaggedRange",
    "random.binomial": "StatefulRandomBinomial",
    "random.random_nodes": (
        "Multinomial ParameterizedTruncatedNormal RandomCrop RandomGamma RandomGammaGrad "
        "RandomPoisson RandomPoissonV2 RandomShuffle RandomStandardNormal RandomUniform "
        "RandomUniformInt TruncatedNormal"
    ),
    "random.sobol": "SobolSample",
    "random.stateful": (
        "NonDeterministicInts RngReadAndSkip RngSkip StatefulStandardNormal "
        "StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniform StatefulUniformFullInt "
        "StatefulUniformInt"
    ),
    "random.stateless": (
        "StatelessMultinomial StatelessRandomNormal StatelessRandomUniform "
        "StatelessRandomUniformInt StatelessTruncatedNormal _StatelessCategories"
    ),
    "random.stateless_keys": (
        "StatelessRandomBinomial StatelessRandomGammaV2 StatelessRandomGammaV3 "
        "StatelessRandomGetAlg StatelessRandomGetKeyCounter StatelessRandomGetKeyCounterAlg "
        "StatelessRandomNormalV2 StatelessRandomPoisson StatelessRandomUniformFullInt "
        "StatelessRandomUniformFullIntV2 StatelessRandomUniformIntV2 StatelessRandomUniformV2 "
        "StatelessTruncatedNormalV2"
    ),
    "sparse.add": "SparseAdd SparseAddGrad SparseTensorDenseAdd",
    "sparse.cross": "SparseCross",
    "sparse.feature_cross": "SparseFeatureCross SparseFeatureCrossV2",
    "sparse.math_nodes": (
        "SparseDenseCwiseAdd SparseDenseCwiseDiv SparseDenseCwiseMul SparseReduceMax "
        "SparseReduceMaxSparse SparseReduceSum SparseReduceSumSparse SparseSoftmax "
        "SparseSparseMaximum SparseSparseMinimum"
    ),
    "sparse.matmul": "SparseTensorDenseMatMul",
    "sparse.serialize": (
        "DeserializeManySparse DeserializeSparse SerializeManySparse SerializeSparse"
    ),
    "sparse.sets": (
        "DenseToDenseSetOperation DenseToSparseSetOperation SetSize SparseToSparseSetOperation"
    ),
    "sparse.shape_nodes": (
        "SparseConcat SparseFillEmptyRows SparseFillEmptyRowsGrad SparseReorder SparseReshape "
        "SparseSlice SparseSliceGrad SparseSplit"
    ),
    "sparse.to_dense": "SparseToDense",
    "state.gather_nodes": "ResourceGather ResourceGatherNd",
    "state.optimizer_nodes": (
        "ApplyAdaMax ApplyAdadelta ApplyAdagrad ApplyAdagradDA ApplyAdagradV2 ApplyAdam "
        "ApplyAddSign ApplyCenteredRMSProp ApplyFtrl ApplyFtrlV2 ApplyGradientDescent "
        "ApplyMomentum ApplyPowerSign ApplyProximalAdagrad ApplyProximalGradientDescent "
        "ApplyRMSProp ResourceApplyAdaMax ResourceApplyAdadelta ResourceApplyAdagrad "
        "ResourceApplyAdagradDA ResourceApplyAdagradV2 ResourceApplyAdam "
        "ResourceApplyAdamWithAmsgrad ResourceApplyAddSign ResourceApplyCenteredRMSProp "
        "ResourceApplyFtrl ResourceApplyFtrlV2 ResourceApplyGradientDescent "
        "ResourceApplyKerasMomentum ResourceApplyMomentum ResourceApplyPowerSign "
        "ResourceApplyProximalAdagrad ResourceApplyProximalGradientDescent ResourceApplyRMSProp "
        "ResourceSparseApplyAdadelta ResourceSparseApplyAdagrad ResourceSparseApplyAdagradDA "
        "ResourceSparseApplyAdagradV2 ResourceSparseApplyCenteredRMSProp ResourceSparseApplyFtrl "
        "ResourceSparseApplyFtrlV2 ResourceSparseApplyKerasMomentum ResourceSparseApplyMomentum "
        "ResourceSparseApplyProximalAdagrad ResourceSparseApplyProximalGradientDescent "
        "ResourceSparseApplyRMSProp SparseApplyAdadelta SparseApplyAdagrad SparseApplyAdagradDA "
        "SparseApplyAdagradV2 SparseApplyCenteredRMSProp SparseApplyFtrl SparseApplyFtrlV2 "
        "SparseApplyMomentum SparseApplyProximalAdagrad SparseApplyProximalGradientDescent "
        "SparseApplyRMSProp"
    ),
    "state.partial_updates": "TensorStridedSliceUpdate",
    "state.scatter_nodes": (
        "ResourceScatterAdd ResourceScatterDiv ResourceScatterMax ResourceScatterMin "
        "ResourceScatterMul ResourceScatterNdAdd ResourceScatterNdSub ResourceScatterNdUpdate "
        "ResourceScatterSub ResourceScatterUpdate ResourceStridedSliceAssign ScatterAdd ScatterDiv "
        "ScatterMax ScatterMin ScatterMul ScatterNdAdd ScatterNdSub ScatterNdUpdate ScatterSub "
        "ScatterUpdate StridedSliceAssign"
    ),
    "state.session_tensors": (
        "DeleteSessionTensor GetSessionHandle GetSessionHandleV2 GetSessionTensor"
    ),
    "state.variable_nodes": (
        "Assign AssignAdd AssignAddVariableOp AssignSub AssignSubVariableOp AssignVariableOp "
        "CountUpTo DestroyResourceOp DestroyTemporaryVariable DisableCopyOnRead "
        "IsVariableInitialized ReadVariableOp ResourceCountUpTo TemporaryVariable VarHandleOp "
        "VarIsInitializedOp Variable VariableShape VariableV2"
    ),
    "strings.decode": "DecodeBase64 DecodeCompressed DecodePaddedRaw DecodeRaw EncodeBase64",
    "strings.edit_distance": "EditDistance",
    "strings.hash": (
        "Fingerprint StringToHashBucket StringToHashBucketFast StringToHashBucketStrong"
    ),
    "strings.join": "StringJoin",
    "strings.numbers": "AsString StringToNumber",
    "strings.reduce": "ReduceJoin StringNGrams UnsortedSegmentJoin",
    "strings.regex": "RegexFullMatch RegexReplace StaticRegexFullMatch StaticRegexReplace",
    "strings.serialized_tensors": "DecodeJSONExample ParseTensor SerializeTensor",
    "strings.split": "StringSplit StringSplitV2",
    "strings.strings": "StringFormat StringLength StringLower StringStrip StringUpper Substr",
    "strings.unicode": (
        "UnicodeDecode UnicodeDecodeWithOffsets UnicodeEncode UnicodeScript UnicodeTranscode"
    ),
    "trees.clustering": "KMC2ChainInitialization KmeansPlusPlusInitialization NearestNeighbors",
    "trees.ensemble": (
        "BoostedTreesCenterBias BoostedTreesCreateEnsemble BoostedTreesDeserializeEnsemble "
        "BoostedTreesEnsembleResourceHandleOp BoostedTreesGetEnsembleStates "
        "BoostedTreesSerializeEnsemble BoostedTreesUpdateEnsemble BoostedTreesUpdateEnsembleV2 "
        "IsBoostedTreesEnsembleInitialized"
    ),
    "trees.factorization": "MaskedMatmul WALSComputePartialLhsAndRhs",
    "trees.forest": (
        "CreateTreeVariable DecisionTreeResourceHandleOp FeatureUsageCounts GrowTreeV4 "
        "TreeDeserialize TreeIsInitializedOp TreePredictionsV4 TreeSerialize TreeSize"
    ),
    "trees.forest_trees": (
        "TensorForestCreateTreeVariable TensorForestTreeDeserialize "
        "TensorForestTreeIsInitializedOp TensorForestTreePredict TensorForestTreeResourceHandleOp "
        "TensorForestTreeSerialize TensorForestTreeSize"
    ),
    "trees.gradient_nodes": (
        "CreateTreeEnsembleVariable DecisionTreeEnsembleResourceHandleOp GradientTreesPrediction "
        "GradientTreesPredictionVerbose TreeEnsembleDeserialize TreeEnsembleIsInitializedOp "
        "TreeEnsembleSerialize TreeEnsembleStampToken TreeEnsembleStats UpdateTreeEnsemble"
    ),
    "trees.predict": (
        "BoostedTreesExampleDebugOutputs BoostedTreesPredict BoostedTreesTrainingPredict"
    ),
    "trees.quantiles": (
        "BoostedTreesBucketize BoostedTreesCreateQuantileStreamResource "
        "BoostedTreesFlushQuantileSummaries BoostedTreesMakeQuantileSummaries "
        "BoostedTreesQuantileStreamResourceAddSummaries "
        "BoostedTreesQuantileStreamResourceDeserialize BoostedTreesQuantileStreamResourceFlush "
        "BoostedTreesQuantileStreamResourceGetBucketBoundaries "
        "BoostedTreesQuantileStreamResourceHandleOp "
        "IsBoostedTreesQuantileStreamResourceInitialized"
    ),
    "trees.sdca": "SdcaFprint SdcaOptimizer SdcaOptimizerV2 SdcaShrinkL1",
    "trees.splits": (
        "BoostedTreesCalculateBestFeatureSplit BoostedTreesCalculateBestGainsPerFeature "
        "BoostedTreesSparseCalculateBestFeatureSplit"
    ),
    "trees.stats": (
        "BoostedTreesAggregateStats BoostedTreesMakeStatsSummary BoostedTreesSparseAggregateStats"
    ),
}
