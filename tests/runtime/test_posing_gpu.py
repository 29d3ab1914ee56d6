"""Steps over a host and a GPU, for which a CPU poses: what is placed where, and cut how."""

import numpy as np
import pytest

import weft as tf
from weft.graph.op_def import raw
from weft.runtime.devices import device
from weft.runtime.plan import Plan
from weft.runtime.xla.compile import load


@pytest.fixture
def sess(monkeypatch):
    monkeypatch.setattr(device, "accelerators", lambda: (("GPU", load().devices()[0]),))
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def test_what_cannot_run_is_no_matter_to_other_steps(sess):
    tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.cast(x, tf.float64)), [0, 1.0])
    assert sess.run(tf.constant(3) + 1) == 4


def test_what_takes_a_resource_comes_to_it_though_its_other_inputs_were_elsewhere(sess):
    empty = raw.EmptyTensorList(tf.constant([2]), -1, element_dtype=tf.float32)
    table = tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.variant, default_value=empty, empty_key=-1, deleted_key=-2
    )
    keys = tf.constant([5, 6], tf.int64)
    # The list is on the GPU, the table on the host: so far they have nothing to do with each other.
    assert sess.run([raw.TensorListLength(empty), table.size()]) == [0, 0]
    pushed = raw.TensorListPushBackBatch(tf.fill([2], empty), [[1.0, 2.0], [3.0, 4.0]])
    sess.run(table.insert(keys, pushed))
    assert sess.run(table.size()) == 2
    found = table.lookup(keys)
    stacked = raw.TensorListStack(found[1], [2], element_dtype=tf.float32)
    np.testing.assert_array_equal(sess.run(stacked), [[3, 4]])


def test_an_assertion_about_shapes_cuts_no_step(sess):
    x = tf.placeholder(tf.float32, [4, 3])
    with tf.control_dependencies([tf.assert_less_equal(tf.shape(x)[1], 8)]):
        y = tf.reduce_sum(x * 2.0)
    assert sess.run(y, {x: np.ones([4, 3])}) == 24
    (plan,) = sess._runner._plans.values()
    assert isinstance(plan, Plan)


def test_a_function_that_takes_a_name_of_a_file_leaves_variables_where_they_are(sess, tmp_path):
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as other:
        x = tf.placeholder(tf.float32, [], name="x")
        scale = tf.get_variable("scale", initializer=2.0)
        step = tf.get_variable("step", initializer=1.0, use_resource=True)
        y = tf.while_loop(lambda y: y < 100.0, lambda y: y * scale + step, [x])
        other.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(other, path, {"x": x}, {"y": y})
    served = tf.saved_model.load_v2(path).signatures["serving_default"]  # a function restores it
    y = served(tf.constant(1.0))["y"]
    sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
    assert sess.run(y) == 127
    stores = {name[-5:]: list(store) for name, store in sess._runner.stores.items()}
    assert len(stores["GPU:0"]) == 2 and not stores["CPU:0"]
