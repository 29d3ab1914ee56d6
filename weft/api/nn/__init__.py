"""tf.nn: public names, re-exported from where they are made."""

from weft.ops.array.blocks import space_to_batch as space_to_batch
from weft.ops.nn.zero_fraction import zero_fraction as zero_fraction
from weft.ops.nn.candidate_sampling import (
    all_candidate_sampler as all_candidate_sampler,
    compute_accidental_hits as compute_accidental_hits,
    fixed_unigram_candidate_sampler as fixed_unigram_candidate_sampler,
    learned_unigram_candidate_sampler as learned_unigram_candidate_sampler,
    log_uniform_candidate_sampler as log_uniform_candidate_sampler,
    uniform_candidate_sampler as uniform_candidate_sampler,
)
from weft.ops.nn.cross_entropy import (
    log_poisson_loss as log_poisson_loss,
    sigmoid_cross_entropy_with_logits as sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits as softmax_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2 as softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits as sparse_softmax_cross_entropy_with_logits,
    weighted_cross_entropy_with_logits as weighted_cross_entropy_with_logits,
)
from weft.ops.nn.ctc import ctc_loss as ctc_loss
from weft.ops.nn.ctc_decode import (
    ctc_beam_search_decoder as ctc_beam_search_decoder,
    ctc_beam_search_decoder_v2 as ctc_beam_search_decoder_v2,
    ctc_greedy_decoder as ctc_greedy_decoder,
)
from weft.ops.nn.ctc_dense import (
    collapse_repeated as collapse_repeated,
    ctc_loss_padded as ctc_loss_v2,
    ctc_unique_labels as ctc_unique_labels,
)
from weft.ops.array.depth_blocks import (
    depth_to_space as depth_to_space,
    space_to_depth as space_to_depth,
)
from weft.ops.nn.embedding import (
    embedding_lookup as embedding_lookup,
    embedding_lookup_sparse as embedding_lookup_sparse,
)
from weft.ops.nn.embedding_safe import safe_embedding_lookup_sparse as safe_embedding_lookup_sparse
from weft.ops.nn.fractional_pool import (
    fractional_avg_pool as fractional_avg_pool,
    fractional_max_pool as fractional_max_pool,
)
from weft.ops.scores.losses_average import (
    compute_average_loss as compute_average_loss,
    scale_regularization_loss as scale_regularization_loss,
)
from weft.ops.math.math import sigmoid as sigmoid
from weft.ops.nn.conv import (
    conv1d as conv1d,
    conv1d_transpose as conv1d_transpose,
    conv2d as conv2d,
    conv2d_backprop_filter as conv2d_backprop_filter,
    conv2d_backprop_input as conv2d_backprop_input,
    conv2d_transpose as conv2d_transpose,
    conv3d as conv3d,
    conv3d_backprop_filter as conv3d_backprop_filter,
    conv3d_backprop_filter_v2 as conv3d_backprop_filter_v2,
    conv3d_transpose as conv3d_transpose,
    conv_transpose as conv_transpose,
    depthwise_conv2d_backprop_filter as depthwise_conv2d_backprop_filter,
    depthwise_conv2d_backprop_input as depthwise_conv2d_backprop_input,
    depthwise_conv2d_native as depthwise_conv2d_native,
    depthwise_conv2d_native_backprop_filter as depthwise_conv2d_native_backprop_filter,
    depthwise_conv2d_native_backprop_input as depthwise_conv2d_native_backprop_input,
    dilation2d as dilation2d,
    erosion2d as erosion2d,
)
from weft.ops.nn.dilated import (
    atrous_conv2d as atrous_conv2d,
    atrous_conv2d_transpose as atrous_conv2d_transpose,
    convolution as convolution,
    depthwise_conv2d as depthwise_conv2d,
    separable_conv2d as separable_conv2d,
    with_space_to_batch as with_space_to_batch,
)
from weft.ops.nn.activations import (
    bias_add as bias_add,
    crelu as crelu,
    dropout as dropout,
    elu as elu,
    in_top_k as in_top_k,
    l2_loss as l2_loss,
    leaky_relu as leaky_relu,
    local_response_normalization as local_response_normalization,
    log_softmax as log_softmax,
    lrn as lrn,
    relu as relu,
    relu6 as relu6,
    relu_layer as relu_layer,
    selu as selu,
    softmax as softmax,
    softplus as softplus,
    softsign as softsign,
    swish as swish,
    top_k as top_k,
    xw_plus_b as xw_plus_b,
)
from weft.ops.math.moments import (
    batch_norm_with_global_normalization as batch_norm_with_global_normalization,
    batch_normalization as batch_normalization,
    fused_batch_norm as fused_batch_norm,
    l2_normalize as l2_normalize,
    moments as moments,
    normalize_moments as normalize_moments,
    sufficient_statistics as sufficient_statistics,
    weighted_moments as weighted_moments,
)
from weft.ops.nn.pool import (
    avg_pool as avg_pool,
    avg_pool1d as avg_pool1d,
    avg_pool2d as avg_pool2d,
    avg_pool3d as avg_pool3d,
    avg_pool_v2 as avg_pool_v2,
    max_pool as max_pool,
    max_pool1d as max_pool1d,
    max_pool2d as max_pool2d,
    max_pool3d as max_pool3d,
    max_pool_v2 as max_pool_v2,
    max_pool_with_argmax as max_pool_with_argmax,
    pool as pool,
)
from weft.ops.nn.sampled_losses import (
    nce_loss as nce_loss,
    sampled_softmax_loss as sampled_softmax_loss,
)
from weft.ops.quantized.arithmetic import quantized_relu_x as quantized_relu_x
from weft.ops.quantized.windows import (
    quantized_avg_pool as quantized_avg_pool,
    quantized_conv2d as quantized_conv2d,
    quantized_max_pool as quantized_max_pool,
)
from weft.ops.math.unary import tanh as tanh
from weft.lib.rnn.dynamic import (
    bidirectional_dynamic_rnn as bidirectional_dynamic_rnn,
    dynamic_rnn as dynamic_rnn,
)
from weft.lib.rnn.raw_loop import raw_rnn as raw_rnn
from weft.lib.rnn.static import (
    static_bidirectional_rnn as static_bidirectional_rnn,
    static_rnn as static_rnn,
    static_state_saving_rnn as static_state_saving_rnn,
)
from weft.api.nn import rnn_cell as rnn_cell
