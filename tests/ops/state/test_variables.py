"""Variables: the nodes they are made of, their methods and the functions on them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft as tf
from weft.ops.state.ref_variable import RefVariable
from weft.ops.state.resource_variable import ResourceVariable

KINDS = pytest.mark.parametrize("use_resource", [False, True], ids=["reference", "resource"])


def nodes() -> list[str]:
    return [f"{op.name}={op.type}" for op in tf.get_default_graph().get_operations()]


# ---- what a variable is made of ----


def test_nodes_of_a_reference_variable():
    v = tf.Variable([1.0, 2.0], name="v")
    assert nodes() == [
        "v/initial_value=Const",
        "v=VariableV2",
        "v/Assign=Assign",
        "v/read=Identity",
    ]
    assert isinstance(v, RefVariable) and isinstance(v, tf.Variable)
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32_ref>"
    assert v.op.type == "VariableV2" and v.initializer.name == "v/Assign"
    assert v.value().name == "v/read:0" and v.initial_value.name == "v/initial_value:0"


def test_nodes_of_a_resource_variable():
    v = tf.Variable([1.0, 2.0], name="v", use_resource=True)
    assert nodes() == [
        "v/Initializer/initial_value=Const",
        "v=VarHandleOp",
        "v/IsInitialized/VarIsInitializedOp=VarIsInitializedOp",
        "v/Assign=AssignVariableOp",
        "v/Read/ReadVariableOp=ReadVariableOp",
    ]
    assert isinstance(v, ResourceVariable) and isinstance(v, tf.Variable)
    assert repr(v) == "<tf.Variable 'v:0' shape=(2,) dtype=float32>"
    assert v.handle.dtype == tf.resource and v.op.get_attr("shared_name") == b"v"


def test_initializer_functions_run_beside_the_variable():
    tf.Variable(lambda: tf.constant([1.0]), name="v")
    const = tf.get_default_graph().get_operation_by_name("v/Initializer/Const")
    assert const.colocation_groups() == [b"loc:@v"]


def test_the_default_kind_can_be_switched():
    tf.enable_resource_variables()
    try:
        assert isinstance(tf.Variable(1.0), ResourceVariable)
        assert tf.resource_variables_enabled()
    finally:
        tf.disable_resource_variables()
    assert isinstance(tf.Variable(1.0), RefVariable)


@KINDS
def test_collections(use_resource):
    v = tf.Variable(1.0, use_resource=use_resource)
    w = tf.Variable(1.0, trainable=False, use_resource=use_resource)
    x = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], use_resource=use_resource)
    assert tf.global_variables() == [v, w]
    assert tf.trainable_variables() == [v, x]
    assert tf.local_variables() == [x]


@KINDS
def test_wrong_arguments(use_resource):
    with pytest.raises(ValueError, match="initial_value must be specified"):
        tf.Variable(use_resource=use_resource)
    with pytest.raises(ValueError, match="collections argument"):
        tf.Variable(1.0, collections="local", use_resource=use_resource)
    with pytest.raises(ValueError, match="must be a callable"):
        tf.Variable(1.0, constraint=3, use_resource=use_resource)
    with pytest.raises(TypeError, match="not iterable"):
        iter(tf.Variable([1.0], use_resource=use_resource))


# ---- reading and writing ----


@KINDS
def test_assignments(use_resource, sess):
    v = tf.Variable([1.0, 2.0], use_resource=use_resource)
    sess.run(v.initializer)
    np.testing.assert_array_equal(sess.run(v.assign([3, 4])), [3, 4])
    np.testing.assert_array_equal(sess.run(v.assign_add([1.0, 1.0])), [4, 5])
    np.testing.assert_array_equal(sess.run(tf.assign_sub(v, [2.0, 2.0])), [2, 3])
    assert sess.run(v.assign([0, 0], read_value=False)) is None
    np.testing.assert_array_equal(v.eval(session=sess), [0, 0])
    v.load([5, 6], sess)
    np.testing.assert_array_equal(sess.run(v), [5, 6])


@KINDS
def test_a_read_after_an_assignment_sees_it(use_resource, sess):
    v = tf.Variable(1.0, use_resource=use_resource)
    with tf.control_dependencies([v.assign_add(10.0)]):
        after = v.read_value()
    sess.run(v.initializer)
    assert sess.run(after) == 11.0
    assert sess.run([after, after + 1]) == [21.0, 22.0]


@KINDS
def test_uninitialized(use_resource, sess):
    v = tf.Variable(1.0, name="v", use_resource=use_resource)
    wanted = "resource variable v" if use_resource else "Attempting to use uninitialized value v"
    with pytest.raises(tf.errors.FailedPreconditionError, match=wanted):
        sess.run(v)
    missing, text = (
        (tf.errors.NotFoundError, "Resource localhost/v/.* does not exist")
        if use_resource
        else (tf.errors.FailedPreconditionError, "v")
    )
    with pytest.raises(missing, match=text):
        sess.run(v.assign_add(1.0))
    known = tf.is_variable_initialized(v)
    assert not sess.run(known)
    assert list(sess.run(tf.report_uninitialized_variables())) == [b"v"]
    sess.run(tf.global_variables_initializer())
    assert sess.run(known)
    assert list(sess.run(tf.report_uninitialized_variables())) == []


def test_a_reference_variable_of_nothing_is_initialized(sess):
    words = tf.Variable([], dtype=tf.string, collections=[], use_resource=False)
    longer = tf.assign(words, tf.concat([words, ["a"]], 0), validate_shape=False)
    assert sess.run(tf.is_variable_initialized(words))
    assert sess.run(words).shape == (0,)
    sess.run(longer)
    assert list(sess.run(words)) == [b"a"]
    held = tf.Variable(tf.zeros([0, 3]), use_resource=True)
    with pytest.raises(tf.errors.FailedPreconditionError):
        sess.run(held)


def test_assigning_another_shape(sess):
    v = tf.Variable([1.0, 2.0], validate_shape=False, name="v")
    assert v.shape.ndims is None
    value = tf.placeholder(tf.float32)
    sess.run(v.initializer)
    grown = tf.assign(v, value, validate_shape=False)
    assert sess.run(grown, {value: [[1, 2, 3]]}).shape == (1, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="shapes of both tensors to match"):
        sess.run(tf.assign(v, value), {value: [1.0]})
    with pytest.raises(ValueError, match="must be equal"):
        tf.assign(tf.Variable([1.0]), [1.0, 2.0])


@KINDS
def test_count_up_to(use_resource, sess):
    v = tf.Variable(0, use_resource=use_resource)
    count = v.count_up_to(2)
    sess.run(v.initializer)
    assert [sess.run(count), sess.run(count)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        sess.run(count)
    assert sess.run(v) == 2


@KINDS
def test_scatters(use_resource, sess):
    v = tf.Variable([1.0, 2.0, 8.0], use_resource=use_resource)
    delta = tf.IndexedSlices(tf.constant([4.0]), tf.constant([1]))
    sess.run(v.initializer)
    found = {}
    for how in ("add", "sub", "mul", "div", "max", "min", "update"):
        sess.run(v.initializer)
        found[how] = sess.run(getattr(v, f"scatter_{how}")(delta)).tolist()[1]
    assert found == dict(add=6, sub=-2, mul=8, div=0.5, max=4, min=2, update=4)
    sess.run(v.initializer)
    assert sess.run(tf.scatter_nd_update(v, [[0], [2]], [5.0, 6.0])).tolist() == [5, 2, 6]
    assert sess.run(tf.scatter_add(v, [0, 0], [1.0, 1.0])).tolist() == [7, 2, 6]
    with pytest.raises(TypeError, match="not IndexedSlices"):
        v.scatter_add(tf.constant([1.0]))


@KINDS
def test_batch_scatter_update(use_resource, sess):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=use_resource)
    sess.run(v.initializer)
    changed = tf.batch_scatter_update(v, [[1], [0]], [[8.0], [9.0]])
    assert sess.run(changed).tolist() == [[1, 8], [9, 4]]


@KINDS
def test_slices(use_resource, sess):
    v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], use_resource=use_resource)
    sess.run(v.initializer)
    assert sess.run(v[1, ::2]).tolist() == [4, 6]
    assert sess.run(v[0, 1:].assign([8.0, 9.0])).tolist() == [[1, 8, 9], [4, 5, 6]]
    assert sess.run(v[:, ::-1].assign([[1.0, 2.0, 3.0]] * 2)).tolist() == [[3, 2, 1]] * 2


@KINDS
def test_operators_use_the_value(use_resource, sess):
    v = tf.Variable(6.0, use_resource=use_resource)
    sess.run(v.initializer)
    results = [v + 1, 1 + v, v - 1, v * 2, v / 4, v // 4, v % 4, -v, abs(v), v**2, v > 5]
    assert sess.run(results) == [7, 7, 5, 12, 1.5, 1, 2, -6, 6, 36, True]
    assert sess.run(np.float32(2) * v) == 12
    assert v == v and v != tf.Variable(6.0) and len({v, v}) == 1
    assert v.experimental_ref().deref() is v


def test_in_place_operators():
    v = tf.Variable(6.0)
    v += 1
    assert isinstance(v, tf.Tensor)
    w = tf.Variable(6.0, use_resource=True)
    with pytest.raises(RuntimeError, match=r"Use variable\.assign_add"):
        w += 1


def test_gathering_from_a_resource_touches_rows_only(sess):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)
    rows = tf.gather(v, [2, 2, 0])
    assert rows.op.type == "Identity" and rows.op.inputs[0].op.type == "ResourceGather"
    (grad,) = tf.gradients(rows, v)
    assert isinstance(grad, tf.IndexedSlices)
    sess.run(v.initializer)
    assert sess.run(rows).tolist() == [[5, 6], [5, 6], [1, 2]]
    assert sess.run(grad.indices).tolist() == [2, 2, 0]
    assert sess.run(v.gather_nd([[1, 1]])).tolist() == [4]


@KINDS
def test_gradients_sum_over_all_reads(use_resource, sess):
    v = tf.Variable(3.0, use_resource=use_resource)
    y = v * v + v.read_value()
    (grad,) = tf.gradients(y, v)
    sess.run(v.initializer)
    assert sess.run(grad) == 7.0


def test_destroying_a_resource(sess):
    v = tf.Variable(1.0, use_resource=True)
    sess.run(v.initializer)
    sess.run(tf.raw_ops.DestroyResourceOp(resource=v.handle))
    assert not sess.run(v.is_initialized())
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(tf.raw_ops.DestroyResourceOp(resource=v.handle, ignore_lookup_error=False))


def test_temporary_variables(sess):
    t = tf.raw_ops.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="t")
    done = tf.raw_ops.DestroyTemporaryVariable(
        ref=tf.assign_add(tf.assign(t, [1.0, 2.0]), [1.0, 1.0]), var_name="t"
    )
    assert sess.run(done).tolist() == [2, 3]
    assert sess.run(done).tolist() == [2, 3]


@KINDS
def test_strings_and_bools(use_resource, sess):
    s = tf.Variable(["a", "b"], use_resource=use_resource)
    b = tf.Variable([True, False], use_resource=use_resource)
    sess.run(tf.global_variables_initializer())
    assert sess.run(s.assign(["c", "d"])).tolist() == [b"c", b"d"]
    assert sess.run(b).tolist() == [True, False]


@KINDS
def test_no_update_is_lost(use_resource):
    v = tf.Variable(0.0, use_resource=use_resource)
    add = v.assign_add(1.0, read_value=False)
    with tf.Session() as session:
        session.run(v.initializer)
        workers = [
            threading.Thread(target=lambda: [session.run(add) for _ in range(50)]) for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert session.run(v) == 200.0


# ---- initial values that depend on other variables ----


def test_initial_values_may_read_other_variables(sess):
    a = tf.Variable(2.0, name="a")
    b = tf.Variable(a * 3.0, name="b")
    c = tf.Variable(a.initialized_value() + 1.0, name="c")
    # b's initializer reads the initialized value of a, not a: order does not matter.
    assert b.initializer.inputs[1].op is not b.initial_value.op
    sess.run([c.initializer, b.initializer, a.initializer])
    assert sess.run([a, b, c]) == [2.0, 6.0, 3.0]


@KINDS
def test_what_assigning_gives_can_be_read(use_resource, sess):
    v = tf.Variable(1.0, use_resource=use_resource)
    sess.run(v.initializer)
    assert sess.run(v.assign_add(2.0).read_value()) == 3.0
    assert sess.run(v) == 3.0


def test_waiting_for_an_assignment_does_not_read():
    v = tf.Variable(1.0, use_resource=True)
    assert tf.group(v.assign_add(1.0)).control_inputs[0].type == "AssignAddVariableOp"


def test_a_handle_can_be_fetched_before_there_is_a_value(sess):
    v = tf.Variable(1.0, use_resource=True, name="thread")
    assert "thread" in sess.run(v.handle)


def test_the_shape_behind_a_handle_that_was_handed_on():
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=True)
    _, handle = tf.identity_n([tf.constant(1), v.handle])
    gathered = tf.raw_ops.ResourceGather(resource=handle, indices=[0, 2], dtype=tf.float32)
    assert gathered.shape == [2]


# ---- as data ----


@KINDS
def test_proto_round_trip(use_resource, sess):
    with tf.name_scope("outer"):
        v = tf.Variable([1.0], name="v", trainable=False, use_resource=use_resource)
    proto = v.to_proto()
    assert proto.variable_name == "outer/v:0" and proto.initializer_name == "outer/v/Assign"
    assert proto.is_resource == use_resource and not proto.trainable
    same = tf.Variable.from_proto(proto)
    assert type(same) is type(v) and same.op is v.op and not same.trainable
    sess.run(same.initializer)
    assert sess.run(v).tolist() == [1.0]
    assert v.to_proto("outer").variable_name == "v:0" and v.to_proto("other") is None
    again = tf.Variable.from_proto(v.to_proto("outer"), import_scope="outer")
    assert again.op is v.op


def test_save_slice_info():
    info = tf.Variable.SaveSliceInfo("w", [4, 3], [2, 0], [2, 3])
    assert info.spec == "4 3 2,2:0,3"
    proto = info.to_proto()
    same = tf.Variable.SaveSliceInfo(save_slice_info_def=proto, import_scope="a")
    assert same.full_name == "a/w" and same.spec == info.spec
