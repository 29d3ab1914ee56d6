"""tf.nn: public names, re-exported from where they are made."""

from weft.api import nn_rnn_cell as rnn_cell
from weft.ops.blocks import (
    depth_to_space as depth_to_space,
)
from weft.ops.blocks import (
    space_to_batch as space_to_batch,
)
from weft.ops.blocks import (
    space_to_depth as space_to_depth,
)
from weft.ops.candidate_sampling import (
    all_candidate_sampler as all_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    compute_accidental_hits as compute_accidental_hits,
)
from weft.ops.candidate_sampling import (
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
)
from weft.ops.candidate_sampling import (
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from weft.ops.embedding import (
    embedding_lookup as embedding_lookup,
)
from weft.ops.embedding import (
    embedding_lookup_sparse as embedding_lookup_sparse,
)
from weft.ops.embedding import (
    safe_embedding_lookup_sparse as safe_embedding_lookup_sparse,
)
from weft.ops.math import (
    sigmoid as sigmoid,
)
from weft.ops.nn_conv import (
    conv1d as conv1d,
)
from weft.ops.nn_conv import (
    conv1d_transpose as conv1d_transpose,
)
from weft.ops.nn_conv import (
    conv2d as conv2d,
)
from weft.ops.nn_conv import (
    conv2d_backprop_filter as conv2d_backprop_filter,
)
from weft.ops.nn_conv import (
    conv2d_backprop_input as conv2d_backprop_input,
)
from weft.ops.nn_conv import (
    conv2d_transpose as conv2d_transpose,
)
from weft.ops.nn_conv import (
    conv3d as conv3d,
)
from weft.ops.nn_conv import (
    conv3d_backprop_filter as conv3d_backprop_filter,
)
from weft.ops.nn_conv import (
    conv3d_backprop_filter_v2 as conv3d_backprop_filter_v2,
)
from weft.ops.nn_conv import (
    conv3d_transpose as conv3d_transpose,
)
from weft.ops.nn_conv import (
    conv_transpose as conv_transpose,
)
from weft.ops.nn_conv import (
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
)
from weft.ops.nn_conv import (
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
)
from weft.ops.nn_conv import (
    depthwise_conv2d_native as depthwise_conv2d_native,
)
from weft.ops.nn_conv import (
    depthwise_conv2d_native_backprop_filter as depthwise_conv2d_native_backprop_filter,
)
from weft.ops.nn_conv import (
    depthwise_conv2d_native_backprop_input as depthwise_conv2d_native_backprop_input,
)
from weft.ops.nn_conv import (
    dilation2d as dilation2d,
)
from weft.ops.nn_conv import (
    erosion2d as erosion2d,
)
from weft.ops.nn_dilated import (
    atrous_conv2d as atrous_conv2d,
)
from weft.ops.nn_dilated import (
    atrous_conv2d_transpose as atrous_conv2d_transpose,
)
from weft.ops.nn_dilated import (
    convolution as convolution,
)
from weft.ops.nn_dilated import (
    depthwise_conv2d as depthwise_conv2d,
)
from weft.ops.nn_dilated import (
    separable_conv2d as separable_conv2d,
)
from weft.ops.nn_dilated import (
    with_space_to_batch as with_space_to_batch,
)
from weft.ops.nn_impl import (
    bias_add as bias_add,
)
from weft.ops.nn_impl import (
    crelu as crelu,
)
from weft.ops.nn_impl import (
    dropout as dropout,
)
from weft.ops.nn_impl import (
    elu as elu,
)
from weft.ops.nn_impl import (
    in_top_k as in_top_k,
)
from weft.ops.nn_impl import (
    l2_loss as l2_loss,
)
from weft.ops.nn_impl import (
    leaky_relu as leaky_relu,
)
from weft.ops.nn_impl import (
    local_response_normalization as local_response_normalization,
)
from weft.ops.nn_impl import (
    log_poisson_loss as log_poisson_loss,
)
from weft.ops.nn_impl import (
    log_softmax as log_softmax,
)
from weft.ops.nn_impl import (
    lrn as lrn,
)
from weft.ops.nn_impl import (
    relu as relu,
)
from weft.ops.nn_impl import (
    relu6 as relu6,
)
from weft.ops.nn_impl import (
    relu_layer as relu_layer,
)
from weft.ops.nn_impl import (
    selu as selu,
)
from weft.ops.nn_impl import (
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
)
from weft.ops.nn_impl import (
    softmax as softmax,
)
from weft.ops.nn_impl import (
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
)
from weft.ops.nn_impl import (
    softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2,
)
from weft.ops.nn_impl import (
    softplus as softplus,
)
from weft.ops.nn_impl import (
    softsign as softsign,
)
from weft.ops.nn_impl import (
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
)
from weft.ops.nn_impl import (
    swish as swish,
)
from weft.ops.nn_impl import (
    top_k as top_k,
)
from weft.ops.nn_impl import (
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from weft.ops.nn_impl import (
    xw_plus_b as xw_plus_b,
)
from weft.ops.nn_moments import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
)
from weft.ops.nn_moments import (
    batch_normalization as batch_normalization,
)
from weft.ops.nn_moments import (
    fused_batch_norm as fused_batch_norm,
)
from weft.ops.nn_moments import (
    l2_normalize as l2_normalize,
)
from weft.ops.nn_moments import (
    moments as moments,
)
from weft.ops.nn_moments import (
    normalize_moments as normalize_moments,
)
from weft.ops.nn_moments import (
    sufficient_statistics as sufficient_statistics,
)
from weft.ops.nn_moments import (
    weighted_moments as weighted_moments,
)
from weft.ops.nn_moments import (
    zero_fraction as zero_fraction,
)
from weft.ops.nn_pool import (
    avg_pool as avg_pool,
)
from weft.ops.nn_pool import (
    avg_pool1d as avg_pool1d,
)
from weft.ops.nn_pool import (
    avg_pool2d as avg_pool2d,
)
from weft.ops.nn_pool import (
    avg_pool3d as avg_pool3d,
)
from weft.ops.nn_pool import (
    avg_pool_v2 as avg_pool_v2,
)
from weft.ops.nn_pool import (
    max_pool as max_pool,
)
from weft.ops.nn_pool import (
    max_pool1d as max_pool1d,
)
from weft.ops.nn_pool import (
    max_pool2d as max_pool2d,
)
from weft.ops.nn_pool import (
    max_pool3d as max_pool3d,
)
from weft.ops.nn_pool import (
    max_pool_v2 as max_pool_v2,
)
from weft.ops.nn_pool import (
    max_pool_with_argmax as max_pool_with_argmax,
)
from weft.ops.nn_pool import (
    pool as pool,
)
from weft.ops.nn_sampled import (
    nce_loss as nce_loss,
)
from weft.ops.nn_sampled import (
    sampled_softmax_loss as sampled_softmax_loss,
)
from weft.ops.unary import (
    tanh as tanh,
)
from weft.rnn.dynamic import (
    bidirectional_dynamic_rnn as bidirectional_dynamic_rnn,
)
from weft.rnn.dynamic import (
    dynamic_rnn as dynamic_rnn,
)
from weft.rnn.dynamic import (
    raw_rnn as raw_rnn,
)
from weft.rnn.static import (
    static_bidirectional_rnn as static_bidirectional_rnn,
)
from weft.rnn.static import (
    static_rnn as static_rnn,
)
from weft.rnn.static import (
    static_state_saving_rnn as static_state_saving_rnn,
)
