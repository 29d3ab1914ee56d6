"""Sequence to sequence models with attention, unrolled over lists of tensors."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.graph.graph import Tensor
from weft.lib.rnn.legacy_seq2seq import check_projection, either_way, encode, in_turn, look_up
from weft.lib.rnn.projections import Linear, OutputProjectionWrapper
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import shape as array_shape
from weft.ops.math import casts, reduce, unary
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import conv as nn_conv
from weft.ops.state import variable_scope as vs


def attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Tensor,
    cell: Any,
    output_size: int | None = None,
    num_heads: int = 1,
    loop_function: Callable[..., Any] | None = None,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """`rnn_decoder` whose cell sees and whose outputs use what it attends to."""
    if not decoder_inputs:
        raise ValueError("Must provide at least 1 input to attention decoder.")
    if num_heads < 1:
        raise ValueError("With less than 1 heads, use a non-attention decoder.")
    length, size = attention_states.shape.as_list()[1:]
    if size is None:
        raise ValueError(f"Shape[2] of attention_states must be known: {attention_states.shape}")
    if output_size is None:
        output_size = cell.output_size
    with vs.variable_scope(scope or "attention_decoder", dtype=dtype) as opened:
        dtype = opened.dtype
        batch_size = array_shape.shape(decoder_inputs[0])[0]
        attend = _Attention(attention_states, length, size, num_heads, dtype)
        state: Any = initial_state
        outputs: list[Any] = []
        zeros = array_join.stack([batch_size, size])
        attended = [array_fill.zeros(zeros, dtype=dtype) for _ in range(num_heads)]
        for each in attended:
            each.set_shape([None, size])
        if initial_state_attention:
            attended = attend(initial_state)
        for now in in_turn(decoder_inputs, outputs, loop_function):
            depth = now.shape.with_rank(2).as_list()[1]
            if depth is None:
                raise ValueError(f"Could not infer input size from input: {now.name}")
            joined = [casts.cast(each, dtype) for each in [now, *attended]]
            cell_output, state = cell(Linear(joined, depth, True)(joined), state)
            if not outputs and initial_state_attention:
                with vs.variable_scope(vs.get_variable_scope(), reuse=True):
                    attended = attend(state)
            else:
                attended = attend(state)
            with vs.variable_scope("AttnOutputProjection"):
                joined = [casts.cast(cell_output, dtype), *attended]
                output = Linear(joined, output_size, True)(joined)
            outputs.append(output)
    return outputs, state


class _Attention:
    """Additive attention of several heads over [batch, length, size] states."""

    def __init__(self, states: Tensor, length: Any, size: int, heads: int, dtype: Any) -> None:
        self.size, self.dtype = size, dtype
        self.length = array_shape.shape(states)[1] if length is None else length
        # A 1x1 convolution applies one matrix to every state.
        self.hidden = array_shape.reshape(states, [-1, self.length, 1, size])
        self.features, self.v = [], []
        for head in range(heads):
            kernel = vs.get_variable(f"AttnW_{head}", [1, 1, size, size], dtype=dtype)
            self.features.append(nn_conv.conv2d(self.hidden, kernel, [1, 1, 1, 1], "SAME"))
            self.v.append(vs.get_variable(f"AttnV_{head}", [size], dtype=dtype))

    def __call__(self, query: Any) -> list[Tensor]:
        if nest.is_nested(query):
            query = array_join.concat(nest.flatten(query), 1)
        attended = []
        for head, (features, v) in enumerate(zip(self.features, self.v, strict=True)):
            with vs.variable_scope(f"Attention_{head}"):
                y = Linear(query, self.size, True)(query)
                y = casts.cast(array_shape.reshape(y, [-1, 1, 1, self.size]), self.dtype)
                score = reduce.reduce_sum(v * unary.tanh(features + y), [2, 3])
                weights = nn_impl.softmax(casts.cast(score, dtype=dtypes.float32))
                weights = casts.cast(weights, self.dtype)
                weighted = array_shape.reshape(weights, [-1, self.length, 1, 1]) * self.hidden
                seen = reduce.reduce_sum(weighted, [1, 2])
                attended.append(array_shape.reshape(seen, [-1, self.size]))
        return attended


def embedding_attention_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    attention_states: Tensor,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_size: int | None = None,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """`attention_decoder` over integers that are looked up in a table."""
    check_projection(output_projection, num_symbols, dtype, parts=(1,))
    with vs.variable_scope(scope or "embedding_attention_decoder", dtype=dtype):
        inputs, function = look_up(
            decoder_inputs,
            [num_symbols, embedding_size],
            feed_previous,
            output_projection,
            update_embedding_for_previous,
        )
        return attention_decoder(
            list(inputs),
            initial_state,
            attention_states,
            cell,
            output_size=output_size,
            num_heads=num_heads,
            loop_function=function,
            initial_state_attention=initial_state_attention,
        )


def embedding_attention_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    num_heads: int = 1,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
    initial_state_attention: bool = False,
) -> tuple[list[Any], Any]:
    """An encoder, and a decoder that attends to the encoder's outputs, over integers."""
    with vs.variable_scope(scope or "embedding_attention_seq2seq", dtype=dtype) as opened:
        encoded, encoder_state = encode(
            copy.deepcopy(cell), encoder_inputs, num_encoder_symbols, embedding_size, opened.dtype
        )
        attention_states = array_join.concat(
            [array_shape.reshape(e, [-1, 1, cell.output_size]) for e in encoded], 1
        )
        projects = output_projection is None
        if projects:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)
        parts = decoder_inputs, encoder_state, attention_states, cell
        sizes = num_decoder_symbols, embedding_size, num_heads
        output_size = num_decoder_symbols if projects else None

        def decode(fed: bool, update: bool) -> tuple[list[Any], Any]:
            return embedding_attention_decoder(
                *parts,
                *sizes,
                output_size,
                output_projection,
                fed,
                update,
                initial_state_attention=initial_state_attention,
            )

        return either_way(feed_previous, decode, len(decoder_inputs), encoder_state)
