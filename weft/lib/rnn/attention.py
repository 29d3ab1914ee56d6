"""Attention mechanisms: how much of each entry of a memory a query gets."""

from __future__ import annotations

import math as _math
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.properties import stored
from weft.core.signatures import with_parameters_of
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.layers.base import Layer
from weft.lib.layers.core import Dense
from weft.lib.rnn.cells import size_of, zero_state_tensors
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import shape as array_shape
from weft.ops.control import check
from weft.ops.math import arg_extremes, matmul, reduce, unary
from weft.ops.nn import activations as nn_impl
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer, ones_initializer, zeros_initializer


def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """A one at the largest of each row of logits, zeros elsewhere."""
    with name_scope(name, "Hardmax", [logits]):
        rows = convert_to_tensor(logits, name="logits")
        known = None if rows.dims is None else rows.dims[-1]
        width = array_shape.shape(rows)[-1] if known is None else known
        largest = arg_extremes.argmax(rows, -1)
        return select.one_hot(largest, width, dtype=rows.dtype)


def _prepare_memory(memory: Any, lengths: Any, check_inner_dims_defined: bool) -> Any:
    """The memory as tensors, zero after the end of each sequence."""
    memory = nest.map_structure(lambda m: convert_to_tensor(m, name="memory"), memory)
    flat = nest.flatten(memory)
    if check_inner_dims_defined:
        for m in flat:
            if not m.shape[2:].is_fully_defined():
                raise ValueError(
                    f"Expected memory {m.name} to have fully defined inner dims, but saw shape: "
                    f"{m.shape}"
                )
    if lengths is None:
        return memory
    lengths = convert_to_tensor(lengths, name="memory_sequence_length")
    mask = select.sequence_mask(lengths, maxlen=array_shape.shape(flat[0])[1], dtype=flat[0].dtype)

    def masked(m: Tensor) -> Tensor:
        rank = array_shape.rank(m) if m.shape.ndims is None else m.shape.ndims
        ones = array_fill.ones(rank - 2, dtype=dtypes.int32)
        return m * array_shape.reshape(mask, array_join.concat((array_shape.shape(mask), ones), 0))

    return nest.map_structure(masked, memory)


def _mask_score(score: Tensor, lengths: Any, value: Any) -> Tensor:
    """Scores after the end of each sequence become `value`."""
    if lengths is None:
        return score
    positive = check.assert_positive(
        lengths, message="All values in memory_sequence_length must be greater than zero."
    )
    with control_dependencies([positive]):
        mask = select.sequence_mask(lengths, maxlen=array_shape.shape(score)[1])
    return select.where(mask, score, value * array_fill.ones_like(score))


# ---- mechanisms -------------------------------------------------------------------------------


class AttentionMechanism:
    """Alignments of a memory with a query."""

    @property
    def alignments_size(self) -> Any:
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        raise NotImplementedError


class BaseAttentionMechanism(AttentionMechanism):
    """The base of mechanisms: keys and values made of the memory once, and masked scores."""

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Callable[..., Any],
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        self._query_layer, self._memory_layer = query_layer, memory_layer
        self.dtype = memory_layer.dtype
        if not callable(probability_fn):
            found = type(probability_fn).__name__
            raise TypeError(f"probability_fn must be callable, saw type: {found}")
        lowest = score_mask_value
        if lowest is None:
            lowest = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)

        def masked_probability(score: Tensor, previous: Any) -> Any:
            return probability_fn(_mask_score(score, memory_sequence_length, lowest), previous)

        self._probability_fn = masked_probability
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            values = _prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            keys = memory_layer(values) if memory_layer else values
            if custom_key_value_fn is not None:
                keys, values = custom_key_value_fn(keys, values)
            self._keys, self._values = keys, values
            self._batch_size, self._alignments_size = size_of(keys, 0), size_of(keys, 1)

    memory_layer = stored("memory_layer", "What makes keys of the memory.")
    query_layer = stored("query_layer", "What queries go through before they are compared.")
    values = stored("values", "The memory, zero after the end of each sequence.")
    keys = stored("keys", "What queries are compared with.")
    batch_size = stored("batch_size", "The number of memories.")
    alignments_size = stored("alignments_size", "The number of entries of a memory.")

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Tensor:
        return zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: Any) -> Tensor:
        return self.initial_alignments(batch_size, dtype)

    def _aligned(self, score: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        alignments = self._probability_fn(score, state)
        return alignments, alignments


def luong_score(query: Tensor, keys: Tensor, scale: bool) -> Tensor:
    """The product of the query with each key."""
    depth, units = query.shape.as_list()[-1], keys.shape.as_list()[-1]
    if depth is None or depth != units:
        raise ValueError(
            "Incompatible or unknown inner dimensions between query and keys.  Query "
            f"({query}) has units: {depth}.  Keys ({keys}) have units: {units}.  Perhaps you need "
            f"to set num_units to the keys' dimension ({units})?"
        )
    g = None
    if scale:
        g = vs.get_variable(
            "attention_g", dtype=query.dtype, initializer=ones_initializer(), shape=()
        )
    score = matmul.matmul(array_shape.expand_dims(query, 1), keys, transpose_b=True)
    score = array_shape.squeeze(score, [1])
    return score if g is None else g * score


def bahdanau_score(query: Tensor, keys: Tensor, units: int, dtype: Any, normalize: bool) -> Tensor:
    """The sum over v * tanh(key + query); with `normalize`, v has a learned length."""
    v = vs.get_variable("attention_v", [units], dtype=dtype)
    if not normalize:
        seen = keys + array_shape.expand_dims(query, 1)
        return reduce.reduce_sum(v * unary.tanh(seen), [2])
    start = constant_initializer(_math.sqrt(1.0 / units))
    g = vs.get_variable("attention_g", dtype=dtype, initializer=start, shape=())
    b = vs.get_variable("attention_b", [units], dtype=dtype, initializer=zeros_initializer())
    query = array_shape.expand_dims(query, 1)
    normed = g * v * unary.rsqrt(reduce.reduce_sum(unary.square(v)))
    return reduce.reduce_sum(normed * unary.tanh(keys + query + b), [2])


def projection(units: int, name: str, dtype: Any) -> Dense:
    return Dense(units, name=name, use_bias=False, dtype=dtype or dtypes.float32)


class _SoftAttention(BaseAttentionMechanism):
    """Attention to all of a memory, whose keys are a projection of it."""

    def __init__(
        self, num_units: int, dtype: Any, probability_fn: Any, name: str, **rest: Any
    ) -> None:
        chosen = probability_fn or nn_impl.softmax
        super().__init__(
            memory_layer=projection(num_units, "memory_layer", dtype),
            probability_fn=lambda score, _: chosen(score),
            name=name,
            **rest,
        )
        self._num_units, self._name = num_units, name


class LuongAttention(_SoftAttention):
    """Attention that scores by the product of query and memory."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Callable[..., Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            num_units, dtype, probability_fn, name, memory=memory, query_layer=None,
            memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
        )  # fmt: skip
        self._scale = scale

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "luong_attention", [query]):
            score = luong_score(query, self._keys, self._scale)
        return self._aligned(score, state)


class BahdanauAttention(_SoftAttention):
    """Attention that scores by a small network over the sum of query and memory."""

    @with_parameters_of(
        LuongAttention.__init__,
        without=("scale",),
        extra={"normalize": ("memory_sequence_length", False)},
        name="BahdanauAttention",
    )
    def __init__(self, num_units: int, dtype: Any, normalize: bool, **rest: Any) -> None:
        rest["query_layer"] = projection(num_units, "query_layer", dtype)
        super().__init__(num_units, dtype, **rest)
        self._normalize = normalize

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "bahdanau_attention", [query]):
            score = bahdanau_score(
                self.query_layer(query), self._keys, self._num_units, query.dtype, self._normalize
            )
        return self._aligned(score, state)
