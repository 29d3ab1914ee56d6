"""Sessions, traces and datasets as HTML."""

from __future__ import annotations

import numpy as np

import weft as tf


def test_a_session() -> None:
    with tf.Session() as session:
        shown = session._repr_html_()
        for text in ("this process", "0 operations", "device:CPU:0", "GiB"):
            assert text in shown
    assert "closed" in session._repr_html_() and "GiB" not in session._repr_html_()


def test_the_trace_of_a_step() -> None:
    metadata = tf.RunMetadata()
    assert "FULL_TRACE" in metadata._repr_html_()
    x = tf.placeholder(tf.float32, [3], name="x")
    y = tf.reduce_sum(tf.square(x), name="total")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as session:
        session.run(y, {x: np.ones(3)}, options=options, run_metadata=metadata)
    shown = metadata._repr_html_()
    assert shown.count("<rect") == len(metadata.step_stats.dev_stats[0].node_stats)
    assert "total = Sum(" in shown and "<svg" in shown


def test_the_first_elements_of_a_dataset() -> None:
    pairs = tf.data.Dataset.from_tensor_slices((np.arange(6), [b"a<b"] * 6)).batch(2)
    before = tf.get_default_graph().version
    shown = pairs._repr_html_()
    assert tf.get_default_graph().version == before
    for text in ("component 0", "component 1", "[0 1]", "[4 5]", "a&lt;b"):
        assert text in shown
    assert "no elements" in tf.data.Dataset.range(0)._repr_html_()
    fed = tf.data.Dataset.from_tensors(tf.placeholder(tf.float32, [2]))
    assert "cannot be shown: You must feed a value" in fed._repr_html_()
