"""Public mathematical functions: the nodes they make, and what compositions compute."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
import pytest

import weft as tf
from weft.graph.op_def import raw
from weft.ops.math import math
from weft.ops.math.histogram import histogram_fixed_width_op
from weft.runtime.xla.compile import load


def nodes(make: Any) -> list[str]:
    """`type:name` of the nodes that `make(x, y, b)` adds after the placeholders it is given."""
    with tf.Graph().as_default() as graph:
        x, y = (tf.placeholder(tf.float32, [2], name=n) for n in "xy")
        b = tf.placeholder(tf.bool, [2], name="b")
        before = len(graph.get_operations())
        make(x, y, b)
        return [f"{op.type}:{op.name}" for op in graph.get_operations()[before:]]


def run(make: Any, *values: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(make(*(tf.constant(v) for v in values)))


@pytest.mark.parametrize(
    ("make", "wanted"),
    [
        (lambda x, y, b: x + y, ["AddV2:add"]),
        (lambda x, y, b: x + 1, ["Const:add/y", "AddV2:add"]),
        (lambda x, y, b: 1 - x, ["Const:sub/x", "Sub:sub"]),
        (lambda x, y, b: x * y, ["Mul:mul"]),
        (lambda x, y, b: x / 2, ["Const:truediv/y", "RealDiv:truediv"]),
        (lambda x, y, b: x // y, ["FloorDiv:floordiv"]),
        (lambda x, y, b: x % y, ["FloorMod:mod"]),
        (lambda x, y, b: x**2.0, ["Const:pow/y", "Pow:pow"]),
        (lambda x, y, b: -x, ["Neg:Neg"]),
        (lambda x, y, b: abs(x), ["Abs:Abs"]),
        (lambda x, y, b: x < y, ["Less:Less"]),
        (lambda x, y, b: b & b, ["LogicalAnd:and"]),
        (lambda x, y, b: ~b, ["LogicalNot:LogicalNot"]),
        (lambda x, y, b: math.add(x, y), ["Add:Add"]),
        (lambda x, y, b: math.exp(x, name="e"), ["Exp:e"]),
        (lambda x, y, b: math.reduce_sum(x), ["Const:Const", "Sum:Sum"]),
        (lambda x, y, b: math.cast(x, tf.float32), []),
        (lambda x, y, b: math.cast(x, tf.int32), ["Cast:Cast"]),
        (
            lambda x, y, b: b ^ b,
            ["LogicalOr:xor/LogicalOr", "LogicalAnd:xor/LogicalAnd", "LogicalNot:xor/LogicalNot",
             "LogicalAnd:xor"],
        ),
    ],
)  # fmt: skip
def test_nodes(make: Any, wanted: list[str]) -> None:
    assert nodes(make) == wanted


def test_true_division_of_integers_is_floating() -> None:
    result = run(lambda x, y: x / y, np.int32([7]), np.int32([2]))
    assert result.dtype == np.float64 and result[0] == 3.5


def test_operands_of_two_types_are_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(TypeError, match=r"float32.*int32"):
        tf.constant([1]) + tf.constant([1.0])


def test_strings_are_joined() -> None:
    assert run(lambda x: x + "b", np.array([b"a"], object)).tolist() == [b"ab"]


def test_integer_division_by_zero_is_an_error() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        run(lambda x, y: x // y, np.int32([1]), np.int32([0]))


def test_shapes_that_do_not_fit_are_an_error() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\]"):
            session.run(x + np.ones(3, np.float32), {x: [1, 2]})


def test_reduction_of_unknown_rank_is_a_scalar() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        total = math.reduce_sum(x)
        assert total.shape.as_list() == []
        assert session.run(total, {x: [[1, 2], [3, 4]]}) == 10


EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("ij,kj->ik", (2, 3), (4, 3)),
    ("abc,cd->abd", (2, 3, 4), (4, 2)),
    ("abij,abjk->abik", (2, 1, 2, 3), (2, 1, 3, 2)),
    ("i,j->ij", (2,), (3,)),
    ("ij,ij->", (2, 3), (2, 3)),
    ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 2)),
    ("ij,jk", (2, 3), (3, 2)),
    ("bfnh,btnh->bnft", (2, 3, 2, 4), (2, 5, 2, 4)),
]


@pytest.mark.parametrize(("equation", "a", "b"), EQUATIONS)
@pytest.mark.parametrize("known", [True, False])
def test_einsum(equation: str, a: tuple[int, ...], b: tuple[int, ...], known: bool) -> None:
    left, right = (np.arange(np.prod(s), dtype=np.float32).reshape(s) for s in (a, b))
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (tf.placeholder(tf.float32, s if known else [None] * len(s)) for s in (a, b))
        found = session.run(math.einsum(equation, x, y), {x: left, y: right})
    np.testing.assert_allclose(found, np.einsum(equation, left, right), rtol=1e-6)


def test_einsum_of_one_and_of_three() -> None:
    m = np.arange(4.0).reshape(2, 2)
    assert run(lambda x: math.einsum("ii", x), m) == 3
    np.testing.assert_array_equal(run(lambda x: math.einsum("ij->ji", x), m), m.T)
    found = run(lambda x: math.einsum("ij,ij,ij->j", x, x, x), m)
    np.testing.assert_allclose(found, (m**3).sum(0))


@pytest.mark.parametrize("axes", [0, 1, 2, [[1], [0]], [[0, 1], [1, 0]], [[-1], [-2]]])
@pytest.mark.parametrize("known", [True, False])
def test_tensordot(axes: Any, known: bool) -> None:
    a, b = np.arange(9.0).reshape(3, 3), np.arange(27.0).reshape(3, 3, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        x, y = (tf.placeholder(tf.float64, v.shape if known else None) for v in (a, b))
        found = session.run(math.tensordot(x, y, axes), {x: a, y: b})
    np.testing.assert_allclose(found, np.tensordot(a, b, axes))


@pytest.mark.parametrize("axes", [[[0], [7]], [[7], [0]], [[0], [-5]], [7, 0]])
@pytest.mark.parametrize("rows", [2, None])
def test_tensordot_refuses_axes_that_are_not_there(axes: Any, rows: int | None) -> None:
    x = tf.placeholder(tf.float32, [rows, 2])
    with pytest.raises(IndexError, match="list index out of range"):
        math.tensordot(x, [[1.0, 2.0], [3.0, 4.0]], axes)


def test_range_takes_the_widest_type() -> None:
    assert run(lambda x: math.range(x), np.int32(3)).tolist() == [0, 1, 2]
    assert run(lambda x: math.range(0, x, 2), np.float64(5)).dtype == np.float64


def test_reduce_logsumexp_does_not_overflow() -> None:
    found = run(lambda x: math.reduce_logsumexp(x, axis=1), np.float32([[1000, 1000], [-1e5, 0]]))
    np.testing.assert_allclose(found, [1000 + np.log(2), 0], rtol=1e-6)


def test_casts_of_small_integers_wrap_and_saturate() -> None:
    x = np.float32([-1.7, 300])
    assert run(lambda x: math.cast(x, tf.uint8), x).tolist() == [255, 44]
    assert run(lambda x: math.saturate_cast(x, tf.uint8), x).tolist() == [0, 255]


def test_unsorted_means_leave_out_negative_ids() -> None:
    data, ids = np.float32([[1, 2], [3, 4], [9, 9]]), np.int32([1, 1, -1])
    found = run(lambda d, i: math.unsorted_segment_mean(d, i, 2), data, ids)
    assert found.tolist() == [[0, 0], [2, 3]]


def test_bincount_and_histogram() -> None:
    assert run(lambda x: math.bincount(x, minlength=5), np.int32([1, 1, 3])).tolist() == [
        0, 2, 0, 1, 0,
    ]  # fmt: skip
    bins = run(lambda x: math.histogram_fixed_width_bins(x, [0.0, 5.0], 5), np.float32([-1, 0, 9]))
    assert bins.tolist() == [0, 0, 4]


def test_functions_of_sparse_tensors_work_on_the_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.SparseTensor([[0, 1]], [-4.0], [2, 2])
        assert session.run(math.abs(sparse)).values.tolist() == [4]
        assert session.run(math.square(sparse)).values.tolist() == [16]


def test_remainders_of_integers_have_the_sign_of_the_divisor() -> None:
    """Also of two numbers, the least of which has no opposite."""
    low = np.iinfo(np.int32).min
    for x, y, expected in ((7, 3, 1), (-7, 3, 2), (7, -3, -2), (-7, -3, -1), (low, -1, 0)):
        found = run(math.floormod, np.int32(x), np.int32(y))
        assert found == expected and found.dtype == np.int32
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero"):
        run(math.floormod, np.int32(1), np.int32(0))


@pytest.mark.parametrize("low", [-np.inf, 0.0])
def test_a_histogram_of_a_range_without_end_has_all_in_one_bin(low: float) -> None:
    ends = [low, np.inf if low == 0 else 5.0]
    kernel: Any = functools.partial(histogram_fixed_width_op.kernel, dtype=tf.int32)
    x, nbins = np.float32([1, 2, 3]), np.int32(4)
    jax = load()
    compiled = jax.jit(lambda x, ends: kernel(jax.numpy, x, ends, nbins))
    with np.errstate(invalid="ignore"):  # as in a step
        assert list(kernel(np, x, np.float32(ends), nbins)) == [3, 0, 0, 0]
    assert list(compiled(x, np.float32(ends))) == [3, 0, 0, 0]


def test_poles_of_zeta_are_infinite_in_compiled_steps() -> None:
    kernel = jax.jit(functools.partial(raw.Zeta.kernel, jax.numpy))
    x = np.array([0.5, 1.0, 1.2, 1.5, 2.0, 3.0, np.nan], np.float32)
    for q in (0.0, -0.0, -1.0, -3.0, -np.inf):
        found = kernel(x, np.full_like(x, q))
        np.testing.assert_array_equal(found, [np.nan] + [np.inf] * 6)
    assert np.isnan(kernel(x[2:4], np.float32([-0.5, -2.5]))).all()
