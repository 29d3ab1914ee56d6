"""Decoders, attention, beam search and the losses of sequences."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

seq2seq, rnn, legacy = tf.contrib.seq2seq, tf.contrib.rnn, tf.contrib.legacy_seq2seq
BATCH, TIME, UNITS, WORDS = 3, 5, 4, 6


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def run(fetches, feeds=None):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feeds)


def memory():
    return np.random.RandomState(0).randn(BATCH, TIME, UNITS).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# ---- attention --------------------------------------------------------------------------------


def aligned(mechanism):
    query = np.random.RandomState(1).randn(BATCH, UNITS).astype(np.float32)
    start = mechanism.initial_alignments(BATCH, tf.float32)
    alignments, _ = mechanism(tf.constant(query), start)
    values = {v.op.name.split("/")[-2] + "/" + v.op.name.split("/")[-1]: v
              for v in tf.global_variables()}  # fmt: skip
    return (query, *run((mechanism.keys, alignments, values)))


def test_luong_attention() -> None:
    mechanism = seq2seq.LuongAttention(UNITS, memory(), memory_sequence_length=[5, 2, 3])
    query, keys, alignments, _ = aligned(mechanism)
    scores = np.einsum("bu,btu->bt", query, keys)
    scores[1, 2:] = scores[2, 3:] = -np.inf
    np.testing.assert_allclose(alignments, softmax(scores), rtol=1e-5)
    assert [v.op.name for v in tf.global_variables()] == ["memory_layer/kernel"]


def test_bahdanau_attention() -> None:
    mechanism = seq2seq.BahdanauAttention(UNITS, memory())
    query, keys, alignments, v = aligned(mechanism)
    processed = query @ v["query_layer/kernel"]
    scores = (v["bahdanau_attention/attention_v"] * np.tanh(keys + processed[:, None])).sum(2)
    np.testing.assert_allclose(alignments, softmax(scores), rtol=1e-5)


@pytest.mark.parametrize("mode", ["recursive", "parallel"])
def test_monotonic_attention_modes_agree(mode) -> None:
    random = np.random.RandomState(0)
    p = random.rand(2, 4).astype(np.float32)
    previous = softmax(random.randn(2, 4)).astype(np.float32)
    expected = np.zeros_like(p)
    for b in range(2):
        reached = 0.0
        for t in range(4):
            reached = (reached * (1 - p[b, t - 1]) if t else 0.0) + previous[b, t]
            expected[b, t] = p[b, t] * reached
    got = run(seq2seq.monotonic_attention(p, previous, mode))
    np.testing.assert_allclose(got, expected, rtol=1e-4)


def test_hardmax() -> None:
    np.testing.assert_array_equal(run(seq2seq.hardmax([[1.0, 3.0, 2.0]])), [[0, 1, 0]])


def attention_cell(batch_of_memory=None, **kwargs):
    memory_ = tf.constant(memory()) if batch_of_memory is None else batch_of_memory
    mechanism = seq2seq.LuongAttention(UNITS, memory_)
    return seq2seq.AttentionWrapper(
        rnn.BasicLSTMCell(UNITS), mechanism, attention_layer_size=3, **kwargs
    )


def test_attention_wrapper_sees_what_it_attended_to() -> None:
    cell = attention_cell(alignment_history=True)
    outputs, state = tf.nn.dynamic_rnn(cell, memory(), dtype=tf.float32)
    outputs, attention, time, history = run(
        (outputs, state.attention, state.time, state.alignment_history.stack())
    )
    assert outputs.shape == (BATCH, TIME, 3)
    np.testing.assert_allclose(outputs[:, -1], attention)
    assert time == TIME
    np.testing.assert_allclose(history.sum(2), np.ones((TIME, BATCH)), rtol=1e-5)
    assert [v.op.name for v in tf.trainable_variables()] == [
        "memory_layer/kernel",
        "rnn/attention_wrapper/basic_lstm_cell/kernel",
        "rnn/attention_wrapper/basic_lstm_cell/bias",
        "rnn/attention_wrapper/attention_layer/kernel",
    ]


def test_attention_state_clone_checks_shapes() -> None:
    state = attention_cell().zero_state(BATCH, tf.float32)
    other = state.clone(attention=tf.ones([BATCH, 3]))
    assert other.cell_state is state.cell_state or other.cell_state == state.cell_state
    with pytest.raises(ValueError):
        state.clone(attention=tf.ones([BATCH, 4]))


# ---- decoding ---------------------------------------------------------------------------------


def test_training_decoder_is_a_dynamic_rnn() -> None:
    x, lengths = memory(), [5, 2, 3]
    with tf.variable_scope("same", initializer=tf.constant_initializer(0.2)):
        cell = rnn.BasicLSTMCell(UNITS)
        decoder = seq2seq.BasicDecoder(
            cell, seq2seq.TrainingHelper(x, lengths), cell.zero_state(BATCH, tf.float32)
        )
        decoded, state, found = seq2seq.dynamic_decode(decoder, impute_finished=True)
        outputs, final = tf.nn.dynamic_rnn(rnn.BasicLSTMCell(UNITS), x, lengths, dtype=tf.float32)
    a, ids, b, s, t, found = run(
        (decoded.rnn_output, decoded.sample_id, outputs, state, final, found)
    )
    np.testing.assert_allclose(a, b, rtol=1e-5)
    np.testing.assert_allclose(s.c, t.c, rtol=1e-5)
    np.testing.assert_array_equal(found, lengths)
    np.testing.assert_array_equal(ids[0], a[0].argmax(-1))


def test_training_learns() -> None:
    targets = tf.constant(np.random.RandomState(0).randint(0, WORDS, (BATCH, TIME)))
    table = tf.get_variable("table", [WORDS, UNITS])
    cell = attention_cell()
    decoder = seq2seq.BasicDecoder(
        cell,
        seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, targets), [5, 4, 3]),
        cell.zero_state(BATCH, tf.float32),
        tf.layers.Dense(WORDS),
    )
    outputs, _, _ = seq2seq.dynamic_decode(decoder)
    weights = tf.sequence_mask([5, 4, 3], TIME, dtype=tf.float32)
    loss = seq2seq.sequence_loss(outputs.rnn_output, targets, weights)
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train])[0] for _ in range(8)]
    assert losses[-1] < 0.8 * losses[0]


def greedy_parts():
    table = tf.get_variable("table", [WORDS, UNITS], initializer=tf.random_normal_initializer())
    return table, rnn.GRUCell(UNITS), tf.layers.Dense(WORDS, use_bias=False)


def test_greedy_decoding_feeds_what_it_said() -> None:
    table, cell, layer = greedy_parts()
    helper = seq2seq.GreedyEmbeddingHelper(table, tf.fill([BATCH], 1), end_token=0)
    start = tf.constant(memory()[:, 0])
    decoder = seq2seq.BasicDecoder(cell, helper, start, layer)
    outputs, _, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=6)
    x, state, said = tf.nn.embedding_lookup(table, tf.fill([BATCH], 1)), start, []
    with tf.variable_scope("decoder", reuse=True):
        for _ in range(6):
            output, state = cell(x, state)
            said.append(tf.argmax(layer(output), -1, output_type=tf.int32))
            x = tf.nn.embedding_lookup(table, said[-1])
    ids, lengths, said = run((outputs.sample_id, lengths, tf.stack(said, 1)))
    for row, length, expected in zip(ids, lengths, said, strict=True):
        np.testing.assert_array_equal(row[:length], expected[:length])
        assert length == 6 or expected[length - 1] == 0


def test_sampling_helpers() -> None:
    table, cell, layer = greedy_parts()
    helper = seq2seq.SampleEmbeddingHelper(table, [1, 1, 1], 0, softmax_temperature=2.0, seed=3)
    decoder = seq2seq.BasicDecoder(cell, helper, tf.zeros([BATCH, UNITS]), layer)
    outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=4)
    ids = run(outputs.sample_id)
    assert ids.shape[0] == BATCH
    assert ((ids >= 0) & (ids < WORDS)).all()


@pytest.mark.parametrize("probability", [0.0, 1.0])
def test_scheduled_embedding(probability) -> None:
    table, cell, layer = greedy_parts()
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(memory(), [5, 5, 5], table, probability)
    decoder = seq2seq.BasicDecoder(cell, helper, tf.zeros([BATCH, UNITS]), layer)
    ids = run(seq2seq.dynamic_decode(decoder)[0].sample_id)
    assert ((ids == -1) if probability == 0 else (ids >= 0)).all()


@pytest.mark.parametrize("next_inputs_fn", [None, lambda x: 2 * x])
def test_scheduled_output(next_inputs_fn) -> None:
    cell = rnn.GRUCell(UNITS)
    helper = seq2seq.ScheduledOutputTrainingHelper(
        memory(), [5, 4, 3], 0.5, seed=1, next_inputs_fn=next_inputs_fn
    )
    decoder = seq2seq.BasicDecoder(cell, helper, tf.zeros([BATCH, UNITS]))
    outputs, _, lengths = seq2seq.dynamic_decode(decoder)
    outputs, lengths = run((outputs, lengths))
    assert outputs.rnn_output.shape == (BATCH, 5, UNITS)
    assert set(np.unique(outputs.sample_id)) <= {0, 1}
    np.testing.assert_array_equal(lengths, [5, 4, 3])


def test_inference_and_custom_helpers() -> None:
    cell = rnn.GRUCell(UNITS)
    start = tf.ones([BATCH, UNITS])
    inference = seq2seq.InferenceHelper(
        lambda outputs: outputs, [UNITS], tf.float32, start, lambda ids: tf.fill([BATCH], False)
    )
    custom = seq2seq.CustomHelper(
        lambda: (tf.fill([BATCH], False), start),
        lambda time, outputs, state: outputs,
        lambda time, outputs, state, sample_ids: (tf.fill([BATCH], False), outputs, state),
        sample_ids_shape=[UNITS],
        sample_ids_dtype=tf.float32,
    )
    results = []
    for helper in (inference, custom):
        with tf.variable_scope("same", reuse=tf.AUTO_REUSE):
            decoder = seq2seq.BasicDecoder(cell, helper, tf.zeros([BATCH, UNITS]))
            outputs, _, _ = seq2seq.dynamic_decode(
                decoder, maximum_iterations=3, scope="d", output_time_major=True
            )
        results.append(outputs.rnn_output)
    a, b = run(results)
    assert a.shape == (3, BATCH, UNITS)
    np.testing.assert_allclose(a, b)


# ---- beam search ------------------------------------------------------------------------------


def test_tile_batch() -> None:
    tiled = seq2seq.tile_batch((tf.constant([[1, 2], [3, 4]]), tf.constant([5, 6])), 2)
    a, b = run(tiled)
    np.testing.assert_array_equal(a, [[1, 2], [1, 2], [3, 4], [3, 4]])
    np.testing.assert_array_equal(b, [5, 5, 6, 6])


def test_gather_tree() -> None:
    ids = np.transpose([[[1, 2, 3], [4, 5, 6], [7, 8, 9], [-1, -1, -1]]], (1, 0, 2))
    parents = np.transpose([[[0, 0, 0], [0, 1, 1], [2, 1, 2], [-1, -1, -1]]], (1, 0, 2))
    fed = [tf.placeholder(tf.int32, [4, 1, 3]) for _ in range(2)]
    beams = seq2seq.gather_tree(*fed, max_sequence_lengths=[3], end_token=10)
    expected = np.transpose([[[2, 2, 2], [6, 5, 6], [7, 8, 9], [10, 10, 10]]], (1, 0, 2))
    feeds = dict(zip(fed, (ids, parents), strict=True))
    np.testing.assert_array_equal(run(beams, feeds), expected)
    parents[1] = -1
    with pytest.raises(tf.errors.InvalidArgumentError, match="invalid parent id -1"):
        run(beams, feeds)


def test_what_gather_tree_refuses_of_shapes_known_late() -> None:
    fits = [np.ones((2, 1, 2), np.int32), np.zeros((2, 1, 2), np.int32), np.array([2]), 9]
    fed = [tf.placeholder(tf.int32) for _ in fits]
    beams = seq2seq.gather_tree(*fed)
    with tf.Session() as session:
        for place, wrong, text in (
            (0, [[1]], "step_ids must be a 3-tensor, saw shape: [1,1]"),
            (1, np.zeros((2, 2, 2)), "but shapes are: [2,1,2] and [2,2,2]"),
            (2, 2, "max_sequence_lengths must be a vector, saw shape: []"),
            (2, [2, 2], "must match.  but shapes are: [2,1,2] and [2]"),
            (3, [9], "end_token must be a scalar, saw shape: [1]"),
        ):
            given = [wrong if i == place else value for i, value in enumerate(fits)]
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(beams, dict(zip(fed, given, strict=True)))
            assert text in str(caught.value)


def test_parents_that_no_beam_follows_may_be_anything() -> None:
    ids, parents = [[[1, 2]], [[3, 4]], [[5, 6]]], [[[0, 0]], [[-7, 1]], [[1, 1]]]
    beams = seq2seq.gather_tree(ids, parents, [3], 9)
    np.testing.assert_array_equal(run(beams), [[[2, 2]], [[4, 4]], [[5, 6]]])


def test_hardmax_of_an_unknown_rank() -> None:
    logits = tf.placeholder(tf.float32)
    found = run(seq2seq.hardmax(logits), {logits: [[1, 3, 2], [4, 0, 1]]})
    np.testing.assert_array_equal(found, [[0, 1, 0], [1, 0, 0]])


def all_sequences(table, kernel, projection, steps, end):
    """Log-probability of every word sequence of a cell without memory."""
    scores = {(): 0.0}
    finished = {}
    for _ in range(steps):
        following = {}
        for words, score in scores.items():
            last = table[words[-1]] if words else table[1]
            logits = np.tanh(last @ kernel) @ projection
            logs = logits - np.log(np.exp(logits).sum())
            for word, log in enumerate(logs):
                where = finished if word == end else following
                where[(*words, word)] = score + log
        scores = following
    return finished | scores


class Memoryless(rnn.RNNCell):
    """A cell whose output depends on its input alone."""

    state_size = output_size = UNITS

    def call(self, inputs, state):
        kernel = tf.get_variable("kernel", [UNITS, UNITS])
        return tf.tanh(tf.matmul(inputs, kernel)), state


def test_beam_search_finds_the_best() -> None:
    words, steps, width = 3, 3, 9
    table = tf.get_variable("table", [words, UNITS], initializer=tf.random_normal_initializer())
    layer = tf.layers.Dense(words, use_bias=False)
    decoder = seq2seq.BeamSearchDecoder(
        Memoryless(), table, [1], 2, tf.zeros([width, UNITS]), width, layer
    )
    outputs, state, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=steps)
    found = run((outputs.predicted_ids, state.log_probs, table, tf.global_variables()[1:]))
    ids, log_probs, values, (kernel, projection) = found
    scored = all_sequences(values, kernel, projection, steps, 2)
    best = sorted(scored.values(), reverse=True)[:width]
    np.testing.assert_allclose(log_probs[0], best, rtol=1e-4)
    top = max(scored, key=scored.get)
    assert tuple(ids[0, : len(top), 0]) == top


def test_beam_search_with_attention() -> None:
    width = 2
    table, _, layer = greedy_parts()
    tiled = seq2seq.tile_batch(tf.constant(memory()), width)
    cell = attention_cell(tiled, alignment_history=True)
    decoder = seq2seq.BeamSearchDecoder(
        cell, table, [1] * BATCH, 0, cell.zero_state(BATCH * width, tf.float32), width, layer,
        length_penalty_weight=0.6, coverage_penalty_weight=0.1,
    )  # fmt: skip
    outputs, state, lengths = seq2seq.dynamic_decode(decoder, maximum_iterations=4)
    # Elements of a known shape are left as they are, in an array, as TensorFlow 1.15 does.
    history = state.cell_state.alignment_history.stack()
    ids, history, lengths = run((outputs.predicted_ids, history, lengths))
    assert ids.shape == (BATCH, lengths.max(), width)
    assert history.shape == (lengths.max(), BATCH * width, TIME)


# ---- losses and unrolled models ---------------------------------------------------------------


def test_sequence_loss() -> None:
    random = np.random.RandomState(0)
    logits = random.randn(2, 3, 4).astype(np.float32)
    targets = random.randint(0, 4, (2, 3))
    weights = np.array([[1, 1, 0], [2, 0, 0]], np.float32)
    entropy = -np.log(np.take_along_axis(softmax(logits), targets[..., None], 2))[..., 0]
    weighted = entropy * weights
    args = [tf.constant(logits), tf.constant(targets), tf.constant(weights)]
    got = run(
        [
            seq2seq.sequence_loss(*args),
            seq2seq.sequence_loss(*args, average_across_timesteps=False),
            seq2seq.sequence_loss(*args, average_across_batch=False),
            seq2seq.sequence_loss(
                *args, average_across_timesteps=False, average_across_batch=False,
                sum_over_timesteps=True, sum_over_batch=True,
            ),
        ]
    )  # fmt: skip
    np.testing.assert_allclose(got[0], weighted.sum() / 4, rtol=1e-5)
    over_batch = weighted.sum(0) / np.where(weights.sum(0), weights.sum(0), 1)
    np.testing.assert_allclose(got[1], over_batch, rtol=1e-5)
    np.testing.assert_allclose(got[2], weighted.sum(1) / weights.sum(1), rtol=1e-5)
    np.testing.assert_allclose(got[3], weighted.sum() / 3, rtol=1e-5)


def test_legacy_loss() -> None:
    logits = [tf.constant(memory()[:, t]) for t in range(2)]
    targets = [tf.constant([0, 1, 2]), tf.constant([3, 0, 1])]
    weights = [tf.ones([3]), tf.constant([1.0, 0.0, 1.0])]
    by_example = legacy.sequence_loss_by_example(logits, targets, weights)
    total = legacy.sequence_loss(logits, targets, weights)
    by_example, total = run((by_example, total))
    assert by_example.shape == (3,)
    np.testing.assert_allclose(total, by_example.mean(), rtol=1e-6)


def symbols(count):
    return [tf.constant([1, 2], tf.int32) for _ in range(count)]


@pytest.mark.parametrize("feed_previous", [True, False, "tensor"])
def test_legacy_models(feed_previous) -> None:
    if feed_previous == "tensor":
        feed_previous = tf.constant(True)
    outputs, _state = legacy.embedding_rnn_seq2seq(
        symbols(2), symbols(3), rnn.GRUCell(4), 5, 6, 3, feed_previous=feed_previous
    )
    attending, _ = legacy.embedding_attention_seq2seq(
        symbols(2), symbols(3), rnn.BasicLSTMCell(4), 5, 6, 3, feed_previous=feed_previous,
        num_heads=2,
    )  # fmt: skip
    tied, _ = legacy.embedding_tied_rnn_seq2seq(
        symbols(2), symbols(3), rnn.GRUCell(4), 6, 3, feed_previous=feed_previous
    )
    for made in run((outputs, attending, tied)):
        assert [each.shape for each in made] == [(2, 6)] * 3


def test_buckets_share_variables() -> None:
    def model(encoder, decoder):
        return legacy.embedding_rnn_seq2seq(encoder, decoder, rnn.GRUCell(4), 5, 6, 3)

    weights = [tf.ones([2]) for _ in range(4)]
    with tf.variable_scope("model"):
        outputs, losses = legacy.model_with_buckets(
            symbols(3), symbols(4), symbols(4), weights, [(2, 2), (3, 4)], model
        )
    assert [len(made) for made in outputs] == [2, 4]
    count = len(tf.trainable_variables())
    with tf.variable_scope("other"):
        model(symbols(3), symbols(4))
    assert len(tf.trainable_variables()) == 2 * count
    assert np.isfinite(run(losses)).all()
