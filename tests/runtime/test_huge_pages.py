"""Large variables in large pages: asked for once, and no harm done."""

import numpy as np

import weft as tf
from weft.runtime.devices import huge_pages


def test_a_large_table_is_moved_and_keeps_its_values(monkeypatch):
    asked = []
    monkeypatch.setattr(huge_pages, "_collapse", lambda: lambda *range_: asked.append(range_))
    rows = huge_pages.LARGE // (16 * 4)
    table = tf.get_variable("table", [rows, 16], initializer=tf.ones_initializer())
    small = tf.get_variable("small", [16], initializer=tf.ones_initializer(), trainable=False)
    at = tf.placeholder(tf.int32, [2])
    loss = tf.reduce_sum(tf.gather(table, at) * small)
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            sess.run(train, {at: [3, rows - 1]})
        value = sess.run(table)
    assert len(asked) <= 1  # once for the table, if the step was compiled at all
    for start, size in asked:
        assert start % 2**21 == 0 and 0 < size <= huge_pages.LARGE
    touched = np.zeros(rows, bool)
    touched[[3, rows - 1]] = True
    assert (value[~touched] == 1).all() and (value[touched] < 1).all()


def test_what_is_not_ours_or_small_is_left_alone(monkeypatch):
    asked = []
    monkeypatch.setattr(huge_pages, "_collapse", lambda: asked.append)
    huge_pages.use_huge_pages([None, np.zeros(huge_pages.LARGE, np.uint8)])
    assert not asked


def test_the_system_is_asked_for_what_lies_inside():
    import jax.numpy as jnp

    array = jnp.arange(huge_pages.LARGE // 4, dtype=np.int32)
    huge_pages.use_huge_pages([array])
    np.testing.assert_array_equal(array, np.arange(huge_pages.LARGE // 4, dtype=np.int32))
