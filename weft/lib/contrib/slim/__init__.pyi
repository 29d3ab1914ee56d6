# Written by `make stubs` from weft/lib/contrib/slim/__init__.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.slices import SparseTensor as _SparseTensor
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
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
from weft.lib.contrib.framework.checkpoints import assign_from_checkpoint_fn as assign_from_checkpoint_fn
from weft.lib.contrib.framework.variables import VariableDeviceChooser as VariableDeviceChooser
from weft.lib.contrib.framework.variables import add_model_variable as add_model_variable
from weft.lib.contrib.framework.variables import assert_or_get_global_step as assert_or_get_global_step
from weft.lib.contrib.framework.variables import assign_from_values as assign_from_values
from weft.lib.contrib.framework.variables import assign_from_values_fn as assign_from_values_fn
from weft.lib.contrib.framework.variables import filter_variables as filter_variables
from weft.lib.contrib.framework.variables import get_local_variables as get_local_variables
from weft.lib.contrib.framework.variables import get_model_variables as get_model_variables
from weft.lib.contrib.framework.variables import get_trainable_variables as get_trainable_variables
from weft.lib.contrib.framework.variables import get_unique_variable as get_unique_variable
from weft.lib.contrib.framework.variables import get_variable_full_name as get_variable_full_name
from weft.lib.contrib.framework.variables import get_variables as get_variables
from weft.lib.contrib.framework.variables import get_variables_by_name as get_variables_by_name
from weft.lib.contrib.framework.variables import get_variables_by_suffix as get_variables_by_suffix
from weft.lib.contrib.framework.variables import get_variables_to_restore as get_variables_to_restore
from weft.lib.contrib.framework.variables import global_variable as global_variable
from weft.lib.contrib.framework.variables import local_variable as local_variable
from weft.lib.contrib.layers import initializers as initializers
from weft.lib.contrib.layers import regularizers as regularizers
from weft.lib.contrib.layers import utils as utils
from weft.lib.contrib.layers.arrays import poincare_normalize as poincare_normalize
from weft.lib.contrib.layers.crossed_columns import crossed_column as crossed_column
from weft.lib.contrib.layers.dense import bow_encoder as bow_encoder
from weft.lib.contrib.layers.dense import elu as elu
from weft.lib.contrib.layers.dense import embed_sequence as embed_sequence
from weft.lib.contrib.layers.dense import embedding_lookup_unique as embedding_lookup_unique
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
from weft.lib.contrib.layers.embedding_columns import scattered_embedding_column as scattered_embedding_column
from weft.lib.contrib.layers.embedding_columns import shared_embedding_columns as shared_embedding_columns
from weft.lib.contrib.layers.embedding_tables import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from weft.lib.contrib.layers.feature_column_ops import check_feature_columns as check_feature_columns
from weft.lib.contrib.layers.feature_column_ops import input_from_feature_columns as input_from_feature_columns
from weft.lib.contrib.layers.feature_column_ops import joint_weighted_sum_from_feature_columns as joint_weighted_sum_from_feature_columns
from weft.lib.contrib.layers.feature_column_ops import sequence_input_from_feature_columns as sequence_input_from_feature_columns
from weft.lib.contrib.layers.feature_column_ops import weighted_sum_from_feature_columns as weighted_sum_from_feature_columns
from weft.lib.contrib.layers.feature_parsing import create_feature_spec_for_parsing as create_feature_spec_for_parsing
from weft.lib.contrib.layers.feature_parsing import infer_real_valued_columns as infer_real_valued_columns
from weft.lib.contrib.layers.feature_parsing import make_place_holder_tensors_for_base_features as make_place_holder_tensors_for_base_features
from weft.lib.contrib.layers.feature_parsing import parse_feature_columns_from_examples as parse_feature_columns_from_examples
from weft.lib.contrib.layers.feature_parsing import parse_feature_columns_from_sequence_examples as parse_feature_columns_from_sequence_examples
from weft.lib.contrib.layers.feature_parsing import transform_features as transform_features
from weft.lib.contrib.layers.gdn import GDN as GDN
from weft.lib.contrib.layers.initializers import variance_scaling_initializer as variance_scaling_initializer
from weft.lib.contrib.layers.initializers import xavier_initializer as xavier_initializer
from weft.lib.contrib.layers.initializers import xavier_initializer_conv2d as xavier_initializer_conv2d
from weft.lib.contrib.layers.optimizers import OPTIMIZER_CLS_NAMES as OPTIMIZER_CLS_NAMES
from weft.lib.contrib.layers.optimizers import OPTIMIZER_SUMMARIES as OPTIMIZER_SUMMARIES
from weft.lib.contrib.layers.optimizers import adaptive_clipping_fn as adaptive_clipping_fn
from weft.lib.contrib.layers.optimizers import optimize_loss as optimize_loss
from weft.lib.contrib.layers.recompute import recompute_grad as recompute_grad
from weft.lib.contrib.layers.regularizers import apply_regularization as apply_regularization
from weft.lib.contrib.layers.regularizers import l1_l2_regularizer as l1_l2_regularizer
from weft.lib.contrib.layers.regularizers import l1_regularizer as l1_regularizer
from weft.lib.contrib.layers.regularizers import l2_regularizer as l2_regularizer
from weft.lib.contrib.layers.regularizers import sum_regularizer as sum_regularizer
from weft.lib.contrib.layers.reversible import RevBlock as RevBlock
from weft.lib.contrib.layers.reversible import rev_block as rev_block
from weft.lib.contrib.layers.scattered import scattered_embedding_lookup as scattered_embedding_lookup
from weft.lib.contrib.layers.scattered import scattered_embedding_lookup_sparse as scattered_embedding_lookup_sparse
from weft.lib.contrib.layers.sparse_columns import sparse_column_with_hash_bucket as sparse_column_with_hash_bucket
from weft.lib.contrib.layers.sparse_columns import sparse_column_with_integerized_feature as sparse_column_with_integerized_feature
from weft.lib.contrib.layers.sparse_columns import sparse_column_with_keys as sparse_column_with_keys
from weft.lib.contrib.layers.sparse_columns import sparse_column_with_vocabulary_file as sparse_column_with_vocabulary_file
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
from weft.ops.sparse.feature_cross import SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY as SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
def assert_global_step(global_step_tensor: _Any) -> None: ...
def create_global_step(graph: _Any = None) -> _Any: ...
def get_global_step(graph: _Any = None) -> _Any: ...
def get_or_create_global_step(graph: _Any = None) -> _Any: ...
def model_variable(name: _builtins.str, shape: _Any = None, dtype: _Any = ..., initializer: _Any = None, regularizer: _Any = None, trainable: _builtins.bool = True, collections: _Any = None, caching_device: _Any = None, device: _Any = None, partitioner: _Any = None, custom_getter: _Any = None, use_resource: _builtins.bool | None = None, synchronization: _Any = ..., aggregation: _Any = ...) -> _Any: ...
def variable(name: _builtins.str, shape: _Any = None, dtype: _Any = None, initializer: _Any = None, regularizer: _Any = None, trainable: _builtins.bool = True, collections: _Any = None, caching_device: _Any = None, device: _Any = None, partitioner: _Any = None, custom_getter: _Any = None, use_resource: _builtins.bool | None = None, synchronization: _Any = ..., aggregation: _Any = ...) -> _Any: ...
def dense_to_sparse(tensor: _Any, eos_token: _Any = 0, outputs_collections: _Any = None, scope: _Any = None) -> _SparseTensor: ...
def dropout(inputs: _Any, keep_prob: _Any = 0.5, noise_shape: _Any = None, is_training: _Any = True, outputs_collections: _Any = None, scope: _Any = None, seed: _builtins.int | None = None) -> _Tensor: ...
def flatten(inputs: _Any, outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def images_to_sequence(inputs: _Any, data_format: _builtins.str = 'NHWC', outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def maxout(inputs: _Any, num_units: _builtins.int, axis: _builtins.int = -1, scope: _Any = None) -> _Tensor: ...
def one_hot_encoding(labels: _Any, num_classes: _builtins.int, on_value: _Any = 1.0, off_value: _Any = 0.0, outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def sequence_to_images(inputs: _Any, height: _builtins.int, output_data_format: _builtins.str = 'channels_last', outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def softmax(logits: _Any, scope: _Any = None) -> _Tensor: ...
def spatial_softmax(features: _Any, temperature: _Any = None, name: _builtins.str | None = None, variables_collections: _Any = None, trainable: _builtins.bool = True, data_format: _builtins.str = 'NHWC') -> _Tensor: ...
def unit_norm(inputs: _Any, dim: _builtins.int, epsilon: _builtins.float = 1e-07, scope: _Any = None) -> _Tensor: ...
def batch_norm(inputs: _Any, decay: _Any = 0.999, center: _builtins.bool = True, scale: _builtins.bool = False, epsilon: _builtins.float = 0.001, activation_fn: _Any = None, param_initializers: _builtins.dict[_builtins.str, _Any] | None = None, param_regularizers: _builtins.dict[_builtins.str, _Any] | None = None, updates_collections: _Any = 'update_ops', is_training: _Any = True, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, batch_weights: _Any = None, fused: _builtins.bool | None = None, data_format: _builtins.str = 'NHWC', zero_debias_moving_mean: _builtins.bool = False, scope: _Any = None, renorm: _builtins.bool = False, renorm_clipping: _Any = None, renorm_decay: _Any = 0.99, adjustment: _Any = None) -> _Tensor: ...
def conv1d(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = None, rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def conv2d(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = None, rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def conv2d_in_plane(inputs: _Any, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Tensor: ...
def conv2d_transpose(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = 'NHWC', activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def conv3d(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = None, rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def conv3d_transpose(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = 'NDHWC', activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def convolution(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = None, rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None, conv_dims: _builtins.int | None = None) -> _Tensor: ...
def convolution1d(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = None, rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def convolution2d(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = None, rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def convolution2d_in_plane(inputs: _Any, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Tensor: ...
def convolution2d_transpose(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = 'NHWC', activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def convolution3d(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = None, rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def convolution3d_transpose(inputs: _Any, num_outputs: _builtins.int, kernel_size: _Any, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str | None = 'NDHWC', activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Any: ...
def separable_conv2d(inputs: _Any, num_outputs: _builtins.int | None, kernel_size: _Any, depth_multiplier: _builtins.int = 1, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str = 'NHWC', rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., pointwise_initializer: _Any = None, weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Tensor: ...
def separable_convolution2d(inputs: _Any, num_outputs: _builtins.int | None, kernel_size: _Any, depth_multiplier: _builtins.int = 1, stride: _Any = 1, padding: _builtins.str = 'SAME', data_format: _builtins.str = 'NHWC', rate: _Any = 1, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., pointwise_initializer: _Any = None, weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Tensor: ...
def bias_add(inputs: _Any, activation_fn: _Any = None, initializer: _Any = ..., regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, data_format: _builtins.str = 'NHWC', scope: _Any = None) -> _Tensor: ...
def fully_connected(inputs: _Any, num_outputs: _builtins.int, activation_fn: _Any = ..., normalizer_fn: _Any = None, normalizer_params: _Any = None, weights_initializer: _Any = ..., weights_regularizer: _Any = None, biases_initializer: _Any = ..., biases_regularizer: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None) -> _Tensor: ...
def gdn(inputs: _Any, inverse: _builtins.bool = False, beta_min: _builtins.float = 1e-06, gamma_init: _builtins.float = 0.1, reparam_offset: _builtins.float = 3.814697265625e-06, data_format: _builtins.str = 'channels_last', activity_regularizer: _Any = None, trainable: _builtins.bool = True, name: _builtins.str | None = None, reuse: _Any = None) -> _Any: ...
def group_norm(inputs: _Any, groups: _builtins.int = 32, channels_axis: _builtins.int = -1, reduction_axes: _Any = ..., center: _builtins.bool = True, scale: _builtins.bool = True, epsilon: _builtins.float = 1e-06, activation_fn: _Any = None, param_initializers: _builtins.dict[_builtins.str, _Any] | None = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, scope: _Any = None, mean_close_to_zero: _builtins.bool = False) -> _Tensor: ...
def instance_norm(inputs: _Any, center: _builtins.bool = True, scale: _builtins.bool = True, epsilon: _builtins.float = 1e-06, activation_fn: _Any = None, param_initializers: _builtins.dict[_builtins.str, _Any] | None = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, data_format: _builtins.str = 'NHWC', scope: _Any = None) -> _Tensor: ...
def layer_norm(inputs: _Any, center: _builtins.bool = True, scale: _builtins.bool = True, activation_fn: _Any = None, reuse: _Any = None, variables_collections: _Any = None, outputs_collections: _Any = None, trainable: _builtins.bool = True, begin_norm_axis: _builtins.int = 1, begin_params_axis: _builtins.int = -1, scope: _Any = None) -> _Tensor: ...
def avg_pool2d(inputs: _Any, kernel_size: _Any, stride: _Any = 2, padding: _builtins.str = 'VALID', data_format: _builtins.str = 'NHWC', outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def avg_pool3d(inputs: _Any, kernel_size: _Any, stride: _Any = 2, padding: _builtins.str = 'VALID', data_format: _builtins.str = 'NDHWC', outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def max_pool2d(inputs: _Any, kernel_size: _Any, stride: _Any = 2, padding: _builtins.str = 'VALID', data_format: _builtins.str = 'NHWC', outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def max_pool3d(inputs: _Any, kernel_size: _Any, stride: _Any = 2, padding: _builtins.str = 'VALID', data_format: _builtins.str = 'NDHWC', outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
def pool(inputs: _Any, kernel_size: _Any, pooling_type: _builtins.str, padding: _builtins.str = 'VALID', data_format: _builtins.str | None = None, dilation_rate: _Any = 1, stride: _Any = 1, outputs_collections: _Any = None, scope: _Any = None) -> _Tensor: ...
