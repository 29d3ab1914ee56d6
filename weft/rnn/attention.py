"""Attention: scores of a memory for a query, and a cell that sees what it attends to."""

from __future__ import annotations

import functools
import math as _math
from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.layers.base import Layer
from weft.layers.core import Dense
from weft.ops import (
    array_fill,
    array_join,
    array_pass,
    array_shape,
    casts,
    check,
    clip,
    matmul,
    nn_impl,
    random,
    reduce,
    select,
    unary,
)
from weft.ops import variable_scope as vs
from weft.ops.functional import scan
from weft.ops.initializers import constant_initializer, ones_initializer, zeros_initializer
from weft.ops.math import sigmoid
from weft.ops.tensor_array import TensorArray
from weft.rnn.cells import RNNCell, assert_like_rnncell, zero_state_tensors


def hardmax(logits: Any, name: str | None = None) -> Tensor:
    """A one at the largest of each row of logits, zeros elsewhere."""
    with name_scope(name, "Hardmax", [logits]):
        logits = convert_to_tensor(logits, name="logits")
        depth = logits.shape.as_list()[-1]
        if depth is None:
            depth = array_shape.shape(logits)[-1]
        return select.one_hot(reduce.argmax(logits, -1), depth, dtype=logits.dtype)


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
        ones = array_fill.ones([rank - 2], dtype=dtypes.int32)
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


class _BaseAttentionMechanism(AttentionMechanism):
    """What mechanisms share: keys and values made of the memory once, and masked scores."""

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
            raise TypeError(
                f"probability_fn must be callable, saw type: {type(probability_fn).__name__}"
            )
        if score_mask_value is None:
            score_mask_value = dtypes.as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            _mask_score(score, memory_sequence_length, score_mask_value), previous
        )
        with name_scope(name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self._values = _prepare_memory(memory, memory_sequence_length, check_inner_dims_defined)
            self._keys = memory_layer(self._values) if memory_layer else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            batch, size = self._keys.shape.as_list()[:2]
            self._batch_size = batch or array_shape.shape(self._keys)[0]
            self._alignments_size = size or array_shape.shape(self._keys)[1]

    @property
    def memory_layer(self) -> Any:
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        return self._query_layer

    @property
    def values(self) -> Any:
        return self._values

    @property
    def keys(self) -> Any:
        return self._keys

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

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


def _luong_score(query: Tensor, keys: Tensor, scale: bool) -> Tensor:
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


def _bahdanau_score(query: Tensor, keys: Tensor, units: int, dtype: Any, normalize: bool) -> Tensor:
    """The sum over v * tanh(key + query); with `normalize`, v has a learned length."""
    v = vs.get_variable("attention_v", [units], dtype=dtype)
    query = array_shape.expand_dims(query, 1)
    if not normalize:
        return reduce.reduce_sum(v * unary.tanh(keys + query), [2])
    start = constant_initializer(_math.sqrt(1.0 / units))
    g = vs.get_variable("attention_g", dtype=dtype, initializer=start, shape=())
    b = vs.get_variable("attention_b", [units], dtype=dtype, initializer=zeros_initializer())
    normed = g * v * unary.rsqrt(reduce.reduce_sum(unary.square(v)))
    return reduce.reduce_sum(normed * unary.tanh(keys + query + b), [2])


def _projection(units: int, name: str, dtype: Any) -> Dense:
    return Dense(units, name=name, use_bias=False, dtype=dtype or dtypes.float32)


class LuongAttention(_BaseAttentionMechanism):
    """Multiplicative attention."""

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
        chosen = probability_fn or nn_impl.softmax
        super().__init__(
            query_layer=None,
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: chosen(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "luong_attention", [query]):
            score = _luong_score(query, self._keys, self._scale)
        return self._aligned(score, state)


class BahdanauAttention(_BaseAttentionMechanism):
    """Additive attention."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Callable[..., Any] | None = None,
        score_mask_value: Any = None,
        dtype: Any = None,
        custom_key_value_fn: Callable[..., Any] | None = None,
        name: str = "BahdanauAttention",
    ) -> None:
        chosen = probability_fn or nn_impl.softmax
        super().__init__(
            query_layer=_projection(num_units, "query_layer", dtype),
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=lambda score, _: chosen(score),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "bahdanau_attention", [query]):
            score = _bahdanau_score(
                self.query_layer(query), self._keys, self._num_units, query.dtype, self._normalize
            )
        return self._aligned(score, state)


# ---- monotonic attention ----------------------------------------------------------------------


def safe_cumprod(x: Any, *args: Any, **kwargs: Any) -> Tensor:
    """The cumulative product of values in [0, 1], as a sum of logarithms."""
    with name_scope(None, "SafeCumprod", [x]):
        x = convert_to_tensor(x, name="x")
        tiny = np.finfo(x.dtype.as_numpy_dtype).tiny
        logs = unary.log(clip.clip_by_value(x, tiny, 1))
        return unary.exp(reduce.cumsum(logs, *args, **kwargs))


def monotonic_attention(p_choose_i: Any, previous_attention: Any, mode: str) -> Tensor:
    """Attention that never moves back, from the probability of stopping at each entry."""
    p = convert_to_tensor(p_choose_i, name="p_choose_i")
    previous = convert_to_tensor(previous_attention, name="previous_attention")
    if mode == "recursive":
        batch = p.shape.as_list()[0] or array_shape.shape(p)[0]
        passed = array_join.concat([array_fill.ones((batch, 1)), 1 - p[:, :-1]], 1)
        reached = scan(
            lambda x, yz: array_shape.reshape(yz[0] * x + yz[1], (batch,)),
            [array_shape.transpose(passed), array_shape.transpose(previous)],
            array_fill.zeros((batch,)),
        )
        return p * array_shape.transpose(reached)
    if mode == "parallel":
        passed = safe_cumprod(1 - p, axis=1, exclusive=True)
        floor = clip.clip_by_value(passed, 1e-10, 1.0)
        return p * passed * reduce.cumsum(previous / floor, axis=1)
    if mode == "hard":
        p = p * reduce.cumsum(previous, axis=1)
        return p * reduce.cumprod(1 - p, axis=1, exclusive=True)
    raise ValueError("mode must be 'recursive', 'parallel', or 'hard'.")


def _monotonic_probability_fn(
    score: Tensor, previous: Any, sigmoid_noise: float, mode: str, seed: int | None = None
) -> Tensor:
    if sigmoid_noise > 0:
        noise = random.random_normal(array_shape.shape(score), dtype=score.dtype, seed=seed)
        score = score + sigmoid_noise * noise
    p = casts.cast(score > 0, score.dtype) if mode == "hard" else sigmoid(score)
    return monotonic_attention(p, previous, mode)


class _BaseMonotonicAttentionMechanism(_BaseAttentionMechanism):
    """A mechanism that starts at the first entry of the memory."""

    _score_bias_init: Any

    def initial_alignments(self, batch_size: Any, dtype: Any) -> Tensor:
        first = array_fill.zeros((batch_size,), dtype=dtypes.int32)
        return select.one_hot(first, self._alignments_size, dtype=dtype)

    def _biased(self, score: Tensor, dtype: Any) -> Tensor:
        return score + vs.get_variable(
            "attention_score_bias", dtype=dtype, initializer=self._score_bias_init
        )


class BahdanauMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Additive attention that never moves back."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=_projection(num_units, "query_layer", dtype),
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability_fn,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            score = _bahdanau_score(
                self.query_layer(query), self._keys, self._num_units, query.dtype, self._normalize
            )
            score = self._biased(score, query.dtype)
        return self._aligned(score, state)


class LuongMonotonicAttention(_BaseMonotonicAttentionMechanism):
    """Multiplicative attention that never moves back."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: int | None = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: Any = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=_projection(num_units, "memory_layer", dtype),
            memory=memory,
            probability_fn=functools.partial(
                _monotonic_probability_fn,
                sigmoid_noise=sigmoid_noise,
                mode=mode,
                seed=sigmoid_noise_seed,
            ),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units, self._scale, self._name = num_units, scale, name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Tensor, state: Any) -> tuple[Tensor, Tensor]:
        with vs.variable_scope(None, "luong_monotonic_attention", [query]):
            score = self._biased(_luong_score(query, self._keys, self._scale), query.dtype)
        return self._aligned(score, state)


# ---- the cell ---------------------------------------------------------------------------------


class AttentionWrapperState(
    namedtuple(
        "AttentionWrapperState",
        (
            "cell_state",
            "attention",
            "time",
            "alignments",
            "alignment_history",
            "attention_state",
        ),
    )
):
    """The state of an AttentionWrapper."""

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """This state with some parts replaced by others of the same shape."""

        def checked(old: Any, new: Any) -> Any:
            if isinstance(old, Tensor) and isinstance(new, Tensor):
                old.shape.assert_is_compatible_with(new.shape)
                new.set_shape(old.shape)
            return new

        return nest.map_structure(checked, self, self._replace(**kwargs))


def _compute_attention(
    mechanism: Any, cell_output: Tensor, attention_state: Any, attention_layer: Any
) -> tuple[Tensor, Tensor, Any]:
    """(attention, alignments, next attention state) for the output of a cell."""
    alignments, next_state = mechanism(cell_output, state=attention_state)
    context = matmul.matmul(array_shape.expand_dims(alignments, 1), mechanism.values)
    context = array_shape.squeeze(context, [1])
    if attention_layer is not None:
        context = attention_layer(array_join.concat([cell_output, context], 1))
    return context, alignments, next_state


_TILE = (
    "Are you using the BeamSearchDecoder?  You may need to tile your {} via the "
    "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
)


class AttentionWrapper(RNNCell):
    """A cell whose inputs include what it attended to in the step before."""

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = attention_mechanism if self._is_multi else (attention_mechanism,)
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                wanted = "must contain only instances of AttentionMechanism"
                if not self._is_multi:
                    wanted = (
                        "must be an AttentionMechanism or list of multiple AttentionMechanism "
                        "instances"
                    )
                raise TypeError(
                    f"attention_mechanism {wanted}, saw type: {type(mechanism).__name__}"
                )
        if cell_input_fn is None:
            cell_input_fn = _join_inputs
        elif not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        self._cell, self._attention_mechanisms = cell, mechanisms
        self._cell_input_fn, self._output_attention = cell_input_fn, output_attention
        self._alignment_history = alignment_history
        self._attention_fn = attention_fn or _compute_attention
        self._make_layers(attention_layer_size, attention_layer)
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                message = (
                    f"When constructing AttentionWrapper {self._base_name}: Non-matching batch "
                    "sizes between the memory (encoder output) and initial_cell_state.  "
                ) + _TILE.format("initial state")
                with control_dependencies(self._batch_size_checks(_rows(last), message)):
                    self._initial_cell_state = nest.map_structure(
                        lambda s: array_pass.identity(s, name="check_initial_cell_state"),
                        initial_cell_state,
                    )

    def _make_layers(self, sizes: Any, layers: Any) -> None:
        mechanisms = self._attention_mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        depths = [mechanism.values.shape.as_list()[-1] for mechanism in mechanisms]
        self._attention_layers: Any = None
        if sizes is not None:
            sizes = tuple(sizes if isinstance(sizes, (list, tuple)) else (sizes,))
            if len(sizes) != len(mechanisms):
                raise ValueError(
                    "If provided, attention_layer_size must contain exactly one integer per "
                    f"attention_mechanism, saw: {len(sizes)} vs {len(mechanisms)}"
                )
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for size, mechanism in zip(sizes, mechanisms, strict=True)
            )
            self._attention_layer_size = sum(sizes)
        elif layers is not None:
            layers = tuple(layers if isinstance(layers, (list, tuple)) else (layers,))
            if len(layers) != len(mechanisms):
                raise ValueError(
                    "If provided, attention_layer must contain exactly one layer per "
                    f"attention_mechanism, saw: {len(layers)} vs {len(mechanisms)}"
                )
            self._attention_layers = layers
            self._attention_layer_size = sum(
                TensorShape(
                    layer.compute_output_shape([None, self._cell.output_size + depth])
                ).as_list()[-1]
                for layer, depth in zip(layers, depths, strict=True)
            )
        else:
            self._attention_layer_size = sum(depths)

    def _batch_size_checks(self, batch_size: Any, message: str) -> list[Any]:
        return [
            check.assert_equal(batch_size, mechanism.batch_size, message=message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, items: Any) -> Any:
        """One item for one mechanism, a tuple for a list of them."""
        items = tuple(items)
        return items if self._is_multi else items[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        mechanisms = self._attention_mechanisms
        return AttentionWrapperState(
            cell_state=self._cell.state_size,
            time=TensorShape([]),
            attention=self._attention_layer_size,
            alignments=self._item_or_tuple(m.alignments_size for m in mechanisms),
            attention_state=self._item_or_tuple(m.state_size for m in mechanisms),
            alignment_history=self._item_or_tuple(
                m.alignments_size if self._alignment_history else () for m in mechanisms
            ),
        )

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        mechanisms = self._attention_mechanisms
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching "
                "batch sizes between the memory (encoder output) and the requested batch size.  "
                "Are you using the BeamSearchDecoder?  If so, make sure your encoder output has "
                "been tiled to beam_width via tf.contrib.seq2seq.tile_batch, and the batch_size= "
                "argument passed to zero_state is batch_size * beam_width."
            )
            with control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(
                    lambda s: array_pass.identity(s, name="checked_cell_state"), cell_state
                )
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            return AttentionWrapperState(
                cell_state=cell_state,
                time=array_fill.zeros([], dtype=dtypes.int32),
                attention=zero_state_tensors(self._attention_layer_size, batch_size, dtype),
                alignments=self._item_or_tuple(alignments),
                attention_state=self._item_or_tuple(
                    m.initial_state(batch_size, dtype) for m in mechanisms
                ),
                alignment_history=self._item_or_tuple(
                    TensorArray(dtype, size=0, dynamic_size=True, element_shape=each.shape)
                    if self._alignment_history
                    else ()
                    for each in alignments
                ),
            )

    def call(self, inputs: Any, state: AttentionWrapperState) -> tuple[Any, Any]:
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        output, next_cell_state = self._cell(cell_inputs, state.cell_state)
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the "
            "memory (encoder output) and the query (decoder output).  "
        ) + _TILE.format("memory input")
        with control_dependencies(self._batch_size_checks(_rows(output), message)):
            output = array_pass.identity(output, name="checked_cell_output")
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        results, new_histories = [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            result = self._attention_fn(mechanism, output, states[i], layer)
            results.append(result)
            new_histories.append(
                histories[i].write(state.time, result[1]) if self._alignment_history else ()
            )
        attentions, alignments, next_states = zip(*results, strict=True)
        attention = array_join.concat(list(attentions), 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=next_cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(next_states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(new_histories),
        )
        return (attention if self._output_attention else output), next_state


def _join_inputs(inputs: Any, attention: Any) -> Tensor:
    return array_join.concat([inputs, attention], -1)


def _rows(x: Tensor) -> Any:
    return x.shape.as_list()[0] or array_shape.shape(x)[0]
