"""A step that another, compiled one computes as well is not compiled again."""

import numpy as np
import pytest

import weft as tf
from weft.runtime import fewer_fetches
from weft.runtime.fewer_fetches import FewerFetches


@pytest.fixture
def model(monkeypatch, sess):
    monkeypatch.setattr(fewer_fetches, "LONG", 1e-9)
    x = tf.placeholder(tf.float32, [64, 64], name="x")
    v = tf.Variable(tf.ones([64, 64]))
    product = tf.matmul(x, v)
    loss = tf.reduce_sum(tf.square(product))
    exact = tf.check_numerics(loss, "not finite")
    train = v.assign_sub(1e-3 * tf.gradients(loss, v)[0]).op
    sess.run(v.initializer)
    return sess, {"x": x, "v": v, "product": product, "loss": loss, "exact": exact, "train": train}


def run(sess, model, names, times=4):
    fetches = [model[name] for name in names]
    return [sess.run(fetches, {model["x"]: np.eye(64)}) for _ in range(times)][-1]


def plans(sess):
    return [type(plan).__name__ for plan in sess._runner._plans.values()]


def test_a_part_of_a_compiled_step_runs_that(model):
    sess, m = model
    first = run(sess, m, ["train", "loss"])
    assert run(sess, m, ["train"], times=1) == [None]
    assert run(sess, m, ["loss", "train"])[0] < first[1]
    assert isinstance(list(sess._runner._plans.values())[-2], FewerFetches)
    assert run(sess, m, ["v"])[0][0, 0] == pytest.approx(0.998**9)


@pytest.mark.parametrize(
    ("whole", "part"),
    [
        (["train", "product"], ["train"]),  # a large fetch for nothing
        (["train", "loss"], ["loss"]),  # it would train
        (["loss"], ["loss", "product"]),  # more, not fewer
        (["train", "exact"], ["train"]),  # it may fail
    ],
)
def test_others_have_a_plan_of_their_own(model, whole, part):
    sess, m = model
    run(sess, m, whole)
    run(sess, m, part)
    assert "FewerFetches" not in plans(sess)


def test_what_only_the_larger_step_computes_is_not_computed(model):
    sess, m = model
    calls = []
    seen = tf.py_func(lambda: calls.append(1) or np.float32(1), [], tf.float32)
    seen.set_shape([])
    m["seen"] = seen
    run(sess, m, ["train", "seen"])
    before = len(calls)
    run(sess, m, ["train"])
    assert len(calls) == before
    assert "FewerFetches" not in plans(sess)


def test_errors_of_a_part_name_what_was_asked_for(model):
    sess, m = model
    w = tf.Variable(1.0, name="w")
    m["w"], m["two"] = w, tf.constant(2.0) * tf.reduce_sum(w * m["x"])
    sess.run(w.initializer)
    run(sess, m, ["train", "w", "two"])
    run(sess, m, ["train", "two"], times=1)
    assert "FewerFetches" in plans(sess)
    with pytest.raises(tf.errors.InvalidArgumentError, match="x"):
        sess.run([m["train"], m["two"]])
