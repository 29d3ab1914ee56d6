"""Ensembles of tf.contrib.boosted_trees: objects that grow."""

from tests.ops.sample import skip

_WHY = "an object with state; tested in tests/contrib/test_boosted_trees.py"
SAMPLES = [
    skip(name, _WHY)
    for name in (
        "CreateTreeEnsembleVariable", "DecisionTreeEnsembleResourceHandleOp",
        "GradientTreesPrediction", "GradientTreesPredictionVerbose", "TreeEnsembleDeserialize",
        "TreeEnsembleIsInitializedOp", "TreeEnsembleSerialize", "TreeEnsembleStampToken",
        "TreeEnsembleStats", "UpdateTreeEnsemble",
    )
]  # fmt: skip
