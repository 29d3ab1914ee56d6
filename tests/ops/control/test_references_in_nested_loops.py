"""A reference variable that an inner loop writes is read after it, however deep the loops are."""

from __future__ import annotations

import pytest

import weft as tf


def once(body, start):
    """The value of a loop that runs its body once."""
    options = {"parallel_iterations": 1, "back_prop": False}
    return tf.while_loop(lambda i, _: i < 1, body, [0, start], **options)[1]


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("reads_before", [False, True])
@pytest.mark.parametrize("hands_on_the_variable", [False, True])
def test_what_a_loop_wrote_is_read(
    depth: int, reads_before: bool, hands_on_the_variable: bool
) -> None:
    variable = tf.Variable([0.0, 0.0], use_resource=False)

    def read():
        return tf.reduce_sum(tf.square(variable))

    def write(i, _):
        new = variable.assign_add([1.0, 1.0])
        with tf.control_dependencies([new]):
            return i + 1, new if hands_on_the_variable else tf.reduce_sum(new)

    def nested(depth):
        if depth == 0:
            written = once(write, variable if hands_on_the_variable else tf.constant(0.0))
            with tf.control_dependencies([written]):
                return read()
        before = read() if reads_before else tf.constant(0.0)
        with tf.control_dependencies([before]):  # the whole loop waits, with all that it takes
            return once(lambda i, _: (i + 1, nested(depth - 1)), before)

    result = nested(depth)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(result) for _ in range(3)] == [2.0, 8.0, 18.0]
