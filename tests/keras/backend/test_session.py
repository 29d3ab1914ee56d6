"""Keras's session: which one it is, what it initializes, and what clears it."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.lib.keras import backend as K


def test_the_default_session_is_used_where_there_is_one() -> None:
    own = K.get_session()
    assert K.get_session() is own
    with tf.Session() as session:
        assert K.get_session() is session
    assert K.get_session() is own


def test_a_session_that_was_set_is_used() -> None:
    with tf.Session(graph=tf.get_default_graph()) as session:
        pass
    fresh = tf.Session()
    K.set_session(fresh)
    assert K.get_session() is fresh is not session
    fresh.close()


def test_another_graph_has_another_session() -> None:
    first = K.get_session()
    with tf.Graph().as_default():
        v = K.variable(3.0)
        assert K.get_value(v) == 3.0
        assert K.get_session() is not first


def test_weights_are_still_there_after_work_on_another_graph() -> None:
    v = K.variable(1.0)
    K.set_value(v, 5.0)
    with tf.Graph().as_default():
        assert K.get_value(K.variable(3.0)) == 3.0
    assert K.get_value(v) == 5.0


def test_threads_with_graphs_of_their_own_do_not_disturb_each_other() -> None:
    turns = threading.Barrier(2, timeout=60)
    found = []

    def work(number: float) -> None:
        with tf.Graph().as_default():
            v = K.variable(0.0)
            turns.wait()
            K.set_value(v, number)
            turns.wait()
            found.append((number, K.get_value(v)))
            turns.wait()
            K.get_session().close()

    threads = [threading.Thread(target=work, args=(n,)) for n in (1.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(1.0, 1.0), (2.0, 2.0)]


def test_clear_session_forgets_a_session_that_was_set() -> None:
    graph = tf.Graph()
    with tf.Session(graph=graph) as session:
        pass
    K.set_session(session)
    with graph.as_default():
        assert K.get_session() is session
    K.clear_session()
    with graph.as_default():
        assert K.get_session() is not session
        K.set_session(None)
        assert K.get_session() is not session


def test_variables_are_initialized_once_and_only_if_they_are_not() -> None:
    v = K.variable(1.0)
    session = K.get_session()
    session.run(v.assign(5.0))
    w = K.variable(2.0)
    u = tf.Variable(7.0, use_resource=True)
    session.run(u.initializer)
    assert K.batch_get_value([v, w, u]) == [5.0, 2.0, 7.0]
    with tf.Session() as other:
        other.run(v.assign(9.0))
        assert K.batch_get_value([v, w]) == [9.0, 2.0]


def test_a_program_can_initialize_by_itself() -> None:
    K.manual_variable_initialization(True)
    v = K.variable(1.0)
    with pytest.raises(errors.FailedPreconditionError):
        K.get_value(v)
    K.get_session().run(tf.global_variables_initializer())
    assert K.get_value(v) == 1.0


def test_clear_session_starts_again() -> None:
    K.get_uid("dense")
    K.set_learning_phase(1)
    before, session = tf.get_default_graph(), K.get_session()
    K.clear_session()
    assert tf.get_default_graph() is not before
    assert K.get_session() is not session
    assert K.get_uid("dense") == 1
    assert K.learning_phase().op.type == "PlaceholderWithDefault"
    assert K.learning_phase().name == "keras_learning_phase:0"


def test_names_are_counted_for_each_graph() -> None:
    assert [K.unique_object_name("a") for _ in range(2)] == ["a_1", "a_2"]
    assert [K.unique_object_name("b", zero_based=True) for _ in range(2)] == ["b", "b_1"]
    assert K.unique_object_name("b", zero_based=True, avoid_names={"b_2"}) == "b_3"
    with tf.Graph().as_default():
        assert K.unique_object_name("a") == "a_1"


def test_learning_phase_can_be_fixed() -> None:
    with K.learning_phase_scope(1):
        assert K.learning_phase() == 1
        assert K.in_train_phase(lambda: "train", "test") == "train"
    assert K.learning_phase().dtype == tf.bool
    K.set_learning_phase(0)
    assert K.in_train_phase("train", lambda: "test") == "test"
    for wrong in (2, "train"):
        with pytest.raises(ValueError, match="Expected learning phase to be 0 or 1"):
            K.set_learning_phase(wrong)
        with pytest.raises(ValueError, match="Expected learning phase to be 0 or 1"):
            K.learning_phase_scope(wrong).__enter__()


def test_the_learning_phase_is_outside_of_conditionals() -> None:
    x = tf.placeholder(tf.bool, [])
    chosen = tf.cond(x, lambda: tf.cast(K.learning_phase(), tf.int32), lambda: 5)
    session = K.get_session()
    assert session.run(chosen, {x: True}) == 0
    assert session.run(chosen, {x: True, K.learning_phase(): True}) == 1


def test_settings_are_checked() -> None:
    K.set_floatx("float64")
    assert K.dtype(K.variable(1)) == "float64"
    assert K.cast_to_floatx([1]).dtype == np.float64
    for setter in (K.set_floatx, K.set_image_data_format):
        with pytest.raises(ValueError, match="Unknown"):
            setter("nothing")


def test_sparse_values() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    matrix = sparse.csr_matrix(np.array([[0.0, 2.0], [3.0, 0.0]], np.float32))
    v = K.variable(matrix)
    assert K.is_sparse(v)
    np.testing.assert_array_equal(K.eval(v), matrix.toarray())
    dense = K.dot(v, K.constant([[1.0], [10.0]]))
    np.testing.assert_array_equal(K.get_value(dense), [[20.0], [3.0]])
    np.testing.assert_array_equal(K.eval(K.concatenate([v, v], axis=0)).shape, (4, 2))


def test_ragged_and_sparse_placeholders() -> None:
    with pytest.raises(ValueError, match="both sparse and ragged"):
        K.placeholder((2, 2), sparse=True, ragged=True)
    assert K.placeholder((None, None, 3), ragged=True).ragged_rank == 1
    assert K.is_placeholder(K.placeholder((2, 2), sparse=True))
    assert not K.is_placeholder(K.constant(1.0))
    assert K.placeholder(ndim=2).shape.as_list() == [None, None]


def test_print_tensor_prints_when_computed(capfd) -> None:
    x = K.print_tensor(K.constant([1.0, 2.0]), message="x is")
    assert K.get_value(x).tolist() == [1.0, 2.0]
    assert "x is" in capfd.readouterr().out


def test_devices_that_are_not_there_are_replaced() -> None:
    """Models that programs put on a GPU run where there is none."""
    with tf.device("/device:GPU:7"):
        v = K.variable([1.0, 2.0])
        assert K.get_value(v * 2).tolist() == [2.0, 4.0]
