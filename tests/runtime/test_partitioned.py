"""Steps over several devices give the values and effects of the same step on one."""

import random
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import weft as tf
from tests.runtime.test_control_flow_ways import chain, fed_values, programs
from weft.core import dtypes, errors

quiet = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


def config(count, optimize=True):
    made = tf.ConfigProto(device_count={"CPU": count})
    if not optimize:
        made.graph_options.optimizer_options.opt_level = -1
        made.graph_options.rewrite_options.disable_meta_optimizer = True
    return made


def holds_state(op):
    cells = [t.dtype for t in [*op.inputs, *op.outputs]]
    return any(d._is_ref_dtype or d is dtypes.resource for d in cells)


def tied(graph):
    """Names of operations that some other has to be with, and with more than just them."""
    groups = [op.colocation_groups() for op in graph.get_operations()]
    return {name.decode().removeprefix("loc:@") for g in groups if len(g) > 1 for name in g}


def spread(graph, count, seed, device="/device:CPU:{}"):
    """Puts every operation that may be anywhere on a random device."""
    rng = random.Random(seed)
    together = tied(graph)
    for op in graph.get_operations():
        free = not holds_state(op) and "_class" not in op.node_def.attr
        free = free and op.name not in together
        if free and rng.random() < 0.7:
            op._set_device(device.format(rng.randrange(count)))


def build_step(parts, resource):
    """A program with state and control edges around the random one."""
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=resource)
    n = tf.get_variable("n", [], initializer=tf.zeros_initializer(), use_resource=resource)
    y = chain(parts, x * v, x)
    gradient = tf.gradients(y, x)[0]
    with tf.control_dependencies([y, gradient]):
        step = tf.assign_add(n, tf.reduce_sum(x) + 1.0)
    with tf.control_dependencies([step]):
        update = v.assign(tf.clip_by_value(v * 0.5 + gradient * 0.01, -2.0, 2.0))
    return x, [y, gradient], [update.op if hasattr(update, "op") else update], [v, n]


def run_steps(parts, fed, resource, place, session):
    """All that some steps give and leave in variables; `place(graph)` before `session()`."""
    fed = np.array(fed, np.float32)
    with tf.Graph().as_default() as graph:
        x, fetches, targets, state = build_step(parts, resource)
        init = tf.global_variables_initializer()
        place(graph)
        with session() as sess:
            sess.run(init)
            seen = []
            for _ in range(3):
                seen += sess.run([fetches, targets], {x: fed})[0]
                seen += sess.run(state)
            return seen


def on_one_device(parts, fed, resource):
    return run_steps(parts, fed, resource, lambda graph: None, tf.Session)


def assert_same(got, wanted):
    for a, b in zip(got, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-4, atol=1e-5)


def check(parts, fed, count, seed, resource):
    wanted = on_one_device(parts, fed, resource)
    for optimize in (True, False):
        got = run_steps(
            parts, fed, resource,
            lambda graph: spread(graph, count, seed),
            lambda optimize=optimize: tf.Session(config=config(count, optimize)),
        )  # fmt: skip
        assert_same(got, wanted)


splits = st.tuples(st.integers(2, 5), st.integers(0, 1 << 30), st.booleans())


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=quiet)
@given(st.lists(programs(), min_size=1, max_size=2), fed_values, splits)
def test_random_splits(parts, fed, split):
    check(parts, fed, *split)


def test_a_branch_with_a_loop_beside_one_without():
    """The second stays nodes, the first is folded: its gradient is in another unit."""
    loop = ("loop", 0, [("sin",)], [("mul",)])
    parts = [("cond", 0, [("mul",)], [("mul",)]), ("cond", 0, [loop], [("mul",)])]
    for fed in ((0.0, 0.0), (2.0, 3.0), (-2.0, 1.0)):
        check(parts, fed, 2, 0, False)


def test_what_comes_after_a_loop_waits_for_all_its_iterations():
    """Also for what they receive: nothing that a loop needs may be put together with it."""
    inner = [
        ("loop", 0, [("mul",), ("mul",)], [("sin",)]),
        ("data_loop", 3, [("add_x",)], [("sin",)]),
    ]
    loop = ("loop", 3, [("array", 3, [("add_x",), ("mul",)], [("mul",)])], [("mul",)])
    check([("array", 4, inner, [("mul",)]), loop, ("mul",)], (0.0, 0.0), 2, 0, False)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@settings(max_examples=120, deadline=None, suppress_health_check=quiet)
@given(st.lists(programs(), min_size=1, max_size=3), fed_values, splits)
def test_many_random_splits(parts, fed, split):
    check(parts, fed, *split)


class TestSteps:
    def test_layers_on_different_devices(self):
        x = tf.placeholder(tf.float32, [None, 4])
        with tf.device("/cpu:1"):
            h = tf.layers.dense(x, 8, tf.nn.relu, kernel_initializer=tf.ones_initializer())
        with tf.device("/cpu:2"):
            y = tf.layers.dense(h, 2, kernel_initializer=tf.ones_initializer())
        loss = tf.reduce_mean(y)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session(config=config(3)) as sess:
            sess.run(tf.global_variables_initializer())
            fed = {x: np.ones((3, 4), np.float32)}
            losses = [sess.run([loss, train], fed)[0] for _ in range(3)]
            assert losses[0] == 32.0 and losses[2] < losses[1] < losses[0]

    def test_one_transfer_for_all_users(self):
        with tf.device("/cpu:1"):
            a = tf.random_uniform([3], seed=1)
        with tf.device("/cpu:0"):
            y = a + 1.0 + (a * 2.0) + tf.reduce_sum(a)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(output_partition_graphs=True)
        with tf.Session(config=config(2)) as sess:
            sess.run(y, options=options, run_metadata=metadata)
        ops = [n.op for g in metadata.partition_graphs for n in g.node]
        assert ops.count("_Send") == ops.count("_Recv") == 1

    def test_partition_graphs_with_loops_and_conditionals(self):
        x = tf.placeholder(tf.float32, [])
        with tf.device("/cpu:1"):
            y = tf.while_loop(lambda v: v < 100.0, lambda v: v * 2.0, [x])
        with tf.device("/cpu:0"):
            z = tf.cond(y > 1.0, lambda: y + 1.0, lambda: y)
        metadata, options = tf.RunMetadata(), tf.RunOptions(output_partition_graphs=True)
        with tf.Session(config=config(2)) as sess:
            assert sess.run(z, {x: 3.0}, options=options, run_metadata=metadata) == 193.0
        assert len(metadata.partition_graphs) == 2

    def test_control_edges_cross_devices(self):
        order = []

        def note(name):
            return tf.py_func(lambda: order.append(name) or 1.0, [], tf.double, name=name)

        with tf.device("/cpu:1"):
            first = note("first")
        with tf.device("/cpu:0"), tf.control_dependencies([first]):
            second = note("second")
        with tf.device("/cpu:2"), tf.control_dependencies([second]):
            third = note("third")
        with tf.Session(config=config(3)) as sess:
            for _ in range(20):
                sess.run(third)
        assert order == ["first", "second", "third"] * 20

    def test_half_precision_travel(self):
        x = tf.placeholder(tf.float32, [3])
        with tf.device("/cpu:1"):
            a = x * 1.0
        with tf.device("/cpu:0"):
            y = tf.identity(a)
        options = config(2)
        options.graph_options.enable_bfloat16_sendrecv = True
        fed = np.array([1.0, 1.00390625, 3.14159], np.float32)
        truncated = (fed.view(np.uint32) & 0xFFFF0000).view(np.float32)
        with tf.Session(config=options) as sess:
            for _ in range(3):
                assert sess.run(y, {x: fed}).tolist() == truncated.tolist()

    def test_a_failing_device_ends_the_step_everywhere(self):
        def fail():
            raise ValueError("broken on purpose")

        with tf.device("/cpu:1"):
            bad = tf.py_func(fail, [], tf.double, name="bad")
            bad.set_shape([])
        with tf.device("/cpu:0"):
            queue = tf.FIFOQueue(1, tf.double)
            y = bad + queue.dequeue()  # waits for ever by itself
        before = threading.active_count()
        with tf.Session(config=config(2)) as sess:
            for _ in range(5):
                with pytest.raises(errors.InvalidArgumentError, match="broken on purpose"):
                    sess.run(y)
            assert threading.active_count() <= before + 1
            assert not len(sess._runner.running)

    def test_a_deadline_ends_all_partitions(self):
        with tf.device("/cpu:1"):
            queue = tf.FIFOQueue(1, tf.float32, shapes=[[]])
            got = queue.dequeue()
        with tf.device("/cpu:0"):
            y = got + 1.0
        with tf.Session(config=config(2)) as sess:
            with pytest.raises(errors.DeadlineExceededError):
                sess.run(y, options=tf.RunOptions(timeout_in_ms=100))
            sess.run(queue.enqueue(2.0))
            assert sess.run(y) == 3.0  # the one that gave up took nothing

    def test_closing_ends_a_step_that_waits(self):
        with tf.device("/cpu:1"):
            got = tf.FIFOQueue(1, tf.float32, shapes=[[]]).dequeue()
        with tf.device("/cpu:0"):
            y = got + 1.0
        sess = tf.Session(config=config(2))
        failed = []

        def wait():
            try:
                sess.run(y)
            except errors.CancelledError as error:
                failed.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        while not len(sess._runner.running):
            pass
        sess.close()
        thread.join(10)
        assert len(failed) == 1

    def test_many_steps_at_once(self):
        x = tf.placeholder(tf.float32, [])
        with tf.device("/cpu:1"):
            v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)
            a = x * 2.0
        with tf.device("/cpu:2"):
            b = a + 1.0
        with tf.device("/cpu:1"):
            done = v.assign_add(b)
        with tf.Session(config=config(3)) as sess:
            sess.run(v.initializer)

            def work():
                for _ in range(50):
                    sess.run(done, {x: 1.0})

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sess.run(v) == 8 * 50 * 3.0

    def test_steps_at_once_wait_for_each_other_in_python(self):
        """What a Python function gets of a variable is read before it runs: no lock is held."""
        meeting = threading.Barrier(2, timeout=20)
        with tf.device("/cpu:1"):
            n = tf.get_variable("n", [], tf.int32, tf.zeros_initializer(), use_resource=False)
            met = tf.py_func(lambda _: meeting.wait() >= 0, [tf.assign_add(n, 1)], tf.bool)
        with tf.device("/cpu:0"):
            y = tf.identity(met)
        with tf.Session(config=config(2)) as sess:
            sess.run(n.initializer)
            other = threading.Thread(target=lambda: sess.run(y))
            other.start()
            assert sess.run(y)
            other.join()
            assert sess.run(n) == 2

    def test_a_loop_over_two_devices(self):
        n = tf.placeholder(tf.int32, [])

        def body(i, v):
            with tf.device("/cpu:1"):
                v = v * 2.0
            with tf.device("/cpu:2"):
                return i + 1, v + 1.0

        y = tf.while_loop(lambda i, v: i < n, body, [0, tf.constant(1.0)])[1]
        with tf.Session(config=config(3)) as sess:
            for steps in (0, 1, 5, 40):
                assert sess.run(y, {n: steps}) == float(2 ** (steps + 1) - 1)

    def test_both_traced_and_timed(self):
        with tf.device("/cpu:1"):
            a = tf.constant([1.0, 2.0]) * tf.random_uniform([2])
        with tf.device("/cpu:0"):
            y = tf.reduce_sum(a)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with tf.Session(config=config(2)) as sess:
            sess.run(y, options=options, run_metadata=metadata)
        devices = {stats.device.rpartition("/")[2] for stats in metadata.step_stats.dev_stats}
        assert devices == {"device:CPU:0", "device:CPU:1"}

    def test_partial_runs_know_where_variables_are(self):
        a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
        with tf.device("/cpu:1"):
            v = tf.get_variable("v", [], initializer=tf.ones_initializer())
            x = a * v
        with tf.device("/cpu:0"):
            y = x + b
        with tf.Session(config=config(2)) as sess:
            sess.run(v.assign(3.0))
            handle = sess.partial_run_setup([x, y], [a, b])
            assert sess.partial_run(handle, x, {a: 2.0}) == 6.0
            assert sess.partial_run(handle, y, {b: 1.0}) == 7.0


def test_a_step_in_several_calls_whose_branches_use_what_is_on_another_device():
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        with tf.device("/cpu:0"):
            here = tf.FIFOQueue(5, tf.float32, [[]])
        with tf.device("/cpu:1"):
            first, second = (tf.FIFOQueue(5, tf.float32, [[]]) for _ in range(2))
            v = tf.get_variable("v", initializer=5.0, use_resource=True)
        p = tf.placeholder(tf.bool, [])
        taken = tf.cond(p, lambda: first.dequeue() + v, lambda: second.dequeue())
        sess.run([v.initializer, first.enqueue(1.0), second.enqueue(2.0), here.enqueue(3.0)])
        for side, want in ((True, 6), (False, 2)):
            handle = sess.partial_run_setup([taken], [p])
            assert sess.partial_run(handle, taken, {p: side}) == want
        both = tf.cond(p, here.dequeue, first.dequeue)
        with pytest.raises(tf.errors.UnimplementedError, match=r"CPU:\d and .*CPU:\d"):
            sess.partial_run_setup([both], [p])


def test_a_loop_over_devices_whose_compiled_parts_change_variables():
    """The loop waits for its data, so its parts meet by tokens; variables enter it as handles."""
    data = tf.data.Dataset.from_tensors(np.ones([64, 64], np.float32)).repeat()
    iterator = data.make_initializable_iterator()
    variables = []
    for k in range(2):
        with tf.device(f"/cpu:{k}"):
            ones = tf.ones_initializer()
            variables.append(tf.get_variable(f"v{k}", [64], initializer=ones, use_resource=True))

    def body(i):
        means, updates = [], []
        for k, v in enumerate(variables):
            with tf.device("/cpu:0"):
                x = iterator.get_next()
            with tf.device(f"/cpu:{k}"):
                means.append(tf.reduce_mean(tf.matmul(x, x), 0))
                updates.append(v.assign_sub((v - means[-1]) * 0.1, read_value=False))
        with tf.device("/cpu:0"):
            total = tf.add_n(means)
        with tf.control_dependencies([*updates, total]):
            return tf.identity(i) + 1

    loop = tf.while_loop(lambda i: i < 3, body, [0], parallel_iterations=1)
    with tf.Session(config=config(2)) as sess:
        sess.run([tf.global_variables_initializer(), iterator.initializer])
        for _ in range(6):
            sess.run(loop)
        expected = 64 - 63 * 0.9**18
        for found in sess.run(variables):
            np.testing.assert_allclose(found, expected, rtol=1e-5)
