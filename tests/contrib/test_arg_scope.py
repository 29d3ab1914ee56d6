"""Argument scopes and finding variables."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

framework = tf.contrib.framework


@framework.add_arg_scope
def first(*args, a=1, b=2, **kwargs):
    return args, {"a": a, "b": b, **kwargs}


@framework.add_arg_scope
def second(x=0):
    return x


def test_scopes_nest_and_calls_win() -> None:
    with framework.arg_scope([first], a=10):
        with framework.arg_scope([first, second], b=20, x=5) as inner:
            assert first(7) == ((7,), {"a": 10, "b": 20, "x": 5})
            assert first(a=0)[1]["a"] == 0
        assert first()[1] == {"a": 10, "b": 2}
        assert framework.current_arg_scope() != {}
    assert first()[1] == {"a": 1, "b": 2} and framework.current_arg_scope() == {}
    with framework.arg_scope(inner):
        assert first()[1]["b"] == 20


def test_what_can_be_scoped() -> None:
    assert framework.has_arg_scope(second) and not framework.has_arg_scope(len)
    assert framework.arg_scoped_arguments(second) == ("x",)
    with pytest.raises(ValueError, match="is not decorated with @add_arg_scope"):
        with framework.arg_scope([len], a=1):
            pass
    with pytest.raises(TypeError, match="list_ops_or_scope must either be a list"):
        with framework.arg_scope(second, a=1):
            pass
    with pytest.raises(ValueError, match="kwargs must be empty"):
        with framework.arg_scope({}, a=1):
            pass


def test_variables_by_scope_suffix_and_pattern() -> None:
    with tf.variable_scope("one"):
        a = framework.model_variable("a", [1])
        b = framework.variable("b", [1])
    with tf.variable_scope("two"):
        c = framework.model_variable("a", [2], initializer=tf.zeros_initializer())
    assert framework.get_variables("one") == [a, b]
    assert framework.get_model_variables() == [a, c]
    assert framework.get_variables_by_name("a") == [a, c]
    assert framework.get_variables_by_suffix("b") == [b]
    assert framework.get_unique_variable("two/a") is c
    assert framework.get_variables_to_restore(exclude=["one"]) == [c]
    assert framework.filter_variables([a, b, c], ["a"], ["two"]) == [a]
    with pytest.raises(ValueError, match="Couldn't find variable three"):
        framework.get_unique_variable("three")
    assign, feeds = framework.assign_from_values({"two/a": np.array([3.0, 4.0])})
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(assign, feeds)
        np.testing.assert_array_equal(session.run(c), [3, 4])


def test_from_a_checkpoint(tmp_path) -> None:
    v = framework.model_variable("v", [2], initializer=tf.ones_initializer())
    w = framework.model_variable("w", [2], initializer=tf.zeros_initializer())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver([v]).save(session, str(tmp_path / "model"))
        session.run(v.assign([5.0, 6.0]))
        framework.assign_from_checkpoint_fn(path, [v, w], ignore_missing_vars=True)(session)
        np.testing.assert_array_equal(session.run(v), [1, 1])
        assign, feeds = framework.assign_from_checkpoint(path, {"v": w})
        session.run(assign, feeds)
        np.testing.assert_array_equal(session.run(w), [1, 1])
        with pytest.raises(ValueError, match=r"Checkpoint is missing variable \[w\]"):
            framework.assign_from_checkpoint(path, [w])
    assert framework.list_variables(path) == [("v", [2])]
