"""Placements on a cluster that exists only on paper."""

import pytest

import weft as tf
from benchmarks import placement
from weft.passes.devices import DeviceSet, describe
from weft.passes.place.cost import CostModel, estimated_size, estimated_time
from weft.passes.place.place import PlaceOptions, place
from weft.passes.place.simulate import simulated_time
from weft.passes.prune import prune

LOCAL = "/job:localhost/replica:0/task:0/device:"


@pytest.fixture(scope="module")
def cluster():
    return placement.paper_cluster()


@pytest.mark.parametrize("seed", range(6))
def test_small_graphs_are_near_the_best_of_all(cluster, seed):
    graph = placement.random_graph(seed, 4)
    ours = placement.placed(graph, cluster)
    placement.clear(graph)
    assert ours <= 1.1 * placement.best_of_all(graph, cluster)


@pytest.mark.parametrize("model", [placement.lstm, placement.inception])
def test_beats_one_device_and_dealing_out(cluster, model):
    ours, one, in_turn = placement.compare(model(), cluster)
    assert ours < one and ours < in_turn


def test_hosts_that_share_cores_are_not_spread_over():
    """Four CPU devices of one process compute in turn: sending between them only costs."""
    names = [f"{LOCAL}CPU:{i}" for i in range(4)]
    devices = DeviceSet(tuple(describe(name, processor="cores") for name in names))
    graph = placement.inception(blocks=1)
    place(graph, devices)
    assert {n.device for n in graph.nodes} == {names[0]}


def test_accelerators_come_first():
    devices = DeviceSet.of([f"{LOCAL}CPU:0", f"{LOCAL}GPU:0"])
    graph = placement.inception(blocks=1)
    place(graph, devices)
    assert {n.device for n in graph.nodes} == {f"{LOCAL}GPU:0"}


class TestCosts:
    @pytest.fixture
    def product(self):
        a = tf.placeholder(tf.float32, [64, 128])
        y = tf.matmul(a, tf.placeholder(tf.float32, [128, 32]), name="y")
        return next(n for n in prune([], [y], []).nodes if n.name == "y")

    def test_estimates_follow_work_and_size(self, product):
        slow, fast = describe(f"{LOCAL}CPU:0"), describe(f"{LOCAL}GPU:0")
        assert estimated_size(product, 0) == 64 * 32 * 4
        assert estimated_time(product, slow) > 10 * estimated_time(product, fast)
        assert estimated_time(product, slow) >= 2 * 64 * 128 * 32 / slow.flops

    def test_what_was_measured_counts(self, product, tmp_path):
        model, device = CostModel(), describe(f"{LOCAL}CPU:0")
        model.record("y", device.name, 100, {0: 4096})
        model.record("y", device.name, 300, {0: 4096})
        assert model.time(product, device) == 200
        assert model.size((product, 0)) == 4096
        model.save(str(tmp_path / "costs"))
        again = CostModel.load(str(tmp_path / "costs"))
        assert again.time(product, device) == 200 and again.size((product, 0)) == 4096
        assert again.measured("y", f"{LOCAL}GPU:0") is None

    def test_measured_costs_move_a_node(self):
        """A node that turns out slow on one device goes to another when placed again."""
        devices = DeviceSet.of([f"{LOCAL}GPU:0", f"{LOCAL}GPU:1"])
        x = tf.placeholder(tf.float32, [8, 8])
        tf.add(tf.matmul(x, x, name="a"), tf.matmul(x, x, name="b"), name="c")
        graph = prune([], [], tf.get_default_graph().get_operations())
        place(graph, devices, PlaceOptions())
        assert len({n.device for n in graph.nodes}) == 1
        costs = CostModel()
        for name in "ab":
            costs.record(name, f"{LOCAL}GPU:0", 10_000, {0: 256})
        placement.clear(graph)
        place(graph, devices, PlaceOptions(), costs)
        where = {n.name: n.device for n in graph.nodes}
        assert where["a"] != where["b"]
        assert simulated_time(graph.nodes, devices, costs) < 11_000

    def test_a_traced_step_fills_the_cost_graph(self):
        y = tf.reduce_sum(tf.random_uniform([100]), name="y")
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with tf.Session() as sess:
            sess.run(y, options=options, run_metadata=metadata)
        nodes = {node.name: node for node in metadata.cost_graph.node}
        assert nodes["y"].compute_cost >= 1
        assert nodes["random_uniform/RandomUniform"].output_info[0].size == 400
