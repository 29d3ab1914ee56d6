"""What AutoGraph loops over, and what it leaves alone."""

from __future__ import annotations

import collections
import functools
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.autograph import context

FEATURE = tf.autograph.experimental.Feature


def run(sess, function: Any, *args: Any, features: Any = None) -> Any:
    return sess.run(tf.function(function, experimental_autograph_options=features)(*args))


# ---- what is looped over ------------------------------------------------------------------------


def test_rows_of_a_tensor(sess) -> None:
    def f(rows):
        total, count = tf.zeros([2]), 0
        for row in rows:
            if count > 1:
                break
            total += row
            count += 1
        return total, count

    rows = tf.placeholder_with_default(np.arange(8.0, dtype=np.float32).reshape(4, 2), [None, 2])
    found = tf.function(f)(rows)
    total, count = sess.run(found)
    assert list(total) == [2.0, 4.0] and count == 2
    np.testing.assert_array_equal(sess.run(tf.gradients(found[0], rows)[0])[:, 0], [1, 1, 0, 0])


def test_arrays_and_ragged_rows(sess) -> None:
    def f(rows):
        array = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        i = 0
        for row in rows:
            array = array.write(i, tf.reduce_sum(row))
            i += 1
        product = 1
        for value in array:
            product *= value
        return product, len(array)

    assert run(sess, f, tf.ragged.constant([[1, 2], [4], [2, 3]])) == (60, 3)


def test_datasets(sess) -> None:
    def f(limit):
        total = tf.constant(0, tf.int64)
        for i, x in enumerate(tf.data.Dataset.range(3, 100)):
            if x > limit:
                break
            if x % 2 > 0:
                continue
            total += x * i
        return total

    wanted = sum(x * i for i, x in enumerate(range(3, 10)) if x % 2 == 0)
    assert run(sess, f, tf.constant(9, tf.int64)) == wanted


def test_datasets_outside_of_functions(sess) -> None:
    def f(limit):
        total = tf.constant(0, tf.int64)
        for x in tf.data.Dataset.range(10):
            if x < limit:
                total += x
        return total

    assert sess.run(tf.autograph.to_graph(f)(tf.constant(4, tf.int64))) == 6


def test_datasets_without_end_outside_of_functions(sess) -> None:
    def f(limit):
        total, first = tf.constant(0, tf.int64), tf.constant(-1, tf.int64)
        for x in tf.data.Dataset.range(5).repeat():
            if total > limit:
                first = x
                break
            total += x
        return total, first

    found = tf.autograph.to_graph(f)(tf.placeholder_with_default(np.int64(21), []))
    assert sess.run(found) == (23, 3)


def test_control_flow_of_switches_outside_of_functions(sess) -> None:
    def f(x):
        n = 0
        while x > 1:
            if x % 2 > 0:
                x = 3 * x + 1
            else:
                x = x // 2
            n += 1
        return n

    x = tf.placeholder(tf.int32, [])
    y = tf.autograph.to_graph(f)(x)
    assert {op.type for op in tf.get_default_graph().get_operations()} >= {"Switch", "Enter"}
    assert [sess.run(y, {x: n}) for n in (1, 6, 7)] == [0, 8, 16]


@pytest.mark.parametrize("convert", [tf.function, tf.autograph.to_graph])
def test_a_loop_over_nothing(sess, convert) -> None:
    def f(x):
        while x > 5:
            pass
        return x

    assert sess.run(convert(f)(tf.constant(3))) == 3


def test_functions_of_datasets_are_converted(sess) -> None:
    def collatz(x):
        if x % 2 > 0:
            return 3 * x + 1
        return x // 2

    data = tf.data.Dataset.range(4).map(collatz)
    following = tf.data.make_one_shot_iterator(data).get_next()
    assert [sess.run(following) for _ in range(4)] == [0, 4, 1, 10]


def test_loop_options(sess) -> None:
    def f(n):
        i = 0
        x = tf.ones([1])
        while i < n:
            tf.autograph.experimental.set_loop_options(parallel_iterations=1, maximum_iterations=3)
            i += 1
            x = x * 2.0
        return x[0], i

    assert run(sess, f, tf.constant(10)) == (8.0, 3)


# ---- functions of Python ------------------------------------------------------------------------


def test_builtin_functions(sess) -> None:
    def f(x, text):
        return (
            len(x), abs(x[0]), int(x[1]), float(text), int("7"), len([1, 2]),
            [i for i in range(2)], range(len(x)),
        )  # fmt: skip

    x = tf.placeholder_with_default(np.array([-2.5, 3.5], np.float32), [None])
    found = run(sess, f, x, tf.constant("1.5"))
    assert found[:7] == (2, 2.5, 3, 1.5, 7, 2, [0, 1]) and list(found[7]) == [0, 1]


def test_print_and_assert(sess, capfd) -> None:
    def f(x):
        print("value", x, sep="=")
        assert x > 0, "not positive"
        return x

    x = tf.placeholder(tf.int32, [])
    y = tf.function(f)(x)
    assert sess.run(y, {x: 3}) == 3
    assert "value=3" in "".join(capfd.readouterr())
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        sess.run(y, {x: -3})
    with pytest.raises(AssertionError, match="not positive"):
        tf.autograph.to_graph(f)(-1)


def test_ranges_and_numbers_as_in_python(sess) -> None:
    def f(n):
        return len(range(n)), int("ff", 16) + int("11", base=2) + 0

    assert run(sess, f, tf.placeholder_with_default(-3, [])) == (0, 258)
    with pytest.raises(TypeError, match="can't convert non-string with explicit base"):
        tf.autograph.to_graph(lambda x: int(x, 10))(5)


def test_what_assertions_say(sess) -> None:
    def f(x):
        assert x > 0, ["x is", x]
        return x

    def silent(x):
        assert x > 0
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: \[x is\] \[-3\]"):
        run(sess, f, tf.constant(-3))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[Assertion error\]"):
        run(sess, silent, tf.constant(-3))
    with pytest.raises(AssertionError, match="Assertion error"):
        tf.autograph.to_graph(silent)(-1)


def test_tests_of_loops_are_made_once_for_each_turn(sess) -> None:
    """What a test takes from a queue is gone."""
    queue = tf.FIFOQueue(5, tf.int32, shapes=[[]])
    sess.run(queue.enqueue_many([[1, 1, 0, 7]]))

    def f():
        n = 0
        while queue.dequeue() > 0:
            n += 1
        return n

    assert run(sess, f) == 2 and sess.run(queue.dequeue()) == 7


def test_equality_on_request(sess) -> None:
    def f(x):
        return 1 if x == 3 else 0

    assert run(sess, f, tf.constant(3)) == 0
    assert run(sess, f, tf.constant(3), features=FEATURE.EQUALITY_OPERATORS) == 1
    assert run(sess, f, tf.constant(4), features=FEATURE.all()) == 0


def test_lists_on_request(sess) -> None:
    def f(n):
        squares = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n):
            squares.append(i * i)
        plain = []
        plain.append(n)
        last = plain.pop()
        zeros = tf.zeros([3], tf.int32)
        zeros[1] = last
        return squares.stack(), zeros

    squares, zeros = run(sess, f, tf.constant(4), features=(FEATURE.LISTS,))
    assert list(squares) == [0, 1, 4, 9] and list(zeros) == [0, 4, 0]


def test_the_first_names(sess) -> None:
    ag = tf.contrib.autograph

    @ag.convert(optional_features=ag.Feature.LISTS)
    def squares(n):
        found = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        ag.set_element_type(found, tf.int32)
        for i in tf.range(n):
            found.append(i * i)
        return ag.stack(found)

    assert list(sess.run(squares(tf.constant(3)))) == [0, 1, 4]
    items = tf.raw_ops.EmptyTensorList(
        element_shape=[2], max_num_elements=-1, element_dtype=tf.float32
    )
    items = tf.raw_ops.TensorListPushBack(input_handle=items, tensor=[1.0, 2.0])
    assert sess.run(ag.stack(items)).tolist() == [[1.0, 2.0]]
    assert ag.stack([1, 2], strict=False) == [1, 2]
    with pytest.raises(ValueError, match=r"\[1, 2\] must be stackable when strict=True"):
        ag.stack([1, 2])
    with pytest.raises(ag.AutoGraphError, match="converting <built-in function len>"):
        ag.to_graph(len)
    assert ag.to_code(lambda x: x + 1) == "def lambda_(x):\n  return x + 1\n"


# ---- what is converted --------------------------------------------------------------------------


class Base:
    def value(self, x):
        return x + 1


class Model(Base):
    def __init__(self, limit):
        self.limit, self.__hidden = limit, 2

    def value(self, x):
        if x > self.limit:
            x = super().value(x) * self.__hidden
        return x

    def __call__(self, x):
        return self.value(x) if x > 0 else -x


def test_methods_and_objects(sess) -> None:
    model = Model(3)
    calls = [model, model.value, functools.partial(Model.value, model)]
    for call in calls:
        assert run(sess, call, tf.constant(5)) == 12
        assert run(sess, lambda x, call=call: call(x), tf.constant(2)) == 2


def test_methods_and_classes_by_hand(sess) -> None:
    """A converted method is a function; the methods of a converted class stay methods."""
    model = Model(3)
    assert sess.run(tf.autograph.to_graph(model.value)(model, tf.constant(5))) == 12
    kind = tf.autograph.to_graph(Model)
    assert kind.__name__ == "TfModel" and issubclass(kind, Model)
    assert sess.run(kind(3)(tf.constant(5))) == 12
    with pytest.raises(ValueError, match="no member methods"):
        tf.autograph.to_graph(type("Empty", (), {}))


def test_wrappers_and_named_tuples(sess) -> None:
    Pair = collections.namedtuple("Pair", "a b")

    def twice(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args) + function(*args)

        return wrapper

    @twice
    def f(pair):
        if pair.a > pair.b:
            pair = pair._replace(a=pair.b)
        return pair.a

    assert run(sess, f, Pair(tf.constant(5), tf.constant(3))) == 6


def at_least_one(function):
    """A decorator whose wrapper has control flow of its own."""

    @functools.wraps(function)
    def wrapper(x):
        y = function(x)
        if y < 1:
            y = 1
        return y

    return wrapper


def test_wrappers_of_functions_inside(sess) -> None:
    def f(x):
        @at_least_one
        def negated(y):
            return -y if y > 0 else y

        return negated(x)

    assert run(sess, f, tf.constant(3)) == 1


def test_do_not_convert(sess) -> None:
    @tf.autograph.experimental.do_not_convert
    def left_alone(x):
        return bool(x is None) or helper(x)

    def helper(x):
        if x > 0:
            return x
        return -x

    with pytest.raises(TypeError, match="as a Python `bool` is not allowed"):
        run(sess, lambda x: left_alone(x), tf.constant(1))
    with pytest.raises(TypeError, match="is not allowed"):
        tf.function(helper, autograph=False)(tf.constant(1))
    with pytest.raises(TypeError, match="is not allowed"):
        tf.autograph.to_graph(lambda x: helper(x), recursive=False)(tf.constant(1))


def test_without_source(sess, caplog) -> None:
    space: dict[str, Any] = {}
    exec("def f(x):\n    return x + 1", space)
    with caplog.at_level("WARNING"):
        assert run(sess, space["f"], tf.constant(1)) == 2
    assert "AutoGraph could not transform" in caplog.text
    with pytest.raises(ValueError, match=r"converting <function f at .*: ValueError: "):
        tf.autograph.to_graph(space["f"])


def test_code(capsys, monkeypatch) -> None:
    for setting in ("_verbosity", "_to_stdout"):
        monkeypatch.setattr(context, setting, getattr(context, setting))  # puts them back

    def f(x):
        """About it."""
        if x > 0:
            x = x * 2
        return x

    text = tf.autograph.to_code(f, indentation="    ")
    assert "ag__.if_stmt(x > 0, if_body, else_body, get_state, set_state, ('x',))" in text
    assert text.startswith('def f(x):\n    """About it."""')
    assert tf.autograph.to_code(tf.function(f)) == tf.autograph.to_code(f)
    tf.autograph.set_verbosity(0, True)
    tf.autograph.trace("told", 1)
    assert capsys.readouterr().out == "told 1\n"


def test_generators_and_their_consumers(sess) -> None:
    def counted(n):
        yield from range(n)

    def f(x):
        total = x
        for i in counted(3):
            if total > 1:
                total += i
        return total

    assert run(sess, f, tf.constant(2)) == 5


def test_lambdas_on_one_line(sess) -> None:
    f, g = (lambda x: 1 if x > 0 else 2), (lambda x: 3 if x > 0 else 4)
    assert [run(sess, f, tf.constant(1)), run(sess, g, tf.constant(-1))] == [1, 4]
