"""tf.contrib.slim: layers, argument scopes, variables and training loops in one place."""

from weft.lib.contrib import layers as layers
from weft.lib.contrib import losses as losses
from weft.lib.contrib import metrics as metrics
from weft.lib.contrib.framework import variables as variables
from weft.lib.contrib.framework.arg_scope import add_arg_scope as add_arg_scope
from weft.lib.contrib.framework.arg_scope import arg_scope as arg_scope
from weft.lib.contrib.framework.arg_scope import arg_scope_func_key as arg_scope_func_key
from weft.lib.contrib.framework.arg_scope import arg_scoped_arguments as arg_scoped_arguments
from weft.lib.contrib.framework.arg_scope import current_arg_scope as current_arg_scope
from weft.lib.contrib.framework.arg_scope import has_arg_scope as has_arg_scope
from weft.lib.contrib.framework.checkpoints import assign_from_checkpoint as assign_from_checkpoint
from weft.lib.contrib.framework.checkpoints import (
    assign_from_checkpoint_fn as assign_from_checkpoint_fn,
)
from weft.lib.contrib.framework.variables import VariableDeviceChooser as VariableDeviceChooser
from weft.lib.contrib.framework.variables import add_model_variable as add_model_variable
from weft.lib.contrib.framework.variables import assert_global_step as assert_global_step
from weft.lib.contrib.framework.variables import (
    assert_or_get_global_step as assert_or_get_global_step,
)
from weft.lib.contrib.framework.variables import assign_from_values as assign_from_values
from weft.lib.contrib.framework.variables import assign_from_values_fn as assign_from_values_fn
from weft.lib.contrib.framework.variables import create_global_step as create_global_step
from weft.lib.contrib.framework.variables import filter_variables as filter_variables
from weft.lib.contrib.framework.variables import get_global_step as get_global_step
from weft.lib.contrib.framework.variables import get_local_variables as get_local_variables
from weft.lib.contrib.framework.variables import get_model_variables as get_model_variables
from weft.lib.contrib.framework.variables import (
    get_or_create_global_step as get_or_create_global_step,
)
from weft.lib.contrib.framework.variables import get_trainable_variables as get_trainable_variables
from weft.lib.contrib.framework.variables import get_unique_variable as get_unique_variable
from weft.lib.contrib.framework.variables import get_variable_full_name as get_variable_full_name
from weft.lib.contrib.framework.variables import get_variables as get_variables
from weft.lib.contrib.framework.variables import get_variables_by_name as get_variables_by_name
from weft.lib.contrib.framework.variables import get_variables_by_suffix as get_variables_by_suffix
from weft.lib.contrib.framework.variables import (
    get_variables_to_restore as get_variables_to_restore,
)
from weft.lib.contrib.framework.variables import global_variable as global_variable
from weft.lib.contrib.framework.variables import local_variable as local_variable
from weft.lib.contrib.framework.variables import model_variable as model_variable
from weft.lib.contrib.framework.variables import variable as variable
from weft.lib.contrib.layers import initializers as initializers
from weft.lib.contrib.layers import regularizers as regularizers
from weft.lib.contrib.layers import utils as utils
from weft.lib.contrib.layers.arrays import dense_to_sparse as dense_to_sparse
from weft.lib.contrib.layers.arrays import dropout as dropout
from weft.lib.contrib.layers.arrays import flatten as flatten
from weft.lib.contrib.layers.arrays import images_to_sequence as images_to_sequence
from weft.lib.contrib.layers.arrays import maxout as maxout
from weft.lib.contrib.layers.arrays import one_hot_encoding as one_hot_encoding
from weft.lib.contrib.layers.arrays import poincare_normalize as poincare_normalize
from weft.lib.contrib.layers.arrays import sequence_to_images as sequence_to_images
from weft.lib.contrib.layers.arrays import softmax as softmax
from weft.lib.contrib.layers.arrays import spatial_softmax as spatial_softmax
from weft.lib.contrib.layers.arrays import unit_norm as unit_norm
from weft.lib.contrib.layers.batch_normalization import batch_norm as batch_norm
from weft.lib.contrib.layers.convolutions import conv1d as conv1d
from weft.lib.contrib.layers.convolutions import conv2d as conv2d
from weft.lib.contrib.layers.convolutions import conv2d_in_plane as conv2d_in_plane
from weft.lib.contrib.layers.convolutions import conv2d_transpose as conv2d_transpose
from weft.lib.contrib.layers.convolutions import conv3d as conv3d
from weft.lib.contrib.layers.convolutions import conv3d_transpose as conv3d_transpose
from weft.lib.contrib.layers.convolutions import convolution as convolution
from weft.lib.contrib.layers.convolutions import convolution1d as convolution1d
from weft.lib.contrib.layers.convolutions import convolution2d as convolution2d
from weft.lib.contrib.layers.convolutions import convolution2d_in_plane as convolution2d_in_plane
from weft.lib.contrib.layers.convolutions import convolution2d_transpose as convolution2d_transpose
from weft.lib.contrib.layers.convolutions import convolution3d as convolution3d
from weft.lib.contrib.layers.convolutions import convolution3d_transpose as convolution3d_transpose
from weft.lib.contrib.layers.convolutions import separable_conv2d as separable_conv2d
from weft.lib.contrib.layers.convolutions import separable_convolution2d as separable_convolution2d
from weft.lib.contrib.layers.crossed_columns import crossed_column as crossed_column
from weft.lib.contrib.layers.dense import bias_add as bias_add
from weft.lib.contrib.layers.dense import bow_encoder as bow_encoder
from weft.lib.contrib.layers.dense import elu as elu
from weft.lib.contrib.layers.dense import embed_sequence as embed_sequence
from weft.lib.contrib.layers.dense import embedding_lookup_unique as embedding_lookup_unique
from weft.lib.contrib.layers.dense import fully_connected as fully_connected
from weft.lib.contrib.layers.dense import legacy_fully_connected as legacy_fully_connected
from weft.lib.contrib.layers.dense import legacy_linear as legacy_linear
from weft.lib.contrib.layers.dense import legacy_relu as legacy_relu
from weft.lib.contrib.layers.dense import linear as linear
from weft.lib.contrib.layers.dense import relu as relu
from weft.lib.contrib.layers.dense import relu6 as relu6
from weft.lib.contrib.layers.dense_columns import bucketized_column as bucketized_column
from weft.lib.contrib.layers.dense_columns import real_valued_column as real_valued_column
from weft.lib.contrib.layers.embedding_columns import embedding_column as embedding_column
from weft.lib.contrib.layers.embedding_columns import one_hot_column as one_hot_column
from weft.lib.contrib.layers.embedding_columns import (
    scattered_embedding_column as scattered_embedding_column,
)
from weft.lib.contrib.layers.embedding_columns import (
    shared_embedding_columns as shared_embedding_columns,
)
from weft.lib.contrib.layers.embedding_tables import (
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from weft.lib.contrib.layers.feature_column_ops import (
    check_feature_columns as check_feature_columns,
)
from weft.lib.contrib.layers.feature_column_ops import (
    input_from_feature_columns as input_from_feature_columns,
)
from weft.lib.contrib.layers.feature_column_ops import (
    joint_weighted_sum_from_feature_columns as joint_weighted_sum_from_feature_columns,
)
from weft.lib.contrib.layers.feature_column_ops import (
    sequence_input_from_feature_columns as sequence_input_from_feature_columns,
)
from weft.lib.contrib.layers.feature_column_ops import (
    weighted_sum_from_feature_columns as weighted_sum_from_feature_columns,
)
from weft.lib.contrib.layers.feature_parsing import (
    create_feature_spec_for_parsing as create_feature_spec_for_parsing,
)
from weft.lib.contrib.layers.feature_parsing import (
    infer_real_valued_columns as infer_real_valued_columns,
)
from weft.lib.contrib.layers.feature_parsing import (
    make_place_holder_tensors_for_base_features as make_place_holder_tensors_for_base_features,
)
from weft.lib.contrib.layers.feature_parsing import (
    parse_feature_columns_from_examples as parse_feature_columns_from_examples,
)
from weft.lib.contrib.layers.feature_parsing import (
    parse_feature_columns_from_sequence_examples as parse_feature_columns_from_sequence_examples,
)
from weft.lib.contrib.layers.feature_parsing import transform_features as transform_features
from weft.lib.contrib.layers.gdn import GDN as GDN
from weft.lib.contrib.layers.gdn import gdn as gdn
from weft.lib.contrib.layers.initializers import (
    variance_scaling_initializer as variance_scaling_initializer,
)
from weft.lib.contrib.layers.initializers import xavier_initializer as xavier_initializer
from weft.lib.contrib.layers.initializers import (
    xavier_initializer_conv2d as xavier_initializer_conv2d,
)
from weft.lib.contrib.layers.normalization import group_norm as group_norm
from weft.lib.contrib.layers.normalization import instance_norm as instance_norm
from weft.lib.contrib.layers.normalization import layer_norm as layer_norm
from weft.lib.contrib.layers.optimizers import OPTIMIZER_CLS_NAMES as OPTIMIZER_CLS_NAMES
from weft.lib.contrib.layers.optimizers import OPTIMIZER_SUMMARIES as OPTIMIZER_SUMMARIES
from weft.lib.contrib.layers.optimizers import adaptive_clipping_fn as adaptive_clipping_fn
from weft.lib.contrib.layers.optimizers import optimize_loss as optimize_loss
from weft.lib.contrib.layers.pooling import avg_pool2d as avg_pool2d
from weft.lib.contrib.layers.pooling import avg_pool3d as avg_pool3d
from weft.lib.contrib.layers.pooling import max_pool2d as max_pool2d
from weft.lib.contrib.layers.pooling import max_pool3d as max_pool3d
from weft.lib.contrib.layers.pooling import pool as pool
from weft.lib.contrib.layers.recompute import recompute_grad as recompute_grad
from weft.lib.contrib.layers.regularizers import apply_regularization as apply_regularization
from weft.lib.contrib.layers.regularizers import l1_l2_regularizer as l1_l2_regularizer
from weft.lib.contrib.layers.regularizers import l1_regularizer as l1_regularizer
from weft.lib.contrib.layers.regularizers import l2_regularizer as l2_regularizer
from weft.lib.contrib.layers.regularizers import sum_regularizer as sum_regularizer
from weft.lib.contrib.layers.reversible import RevBlock as RevBlock
from weft.lib.contrib.layers.reversible import rev_block as rev_block
from weft.lib.contrib.layers.scattered import (
    scattered_embedding_lookup as scattered_embedding_lookup,
)
from weft.lib.contrib.layers.scattered import (
    scattered_embedding_lookup_sparse as scattered_embedding_lookup_sparse,
)
from weft.lib.contrib.layers.sparse_columns import (
    sparse_column_with_hash_bucket as sparse_column_with_hash_bucket,
)
from weft.lib.contrib.layers.sparse_columns import (
    sparse_column_with_integerized_feature as sparse_column_with_integerized_feature,
)
from weft.lib.contrib.layers.sparse_columns import (
    sparse_column_with_keys as sparse_column_with_keys,
)
from weft.lib.contrib.layers.sparse_columns import (
    sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file,
)
from weft.lib.contrib.layers.sparse_columns import weighted_sparse_column as weighted_sparse_column
from weft.lib.contrib.layers.stacks import repeat as repeat
from weft.lib.contrib.layers.stacks import scale_gradient as scale_gradient
from weft.lib.contrib.layers.stacks import stack as stack
from weft.lib.contrib.layers.summaries import summarize_activation as summarize_activation
from weft.lib.contrib.layers.summaries import summarize_activations as summarize_activations
from weft.lib.contrib.layers.summaries import summarize_biases as summarize_biases
from weft.lib.contrib.layers.summaries import summarize_collection as summarize_collection
from weft.lib.contrib.layers.summaries import summarize_tensor as summarize_tensor
from weft.lib.contrib.layers.summaries import summarize_tensors as summarize_tensors
from weft.lib.contrib.layers.summaries import summarize_variables as summarize_variables
from weft.lib.contrib.layers.summaries import summarize_weights as summarize_weights
from weft.lib.contrib.layers.target_column import binary_svm_target as binary_svm_target
from weft.lib.contrib.layers.target_column import multi_class_target as multi_class_target
from weft.lib.contrib.layers.target_column import regression_target as regression_target
from weft.lib.contrib.slim import data_decoder as data_decoder
from weft.lib.contrib.slim import data_provider as data_provider
from weft.lib.contrib.slim import dataset as dataset
from weft.lib.contrib.slim import dataset_data_provider as dataset_data_provider
from weft.lib.contrib.slim import evaluation as evaluation
from weft.lib.contrib.slim import learning as learning
from weft.lib.contrib.slim import model_analyzer as model_analyzer
from weft.lib.contrib.slim import nets as nets
from weft.lib.contrib.slim import parallel_reader as parallel_reader
from weft.lib.contrib.slim import prefetch_queue as prefetch_queue
from weft.lib.contrib.slim import queues as queues
from weft.lib.contrib.slim import summaries as summaries
from weft.lib.contrib.slim import tfexample_decoder as tfexample_decoder
from weft.ops.sparse.feature_cross import (
    SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY as SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY,
)
