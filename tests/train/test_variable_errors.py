"""Errors about variables say which: at a restore that does not fit, and before initialization."""

import pytest

import weft as tf


def test_a_restore_that_does_not_fit_lists_every_variable(tmp_path):
    prefix = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        for name, shape in (("a", [2, 3]), ("b", [4]), ("c", [4])):
            tf.get_variable(name, shape)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, prefix)
    for name, shape in (("a", [3, 2]), ("b", [5]), ("c", [4])):
        tf.get_variable(name, shape)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.train.Saver().restore(session, prefix)
    assert caught.value.message.endswith(
        "Variables with other shapes:\n"
        "  a: (3, 2) in the graph, (2, 3) in the checkpoint\n"
        "  b: (5,) in the graph, (4,) in the checkpoint"
    )


def test_reading_too_early_names_the_read():
    v = tf.get_variable("v", [3, 2], use_resource=False)
    cases = [
        (v * 2.0, "v/read"),
        (tf.matmul(v * 1.0, tf.ones([2, 2])), "v/read"),
        (tf.nn.embedding_lookup(v, [0]), "v/read"),
        (tf.assign_add(v, tf.ones([3, 2])), "AssignAdd"),
    ]
    with tf.Session() as session:
        for fetch, node in cases:
            with pytest.raises(tf.errors.FailedPreconditionError) as caught:
                session.run(fetch)
            assert caught.value.op.name == node
            assert caught.value.message.startswith("Attempting to use uninitialized value v\n")
            assert f"[[node {node} " in caught.value.message
