"""What a trace cannot know or do runs outside of the program; what is wrong is said as ever."""

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.runtime import control_flow as structured
from weft.runtime.executor import Executor
from weft.runtime.xla import region
from weft.runtime.xla.tracer import Tracer

ROWS = np.linspace(-1, 1, 2000, dtype=np.float32).reshape(40, 50)

# By a counter; whether how much is taken follows from what is known.
SLICES = {
    "a row": (lambda x, i: x[i], True),
    "a row from the end": (lambda x, i: x[-i], True),
    "some of a row": (lambda x, i: x[i, 1:3], True),
    "every other of a row": (lambda x, i: x[i, ::2], True),
    "a row backwards": (lambda x, i: x[i, ::-1], True),
    "some of a row backwards": (lambda x, i: x[i, 9:2:-3], True),
    "some of a column": (lambda x, i: x[1:, i], True),
    "some of a column, by an ellipsis": (lambda x, i: x[3:30:4, ..., i], True),
    "a row with a new axis": (lambda x, i: x[i, tf.newaxis, :-3], True),
    "rows from there": (lambda x, i: tf.slice(x, [i, 0], [2, 5]), True),
    "the rest of rows from there": (lambda x, i: tf.slice(x, [i, 3], [2, -1]), True),
    "rows until there": (lambda x, i: x[:i], False),
    "all rows from there": (lambda x, i: x[i:], False),
    "two rows": (lambda x, i: x[i : i + 2], False),
    "columns": (lambda x, i: x[:, i : i + 3], False),
    "every nth row": (lambda x, i: x[::i], False),
    "all that follows": (lambda x, i: tf.slice(x, [i, 0], [-1, 5]), False),
    "as many rows": (lambda x, i: tf.slice(x, [0, 0], [i, 5]), False),
}


@pytest.fixture(autouse=True)
def nothing_is_tiny(monkeypatch):
    """Programs are made of everything on its second run, however small it is."""
    monkeypatch.setattr(region, "CALL_COST", -1e9)


@pytest.fixture
def interpreted(monkeypatch):
    """The loops that were run iteration by iteration."""
    found = []
    run = structured._While.__call__

    def noted(self, *args):
        found.append(self.node.name)
        return run(self, *args)

    monkeypatch.setattr(structured._While, "__call__", noted)
    monkeypatch.setattr(Executor, "enter", None)
    return found


def weighted(part):
    """A number in which the order of elements counts, and so does how many there are."""
    flat = tf.reshape(part, [-1])
    return tf.reduce_sum(flat * tf.cos(tf.range(tf.cast(tf.size(flat), tf.float32))))


def by_counter(cut, x):
    def body(i, total):
        return i + 1, total + weighted(cut(x, i)) * tf.cast(i, tf.float32)

    return tf.while_loop(lambda i, total: i < 5, body, [1, 0.0])[1]


@pytest.mark.parametrize("dims", [(40, 50), (None, 50)], ids=["known", "unknown"])
@pytest.mark.parametrize("name", SLICES)
def test_slices_by_the_counter_of_a_loop(sess, interpreted, name, dims):
    cut, is_sized = SLICES[name]
    x = tf.placeholder(tf.float32, dims)
    y = by_counter(cut, x)
    wanted = sess.run(y, {x: ROWS})
    interpreted.clear()
    for _ in range(3):
        np.testing.assert_allclose(sess.run(y, {x: ROWS}), wanted, rtol=1e-5, atol=1e-4)
    assert bool(interpreted) is not is_sized


@pytest.mark.parametrize("name", SLICES)
def test_gradients_of_slices_by_the_counter_of_a_loop(name):
    cut, _ = SLICES[name]
    results = {}
    for way in ("nodes", "whole"):
        with flags.CONTROL_FLOW.override(way), tf.Graph().as_default(), tf.Session() as sess:
            x = tf.placeholder(tf.float32, [None, 50])
            slope = tf.gradients(by_counter(lambda x, i: tf.square(cut(x, i)), x), x)[0]
            results[way] = [sess.run(slope, {x: ROWS}) for _ in range(3)]
    for got in results["whole"]:
        np.testing.assert_allclose(got, results["nodes"][0], rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("name", SLICES)
def test_slices_by_a_variable(sess, name):
    x = tf.placeholder(tf.float32, [None, 50])
    i = tf.Variable(2)
    y = weighted(SLICES[name][0](x, i))
    sess.run(i.initializer)
    first = [sess.run(y, {x: ROWS}) for _ in range(3)]
    np.testing.assert_allclose(first, first[:1] * 3, rtol=1e-5, atol=1e-4)


# ---- first operands that are small constants -----------------------------------------------------

COUNT = 12
TABLE = np.arange(2.0 * COUNT, dtype=np.float32).reshape(COUNT, 2)


def sparse_of(where, values):
    indices = tf.cast(tf.stack([tf.sort(where), where * 0], 1), tf.int64)
    return tf.SparseTensor(indices, values[:, 0], [COUNT, 2])


CONSTANTS = {
    "gather": lambda c, i, v: tf.gather(c, i),
    "gather_nd": lambda c, i, v: tf.gather_nd(c, i[:, None]),
    "gather in batches": lambda c, i, v: tf.gather(c, i[:, None] % 2, batch_dims=1),
    "batch_gather": lambda c, i, v: tf.batch_gather(c, i[:, None] % 2),
    "tensor_scatter_update": lambda c, i, v: tf.tensor_scatter_nd_update(c, i[:, None], v),
    "tensor_scatter_add": lambda c, i, v: tf.tensor_scatter_nd_add(c, i[:, None], v),
    "tensor_scatter_sub": lambda c, i, v: tf.tensor_scatter_nd_sub(c, i[:, None], v),
    "inplace_add": lambda c, i, v: tf.raw_ops.InplaceAdd(x=c, i=i, v=v),
    "inplace_sub": lambda c, i, v: tf.raw_ops.InplaceSub(x=c, i=i, v=v),
    "inplace_update": lambda c, i, v: tf.raw_ops.InplaceUpdate(x=c, i=i, v=v),
    "sparse_add": lambda c, i, v: tf.sparse_add(sparse_of(i, v), c),
    "sparse product": lambda c, i, v: tf.gradients((sparse_of(i, v) * c).values, v)[0],
    "segments": lambda c, i, v: tf.math.unsorted_segment_sum(c, i, COUNT),
    "scatter into an assigned": lambda c, i, v: tf.scatter_add(tf.assign(variable(), c), i, v),
}


def variable():
    return tf.Variable(np.zeros_like(TABLE), name="changed")


@pytest.mark.parametrize("name", CONSTANTS)
def test_operands_that_are_small_constants(sess, monkeypatch, name):
    i, v = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None, 2])
    y = CONSTANTS[name](tf.constant(TABLE), i, v)
    fed = {i: np.arange(COUNT)[::-1].copy(), v: TABLE * 2}
    sess.run(tf.global_variables_initializer())
    wanted = sess.run(y, fed)
    monkeypatch.setattr(region.Region, "_interpret", None)
    for _ in range(2):
        np.testing.assert_allclose(sess.run(y, fed), wanted, rtol=1e-6)


# ---- errors --------------------------------------------------------------------------------------


def mismatched(x):
    return tf.matmul(x, x)


def in_a_loop(x):
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.matmul(x, x)), [0, x])[1]


@pytest.mark.parametrize("build", [mismatched, in_a_loop])
def test_a_mistake_is_told_as_by_the_interpreter(sess, build):
    x = tf.placeholder(tf.float32, None)
    y = build(x)
    square, oblong = np.ones((3, 3), np.float32), np.ones((3, 2), np.float32)
    told = []
    for fed in (oblong, oblong, square, square, square, oblong):
        try:
            sess.run(y, {x: fed})
        except tf.errors.InvalidArgumentError as error:
            told.append(error.message)
    assert len(told) == 3 and len(set(told)) == 1


def test_after_a_mistake_steps_are_still_compiled(sess, monkeypatch):
    x = tf.placeholder(tf.float32, None)
    y = tf.matmul(x, x)
    square, oblong = np.ones((3, 3), np.float32), np.ones((3, 2), np.float32)
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(y, {x: oblong})
    for _ in range(2):
        sess.run(y, {x: square})
    monkeypatch.setattr(region.Region, "_interpret", None)
    np.testing.assert_array_equal(sess.run(y, {x: square}), np.full((3, 3), 3.0))


@pytest.mark.parametrize("kind", [TypeError, AttributeError, ValueError, tf.errors.OpError])
def test_a_kernel_that_fails_in_a_trace_only_is_interpreted(sess, monkeypatch, kind):
    call = Tracer._call

    def failing(self, node, inputs):
        if node.type == "Sin":
            raise kind(*(["nothing to trace"] if kind is not tf.errors.OpError else [None] * 3))
        return call(self, node, inputs)

    monkeypatch.setattr(Tracer, "_call", failing)
    x = tf.placeholder(tf.float32, [None])
    y = tf.cos(tf.sin(x * 2.0))
    fed = np.linspace(0, 1, 5, dtype=np.float32)
    for _ in range(4):
        np.testing.assert_allclose(sess.run(y, {x: fed}), np.cos(np.sin(fed * 2)), rtol=1e-6)
