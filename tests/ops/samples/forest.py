"""Trees of forests: objects with state, tested in tests/contrib/test_tensor_forest.py."""

from tests.ops.sample import skip

_WHY = "a tree grows at random; tested in tests/contrib/test_tensor_forest.py"
SAMPLES = [
    skip(name, _WHY)
    for name in (
        "CreateTreeVariable", "DecisionTreeResourceHandleOp", "FeatureUsageCounts", "GrowTreeV4",
        "TreeDeserialize", "TreeIsInitializedOp", "TreePredictionsV4", "TreeSerialize", "TreeSize",
    )
]  # fmt: skip
