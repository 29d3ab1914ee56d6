"""Programs of control flow of the second version, written once and built with either library.

Each takes the module that plays `tf` and gives results and what is fed. Their derivatives are by
whatever of that is not a whole number or a flag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.parity.programs import Step

ROW = np.array([0.5, 1.0, -1.5], np.float32)
ROWS = np.stack([ROW, -ROW, ROW / 2, ROW + 1])


@dataclass
class Forward:
    """`ys` of one step for each of `fed`. `before` are steps that come first."""

    ys: list[Any]
    fed: list[dict[Any, Any]]
    before: list[Step] = field(default_factory=list)

    def steps(self, tf: Any, order: int) -> list[Step]:
        """The results and their derivatives up to an order, as far as there are any."""
        xs = [x for x in self.fed[0] if x.dtype.is_floating]
        ys, fetches = self.ys, list(self.ys)
        for _ in range(order):
            ys = [dy for dy in tf.gradients(ys, xs) if dy is not None]
            fetches += ys
        return [*self.before, *(Step(fetches, feeds) for feeds in self.fed)]


ORDERS: dict[Callable[[Any], Forward], int] = {}


def derived(order: int) -> Callable[[Callable[[Any], Forward]], Callable[[Any], Forward]]:
    """Marks a program whose derivatives are taken up to `order`."""

    def mark(program: Callable[[Any], Forward]) -> Callable[[Any], Forward]:
        ORDERS[program] = order
        return program

    return mark


def inputs(tf: Any) -> tuple[Any, Any]:
    x, w = tf.placeholder(tf.float32, [3], name="x"), tf.placeholder(tf.float32, [], name="w")
    return x, w


# ---- loops ------------------------------------------------------------------------------------


@derived(3)
def loop(tf: Any) -> Forward:
    x, w = inputs(tf)
    _, y = tf.while_loop(lambda i, _: i < 4, lambda i, a: (i + 1, tf.sin(a) * w + a * x), [0, x])
    return Forward([y], [{x: ROW, w: 0.5}])


@derived(3)
def turns_that_are_fed(tf: Any) -> Forward:
    x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, _: i < n, lambda i, a: (i + 1, a * a * 0.5 + a), [0, x])
    return Forward([y], [{x: ROW, n: count} for count in (0, 1, 3)])


@derived(2)
def limited(tf: Any) -> Forward:
    x, n = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda a: a < 9.0, lambda a: a * a, [x], maximum_iterations=n, name="few")
    z = tf.while_loop(lambda a: a < 9.0, lambda a: [a * x], [x], maximum_iterations=5)
    return Forward([y, z], [{x: 1.5, n: count} for count in (0, 2, 9)])


@derived(3)
def nested_loops(tf: Any) -> Forward:
    x, w = inputs(tf)

    def turn(i: Any, a: Any) -> Any:
        inner = lambda j, b: (j + 1, tf.sin(b) * w + a)  # noqa: E731
        return i + 1, tf.while_loop(lambda j, _: j < i + 1, inner, [0, a])[1]

    y = tf.while_loop(lambda i, _: i < 3, turn, [0, x])[1]
    return Forward([y], [{x: ROW, w: 0.7}])


@derived(2)
def growing(tf: Any) -> Forward:
    x, n = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.int32, [])
    _, y = tf.while_loop(
        lambda i, _: i < n, lambda i, a: (i + 1, tf.concat([a * a, a[:1]], 0)), [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )  # fmt: skip
    return Forward([y], [{x: ROW, n: count} for count in (0, 3)])


@derived(2)
def structures(tf: Any) -> Forward:
    """Variables in a dictionary, a list of one, and one that nothing changes."""
    x, w = inputs(tf)

    def turn(i: Any, parts: Any, alone: Any) -> Any:
        new = {"a": tf.tanh(parts["a"]) * w, "b": (parts["b"][0] + parts["a"], parts["b"][1])}
        return [i + 1, new, [alone[0] * w]]

    start = [tf.constant(0), {"a": x, "b": (x * w, w)}, [w]]
    i, parts, alone = tf.while_loop(lambda i, *_: i < 3, turn, start)
    return Forward([parts["a"], parts["b"][0], parts["b"][1], alone[0], i], [{x: ROW, w: 0.7}])


@derived(1)
def sparse_in_a_loop(tf: Any) -> Forward:
    x, w = inputs(tf)
    rows = tf.SparseTensor([[0, 1], [1, 0], [2, 2]], x, [3, 3])
    _, found = tf.while_loop(
        lambda i, _: i < 3, lambda i, s: (i + 1, tf.SparseTensor(s.indices, s.values * w, [3, 3])),
        [0, rows],
    )  # fmt: skip
    return Forward([tf.sparse.to_dense(found)], [{x: ROW, w: 0.5}])


@derived(1)
def slope_inside(tf: Any) -> Forward:
    """A loop whose body differentiates."""
    x, w = inputs(tf)

    def turn(i: Any, a: Any) -> Any:
        return i + 1, a - 0.1 * tf.gradients(tf.reduce_sum(tf.sin(a) * a * w), a)[0]

    y = tf.while_loop(lambda i, _: i < 3, turn, [0, x])[1]
    return Forward([y], [{x: ROW, w: 0.7}])


@derived(2)
def indices(tf: Any) -> Forward:
    """Rows of a table, picked by numbers that change."""
    x, w = inputs(tf)

    def turn(i: Any, a: Any, k: Any) -> Any:
        return i + 1, a * tf.gather(x, k % 3) + w * w, k + i

    y = tf.while_loop(lambda i, *_: i < 4, turn, [0, x, tf.constant(1)])[1]
    return Forward([y], [{x: ROW, w: 0.7}])


@derived(0)
def hessians(tf: Any) -> Forward:
    x, w = inputs(tf)
    y = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, tf.sin(a) * w + a * a), [0, x])[1]
    found = tf.hessians(tf.reduce_sum(y) * tf.reduce_sum(x), x)
    return Forward([*found], [{x: ROW, w: 0.7}])


# ---- conditionals -----------------------------------------------------------------------------


@derived(3)
def branches(tf: Any) -> Forward:
    x, take = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [])
    y = tf.cond(take, lambda: tf.exp(x) * tf.sin(x), lambda: x * x * x)
    return Forward([y], [{x: ROW, take: choice} for choice in (True, False)])


@derived(2)
def several_results(tf: Any) -> Forward:
    """One result of the branches is a whole number, another does not depend on what is fed."""
    x, w = inputs(tf)
    take = tf.placeholder(tf.bool, [1])
    found = tf.cond(
        take,
        lambda: {"a": x * w, "b": [tf.constant(1), tf.constant(2.0)]},
        lambda: {"a": tf.sin(x), "b": [tf.constant(3), tf.constant(4.0) * w * w]},
    )
    ys = [found["a"], *found["b"]]
    return Forward(ys, [{x: ROW, w: 0.5, take: [choice]} for choice in (True, False)])


@derived(3)
def branch_in_a_loop(tf: Any) -> Forward:
    x, w = inputs(tf)

    def turn(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.reduce_sum(a) > 0.5, lambda: tf.sin(a) * w, lambda: a * a + 0.4)

    y = tf.while_loop(lambda i, _: i < 4, turn, [0, x])[1]
    return Forward([y], [{x: ROW, w: 0.7}, {x: -ROW, w: 1.5}])


def repeated(tf: Any, times: int, turn: Any, start: Any) -> Any:
    """`start` after so many turns of a loop."""
    return tf.while_loop(lambda i, _: i < times, lambda i, a: (i + 1, turn(a)), [0, start])[1]


@derived(2)  # of the third order TensorFlow adds lists of flags, and fails
def loop_in_a_branch(tf: Any) -> Forward:
    x, w = inputs(tf)
    take = tf.placeholder(tf.bool, [])

    def wave() -> Any:
        return repeated(tf, 2, lambda a: tf.sin(a) * a * w, x)

    y = tf.cond(take, wave, lambda: tf.cond(w > 0.6, lambda: x**3, lambda: tf.exp(x * w)))
    choices = [(0.7, True), (0.7, False), (0.5, False)]
    return Forward([y], [{x: ROW, w: weight, take: choice} for weight, choice in choices])


@derived(2)
def loop_branch_loop(tf: Any) -> Forward:
    x, w = inputs(tf)

    def wave(a: Any) -> Any:
        return repeated(tf, 2, lambda b: tf.sin(b) * w + b, a)

    def turn(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(tf.reduce_sum(a) > 0.5, lambda: wave(a), lambda: a * a * w + 0.4)

    return Forward([tf.while_loop(lambda i, _: i < 3, turn, [0, x])[1]], [{x: ROW, w: 0.7}])


@derived(2)
def cases(tf: Any) -> Forward:
    x, w = inputs(tf)
    k = tf.placeholder(tf.int32, [])
    pairs = [(k < 1, lambda: x * w), (k < 2, lambda: tf.sin(x) * w)]
    first = tf.case(pairs, default=lambda: x * x)
    second = tf.switch_case(k, [lambda: x + w, lambda: x * w * w, lambda: tf.sin(x)])
    return Forward([first, second], [{x: ROW, w: 0.5, k: i} for i in (0, 1, 2, 7)])


# ---- arrays -----------------------------------------------------------------------------------


@derived(2)
def arrays(tf: Any) -> Forward:
    x = tf.placeholder(tf.float32, [4, 3])
    given = tf.TensorArray(tf.float32, 4).unstack(x)

    def turn(i: Any, state: Any, out: Any) -> Any:
        state = tf.sin(state) + given.read(i) * state
        return i + 1, state, out.write(i, state * state)

    out = tf.TensorArray(tf.float32, 4, element_shape=[3])
    _, last, out = tf.while_loop(lambda i, *_: i < 4, turn, [0, tf.ones([3]), out])
    ys = [out.stack(), last, out.gather([2, 0]), out.concat(), tf.reduce_sum(out.read(1))]
    return Forward([*ys, out.size()], [{x: ROWS}])


@derived(2)
def arrays_that_grow(tf: Any) -> Forward:
    x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    out = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[3])

    def turn(i: Any, a: Any, out: Any) -> Any:
        return i + 1, a * x, tf.cond(i % 2 < 1, lambda: out.write(i, a), lambda: out.write(i, -a))

    _, _, out = tf.while_loop(lambda i, *_: i < n, turn, [0, x, out])
    return Forward([out.stack()], [{x: ROW, n: count} for count in (1, 4)])


@derived(2)
def rows(tf: Any) -> Forward:
    x = tf.placeholder(tf.float32, [None, 3])
    mapped = tf.map_fn(lambda row: tf.reduce_sum(row) * row, x)
    scanned = tf.scan(lambda a, row: a * tf.sin(row), x)
    folded = [tf.foldl(lambda a, row: a * row + row, x), tf.foldr(lambda a, row: a - a * row, x)]
    return Forward([mapped, scanned, *folded], [{x: ROWS}])


# ---- variables, effects, devices --------------------------------------------------------------


@derived(2)
def variables(tf: Any) -> Forward:
    """Read in a loop, and in one branch of a conditional in it."""
    x, w = inputs(tf)
    v = tf.get_variable("v", initializer=[0.5, 1.0, 1.5], use_resource=True)

    def turn(i: Any, a: Any) -> Any:
        return i + 1, tf.cond(i < 1, lambda: a * v * w, lambda: tf.sin(a) * w)

    y = tf.while_loop(lambda i, _: i < 3, turn, [0, x])[1]
    slope = tf.gradients(y, v)
    return Forward([y, *slope], [{x: ROW, w: 0.7}], [Step([v.initializer])])


@derived(0)
def effects(tf: Any) -> Forward:
    """A step does what its fetches need, inside of branches and loops as elsewhere."""
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    take = tf.placeholder(tf.bool, [])

    def add(amount: float) -> Any:
        with tf.control_dependencies([v.assign_add(amount)]):
            return tf.identity(v.read_value())

    def forgotten() -> Any:
        v.assign_add(1000.0)
        return add(1.0), tf.constant(3.0)

    first, second = tf.cond(take, forgotten, lambda: (tf.constant(0.0), add(10.0)))
    done = tf.cond(take, lambda: v.assign_add(100.0).op, lambda: tf.no_op())
    alone = {"parallel_iterations": 1}  # one turn after the other
    turns, _ = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, add(0.5)), [0, 0.0], **alone)
    _, total = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, add(0.25)), [0, 0.0], **alone)
    fetches = [first, second, done, done.op, turns, total]
    steps = [Step([each], {take: flag}) for each in fetches for flag in (True, False)]
    looks = [Step([v.read_value()]) for _ in steps]
    pairs = [step for pair in zip(steps, looks, strict=True) for step in pair]
    return Forward([v.read_value()], [{take: True}], [Step([v.initializer]), *pairs])


@derived(2)
def places(tf: Any) -> Forward:
    x, w = inputs(tf)

    def turn(i: Any, a: Any) -> Any:
        with tf.device("/cpu:0"):
            return i + 1, tf.sin(a) * w

    with tf.device("/cpu:0"):
        y = tf.while_loop(lambda i, _: i < 3, turn, [0, x])[1]
    return Forward([y], [{x: ROW, w: 0.7}])


@derived(1)
def own_gradients(tf: Any) -> Forward:
    x, w = inputs(tf)

    @tf.custom_gradient
    def odd(a: Any) -> Any:
        return a * a, lambda dy: dy * 10.0 + a

    y = tf.while_loop(lambda i, _: i < 2, lambda i, a: (i + 1, odd(a) * w), [0, x])[1]
    return Forward([y], [{x: ROW, w: 0.7}])
