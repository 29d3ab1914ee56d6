"""tf.contrib.labeled_tensor: tensors whose axes have names, and may have labels."""

from weft.lib.contrib.labeled_tensor import core as _core
from weft.lib.contrib.labeled_tensor import nn as nn
from weft.lib.contrib.labeled_tensor import operations as _operations
from weft.lib.contrib.labeled_tensor.inputs import FixedLenFeature as FixedLenFeature
from weft.lib.contrib.labeled_tensor.inputs import parse_example as parse_example
from weft.lib.contrib.labeled_tensor.inputs import parse_single_example as parse_single_example
from weft.lib.contrib.labeled_tensor.inputs import placeholder as placeholder

Axis, Axes, LabeledTensor = _core.Axis, _core.Axes, _core.LabeledTensor
as_axis, convert_to_labeled_tensor = _core.as_axis, _core.convert_to_labeled_tensor
identity, slice, transpose = _core.identity, _core.slice_function, _core.transpose
expand_dims, align = _core.expand_dims, _core.align
axis_order_scope, check_axis_order = _core.axis_order_scope, _core.check_axis_order
impose_axis_order, AxisOrderError = _core.impose_axis_order, _core.AxisOrderError
define_unary_op, define_binary_op = _core.define_unary_op, _core.define_binary_op
define_reduce_op = _operations.define_reduce_op
globals().update(_core.UNARY, **_core.BINARY, **_operations.REDUCTIONS)

select, concat, pack, unpack = (
    _operations.select, _operations.concat, _operations.pack, _operations.unpack,
)  # fmt: skip
reshape, rename_axis = _operations.reshape, _operations.rename_axis
batch, shuffle_batch = _operations.batch, _operations.shuffle_batch
random_crop, map_fn, foldl = _operations.random_crop, _operations.map_fn, _operations.foldl
squeeze, matmul, tile, pad = (
    _operations.squeeze, _operations.matmul, _operations.tile, _operations.pad,
)  # fmt: skip
constant, zeros_like, ones_like, cast = (
    _operations.constant, _operations.zeros_like, _operations.ones_like, _operations.cast,
)  # fmt: skip
verify_tensor_all_finite = _operations.verify_tensor_all_finite
boolean_mask, where = _operations.boolean_mask, _operations.where
ReshapeCoder = _operations.ReshapeCoder
