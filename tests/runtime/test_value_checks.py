"""Values are checked in compiled steps as on TensorFlow's CPU; a step that fails does nothing."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.ops.functions.defun import Defun
from weft.runtime.host import program_call
from weft.runtime.xla import region
from weft.runtime.xla.checks import finder_of_outside

F, N = np.float32, np.int32
EYE, ONES = np.eye(2, dtype=F), np.ones((2, 3), F)


@pytest.fixture(autouse=True)
def nothing_is_tiny(monkeypatch):
    """Also the smallest region is compiled when it is run again."""
    monkeypatch.setattr(region, "CALL_COST", 0.0)
    monkeypatch.setattr(region, "BUFFER_COST", 0.0)


class Case(NamedTuple):
    build: Callable[..., Any]
    good: tuple[Any, ...]
    bad: tuple[Any, ...]
    message: str


def _divided(name: str) -> Case:
    def build(x, y):
        return getattr(tf.raw_ops, name)(x=x, y=y)

    return Case(build, (N([7, 8]), N([1, 2])), (N([7, 8]), N([0, 2])), "Integer division by zero")


def _sparse_by_dense(indices, values):
    sparse = tf.SparseTensor(indices, values, [2, 3])
    return tf.sparse_tensor_dense_matmul(sparse, tf.ones([3, 2]))


def _sparse_plus_dense(indices, values):
    return tf.sparse_add(tf.SparseTensor(indices, values, [2, 3]), tf.ones([2, 3]))


CASES = {
    "sparse by dense": Case(
        _sparse_by_dense, (np.int64([[1, 2]]), F([2])), (np.int64([[1, 3]]), F([2])),
        "k (3) from index[0,1] out of bounds (>=3)",
    ),
    "sparse plus dense": Case(
        _sparse_plus_dense, (np.int64([[1, 2]]), F([2])), (np.int64([[2, 2]]), F([2])),
        "Sparse tensor has an invalid index; see the shape of its dense side.",
    ),
    "gather": Case(
        tf.gather, (ONES, N([[1], [0]])), (ONES, N([[1], [5]])),
        "indices[1,0] = 5 is not in [0, 2)",
    ),
    "gather along an axis": Case(
        lambda x, i: tf.gather(x, i, axis=1), (ONES, N([2])), (ONES, N([-1])),
        "indices[0] = -1 is not in [0, 3)",
    ),
    "gather in batches": Case(
        lambda x, i: tf.gather(x, i, batch_dims=1), (ONES, N([[2], [0]])), (ONES, N([[2], [3]])),
        "indices[1,0] = 3 is not in [0, 3)",
    ),
    "gather_nd": Case(
        tf.gather_nd, (ONES, N([[1, 2]])), (ONES, N([[1, 5]])),
        "indices[0] = [1, 5] does not index into param shape [2,3]",
    ),
    "a row": Case(
        lambda x, i: x[i] * 2, (ONES, N(-2)), (ONES, N(-3)),
        "slice index -1 of dimension 0 out of bounds.",
    ),
    "an element": Case(
        lambda x, i, j: x[i, j] * 2, (ONES, N(1), N(-3)), (ONES, N(1), N(3)),
        "slice index 3 of dimension 1 out of bounds.",
    ),
    "the gradient of a column": Case(
        lambda x, i: tf.gradients(tf.tanh(x)[..., i, tf.newaxis], x)[0], (ONES, N(2)),
        (ONES, N(7)), "slice index 7 of dimension 1 out of bounds.",
    ),
    "a block": Case(
        lambda x, i: tf.slice(x * 2, i, [1, 2]), (ONES, N([1, 1])), (ONES, N([1, 2])),
        "Expected size[1] in [0, 1], but got 2",
    ),
    "a block that begins at a number": Case(
        lambda x, i: tf.slice(x * 2, [i, 1], [1, -1]), (ONES, N(1)), (ONES, N(-1)),
        "Expected begin[0] in [0, 2], but got -1",
    ),
    "scatter_nd": Case(
        lambda i, x: tf.scatter_nd(i, x, [3]), (N([[2]]), F([1])), (N([[3]]), F([1])),
        "indices[0] = [3] does not index into shape [3]",
    ),
    "tensor_scatter_update": Case(
        tf.tensor_scatter_update, (F([1, 2]), N([[1]]), F([5])), (F([1, 2]), N([[-1]]), F([5])),
        "indices[0] = [-1] does not index into shape [2]",
    ),
    "gather of what a sum gave": Case(
        lambda x, i: tf.gather(x, tf.gather(tf.range(tf.size(x))[5:], i) + i),
        (np.zeros(9000, F), N([3])), (np.zeros(9000, F), N([4499])),
        "indices[0] = 9003 is not in [0, 9000)",
    ),
    "gather by a part of a longer range": Case(
        lambda x, i: tf.gather(x[:8990], tf.gather(tf.tile(tf.range(tf.size(x)), [2]), i)),
        (np.zeros(9000, F), N([8989])), (np.zeros(9000, F), N([8990])),
        "indices[0] = 8990 is not in [0, 8990)",
    ),
    "unsorted_segment_sum": Case(
        lambda x, i: tf.unsorted_segment_sum(x, i, 3), (F([1, 2]), N([0, -1])),
        (F([1, 2]), N([0, 3])), "segment_ids[1] = 3 is out of range [0, 3)",
    ),
    "sparse_segment_sum": Case(
        lambda x, i, s: tf.sparse_segment_sum(x, i, s, num_segments=2),
        (ONES, N([0, 1]), N([0, 1])), (ONES, N([0, 2]), N([0, 1])),
        "Bad: indices[1] == 2 out of range [0, 2)",
    ),
    "sparse_segment_sum, order": Case(
        lambda x, i, s: tf.sparse_segment_sum(x, i, s, num_segments=2),
        (ONES, N([0, 1]), N([0, 1])), (ONES, N([0, 1]), N([1, 0])),
        "segment ids are not increasing",
    ),
    "sparse_segment_sum, count": Case(
        lambda x, i, s: tf.sparse_segment_sum(x, i, s, num_segments=2),
        (ONES, N([0, 1]), N([0, 1])), (ONES, N([0, 1]), N([1, 2])),
        "segment ids must be < num_segments",
    ),
    "sparse_segment_sum, negative": Case(
        lambda x, i, s: tf.sparse_segment_sum(x, i, s, num_segments=2),
        (ONES, N([0, 1]), N([0, 1])), (ONES, N([0, 1]), N([-1, 0])),
        "Segment id -1 out of range [0, 1)",
    ),
    "labels": Case(
        lambda x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(logits=x, labels=i),
        (ONES, N([2, 0])), (ONES, N([2, 3])),
        "Received a label value of 3 which is outside the valid range of [0, 3)",
    ),
    "sparse_to_dense": Case(
        lambda i: tf.sparse_to_dense(i, [3], 1.0), (N([0, 2]),), (N([0, 3]),),
        "indices[1] = [3] is out of bounds: need 0 <= index < [3]",
    ),
    "sparse_to_dense, order": Case(
        lambda i: tf.sparse_to_dense(i, [3, 4], 1.0), (N([[0, 3], [1, 0]]),),
        (N([[1, 0], [0, 3]]),), "indices[1] = [0,3] is out of order",
    ),
    "pow": Case(
        tf.pow, (N([2]), N([3])), (N([2]), N([-3])),
        "Integers to negative integer powers are not allowed",
    ),
    "cholesky": Case(
        tf.cholesky, (EYE,), (-EYE,), "Cholesky decomposition was not successful.",
    ),
    "inverse": Case(tf.matrix_inverse, (EYE,), (0 * EYE,), "Input is not invertible."),
    "solve": Case(
        tf.matrix_solve, (EYE, EYE), (0 * EYE, EYE), "Input matrix is not invertible.",
    ),
    "triangular solve": Case(
        tf.matrix_triangular_solve, (EYE, EYE), (0 * EYE, EYE), "Input matrix is not invertible.",
    ),
    "tridiagonal solve in order": Case(
        lambda d, x: tf.raw_ops.TridiagonalSolve(diagonals=d, rhs=x, partial_pivoting=False),
        (F([[9, 9, 0], [1, 1, 1], [0, 0, 9]]), F([[1], [2], [3]])),
        (F([[1, 9, 0], [1, 2, 1], [0, 2, 9]]), F([[1], [2], [3]])),
        "The matrix is either not invertible, or requires pivoting.",
    ),
    "lu": Case(lambda x: tf.linalg.lu(x)[0], (EYE,), (0 * EYE,), "Input is not invertible."),
    "bincount": Case(
        lambda x: tf.raw_ops.Bincount(arr=x, size=3, weights=tf.constant([], tf.float32)),
        (N([1, 7]),), (N([1, -1]),), "Input arr must be non-negative!",
    ),
    "band part": Case(
        lambda x, n: tf.matrix_band_part(x, n, 0), (ONES, N(2)), (ONES, N(3)),
        "num_lower must be negative or less or equal to number of rows (2) got: 3",
    ),
    "reverse_sequence": Case(
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=1), (ONES, N([3, 1])), (ONES, N([3, 4])),
        "seq_lens(1) > input.dims(1)",
    ),
    "invert_permutation": Case(
        tf.invert_permutation, (N([1, 0]),), (N([1, 1]),), "1 is duplicated in the input.",
    ),
    "random_uniform": Case(
        lambda high: tf.random_uniform([2], 0, high, tf.int32, seed=1), (N(3),), (N(0),),
        "Need minval < maxval, got 0 >= 0",
    ),
    "histogram": Case(
        lambda x: tf.histogram_fixed_width([1.0], x), (F([0, 1]),), (F([1, 1]),),
        "value_range should satisfy value_range[0] < value_range[1]",
    ),
    "histogram of no number": Case(
        lambda x: tf.histogram_fixed_width(x, [0.0, 5.0]), (F([0, 1]),), (F([0, np.nan]),),
        "Histogram values must not contain NaN",
    ),
}  # fmt: skip
for _name in ("FloorDiv", "FloorMod", "TruncateDiv", "TruncateMod", "Mod", "Div", "RealDiv"):
    CASES[_name] = _divided(_name)


def directly(build, inputs):
    return build(*inputs)


def in_a_function(build, inputs):
    @Defun(*[x.dtype for x in inputs])
    def call(*arguments):
        return build(*arguments)

    return call(*inputs)


def in_a_branch(build, inputs):
    one = tf.placeholder_with_default(True, [])
    return tf.cond(one, lambda: build(*inputs), lambda: build(*inputs))


def in_a_loop(build, inputs):
    def body(i, total):
        return i + 1, total + tf.reduce_sum(tf.cast(build(*inputs), tf.float32))

    return tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), tf.constant(0.0)])[1]


WAYS = [directly, in_a_function, in_a_branch, in_a_loop]


def error_of(session, fetch, feeds):
    with pytest.raises(tf.errors.OpError) as caught:
        session.run(fetch, feeds)
    return caught.value


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", CASES)
def test_a_compiled_step_raises_what_an_interpreted_one_does(sess, name, way):
    case = CASES[name]
    inputs = [tf.placeholder(np.asarray(x).dtype, np.shape(x)) for x in case.good]
    found = way(case.build, inputs)
    good, bad = (dict(zip(inputs, values, strict=True)) for values in (case.good, case.bad))
    values = [sess.run(found, good) for _ in range(3)]
    assert programs(sess)
    if name != "random_uniform":
        np.testing.assert_allclose(values[2], values[0], rtol=1e-5)
    error = error_of(sess, found, bad)
    with flags.XLA.override(False), tf.Session() as interpreting:
        wanted = error_of(interpreting, found, bad)
    assert type(error) is type(wanted) is tf.errors.InvalidArgumentError
    assert error.message == wanted.message and case.message in error.message
    assert error.op is wanted.op is not None
    sess.run(found, good)


def programs(session):
    plans = session._runner._plans.values()
    regions = [u for plan in plans for u in plan.prepared.units if hasattr(u, "entries")]
    return [entry.program for r in regions for entry in r.entries.values() if entry.program]


def test_a_branch_that_is_not_taken_may_be_wrong(sess):
    i, wanted = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.bool, [])
    y = tf.cond(wanted, lambda: tf.gather(ONES, i), lambda: tf.zeros([2, 3]))
    for _ in range(3):
        np.testing.assert_array_equal(sess.run(y, {i: [0, 7], wanted: False}), np.zeros((2, 3)))
    assert "is not in [0, 2)" in str(error_of(sess, y, {i: [0, 7], wanted: True}))


def test_the_condition_of_a_loop_is_checked(sess):
    stops = tf.placeholder(tf.bool, [4])
    count = tf.while_loop(lambda i: ~tf.gather(stops, i), lambda i: i + 1, [tf.constant(0)])
    for _ in range(3):
        assert sess.run(count, {stops: [False, False, True, False]}) == 2
    assert "indices = 4 is not in [0, 4)" in str(error_of(sess, count, {stops: [False] * 4}))


def test_a_loop_that_bad_values_would_keep_going_ends(sess):
    following = tf.placeholder(tf.int32, [4])
    last = tf.while_loop(lambda i: i > 0, lambda i: tf.gather(following, i), [tf.constant(1)])
    for _ in range(3):
        assert sess.run(last, {following: [0, 2, 3, 0]}) == 0
    assert "indices = 9 is not in [0, 4)" in str(error_of(sess, last, {following: [0, 2, 9, 9]}))


@pytest.mark.parametrize("first", [-4, 0])
def test_a_loop_whose_counter_leaves_what_it_slices(sess, first):
    x, count = tf.placeholder(tf.float32, [4]), tf.placeholder(tf.int32, [])
    start = [tf.constant(first), tf.constant(0.0)]
    total = tf.while_loop(lambda i, _: i < count, lambda i, s: (i + 1, s + x[i]), start)[1]
    for _ in range(3):
        assert sess.run(total, {x: [1, 2, 3, 4], count: 3}) == 6 - 10 * (first // 4)
    error = error_of(sess, total, {x: [1, 2, 3, 4], count: 5})
    assert "slice index 4 of dimension 0 out of bounds." in str(error)


@pytest.mark.parametrize("first, end, wrong", [(-1, 3, -1), (0, 5, 4)])
def test_a_loop_whose_counter_leaves_what_it_writes(sess, first, end, wrong):
    factor = tf.placeholder(tf.float32, [])
    array = tf.TensorArray(tf.float32, 4, element_shape=[])

    def body(i, array):
        return i + 1, array.write(i, factor * 2)

    found = tf.while_loop(lambda i, _: i < end, body, (tf.constant(first), array))[1].stack()
    for _ in range(3):
        error = error_of(sess, found, {factor: 3.0})
        assert f"Tried to write to index {wrong} but array is not resizeable" in str(error)


# ---- effects ------------------------------------------------------------------------------------

OPTIMIZERS = {
    "descent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "adam": lambda: tf.train.AdamOptimizer(0.1),
    "ftrl": lambda: tf.train.FtrlOptimizer(0.1),
}


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_training_step_that_fails_changes_nothing(sess, name, use_resource):
    ids, labels = tf.placeholder(tf.int32, [4]), tf.placeholder(tf.int32, [4])
    with tf.variable_scope("model", use_resource=use_resource):
        tables = [tf.get_variable(f"table{k}", [6, 3]) for k in range(2)]
        weights = tf.get_variable("weights", [3, 5])
    embedded = tf.nn.embedding_lookup(tables[0], ids) + tf.nn.embedding_lookup(tables[1], ids // 2)
    embedded = tf.nn.dropout(embedded, rate=0.5, seed=3)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        logits=tf.matmul(embedded, weights), labels=labels
    )
    count = tf.train.get_or_create_global_step()
    train = OPTIMIZERS[name]().minimize(tf.reduce_mean(losses), global_step=count)
    sess.run(tf.global_variables_initializer())
    good = {ids: [0, 1, 1, 5], labels: [0, 4, 2, 2]}
    for _ in range(4):
        sess.run(train, good)
    before = sess.run(tf.global_variables())
    assert "is not in [0, 6)" in str(error_of(sess, train, {**good, ids: [0, 6, 1, 1]}))
    assert "label value of 5" in str(error_of(sess, train, {**good, labels: [0, 5, 1, 1]}))
    for old, now in zip(before, sess.run(tf.global_variables()), strict=True):
        np.testing.assert_array_equal(old, now)
    sess.run(train, good)
    assert sess.run(count) == 5


SCATTERS = ["scatter_update", "scatter_add", "scatter_sub", "scatter_mul", "scatter_div"]
SCATTERS += ["scatter_min", "scatter_max", "scatter_nd_update", "scatter_nd_add", "scatter_nd_sub"]


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("name", SCATTERS)
def test_scatters_into_variables(sess, name, use_resource):
    v = tf.get_variable("v", initializer=F([1, 2, 3]), use_resource=use_resource)
    other = tf.get_variable("other", initializer=F([0, 0]), use_resource=use_resource)
    i = tf.placeholder(tf.int32, [2, 1] if "_nd_" in name else [2])

    def as_fed(rows):
        return np.reshape(rows, i.shape.as_list())

    done = tf.group(getattr(tf, name)(v, i, F([4, 5])), other.assign_add([1, 1]))
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(done, {i: as_fed([0, 2])})
    before = sess.run([v, other])
    assert error_of(sess, done, {i: as_fed([0, 3])}).error_code == tf.errors.INVALID_ARGUMENT
    for old, now in zip(before, sess.run([v, other]), strict=True):
        np.testing.assert_array_equal(old, now)


def test_a_check_after_an_update_undoes_it(sess):
    v = tf.get_variable("v", initializer=F([1, 2, 3]))
    i = tf.placeholder(tf.int32, [1])
    added = tf.scatter_add(v, i, F([1]))
    with tf.control_dependencies([added]):
        checked = tf.cholesky(tf.diag(v.read_value()))
    sess.run(v.initializer)
    for _ in range(3):
        sess.run(checked, {i: [1]})
    sess.run(v.assign([1, -1, 3]))
    error_of(sess, checked, {i: [0]})
    np.testing.assert_array_equal(sess.run(v), [1, -1, 3])


def test_a_variable_stays_uninitialized_and_keeps_its_shape(sess):
    i = tf.placeholder(tf.int32, [None])
    new = tf.Variable(tf.gather(F([1, 2]), i), validate_shape=False)
    other = tf.Variable(F([1, 2, 3]), validate_shape=False)
    set_other = tf.assign(other, tf.gather(F([1, 2]), i), validate_shape=False)
    both = tf.group(new.initializer, set_other)
    sess.run(other.initializer)
    for _ in range(3):
        with tf.Session() as again:
            again.run(other.initializer)
            again.run(both, {i: [0, 1]})
    error_of(sess, both, {i: [0, 2]})
    error_of(sess, both, {i: [0, 2]})
    assert not sess.run(tf.is_variable_initialized(new))
    np.testing.assert_array_equal(sess.run(other), [1, 2, 3])
    sess.run(both, {i: [0]})
    np.testing.assert_array_equal(sess.run(other), [1])


def test_what_comes_later_in_a_step_does_not_happen(sess):
    i = tf.placeholder(tf.int32, [2])
    queue = tf.FIFOQueue(100, [tf.float32], shapes=[[2, 3]])
    put = queue.enqueue([tf.gather(ONES, i) * 2])
    for _ in range(3):
        sess.run(put, {i: [0, 1]})
    error_of(sess, put, {i: [0, 2]})
    assert sess.run(queue.size()) == 3


def test_updates_in_a_loop_are_undone(sess):
    v = tf.get_variable("v", initializer=np.zeros(4, F), use_resource=True)
    places = tf.placeholder(tf.int32, [3])

    def body(i):
        with tf.control_dependencies([v.scatter_add(tf.IndexedSlices(F(1), places[i]))]):
            return i + 1

    loop = tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])
    sess.run(v.initializer)
    for _ in range(3):
        sess.run(loop, {places: [0, 1, 1]})
    error_of(sess, loop, {places: [0, 1, 4]})
    np.testing.assert_array_equal(sess.run(v), [3, 6, 0, 0])


def test_random_steps_fail_as_interpreted_ones_do(sess):
    """Chains of checked operations on fed integers, some of them bad."""
    generator = np.random.RandomState(0)
    fed = tf.placeholder(tf.int32, [6])
    v = tf.get_variable("v", initializer=np.arange(6, dtype=N), use_resource=True)
    steps = [
        lambda x: tf.gather(v, tf.abs(x) % 7),
        lambda x: tf.gather_nd(fed, tf.abs(x)[:, None] % 7),
        lambda x: x // (tf.roll(fed, 1, 0) - 2),
        lambda x: tf.scatter_nd(tf.abs(x)[:, None] % 7, fed, [6]),
        lambda x: tf.unsorted_segment_max(fed, x % 7, 6) // 2**29,
        lambda x: tf.cond(x[0] > 2, lambda: tf.gather(x, x % 7), lambda: x + 1),
    ]
    x: Any = fed
    for k in generator.randint(len(steps), size=8):
        x = steps[k](x)
    with tf.control_dependencies([v.scatter_nd_add(tf.abs(x)[:, None] % 7, fed)]):
        fetched = tf.identity(x)
    sess.run(v.initializer)
    other = tf.Session()
    other.run(v.initializer)
    outcomes = set()
    for _ in range(60):
        value = {fed: generator.randint(0, 6, size=6)}
        outcome = outcome_of(sess, fetched, value)
        with flags.XLA.override(False):
            wanted = outcome_of(other, fetched, value)
        held, wanted_held = sess.run(v), other.run(v)
        assert outcome == wanted
        if isinstance(outcome, str):
            other.run(v.assign(held))  # an interpreted step keeps what it has assigned
        else:
            np.testing.assert_array_equal(held, wanted_held)
        outcomes.add(isinstance(outcome, str))
    assert outcomes == {True, False}


def outcome_of(session, fetch, feeds):
    try:
        return session.run(fetch, feeds).tolist()
    except tf.errors.InvalidArgumentError as error:
        return error.message


@pytest.mark.parametrize(
    ("dtype", "limit", "bad"),
    [
        (np.int32, 3, [-1, 3, -(2**31)]),
        (np.int64, 2**40, [-1, 2**40]),
        (np.int8, 300, [-1, -128]),
        (np.uint8, 3, [3, 255]),
    ],
)
def test_numbers_outside_of_a_range(dtype, limit, bad):
    has_outside = finder_of_outside(dtype, limit)
    for number in bad:
        assert has_outside(np.array([0, number], dtype))
        assert has_outside(np.array([[0, 0], [number, 0]], dtype).T)
    assert not has_outside(np.array([0, min(limit - 1, np.iinfo(dtype).max)], dtype))
    assert not has_outside(np.zeros((2, 0), dtype))
    assert has_outside(np.array([0] * 70_000 + [bad[0]], dtype))
    assert not has_outside(np.zeros(70_000, dtype))
    assert finder_of_outside(np.uint8, 300) is None
    assert finder_of_outside(dtype, 0)(np.zeros(1, dtype))


def test_labels_of_another_type(sess):
    labels = tf.placeholder(tf.uint8, [2])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(
        logits=ONES, labels=tf.cast(labels, tf.int64)
    )
    for _ in range(3):
        sess.run(loss, {labels: [2, 0]})
    assert "label value of 255" in str(error_of(sess, loss, {labels: [0, 255]}))


def test_elements_of_a_range_need_no_look_wherever_they_have_moved(sess):
    i, rows = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None])
    numbers = tf.range(tf.size(rows))
    ids = tf.gather(tf.reshape(tf.tile(tf.expand_dims(numbers, 1), [1, 3]), [-1]), i)
    total = tf.unsorted_segment_sum(tf.ones_like(i, tf.float32), ids, tf.size(rows))
    feeds = {i: [0, 2, 26_999], rows: np.zeros(9000)}
    for _ in range(3):
        assert sess.run(total, feeds)[[0, 8999]].tolist() == [2.0, 1.0]
    assert [program.checked for program in programs(sess)] == [False]


def test_a_number_that_a_cast_wraps_around_is_no_index(sess):
    i = tf.placeholder(tf.int32, [1])
    table = tf.range(300)
    narrow = tf.cast(tf.cast(i, tf.int8), tf.int32)
    wide = tf.gather(table, i) + tf.gather(table, narrow)
    for _ in range(3):
        assert sess.run(wide, {i: [100]}) == [200]
    assert "indices[0] = -56 is not in [0, 300)" in str(error_of(sess, wide, {i: [200]}))


SIGNS = {
    "lr": (0.0, "lr is not a positive scalar: []"),
    "l1": (-0.1, "l1 regularization strength is not a non-negative scalar: []"),
    "l2": (-0.1, "l2 regularization strength is not a non-negative scalar: []"),
    "l2_shrinkage": (
        -0.1,
        "l2 shrinkage regularization strength is not a non-negative scalar: []",
    ),
    "lr_power": (0.1, "lr_power is not a non-positive scalar: []"),
}
GOOD = {"lr": 0.1, "l1": 0.0, "l2": 0.0, "l2_shrinkage": 0.0, "lr_power": -0.5}


@pytest.mark.parametrize("name", ["ProximalAdagrad", "Ftrl", "FtrlV2"])
@pytest.mark.parametrize("sparse", [False, True])
def test_scalars_of_an_optimizer_have_their_sign(sess, name, sparse):
    definition = getattr(tf.raw_ops, ("ResourceSparseApply" if sparse else "ResourceApply") + name)
    wanted = inspect.signature(definition).parameters
    slots = {n: tf.Variable(F([1, 2]), use_resource=True) for n in ("var", "accum", "linear")}
    fed = {n: tf.placeholder(tf.float32, []) for n in GOOD if n in wanted}
    given = {n: v.handle for n, v in slots.items() if n in wanted} | fed | {"grad": F([1, 1])}
    update = definition(**given, **({"indices": N([0, 1])} if sparse else {}))
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        sess.run(update, {fed[n]: GOOD[n] for n in fed})
    before = sess.run(list(slots.values()))
    for n in fed:
        number, message = SIGNS[n]
        with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(message)):
            sess.run(update, {fed[k]: number if k == n else GOOD[k] for k in fed})
    np.testing.assert_array_equal(sess.run(list(slots.values())), before)


def test_a_check_is_looked_at_wherever_the_program_ran(sess, monkeypatch):
    elsewhere = SimpleNamespace(default_backend=lambda: "gpu")
    monkeypatch.setattr(program_call, "load", lambda: elsewhere)
    x, y = (tf.placeholder(tf.int32, [2]) for _ in "xy")
    quotient = x // y
    good, bad = {x: [7, 8], y: [1, 2]}, {x: [7, 8], y: [0, 2]}
    for _ in range(3):
        assert sess.run(quotient, good).tolist() == [7, 4]
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        sess.run(quotient, bad)
    assert sess.run(quotient, good).tolist() == [7, 4]
