"""References that nodes of control flow choose and hand on: the variable, not its value.

Values as TensorFlow 2.21 gives them.
"""

import pytest

import weft as tf
from weft.graph.op_def import raw


@pytest.fixture
def variables(sess):
    made = [tf.Variable(value, use_resource=False) for value in ([1.0, 2.0], [3.0, 4.0])]
    sess.run(tf.global_variables_initializer())
    return made


def _refs(variables):
    return [v._ref() for v in variables]


def test_the_selected_variable_is_read_and_written(sess, variables):
    index = tf.placeholder(tf.int32, [])
    chosen = raw.RefSelect(index, _refs(variables))
    assert chosen.dtype == tf.as_dtype("float32_ref")
    assert chosen.shape == [2]
    assert sess.run(chosen, {index: 1}).tolist() == [3, 4]
    update = tf.assign_add(chosen, [10.0, 10.0])
    for i in range(4):  # compiled, were it known which variable it is
        assert (
            sess.run(update, {index: i % 2}).tolist() == [[11, 12], [13, 14], [21, 22], [23, 24]][i]
        )
    assert [v.tolist() for v in sess.run(variables)] == [[21, 22], [23, 24]]
    assert sess.run(chosen * 2.0, {index: 0}).tolist() == [42, 44]
    with pytest.raises(LookupError, match="No gradient defined for operation 'RefSelect'"):
        tf.gradients(chosen * 3.0, variables)


@pytest.mark.parametrize(
    ("index", "message"),
    [(2, r"Index must be in the range \[0, 2\) but got 2"), (-1, "but got -1"),
     ([1], r"Index must be a scalar, but it has shape \[1\]")],
)  # fmt: skip
def test_an_index_that_selects_nothing(sess, variables, index, message):
    fed = tf.placeholder(tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(raw.RefSelect(fed, _refs(variables)), {fed: index})


def test_shapes_and_empty_variables(sess, variables):
    other = tf.Variable([1.0, 2.0, 3.0], use_resource=False)
    assert raw.RefSelect(0, _refs([variables[0], other])).shape == tf.TensorShape(None)
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        raw.RefSelect([0], _refs(variables))
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value"):
        sess.run(raw.RefSelect(0, _refs([variables[0], other])))


@pytest.mark.parametrize("with_index", [True, False])
def test_a_merged_reference_is_the_variable_of_the_branch(sess, variables, with_index):
    take = tf.placeholder(tf.bool, [])
    _, then = raw.RefSwitch(variables[0]._ref(), take)
    otherwise, _ = raw.RefSwitch(variables[1]._ref(), take)
    merged, index = raw.RefMerge([otherwise, then])
    update = tf.assign_add(merged, [5.0, 5.0])
    fetches = [update, index] if with_index else [update]
    assert sess.run(fetches, {take: True})[0].tolist() == [6, 7]
    assert sess.run(fetches, {take: False})[0].tolist() == [8, 9]
    assert [v.tolist() for v in sess.run(variables)] == [[6, 7], [8, 9]]
    assert sess.run(tf.identity(merged) + 1.0, {take: True}).tolist() == [7, 8]


def _constant(value):
    return raw.Enter(tf.constant(value), frame_name="f", is_constant=True)


def _counter(limit):
    """A loop's counter: (in the body, condition, what must feed it, on leaving)."""
    merged, _ = raw.Merge([raw.Enter(tf.constant(0), frame_name="f")] * 2)
    condition = raw.LoopCond(tf.less(merged, _constant(limit)))
    leaving, inside = raw.Switch(merged, condition)
    return merged, condition, inside, leaving


def test_a_loop_that_hands_on_a_reference(sess, variables):
    counter, condition, inside, _ = _counter(3)
    merged, _ = raw.RefMerge([raw.RefEnter(variables[0]._ref(), frame_name="f")] * 2)
    leaving, ref = raw.RefSwitch(merged, condition)
    counter.op._update_input(1, raw.NextIteration(inside + _constant(1)))
    merged.op._update_input(1, raw.RefNextIteration(tf.assign_add(ref, _constant([2.0, 2.0]))))
    out = raw.RefExit(leaving)
    assert out.dtype == tf.as_dtype("float32_ref")
    assert sess.run(tf.assign(out, out * 10.0)).tolist() == [70, 80]
    assert sess.run(variables[0]).tolist() == [70, 80]


def test_an_effect_on_the_way_to_the_condition_happens_once(sess, variables):
    """It happens in the last iteration too, which the body does not see."""
    counter, _, inside, leaving = _counter(3)
    ref = raw.RefEnter(variables[0]._ref(), frame_name="f", is_constant=True)
    added = tf.assign_add(ref, _constant([2.0, 2.0]))
    nothing = tf.cast(tf.reduce_sum(added * _constant(0.0), _constant(0)), tf.int32)
    counter.op._update_input(1, raw.NextIteration(inside + nothing + _constant(1)))
    assert sess.run(raw.Exit(leaving)) == 3
    assert sess.run(variables[0]).tolist() == [9, 10]
