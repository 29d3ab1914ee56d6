"""What only a real GPU can show. Run with `make test-gpu`.

All but its speed and its kernels also with a device of the host that passes for one
(tests/runtime/test_posing.py).
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import weft as tf
from weft.core import errors, flags
from weft.runtime.recording.control import CONTROL
from weft.runtime.recording.xla_profile import operations_of

pytestmark = [pytest.mark.gpu, pytest.mark.skipif("not gpus()", reason="XLA sees no GPU")]


def gpus():
    from weft.runtime.devices.device import accelerators

    return [device for kind, device in accelerators() if kind == "GPU"]


def is_posing():
    """Whether the GPU is a device of the host (tests/posing.py)."""
    return gpus()[0].platform == "cpu"


def training(resource=True):
    x = tf.placeholder(tf.float32, [None, 256], name="x")
    w = tf.get_variable("w", [256, 64], initializer=tf.ones_initializer(), use_resource=resource)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - 1.0))
    return x, w, loss, tf.train.MomentumOptimizer(1e-4, 0.9).minimize(loss)


def cell(sess, name):
    for device, store in sess._runner.stores.items():
        for _, kind, found, value in store:
            if kind == "variable" and found == name:
                return device, value.value
    raise KeyError(name)


@pytest.mark.parametrize("resource", [True, False])
def test_variables_live_on_the_gpu(resource):
    x, _, loss, train = training(resource)
    fed = np.random.RandomState(0).rand(128, 256).astype(np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, train], {x: fed})[0] for _ in range(5)]
        assert losses[-1] < losses[0]
        device, value = cell(sess, "w")
        assert device.endswith("GPU:0")
        assert value.devices() == {gpus()[0]}


def test_the_same_numbers_as_the_host():
    fed = np.random.RandomState(0).rand(128, 256).astype(np.float32)
    found = []
    for where in ("/gpu:0", "/cpu:0"):
        with tf.Graph().as_default(), tf.device(where):
            tf.set_random_seed(7)
            x, w, loss, train = training()
            noise = tf.random_normal([1000])
            with tf.Session() as sess:
                sess.run(tf.global_variables_initializer())
                losses = [sess.run([loss, train], {x: fed})[0] for _ in range(5)]
                found.append([losses, sess.run(w), *(sess.run(noise) for _ in range(3))])
                assert cell(sess, "w")[0].endswith(where[1:].upper())
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-5)


@pytest.mark.parametrize("size", [1, 100_000, 4_000_000])
def test_a_fed_array_may_be_written_to_again(size):
    x = tf.placeholder(tf.float32, [size])
    w = tf.get_variable("w", [size], initializer=tf.zeros_initializer())
    double = tf.assign(w, x * 2.0).op
    fed = np.empty(size, np.float32)
    with tf.Session() as sess:
        sess.run(w.initializer)
        for i in range(6):
            fed[:] = i
            sess.run(double, {x: fed})
            fed[:] = -1.0  # the step may still be on its way
            np.testing.assert_array_equal(sess.run(w), np.full(size, 2.0 * i, np.float32))


def test_strings_stay_on_the_host():
    x = tf.placeholder(tf.float32, [1000, 1000])
    y = tf.reduce_sum(tf.matmul(x, x))
    text = tf.py_func(lambda v: f"loss {v:.1f}".encode(), [y], tf.string)
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        for _ in range(3):
            options = tf.RunOptions(output_partition_graphs=True)
            got = sess.run(text, {x: np.ones((1000, 1000))}, options, metadata)
        assert got == b"loss 1000000000.0"
    where = {n.name: n.device for g in metadata.partition_graphs for n in g.node}
    assert where["MatMul"].endswith("GPU:0") and where["PyFunc"].endswith("CPU:0")


def test_an_op_without_a_kernel_there():
    with tf.device("/gpu:0"):
        text = tf.py_func(lambda: b"x", [], tf.string)
    with tf.Session() as sess:
        with pytest.raises(errors.InvalidArgumentError, match="no supported kernel for GPU"):
            sess.run(text)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
        assert sess.run(text) == b"x"


def test_towers_on_host_and_gpu():
    """In-graph data parallelism over unlike devices."""
    x = tf.placeholder(tf.float32, [None, 64])
    with tf.device("/cpu:0"):
        w = tf.get_variable("w", [64, 8], initializer=tf.ones_initializer())
    optimizer = tf.train.GradientDescentOptimizer(1e-4)
    halves, grads = tf.split(x, 2), []
    for half, device in zip(halves, ("/cpu:0", "/gpu:0"), strict=True):
        with tf.device(device):
            loss = tf.reduce_mean(tf.square(tf.matmul(half, w)))
            grads.append(optimizer.compute_gradients(loss, [w])[0][0])
    with tf.device("/cpu:0"):
        train = optimizer.apply_gradients([(tf.add_n(grads) / 2.0, w)])
    fed = np.random.RandomState(0).rand(64, 64).astype(np.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(4):
            sess.run(train, {x: fed})
        got = sess.run(w)
    want = np.ones((64, 8), np.float32)
    for _ in range(4):
        slopes = [2 * h.T @ (h @ want) / (32 * 8) for h in np.split(fed, 2)]
        want = want - 1e-4 * (slopes[0] + slopes[1]) / 2
    np.testing.assert_allclose(got, want, rtol=1e-4)


def test_a_loop_whole_on_the_gpu():
    x = tf.placeholder(tf.float32, [64, 64])
    steps, body = 20, lambda i, v: (i + 1, tf.tanh(tf.matmul(v, x)))
    y = tf.while_loop(lambda i, v: i < steps, body, [0, x])[1]
    fed = (np.random.RandomState(0).rand(64, 64) * 0.1).astype(np.float32)
    want = fed
    for _ in range(20):
        want = np.tanh(want @ fed)
    with tf.Session() as sess:
        for _ in range(3):
            np.testing.assert_allclose(sess.run(y, {x: fed}), want, rtol=2e-3, atol=1e-5)


def test_devices_are_listed():
    with tf.Session() as sess:
        names = [d.name.rpartition("/")[2] for d in sess.list_devices()]
    assert names[:2] == ["device:CPU:0", "device:GPU:0"]
    assert tf.test.is_gpu_available() and tf.test.gpu_device_name() == "/device:GPU:0"
    with tf.Session(config=tf.ConfigProto(device_count={"GPU": 0})) as sess:
        assert [d.device_type for d in sess.list_devices()] == ["CPU"]


def test_a_wrong_list_of_visible_devices():
    options = tf.GPUOptions(visible_device_list="99")
    with pytest.raises(errors.InvalidArgumentError, match="invalid GPU id '99'"):
        tf.Session(config=tf.ConfigProto(gpu_options=options))


def test_a_compiled_loop_that_never_ends_can_be_ended():
    end = tf.placeholder(tf.float32, [])
    v = tf.Variable(0.0)
    x = tf.while_loop(lambda x: x > end, lambda x: x * 0.5 + 0.25 * end, [1.0])
    kept = v.assign(x)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for _ in range(4):
            last = sess.run(kept, {end: 1e-3})
        with pytest.raises(errors.DeadlineExceededError):
            sess.run(kept, {end: -1.0}, options=tf.RunOptions(timeout_in_ms=500))
        assert sess.run(v) == last
        assert sess.run(kept, {end: 1e-3}, options=tf.RunOptions(timeout_in_ms=5000)) == last


@pytest.mark.skipif("gpus() and is_posing()", reason="kernels of a GPU are recorded")
def test_a_recording_tells_kernels_apart_that_run_as_one_graph():
    h = tf.get_variable("h", [512, 512])
    for i in range(8):
        h = tf.tanh(tf.matmul(h, tf.get_variable(f"w{i}", [512, 512]), name=f"product{i}"))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        loss = tf.reduce_sum(h)
        for _ in range(4):
            sess.run(loss)  # compiled before the recording begins
        CONTROL.start(operations=True, whole=True)
        for _ in range(3):
            sess.run(loss)
        _, profiles = CONTROL.stop_with_profiles()
    kernels = [event for event in operations_of(profiles) if "Stream" in event[4]]
    known = {event[5]["node"] for event in kernels}
    assert known >= {f"product{i}" for i in range(8)}
    seconds = {True: 0.0, False: 0.0}
    for _, _, began, ended, _, detail in kernels:
        seconds[bool(detail["node"])] += ended - began
    assert seconds[False] < 0.03 * seconds[True]


def test_the_sum_of_many_rows_is_that_of_the_host():
    rows = np.random.RandomState(0).rand(4096, 64).astype(np.float32)
    x = tf.placeholder(tf.float32, [4096, 64])
    found = [tf.reduce_sum(x, 0), tf.reduce_mean(x, [0], keepdims=True)]
    with tf.Session() as sess:
        for _ in range(3):
            total, mean = sess.run(found, {x: rows})
    np.testing.assert_allclose(total, rows.sum(0, dtype=np.float64), rtol=1e-5)
    np.testing.assert_allclose(mean, rows.mean(0, keepdims=True, dtype=np.float64), rtol=1e-5)


def test_what_only_the_host_reads_is_left_in_its_memory():
    x = tf.placeholder(tf.float32, [500, 500])
    y = tf.matmul(x, x)
    seen = tf.py_func(lambda v: v.sum(), [y * 3.0], tf.float32)
    w = tf.get_variable("w", [500, 500], initializer=tf.zeros_initializer())
    fetches = [y, tf.reduce_mean(y), w.assign_add(y), tf.cast(y, tf.int64), y > 0.0, seen]
    fed = np.ones((500, 500), np.float32)
    with tf.Session() as sess:
        sess.run(w.initializer)
        for i in range(1, 6):
            found = sess.run(fetches, {x: fed})
            wanted = [500, 500, 500 * i, 500, True, 500 * 3 * 500 * 500]
            for got, value in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(got, np.full(np.shape(got), value))
            assert all(np.ndim(got) == 0 or got.flags.writeable for got in found)
        assert {memory_of(value) for value in left_by_last_step(sess, {x: fed})} == {"pinned_host"}
        assert memory_of(cell(sess, "w")[1]) == "device"
    large = tf.ones([1 << 27]) * x[0, 0]  # more than is left there
    with tf.Session() as sess:
        for _ in range(3):
            assert sess.run(large, {x: fed})[-1] == 1


def memory_of(array):
    return array.sharding.memory_kind


def left_by_last_step(sess, feeds):
    """What the regions of a step give, before it is brought to the caller."""
    (plan,) = [p.plain for p in sess._runner._plans.values() if hasattr(p, "plain")]
    (gpu,) = [p for p in plan.plans if not p.store.is_host]
    values = gpu.prepared.begin([*feeds.values()])
    (region,) = [unit for unit in gpu.prepared.units if hasattr(unit, "entries")]
    region.run(values)
    return [values[i] for i in region.out_slots]


def test_memory_of_a_variable_that_changes_its_shape_is_not_taken_for_a_fetch():
    x = tf.placeholder(tf.float32, [300, 300])
    w = tf.Variable(tf.zeros([300, 300]), validate_shape=False)
    grown = tf.assign(w, tf.concat([x, x], 0), validate_shape=False)
    fed = np.ones((300, 300), np.float32)
    with tf.Session() as sess:
        for _ in range(4):
            sess.run(w.initializer)
            y, new = sess.run([x * 2.0, grown], {x: fed})
            np.testing.assert_array_equal(y, 2 * fed)
            np.testing.assert_array_equal(new, np.ones((600, 300)))


def test_many_threads_feed_one_program():
    x, scale = tf.placeholder(tf.float32, [None, 50]), tf.placeholder(tf.float64, [])
    keep, ids = tf.placeholder(tf.bool, [None]), tf.placeholder(tf.int64, [None])
    half = tf.placeholder(tf.bfloat16, [3])
    total = tf.get_variable("total", [], tf.float64, tf.zeros_initializer())
    rows = tf.reduce_sum(tf.where(keep, x, -x), 1) * tf.cast(ids, tf.float32)
    found = tf.reduce_sum(tf.cast(rows, tf.float64)) * scale
    found += tf.reduce_sum(tf.cast(half, tf.float64))
    add = total.assign_add(tf.stop_gradient(found)).op

    def feeds(number):
        random = np.random.RandomState(number)
        count = 10 + number % 3
        return {
            x: random.randint(0, 9, (count, 50)),
            scale: number % 5,
            keep: random.rand(count) > 0.5,
            ids: np.arange(count),
            half: random.randint(0, 9, 3),
        }

    def wanted(fed):
        signs = np.where(fed[keep], 1, -1)
        rows = fed[x].sum(1) * signs * fed[ids]
        return rows.sum() * fed[scale] + fed[half].sum()

    def steps(first):
        for number in range(first, first + 60):
            fed = feeds(number)
            if number % 4:
                sess.run(add, fed)  # goes on before it is computed
            else:
                assert sess.run([found, add], fed)[0] == wanted(fed)

    with tf.Session() as sess, ThreadPoolExecutor(4) as pool:
        sess.run(total.initializer)
        list(pool.map(steps, range(0, 240, 60)))
        assert sess.run(total) == sum(wanted(feeds(number)) for number in range(240))


def test_batches_of_a_dataset_reach_the_gpu():
    data = tf.data.Dataset.range(40).map(lambda i: (tf.fill([60, 50], tf.cast(i, tf.float32)), i))
    x, i = tf.data.make_one_shot_iterator(data.batch(4)).get_next()
    w = tf.get_variable("w", [50, 70], initializer=tf.ones_initializer())
    y = tf.reduce_sum(tf.tensordot(x, w, 1), [1, 2])
    with tf.Session() as sess:
        sess.run(w.initializer)
        for number in range(10):
            found, numbers = sess.run([y, i])
            np.testing.assert_array_equal(numbers, np.arange(4 * number, 4 * number + 4))
            np.testing.assert_allclose(found, 60 * 50 * 70 * numbers, rtol=1e-3)
        with pytest.raises(errors.OutOfRangeError):
            sess.run(y)


def test_a_feed_stays_as_it_is_until_the_step_that_reads_it_has_ended():
    size = 400 if is_posing() else 4000
    x = tf.placeholder(tf.float32, [1000])
    small = tf.get_variable("small", [2], initializer=tf.ones_initializer())
    big = tf.get_variable("big", [size, size], initializer=tf.ones_initializer(), trainable=False)
    total = tf.get_variable("total", [1000], initializer=tf.zeros_initializer())
    late = big
    for _ in range(6):
        late = tf.matmul(late, big) * np.float32(1 / size)
    with tf.control_dependencies([late]):
        add = total.assign_add(x * late[0, 0])
    sent = tf.py_func(lambda v: v, [small * 1.0], tf.float32)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for number in range(30):
            sess.run([add.op, sent.op], {x: np.full(1000, number, np.float32)})
        np.testing.assert_allclose(sess.run(total), np.full(1000, sum(range(30))), rtol=1e-3)


def test_a_loop_that_is_a_program_of_its_own():
    """Sequences of ever new lengths: what the loops keep stays in the memory of the device."""
    random, found = np.random.RandomState(0), []
    soft = tf.ConfigProto(allow_soft_placement=True)  # texts of assertions are the host's
    batches = [random.rand(4, steps, 8).astype(np.float32) for steps in (3, 7, 5, 20)]
    for where, way in (("/gpu:0", "loops"), ("/cpu:0", "bodies")):
        with flags.CONTROL_FLOW.override(way), tf.Graph().as_default(), tf.device(where):
            tf.set_random_seed(3)
            x = tf.placeholder(tf.float32, [None, None, 8])
            lengths = tf.fill([tf.shape(x)[0]], tf.shape(x)[1] - 1)
            cell = tf.nn.rnn_cell.BasicLSTMCell(16)
            outputs, _ = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
            loss = tf.reduce_sum(tf.square(outputs))
            train = tf.train.GradientDescentOptimizer(0.01).minimize(loss)
            with tf.Session(config=soft) as sess:
                sess.run(tf.global_variables_initializer())
                found.append([sess.run([loss, train], {x: batch})[0] for batch in batches])
    np.testing.assert_allclose(*found, rtol=2e-3)
