"""Restoring straight into variables: the same values and errors, without a second model."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import weft as tf
from weft.passes.pipeline import prepare
from weft.storage.bundle_reader import BundleReader

COUNT, ELEMENTS = 20, 1 << 18


def kinds(saver):
    op = tf.get_default_graph().get_operation_by_name(saver.saver_def.restore_op_name)
    (part,) = prepare([], [], [op])
    return {node.type for node in part.graph.nodes}


def variables(count, elements, use_resource):
    return [
        tf.get_variable(
            f"v{i}", initializer=np.full(elements, i, np.float32), use_resource=use_resource
        )
        for i in range(count)
    ]


def flip_a_bit(path, key):
    with BundleReader(path) as reader:
        entry = reader.entry(key)
    with open(f"{path}.data-00000-of-00001", "r+b") as file:
        file.seek(entry.offset + 5)
        (byte,) = file.read(1)
        file.seek(entry.offset + 5)
        file.write(bytes([byte ^ 4]))


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.on_host
def test_never_holds_two_models(tmp_path, use_resource) -> None:
    made = variables(COUNT, ELEMENTS, use_resource)
    saver = tf.train.Saver(made)
    assert "_RestoreVariables" in kinds(saver)
    assert not kinds(saver) & {"RestoreV2", "Assign", "AssignVariableOp"}
    cleared = [v.assign(tf.zeros([ELEMENTS])) for v in made]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        session.run(tf.group(*cleared))
        saver.restore(session, path)
        assert [v[0] for v in session.run(made)] == list(range(COUNT))
        tracemalloc.start()
        saver.restore(session, path)
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        saver.restore(session, path)
        assert tracemalloc.get_traced_memory()[1] - before < 3 * ELEMENTS * 4
        tracemalloc.stop()


@pytest.mark.parametrize("use_resource", [True, False])
def test_a_broken_tensor_leaves_all_variables_alone(tmp_path, use_resource) -> None:
    made = variables(3, 8, use_resource)
    saver = tf.train.Saver(made)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        session.run([v.assign(tf.fill([8], 7.0)) for v in made])
        flip_a_bit(path, b"v2")
        with pytest.raises(tf.errors.DataLossError, match=r"tensor v2 in .*m.data-00000-of-00001"):
            saver.restore(session, path)
        assert {float(v[0]) for v in session.run(made)} == {7.0}


def test_a_short_file_is_an_error_that_names_the_tensor(tmp_path) -> None:
    made = variables(2, 8, True)
    saver = tf.train.Saver(made)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        with open(f"{path}.data-00000-of-00001", "r+b") as file:
            file.truncate(40)
        what = r"Read less bytes than requested.*ends within tensor v1: 32 .*, 8 are"
        with pytest.raises(tf.errors.OutOfRangeError, match=what):
            saver.restore(session, path)


def test_a_wrong_shape_names_the_assignment(tmp_path) -> None:
    saver = tf.train.Saver(variables(1, 8, False))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.Saver(variables(1, 9, False))
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            saver.restore(session, path)
    assert "Assign requires shapes of both tensors to match" in str(caught.value)
    assert caught.value.op.name == "save/Assign"


def test_what_else_uses_a_restored_tensor_still_gets_it(tmp_path) -> None:
    made = variables(2, 4, False)
    saver = tf.train.Saver(made)
    graph = tf.get_default_graph()
    restored = graph.get_tensor_by_name("save/RestoreV2:1")
    assigned = graph.get_tensor_by_name("save/Assign:0")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        session.run([v.assign(tf.zeros([4])) for v in made])
        fetched = [graph.get_operation_by_name("save/restore_all"), restored, assigned]
        _, one, zero = session.run(fetched, {saver.saver_def.filename_tensor_name: path})
        assert one.tolist() == [1.0] * 4 and zero.tolist() == [0.0] * 4
        assert session.run(made[1]).tolist() == [1.0] * 4


def test_slices_are_put_together(tmp_path) -> None:
    def parts(count):
        with tf.variable_scope("s", partitioner=tf.fixed_size_partitioner(count)):
            found = tf.get_variable("w", [6, 2], initializer=tf.random_uniform_initializer())
        return tf.train.Saver([found]), tf.concat(list(found), 0)

    saver, whole = parts(3)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        path = saver.save(session, str(tmp_path / "m"))
        saved = session.run(whole)
    with tf.Graph().as_default(), tf.Session() as session:
        saver, whole = parts(2)
        assert "_RestoreVariables" in kinds(saver)
        saver.restore(session, path)
        assert np.array_equal(session.run(whole), saved)
