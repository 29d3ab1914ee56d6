"""What AutoGraph loops over, its errors, and what it leaves alone."""

from __future__ import annotations

import collections
import functools
import itertools
from typing import Any

import numpy as np
import pytest

import weft as tf

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
    with pytest.raises(ValueError, match="Failed to convert"):
        tf.autograph.to_graph(space["f"])


def test_code(capsys) -> None:
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


# ---- errors -------------------------------------------------------------------------------------


def undefined_in_one_branch(x):
    if x > 0:
        y = 1
    return y


def undefined_before_loop(x):
    for _ in tf.range(x):
        y = x
    return y


def never_defined(x):
    if False:
        y = x
    return y


def types_differ(x):
    if x > 0:
        y = 1.0
    else:
        y = 1
    return y


def types_change(x):
    y = 0
    while y < x:
        y = tf.constant(2.0)
    return y


def shapes_change(x):
    y = tf.ones([1])
    for _ in tf.range(x):
        y = tf.concat([y, y], 0)
    return y


def structures_differ(x):
    y = (x, x)
    if x > 0:
        y = x
    return y


def structures_change(x):
    y = x
    while x > 0:
        y = (x, x)
        x -= 1
    return y


def returned_from_one_branch(x):
    if x > 0:
        return x


def tensors_of_branches_leak(x):
    found = []
    if x > 0:
        found.append(x * 2)
    return found


def endless_python_loop(x):
    for i in itertools.count():
        if x > i:
            break
    return x


@pytest.mark.parametrize(
    ("function", "kind", "message"),
    [
        (
            undefined_in_one_branch,
            ValueError,
            r"must also be initialized in the FALSE branch: \('y'",
        ),
        (undefined_before_loop, ValueError, r"must be defined before the loop: \('y',\)"),
        (never_defined, UnboundLocalError, "'y' is used undefined"),
        (types_differ, TypeError, '"y" has dtype float32 in the TRUE branch, but dtype=int32'),
        (types_change, TypeError, '"y" has dtype int32 before the loop, but dtype float32 after'),
        (shapes_change, ValueError, r'"y" has shape \(1,\) before the loop, but shape \(2,\)'),
        (structures_differ, TypeError, '"y" does not have the same nested structure in the TRUE'),
        (structures_change, TypeError, '"y" does not have the same nested structure after one'),
        (returned_from_one_branch, ValueError, "A value must also be returned from the FALSE"),
        (tensors_of_branches_leak, ValueError, "defined in another function or code block"),
        (endless_python_loop, NotImplementedError, "has too many turns"),
    ],
)
def test_what_tensors_cannot_do(function: Any, kind: type, message: str, monkeypatch) -> None:
    monkeypatch.setattr("weft.autograph.loops._MOST_GUARDED", 5)
    with pytest.raises(kind, match=message):
        tf.function(function)(tf.constant(1))


def _fails(x):
    return tf.matmul(x, x)  # here


def _calls_it(x):
    if tf.reduce_sum(x) > 0:
        y = _fails(x)
    else:
        y = x
    return y


def test_errors_name_the_users_lines() -> None:
    with pytest.raises(ValueError, match="rank 2 but is rank 1") as caught:
        tf.function(_calls_it)(tf.ones([2]))
    text = str(caught.value)
    assert text.startswith("in converted code:\n")
    first = _fails.__code__.co_firstlineno
    assert (
        f"test_statements.py:{first + 1} _fails  *\n        return tf.matmul(x, x)  # here" in text
    )
    assert f"test_statements.py:{first + 6} _calls_it  *\n        y = _fails(x)" in text
    assert "weft/" not in text


def test_operations_know_the_users_lines() -> None:
    graph = tf.function(_calls_it).get_concrete_function(tf.TensorSpec([2, 2], tf.float32)).graph
    line = _calls_it.__code__.co_firstlineno + 1
    found = [op for op in graph.get_operations() if op.type == "Sum"]
    assert any(frame[1] == line for frame in found[0].traceback)
