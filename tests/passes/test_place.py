"""Where nodes go: what binds them together, what they ask for, what is left to choose."""

import re

import numpy as np
import pytest

import weft as tf
from weft.core import errors, flags
from weft.ops.functions.defun import Defun
from weft.ops.functions.function_calls import While
from weft.passes.devices import DeviceSet
from weft.passes.inline import inline
from weft.passes.partition import follow
from weft.passes.place.place import STRICT, PlaceOptions, place
from weft.passes.prune import prune

TASK = "/job:localhost/replica:0/task:0"
SOFT = PlaceOptions(soft=True)


def devices(*names):
    """A set on paper: "CPU:0" is of this task, "ps/1/CPU:0" of another."""

    def whole(name):
        *task, device = name.split("/")
        job = f"/job:{task[0]}/replica:0/task:{task[1]}" if task else TASK
        return f"{job}/device:{device}"

    return DeviceSet.of(whole(name) for name in names)


def placed(available, fetches=(), targets=(), options=STRICT, pinned=None, moved=False):
    """Node name -> the device it got, without the task where it is this one."""
    graph = prune([], list(fetches), [getattr(t, "op", t) for t in targets])
    inline(graph)
    place(graph, available, options, None, pinned)
    if moved:
        follow(graph)
    return {n.name: n.device.removeprefix(f"{TASK}/device:") for n in graph.nodes}


def python(x):
    """Something that runs on the host only."""
    made = tf.py_func(lambda v: v, [x], x.dtype, name="python")
    made.set_shape(x.shape)
    return made


def colocate(x, other):
    groups = tf.AttrValue.ListValue(s=[f"loc:@{other.op.name}".encode()])
    x.op._set_attr("_class", tf.AttrValue(list=groups))


CPUS = devices("CPU:0", "CPU:1", "CPU:2")
MIXED = devices("CPU:0", "CPU:1", "GPU:0", "GPU:1")
CLUSTER = devices("ps/0/CPU:0", "worker/0/CPU:0", "worker/0/GPU:0", "worker/1/CPU:0")


class TestNames:
    def test_a_whole_name(self):
        with tf.device(f"{TASK}/device:CPU:2"):
            a = tf.random_uniform([2], name="a")
        assert placed(CPUS, [a])["a"] == "CPU:2"

    def test_a_number_is_enough(self):
        with tf.device("/cpu:1"):
            a = tf.random_uniform([2], name="a")
        assert placed(CPUS, [a])["a"] == "CPU:1"
        assert placed(MIXED, [a])["a"] == "CPU:1"

    def test_a_type_is_enough(self):
        with tf.device("/device:CPU:*"):
            a = tf.random_uniform([2], name="a")
        assert placed(MIXED, [a])["a"].startswith("CPU:")

    def test_accelerators_come_first(self):
        a = tf.random_uniform([2], name="a")
        assert placed(MIXED, [a])["a"].startswith("GPU:")

    def test_a_task_without_a_device(self):
        with tf.device("/job:worker/task:0"):
            a = tf.random_uniform([2], name="a")
        with tf.device("/job:ps"):
            b = tf.add(a, 1.0, name="b")
        with tf.device("/job:worker/task:0/cpu:0"):
            c = tf.add(b, 1.0, name="c")
        found = placed(CLUSTER, [c])
        assert found["a"] == "/job:worker/replica:0/task:0/device:GPU:0"
        assert found["b"] == "/job:ps/replica:0/task:0/device:CPU:0"
        assert found["c"] == "/job:worker/replica:0/task:0/device:CPU:0"

    @pytest.mark.parametrize("name", ["/cpu:7", "/gpu:0", "/job:ps", "/job:localhost/task:3"])
    def test_no_such_device(self, name):
        with tf.device(name):
            a = tf.constant(1.0, name="a")
        with pytest.raises(errors.InvalidArgumentError) as error:
            placed(CPUS, [a])
        text = str(error.value)
        assert "Cannot assign a device for operation a" in text
        assert "available devices are [ /job:localhost/replica:0/task:0/device:CPU:0, " in text
        assert re.search(r"defined at .*test_place\.py:\d+", text)

    def test_no_such_device_where_there_is_one(self):
        with tf.device("/cpu:1"):
            a = tf.constant(1.0, name="a")
        with pytest.raises(errors.InvalidArgumentError, match="Cannot assign a device"):
            placed(devices("CPU:0"), [a])
        assert placed(devices("CPU:0"), [a], options=SOFT) == {"a": "CPU:0"}


class TestKernels:
    def strings(self):
        with tf.device("/gpu:0"):
            return tf.string_join(["a", "b"], name="joined")

    def test_strings_do_not_run_on_a_gpu(self):
        joined = self.strings()
        with pytest.raises(errors.InvalidArgumentError) as error:
            placed(MIXED, [joined])
        text = str(error.value)
        assert "no supported kernel for GPU devices is available" in text
        assert re.search(r"(StringJoin|Const) runs on CPU\b", text)
        assert "/device:GPU:0" in text and re.search(r"test_place\.py:\d+", text)

    def test_softly_they_run_on_the_host(self):
        assert placed(MIXED, [self.strings()], options=SOFT)["joined"] == "CPU:0"

    def test_lists_of_tensors_and_loops_over_them_run_on_a_gpu(self):
        @Defun(tf.int32, tf.float32)
        def more(i, x):
            return i < 3

        @Defun(tf.int32, tf.float32)
        def turn(i, x):
            return i + 1, tf.sin(x) * x

        x = tf.random_uniform([2])
        y = While([0, x], more, turn, name="loop")[1]
        found = placed(MIXED, tf.gradients(y, x))
        lists = [found[name] for name in found if "EmptyTensorList" in name]
        assert lists and found["loop"].startswith("GPU:") and set(lists) >= {found["loop"]}

    def test_what_takes_a_list_that_the_host_made_runs_on_the_host(self):
        rows = tf.raw_ops.EmptyTensorList(
            element_shape=-1, max_num_elements=-1, element_dtype=tf.string
        )
        rows = tf.raw_ops.TensorListPushBack(input_handle=rows, tensor=tf.constant("a"))
        length = tf.raw_ops.TensorListLength(input_handle=tf.identity(rows), name="length")
        assert placed(MIXED, [length])["length"].startswith("CPU:")

    def test_without_a_device_they_run_on_the_host(self):
        a = tf.random_uniform([2], name="a")
        found = placed(MIXED, [python(a)])
        assert found["python"].startswith("CPU:") and found["a"].startswith("GPU:")

    def test_softly_a_host_of_the_same_task(self):
        with tf.device("/job:worker/task:1/gpu:3"):
            a = tf.random_uniform([2], name="a")
        found = placed(CLUSTER, [a], options=SOFT)
        assert found["a"] == "/job:worker/replica:0/task:1/device:CPU:0"

    def test_a_task_that_does_not_exist_is_not_replaced(self):
        with tf.device("/job:wroker/cpu:0"):
            a = tf.random_uniform([2], name="a")
        for found in (CLUSTER, devices("CPU:0")):
            with pytest.raises(errors.InvalidArgumentError, match="explicitly assigned to /job:wr"):
                placed(found, [a], options=SOFT)

    def test_softly_in_one_task(self):
        """Sessions with different graphs have to agree on where it is."""
        with tf.device("/gpu:3"):
            v = tf.get_variable("v", [2])
        options = PlaceOptions(soft=True, one_task=True)
        found = placed(CLUSTER, targets=[v.initializer], options=options)
        assert found["v"] == "/job:worker/replica:0/task:0/device:CPU:0"

    def test_what_has_no_device_is_in_the_first_task_by_name(self):
        """As in TensorFlow: of the best type of device, whatever the session is connected to."""
        hosts = devices("worker/1/CPU:0", "worker/0/CPU:0", "ps/0/CPU:0")
        v, c = tf.get_variable("v", [2]), tf.constant([1.0, 2.0], name="c")
        with tf.device("/job:worker"):
            z = tf.add(v, c, name="z")
        options = PlaceOptions(one_task=True)
        found = placed(hosts, [z], options=options)
        assert found["v"] == "/job:ps/replica:0/task:0/device:CPU:0"
        assert found["z"] == "/job:worker/replica:0/task:0/device:CPU:0"
        assert found["c"] == found["z"]  # with what uses it
        found = placed(CLUSTER, [z], options=options)
        assert found["v"] == "/job:worker/replica:0/task:0/device:GPU:0"

    def test_queues_are_on_the_host(self):
        queue = tf.FIFOQueue(1, tf.float32, name="queue")
        got = queue.dequeue(name="got")
        found = placed(MIXED, [got])
        assert found["queue"] == found["got"] and found["got"].startswith("CPU:")


class TestColocation:
    def test_explicit(self):
        with tf.device("/cpu:1"):
            a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = tf.random_uniform([2], name="b")
        assert placed(CPUS, [b, a])["b"] == "CPU:1"

    def test_transitive(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = tf.random_uniform([2], name="b")
        with tf.colocate_with(b.op):
            c = tf.random_uniform([2], name="c")
        c.op._set_device("/cpu:2")
        assert set(placed(CPUS, [a, b, c]).values()) == {"CPU:2"}

    def test_by_a_node_that_the_step_does_not_need(self):
        with tf.device("/cpu:1"):
            a = tf.random_uniform([2], name="a")
        b, c = tf.random_uniform([2], name="b"), tf.random_uniform([2], name="c")
        colocate(b, a)
        colocate(c, a)
        c.op._set_device("/cpu:2")
        assert placed(CPUS, [b, c])["b"] == "CPU:2"

    def test_the_devices_asked_for_are_merged(self):
        a, b = tf.random_uniform([2], name="a"), tf.random_uniform([2], name="b")
        a.op._set_device("/job:worker")
        colocate(b, a)
        b.op._set_device("/task:1")
        both = placed(CLUSTER, [a, b])
        assert both["a"] == both["b"] == "/job:worker/replica:0/task:1/device:CPU:0"

    def test_one_member_without_a_kernel_moves_all(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = python(a)
        found = placed(MIXED, [a, b])
        assert found["a"] == found["python"] and found["a"].startswith("CPU:")

    def test_a_conflict_names_both_and_their_lines(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = tf.random_uniform([2], name="b")
        a.op._set_device("/cpu:1")
        b.op._set_device("/cpu:2")
        with pytest.raises(errors.InvalidArgumentError) as error:
            placed(CPUS, [a, b])
        text = str(error.value)
        assert "Cannot colocate nodes {{colocation_node a}}" in text
        assert "{{colocation_node b}}" in text
        assert "'/device:CPU:1' and '/device:CPU:2' are not compatible" in text
        assert len(set(re.findall(r"test_place\.py:(\d+)", text))) >= 2

    def test_a_conflict_through_a_third_node(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = tf.random_uniform([2], name="b")
        c = tf.random_uniform([2], name="c")
        colocate(c, b)
        a.op._set_device("/cpu:1")
        c.op._set_device("/cpu:2")
        with pytest.raises(errors.InvalidArgumentError) as error:
            placed(CPUS, [a, b, c])
        assert "through {{colocation_node a}}" in str(error.value)

    def test_a_conflict_is_soft(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = tf.random_uniform([2], name="b")
        a.op._set_device("/cpu:1")
        b.op._set_device("/cpu:2")
        found = placed(CPUS, [a, b], options=SOFT)
        assert found["a"] == found["b"]

    def test_a_conflict_of_tasks_is_not_soft(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = tf.random_uniform([2], name="b")
        a.op._set_device("/job:worker/task:0")
        b.op._set_device("/job:worker/task:1")
        with pytest.raises(errors.InvalidArgumentError, match="are not compatible"):
            placed(CLUSTER, [a, b], options=SOFT)

    def test_a_soft_conflict_stays_in_its_task(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = tf.random_uniform([2], name="b")
        a.op._set_device("/job:worker/task:1/cpu:0")
        b.op._set_device("/job:worker/cpu:1")
        found = placed(CLUSTER, [a, b], options=SOFT)
        assert found["a"] == found["b"] == "/job:worker/replica:0/task:1/device:CPU:0"

    def test_no_type_of_device_for_all(self):
        a = tf.random_uniform([2], name="a")
        with tf.colocate_with(a.op):
            b = python(a)
        a.op._set_device("/gpu:0")
        with pytest.raises(errors.InvalidArgumentError) as error:
            placed(MIXED, [a, b])
        text = str(error.value)
        assert "no supported kernel for GPU" in text
        assert "PyFunc runs on CPU" in text and "python" in text  # who stands in the way


class TestCells:
    @pytest.mark.parametrize("resource", [True, False])
    def test_updates_are_where_the_variable_is(self, resource):
        with tf.device("/cpu:1"):
            v = tf.get_variable("v", [2], use_resource=resource)
        loss = tf.reduce_sum(tf.square(v))
        train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
        found = placed(CPUS, targets=[train, tf.global_variables_initializer()])
        update = next(name for name in found if name.endswith("ApplyMomentum"))
        together = ["v", "v/Assign", "v/Momentum", "v/Momentum/Assign", update]
        assert {found[name] for name in together} == {"CPU:1"}

    def test_a_reference_edge_outweighs_no_wish(self):
        with tf.device("/cpu:2"):
            v = tf.get_variable("v", [2], use_resource=False)
        with tf.device(None):
            add = tf.assign_add(v, [1.0, 1.0], name="add")
        assert placed(CPUS, [add])["add"] == "CPU:2"

    def test_a_reference_edge_against_a_wish(self):
        with tf.device("/cpu:2"):
            v = tf.get_variable("v", [2], use_resource=False)
        add = tf.assign_add(v, [1.0, 1.0], name="add")
        add.op._set_attr("_class", tf.AttrValue(list=tf.AttrValue.ListValue()))
        add.op._set_device("/cpu:1")
        assert placed(CPUS, [add])["add"] == "CPU:2"
        assert placed(CPUS, [add], options=SOFT)["add"] == "CPU:2"

    def test_an_edge_between_two_that_hold_state(self):
        with tf.device("/cpu:2"):
            v = tf.get_variable("v", [2], use_resource=False)
        with tf.device("/cpu:1"):
            w = tf.get_variable("w", [2], use_resource=False)
        add = tf.assign_add(v, [1.0, 1.0], name="add")
        together = tf.AttrValue.ListValue(s=[b"loc:@w"])
        add.op._set_attr("_class", tf.AttrValue(list=together))
        add.op._set_device("")
        with pytest.raises(errors.InvalidArgumentError, match="reference or resource edge"):
            placed(CPUS, [add, w.value()])

    def test_values_of_a_variable_go_anywhere(self):
        with tf.device("/cpu:2"):
            v = tf.get_variable("v", [2], use_resource=False)
        with tf.device("/cpu:1"):
            y = tf.multiply(v, 2.0, name="y")
        found = placed(CPUS, [y])
        assert found["v"] == "CPU:2" and found["y"] == "CPU:1"

    def test_resource_edges(self):
        with tf.device("/cpu:2"):
            queue = tf.FIFOQueue(1, tf.float32, name="queue")
        enqueue = queue.enqueue(1.0, name="put")
        assert placed(CPUS, targets=[enqueue, queue.close()])["put"] == "CPU:2"


class TestPinned:
    def test_a_node_stays_where_it_was(self):
        a = tf.random_uniform([2], name="a")
        b = tf.add(a, 1.0, name="b")
        found = placed(CPUS, [b], pinned={"a": f"{TASK}/device:CPU:2"})
        assert found["a"] == "CPU:2"

    def test_a_group_stays_with_its_pinned_member(self):
        v = tf.get_variable("v", [2], use_resource=True)
        add = v.assign_add([1.0, 1.0], read_value=False)
        found = placed(CPUS, targets=[add], pinned={"v": f"{TASK}/device:CPU:1"})
        assert found["v"] == found[add.name] == "CPU:1"

    def test_a_device_that_is_gone_pins_nothing(self):
        a = tf.random_uniform([2], name="a")
        assert placed(CPUS, [a], pinned={"a": f"{TASK}/device:GPU:0"})["a"].startswith("CPU:")

    def test_variables_stay_through_a_session(self):
        config = tf.ConfigProto(device_count={"CPU": 3})
        with tf.device("/cpu:2"):
            v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        with tf.Session(config=config) as sess:
            sess.run(v.initializer)
            later = tf.assign_add(v, 1.0)
            assert sess.run(later) == 2.0
            assert sess._runner.place.placed[later.op.name].endswith("CPU:2")


def loop(inner_device=None):
    def body(i, x):
        with tf.device(inner_device):
            return i + 1, tf.multiply(x, 2.0, name="double")

    n = tf.placeholder_with_default(3, [], name="n")
    return tf.while_loop(lambda i, x: i < n, body, [0, tf.random_uniform([2])], name="w")


class TestLoops:
    def test_a_loop_is_kept_whole(self):
        found = placed(CPUS, [loop()[1]])
        assert len({d for name, d in found.items() if name.startswith("w/")}) == 1

    def test_what_names_a_device_leaves_the_loop(self):
        found = placed(CPUS, [loop("/cpu:2")[1]])
        assert found["w/double"] == "CPU:2"
        assert len({found["w/Less"], found["w/LoopCond"], found["w/add"]}) == 1

    def test_a_host_operation_leaves_the_loop_on_the_gpu(self):
        def body(i, x):
            return i + 1, x + python(x)

        y = tf.while_loop(lambda i, x: i < 3, body, [0, tf.random_uniform([2])], name="w")[1]
        found = placed(MIXED, [y])
        assert found["w/python"].startswith("CPU:")

    def test_ends_of_a_loop_follow_what_they_carry(self):
        i, x = loop("/cpu:2")
        found = placed(CPUS, [i, x], moved=True)
        carried = [n for n in found if n in ("w/Switch_1", "w/Exit_1", "w/NextIteration_1")]
        merges = {found["w/Merge_1"], found["w/Switch_1"], found["w/Exit_1"]}
        assert len(carried) == 3 and len(merges) == 1
        assert found["w/NextIteration_1"] == found["w/Enter_1"] == found["w/Merge_1"]

    def test_a_switch_is_where_its_data_is(self):
        p = tf.placeholder_with_default(True, [], name="p")
        with tf.device("/cpu:2"):
            x = tf.random_uniform([2], name="x")
        with tf.device("/cpu:1"):
            false, true = tf.raw_ops.Switch(data=x, pred=p, name="switch")
        y = tf.raw_ops.Merge(inputs=[false + 1.0, true * 2.0], name="merge")[0]
        assert placed(CPUS, [y], moved=True)["switch"] == "CPU:2"


class TestTelling:
    def build(self):
        with tf.device("/cpu:1"):
            a = tf.random_uniform([2], name="a")
        with tf.device("/cpu:0"):
            return tf.add(a, 1.0, name="b")

    def test_log_device_placement(self, capfd):
        config = tf.ConfigProto(device_count={"CPU": 2}, log_device_placement=True)
        with tf.Session(config=config) as sess:
            y = self.build()
            sess.run(y)
            told = capfd.readouterr().err.splitlines()
            assert f"b: (Add): {TASK}/device:CPU:0" in told
            assert f"a/RandomUniform: (RandomUniform): {TASK}/device:CPU:1" in told
            sess.run(y)
            assert capfd.readouterr().err == ""  # told once

    def test_log_device_placement_on_one_device(self, capfd):
        with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as sess:
            sess.run(tf.constant(1.0, name="one") + tf.random_uniform([], name="two"))
        assert "two/RandomUniform: (RandomUniform): " in capfd.readouterr().err

    def test_dumps(self, tmp_path):
        config = tf.ConfigProto(device_count={"CPU": 2})
        with flags.DUMP.override(str(tmp_path)), tf.Session(config=config) as sess:
            sess.run(self.build())
        [folder] = tmp_path.iterdir()
        lines = (folder / "12_placed.txt").read_text().splitlines()
        line = rf"b = Add\(.*\) -> float32 @ {TASK}/device:CPU:0"
        assert any(re.fullmatch(line, each) for each in lines)
        drawing = (folder / "12_placed.dot").read_text()
        assert drawing.startswith("digraph placement {") and drawing.count("subgraph") == 2
        assert drawing.count("color=red") == 1  # the edge that is cut
        names = {path.name for path in folder.iterdir()}
        assert {"14_partition_0.txt", "14_partition_1.txt"} <= names


def test_placement_changes_no_values():
    rng = np.random.RandomState(0)
    x = tf.placeholder(tf.float32, [4, 8])
    y = tf.layers.dense(tf.layers.dense(x, 16, tf.nn.relu), 3)
    fed = {x: rng.rand(4, 8).astype(np.float32)}
    results = []
    for count in (1, 4):
        tf.set_random_seed(1)
        with tf.Session(config=tf.ConfigProto(device_count={"CPU": count})) as sess:
            sess.run([v.assign(np.full(v.shape, 0.1, np.float32)) for v in tf.global_variables()])
            results.append(sess.run(y, fed))
    np.testing.assert_allclose(*results)


class TestWholeGraph:
    """Every operation must have a place, unless only those of a step were asked about."""

    def test_an_unused_operation_on_a_device_that_is_not_there(self):
        with tf.device("/device:GPU:7"):
            tf.constant(1.0)
        y = tf.constant(2.0)
        with tf.Session() as sess, pytest.raises(errors.InvalidArgumentError, match="GPU:7"):
            sess.run(y)
        pruned = tf.ConfigProto(graph_options=tf.GraphOptions(place_pruned_graph=True))
        with tf.Session(config=pruned) as sess:
            assert sess.run(y) == 2.0
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as sess:
            assert sess.run(y) == 2.0

    def test_interactive_sessions_look_at_steps_alone(self):
        with tf.device("/device:GPU:7"):
            bad = tf.constant(1.0)
        y = tf.constant(2.0)
        sess = tf.InteractiveSession()
        try:
            assert sess.run(y) == 2.0
            with pytest.raises(errors.InvalidArgumentError, match="GPU:7"):
                sess.run(bad)
        finally:
            sess.close()

    def test_every_so_many_steps_are_measured(self):
        y = tf.reduce_sum(tf.random_uniform([10]))
        config = tf.ConfigProto(graph_options=tf.GraphOptions(build_cost_model=3))
        with tf.Session(config=config) as sess:
            measured = []
            for _ in range(7):
                metadata = tf.RunMetadata()
                sess.run(y, run_metadata=metadata)
                measured.append(metadata.HasField("cost_graph"))
        assert measured == [False, False, True, False, False, True, False]


def test_sparse_updates_stay_with_their_variables():
    """An optimizer finds rows that come twice on the host, which holds nothing else there."""
    table = tf.get_variable("table", [1000, 8])
    rows = tf.gather(table, tf.constant([1, 2, 1]))
    train = tf.train.AdamOptimizer().minimize(tf.reduce_sum(rows * rows))
    found = placed(devices("CPU:0", "GPU:0"), targets=[train])
    assert set(found.values()) == {"GPU:0"}
    strings = tf.unique(tf.constant(["a", "b", "a"])).y
    assert set(placed(devices("CPU:0", "GPU:0"), [strings]).values()) == {"CPU:0"}
