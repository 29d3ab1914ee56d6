"""Assertions: what is known fails at once, the rest when the step runs, with TensorFlow's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.ops.control import check

COMPARISONS = [
    (check.assert_equal, "==", [1, 2], [1, 2], [1, 3]),
    (check.assert_none_equal, "!=", [1, 2], [3, 4], [3, 2]),
    (check.assert_less, "<", [1, 2], [2, 3], [2, 2]),
    (check.assert_less_equal, "<=", [1, 2], [1, 3], [2, 1]),
    (check.assert_greater, ">", [1, 2], [0, 1], [1, 1]),
    (check.assert_greater_equal, ">=", [1, 2], [1, 2], [1, 3]),
]
SIGNS = [
    (check.assert_negative, "< 0", [-1.0, -2.0], [-1.0, 0.0]),
    (check.assert_positive, "> 0", [1.0, 2.0], [1.0, 0.0]),
    (check.assert_non_negative, ">= 0", [0.0, 1.0], [0.0, -1.0]),
    (check.assert_non_positive, "<= 0", [0.0, -1.0], [0.0, 1.0]),
]
comparisons = pytest.mark.parametrize(
    "function, symbol, x, good, bad", COMPARISONS, ids=[c[0].__name__ for c in COMPARISONS]
)
signs = pytest.mark.parametrize(
    "function, condition, good, bad", SIGNS, ids=[s[0].__name__ for s in SIGNS]
)


def run(assertion: Any, feeds: Any = None) -> None:
    with tf.Session() as session:
        session.run(assertion, feeds)


def hidden(value: Any) -> tuple[Any, dict[Any, Any]]:
    """A tensor whose value and shape only the step knows, and the feeds for it."""
    array = np.asarray(value)
    dtype = {"f": tf.float32, "i": tf.int32}[array.dtype.kind]
    tensor = tf.placeholder(dtype)
    return tensor, {tensor: array}


# ---- comparisons ------------------------------------------------------------------------------


@comparisons
def test_comparison_of_constants(function: Any, symbol: str, x: Any, good: Any, bad: Any) -> None:
    run(function(x, good))
    with pytest.raises(errors.InvalidArgumentError) as caught:
        function(x, bad, message="So it is.", name="mine")
    lines = str(caught.value).splitlines()
    assert lines[0].endswith("So it is.")
    assert lines[1] == f"Condition x {symbol} y did not hold element-wise:"
    assert lines[2:4] == [f"x (mine{'_1' if symbol == '==' else ''}/x:0) = ", "[1 2]"]


@comparisons
def test_comparison_in_the_step(function: Any, symbol: str, x: Any, good: Any, bad: Any) -> None:
    y, feeds = hidden(good)
    run(function(x, y), feeds)
    with pytest.raises(errors.InvalidArgumentError, match=r"Condition x .* did not hold"):
        run(function(x, y), {y: np.asarray(bad)})


@comparisons
def test_comparison_broadcasts(function: Any, symbol: str, x: Any, good: Any, bad: Any) -> None:
    run(function([x, x], [good]))
    run(function(np.zeros([0]), np.zeros([0])))
    with pytest.raises(errors.InvalidArgumentError):
        function([x, x], [good, bad])


def test_only_what_tensorflow_knows_fails_early() -> None:
    computed = tf.add(1, 2)  # TensorFlow does not look through additions
    assertion = check.assert_equal(computed, 4, message="late")
    with pytest.raises(errors.InvalidArgumentError, match="late"):
        run(assertion)


def test_equal_to_itself() -> None:
    x = tf.placeholder(tf.float32)
    assert check.assert_equal(x, x).type == "NoOp"


def test_the_data_that_is_shown() -> None:
    x, feeds = hidden([1, 2, 3, 4, 5])
    default = check.assert_equal(x, 9)
    shown = check.assert_equal(x, 9, data=["my data", x], summarize=4, message="first")
    with pytest.raises(errors.InvalidArgumentError, match=r"\[1 2 3\.\.\.\]"):
        run(default, feeds)
    with pytest.raises(errors.InvalidArgumentError, match=r"first.*my data.*\[1 2 3 4\.\.\.\]"):
        run(shown, feeds)


def test_assertions_hold_back_what_waits_for_them() -> None:
    x, feeds = hidden([1, 0])
    with tf.control_dependencies([check.assert_positive(x)]):
        y = tf.identity(x)
    with pytest.raises(errors.InvalidArgumentError, match="x > 0"):
        run(y, feeds)


# ---- signs and nearness -----------------------------------------------------------------------


@signs
def test_signs(function: Any, condition: str, good: Any, bad: Any) -> None:
    run(function(good))
    with pytest.raises(errors.InvalidArgumentError, match=f"Condition x {condition} did not hold"):
        function(bad)
    x, feeds = hidden(good)
    run(function(x), feeds)
    with pytest.raises(errors.InvalidArgumentError, match="why"):
        run(function(x, message="why"), {x: bad})
    run(function(tf.constant([], tf.float32)))


@pytest.mark.parametrize(
    "x, y, options, holds",
    [
        ([1.0, 2.0], [1.0, 2.0], {}, True),
        ([1.0], [1.0 + 1e-6], {}, True),
        ([1.0], [1.0 + 1e-5], {}, False),
        ([1.0], [1.1], {"rtol": 0.2}, True),
        ([1.0], [1.1], {"atol": 0.2}, True),
        ([1.0], [1.5], {"atol": 0.2, "rtol": 0.1}, False),
        (np.float16([1]), np.float16([1.005]), {}, True),
    ],
)
def test_near(x: Any, y: Any, options: Any, holds: bool) -> None:
    assertion = check.assert_near(x, y, message="far", **options)
    if holds:
        run(assertion)
    else:
        with pytest.raises(errors.InvalidArgumentError, match=r"far.*not equal to tolerance"):
            run(assertion)


# ---- ranks ------------------------------------------------------------------------------------


def test_ranks_that_are_known() -> None:
    x = tf.zeros([2, 3], name="x")
    for assertion in (
        check.assert_rank(x, 2),
        check.assert_rank_at_least(x, 1),
        check.assert_rank_in(x, (1, 2)),
    ):
        assert assertion.type == "NoOp"
    for function, wanted, words in (
        (check.assert_rank, 1, r"must have rank 1\."),
        (check.assert_rank_at_least, 3, r"must have rank at least 3\."),
        (check.assert_rank_in, (1, 3), "must have rank in"),
    ):
        with pytest.raises(
            ValueError, match=rf"fail\.  Tensor x:0 {words}.*rank 2, shape \(2, 3\)"
        ):
            function(x, wanted, message="fail")


@pytest.mark.parametrize(
    "function, good, bad",
    [(check.assert_rank, 2, 1), (check.assert_rank_at_least, 1, 3),
     (check.assert_rank_in, (0, 2), (1, 3))],
)  # fmt: skip
def test_ranks_in_the_step(function: Any, good: Any, bad: Any) -> None:
    x, feeds = hidden(np.zeros([2, 3], np.float32))
    run(function(x, good), feeds)
    with pytest.raises(errors.InvalidArgumentError, match="must have rank"):
        run(function(x, bad, message="m"), feeds)


def test_ranks_are_scalars() -> None:
    x = tf.zeros([2, 3])
    with pytest.raises(ValueError, match="Rank must be a scalar"):
        check.assert_rank(x, [2])
    with pytest.raises(TypeError, match="must be of type"):
        check.assert_rank(x, 2.5)
    rank, feeds = hidden([2])
    with pytest.raises(errors.InvalidArgumentError, match="Rank must be a scalar"):
        run(check.assert_rank(x, rank), feeds)


def test_scalars() -> None:
    x = tf.constant(1)
    assert check.assert_scalar(x) is x
    assert check.assert_scalar(3).dtype == tf.int32
    with pytest.raises(ValueError, match=r"whyExpected scalar shape for .*, saw shape: \(1,\)"):
        check.assert_scalar([3], message="why")
    with pytest.raises(ValueError, match="Expected scalar shape"):
        check.assert_scalar(tf.placeholder(tf.int32))


# ---- shapes -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shapes",
    [
        [((2, 3), ("n", "q")), ((3,), ("q",))],
        [((2, 3), (2, "q")), ((3, 3), ("q", "q"))],
        [((2, 3), "nq"), ((4, 2), ".n")],
        [((5, 2, 3), (..., "n", "q")), ((2, 3), ("*", "n", "q"))],
        [((), ()), ((1,), (1,)), ((), (1,))],
        [((2, 3), (None, 3)), ((7,), None)],
    ],
)
def test_shapes_that_agree(shapes: Any) -> None:
    run(check.assert_shapes([(tf.zeros(shape), symbols) for shape, symbols in shapes]))
    feeds, pairs = {}, []
    for shape, symbols in shapes:
        x, feed = hidden(np.zeros(shape, np.float32))
        feeds |= feed
        pairs.append((x, symbols))
    run(check.assert_shapes(dict(pairs)), feeds)


@pytest.mark.parametrize(
    "shapes, words",
    [
        ([((2, 3), ("n", 4))], "Specified explicitly.  Tensor .* dimension 1 must have size 4"),
        ([((2, 3), "nq"), ((4,), "q")], "Specified by tensor .* dimension 1.  .* have size 3"),
        ([((2, 3), ("n",))], "must have rank in"),
        ([((2,), ("n", "m"))], "must have rank 2"),
        ([((2,), ("*", "n", "m"))], "must have rank at least 2"),
        ([((5, 2), (..., 3))], "dimension -1 must have size 3"),
    ],
)
def test_shapes_that_do_not(shapes: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        check.assert_shapes([(tf.zeros(shape), symbols) for shape, symbols in shapes], message="m")
    feeds, pairs = {}, []
    for shape, symbols in shapes:
        x, feed = hidden(np.zeros(shape, np.float32))
        feeds |= feed
        pairs.append((x, symbols))
    with pytest.raises(errors.InvalidArgumentError):
        run(check.assert_shapes(pairs), feeds)


def test_shapes_that_are_none() -> None:
    x = tf.zeros([2])
    with pytest.raises(ValueError, match="must be an iterable"):
        check.assert_shapes([(x, 2)])
    with pytest.raises(ValueError, match="only allowed as the first entry"):
        check.assert_shapes([(x, ("n", ...))])


# ---- types ------------------------------------------------------------------------------------


def test_types() -> None:
    check.assert_type(tf.constant(1), tf.int32)
    check.assert_integer(tf.constant(1, tf.uint8))
    with pytest.raises(TypeError, match=r"why  .* must be of type <dtype: 'float32'>"):
        check.assert_type(1, tf.float32, message="why")
    with pytest.raises(TypeError, match='Expected "x" to be integer type'):
        check.assert_integer(1.5)
    assert check.is_numeric_tensor(tf.constant(1)) and not check.is_numeric_tensor(1)
    assert not check.is_numeric_tensor(tf.constant("a"))


def test_one_float_type() -> None:
    single, double = tf.constant(1.0), tf.constant(1.0, tf.float64)
    assert check.assert_same_float_dtype() is tf.float32
    assert check.assert_same_float_dtype([double, None]) is tf.float64
    assert check.assert_same_float_dtype(None, tf.float16) is tf.float16
    with pytest.raises(ValueError, match=r"must be of the same type .* as Const:0"):
        check.assert_same_float_dtype([single, double])
    with pytest.raises(ValueError, match="must be of the same type"):
        check.assert_same_float_dtype([single], tf.float64)
    with pytest.raises(ValueError, match="Expected floating point type"):
        check.assert_same_float_dtype([tf.constant(1)])


def test_proper_iterables() -> None:
    for good in ([1], (1,), {"a": 1}, iter([1])):
        check.assert_proper_iterable(good)
    for bad in ("a", b"a", np.zeros(2), tf.zeros([2])):
        with pytest.raises(TypeError, match='"proper" iterable'):
            check.assert_proper_iterable(bad)
    with pytest.raises(TypeError, match="to be iterable"):
        check.assert_proper_iterable(3)


# ---- order, infinities ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x, rises, never_falls",
    [
        ([], True, True), ([1], True, True), ([1, 2], True, True), ([1, 1], False, True),
        ([2, 1], False, False), ([[1, 2], [3, 4]], True, True), ([[1, 3], [2, 4]], False, False),
    ],
)  # fmt: skip
def test_order(x: Any, rises: bool, never_falls: bool) -> None:
    given, feeds = hidden(np.asarray(x, np.int32))
    with tf.Session() as session:
        found = session.run(
            [check.is_strictly_increasing(given), check.is_non_decreasing(given)], feeds
        )
    assert found == [rises, never_falls]
    with pytest.raises(TypeError, match="Expected x to be numeric"):
        check.is_non_decreasing(["a"])


def test_finite() -> None:
    x = tf.placeholder(tf.float32, [2])
    y = check.verify_tensor_all_finite(x, "not finite")
    same = check.assert_all_finite(x=x, message="not finite")
    with tf.Session() as session:
        assert session.run(y, {x: [1, 2]}).tolist() == [1, 2]
        for value in (np.nan, np.inf):
            for tensor in (y, same):
                with pytest.raises(errors.InvalidArgumentError, match="not finite"):
                    session.run(tensor, {x: [1, value]})


def test_every_tensor_checked() -> None:
    x = tf.placeholder(tf.float32, [])
    tf.identity(tf.log(x, name="log") * 0.0, name="end")
    checks = check.add_check_numerics_ops()
    with tf.Session() as session:
        session.run(checks, {x: 1.0})
        with pytest.raises(errors.InvalidArgumentError, match="log:0"):
            session.run(checks, {x: 0.0})


def test_not_every_tensor_can_be_checked() -> None:
    x = tf.placeholder(tf.float32, [])
    tf.cond(x > 0, lambda: x + 1, lambda: x)
    with pytest.raises(ValueError, match="not compatible with TensorFlow control flow"):
        check.add_check_numerics_ops()
