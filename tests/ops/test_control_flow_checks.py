"""What TensorFlow refuses of conditionals and loops, when they are built and when they run."""

import pytest

import weft as tf

VECTOR = "Shape must be rank 0 but is rank 1 for '{}'"
PREDICATES = [
    ("while/LoopCond", lambda p: tf.while_loop(lambda i: p, lambda i: i + 1, [tf.constant(0)])),
    ("while/LoopCond", lambda p: tf.while_loop(lambda i: [i < 5], lambda i: i, [tf.constant(0)])),
    ("cond/Switch", lambda p: tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))),
    (
        "case/cond/Switch",
        lambda p: tf.case([(p, lambda: tf.constant(1))], default=lambda: tf.constant(2)),
    ),
]


@pytest.mark.parametrize("node, build", PREDICATES)
def test_a_predicate_is_a_scalar(node, build):
    with pytest.raises(ValueError, match=VECTOR.format(node)):
        build(tf.constant([True, False]))


@pytest.mark.parametrize(
    "after, passed",
    [(lambda: tf.constant(1), "int32"), (lambda: tf.ones([], tf.float64), "double")],
)
def test_a_loop_variable_keeps_its_dtype(after, passed):
    found = tf.while_loop(
        lambda i, x: i < 5, lambda i, x: (i + 1, after()), [tf.constant(0), tf.constant(1.0)]
    )
    message = (
        f"Input 1 of node while/Merge_1 was passed {passed} from while/NextIteration_1:0"
        " incompatible with expected float."
    )
    with tf.Session() as session:
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError) as caught:
                session.run(found)
            assert caught.value.message.startswith(message)
        assert session.run(tf.constant(3)) == 3


def test_what_is_rewired_keeps_its_dtype():
    a, b = tf.constant(1.0, name="a"), tf.constant(1, name="b")
    total = tf.add(a, a, name="total")
    total.op._update_input(1, b)
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(total)
    assert "Input 1 of node total was passed int32 from b:0" in caught.value.message
    total.op._update_input(1, a)
    with tf.Session() as session:
        assert session.run(total) == 2.0
