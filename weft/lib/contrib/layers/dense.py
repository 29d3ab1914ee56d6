"""Fully connected layers, biases and embeddings of sequences."""

from __future__ import annotations

import functools
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, Tensor, add_to_collections, name_scope
from weft.graph.slices import SparseTensor
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.lib.contrib.framework.variables import model_variable
from weft.lib.contrib.layers import utils
from weft.lib.contrib.layers.initializers import XAVIER, ZEROS
from weft.lib.layers import core
from weft.ops.array import array, gather
from weft.ops.array import one_hot_search as select
from weft.ops.math import math, matmul
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import embedding, embedding_safe
from weft.ops.state import variable_scope as vs


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Any = nn_impl.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Tensor:
    """`activation_fn(normalizer_fn(inputs @ weights))`, or with biases where there is none.

    Args:
        inputs: a tensor of at least two dimensions.
        num_outputs: how many values come out.
        activation_fn: None: none.
        normalizer_fn, normalizer_params: a function to use instead of biases, and its arguments.
        weights_initializer, biases_initializer: first values; None instead of the latter: no
            biases.
        weights_regularizer, biases_regularizer: functions whose results join
            `REGULARIZATION_LOSSES`.
        reuse: whether to share the variables of the scope.
        variables_collections, outputs_collections: graph collections that they join.
        trainable: whether optimizers update the variables.
        scope: the variable scope.

    Returns:
        A tensor [..., num_outputs].

    Raises:
        ValueError: `num_outputs` is no integer, or the inputs have fewer than two dimensions.

    Example:
        >>> y = tf.contrib.layers.fully_connected(tf.ones([2, 3]), 4)
        >>> y.shape.as_list(), [v.op.name for v in tf.trainable_variables()]
        ([2, 4], ['fully_connected/weights', 'fully_connected/biases'])
    """
    arguments = dict(locals())
    if not isinstance(num_outputs, int):
        raise ValueError(f"num_outputs type should be one of {[int]}, got {type(num_outputs)}.")

    def make(_: Tensor, **settings: Any) -> Any:
        return core.Dense(num_outputs, **settings)

    return utils.weighted(arguments, "fully_connected", make)


relu = functools.partial(fully_connected, activation_fn=nn_impl.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn_impl.relu6)
elu = functools.partial(fully_connected, activation_fn=nn_impl.elu)
linear = functools.partial(fully_connected, activation_fn=None)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Tensor:
    """Adds one bias per channel."""
    utils.check_format(data_format, "NCHW", "NHWC")
    with vs.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError("Dims of shape must be known but is None")
        if rank != 4 and data_format == "NCHW":
            raise ValueError("Data format NCHW only supports 4D Tensor")
        channels = inputs.shape.as_list()[1 if data_format == "NCHW" else -1]
        if channels is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable(
            "biases",
            shape=[channels],
            dtype=inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=utils.get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = nn_impl.bias_add(inputs, biases, data_format=data_format)
        return utils.finished(outputs, opened.name, outputs_collections, activation_fn)


def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Any = None,
    weight_init: Any = XAVIER,
    bias_init: Any = ZEROS,
    name: str | None = None,
    weight_collections: Any = (GraphKeys.WEIGHTS,),
    bias_collections: Any = (GraphKeys.BIASES,),
    output_collections: Any = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Tensor:
    """The first form of `fully_connected`, whose variables are `weights` and `bias`."""
    with vs.variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        depth = _known_depth(x)
        settings = {"dtype": x.dtype.base_dtype, "trainable": trainable}
        weights = vs.get_variable(
            "weights",
            [depth, num_output_units],
            initializer=weight_init,
            regularizer=weight_regularizer,
            collections=[*(weight_collections or ()), GraphKeys.GLOBAL_VARIABLES],
            **settings,
        )
        y = matmul.matmul(x if x.shape.ndims == 2 else array.reshape(x, [-1, depth]), weights)
        if bias_init is not None:
            bias = vs.get_variable(
                "bias",
                [num_output_units],
                initializer=bias_init,
                regularizer=bias_regularizer,
                collections=[*(bias_collections or ()), GraphKeys.GLOBAL_VARIABLES],
                **settings,
            )
            y = nn_impl.bias_add(y, bias)
        if x.shape.ndims > 2:
            sizes = [*array.unstack(array.shape(x))[:-1], num_output_units]
            y = array.reshape(y, array.stack(sizes))
            y.set_shape([*x.shape.as_list()[:-1], num_output_units])
        y = y if activation_fn is None else activation_fn(y)
        add_to_collections([*(output_collections or ()), GraphKeys.ACTIVATIONS], y)
        return y


def _known_depth(x: Tensor) -> int:
    dims = None if x.shape.ndims is None else x.shape.as_list()
    if dims is None:
        raise ValueError("dims of x must be known but is None")
    if len(dims) < 2:
        raise ValueError(f"rank of x must be at least 2 not: {len(dims)}")
    if dims[-1] is None:
        raise ValueError("last dimension of x must be known but is None")
    return dims[-1]


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=nn_impl.relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)


# ---- sequences of ids ----


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Tensor:
    """One row of a table for every id."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got vocab_size="
            f"{vocab_size} and embed_dim={embed_dim}"
        )
    with vs.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        sizes = [vocab_size, embed_dim]
        table = _table(None if None in sizes else sizes, initializer, regularizer, trainable)
        return (embedding_lookup_unique if unique else embedding.embedding_lookup)(table, ids)


def _table(shape: Any, initializer: Any, regularizer: Any, trainable: bool) -> Any:
    settings = {"initializer": initializer, "regularizer": regularizer, "trainable": trainable}
    return model_variable("embeddings", shape=shape, **settings)


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Tensor:
    """`embedding_lookup` that looks every different id up once."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        sizes = array.shape(ids)
        different, places = array.unique(array.reshape(ids, math.reduce_prod(sizes, keepdims=True)))
        rows = embedding.embedding_lookup(params, different, partition_strategy)
        flat = gather.gather(rows, places)
        inner = array.shape(rows)[1:]
        found = array.reshape(flat, array.concat([sizes, inner], 0))
        found.set_shape(ids.shape.concatenate(flat.shape[1:]))
        return found


def _without_zeros(ids: Any) -> SparseTensor:
    """The ids other than 0."""
    with name_scope("DenseToSparseTensor", values=[ids]):
        ids = convert_to_tensor(ids)
        padding = math.cast(0, ids.dtype, name="ignore_value")
        indices = select.where(math.not_equal(ids, padding), name="indices")
        values = gather.gather_nd(ids, indices, name="values")
        dense_shape = array.shape(ids, out_type=dtypes.int64, name="dense_shape")
        return SparseTensor(indices, values, dense_shape)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Tensor:
    """The mean of the embeddings of each row of ids."""
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with vs.variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        table = _table([vocab_size, embed_dim], initializer, regularizer, trainable)
        if not sparse_lookup:
            if isinstance(ids, SparseTensor):
                raise TypeError("ids are expected to be dense Tensor, got: %s", ids)
            return math.reduce_mean(embedding.embedding_lookup(table, ids), axis=1)
        if not isinstance(ids, SparseTensor):
            ids = _without_zeros(ids)
        return embedding_safe.safe_embedding_lookup_sparse(
            [table], ids, combiner="mean", default_id=0
        )
