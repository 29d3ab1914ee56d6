"""A server and its clients in one process, over gRPC and without it."""

from __future__ import annotations

import gc
import os
import random
import socket
import subprocess
import sys
import threading
import time
import weakref
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.graph.test_bombs import doubling
from weft.cluster.server import Server
from weft.cluster.steps.distributed_step import new_step_id
from weft.cluster.transport import inprocess

pytestmark = pytest.mark.timeout(60)


@pytest.fixture(params=["in process", "over gRPC"])
def target(request: pytest.FixtureRequest) -> str:
    name = "server" if request.param == "in process" else "remote_server"
    return request.getfixturevalue(name).target


def test_variables_and_gradients(target: str) -> None:
    w = tf.get_variable("w", [3, 2], initializer=tf.ones_initializer())
    x = tf.placeholder(tf.float32, [None, 3])
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    with tf.Session(target) as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: np.eye(3) * 2})[0] for _ in range(20)]
    assert losses[0] == pytest.approx(1.0) and losses[-1] < 0.8 * losses[0]


def test_the_graph_may_grow_between_steps(target: str) -> None:
    with tf.Session(target) as sess:
        a = tf.constant(2)
        assert sess.run(a) == 2
        b = a * 3
        assert sess.run(b) == 6
        with tf.control_dependencies([b]):
            assert sess.run(tf.identity(b, name="c")) == 6


def test_feeds_and_fetches_of_many_types(target: str) -> None:
    with tf.Session(target) as sess:
        for dtype in (tf.float16, tf.float64, tf.int8, tf.uint16, tf.int64, tf.bool, tf.complex64):
            fed = tf.placeholder(dtype)
            value = np.array([[1, 0, 1]]).astype(dtype.as_numpy_dtype)
            got = sess.run(tf.identity(fed), {fed: value})
            assert got.dtype == value.dtype and (got == value).all()
        text = tf.placeholder(tf.string)
        assert sess.run(tf.string_join([text, "!"]), {text: "é"}) == "é!".encode()


def test_what_is_fetched_belongs_to_the_caller(target: str) -> None:
    v = tf.Variable(np.zeros(3, np.float32))
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        got = sess.run(v)
        got += 1
        assert sess.run(v).tolist() == [0, 0, 0]


def test_a_feed_that_nothing_needs(target: str) -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.Session(target) as sess:
        assert sess.run(tf.ones([]) * 2.0, {x: 1.0}) == 2.0


def test_what_is_fed_may_be_fetched(target: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    given = np.array([1.0, 2.0], np.float32)
    with tf.Session(target) as sess:
        got = sess.run(x, {x: given})
        assert got is given  # as TensorFlow gives what was fed
        assert [v.tolist() for v in sess.run([x, x * 2.0, x], {x: given})] == [
            [1, 2],
            [2, 4],
            [1, 2],
        ]


def test_quantized_feeds(target: str) -> None:
    x = tf.placeholder(tf.quint8, [2])
    with tf.Session(target) as sess:
        values = sess.run([x, tf.identity(x), tf.bitcast(x, tf.uint8)], {x: [1, 255]})
    assert [v.tolist() for v in values] == [[1, 255]] * 3


def test_loops_and_branches(target: str) -> None:
    v = tf.Variable(2.0)
    _, power = tf.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * v), [0, 1.0])
    slope = tf.gradients(power, v)[0]
    chosen = tf.cond(power > 10, lambda: v + 1, lambda: v - 1)
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        assert sess.run([power, slope, chosen]) == [32.0, 80.0, 3.0]


def test_a_queue_that_waits_for_another_step(target: str) -> None:
    queue = tf.FIFOQueue(2, tf.int32)
    put, get = queue.enqueue(7), queue.dequeue()
    got: list[int] = []
    with tf.Session(target) as sess:
        waiting = threading.Thread(target=lambda: got.append(sess.run(get)))
        waiting.start()
        sess.run(put)
        waiting.join(10)
    assert got == [7]


def test_errors_name_the_class_the_node_and_the_line(target: str) -> None:
    x = tf.placeholder(tf.float32, name="x")
    bad = tf.reshape(x, [3, 3], name="bad")
    with tf.Session(target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="requested shape has 9") as info:
            sess.run(bad, {x: [1.0]})
        assert info.value.op is bad.op
        assert "[[node bad (defined at test_server.py:" in info.value.message
        assert info.value.message.startswith("From /job:local/replica:0/task:0:\n")
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            sess.run(tf.Variable(1.0, name="v"))


def test_an_operation_that_is_placed_nowhere(target: str) -> None:
    with tf.device("/job:ps/task:3"):
        a = tf.constant(1, name="a") + 1
    with (
        tf.Session(target) as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match="/job:ps/task:3"),
    ):
        sess.run(a)


def test_a_step_that_takes_too_long(target: str) -> None:
    waits = tf.FIFOQueue(2, tf.int32).dequeue()
    with tf.Session(target) as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(waits, options=tf.RunOptions(timeout_in_ms=100))


def test_closing_ends_the_steps_that_wait(target: str) -> None:
    waits = tf.FIFOQueue(2, tf.int32).dequeue()
    sess = tf.Session(target)
    ended: list[BaseException] = []

    def run() -> None:
        try:
            sess.run(waits)
        except tf.errors.OpError as error:
            ended.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while not sess._runner._handle:
        time.sleep(0.01)
    time.sleep(0.1)
    sess.close()
    thread.join(10)
    assert not thread.is_alive()
    assert isinstance(ended[0], (tf.errors.CancelledError, tf.errors.AbortedError))


def test_sessions_share_variables_until_a_reset(target: str) -> None:
    v = tf.Variable(1.0)
    with tf.Session(target) as one, tf.Session(target) as two:
        one.run(v.initializer)
        two.run(v.assign_add(1.0))
        assert one.run(v) == 2.0
    with tf.Session(target) as later:
        assert later.run(v) == 2.0
    tf.Session.reset(target)
    with tf.Session(target) as after, pytest.raises(tf.errors.FailedPreconditionError):
        after.run(v)


def test_a_reset_of_one_container_leaves_the_others(target: str) -> None:
    with tf.container("one"):
        a = tf.Variable(1.0)
    b = tf.Variable(2.0)
    with tf.Session(target) as sess:
        sess.run([a.initializer, b.initializer])
    tf.Session.reset(target, ["one"])
    with tf.Session(target) as sess:
        assert sess.run(b) == 2.0
        with pytest.raises(tf.errors.FailedPreconditionError):
            sess.run(a)


def _queue(shared_name: str | None) -> tuple[tf.Operation, tf.Tensor]:
    queue = tf.FIFOQueue(5, [tf.int32], shapes=[[]], shared_name=shared_name)
    return queue.enqueue([7]), queue.size()


def _accumulator(shared_name: str | None) -> tuple[tf.Operation, tf.Tensor]:
    gradients = tf.ConditionalAccumulator(tf.float32, shape=[], shared_name=shared_name)
    return gradients.apply_grad(1.0), gradients.num_accumulated()


def _iterator(shared_name: str | None) -> tuple[tf.Operation, tf.Tensor]:
    dataset = tf.data.Dataset.range(1, 6)
    iterator = dataset.make_initializable_iterator(shared_name=shared_name)
    return iterator.initializer, iterator.get_next()


@pytest.mark.parametrize("build", [_queue, _accumulator, _iterator])
def test_what_has_no_shared_name_is_of_one_session(target: str, build: Any) -> None:
    fill, look = build(None)
    shared_fill, shared_look = build("name for all")
    nothing = tf.errors.FailedPreconditionError if build is _iterator else 0

    def seen(sess: tf.Session) -> object:
        try:
            return sess.run(look)
        except tf.errors.FailedPreconditionError as error:
            return type(error)

    with tf.Session(target) as one, tf.Session(target) as two:
        one.run([fill, shared_fill])
        assert one.run([look, shared_look]) == [1, 1]
        assert seen(two) == nothing
        assert two.run(shared_look) == (2 if build is _iterator else 1)
        two.run(fill)
    with tf.Session(target) as later:
        assert seen(later) == nothing
        assert later.run(shared_look) == (3 if build is _iterator else 1)
        later.run(fill)
        tf.Session.reset(target)
    with tf.Session(target) as anew:
        assert seen(anew) == nothing


def test_queues_of_one_name_and_two_types(target: str) -> None:
    for dtype in (tf.int32, tf.string):
        with tf.Graph().as_default(), tf.Session(target) as sess:
            queue = tf.FIFOQueue(5, [dtype], name="queue")
            assert sess.run(queue.size()) == 0


def test_an_isolated_session_has_variables_of_its_own(target: str) -> None:
    v = tf.Variable(1.0)
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(target) as shared, tf.Session(target, config=config) as alone:
        shared.run(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError):
            alone.run(v)


def test_an_isolated_session_goes_on_while_the_graph_grows(target: str) -> None:
    """A loop's gradient closes its loops after the fact: nodes change that nobody has seen."""
    v = tf.Variable(2.0)
    _, power = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * v), [0, 1.0])
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Session(target, config=config) as sess:
        sess.run(v.initializer)
        assert sess.run(power) == 8.0
        (slope,) = tf.gradients(power, [v])
        assert sess.run(slope) == 12.0
        power.op._add_control_input(v.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="A node was changed"):
            sess.run(power)


def test_a_seed_starts_again_in_every_session(target: str) -> None:
    draw = tf.random_uniform([2], seed=3)
    drawn = []
    for _ in range(2):
        with tf.Session(target) as sess:
            drawn.append([sess.run(draw).tolist() for _ in range(2)])
    assert drawn[0] == drawn[1] and drawn[0][0] != drawn[0][1]


def test_partial_runs_and_callables(target: str) -> None:
    a, b = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    double, total = a * 2, a * 2 + b
    with tf.Session(target) as sess:
        handle = sess.partial_run_setup([double, total], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="has not been fed"):
            sess.partial_run(handle, total, {a: 3.0})
        assert sess.partial_run(handle, double, {a: 3.0}) == 6.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="already been fed"):
            sess.partial_run(handle, total, {a: 1.0, b: 1.0})
        assert sess.partial_run(handle, total, {b: 1.0}) == 7.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="Must run 'setup'"):
            sess.partial_run(handle, total)
        add = sess.make_callable(total, [a, b])
        assert add(1.0, 2.0) == 4.0


def test_a_tensor_that_stays_on_the_server(target: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    keep = tf.get_session_handle(x * 2.0)
    with tf.Session(target) as sess:
        handle = sess.run(keep, {x: [1.0, 2.0]})
        assert handle.eval().tolist() == [2.0, 4.0]
        other = sess.run(keep, {x: handle})
        assert other.eval().tolist() == [4.0, 8.0]
        other.delete()
        holder, value = tf.get_session_tensor(handle.handle, tf.float32)
        assert sess.run(value, {holder: handle.handle}).tolist() == [2.0, 4.0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="not in the session store"):
            sess.run(value, {holder: other._handle})


def test_a_traced_step(target: str) -> None:
    fed = tf.placeholder(tf.float32)
    total = tf.reduce_sum(tf.Variable([1.0, 2.0]).initialized_value() + fed, name="total")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf.RunMetadata()
    with tf.Session(target) as sess:
        assert sess.run(total, {fed: 0.0}, options=options, run_metadata=metadata) == 3.0
    device = metadata.step_stats.dev_stats[0]
    assert device.device == "/job:local/replica:0/task:0/device:CPU:0"
    assert "total" in [node.node_name for node in device.node_stats]
    assert len(metadata.partition_graphs) == 1
    assert {node.device for node in metadata.partition_graphs[0].node} == {device.device}


def test_functions_that_are_deep(target: str) -> None:
    """The master looks into functions before a worker does."""
    tf.import_graph_def(doubling(2000, calls=1), name="")
    with tf.Session(target) as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="nested too deeply"):
            sess.run("p:0", {"c:0": 1.0})
        assert sess.run(tf.constant(2.0)) == 2.0


def test_functions_and_their_control_flow(target: str) -> None:
    tf.enable_control_flow_v2()
    try:
        v = tf.Variable(2.0)
        _, power = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * v), [0, 1.0])
        chosen = tf.cond(v > 1, lambda: power, lambda: v)
        with tf.Session(target) as sess:
            sess.run(v.initializer)
            assert sess.run(chosen) == 16.0
    finally:
        tf.disable_control_flow_v2()


def test_a_saver_writes_what_the_server_holds(target: str, tmp_path: object) -> None:
    v = tf.Variable([1.0, 2.0])
    saver = tf.train.Saver()
    with tf.Session(target) as sess:
        sess.run(v.initializer)
        path = saver.save(sess, f"{tmp_path}/model")
        sess.run(v.assign([0.0, 0.0]))
        saver.restore(sess, path)
        assert sess.run(v).tolist() == [1.0, 2.0]


def test_devices(target: str) -> None:
    tf.constant(1)
    with tf.Session(target) as sess:
        assert [d.name for d in sess.list_devices()] == ["/job:local/replica:0/task:0/device:CPU:0"]


def test_a_session_closes_though_its_server_is_gone(server: Server) -> None:
    with tf.Session(server.target) as sess:
        sess.run(tf.constant(1))
        server.stop()
        with pytest.raises((tf.errors.AbortedError, tf.errors.UnavailableError)):
            sess.run(tf.constant(2))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore")  # of Python and jax, that others would fear for threads
def test_a_child_does_not_take_its_copy_for_the_server(server: Server) -> None:
    child = os.fork()
    if child == 0:
        os._exit(0 if inprocess.master_at(server.target) is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert inprocess.master_at(server.target) is server.master


def test_nobody_listens() -> None:
    start = time.monotonic()
    with (
        tf.Session("grpc://localhost:1") as sess,
        pytest.raises(tf.errors.UnavailableError, match="localhost:1"),
    ):
        sess.run(tf.constant(1))
    assert time.monotonic() - start < 5


def test_nobody_listens_in_time() -> None:
    config = tf.ConfigProto(operation_timeout_in_ms=300)
    with (
        tf.Session("grpc://localhost:1", config=config) as sess,
        pytest.raises(tf.errors.DeadlineExceededError, match=r"localhost:1 .*refused"),
    ):
        sess.run(tf.constant(1))


@pytest.mark.parametrize("address", ["", "localhost", "2222", "localhost:http", "localhost:70000"])
def test_a_target_that_is_no_address(address: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=f'interpret "{address}" as a host'):
        tf.Session(f"grpc://{address}")
    with pytest.raises(tf.errors.InvalidArgumentError, match="host:port is wanted"):
        Server({"local": [address]})


def test_an_unknown_kind_of_target() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session("zeus://olymp")


# ---- definitions ----


def test_a_port_in_use_is_said_at_once(server: Server) -> None:
    address = server.target.removeprefix("grpc://")
    with pytest.raises(tf.errors.UnknownError, match=f"cannot listen at {address}"):
        Server({"local": [address]})


def test_a_port_in_use_at_one_address_of_the_host() -> None:
    """Otherwise clients of the server may find the other process instead."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        address = f"localhost:{other.getsockname()[1]}"
        with pytest.raises(tf.errors.UnknownError, match="another process is using the port"):
            Server({"local": [address]})


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("192.0.2.1:0", "this machine does not have that address"),
        ("no.such.host.invalid:0", "the host has no address"),
    ],
)
def test_an_address_of_another_machine(address: str, why: str) -> None:
    with pytest.raises(tf.errors.UnknownError, match=why):
        Server({"local": [address]})


@pytest.mark.parametrize(
    ("cluster", "job", "task", "error", "match"),
    [
        ({"a": ["localhost:1"], "b": ["localhost:2"]}, None, None, ValueError, "job_name"),
        ({"a": ["localhost:1"]}, "b", 0, tf.errors.InvalidArgumentError, "not in the cluster"),
        ({"a": ["localhost:1"]}, "a", 1, tf.errors.InvalidArgumentError, "not in the cluster"),
        ({"a": ["localhost"]}, "a", 0, tf.errors.InvalidArgumentError, "host:port"),
        (
            {"a": ["localhost:1", "localhost:1"]},
            "a",
            0,
            tf.errors.InvalidArgumentError,
            "same address",
        ),
        (7, "a", 0, TypeError, "ClusterSpec"),
        ({"a": 7}, "a", 0, TypeError, "tasks of job 'a'"),
        ({"a": [7]}, "a", 0, TypeError, "task 0 of job 'a'"),
        ({7: ["localhost:1"]}, "a", 0, TypeError, "a job"),
    ],
)
def test_wrong_clusters(
    cluster: object, job: str | None, task: int | None, error: type, match: str
) -> None:
    with pytest.raises(error, match=match):
        Server(cluster, job, task)


def test_an_unknown_protocol() -> None:
    with pytest.raises(tf.errors.NotFoundError, match="No server factory registered"):
        Server({"a": ["localhost:0"]}, protocol="carrier pigeon")


def test_a_server_is_started_when_asked() -> None:
    server = Server.create_local_server(start=False)
    try:
        assert server.server_def.job_name == "local" and server.server_def.protocol == "grpc"
        with pytest.raises(tf.errors.InternalError, match="not started"):
            server.join()
        server.start()
        with tf.Session(server.target) as sess:
            assert sess.run(tf.constant(5)) == 5
    finally:
        server.stop()
    server.join()


def test_masters_of_programs_that_seed_alike_do_not_share_step_ids() -> None:
    numbers = []
    for _ in range(2):
        random.seed(0)
        numbers.append(new_step_id())
    assert numbers[0] != numbers[1]


def test_a_process_that_serves_takes_short_turns() -> None:
    code = (
        "import sys, threading, time, weft as tf\n"
        "server = tf.train.Server.create_local_server()\n"
        "before = sys.getswitchinterval()\n"
        "waiting = threading.Thread(target=server.join)\n"
        "waiting.start()\n"
        "while sys.getswitchinterval() == before: time.sleep(0.01)\n"
        "server.stop(); waiting.join()\n"
        "print(sys.getswitchinterval() == before)\n"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "True"


def test_an_error_keeps_nothing_alive(target: str) -> None:
    class Large:
        """Stands for what a step has at hand when it fails."""

    made: list[weakref.ref[Large]] = []

    def fails() -> int:
        large = Large()
        made.append(weakref.ref(large))
        raise ValueError("no")

    gc.collect()
    gc.disable()  # what refers to itself would go in time, but there is no telling when
    try:
        with tf.Session(target) as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(tf.py_func(fails, [], tf.int64))
        end = time.monotonic() + 20
        while made[0]() is not None and time.monotonic() < end:
            time.sleep(0.01)
        assert made[0]() is None
    finally:
        gc.enable()
