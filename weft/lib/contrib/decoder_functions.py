"""Decoders of tf.contrib.seq2seq as they were in TensorFlow 1.0: functions, called at every step.

A decoder function takes (time, state, input, output, context) and gives (done, state, input,
output, context) for the next step; at first, state and output are None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.dense import linear
from weft.lib.rnn.basic_cells import LSTMStateTuple
from weft.lib.rnn.raw_loop import raw_rnn
from weft.ops.array import array
from weft.ops.array.gather import gather
from weft.ops.control.cond import cond
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import math
from weft.ops.nn.activations import softmax
from weft.ops.state import variable_scope as vs

DecoderFn = Callable[..., tuple[Any, Any, Any, Any, Any]]


def dynamic_rnn_decoder(
    cell: Any,
    decoder_fn: DecoderFn,
    inputs: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Any, Any]:
    """Runs a cell and a decoder function in turn: over inputs, or on its own outputs.

    Args:
        cell: a cell of `tf.nn.rnn_cell`.
        decoder_fn: says what the next input is, and whether a sequence is done.
        inputs: in training, `[batch, time, depth]`, or with time first if `time_major`.
        sequence_length: of these; where the decoder function does not say when it is done.
        parallel_iterations, swap_memory: as in `tf.nn.raw_rnn`.
        time_major: whether time comes before the batch.
        scope, name: of the variables, and of the operations.

    Returns:
        The outputs, the last state, and the last context.
    """
    with name_scope(name, "dynamic_rnn_decoder", [cell, inputs, sequence_length]):
        with vs.variable_scope(scope or "dynamic_rnn_decoder") as varscope:
            read = _reader(inputs, time_major)

            def step(time: Tensor, output: Any, state: Any, loop_state: Any) -> Any:
                done, context = loop_state if isinstance(loop_state, tuple) else (loop_state, None)
                given = None if read is None else read(time, done)
                done, state, given, output, context = decoder_fn(
                    time, state, given, output, context
                )
                if done is None:
                    done = math.greater_equal(time, sequence_length)
                return done, given, state, output, done if context is None else (done, context)

            outputs, state, last = raw_rnn(
                cell, step, parallel_iterations, swap_memory, scope=varscope
            )
        joined = outputs.stack()
        if not time_major:
            joined = array.transpose(joined, [1, 0, 2])
        return joined, state, last[1] if isinstance(last, tuple) else None


def _reader(inputs: Any, time_major: bool) -> Callable[[Tensor, Any], Tensor] | None:
    """From a time to the input then; zeros after the last."""
    if inputs is None:
        return None
    inputs = convert_to_tensor(inputs)
    rows = inputs if time_major else array.transpose(inputs, [1, 0, 2])
    length = array.shape(rows)[0]
    kept = TensorArray(rows.dtype, length, element_shape=rows.shape[1:]).unstack(rows)

    def read(time: Tensor, done: Any) -> Tensor:
        if done is None:
            return kept.read(0)
        after = array.zeros(array.shape(rows)[1:], rows.dtype)
        value = cond(math.equal(time, length), lambda: after, lambda: kept.read(time))
        value.set_shape(rows.shape[1:])
        return value

    return read


# ---- decoder functions ----


def simple_decoder_fn_train(encoder_state: Any, name: str | None = None) -> DecoderFn:
    """A decoder function that begins with a state and is given the right inputs."""

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        return None, encoder_state if state is None else state, given, output, context

    return decoder_fn


def simple_decoder_fn_inference(
    output_fn: Callable[[Tensor], Tensor],
    encoder_state: Any,
    embeddings: Any,
    start_of_sequence_id: int,
    end_of_sequence_id: int,
    maximum_length: Any,
    num_decoder_symbols: int,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> DecoderFn:
    """A decoder function that begins with a state and is given the likeliest of its outputs.

    Args:
        output_fn: from an output of the cell to logits.
        encoder_state: the first state.
        embeddings: a row for each symbol.
        start_of_sequence_id, end_of_sequence_id: symbols.
        maximum_length: of a sequence.
        num_decoder_symbols: how many symbols there are.
        dtype: of symbols.
        name: of the operations.

    Returns:
        The function.
    """
    ends = start_of_sequence_id, end_of_sequence_id
    greedy = _Greedy(output_fn, encoder_state, embeddings, ends, maximum_length, dtype)

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        _check_no_input(given)
        if output is None:
            symbols, done = greedy.start()
            state, output = encoder_state, array.zeros([num_decoder_symbols])
        else:
            output, symbols, done = greedy.choose(output)
        return greedy.ended(time, done), state, gather(embeddings, symbols), output, context

    return decoder_fn


def attention_decoder_fn_train(
    encoder_state: Any,
    attention_keys: Any,
    attention_values: Any,
    attention_score_fn: Any,
    attention_construct_fn: Callable[..., Tensor],
    name: str | None = None,
) -> DecoderFn:
    """`simple_decoder_fn_train` with attention, as `prepare_attention` makes its parts."""

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        if state is None:
            state, attention = encoder_state, _no_attention(encoder_state)
        else:
            attention = attention_construct_fn(output, attention_keys, attention_values)
            output = attention
        return None, state, array.concat([given, attention], 1), output, context

    return decoder_fn


def attention_decoder_fn_inference(
    output_fn: Callable[[Tensor], Tensor],
    encoder_state: Any,
    attention_keys: Any,
    attention_values: Any,
    attention_score_fn: Any,
    attention_construct_fn: Callable[..., Tensor],
    embeddings: Any,
    start_of_sequence_id: int,
    end_of_sequence_id: int,
    maximum_length: Any,
    num_decoder_symbols: int,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> DecoderFn:
    """`simple_decoder_fn_inference` with attention, as `prepare_attention` makes its parts."""
    ends = start_of_sequence_id, end_of_sequence_id
    greedy = _Greedy(output_fn, encoder_state, embeddings, ends, maximum_length, dtype)

    def decoder_fn(time: Any, state: Any, given: Any, output: Any, context: Any) -> Any:
        _check_no_input(given)
        if output is None:
            symbols, done = greedy.start()
            attention = _no_attention(encoder_state)
            state, output = encoder_state, array.zeros([num_decoder_symbols])
        else:
            attention = attention_construct_fn(output, attention_keys, attention_values)
            output, symbols, done = greedy.choose(attention)
        following = array.concat([gather(embeddings, symbols), attention], 1)
        return greedy.ended(time, done), state, following, output, context

    return decoder_fn


def _check_no_input(given: Any) -> None:
    if given is not None:
        raise ValueError(f"Expected cell_input to be None, but saw: {given}")


class _Greedy:
    """The likeliest symbols of outputs, until they end a sequence."""

    def __init__(
        self,
        output_fn: Any,
        state: Any,
        embeddings: Any,
        ends: tuple[int, int],
        maximum_length: Any,
        dtype: Any,
    ) -> None:
        self._output_fn, self._first_symbol, self._last_symbol = output_fn, *ends
        self._maximum_length, self._dtype = maximum_length, dtypes.as_dtype(dtype)
        first = nest.flatten(state)[0]
        known = first.shape.as_list()[0]
        self._batch = array.shape(first)[0] if known is None else known

    def start(self) -> tuple[Tensor, Tensor]:
        """The symbols that begin sequences, none of which is done."""
        symbols = array.fill([self._batch], math.cast(self._first_symbol, self._dtype))
        return symbols, array.zeros([self._batch], dtypes.bool)

    def choose(self, output: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Logits, the likeliest symbols, and which of these end their sequences."""
        logits = self._output_fn(output)
        symbols = math.cast(math.argmax(logits, 1), self._dtype)
        return logits, symbols, math.equal(symbols, math.cast(self._last_symbol, self._dtype))

    def ended(self, time: Tensor, done: Tensor) -> Tensor:
        return math.logical_or(done, math.greater(time, self._maximum_length))


# ---- attention ----


def prepare_attention(
    attention_states: Any, attention_option: str, num_units: int, reuse: bool | None = False
) -> tuple[Tensor, Any, Callable[..., Tensor], Callable[..., Tensor]]:
    """What attention decoders need of an encoder's outputs.

    Args:
        attention_states: `[batch, time, units]`.
        attention_option: "bahdanau" or "luong".
        num_units: of keys and of results.
        reuse: whether the variables are there already.

    Returns:
        Keys, values, the function that looks up a context, and the one that makes attention of it.

    Raises:
        ValueError: when it is used, if the option is another one.
    """
    with vs.variable_scope("attention_keys", reuse=reuse) as scope:
        keys = linear(attention_states, num_units, biases_initializer=None, scope=scope)
    score_fn = _score_fn(num_units, attention_option, reuse)
    with vs.variable_scope("attention_construct", reuse=reuse) as construct:
        pass
    made: list[bool] = []

    def construct_fn(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Decoders for training and for inference share one set of weights."""
        both = array.concat([query, score_fn(query, keys, values)], 1)
        again = True if made else None
        made.append(True)
        return linear(both, num_units, biases_initializer=None, scope=construct, reuse=again)

    return keys, attention_states, score_fn, construct_fn


def _score_fn(num_units: int, option: str, reuse: bool | None) -> Callable[..., Tensor]:
    with vs.variable_scope("attention_score", reuse=reuse):
        if option == "bahdanau":
            of_query = vs.get_variable("attnW", [num_units, num_units], dtypes.float32)
            of_score = vs.get_variable("attnV", [num_units], dtypes.float32)

    def score_fn(query: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        if option == "bahdanau":
            row = array.reshape(math.matmul(query, of_query), [-1, 1, num_units])
            scores = math.reduce_sum(of_score * math.tanh(keys + row), [2])
        elif option == "luong":
            scores = math.reduce_sum(keys * array.reshape(query, [-1, 1, num_units]), [2])
        else:
            raise ValueError(f"Unknown attention option {option}!")
        shares = array.expand_dims(softmax(scores), 2)
        context = math.reduce_sum(shares * values, [1])
        context.set_shape([None, num_units])
        return context

    return score_fn


def _no_attention(encoder_state: Any) -> Tensor:
    """Zeros like the output of the last layer; a state of one LSTM cell is no tuple of layers."""
    state = encoder_state
    if isinstance(state, tuple) and not isinstance(state, LSTMStateTuple):
        state = state[-1]
    return array.zeros_like(state.h if isinstance(state, LSTMStateTuple) else state)
