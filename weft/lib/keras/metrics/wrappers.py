"""Means of functions, each under a name of its own."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.losses import functions as losses
from weft.lib.keras.metrics import functions
from weft.lib.keras.metrics.means import MeanMetricWrapper


class Accuracy(MeanMetricWrapper):
    """How often predictions equal labels."""

    def __init__(self, name: str = "accuracy", dtype: Any = None) -> None:
        super().__init__(functions.accuracy, name, dtype)


class BinaryAccuracy(MeanMetricWrapper):
    """How often predictions are on the side of `threshold` that labels are on."""

    def __init__(
        self, name: str = "binary_accuracy", dtype: Any = None, threshold: float = 0.5
    ) -> None:
        super().__init__(functions.binary_accuracy, name, dtype, threshold=threshold)


class CategoricalAccuracy(MeanMetricWrapper):
    """How often the largest prediction is that of the class with the largest label."""

    def __init__(self, name: str = "categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.categorical_accuracy, name, dtype)


class SparseCategoricalAccuracy(MeanMetricWrapper):
    """How often the largest prediction is that of the class a label gives by number."""

    def __init__(self, name: str = "sparse_categorical_accuracy", dtype: Any = None) -> None:
        super().__init__(functions.sparse_categorical_accuracy, name, dtype)


class TopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the class with the largest label is among the `k` largest predictions."""

    def __init__(
        self, k: int = 5, name: str = "top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(functions.top_k_categorical_accuracy, name, dtype, k=k)


class SparseTopKCategoricalAccuracy(MeanMetricWrapper):
    """How often the class a label gives by number is among the `k` largest predictions."""

    def __init__(
        self, k: int = 5, name: str = "sparse_top_k_categorical_accuracy", dtype: Any = None
    ) -> None:
        super().__init__(functions.sparse_top_k_categorical_accuracy, name, dtype, k=k)


class CosineSimilarity(MeanMetricWrapper):
    """The mean cosine of the angle between predictions and labels."""

    def __init__(self, name: str = "cosine_similarity", dtype: Any = None, axis: int = -1) -> None:
        super().__init__(losses.cosine_similarity, name, dtype, axis=axis)


class MeanAbsoluteError(MeanMetricWrapper):
    """The mean of the magnitudes of differences, over all batches."""

    def __init__(self, name: str = "mean_absolute_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_absolute_error, name, dtype)


class MeanAbsolutePercentageError(MeanMetricWrapper):
    """The mean of the magnitudes of differences, in percent of the labels, over all batches."""

    def __init__(self, name: str = "mean_absolute_percentage_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_absolute_percentage_error, name, dtype)


class MeanSquaredError(MeanMetricWrapper):
    """The mean of the squares of differences, over all batches."""

    def __init__(self, name: str = "mean_squared_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_squared_error, name, dtype)


class MeanSquaredLogarithmicError(MeanMetricWrapper):
    """The mean of the squares of differences between logarithms, over all batches."""

    def __init__(self, name: str = "mean_squared_logarithmic_error", dtype: Any = None) -> None:
        super().__init__(losses.mean_squared_logarithmic_error, name, dtype)


class Hinge(MeanMetricWrapper):
    """The mean distance of predictions from being beyond 1 on the side of their labels."""

    def __init__(self, name: str = "hinge", dtype: Any = None) -> None:
        super().__init__(losses.hinge, name, dtype)


class SquaredHinge(MeanMetricWrapper):
    """The mean of the squares of `Hinge`."""

    def __init__(self, name: str = "squared_hinge", dtype: Any = None) -> None:
        super().__init__(losses.squared_hinge, name, dtype)


class CategoricalHinge(MeanMetricWrapper):
    """The mean distance of the true class from being ahead of the others by 1."""

    def __init__(self, name: str = "categorical_hinge", dtype: Any = None) -> None:
        super().__init__(losses.categorical_hinge, name, dtype)


class LogCoshError(MeanMetricWrapper):
    """The mean logarithm of the hyperbolic cosine of the difference."""

    def __init__(self, name: str = "logcosh", dtype: Any = None) -> None:
        super().__init__(losses.logcosh, name, dtype)


class Poisson(MeanMetricWrapper):
    """The mean loss of predicted rates when labels are counts."""

    def __init__(self, name: str = "poisson", dtype: Any = None) -> None:
        super().__init__(losses.poisson, name, dtype)


class KLDivergence(MeanMetricWrapper):
    """How much labels differ from predictions, both distributions, in the mean."""

    def __init__(self, name: str = "kullback_leibler_divergence", dtype: Any = None) -> None:
        super().__init__(losses.kullback_leibler_divergence, name, dtype)


class BinaryCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of probabilities and labels that are 0 or 1."""

    def __init__(
        self,
        name: str = "binary_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: Any = 0,
    ) -> None:
        fixed = {"from_logits": from_logits, "label_smoothing": label_smoothing}
        super().__init__(losses.binary_crossentropy, name, dtype, **fixed)


class CategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of predictions and labels that are distributions."""

    def __init__(
        self,
        name: str = "categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        label_smoothing: Any = 0,
    ) -> None:
        fixed = {"from_logits": from_logits, "label_smoothing": label_smoothing}
        super().__init__(losses.categorical_crossentropy, name, dtype, **fixed)


class SparseCategoricalCrossentropy(MeanMetricWrapper):
    """The mean cross entropy of predictions and classes that labels give by number."""

    def __init__(
        self,
        name: str = "sparse_categorical_crossentropy",
        dtype: Any = None,
        from_logits: bool = False,
        axis: int = -1,
    ) -> None:
        fixed = {"from_logits": from_logits, "axis": axis}
        super().__init__(losses.sparse_categorical_crossentropy, name, dtype, **fixed)
