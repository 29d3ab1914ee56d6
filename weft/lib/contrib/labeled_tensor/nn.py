"""Activations and losses of labeled tensors."""

from __future__ import annotations

from weft.lib.contrib import nn as flipped
from weft.lib.contrib.labeled_tensor.core import define_binary_op, define_unary_op
from weft.ops.nn import activations

crelu = define_unary_op("crelu", activations.crelu)
elu = define_unary_op("elu", activations.elu)
l2_loss = define_unary_op("l2_loss", activations.l2_loss)
log_softmax = define_unary_op("log_softmax", activations.log_softmax)
relu = define_unary_op("relu", activations.relu)
relu6 = define_unary_op("relu6", activations.relu6)
softmax = define_unary_op("softmax", activations.softmax)
softplus = define_unary_op("softplus", activations.softplus)
sigmoid_cross_entropy_with_logits = define_binary_op(
    "sigmoid_cross_entropy_with_logits",
    flipped.deprecated_flipped_sigmoid_cross_entropy_with_logits,
)
softmax_cross_entropy_with_logits = define_binary_op(
    "softmax_cross_entropy_with_logits",
    flipped.deprecated_flipped_softmax_cross_entropy_with_logits,
)
sparse_softmax_cross_entropy_with_logits = define_binary_op(
    "sparse_softmax_cross_entropy_with_logits",
    flipped.deprecated_flipped_sparse_softmax_cross_entropy_with_logits,
)
