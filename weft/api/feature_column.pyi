# Written by `make stubs` from weft/api/feature_column.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.feature_column.categorical import categorical_column_with_hash_bucket as categorical_column_with_hash_bucket
from weft.lib.feature_column.categorical import categorical_column_with_identity as categorical_column_with_identity
from weft.lib.feature_column.combined import crossed_column as crossed_column
from weft.lib.feature_column.combined import weighted_categorical_column as weighted_categorical_column
from weft.lib.feature_column.embedding import embedding_column as embedding_column
from weft.lib.feature_column.indicator import indicator_column as indicator_column
from weft.lib.feature_column.input_layer import input_layer as input_layer
from weft.lib.feature_column.linear import linear_model as linear_model
from weft.lib.feature_column.numeric import bucketized_column as bucketized_column
from weft.lib.feature_column.numeric import numeric_column as numeric_column
from weft.lib.feature_column.sequence import sequence_numeric_column as sequence_numeric_column
from weft.lib.feature_column.shared_embedding import shared_embedding_columns as shared_embedding_columns
from weft.lib.feature_column.transformation import make_parse_example_spec as make_parse_example_spec
from weft.lib.feature_column.vocabulary import categorical_column_with_vocabulary_file as categorical_column_with_vocabulary_file
from weft.lib.feature_column.vocabulary import categorical_column_with_vocabulary_list as categorical_column_with_vocabulary_list
def sequence_categorical_column_with_hash_bucket(key: _Any, hash_bucket_size: _Any, dtype: _Any = ...) -> _Any: ...
def sequence_categorical_column_with_identity(key: _Any, num_buckets: _builtins.int, default_value: _builtins.int | None = None) -> _Any: ...
def sequence_categorical_column_with_vocabulary_file(key: _Any, vocabulary_file: _Any, vocabulary_size: _builtins.int | None = None, num_oov_buckets: _builtins.int = 0, default_value: _builtins.int | None = None, dtype: _Any = ...) -> _Any: ...
def sequence_categorical_column_with_vocabulary_list(key: _Any, vocabulary_list: _Any, dtype: _Any = None, default_value: _builtins.int = -1, num_oov_buckets: _builtins.int = 0) -> _Any: ...
