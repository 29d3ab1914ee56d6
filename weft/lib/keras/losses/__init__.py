"""tf.keras.losses: losses as functions, as objects, and by name."""

from __future__ import annotations

from typing import Any

from weft.lib.keras.losses.base import (  # noqa: F401
    BinaryCrossentropy,
    CategoricalCrossentropy,
    CategoricalHinge,
    CosineSimilarity,
    Hinge,
    Huber,
    KLDivergence,
    LogCosh,
    Loss,
    LossFunctionWrapper,
    MeanAbsoluteError,
    MeanAbsolutePercentageError,
    MeanSquaredError,
    MeanSquaredLogarithmicError,
    Poisson,
    SparseCategoricalCrossentropy,
    SquaredHinge,
)
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
    huber_loss,
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
from weft.lib.keras.losses.weighting import (  # noqa: F401
    Reduction,
    compute_weighted_loss,
    reduce_weighted_loss,
    squeeze_or_expand_dimensions,
)
from weft.lib.keras.utils.generic import deserialize_keras_object, interpret, serialize_keras_object


def is_categorical_crossentropy(loss: Any) -> bool:
    """Whether labels are distributions over classes, however the loss is given."""
    if isinstance(loss, LossFunctionWrapper):
        return loss.fn is categorical_crossentropy
    return "categorical_crossentropy" in (loss, getattr(loss, "__name__", None))


def serialize(loss: Any) -> Any:
    """The name of a function, or the record of an object."""
    return serialize_keras_object(loss)


def deserialize(name: Any, custom_objects: Any = None) -> Any:
    """The loss of this name, of Keras or among `custom_objects`."""
    return deserialize_keras_object(name, globals(), custom_objects, "loss function")


def get(identifier: Any) -> Any:
    """The loss meant by a name, a record {class_name, config}, or itself."""
    return interpret(identifier, "loss function", deserialize)
