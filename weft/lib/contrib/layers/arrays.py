"""Layers without weights: dropout, flattening, one-hot, softmax, maxout."""

from __future__ import annotations

import operator
from typing import Any

from weft.core import dtypes
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.slices import SparseTensor
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.framework.variables import model_variable
from weft.lib.contrib.layers import utils
from weft.lib.layers import core
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as select
from weft.ops.array.repeat import tile
from weft.ops.array.strided import strided_slice
from weft.ops.math import math
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer, ones_initializer


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Tensor:
    """In training, keeps each value with probability `keep_prob` and scales it up.

    Args:
        inputs: a tensor.
        keep_prob: the fraction that is kept.
        noise_shape: the shape in which it is decided what to drop.
        is_training: a bool or tensor; the inputs pass unchanged where it is False.
        outputs_collections: graph collections that the result joins.
        scope: the name scope.
        seed: makes the choice repeatable.

    Returns:
        A tensor of the same type and shape.

    Example:
        >>> session.run(tf.contrib.layers.dropout([1.0, 2.0], is_training=False))
        array([1., 2.], dtype=float32)
    """
    with vs.variable_scope(scope, "Dropout", [inputs]) as opened:
        name, settings = opened.name, {"noise_shape": noise_shape, "seed": seed}
        layer = core.Dropout(rate=1 - keep_prob, name=name, _scope=opened, **settings)
        kept = layer.apply(convert_to_tensor(inputs), training=is_training)
        return utils.collect_named_outputs(outputs_collections, name, kept)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Tensor:
    """All but the first axis made into one.

    Args:
        inputs: a tensor [batch, ...].
        outputs_collections: graph collections that the result joins.
        scope: the name scope.

    Returns:
        A tensor [batch, features].

    Raises:
        ValueError: the rank is unknown or 0.

    Example:
        >>> tf.contrib.layers.flatten(tf.zeros([2, 3, 4])).shape.as_list()
        [2, 12]
    """
    return utils.collected(core.flatten, scope, "Flatten", [inputs], outputs_collections)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: Any = 1.0,
    off_value: Any = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """A row per label, `on_value` at its place."""

    def rows(labels: Tensor) -> Tensor:
        ids = math.to_int64(labels) if labels.dtype == dtypes.int32 else labels
        return select.one_hot(ids, num_classes, on_value, off_value)

    given = [labels, num_classes]
    return utils.collected(rows, scope, "OneHotEncoding", given, outputs_collections)


@add_arg_scope
def dense_to_sparse(
    tensor: Any, eos_token: Any = 0, outputs_collections: Any = None, scope: Any = None
) -> SparseTensor:
    """The entries other than `eos_token`."""

    def entries(dense: Tensor) -> SparseTensor:
        end = constant(eos_token, dense.dtype)
        there = select.where(math.not_equal(dense, end))
        parts = there, gather.gather_nd(dense, there)
        return SparseTensor(*parts, array.shape(dense, out_type=dtypes.int64))

    where = scope, "dense_to_sparse", [tensor], outputs_collections
    return utils.collected(entries, *where, opening=vs.variable_scope)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Tensor:
    """The softmax along the last axis."""
    with vs.variable_scope(scope, "softmax", [logits]):
        rows = [-1, utils.last_dimension(logits.shape, min_rank=2)]
        shares = nn_impl.softmax(array.reshape(logits, rows))
        shares = array.reshape(shares, array.shape(logits))
        shares.set_shape(logits.shape)
        return shares


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Tensor:
    """The maximum of each of `num_units` groups of channels."""
    with vs.variable_scope(scope, "MaxOut", [inputs]):
        inputs = convert_to_tensor(inputs)
        sizes: list[Any] = inputs.shape.as_list()
        channels = sizes[axis]
        if channels % num_units:
            raise ValueError(
                f"number of features({channels}) is not a multiple of num_units({num_units})"
            )
        sizes[axis] = num_units
        now: Any = array.shape(inputs) if None in sizes else None
        sizes = [now[i] if size is None else size for i, size in enumerate(sizes)]
        return math.reduce_max(array.reshape(inputs, [*sizes, channels // num_units]), -1)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Tensor:
    """Scales to length 1 along axis `dim`."""
    with vs.variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("The input rank must be known.")
        if not 0 <= dim < rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        squares = math.reduce_sum(math.square(inputs), dim, keepdims=True)
        length = math.sqrt(epsilon + squares)
        times = [array.ones([dim], dtypes.int32)] if dim else []
        times.append(strided_slice(array.shape(inputs), [dim], [dim + 1]))
        if dim < rank - 1:
            times.append(array.ones([rank - 1 - dim], dtypes.int32))
        return math.div(inputs, tile(length, array.concat(times, 0)))


def poincare_normalize(
    x: Any, axis: Any = 1, epsilon: float = 1e-5, name: str | None = None
) -> Tensor:
    """Brings what lies outside the unit ball to just inside it."""
    with name_scope(name, "poincare_normalize", [x]) as scope:
        point = convert_to_tensor(x, name="x")
        inverse = math.rsqrt(math.reduce_sum(math.square(point), axis, keepdims=True))
        return math.multiply(point, math.minimum((1.0 - epsilon) * inverse, 1.0), name=scope)


@add_arg_scope
def spatial_softmax(
    features: Any,
    temperature: Any = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Tensor:
    """The place in the image where each channel is strongest: its expected x and y."""
    utils.check_format(data_format, "NCHW", "NHWC")
    with vs.variable_scope(name, "spatial_softmax"):
        last = data_format == "NHWC"
        now = array.shape(features)
        channels = features.shape.as_list()[3 if last else 1]
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should be defined. "
                "Found `None`."
            )
        height, width = (now[1], now[2]) if last else (now[2], now[3])
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            places = array.meshgrid(
                math.linspace(-1.0, 1.0, height), math.linspace(-1.0, 1.0, width), indexing="ij"
            )
            places = [array.reshape(place, [height * width]) for place in places]
            if temperature is None:
                initial: Any = ones_initializer()
            else:
                initial = constant_initializer(temperature)
            collections = utils.get_variable_collections(variables_collections, "temperature")
            heat = model_variable(
                "temperature",
                shape=(),
                dtype=dtypes.float32,
                initializer=initial,
                collections=collections if trainable else None,
                trainable=trainable,
            )
            if last:
                features = array.transpose(features, [0, 3, 1, 2])
            attention = nn_impl.softmax(array.reshape(features, [-1, height * width]) / heat)
            expected = [math.reduce_sum(place * attention, [1], keepdims=True) for place in places]
            keypoints = array.reshape(array.concat(expected, 1), [-1, channels * 2])
            keypoints.set_shape([None, channels * 2])
            return keypoints


@add_arg_scope
def images_to_sequence(
    inputs: Any, data_format: str = "NHWC", outputs_collections: Any = None, scope: Any = None
) -> Tensor:
    """[batch, height, width, depth] as [width, batch * height, depth]."""
    utils.check_format(data_format, "NCHW", "NHWC")

    def columns(images: Tensor) -> Tensor:
        if data_format == "NCHW":
            images = array.transpose(images, [0, 2, 3, 1])
        now, known = array.shape(images), images.shape.as_list()
        rows = [now[axis] for axis in range(2)]
        turned = array.transpose(images, [2, 0, 1, 3])
        return array.reshape(turned, [known[2], operator.mul(*rows), known[3]])

    return utils.collected(columns, scope, "ImagesToSequence", [inputs], outputs_collections)


@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Tensor:
    """[width, batch * height, depth] as images, the opposite of `images_to_sequence`."""

    def images(columns: Tensor) -> Tensor:
        width, rows, depth = columns.shape.as_list()
        sizes = width, -1 if rows is None else rows // height, height, depth
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return array.transpose(array.reshape(columns, sizes), order)

    return utils.collected(images, scope, "SequenceToImages", [inputs], outputs_collections)
