"""tf.keras.metrics: public names, re-exported from where they are made."""

from weft.lib.keras.losses.functions import (
    binary_crossentropy as binary_crossentropy,
    categorical_crossentropy as categorical_crossentropy,
    cosine as cosine,
    cosine_proximity as cosine_proximity,
    hinge as hinge,
    KLD as KLD,
    kld as kld,
    kullback_leibler_divergence as kullback_leibler_divergence,
    MAE as MAE,
    mae as mae,
    MAPE as MAPE,
    mape as mape,
    mean_absolute_error as mean_absolute_error,
    mean_absolute_percentage_error as mean_absolute_percentage_error,
    mean_squared_error as mean_squared_error,
    mean_squared_logarithmic_error as mean_squared_logarithmic_error,
    MSE as MSE,
    mse as mse,
    MSLE as MSLE,
    msle as msle,
    poisson as poisson,
    sparse_categorical_crossentropy as sparse_categorical_crossentropy,
    squared_hinge as squared_hinge,
)
from weft.lib.keras.metrics import deserialize as deserialize, get as get, serialize as serialize
from weft.lib.keras.metrics.auc import AUC as AUC
from weft.lib.keras.metrics.base import Metric as Metric
from weft.lib.keras.metrics.confusion import (
    FalseNegatives as FalseNegatives,
    FalsePositives as FalsePositives,
    Precision as Precision,
    Recall as Recall,
    SensitivityAtSpecificity as SensitivityAtSpecificity,
    SpecificityAtSensitivity as SpecificityAtSensitivity,
    TrueNegatives as TrueNegatives,
    TruePositives as TruePositives,
)
from weft.lib.keras.metrics.functions import (
    binary_accuracy as binary_accuracy,
    categorical_accuracy as categorical_accuracy,
    sparse_categorical_accuracy as sparse_categorical_accuracy,
    sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy,
    top_k_categorical_accuracy as top_k_categorical_accuracy,
)
from weft.lib.keras.metrics.iou import MeanIoU as MeanIoU
from weft.lib.keras.metrics.means import (
    Mean as Mean,
    MeanRelativeError as MeanRelativeError,
    MeanTensor as MeanTensor,
    RootMeanSquaredError as RootMeanSquaredError,
    Sum as Sum,
)
from weft.lib.keras.metrics.wrappers import (
    Accuracy as Accuracy,
    BinaryAccuracy as BinaryAccuracy,
    BinaryCrossentropy as BinaryCrossentropy,
    CategoricalAccuracy as CategoricalAccuracy,
    CategoricalCrossentropy as CategoricalCrossentropy,
    CategoricalHinge as CategoricalHinge,
    CosineSimilarity as CosineSimilarity,
    Hinge as Hinge,
    KLDivergence as KLDivergence,
    LogCoshError as LogCoshError,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanAbsolutePercentageError as MeanAbsolutePercentageError,
    MeanSquaredError as MeanSquaredError,
    MeanSquaredLogarithmicError as MeanSquaredLogarithmicError,
    Poisson as Poisson,
    SparseCategoricalAccuracy as SparseCategoricalAccuracy,
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
    SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy,
    SquaredHinge as SquaredHinge,
    TopKCategoricalAccuracy as TopKCategoricalAccuracy,
)
