"""Names of TensorFlow's modules of feature columns that are not public."""

import abc

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


class _FeatureColumn(abc.ABC):  # noqa: B024
    """The older base class of all columns; classes may derive from it and from the newer one."""


class _DenseColumn(_FeatureColumn):
    """The older base class of columns that give dense tensors."""


class _CategoricalColumn(_FeatureColumn):
    """The older base class of columns that give sparse tensors of ids."""


_NEWER: list[tuple[abc.ABCMeta, type]] = [
    (_FeatureColumn, FeatureColumn),
    (_DenseColumn, DenseColumn),
    (_CategoricalColumn, CategoricalColumn),
]
for _older, _newer in _NEWER:
    _older.register(_newer)
