"""Boosted trees: TensorFlow 2.10 and later have no kernels for them, so nothing can be recorded.

tests/ops/trees/test_boosted_trees.py computes what they should give.
"""

from __future__ import annotations

from tests.ops.sample import skip

_OPS = """
    AggregateStats Bucketize CalculateBestFeatureSplit CalculateBestGainsPerFeature CenterBias
    CreateEnsemble CreateQuantileStreamResource DeserializeEnsemble EnsembleResourceHandleOp
    ExampleDebugOutputs FlushQuantileSummaries GetEnsembleStates MakeQuantileSummaries
    MakeStatsSummary Predict QuantileStreamResourceAddSummaries QuantileStreamResourceDeserialize
    QuantileStreamResourceFlush QuantileStreamResourceGetBucketBoundaries
    QuantileStreamResourceHandleOp SerializeEnsemble SparseAggregateStats
    SparseCalculateBestFeatureSplit TrainingPredict UpdateEnsemble UpdateEnsembleV2
"""
_NAMES = [
    *(f"BoostedTrees{name}" for name in _OPS.split()),
    "IsBoostedTreesEnsembleInitialized",
    "IsBoostedTreesQuantileStreamResourceInitialized",
]

SAMPLES = [skip(name, "checked in tests/ops/trees/test_boosted_trees.py") for name in _NAMES]
