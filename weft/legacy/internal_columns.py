"""Names of TensorFlow's modules of feature columns that are not public."""

from weft.lib.feature_column.base import (  # noqa: F401
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    SequenceDenseColumn,
    is_feature_column_v2,
)
from weft.lib.feature_column.categorical import HashedCategoricalColumn, IdentityCategoricalColumn  # noqa: F401
from weft.lib.feature_column.combined import CrossedColumn, WeightedCategoricalColumn  # noqa: F401
from weft.lib.feature_column.embedding import EmbeddingColumn  # noqa: F401
from weft.lib.feature_column.indicator import IndicatorColumn  # noqa: F401
from weft.lib.feature_column.input_layer import InputLayer  # noqa: F401
from weft.lib.feature_column.layers import DenseFeatures, LinearModel, SequenceFeatures  # noqa: F401
from weft.lib.feature_column.numeric import BucketizedColumn, NumericColumn  # noqa: F401
from weft.lib.feature_column.sequence import (  # noqa: F401
    SequenceCategoricalColumn,
    SequenceNumericColumn,
    concatenate_context_input,
)
from weft.lib.feature_column.state import StateManager  # noqa: F401
from weft.lib.feature_column.transformation import FeatureTransformationCache  # noqa: F401
from weft.lib.feature_column.vocabulary import (  # noqa: F401
    VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn,
)

_FeatureColumn, _DenseColumn, _CategoricalColumn = FeatureColumn, DenseColumn, CategoricalColumn
