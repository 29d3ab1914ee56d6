"""tf.contrib.layers.feature_column: the columns under one name."""

from weft.lib.contrib.layers.column_base import Column as _FeatureColumn  # noqa: F401
from weft.lib.contrib.layers.crossed_columns import _CrossedColumn, crossed_column  # noqa: F401
from weft.lib.contrib.layers.dense_columns import (  # noqa: F401
    _BucketizedColumn,
    _real_valued_var_len_column,
    _RealValuedColumn,
    _RealValuedVarLenColumn,
    bucketized_column,
    real_valued_column,
)
from weft.lib.contrib.layers.embedding_columns import (  # noqa: F401
    _EmbeddingColumn,
    _OneHotColumn,
    _ScatteredEmbeddingColumn,
    embedding_column,
    one_hot_column,
    scattered_embedding_column,
    shared_embedding_columns,
)
from weft.lib.contrib.layers.feature_parsing import (  # noqa: F401
    _create_sequence_feature_spec_for_parsing,
    create_feature_spec_for_parsing,
    make_place_holder_tensors_for_base_features,
)
from weft.lib.contrib.layers.sparse_columns import (  # noqa: F401
    _SparseColumn,
    _SparseColumnHashed,
    _SparseColumnIntegerized,
    _SparseColumnKeys,
    _SparseColumnVocabulary,
    _SparseIdLookupConfig,
    _WeightedSparseColumn,
    sparse_column_with_hash_bucket,
    sparse_column_with_integerized_feature,
    sparse_column_with_keys,
    sparse_column_with_vocabulary_file,
    weighted_sparse_column,
)
from weft.lib.feature_column.input_layer import InputLayer as InputLayer
