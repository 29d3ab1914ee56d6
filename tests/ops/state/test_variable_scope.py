"""get_variable, variable scopes, partitioned variables, creators and templates."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft as tf
from weft.ops.state.resource_variable import ResourceVariable

# ---- names and sharing ----


def test_scopes_prefix_names():
    with tf.variable_scope("a") as a:
        v = tf.get_variable("v", [2])
        with tf.variable_scope("b"):
            w = tf.get_variable("w", [])
            assert tf.get_variable_scope().name == "a/b"
    assert (v.name, w.name, a.name) == ("a/v:0", "a/b/w:0", "a")
    assert a.original_name_scope == "a/"
    assert a.global_variables() == [v, w] and a.trainable_variables() == [v, w]


def test_reuse():
    with tf.variable_scope("a") as scope:
        v = tf.get_variable("v", [2])
        with pytest.raises(ValueError, match=r"Variable a/v already exists, disallowed\."):
            tf.get_variable("v", [2])
    with tf.variable_scope("a", reuse=True):
        assert tf.get_variable("v") is v
        with pytest.raises(ValueError, match="Variable a/w does not exist"):
            tf.get_variable("w", [2])
        with pytest.raises(ValueError, match=r"specified shape \(3,\) and found shape \(2,\)"):
            tf.get_variable("v", [3])
        with pytest.raises(ValueError, match="specified dtype int32 and found dtype float32"):
            tf.get_variable("v", [2], dtype=tf.int32)
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        assert tf.get_variable("v", [2]) is v
        assert tf.get_variable("w", [2]).name == "a/w:0"
    with tf.variable_scope("a"):
        tf.get_variable_scope().reuse_variables()
        assert tf.get_variable("v", [2]) is v
    assert not scope.reuse


def test_the_error_tells_where_the_variable_was_made():
    tf.get_variable("v", [2])
    with pytest.raises(ValueError, match=r"test_variable_scope\.py"):
        tf.get_variable("v", [2])


def test_inner_scopes_cannot_stop_reuse():
    with tf.variable_scope("a", reuse=True), tf.variable_scope("b", reuse=False) as inner:
        assert inner.reuse is True


def test_name_scopes_are_unique_and_variable_scopes_are_not():
    with tf.variable_scope("a"):
        first = tf.constant(0)
    with tf.variable_scope("a"):
        second = tf.constant(0)
        v = tf.get_variable("v", [])
    assert (first.name, second.name, v.name) == ("a/Const:0", "a_1/Const:0", "a/v:0")


def test_default_names_are_unique():
    names = []
    for _ in range(3):
        with tf.variable_scope(None, "d"):
            names.append(tf.get_variable("v", []).name)
    assert names == ["d/v:0", "d_1/v:0", "d_2/v:0"]


def test_reopening_a_scope_keeps_its_name():
    with tf.variable_scope("a") as a:
        pass
    with tf.variable_scope("b"), tf.variable_scope(a):
        v = tf.get_variable("v", [])
        c = tf.constant(0)
    assert (v.name, c.name) == ("a/v:0", "b/a/Const:0")


def test_a_scope_object_can_be_entered_twice():
    scope = tf.variable_scope("a")
    with scope:
        tf.get_variable("v", [])
    with scope as opened:
        opened.reuse_variables()
        assert tf.get_variable("v", []).name == "a/v:0"
        assert tf.constant(0).name == "a_1/Const:0"


def test_no_auxiliary_name_scope():
    with tf.name_scope("n"), tf.variable_scope("a", auxiliary_name_scope=False):
        assert tf.constant(0).name == "n/Const:0"
        assert tf.get_variable("v", []).name == "a/v:0"


def test_scopes_belong_to_their_graph_and_thread():
    seen = []
    with tf.variable_scope("a"):
        with tf.Graph().as_default():
            seen.append(tf.get_variable("v", []).name)
        graph = tf.get_default_graph()

        def other() -> None:
            with graph.as_default():
                seen.append(tf.get_variable("w", []).name)

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == ["v:0", "w:0"]


def test_wrong_scopes():
    with pytest.raises(TypeError, match="name_or_scope is required"):
        tf.variable_scope(None)
    with pytest.raises(ValueError, match="reuse parameter must be"):
        tf.variable_scope("a", reuse="yes")
    with pytest.raises(ValueError, match="cannot be used without a name_or_scope"):
        tf.variable_scope(None, "a", reuse=True).__enter__()
    outer = tf.variable_scope("a")
    outer.__enter__()
    with tf.variable_scope("b"):
        with pytest.raises(RuntimeError, match="Improper nesting"):
            outer.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    assert tf.get_variable_scope().name == ""


# ---- what a scope sets ----


def test_settings_are_inherited(sess):
    scale = tf.constant_initializer(3.0)
    with tf.variable_scope("a", initializer=scale, dtype=tf.float64, use_resource=True):
        with tf.variable_scope("b"):
            v = tf.get_variable("v", [2])
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), dtype=tf.float32)
    assert isinstance(v, ResourceVariable) and v.dtype == tf.float64
    sess.run(tf.global_variables_initializer())
    assert sess.run(v).tolist() == [3, 3] and sess.run(w).tolist() == [1, 1]


def test_regularizers_make_losses():
    with tf.variable_scope("a", regularizer=lambda x: tf.reduce_sum(x)):
        tf.get_variable("v", [2])
        tf.get_variable("w", [2], regularizer=tf.no_regularizer)
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.op.name for loss in losses] == ["a/v/Regularizer/Sum"]


def test_initializers_of_all_forms(sess):
    value = tf.get_variable("value", initializer=tf.constant([1, 2]))
    number = tf.get_variable("number", initializer=4.5)
    made = tf.get_variable("made", initializer=lambda: tf.ones([2, 2]))
    kind = tf.get_variable("kind", [2], initializer=tf.zeros_initializer)
    sess.run(tf.global_variables_initializer())
    found = sess.run([value, number, made, kind])
    assert [np.asarray(f).tolist() for f in found] == [[1, 2], 4.5, [[1, 1]] * 2, [0, 0]]
    with pytest.raises(ValueError, match="do not specify shape"):
        tf.get_variable("bad", [2], initializer=tf.constant([1, 2]))
    with pytest.raises(ValueError, match="don't match"):
        tf.get_variable("bad", initializer=tf.constant([1, 2]), dtype=tf.float32)
    with pytest.raises(ValueError, match="The initializer passed is not valid"):
        tf.get_variable("bad", initializer=tf.zeros_initializer())
    with pytest.raises(ValueError, match="is required"):
        tf.get_variable("bad", [2], dtype=tf.complex64)


def test_default_initializers(sess):
    f = tf.get_variable("f", [100, 100])
    i = tf.get_variable("i", [2], dtype=tf.int32)
    s = tf.get_variable("s", [2], dtype=tf.string)
    sess.run(tf.global_variables_initializer())
    values, limit = sess.run(f), np.sqrt(6 / 200)
    assert np.abs(values).max() <= limit and np.abs(values).max() > 0.9 * limit
    assert sess.run(i).tolist() == [0, 0] and sess.run(s).tolist() == [b"", b""]


def test_local_variables():
    v = tf.get_local_variable("v", [2])
    assert tf.local_variables() == [v] and not v.trainable
    assert tf.global_variables() == [] and tf.trainable_variables() == []


def test_custom_getters_nest():
    calls = []

    def getter(label):
        def custom(getter, name, *args, **kwargs):
            calls.append((label, name))
            return getter(name + label, *args, **kwargs)

        return custom

    with tf.variable_scope("a", custom_getter=getter("_1")):
        with tf.variable_scope("b", custom_getter=getter("_2")):
            v = tf.get_variable("v", [])
    assert v.name == "a/b/v_2_1:0"
    assert calls == [("_2", "a/b/v"), ("_1", "a/b/v_2")]


def test_variable_creators():
    seen = []

    def creator(next_creator, **kwargs):
        seen.append(kwargs["name"])
        kwargs["trainable"] = False
        return next_creator(**kwargs)

    with tf.variable_creator_scope(creator):
        v = tf.Variable(1.0, name="v")
        w = tf.get_variable("w", [])
    assert seen == ["v", "w"] and tf.trainable_variables() == []
    assert tf.Variable(1.0).trainable and not (v.trainable or w.trainable)


# ---- partitioned variables ----


@pytest.mark.parametrize("use_resource", [False, True])
def test_partitioned_variables(use_resource, sess):
    whole = np.arange(10.0, dtype=np.float32).reshape(5, 2)
    p = tf.get_variable(
        "p",
        initializer=tf.constant(whole),
        partitioner=tf.fixed_size_partitioner(2),
        use_resource=use_resource,
    )
    assert [v.op.name for v in p] == ["p/part_0", "p/part_1"] and len(p) == 2
    assert [v.shape.as_list() for v in p] == [[3, 2], [2, 2]]
    assert [v._get_save_slice_info().spec for v in p] == ["5 2 0,3:0,2", "5 2 3,2:0,2"]
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(tf.convert_to_tensor(p)), whole)
    sess.run(p.assign(whole * 2))
    np.testing.assert_array_equal(sess.run(p.as_tensor()), whole * 2)
    with tf.variable_scope("", reuse=True):
        assert tf.get_variable("p", [5, 2], partitioner=tf.fixed_size_partitioner(2)) is p


def test_partitioned_initializers_know_the_whole(sess):
    p = tf.get_variable(
        "p",
        [3, 3],
        initializer=tf.initializers.identity(),
        partitioner=tf.fixed_size_partitioner(2),
    )
    sess.run(tf.global_variables_initializer())
    np.testing.assert_array_equal(sess.run(p.as_tensor()), np.eye(3))


def test_partitioners():
    shape = tf.TensorShape([1000, 4])
    by_size = tf.variable_axis_size_partitioner(max_shard_bytes=4000)
    assert by_size(shape=shape, dtype=tf.float32) == [4, 1]
    limited = tf.variable_axis_size_partitioner(max_shard_bytes=4000, max_shards=3)
    assert limited(shape=shape, dtype=tf.float32) == [3, 1]
    between = tf.min_max_variable_partitioner(max_partitions=8, min_slice_size=4000)
    assert between(shape=shape, dtype=tf.float32) == [4, 1]
    assert tf.fixed_size_partitioner(3, axis=1)(shape=shape, dtype=tf.float32) == [1, 3]


def test_wrong_partitioners():
    with pytest.raises(ValueError, match="must be callable"):
        tf.get_variable("p", [4], partitioner=2)
    with pytest.raises(ValueError, match="does not match the Variable's rank"):
        tf.get_variable("p", [4], partitioner=lambda **_: [1, 2])
    with pytest.raises(ValueError, match="Can only slice a variable along one dimension"):
        tf.get_variable("p", [4, 4], partitioner=lambda **_: [2, 2])
    tf.get_variable("q", [4], partitioner=tf.fixed_size_partitioner(2))
    with pytest.raises(ValueError, match="a partitioned version of the variable was found"):
        tf.get_variable("q", [4])


# ---- templates ----


def test_templates_share_variables(sess):
    def scale(x, name="w"):
        return x * tf.get_variable(name, [], initializer=tf.constant_initializer(2.0))

    template = tf.make_template("scale", scale)
    y, z = template(tf.constant(3.0)), template(tf.constant(4.0))
    assert [v.name for v in tf.global_variables()] == ["scale/w:0"]
    assert template.variables == tf.global_variables() == template.trainable_variables
    sess.run(tf.global_variables_initializer())
    assert sess.run([y, z]) == [6.0, 8.0]
    other = tf.make_template("scale", scale, name="v")
    other(tf.constant(1.0))
    assert tf.global_variables()[-1].name == "scale_1/v:0"


def test_templates_may_not_make_variables_later():
    def make():
        return tf.Variable(1.0)

    template = tf.make_template("t", make)
    template()
    with pytest.raises(ValueError, match="Trainable variable created") as error:
        template()
    assert "originally defined at" in str(error.value)


def test_an_initializer_without_parts():
    """A function of (shape, dtype) starts a whole variable, and is refused for parts of one."""

    def ones(shape, dtype):
        return tf.ones(shape, dtype)

    whole = tf.get_variable("whole", [3], initializer=ones)
    with tf.Session() as session:
        session.run(whole.initializer)
        assert session.run(whole).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(TypeError, match="partition_info"):
        tf.get_variable("parts", [4], initializer=ones, partitioner=tf.fixed_size_partitioner(2))
