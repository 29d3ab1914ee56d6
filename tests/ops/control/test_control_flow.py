"""cond, case and while_loop: their nodes, what they compute, their gradients and contexts."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.graph.meta_graph import export_scoped_meta_graph, import_scoped_meta_graph
from weft.ops.control import control_flow
from weft.protos import control_flow as messages

Pair = collections.namedtuple("Pair", "j k")


def nodes(before: int = 0) -> list[str]:
    """`name = type(inputs) ^controls` of the nodes of the default graph."""
    found = []
    for op in tf.get_default_graph().get_operations()[before:]:
        inputs = ", ".join(t.name.removesuffix(":0") for t in op.inputs)
        controls = "".join(f" ^{c.name}" for c in op.control_inputs)
        found.append(f"{op.name} = {op.type}({inputs}){controls}")
    return found


def run(fetches: Any, feeds: dict[Any, Any] | None = None, times: int = 3) -> Any:
    """What several runs give: the first is interpreted, later ones are compiled."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        results = [session.run(fetches, feeds) for _ in range(times)]
    for result in results[1:]:
        for a, b in zip(tf.nest.flatten(results[0]), tf.nest.flatten(result), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5)
    return results[0]


def slope(y: Any, x: Any, at: float, feeds: dict[Any, Any] | None = None) -> float:
    """dy/dx by differences."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        high, low = (session.run(y, {**(feeds or {}), x: at + d}) for d in (1e-4, -1e-4))
    return float((high - low) / 2e-4)


def scalar(name: str = "x") -> Any:
    return tf.placeholder(tf.float64, [], name=name)


# ---- the nodes of TensorFlow ------------------------------------------------------------------


def test_nodes_of_a_cond() -> None:
    x, p = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.bool, [], name="p")
    tf.cond(p, lambda: x * 2.0, lambda: x)
    assert nodes(2) == [
        "cond/Switch = Switch(p, p)",
        "cond/switch_t = Identity(cond/Switch:1)",
        "cond/switch_f = Identity(cond/Switch)",
        "cond/pred_id = Identity(p)",
        "cond/mul/y = Const() ^cond/switch_t",
        "cond/mul = Mul(cond/mul/Switch:1, cond/mul/y)",
        "cond/mul/Switch = Switch(x, cond/pred_id)",
        "cond/Switch_1 = Switch(x, cond/pred_id)",
        "cond/Merge = Merge(cond/Switch_1, cond/mul)",
    ]


def test_nodes_of_a_loop() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, x))
    assert nodes(1) == [
        "while/Const = Const()",
        "while/Enter = Enter(while/Const)",
        "while/Enter_1 = Enter(x)",
        "while/Merge = Merge(while/Enter, while/NextIteration)",
        "while/Merge_1 = Merge(while/Enter_1, while/NextIteration_1)",
        "while/Less/y = Const() ^while/Merge",
        "while/Less = Less(while/Merge, while/Less/y)",
        "while/LoopCond = LoopCond(while/Less)",
        "while/Switch = Switch(while/Merge, while/LoopCond)",
        "while/Switch_1 = Switch(while/Merge_1, while/LoopCond)",
        "while/Identity = Identity(while/Switch:1)",
        "while/Identity_1 = Identity(while/Switch_1:1)",
        "while/add/y = Const() ^while/Identity",
        "while/add = AddV2(while/Identity, while/add/y)",
        "while/mul = Mul(while/Identity_1, while/mul/Enter)",
        "while/mul/Enter = Enter(x)",
        "while/NextIteration = NextIteration(while/add)",
        "while/NextIteration_1 = NextIteration(while/mul)",
        "while/Exit = Exit(while/Switch)",
        "while/Exit_1 = Exit(while/Switch_1)",
    ]
    enter, invariant = (
        tf.get_default_graph().get_operation_by_name(n) for n in ("while/Enter", "while/mul/Enter")
    )
    assert (
        enter.get_attr("frame_name") == invariant.get_attr("frame_name") == b"while/while_context"
    )
    assert (enter.get_attr("is_constant"), invariant.get_attr("is_constant")) == (False, True)


def test_nodes_of_the_gradient_of_a_loop() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    _, s = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, 1.0))
    before = len(tf.get_default_graph().get_operations())
    tf.gradients(s, x)
    short = {
        "gradients/while/mul_grad/Mul_1": "M1",
        "gradients/while/mul_grad/Mul": "M",
        "gradients/while/mul/Enter_grad": "E",
        "gradients/while/": "W/",
        "gradients/": "g/",
    }
    made = nodes(before)
    for name, letter in short.items():
        made = [node.replace(name, letter) for node in made]
    assert made == [
        "g/Shape = Const()",
        "g/grad_ys_0 = Const()",
        "g/Fill = Fill(g/Shape, g/grad_ys_0)",
        "g/f_count = Const()",
        "g/f_count_1 = Enter(g/f_count)",
        "g/Merge = Merge(g/f_count_1, g/NextIteration)",
        "g/Switch = Switch(g/Merge, while/LoopCond)",
        "g/Add/y = Const() ^while/Identity",
        "g/Add = Add(g/Switch:1, g/Add/y)",
        "g/NextIteration = NextIteration(g/Add) ^M1/StackPushV2",
        "g/f_count_2 = Exit(g/Switch)",
        "g/b_count = Const()",
        "g/b_count_1 = Enter(g/f_count_2)",
        "g/Merge_1 = Merge(g/b_count_1, g/NextIteration_1)",
        "g/GreaterEqual = GreaterEqual(g/Merge_1, g/GreaterEqual/Enter)",
        "g/GreaterEqual/Enter = Enter(g/b_count)",
        "g/b_count_2 = LoopCond(g/GreaterEqual)",
        "g/Switch_1 = Switch(g/Merge_1, g/b_count_2)",
        "g/Sub = Sub(g/Switch_1:1, g/GreaterEqual/Enter)",
        "g/NextIteration_1 = NextIteration(g/Sub) ^M1/b_sync",
        "g/b_count_3 = Exit(g/Switch_1)",
        "W/Exit_1_grad/b_exit = Enter(g/Fill)",
        "W/Switch_1_grad/b_switch = Merge(W/Exit_1_grad/b_exit, W/Switch_1_grad_1/NextIteration)",
        "W/Merge_1_grad/Switch = Switch(W/Switch_1_grad/b_switch, g/b_count_2)",
        "W/Enter_1_grad/Exit = Exit(W/Merge_1_grad/Switch)",
        "M = Mul(W/Merge_1_grad/Switch:1, M/Enter)",
        "M/Enter = Enter(x)",
        "M1 = Mul(W/Merge_1_grad/Switch:1, M1/StackPopV2)",
        "M1/Const = Const()",
        "M1/f_acc = StackV2(M1/Const)",
        "M1/Enter = Enter(M1/f_acc)",
        "M1/StackPushV2 = StackPushV2(M1/Enter, while/Identity_1) ^g/Add",
        "M1/StackPopV2 = StackPopV2(M1/StackPopV2/Enter) ^g/Sub",
        "M1/StackPopV2/Enter = Enter(M1/f_acc)",
        "M1/b_sync = ControlTrigger() ^M1/StackPopV2",
        "E/b_acc = Const()",
        "E/b_acc_1 = Enter(E/b_acc)",
        "E/b_acc_2 = Merge(E/b_acc_1, E/NextIteration)",
        "E/Switch = Switch(E/b_acc_2, g/b_count_2)",
        "E/Add = Add(E/Switch:1, M1)",
        "E/NextIteration = NextIteration(E/Add)",
        "E/b_acc_3 = Exit(E/Switch)",
        "W/Switch_1_grad_1/NextIteration = NextIteration(M)",
    ]


# ---- conds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("taken", [True, False])
def test_cond_and_its_gradient(taken: bool) -> None:
    x, p = scalar(), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: x * x * x, lambda: tf.sin(x))
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    got = run([y, first, second], {x: 2.0, p: taken})
    wanted = [8.0, 12.0, 12.0] if taken else [np.sin(2.0), np.cos(2.0), -np.sin(2.0)]
    np.testing.assert_allclose(got, wanted)


def test_only_the_taken_branch_runs() -> None:
    counter = tf.Variable(0, use_resource=True)
    p = tf.placeholder(tf.bool, [])
    with tf.control_dependencies([tf.cond(p, lambda: tf.group(counter.assign_add(1)), tf.no_op)]):
        value = counter.read_value()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [int(session.run(value, {p: b})) for b in (True, False, True, False)] == [1, 1, 2, 2]


@pytest.mark.parametrize("taken", [True, False])
def test_cond_of_structures(taken: bool) -> None:
    x, p = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.bool, [])
    got = tf.cond(
        p, lambda: {"a": x, "b": Pair(x + 1.0, [x])}, lambda: {"a": -x, "b": Pair(x, [2.0 * x])}
    )
    assert isinstance(got["b"], Pair)
    result = run(got, {x: [1, 2], p: taken})
    np.testing.assert_allclose(result["a"], [1, 2] if taken else [-1, -2])
    np.testing.assert_allclose(result["b"].j, [2, 3] if taken else [1, 2])


def test_single_results_are_unpacked_unless_strict() -> None:
    p = tf.placeholder(tf.bool, [])
    assert isinstance(tf.cond(p, lambda: [tf.constant(1)], lambda: tf.constant(2)), tf.Tensor)
    strict = tf.cond(p, lambda: [tf.constant(1)], lambda: [tf.constant(2)], strict=True)
    assert isinstance(strict, list)


def test_cond_of_slices_with_indices_of_two_types() -> None:
    p = tf.placeholder(tf.bool, [])
    values = tf.constant([10.0])
    got = tf.cond(
        p,
        lambda: tf.IndexedSlices(values + 1.0, tf.constant([0])),
        lambda: tf.IndexedSlices(values - 1.0, tf.constant([0], tf.int64)),
    )
    assert got.indices.dtype == tf.int64
    assert run([got.values, got.indices], {p: False})[0] == [9.0]


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda p: tf.cond(p, 1, lambda: 1), TypeError, "true_fn must be callable"),
        (lambda p: tf.cond(p, lambda: 1), TypeError, "false_fn argument required"),
        (lambda p: tf.cond(True, lambda: 1, lambda: 1), TypeError, "must not be a Python bool"),
        (lambda p: tf.cond(p, lambda: None, lambda: 1), ValueError, "must have a return value"),
        (lambda p: tf.cond(p, lambda: 1, lambda: 1.0), ValueError, "must have the same type"),
        (
            lambda p: tf.cond(p, lambda: [1, 2], lambda: [1, 2, 3]),
            ValueError,
            "don't have the same number of elements",
        ),
        (
            lambda p: tf.cond(p, lambda: [1, 2], lambda: (1, 2)),
            TypeError,
            "don't have the same sequence type",
        ),
    ],
)
def test_cond_refuses(build: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build(tf.placeholder(tf.bool, []))


def test_what_a_branch_makes_cannot_be_fetched() -> None:
    p, inside = tf.placeholder(tf.bool, []), []
    tf.cond(p, lambda: inside.append(tf.constant(1) + 1) or inside[0], lambda: tf.constant(0))
    with tf.Session() as session, pytest.raises(ValueError, match="not fetchable"):
        session.run(inside[0], {p: True})


@pytest.mark.parametrize(("value", "wanted"), [(7.0, 14.0), (3.0, 9.0), (0.0, -1.0)])
def test_case(value: float, wanted: float) -> None:
    x = scalar()
    pairs = [(x > 5.0, lambda: x * 2.0), (x > 1.0, lambda: x * x)]
    y = tf.case(pairs, default=lambda: x - 1.0)
    np.testing.assert_allclose(run(y, {x: value}), wanted)
    np.testing.assert_allclose(
        run(tf.gradients(y, x)[0], {x: value}), slope(y, x, value), rtol=1e-6
    )


def test_case_checks_its_predicates() -> None:
    x = scalar()
    both = tf.case([(x > 5.0, lambda: x), (x > 1.0, lambda: -x)], exclusive=True, default=lambda: x)
    none = tf.case([(x > 5.0, lambda: x), (x > 1.0, lambda: -x)])
    with tf.Session() as session:
        assert session.run([both, none], {x: 3.0}) == [-3.0, -3.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="more than 1 conditions"):
            session.run(both, {x: 7.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions evaluated"):
            session.run(none, {x: 0.0})


def test_switch_case() -> None:
    i, x = tf.placeholder(tf.int32, []), scalar()
    branches = [lambda: x, lambda: x * 2.0]
    last = tf.switch_case(i, branches)
    other = tf.switch_case(i, dict(enumerate(branches)), default=lambda: -x)
    got = [run([last, other], {i: n, x: 3.0}) for n in (0, 1, 5, -1)]
    assert got == [[3, 3], [6, 6], [6, -3], [6, -3]]
    with pytest.raises(ValueError, match="contiguous range"):
        tf.switch_case(i, {0: branches[0], 2: branches[1]})


def test_smart_cond_builds_only_what_can_run() -> None:
    before = len(tf.get_default_graph().get_operations())
    assert control_flow.smart_cond(True, lambda: 1, lambda: 2) == 1
    assert control_flow.smart_cond(0, lambda: 1, lambda: 2) == 2
    assert len(tf.get_default_graph().get_operations()) == before
    assert control_flow.smart_cond(tf.constant(False), lambda: 1, lambda: 2) == 2
    assert control_flow.smart_cond(np.bool_(True), lambda: 1, lambda: 2) == 1
    with pytest.raises(TypeError, match="Found instead: <class 'str'>"):
        control_flow.smart_cond("True", lambda: 1, lambda: 2)


def test_smart_cond_computes_what_follows_from_constants() -> None:
    yes, no, size = tf.constant(True), tf.constant(False), tf.placeholder(tf.float32, [3, None])
    known = {
        True: (tf.logical_or(yes, no), tf.identity(yes), tf.less(tf.constant(3.0) * 2, 9.0)),
        False: (tf.logical_not(yes), tf.reduce_all([yes, no]), tf.where(yes, no, yes)),
        None: (
            tf.shape(size)[1] > 2,
            tf.random_uniform([]) < 2,
            tf.placeholder_with_default(yes, []),
        ),
    }
    for value, preds in known.items():
        for pred in preds:
            told = control_flow.smart_constant_value(pred)
            assert told is None if value is None else bool(told) is value
    assert tf.layers.dropout(tf.ones([2]), training=tf.logical_not(yes)).op.type == "Identity"


def test_a_resource_variable_decides() -> None:
    flag = tf.get_variable("flag", [], tf.bool, tf.zeros_initializer(), use_resource=True)
    before = len(tf.get_default_graph().get_operations())
    tf.cond(flag, lambda: tf.constant(1), lambda: tf.constant(2))
    made = tf.get_default_graph().get_operations()[before:]
    assert [op.name for op in made[:4]] == [
        "cond/Switch/Read/ReadVariableOp",
        "cond/Switch/Identity",
        "cond/Switch/ReadVariableOp",
        "cond/Switch",
    ]


def test_constants_through_a_cond() -> None:
    x = tf.constant(10)
    got = tf.cond(tf.constant(True), lambda: {"a": x, "b": x * 2}, lambda: {"a": x, "b": x * 3})
    assert run(got) == {"a": 10, "b": 20}


@pytest.mark.parametrize("use_resource", [True, False])
@pytest.mark.parametrize("taken", [True, False])
def test_a_variable_read_whole_in_one_branch_and_by_rows_in_the_other(
    use_resource: bool, taken: bool
) -> None:
    v, p = tf.Variable([1.0, 42.0], use_resource=use_resource), tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.identity(v), lambda: tf.gather(v, [1, 1]))
    got = run([r, tf.gradients(r, v)[0]], {p: taken})
    np.testing.assert_allclose(got[0], [1, 42] if taken else [42, 42])
    np.testing.assert_allclose(got[1], [1, 1] if taken else [0, 2])


def test_branches_of_different_shape() -> None:
    v, p = tf.Variable([7.0], use_resource=False), tf.placeholder(tf.bool, [])
    gradient = tf.gradients(tf.cond(p, lambda: tf.constant(3.0), lambda: v), v)[0]
    assert run(gradient, {p: False}).tolist() == [1.0]
    assert run(gradient, {p: True}).tolist() == [0.0]


def test_variables_made_in_branches() -> None:
    p = tf.placeholder(tf.bool, [])
    r = tf.cond(p, lambda: tf.Variable(3.0), lambda: tf.Variable(4.0))
    assert [run(r, {p: b}) for b in (True, False)] == [3.0, 4.0]


def test_switch_and_merge_outside_of_a_cond() -> None:
    x, p = scalar(), tf.placeholder(tf.bool, [])
    no, yes = control_flow.switch(x, p)
    merged, index = control_flow.merge([no * 2.0, yes * 3.0])
    assert run([merged, index], {x: 5.0, p: True}) == [15.0, 1]
    assert run([merged, index], {x: 5.0, p: False}) == [10.0, 0]
    assert run(tf.gradients(yes, x)[0], {x: 5.0, p: True}) == 1.0
    assert run(tf.gradients(no, x)[0], {x: 5.0, p: True}) == 0.0


def test_inputs_from_different_loops_are_an_error() -> None:
    x = tf.placeholder(tf.float32, [])
    a, b = (tf.raw_ops.Enter(data=x, frame_name=f"frame_{i}") for i in range(2))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as caught:
        session.run(a + b, {x: 1.0})
    assert "has inputs from different frames" in str(caught.value)


# ---- loops ------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_loop_and_its_gradient(steps: int) -> None:
    x, n = scalar(), tf.placeholder(tf.int32, [])
    _, s = tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, tf.sin(s * x) + x), (0, x))
    got = run([s, tf.gradients(s, x)[0]], {x: 1.3, n: steps})
    np.testing.assert_allclose(got[1], slope(s, x, 1.3, {n: steps}), rtol=1e-6)


def test_loop_of_structures() -> None:
    start = (tf.constant(0), Pair(tf.constant(1.0), tf.constant([2.0, 3.0])))
    got = tf.while_loop(lambda i, p: i < 4, lambda i, p: (i + 1, Pair(p.j * 2.0, p.k + p.j)), start)
    assert isinstance(got[1], Pair)
    gradient = tf.gradients(got[1].k, start[1].j)[0]
    result = run([got, gradient])
    np.testing.assert_allclose(result[0][1].k, [17.0, 18.0])
    np.testing.assert_allclose(result[1], 30.0)


def test_loop_of_one_variable_is_unpacked() -> None:
    one = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    same = tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [0], return_same_structure=True)
    assert isinstance(one, tf.Tensor) and isinstance(same, list)
    assert run([one, same]) == [3, [3]]


def test_maximum_iterations() -> None:
    x = scalar()
    forever = tf.while_loop(lambda v: True, lambda v: v * x, [x], maximum_iterations=3)
    pair = tf.while_loop(
        lambda i, v: i < 2, lambda i, v: (i + 1, v * x), (0, x), maximum_iterations=5
    )
    got = run([forever, pair[1], tf.gradients(forever, x)[0]], {x: 2.0})
    np.testing.assert_allclose(got, [16.0, 8.0, 32.0])


def test_shape_invariants() -> None:
    x = tf.placeholder(tf.float64, [1, 2])
    grown = tf.while_loop(
        lambda i, m: i < 3,
        lambda i, m: [i + 1, tf.concat([m, m * 2.0], 0)],
        [0, x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])],
    )[1]
    assert grown.shape.as_list() == [None, 2]
    got = run([grown, tf.gradients(grown, x)[0]], {x: [[1.0, 2.0]]})
    assert got[0].shape == (8, 2)
    np.testing.assert_allclose(got[1], [[27.0, 27.0]])


def test_invariants_as_type_specs() -> None:
    sparse = tf.SparseTensor([[0]], [1.0], [10])
    specs = [tf.TensorSpec([], tf.int32), tf.SparseTensorSpec([None]), tf.TensorSpec(None)]
    got = tf.while_loop(
        lambda i, s, x: i < 2,
        lambda i, s, x: (i + 1, s, tf.stack([x, x])),
        [tf.constant(0), sparse, tf.ones([1])],
        shape_invariants=specs,
    )
    assert got[2].shape.ndims is None and run(got[2]).shape == (2, 2, 1)
    with pytest.raises(TypeError, match="is not compatible with"):
        tf.while_loop(
            lambda i, s, x: i < 2, lambda i, s, x: (i, s, x),
            [tf.constant(0), tf.ones([1]), tf.ones([1])], shape_invariants=specs,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: tf.while_loop(1, lambda i: i, [0]), TypeError, "cond must be callable"),
        (lambda: tf.while_loop(lambda i: True, 1, [0]), TypeError, "body must be callable"),
        (
            lambda: tf.while_loop(lambda: True, lambda: 1, []),
            ValueError,
            "No loop variables provided",
        ),
        (
            lambda: tf.while_loop(lambda i: i < 1, lambda i: (i, i), [0]),
            ValueError,
            "don't have the same nested structure",
        ),
        (
            lambda: tf.while_loop(
                lambda i, m: i < 1, lambda i, m: [i, tf.concat([m, m], 0)], [0, tf.ones([1])]
            ),
            ValueError,
            r"enters the loop with shape \(1,\), but has shape \(2,\) after one iteration",
        ),
        (
            lambda: tf.while_loop(
                lambda m: True, lambda m: m, [tf.ones([3])], shape_invariants=[tf.TensorShape([2])]
            ),
            ValueError,
            "It enters the loop with shape",
        ),
        (
            lambda: tf.while_loop(lambda i: True, lambda i: i, [0], maximum_iterations=[1]),
            ValueError,
            "maximum_iterations must be a scalar",
        ),
        (
            lambda: tf.while_loop(lambda i: True, lambda i: i, [0], parallel_iterations=0),
            TypeError,
            "parallel_iterations must be a positive integer",
        ),
    ],
)
def test_loop_refuses(build: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()


@pytest.mark.parametrize("parallel_iterations", [1, 10])
def test_loops_in_loops(parallel_iterations: int) -> None:
    x = scalar()

    def outer(i: Any, s: Any) -> Any:
        inner = tf.while_loop(
            lambda j, t: j < i, lambda j, t: (j + 1, tf.sin(t) * x), (0, s),
            parallel_iterations=parallel_iterations,
        )  # fmt: skip
        return i + 1, inner[1] + x

    s = tf.while_loop(lambda i, s: i < 4, outer, (0, x), parallel_iterations=parallel_iterations)[1]
    np.testing.assert_allclose(run(tf.gradients(s, x)[0], {x: 0.8}), slope(s, x, 0.8), rtol=1e-6)


def test_a_node_that_waits_for_the_switch_of_a_cond() -> None:
    # The gradient of a square makes its constant after the gradient it is given: here, a Switch.
    x = scalar()
    r = tf.while_loop(
        lambda v: v < 100.0,
        lambda v: tf.cond(tf.constant(True), lambda: tf.square(v), lambda: v - 1.0),
        [x],
    )
    np.testing.assert_allclose(run([r, tf.gradients(r, x)[0]], {x: 2.0}), [256.0, 1024.0])


def test_loops_in_conds_in_loops() -> None:
    x = scalar()

    def body(i: Any, s: Any) -> Any:
        def inner() -> Any:
            return tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t * x), (0, s))[1]

        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s + tf.square(x), inner)

    s = tf.while_loop(lambda i, s: i < 6, body, (0, 1.0 * x))[1]
    np.testing.assert_allclose(run(tf.gradients(s, x)[0], {x: 0.9}), slope(s, x, 0.9), rtol=1e-6)


def test_cond_in_a_loop_with_shapes_known_only_at_run_time() -> None:
    x = tf.placeholder(tf.float64, [None])

    def body(i: Any, s: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: s * x, lambda: s + tf.square(s))

    s = tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]
    got = run([s, tf.gradients(s, x)[0]], {x: [1.0, 2.0]})
    values = np.array([1.0, 2.0])
    np.testing.assert_allclose(got[0], values**3 + values**5)
    np.testing.assert_allclose(got[1], 3 * values**2 + 5 * values**4)


def test_variables_in_a_loop() -> None:
    w = tf.Variable([1.0, 2.0], use_resource=True)
    count = tf.Variable(0.0, use_resource=True)

    def body(i: Any, s: Any) -> Any:
        with tf.control_dependencies([count.assign_add(1.0)]):
            return i + 1, s * w

    s = tf.while_loop(lambda i, s: i < 3, body, (0, tf.ones([2])))[1]
    with tf.control_dependencies([s]):
        counted = count.read_value()
    got = run([s, tf.gradients(s, w)[0], counted], times=1)
    np.testing.assert_allclose(got[0], [1.0, 8.0])
    np.testing.assert_allclose(got[1], [3.0, 12.0])
    assert got[2] == 3.0


def test_rows_of_a_variable_gathered_in_a_loop() -> None:
    table = tf.Variable(np.arange(6.0).reshape(3, 2), use_resource=True)
    s = tf.while_loop(
        lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.gather(table, [i])),
        (0, tf.zeros([1, 2], tf.float64)),
    )[1]  # fmt: skip
    gradient = tf.gradients(s, table)[0]
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_allclose(run(tf.convert_to_tensor(gradient)), np.ones((3, 2)))


@pytest.mark.parametrize("steps", [0, 3])
def test_variables_used_by_a_cond_in_a_loop(steps: int) -> None:
    w = tf.Variable([1.0, 2.0], use_resource=True)
    table = tf.Variable([[1.0, 1.0], [2.0, 3.0]], use_resource=True)
    n = tf.placeholder(tf.int32, [])

    def body(i: Any, s: Any) -> Any:
        return i + 1, tf.cond(i > 0, lambda: s * w, lambda: s) + tf.gather(table, i % 2)

    s = tf.while_loop(lambda i, s: i < n, body, (0, tf.ones([2])))[1]
    slopes = [tf.convert_to_tensor(g) for g in tf.gradients(s, [w, table])]
    got = run(slopes, {n: steps})
    if steps:
        np.testing.assert_allclose(got[0], [4 + 2, 8 + 3])
        np.testing.assert_allclose(got[1], [[1 + 1, 4 + 1], [1, 2]])
    else:
        np.testing.assert_allclose(got[0], [0, 0])
        np.testing.assert_allclose(got[1], np.zeros((2, 2)))


def test_a_variable_that_an_iteration_ignores() -> None:
    x = scalar()
    _, _, b = tf.while_loop(
        lambda i, a, b: i < 3, lambda i, a, b: (i + 1, x * 2.0, b + a), (0, x, x)
    )
    np.testing.assert_allclose(run(tf.gradients(b, x)[0], {x: 2.0}), 6.0)


def test_a_variable_that_matters_only_inside() -> None:
    x, y = scalar(), scalar("y")
    a = tf.while_loop(lambda i, a, b: i < 3, lambda i, a, b: (i + 1, a * b, b + 1.0), (0, x, y))[1]
    got = run([a, *tf.gradients(a, [x, y])], {x: 2.0, y: 3.0})
    np.testing.assert_allclose(got, [120.0, 60.0, 2 * (20 + 15 + 12)])


def test_slices_and_sparse_tensors_as_variables() -> None:
    x = tf.placeholder(tf.float32, [2])
    sparse = tf.SparseTensor([[0, 1], [1, 0]], x, [2, 2])
    slices = tf.IndexedSlices(x, tf.constant([0, 2]), tf.constant([3]))
    got = tf.while_loop(
        lambda i, s, t: i < 3,
        lambda i, s, t: (
            i + 1,
            tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape),
            tf.IndexedSlices(t.values + 1.0, t.indices, t.dense_shape),
        ),
        (0, sparse, slices),
    )
    result = run([got[1].values, got[1].indices, got[2].values], {x: [1.0, 2.0]})
    np.testing.assert_allclose(result[0], [8.0, 16.0])
    np.testing.assert_allclose(result[2], [4.0, 5.0])


def test_gradients_inside_a_loop() -> None:
    x = scalar()

    def descend(i: Any, s: Any) -> Any:
        return i + 1, s - 0.1 * tf.gradients(s * s * x, s)[0]

    s = tf.while_loop(lambda i, s: i < 3, descend, (0, x))[1]
    np.testing.assert_allclose(run(s, {x: 2.0}), 2.0 * (1 - 0.4) ** 3)

    def through_the_start(i: Any, s: Any) -> Any:
        return i + 1, s + tf.gradients(s, x)[0]

    with pytest.raises(ValueError, match="through the initial value of a loop variable"):
        tf.while_loop(lambda i, s: i < 3, through_the_start, (0, x * 2.0))


def test_loop_without_back_prop_has_no_gradient() -> None:
    x = scalar()
    s = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, x), back_prop=False)[1]
    assert tf.gradients(s, x) == [None]
    np.testing.assert_allclose(run(tf.gradients(s + x, x)[0], {x: 2.0}), 1.0)


def test_no_second_order_through_a_loop() -> None:
    x = scalar()
    s = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, x))[1]
    with pytest.raises(TypeError, match="Second-order gradient for while loops not supported"):
        tf.gradients(tf.gradients(s, x)[0], x)


def test_control_inputs_from_outside_are_awaited() -> None:
    v = tf.Variable(0.0, use_resource=True)
    added = v.assign_add(1.0)

    def body(i: Any, s: Any) -> Any:
        with tf.control_dependencies([added]):
            return i + 1, s + v

    s = tf.while_loop(lambda i, s: i < 3, body, (0, 0.0))[1]
    assert run(s, times=1) == 3.0


# ---- contexts ---------------------------------------------------------------------------------


def test_a_loop_value_is_not_usable_in_another_loop() -> None:
    kept: list[Any] = []
    tf.while_loop(lambda i: i < 3, lambda i: kept.append(i + 1) or kept[0], [0])
    with pytest.raises(ValueError, match="they are in different while loops"):
        tf.while_loop(lambda i: i < 3, lambda i: i + kept[0], [0])


def test_contexts_of_nodes() -> None:
    x, p = scalar(), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.while_loop(lambda v: v < 9.0, lambda v: v * 2.0, [x]), lambda: x)
    graph = tf.get_default_graph()
    (loop,) = {op._get_control_flow_context() for op in graph.get_operations() if op.type == "Exit"}
    assert loop.IsWhileContext() and loop.outer_context.IsCondContext()
    assert loop.outer_context.branch == 1
    assert y.op._get_control_flow_context() is None
    assert graph._get_control_flow_context() is None
    # Those inside others travel with the outermost.
    assert not graph.get_collection(tf.GraphKeys.WHILE_CONTEXT)
    assert len(graph.get_collection(tf.GraphKeys.COND_CONTEXT)) == 2


def test_messages_of_contexts() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.while_loop(lambda s: s < 9.0, lambda s: s * x, [x], parallel_iterations=4)
    (context,) = tf.get_collection(tf.GraphKeys.WHILE_CONTEXT)
    message = context.to_proto()
    assert message.context_name == "while/while_context"
    assert (message.parallel_iterations, message.back_prop, message.swap_memory) == (4, True, False)
    assert message.pivot_name == "while/LoopCond:0"
    assert message.pivot_for_pred_name == "while/Merge:0"
    assert message.pivot_for_body_name == "while/Identity:0"
    assert list(message.loop_enter_names) == ["while/Enter:0"]
    assert list(message.loop_exit_names) == ["while/Exit:0"]
    assert dict(message.values_def.external_values) == {"x:0": "while/mul/Enter:0"}
    assert list(message.values_def.values) == sorted(
        [
            *(f"while/{n}:0" for n in ("Enter", "Merge", "Less/y", "Less", "LoopCond", "Switch")),
            *(f"while/{n}:0" for n in ("Identity", "mul", "mul/Enter", "NextIteration", "Exit")),
            *("while/Merge:1", "while/Switch:1", "x:0"),
        ]
    )
    data = message.SerializeToString()
    assert messages.WhileContextDef.FromString(data) == message


@pytest.mark.parametrize("scope", [None, "imported"])
def test_gradients_can_be_built_after_a_meta_graph_is_read(scope: str | None) -> None:
    def build() -> None:
        x = tf.placeholder(tf.float64, [], name="x")

        def body(i: Any, s: Any) -> Any:
            t = tf.while_loop(lambda j, t: j < i, lambda j, t: (j + 1, t * x), (0, s))[1]
            return i + 1, tf.cond(i > 1, lambda: tf.sin(t), lambda: t + x)

        y = tf.while_loop(lambda i, s: i < 4, body, (0, x))[1]
        tf.identity(y, name="y")

    with tf.Graph().as_default() as graph:
        build()
        x, y = (graph.get_tensor_by_name(n) for n in ("x:0", "y:0"))
        wanted = run([y, tf.gradients(y, x)[0]], {x: 0.7})
    with tf.Graph().as_default() as graph:
        build()
        message, _ = export_scoped_meta_graph(graph=graph)
    prefix = f"{scope}/" if scope else ""
    with tf.Graph().as_default() as graph:
        import_scoped_meta_graph(message, import_scope=scope)
        x, y = (graph.get_tensor_by_name(f"{prefix}{n}:0") for n in "xy")
        got = run([y, tf.gradients(y, x)[0]], {x: 0.7})
    np.testing.assert_allclose(got, wanted)


def test_a_loop_without_context_has_no_gradient() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float64, [], name="x")
        tf.identity(tf.while_loop(lambda v: v < 9.0, lambda v: v * v, [x]), name="y")
        graph_def = graph.as_graph_def()
    tf.import_graph_def(graph_def, name="")
    x, y = (tf.get_default_graph().get_tensor_by_name(n) for n in ("x:0", "y:0"))
    assert run(y, {x: 2.0}) == 16.0
    with pytest.raises(ValueError, match="MetaGraphDef"):
        tf.gradients(y, x)


def test_values_of_a_loop_stay_inside() -> None:
    seen = []

    def body(i):
        seen.append(i + 0)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    before = len(tf.get_default_graph().get_operations())
    with pytest.raises(ValueError, match="because 'while/add' is in a while loop"):
        _ = seen[0] + 1
    with pytest.raises(ValueError, match="they are in different while loops"):
        tf.while_loop(lambda i: i < 3, lambda i: i + seen[0], [0])
    names = [op.name for op in tf.get_default_graph().get_operations()[before:]]
    assert "add" not in names


def test_a_circle_is_named() -> None:
    a = tf.constant(1.0)
    b = tf.add(a, 2.0, name="b")
    c = tf.multiply(b, 3.0, name="c")
    b.op._update_input(0, c)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"a cycle with 2 nodes, including: .*\bc\b"
    ):
        run(c)


def test_assert_looks_at_data_only_when_it_fails() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    guarded = tf.Assert(x > 0.0, [x, "bad", 3])
    plain = tf.Assert(x > 0.0, ["bad", 3])
    assert (guarded.name, plain.name) == ("Assert/AssertGuard/Merge", "Assert_1/Assert")
    assert [t.name for t in plain.inputs[1:]] == [f"Assert_1/Assert/data_{i}:0" for i in (0, 1)]
    for check in (guarded, plain):
        with tf.control_dependencies([check]):
            y = x + 1.0
        assert run(y, {x: 1.0}) == 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"assertion failed: .*bad"):
            run(y, {x: -1.0})


def test_identity_of_a_composite() -> None:
    sparse = tf.SparseTensor([[0, 1]], [5.0], [2, 2])
    copy = tf.identity(sparse)
    assert isinstance(copy, tf.SparseTensor) and copy.values.op.type == "Identity"
    assert run(copy).values.tolist() == [5.0]
