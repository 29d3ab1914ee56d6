"""The base of the feature columns of tf.contrib.layers.

They are columns of tf.feature_column too: `input_layer` and `linear_model` take them.
"""

from __future__ import annotations

import abc
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.core.shapes import dimension_value
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.slices import SparseTensor
from weft.lib.feature_column.base import FeatureColumn, fields_of
from weft.lib.platform import tf_logging as logging
from weft.ops.array import array
from weft.ops.control import check_shapes
from weft.ops.math import reduce
from weft.ops.sparse import select as sparse_select
from weft.ops.state import initializers


class WideArguments(NamedTuple):
    """How a linear model looks up the weights of a column."""

    input_tensor: SparseTensor
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str


class DeepArguments(NamedTuple):
    """How a network looks up the embedding of a column."""

    input_tensor: Any
    weight_tensor: Any
    vocab_size: int
    initializer: Any
    combiner: str
    dimension: int
    shared_embedding_name: str | None
    hash_key: int | None
    max_norm: Any
    trainable: bool


class Column(FeatureColumn):
    """A feature column of tf.contrib.layers."""

    # Known by a name of this kind in messages, and not one of those that layers hold.
    _is_v2_column = False

    @property
    @abc.abstractmethod
    def config(self) -> dict[str, Any]:
        """The features for `tf.parse_example`, by key."""

    @property
    def key(self) -> str:
        """The text that identifies the column, and orders it, among others."""
        return str(self)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.config

    @property
    def parents(self) -> list[Any]:
        return []

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Puts the tensor of the column into a dictionary that has those it is made of."""
        columns_to_tensors[self] = self.transform_feature(Tensors(columns_to_tensors), None)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        output_rank: int = 2,
    ) -> Tensor:
        raise ValueError("Calling an abstract method.")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepArguments:
        raise NotImplementedError(f"No deep embedding lookup arguments for column {self}.")

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> WideArguments:
        raise NotImplementedError(f"No wide embedding lookup arguments for column {self}.")

    def _to_dense_tensor(self, input_tensor: Any) -> Tensor:
        raise NotImplementedError(f"No dense tensor representation for column {self}.")

    def _checkpoint_path(self) -> tuple[str, str] | None:
        return None

    def _key_without_properties(self, properties: list[str]) -> str:
        shown = ", ".join(f"{k}={v}" for k, v in fields_of(self) if k not in properties)
        return f"{type(self).__name__}({shown})"


class Tensors:
    """A dictionary of tensors by column and key, which makes what is missing."""

    def __init__(self, columns_to_tensors: dict[Any, Any]) -> None:
        self._tensors = columns_to_tensors

    def get(self, key: Any, state_manager: Any = None) -> Any:
        if key not in self._tensors:
            if isinstance(key, str):
                raise ValueError(f"features dictionary doesn't contain key ({key})")
            if not isinstance(key, Column):
                raise TypeError(
                    f'"key" must be either a "str" or "_FeatureColumn". Provided: {key}'
                )
            key.insert_transformed_feature(self._tensors)
        if key not in self._tensors:
            raise ValueError(f"Column {key.name} is not supported.")
        return self._tensors[key]


def refuse(*rules: tuple[Any, type[Exception], str]) -> None:
    """Raises the error of the first rule that finds something wrong."""
    for wrong, error, message in rules:
        if wrong:
            raise error(message)


def zero_weights(ids: SparseTensor, weights: Any, size: int, combiner: str) -> WideArguments:
    return WideArguments(ids, weights, size, initializers.Zeros(), combiner)


def feature_config(column: Any) -> dict[str, Any]:
    """The `config` of a column of these."""
    if not isinstance(column, Column):
        raise TypeError(
            "feature_columns should only contain instances of _FeatureColumn. "
            f"Given column is {column}"
        )
    return column.config


def check_initializer(initializer: Any, whose: str) -> None:
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. {whose}")


def check_checkpoint(path: str | None, tensor_name: str | None) -> None:
    if (path is None) != (tensor_name is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them."
        )


def inner_flatten(inputs: Any, new_rank: int) -> Any:
    """`inputs` with the last dimensions made one, so that `new_rank` are left."""
    if isinstance(inputs, SparseTensor):
        return _sparse_inner_flatten(inputs, new_rank)
    enough = check_shapes.assert_rank_at_least(
        inputs, new_rank, message="inputs has rank less than new_rank"
    )
    with control_dependencies([enough]):
        outer = array.shape(inputs)[: new_rank - 1]
        reshaped = array.reshape(inputs, array.concat((outer, [-1]), 0))
    if inputs.dims is not None:
        inner = inputs.shape[new_rank - 1 :].num_elements()
        reshaped.set_shape([*inputs.dims[: new_rank - 1], inner])
    return reshaped


def _sparse_inner_flatten(inputs: SparseTensor, new_rank: int) -> SparseTensor:
    sizes = inputs.dense_shape
    rank = dimension_value(sizes.shape[0])
    if rank < new_rank:
        raise ValueError(
            f"Inputs has rank less than new_rank. {inputs} must have rank at least {new_rank}. "
            f"Received rank {rank}, shape {inputs.get_shape()}"
        )
    with name_scope("InnerFlatten", values=[inputs]):
        outer, inner = sizes[: new_rank - 1], sizes[new_rank - 1 :]
        return sparse_select.sparse_reshape(
            inputs, array.concat((outer, [reduce.reduce_prod(inner)]), 0)
        )


def with_rank(tensor: Tensor, output_rank: int, column_name: str | None = None) -> Tensor:
    """A dense feature with `output_rank` dimensions: one may be added, any number joined."""
    rank = None if tensor.dims is None else len(tensor.dims)
    if rank is None or output_rank < rank:
        return inner_flatten(tensor, output_rank)
    if output_rank == rank:
        return tensor
    advice = f"Rank of input Tensor ({rank}) should be the same as output_rank ({output_rank})"
    if output_rank > rank + 1:
        where = "" if column_name is None else f"Error while processing column {column_name}."
        raise ValueError(
            f"{where}{advice}. For example, sequence data should typically be 3 dimensional "
            "(rank 3) while non-sequence data is typically 2 dimensional (rank 2)."
        )
    logging.warning(
        f"{advice} for column. Will attempt to expand dims. It is highly recommended that you "
        "resize your input, as this behavior may change."
    )
    return array.expand_dims(tensor, -1, name="expand_dims")


def with_values(sparse: SparseTensor, values: Any) -> SparseTensor:
    """A sparse tensor with other values at the same places."""
    return SparseTensor(sparse.indices, values, sparse.dense_shape)


def is_string_or_integer(dtype: Any) -> bool:
    return dtype == dtypes.string or dtype.is_integer
