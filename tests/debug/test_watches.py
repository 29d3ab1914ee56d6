"""Tensors that RunOptions watch: what is dumped of a step, where, and what of it can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib import debug
from weft.lib.debug.dump import InconvertibleTensorProto


def dumped(
    session: tf.Session, fetches: Any, root: Path, feeds: Any = None, **watched: Any
) -> debug.DebugDumpDir:
    options = tf.RunOptions(output_partition_graphs=True)
    debug.watch_graph(options, session.graph, debug_urls=f"file://{root}", **watched)
    session.run(fetches, feeds, options=options, run_metadata=tf.RunMetadata())
    return debug.DebugDumpDir(str(root))


def values(dump: debug.DebugDumpDir, name: str, op: str = "DebugIdentity") -> list[Any]:
    return [np.asarray(value).tolist() for value in dump.get_tensors(name, 0, op)]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_step_reads_its_weights_before_it_changes_them(
    use_resource: bool, tmp_path: Path
) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]), use_resource=use_resource)
    loss = tf.reduce_sum(tf.log(w * x), name="loss")
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dump = dumped(session, [loss, train], tmp_path, {x: [0.0, 1.0]})
        np.testing.assert_array_equal(session.run(w), [np.nan, 1.75])
    read = "w/Read/ReadVariableOp" if use_resource else "w/read"
    reads = [d for d in dump.dumped_tensor_data if d.node_name.endswith(read.split("/")[-1])]
    assert reads and all(d.get_tensor().tolist() == [1.0, 2.0] for d in reads)
    bad = [datum.tensor_name for datum in dump.find(debug.has_inf_or_nan)]
    assert bad[0] == "Log:0" and not any(name.startswith("w") for name in bad)
    assert values(dump, "_arg_x_0_0") == [[0.0, 1.0]]
    if not use_resource:
        assert dump.node_inputs("mul") == ["w/read", "_arg_x_0_0"]
        assert values(dump, "w") == [[1.0, 2.0]]


def test_loops_and_branches_show_every_iteration_and_the_branch_that_was_taken(
    tmp_path: Path,
) -> None:
    def body(i: tf.Tensor, total: tf.Tensor) -> Any:
        odd = tf.cond(
            tf.equal(i % 2, 1),
            lambda: tf.multiply(i, 10, name="ten"),
            lambda: tf.negative(i, name="less"),
        )
        return i + 1, tf.add(total, odd, name="total")

    _, total = tf.while_loop(lambda i, _: i < 4, body, [0, 0], name="loop")
    with tf.Session() as session:
        dump = dumped(session, total, tmp_path)
    assert values(dump, "loop/total") == [0, 10, 8, 38]
    assert values(dump, "loop/cond/ten") == [10, 30]
    assert values(dump, "loop/cond/less") == [0, -2]
    assert values(dump, "loop/Exit_1") == [38]
    assert values(dump, "loop/LoopCond") == [True] * 4 + [False]


def test_variables_without_a_value_and_queues_have_no_array(tmp_path: Path) -> None:
    v = tf.Variable([42.0], name="v", use_resource=False)
    queue = tf.FIFOQueue(3, [tf.float32], name="queue")
    with tf.Session() as session:
        dump = dumped(session, [v.initializer, queue.enqueue(1.0)], tmp_path)
    (empty,), (handle,) = dump.get_tensors("v", 0), dump.get_tensors("queue", 0)
    assert isinstance(empty, InconvertibleTensorProto) and not empty.initialized
    assert isinstance(handle, InconvertibleTensorProto) and handle.initialized
    assert not debug.has_inf_or_nan(None, empty)
    assert values(dump, "v/Assign") == [[42.0]]


def test_debug_operations(tmp_path: Path) -> None:
    x = tf.constant([np.nan, -np.inf, -1.0, 0.0, 3.0], name="x")
    y = tf.identity(x, name="y")
    ops = ["DebugNanCount", "DebugNumericSummary(upper_bound=2.0)"]
    with tf.Session() as session:
        dump = dumped(session, y, tmp_path, debug_ops=ops)
    assert values(dump, "y", "DebugNanCount") == [[1]]
    (found,) = dump.get_tensors("y", 0, "DebugNumericSummary")
    np.testing.assert_allclose(found[:12], [1, 5, 1, 1, 1, 1, 0, 1, -1, 3, 2 / 3, 26 / 9])
    assert found[12:].tolist() == [1, 1, 5]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("DebugNumericSummary(foo=1)", r"1 attribute key\(s\) .* __dbg_x/input:0_0_.*: foo"),
        ("DebugNothing", "there is no debug op DebugNothing"),
        ("DebugNumericSummary", "does not take string tensors"),
    ],
)
def test_debug_operations_that_cannot_be(spec: str, message: str, tmp_path: Path) -> None:
    x = tf.placeholder_with_default("text", [], name="x")
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match=message):
        dumped(session, x, tmp_path, debug_ops=[spec])


def test_failures_of_debug_operations_can_be_tolerated(tmp_path: Path) -> None:
    text = tf.string_to_number(tf.placeholder_with_default("3", []), name="number")
    with tf.Session() as session:
        dump = dumped(
            session, text, tmp_path, debug_ops=["DebugNanCount"],
            tolerate_debug_op_creation_failures=True,
        )  # fmt: skip
    assert {datum.node_name for datum in dump.dumped_tensor_data} == {"number"}


def test_only_what_the_patterns_match(tmp_path: Path) -> None:
    a = tf.add(tf.constant(1.0), 2.0, name="a")
    b = tf.cast(a, tf.int32, name="b")
    with tf.Session() as session:
        by_name = dumped(session, b, tmp_path / "0", node_name_regex_whitelist="a$")
        by_dtype = dumped(session, b, tmp_path / "1", tensor_dtype_regex_whitelist="int")
    assert [d.tensor_name for d in by_name.dumped_tensor_data] == ["a:0"]
    assert [d.tensor_name for d in by_dtype.dumped_tensor_data] == ["b:0"]


def test_the_names_of_a_run(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(x, 1.0, name="y")
    with tf.Session() as session:
        for count in range(2):
            root = tmp_path / str(count)
            told = dumped(session, y, root, {x: 1.0}, global_step=7).core_metadata
            assert (told.global_step, told.session_run_index) == (7, count)
            assert told.executor_step_index == count
            assert (told.input_names, told.output_names) == (["x:0"], ["y:0"])


def test_a_dump_up_to_an_error(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, name="x")
    y = tf.matmul(tf.negative(x, name="before"), x, name="wrong")
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="wrong"):
        dumped(session, y, tmp_path, {x: np.ones([2, 3])})
    found = debug.DebugDumpDir(str(tmp_path))
    assert values(found, "before") == [[[-1.0] * 3] * 2]
    assert found.node_exists("wrong") and not found.debug_watch_keys("wrong")


def test_two_devices(tmp_path: Path) -> None:
    with tf.device("/cpu:0"):
        a = tf.placeholder_with_default(2.0, [], name="a")
    with tf.device("/cpu:1"):
        b = tf.multiply(a, 3.0, name="b")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        dump = dumped(session, b, tmp_path)
    assert sorted(name[-5:] for name in dump.devices()) == ["CPU:0", "CPU:1"]
    assert dump.node_device("b").endswith("CPU:1") and values(dump, "b") == [6.0]


def test_no_more_than_the_disk_has_been_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFDBG_DISK_BYTES_LIMIT", "60")
    x = tf.add(tf.constant([1.0] * 10), 1.0)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.ResourceExhaustedError, match=r"byte-size allowance \(60\)"),
    ):
        dumped(session, x, tmp_path, reset_disk_byte_usage=True)


def test_dumps_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="does not exist"):
        debug.DebugDumpDir(str(tmp_path / "none"))
    with tf.Session() as session:
        dump = dumped(session, tf.constant(1.0, name="x"), tmp_path)
    with pytest.raises(ValueError, match='"nobody:0:DebugIdentity" does not exist'):
        dump.get_tensors("nobody", 0)
    with pytest.raises(LookupError, match="Python graph is not available"):
        dump.node_traceback("x")


def test_gradients_are_caught_on_their_way() -> None:
    x = tf.constant([1.0, 2.0], name="x")
    y = tf.square(x, name="y")
    loss = tf.reduce_sum(y * 3.0)
    debugger = debug.GradientsDebugger()
    debugger.watch_gradients_by_tensors(tf.get_default_graph(), y)
    tf.gradients(loss, x)
    with tf.Session() as session:
        found = session.run(debugger.gradient_tensor("y:0"))
    assert found.tolist() == [3.0, 3.0]
    with pytest.raises(LookupError, match="any gradient tensor for x-tensor x:0"):
        debugger.gradient_tensor(x)


def test_loops_and_branches_of_functions_are_seen_inside(tmp_path: Path) -> None:
    tf.enable_control_flow_v2()
    try:
        _, total = tf.while_loop(
            lambda i, _: i < 3,
            lambda i, t: (
                i + 1,
                tf.cond(i > 1, lambda: tf.add(t, 9, name="many"), lambda: tf.add(t, 1, name="one")),
            ),
            [0, 0],
            name="loop",
        )
    finally:
        tf.disable_control_flow_v2()
    with tf.Session() as session:
        dump = dumped(session, total, tmp_path)
    found = {d.node_name.rpartition("/")[2]: d for d in dump.dumped_tensor_data}
    assert values(dump, found["one"].node_name) == [1, 2]
    assert values(dump, found["many"].node_name) == [11]


def test_a_trace_has_the_nodes_of_loops() -> None:
    _, total = tf.while_loop(
        lambda i, _: i < 3, lambda i, t: (i + 1, tf.add(t, 2.0, name="grown")), [0, 0.0]
    )
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        assert session.run(total, options=options, run_metadata=metadata) == 6.0
    names = [n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats]
    assert names.count("while/grown") == 3
