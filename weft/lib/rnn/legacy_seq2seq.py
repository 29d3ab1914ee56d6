"""Sequence to sequence models unrolled over lists of tensors (tf.contrib.legacy_seq2seq)."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.lib.rnn.cells import RNNCell
from weft.lib.rnn.projections import EmbeddingWrapper, OutputProjectionWrapper
from weft.lib.rnn.static import static_rnn
from weft.ops.array import placeholders as array_pass
from weft.ops.array import shape as array_shape
from weft.ops.control.cond import cond
from weft.ops.math import arg_extremes, casts, math, reduce
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import cross_entropy
from weft.ops.nn.embedding import embedding_lookup
from weft.ops.state import variable_scope as vs


def loop_function_of(
    fed: bool, embedding: Any, output_projection: Any, update_embedding: bool
) -> Callable[[Any, int], Tensor] | None:
    """If outputs are fed back: the embedding of the likeliest symbol of the output before."""
    if not fed:
        return None

    def loop_function(previous: Any, _: int) -> Tensor:
        if output_projection is not None:
            previous = nn_impl.xw_plus_b(previous, *output_projection[:2])
        embedded = embedding_lookup(embedding, arg_extremes.argmax(previous, 1))
        return embedded if update_embedding else array_pass.stop_gradient(embedded)

    return loop_function


def check_projection(
    projection: Any, num_symbols: int, dtype: Any, parts: tuple[int, ...] = (0, 1)
) -> None:
    """Raises unless the weights and biases, if there are any, end in so many symbols."""
    for part in () if projection is None else parts:
        value = convert_to_tensor(projection[part], dtype=dtype)
        value.shape.assert_is_compatible_with(([None, num_symbols], [num_symbols])[part])


def look_up(
    inputs: Any, table_shape: list[int], feed_previous: bool, projection: Any, update: bool
) -> tuple[Iterator[Tensor], Callable[[Any, int], Tensor] | None]:
    """Embeddings of the inputs of a decoder, and the function that makes them of its outputs.

    Each is looked up when it is asked for.
    """
    table = vs.get_variable("embedding", table_shape)
    function = loop_function_of(feed_previous, table, projection, update)
    return (embedding_lookup(table, each) for each in inputs), function


def in_turn(
    inputs: Any, outputs: list[Any], loop_function: Callable[..., Any] | None
) -> Iterator[Any]:
    """The inputs of a decoder; all but the first are made of its last output, if it is fed back.

    From the second step on its variables are used again.
    """
    for step, now in enumerate(inputs):
        if step:
            vs.get_variable_scope().reuse_variables()
        fed = step and loop_function is not None
        yield _fed_back(loop_function, outputs[-1], step) if fed else now


def _fed_back(loop_function: Any, output: Any, step: int) -> Any:
    with vs.variable_scope("loop_function", reuse=True):
        return loop_function(output, step)


def encode(
    cell: Any, inputs: Any, symbols: int, embedding_size: int, dtype: Any
) -> tuple[list[Any], Any]:
    """Outputs and last state of `cell` over integers that are looked up in a table."""
    encoder = EmbeddingWrapper(cell, embedding_classes=symbols, embedding_size=embedding_size)
    return static_rnn(encoder, inputs, dtype=dtype)


def either_way(
    feed_previous: Any, decode: Callable[[bool, bool], tuple[list[Any], Any]], steps: int, like: Any
) -> tuple[list[Any], Any]:
    """`decode(feed_previous, True)`, where it is known.

    If it is a tensor, `decode(True, False)` or `decode(False, False)`, as it says when it is run.
    """
    if isinstance(feed_previous, bool):
        return decode(feed_previous, True)

    def flat(fed: bool) -> list[Any]:
        with vs.variable_scope(vs.get_variable_scope(), reuse=None if fed else True):
            outputs, state = decode(fed, False)
            return [*outputs, *nest.flatten(state)]

    results = cond(feed_previous, lambda: flat(True), lambda: flat(False))
    return results[:steps], nest.pack_sequence_as(like, results[steps:])


def rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    loop_function: Callable[..., Any] | None = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """Runs `cell` over a list of inputs; `loop_function(output, i)` replaces all but the first."""
    with vs.variable_scope(scope or "rnn_decoder"):
        state: Any = initial_state
        outputs: list[Any] = []
        for now in in_turn(decoder_inputs, outputs, loop_function):
            output, state = cell(now, state)
            outputs.append(output)
    return outputs, state


def basic_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """An encoder, and a decoder that starts from its state."""
    with vs.variable_scope(scope or "basic_rnn_seq2seq"):
        _, state = static_rnn(copy.deepcopy(cell), encoder_inputs, dtype=dtype)
        return rnn_decoder(decoder_inputs, state, cell)


def tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    loop_function: Callable[..., Any] | None = None,
    dtype: Any = dtypes.float32,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """`basic_rnn_seq2seq` with one set of variables for encoder and decoder."""
    with vs.variable_scope("combined_tied_rnn_seq2seq"):
        scope = scope or "tied_rnn_seq2seq"
        _, state = static_rnn(cell, encoder_inputs, dtype=dtype, scope=scope)
        vs.get_variable_scope().reuse_variables()
        return rnn_decoder(decoder_inputs, state, cell, loop_function=loop_function, scope=scope)


def embedding_rnn_decoder(
    decoder_inputs: Any,
    initial_state: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: bool = False,
    update_embedding_for_previous: bool = True,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """`rnn_decoder` over integers that are looked up in a table."""
    with vs.variable_scope(scope or "embedding_rnn_decoder") as opened:
        check_projection(output_projection, num_symbols, opened.dtype)
        table_shape, update = [num_symbols, embedding_size], update_embedding_for_previous
        inputs, function = look_up(
            decoder_inputs, table_shape, feed_previous, output_projection, update
        )
        return rnn_decoder(inputs, initial_state, cell, loop_function=function)


def embedding_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_encoder_symbols: int,
    num_decoder_symbols: int,
    embedding_size: int,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """An encoder and a decoder over integers."""
    with vs.variable_scope(scope or "embedding_rnn_seq2seq") as opened:
        if dtype is not None:
            opened.set_dtype(dtype)
        encoder_cell, of = copy.deepcopy(cell), dtype or opened.dtype
        _, encoder_state = encode(
            encoder_cell, encoder_inputs, num_encoder_symbols, embedding_size, of
        )
        if output_projection is None:
            cell = OutputProjectionWrapper(cell, num_decoder_symbols)

        def decode(fed: bool, update: bool) -> tuple[list[Any], Any]:
            return embedding_rnn_decoder(
                decoder_inputs,
                encoder_state,
                cell,
                num_decoder_symbols,
                embedding_size,
                output_projection=output_projection,
                feed_previous=fed,
                update_embedding_for_previous=update,
            )

        return either_way(feed_previous, decode, len(decoder_inputs), encoder_state)


def embedding_tied_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs: Any,
    cell: Any,
    num_symbols: int,
    embedding_size: int,
    num_decoder_symbols: int | None = None,
    output_projection: Any = None,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[list[Any], Any]:
    """`embedding_rnn_seq2seq` with one table and one set of variables for both parts."""
    with vs.variable_scope(scope or "embedding_tied_rnn_seq2seq", dtype=dtype) as opened:
        dtype = opened.dtype
        check_projection(output_projection, num_symbols, dtype)
        table = vs.get_variable("embedding", [num_symbols, embedding_size], dtype=dtype)
        encoded = [embedding_lookup(table, x) for x in encoder_inputs]
        decoded = [embedding_lookup(table, x) for x in decoder_inputs]
        if output_projection is None:
            symbols = num_symbols if num_decoder_symbols is None else num_decoder_symbols
            cell = OutputProjectionWrapper(cell, symbols)

        def decode(fed: bool, update: bool) -> tuple[list[Any], Any]:
            function = loop_function_of(fed, table, output_projection, update)
            return tied_rnn_seq2seq(encoded, decoded, cell, loop_function=function, dtype=dtype)

        return either_way(feed_previous, decode, len(decoder_inputs), cell.state_size)


def one2many_rnn_seq2seq(
    encoder_inputs: Any,
    decoder_inputs_dict: dict[Any, Any],
    enc_cell: Any,
    dec_cells_dict: dict[Any, Any],
    num_encoder_symbols: int,
    num_decoder_symbols_dict: dict[Any, int],
    embedding_size: int,
    feed_previous: Any = False,
    dtype: Any = None,
    scope: Any = None,
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """One encoder and several decoders, by name."""
    if not isinstance(enc_cell, RNNCell):
        raise TypeError(f"enc_cell is not an RNNCell: {type(enc_cell)}")
    if set(dec_cells_dict) != set(decoder_inputs_dict):
        raise ValueError("keys of dec_cells_dict != keys of decodre_inputs_dict")
    for dec_cell in dec_cells_dict.values():
        if not isinstance(dec_cell, RNNCell):
            raise TypeError(f"dec_cell is not an RNNCell: {type(dec_cell)}")
    outputs, states = {}, {}
    with vs.variable_scope(scope or "one2many_rnn_seq2seq", dtype=dtype) as opened:
        _, encoder_state = encode(
            enc_cell, encoder_inputs, num_encoder_symbols, embedding_size, opened.dtype
        )
        for name, inputs in decoder_inputs_dict.items():
            symbols = num_decoder_symbols_dict[name]
            with vs.variable_scope(f"one2many_decoder_{name}"):
                cell = OutputProjectionWrapper(dec_cells_dict[name], symbols)

                decoder = partial(
                    embedding_rnn_decoder, inputs, encoder_state, cell, symbols, embedding_size
                )

                def decode(fed: bool, _: bool, decoder: Any = decoder) -> tuple[list[Any], Any]:
                    return decoder(feed_previous=fed)

                outputs[name], states[name] = either_way(
                    feed_previous, decode, len(inputs), encoder_state
                )
    return outputs, states


# ---- losses -----------------------------------------------------------------------------------


def sequence_loss_by_example(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """Weighted cross entropy of lists over time, one number for each batch entry."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )

    def cross_entropy_of(labels: Any, logits: Any) -> Tensor:
        return cross_entropy.sparse_softmax_cross_entropy_with_logits(
            labels=array_shape.reshape(labels, [-1]), logits=logits
        )

    measure = softmax_loss_function or cross_entropy_of
    with name_scope(name, "sequence_loss_by_example", [*logits, *targets, *weights]):
        steps = zip(logits, targets, weights, strict=True)
        total = math.add_n([measure(labels=t, logits=x) * weight for x, t, weight in steps])
        if not average_across_timesteps:
            return total
        # Examples whose weights are all zero must not divide by it.
        return total / (math.add_n(weights) + 1e-12)


def sequence_loss(
    logits: list[Any],
    targets: list[Any],
    weights: list[Any],
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Tensor:
    """The sum or mean over the batch of `sequence_loss_by_example`."""
    with name_scope(name, "sequence_loss", [*logits, *targets, *weights]):
        cost = reduce.reduce_sum(
            sequence_loss_by_example(
                logits,
                targets,
                weights,
                average_across_timesteps=average_across_timesteps,
                softmax_loss_function=softmax_loss_function,
            )
        )
        if not average_across_batch:
            return cost
        return cost / casts.cast(array_shape.shape(targets[0])[0], cost.dtype)


def model_with_buckets(
    encoder_inputs: list[Any],
    decoder_inputs: list[Any],
    targets: list[Any],
    weights: list[Any],
    buckets: Any,
    seq2seq: Callable[..., Any],
    softmax_loss_function: Callable[..., Any] | None = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> tuple[list[Any], list[Any]]:
    """One model, with shared variables, for each (encoder length, decoder length) in `buckets`."""
    needed = (
        ("encoder_inputs", encoder_inputs, buckets[-1][0]),
        ("targets", targets, buckets[-1][1]),
        ("weights", weights, buckets[-1][1]),
    )
    for what, given, length in needed:
        if len(given) < length:
            raise ValueError(
                f"Length of {what} ({len(given)}) must be at least that of last bucket ({length})."
            )
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    outputs, losses = [], []
    everything = [*encoder_inputs, *decoder_inputs, *targets, *weights]
    with name_scope(name, "model_with_buckets", everything):
        for i, (encoder_length, length) in enumerate(buckets):
            with vs.variable_scope(vs.get_variable_scope(), reuse=True if i > 0 else None):
                made, _ = seq2seq(encoder_inputs[:encoder_length], decoder_inputs[:length])
                outputs.append(made)
                losses.append(
                    loss_of(
                        made,
                        targets[:length],
                        weights[:length],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
