"""How long does greedy decoding take: LSTM 256, 2,000 words, batch of 32, 50 steps?"""

from typing import Any

import numpy as np
from common import arguments, load, median_call, report
from recurrent import lstm_cell

UNITS, WORDS, BATCH, LONGEST, END = 256, 2_000, 32, 50, 1


def decoder(tf: Any, impl: str, start: Any) -> Any:
    """(logits, words) of a sequence per entry of `start`, which begins with that word."""
    random = np.random.default_rng(0)

    def variable(name: str, *shape: int) -> Any:
        values = (random.standard_normal(shape) * 0.05).astype(np.float32)
        return tf.get_variable(name, initializer=values)

    embedding, out = variable("embedding", WORDS, UNITS), variable("out", UNITS, WORDS)
    # One sequence at least goes on to the end: the end is never the likeliest word.
    unlikely = -10.0 * np.eye(WORDS, dtype=np.float32)[END]
    cell = lstm_cell(tf, impl, UNITS)
    state = cell.zero_state(BATCH, tf.float32)
    if impl == "weft":
        return _dynamic_decode(tf, cell, state, embedding, out, unlikely, start)
    return _loop(tf, cell, state, embedding, out, unlikely, start)


def _dynamic_decode(
    tf: Any, cell: Any, state: Any, embedding: Any, out: Any, unlikely: Any, start: Any
) -> Any:
    seq2seq = tf.contrib.seq2seq

    class Output(tf.layers.Layer):  # type: ignore[misc, name-defined]
        def compute_output_shape(self, shape: Any) -> Any:
            return tf.TensorShape(shape)[:-1].concatenate(WORDS)

        def call(self, inputs: Any) -> Any:
            return tf.matmul(inputs, out) + unlikely

    helper = seq2seq.GreedyEmbeddingHelper(embedding, start, END)
    decoder = seq2seq.BasicDecoder(cell, helper, state, output_layer=Output())
    made, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=LONGEST)
    return made.rnn_output, made.sample_id


def _loop(
    tf: Any, cell: Any, state: Any, embedding: Any, out: Any, unlikely: Any, start: Any
) -> Any:
    """The nodes that `dynamic_decode` makes, for TensorFlow 2.21, which does not have it."""
    first = tf.nn.embedding_lookup(embedding, start)
    arrays = [
        tf.TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape)
        for dtype, shape in ((tf.float32, [BATCH, WORDS]), (tf.int32, [BATCH]))
    ]
    finished = tf.zeros([BATCH], tf.bool)
    lengths = tf.zeros([BATCH], tf.int32)

    def body(
        time: Any, logits: Any, ids: Any, state: Any, inputs: Any, finished: Any, lengths: Any
    ) -> Any:
        output, state = cell(inputs, state)
        output = tf.matmul(output, out) + unlikely
        chosen = tf.argmax(output, axis=-1, output_type=tf.int32)
        done = tf.equal(chosen, END)
        following = tf.cond(
            tf.reduce_all(done), lambda: first, lambda: tf.nn.embedding_lookup(embedding, chosen)
        )
        now = tf.fill(tf.shape(lengths), time + 1)
        lengths = tf.where(tf.logical_not(finished), now, lengths)
        logits, ids = logits.write(time, output), ids.write(time, chosen)
        return time + 1, logits, ids, state, following, tf.logical_or(done, finished), lengths

    _, logits, ids, *_ = tf.while_loop(
        lambda *args: tf.logical_not(tf.reduce_all(args[5])),
        body,
        (0, *arrays, state, first, finished, lengths),
        parallel_iterations=32,
        maximum_iterations=LONGEST,
    )
    return tf.transpose(logits.stack(), [1, 0, 2]), tf.transpose(ids.stack())


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    start = tf.placeholder(tf.int32, [BATCH])
    logits, words = decoder(tf, impl, start)
    fed = np.arange(2, 2 + BATCH, dtype=np.int32)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(logits, {start: fed}).shape == (BATCH, LONGEST, WORDS)
        run = session.make_callable(words, [start])
        assert run(fed).shape == (BATCH, LONGEST)
        seconds = median_call(lambda: run(fed), samples=7, first=3)
    report("decode", impl, seconds)


if __name__ == "__main__":
    main()
