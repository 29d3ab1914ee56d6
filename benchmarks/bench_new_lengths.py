"""How long does a training step of two LSTMs take, when each step brings sequences of new lengths?

One reads, the other writes and looks back, as translators do; batches are as long as their longest.
"""

import statistics
import time
from typing import Any

import numpy as np
from common import arguments, load, report
from recurrent import lstm_cell

WORDS, UNITS, BATCH, SHORTEST, LONGEST = 200, 64, 16, 5, 40
FIRST, STEPS = 250, 100  # steps that are not counted, and those that are


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    loss, train, fed = model(tf, impl)
    random, times = np.random.RandomState(0), []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        losses = []
        for _ in range(FIRST + STEPS):
            feeds = dict(zip(fed, batch(random), strict=True))
            began = time.perf_counter()
            losses.append(float(session.run([loss, train], feeds)[0]))
            times.append(time.perf_counter() - began)
    assert losses[-1] < losses[0], "it does not learn"
    seconds, first = statistics.median(times[FIRST:]), sum(times[:FIRST])
    report("new_lengths", impl, seconds, first_steps=first, loss_after=losses[-1])


def batch(random: Any) -> tuple[Any, ...]:
    """Two batches of sentences, and how long each sentence is."""
    sizes = random.randint(SHORTEST, LONGEST, 2)
    lengths = [np.append(random.randint(1, size + 1, BATCH - 1), size) for size in sizes]
    return *(random.randint(0, WORDS, (BATCH, size)) for size in sizes), *lengths


def model(tf: Any, impl: str) -> tuple[Any, Any, tuple[Any, ...]]:
    """(loss, train, what is fed)."""
    read, wanted = (tf.placeholder(tf.int32, [None, None]) for _ in range(2))
    lengths = [tf.placeholder(tf.int32, [None]) for _ in range(2)]
    table = tf.get_variable("table", [WORDS, UNITS])
    found, state = run(tf, impl, "reader", table, read, lengths[0], None)
    said, _ = run(tf, impl, "writer", table, wanted, lengths[1], state)
    weights = tf.nn.softmax(tf.matmul(said, found, transpose_b=True))
    both = tf.concat([said, tf.matmul(weights, found)], -1)
    logits = tf.tensordot(both, tf.get_variable("out", [2 * UNITS, WORDS]), 1)
    counts = tf.sequence_mask(lengths[1], dtype=tf.float32)
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=wanted, logits=logits)
    loss = tf.reduce_sum(each * counts) / tf.reduce_sum(counts)
    optimizer = tf.train.AdamOptimizer(1e-3)
    gradients, variables = zip(*optimizer.compute_gradients(loss), strict=True)
    clipped, _ = tf.clip_by_global_norm(gradients, 5.0)
    train = optimizer.apply_gradients(list(zip(clipped, variables, strict=True)))
    return loss, train, (read, wanted, *lengths)


def run(
    tf: Any, impl: str, name: str, table: Any, words: Any, lengths: Any, state: Any
) -> tuple[Any, Any]:
    """What an LSTM makes of sentences, from `state` on."""
    with tf.variable_scope(name):
        cell, rows = lstm_cell(tf, impl, UNITS), tf.nn.embedding_lookup(table, words)
        state = cell.zero_state(tf.shape(words)[0], tf.float32) if state is None else state
        found: tuple[Any, Any] = tf.nn.dynamic_rnn(cell, rows, lengths, initial_state=state)
        return found


if __name__ == "__main__":
    main()
