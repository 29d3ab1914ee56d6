"""tf.contrib.seq2seq as it was in TensorFlow 1.0: decoders that are functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

SEQ = tf.contrib.seq2seq
RANDOM = np.random.RandomState(2)
UNITS, SYMBOLS = 4, 5


def values(*fetches: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches))


@pytest.mark.parametrize("time_major", [False, True])
def test_training_is_a_network_over_inputs(time_major: bool) -> None:
    inputs = tf.constant(RANDOM.rand(3, 6, 2).astype(np.float32))
    lengths, start = tf.constant([6, 2, 4]), tf.constant(RANDOM.rand(3, UNITS).astype(np.float32))
    cell = tf.nn.rnn_cell.GRUCell(UNITS)
    given = tf.transpose(inputs, [1, 0, 2]) if time_major else inputs
    outputs, state, context = SEQ.dynamic_rnn_decoder(
        cell,
        SEQ.simple_decoder_fn_train(start),
        given,
        lengths,
        time_major=time_major,
        scope="decoder",
    )
    assert context is None
    with tf.variable_scope("", reuse=True):
        same, last = tf.nn.dynamic_rnn(cell, inputs, lengths, start, scope="decoder")
    found, expected, state, last = values(outputs, same, state, last)
    found = np.moveaxis(found, 0, 1) if time_major else found
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(state, last, rtol=1e-5)


def _inference(decoder_fn: Any, cell: Any) -> tuple[Any, Any]:
    outputs, state, _ = SEQ.dynamic_rnn_decoder(cell, decoder_fn, scope="decoder")
    return outputs, state


@pytest.mark.parametrize("longest", [2, 5])
def test_inference_goes_on_with_the_likeliest_symbol(longest: int) -> None:
    embeddings = RANDOM.randn(SYMBOLS, 2).astype(np.float32)
    projection = RANDOM.randn(UNITS, SYMBOLS).astype(np.float32)
    start = RANDOM.rand(2, UNITS).astype(np.float32)
    cell = tf.nn.rnn_cell.BasicRNNCell(UNITS)
    decoder_fn = SEQ.simple_decoder_fn_inference(
        lambda output: tf.matmul(output, projection), tf.constant(start), tf.constant(embeddings),
        1, 99, longest, SYMBOLS,
    )  # fmt: skip
    outputs, _ = _inference(decoder_fn, cell)
    assert outputs.shape.as_list()[2] == SYMBOLS
    kernel, bias = tf.trainable_variables()
    found, kernel, bias = values(outputs, kernel, bias)

    state, symbols, expected = start, np.array([1, 1]), []
    for _ in range(longest + 1):
        state = np.tanh(np.concatenate([embeddings[symbols], state], 1) @ kernel + bias)
        expected.append(state @ projection)
        symbols = expected[-1].argmax(1)
    np.testing.assert_allclose(found, np.stack(expected, 1), rtol=1e-4, atol=1e-5)


def _attention(option: str, states: np.ndarray) -> Any:
    return SEQ.prepare_attention(tf.constant(states), option, UNITS)


@pytest.mark.parametrize("option", ["bahdanau", "luong"])
def test_attention_looks_up_the_states_of_the_encoder(option: str) -> None:
    states, query = (RANDOM.randn(*s).astype(np.float32) for s in ((2, 3, UNITS), (2, UNITS)))
    keys, kept, score, construct = _attention(option, states)
    by_name = {v.op.name: v for v in tf.trainable_variables()}
    context = score(tf.constant(query), keys, kept)
    attention = construct(tf.constant(query), keys, kept)
    by_name |= {v.op.name: v for v in tf.trainable_variables()}
    names = ["attention_keys/weights", "attention_construct/weights"]
    names += ["attention_score/attnW", "attention_score/attnV"] * (option == "bahdanau")
    assert sorted(by_name) == sorted(names)
    found, attended, *weights = values(context, attention, *(by_name[name] for name in names))
    projected = states @ weights[0]
    if option == "bahdanau":
        scores = np.tanh(projected + (query @ weights[2])[:, None]) @ weights[3]
    else:
        scores = (projected * query[:, None]).sum(-1)
    shares = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    expected = (shares[..., None] * states).sum(1)
    np.testing.assert_allclose(found, expected, rtol=1e-4)
    both = np.concatenate([query, expected], 1)
    np.testing.assert_allclose(attended, both @ weights[1], rtol=1e-3, atol=1e-5)


def test_decoders_with_attention() -> None:
    states = RANDOM.randn(2, 3, UNITS).astype(np.float32)
    parts = _attention("luong", states)
    zeros = tf.zeros([2, UNITS])
    state = tf.nn.rnn_cell.LSTMStateTuple(zeros, zeros)
    cell = tf.nn.rnn_cell.BasicLSTMCell(UNITS)
    inputs = tf.constant(RANDOM.randn(2, 4, 3).astype(np.float32))
    train = SEQ.attention_decoder_fn_train(state, *parts)
    with tf.variable_scope("d") as scope:
        lengths = tf.constant([4, 2])
        trained, _, _ = SEQ.dynamic_rnn_decoder(cell, train, inputs, lengths, scope=scope)
        scope.reuse_variables()
        greedy = SEQ.attention_decoder_fn_inference(
            lambda output: tf.pad(output, [[0, 0], [0, 1]]), state, *parts,
            tf.constant(RANDOM.randn(SYMBOLS, 3).astype(np.float32)), 0, 99, 3, SYMBOLS,
        )  # fmt: skip
        inferred, _, _ = SEQ.dynamic_rnn_decoder(cell, greedy, scope=scope)
    trained, inferred = values(trained, inferred)
    assert trained.shape == (2, 4, UNITS) and not trained[1, 2:].any() and trained[0].any()
    assert inferred.shape == (2, 4, SYMBOLS)
    with pytest.raises(ValueError, match="Unknown attention option other!"):
        _, kept, score, _ = SEQ.prepare_attention(tf.constant(states), "other", UNITS, reuse=True)
        score(zeros, kept, kept)
