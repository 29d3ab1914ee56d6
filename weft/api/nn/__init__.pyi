# Written by `make stubs` from weft/api/nn/__init__.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.ops.array.blocks import space_to_batch as space_to_batch
from weft.ops.nn.zero_fraction import zero_fraction as zero_fraction
from weft.ops.nn.candidate_sampling import all_candidate_sampler as all_candidate_sampler
from weft.ops.nn.candidate_sampling import compute_accidental_hits as compute_accidental_hits
from weft.ops.nn.candidate_sampling import fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler
from weft.ops.nn.cross_entropy import log_poisson_loss as log_poisson_loss
from weft.ops.nn.cross_entropy import sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits
from weft.ops.nn.cross_entropy import softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits
from weft.ops.nn.cross_entropy import softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2
from weft.ops.nn.cross_entropy import sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits
from weft.ops.nn.cross_entropy import weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits
from weft.ops.nn.ctc import ctc_loss as ctc_loss
from weft.ops.nn.ctc_decode import ctc_beam_search_decoder as ctc_beam_search_decoder
from weft.ops.nn.ctc_decode import ctc_beam_search_decoder_v2 as ctc_beam_search_decoder_v2
from weft.ops.nn.ctc_decode import ctc_greedy_decoder as ctc_greedy_decoder
from weft.ops.nn.ctc_dense import collapse_repeated as collapse_repeated
from weft.ops.nn.ctc_dense import ctc_loss_padded as _is_ctc_loss_v2
from weft.ops.nn.ctc_dense import ctc_unique_labels as ctc_unique_labels
from weft.ops.array.depth_blocks import depth_to_space as depth_to_space
from weft.ops.array.depth_blocks import space_to_depth as space_to_depth
from weft.ops.nn.embedding import embedding_lookup as embedding_lookup
from weft.ops.nn.embedding import embedding_lookup_sparse as embedding_lookup_sparse
from weft.ops.nn.embedding_safe import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from weft.ops.nn.fractional_pool import fractional_avg_pool as fractional_avg_pool
from weft.ops.nn.fractional_pool import fractional_max_pool as fractional_max_pool
from weft.ops.scores.losses_average import compute_average_loss as compute_average_loss
from weft.ops.scores.losses_average import scale_regularization_loss as scale_regularization_loss
from weft.ops.math.math import sigmoid as sigmoid
from weft.ops.nn.conv import conv1d as conv1d
from weft.ops.nn.conv import conv1d_transpose as conv1d_transpose
from weft.ops.nn.conv import conv2d as conv2d
from weft.ops.nn.conv import conv2d_backprop_filter as conv2d_backprop_filter
from weft.ops.nn.conv import conv2d_backprop_input as conv2d_backprop_input
from weft.ops.nn.conv import conv2d_transpose as conv2d_transpose
from weft.ops.nn.conv import conv3d as conv3d
from weft.ops.nn.conv import conv3d_transpose as conv3d_transpose
from weft.ops.nn.conv import conv_transpose as conv_transpose
from weft.ops.nn.conv import depthwise_conv2d_native as depthwise_conv2d_native
from weft.ops.nn.conv import dilation2d as dilation2d
from weft.ops.nn.conv import erosion2d as erosion2d
from weft.ops.nn.dilated import atrous_conv2d as atrous_conv2d
from weft.ops.nn.dilated import atrous_conv2d_transpose as atrous_conv2d_transpose
from weft.ops.nn.dilated import convolution as convolution
from weft.ops.nn.dilated import depthwise_conv2d as depthwise_conv2d
from weft.ops.nn.dilated import separable_conv2d as separable_conv2d
from weft.ops.nn.dilated import with_space_to_batch as with_space_to_batch
from weft.ops.nn.activations import bias_add as bias_add
from weft.ops.nn.activations import crelu as crelu
from weft.ops.nn.activations import dropout as dropout
from weft.ops.nn.activations import elu as elu
from weft.ops.nn.activations import in_top_k as in_top_k
from weft.ops.nn.activations import l2_loss as l2_loss
from weft.ops.nn.activations import leaky_relu as leaky_relu
from weft.ops.nn.activations import local_response_normalization as local_response_normalization
from weft.ops.nn.activations import log_softmax as log_softmax
from weft.ops.nn.activations import lrn as lrn
from weft.ops.nn.activations import relu as relu
from weft.ops.nn.activations import relu6 as relu6
from weft.ops.nn.activations import relu_layer as relu_layer
from weft.ops.nn.activations import selu as selu
from weft.ops.nn.activations import softmax as softmax
from weft.ops.nn.activations import softplus as softplus
from weft.ops.nn.activations import softsign as softsign
from weft.ops.nn.activations import swish as swish
from weft.ops.nn.activations import top_k as top_k
from weft.ops.nn.activations import xw_plus_b as xw_plus_b
from weft.ops.math.moments import batch_norm_with_global_normalization as batch_norm_with_global_normalization
from weft.ops.math.moments import batch_normalization as batch_normalization
from weft.ops.math.moments import fused_batch_norm as fused_batch_norm
from weft.ops.math.moments import l2_normalize as l2_normalize
from weft.ops.math.moments import moments as moments
from weft.ops.math.moments import normalize_moments as normalize_moments
from weft.ops.math.moments import sufficient_statistics as sufficient_statistics
from weft.ops.math.moments import weighted_moments as weighted_moments
from weft.ops.nn.pool import avg_pool as avg_pool
from weft.ops.nn.pool import avg_pool2d as avg_pool2d
from weft.ops.nn.pool import max_pool as max_pool
from weft.ops.nn.pool import max_pool_with_argmax as max_pool_with_argmax
from weft.ops.nn.pool import pool as pool
from weft.ops.nn.sampled_losses import sampled_softmax_loss as sampled_softmax_loss
from weft.ops.quantized.arithmetic import quantized_relu_x as quantized_relu_x
from weft.ops.quantized.windows import quantized_avg_pool as quantized_avg_pool
from weft.ops.quantized.windows import quantized_conv2d as quantized_conv2d
from weft.ops.quantized.windows import quantized_max_pool as quantized_max_pool
from weft.lib.rnn.dynamic import bidirectional_dynamic_rnn as bidirectional_dynamic_rnn
from weft.lib.rnn.dynamic import dynamic_rnn as dynamic_rnn
from weft.lib.rnn.raw_loop import raw_rnn as raw_rnn
from weft.lib.rnn.static import static_bidirectional_rnn as static_bidirectional_rnn
from weft.lib.rnn.static import static_rnn as static_rnn
from weft.lib.rnn.static import static_state_saving_rnn as static_state_saving_rnn
from weft.api.nn import rnn_cell as rnn_cell
def learned_unigram_candidate_sampler(true_classes: _Any, num_true: _builtins.int, num_sampled: _builtins.int, unique: _builtins.bool, range_max: _builtins.int, seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _builtins.tuple[_Tensor, _Tensor, _Tensor]: ...
def log_uniform_candidate_sampler(true_classes: _Any, num_true: _builtins.int, num_sampled: _builtins.int, unique: _builtins.bool, range_max: _builtins.int, seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _builtins.tuple[_Tensor, _Tensor, _Tensor]: ...
def uniform_candidate_sampler(true_classes: _Any, num_true: _builtins.int, num_sampled: _builtins.int, unique: _builtins.bool, range_max: _builtins.int, seed: _builtins.int | None = None, name: _builtins.str | None = None) -> _builtins.tuple[_Tensor, _Tensor, _Tensor]: ...
ctc_loss_v2 = _is_ctc_loss_v2
def conv3d_backprop_filter(input: _Any, filter_sizes: _Any, out_backprop: _Any, strides: _Any, padding: _Any, data_format: _Any = 'NDHWC', dilations: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def conv3d_backprop_filter_v2(input: _Any, filter_sizes: _Any, out_backprop: _Any, strides: _Any, padding: _Any, data_format: _Any = 'NDHWC', dilations: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def depthwise_conv2d_backprop_filter(input: _Any, filter_sizes: _Any, out_backprop: _Any, strides: _Any, padding: _Any, data_format: _Any = 'NHWC', dilations: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def depthwise_conv2d_backprop_input(input_sizes: _Any, filter: _Any, out_backprop: _Any, strides: _Any, padding: _Any, data_format: _Any = 'NHWC', dilations: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def depthwise_conv2d_native_backprop_filter(input: _Any, filter_sizes: _Any, out_backprop: _Any, strides: _Any, padding: _Any, data_format: _Any = 'NHWC', dilations: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def depthwise_conv2d_native_backprop_input(input_sizes: _Any, filter: _Any, out_backprop: _Any, strides: _Any, padding: _Any, data_format: _Any = 'NHWC', dilations: _Any = ..., name: _builtins.str | None = None) -> _Tensor: ...
def avg_pool1d(input: _Any, ksize: _Any, strides: _Any, padding: _builtins.str, data_format: _builtins.str | None = 'NWC', name: _builtins.str | None = None) -> _Tensor: ...
def avg_pool3d(input: _Any, ksize: _Any, strides: _Any, padding: _builtins.str, data_format: _builtins.str | None = 'NDHWC', name: _builtins.str | None = None) -> _Tensor: ...
def avg_pool_v2(input: _Any, ksize: _Any, strides: _Any, padding: _builtins.str, data_format: _builtins.str | None = None, name: _builtins.str | None = None) -> _Tensor: ...
def max_pool1d(input: _Any, ksize: _Any, strides: _Any, padding: _builtins.str, data_format: _builtins.str | None = 'NWC', name: _builtins.str | None = None) -> _Tensor: ...
def max_pool2d(input: _Any, ksize: _Any, strides: _Any, padding: _builtins.str, data_format: _builtins.str | None = 'NHWC', name: _builtins.str | None = None) -> _Tensor: ...
def max_pool3d(input: _Any, ksize: _Any, strides: _Any, padding: _builtins.str, data_format: _builtins.str | None = 'NDHWC', name: _builtins.str | None = None) -> _Tensor: ...
def max_pool_v2(input: _Any, ksize: _Any, strides: _Any, padding: _builtins.str, data_format: _builtins.str | None = None, name: _builtins.str | None = None) -> _Tensor: ...
def nce_loss(weights: _Any, biases: _Any, labels: _Any, inputs: _Any, num_sampled: _builtins.int, num_classes: _builtins.int, num_true: _builtins.int = 1, sampled_values: _Any = None, remove_accidental_hits: _builtins.bool = False, partition_strategy: _builtins.str = 'mod', name: _builtins.str | None = 'nce_loss') -> _Any: ...
def tanh(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
