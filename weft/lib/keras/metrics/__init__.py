"""tf.keras.metrics: metrics as objects with state, as functions, and by name."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.losses.functions import (  # noqa: F401
    KLD,
    MAE,
    MAPE,
    MSE,
    MSLE,
    binary_crossentropy,
    categorical_crossentropy,
    categorical_hinge,
    cosine,
    cosine_proximity,
    cosine_similarity,
    hinge,
    kld,
    kullback_leibler_divergence,
    logcosh,
    mae,
    mape,
    mean_absolute_error,
    mean_absolute_percentage_error,
    mean_squared_error,
    mean_squared_logarithmic_error,
    mse,
    msle,
    poisson,
    sparse_categorical_crossentropy,
    squared_hinge,
)
from weft.lib.keras.metrics.auc import AUC, AUCCurve, AUCSummationMethod  # noqa: F401
from weft.lib.keras.metrics.base import Metric, clone_metric, clone_metrics  # noqa: F401
from weft.lib.keras.metrics.confusion import (  # noqa: F401
    FalseNegatives,
    FalsePositives,
    Precision,
    Recall,
    SensitivityAtSpecificity,
    SpecificityAtSensitivity,
    TrueNegatives,
    TruePositives,
)
from weft.lib.keras.metrics.functions import (  # noqa: F401
    accuracy,
    binary_accuracy,
    categorical_accuracy,
    sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy,
)
from weft.lib.keras.metrics.iou import MeanIoU  # noqa: F401
from weft.lib.keras.metrics.means import (  # noqa: F401
    Mean,
    MeanMetricWrapper,
    MeanRelativeError,
    MeanTensor,
    Reduce,
    RootMeanSquaredError,
    Sum,
    SumOverBatchSize,
    SumOverBatchSizeMetricWrapper,
)
from weft.lib.keras.metrics.wrappers import (  # noqa: F401
    Accuracy,
    BinaryAccuracy,
    BinaryCrossentropy,
    CategoricalAccuracy,
    CategoricalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Hinge,
    KLDivergence,
    LogCoshError,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy,
    SquaredHinge,
    TopKCategoricalAccuracy,
)
from weft.lib.keras.utils.generic import deserialize_keras_object, serialize_keras_object

# Losses that are here, too, but no metrics to ask for by these names.
_NO_METRICS = ("KLD", "kld", "cosine")


def serialize(metric: Any) -> Any:
    """The name of a function, or the record of an object."""
    return serialize_keras_object(metric)


def deserialize(config: Any, custom_objects: Any = None) -> Any:
    """The metric that a configuration describes, of Keras or among `custom_objects`."""
    known = {name: each for name, each in globals().items() if name not in _NO_METRICS}
    return deserialize_keras_object(config, known, custom_objects, "metric function")


def get(identifier: Any) -> Any:
    """The metric meant by a name, a record {class_name, config}, or itself."""
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret metric function identifier: {identifier}")
