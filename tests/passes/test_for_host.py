"""Which results of the regions on an accelerator only hosts read."""

import numpy as np

import weft as tf
from weft.passes.devices import DeviceSet
from weft.passes.inline import inline
from weft.passes.partition import partition
from weft.passes.place.place import place
from weft.passes.prune import prune
from weft.passes.regions.for_host import mark_fed, mark_for_host, mark_received
from weft.passes.regions.group import group

TASK = "/job:localhost/replica:0/task:0"
DEVICES = DeviceSet.of(f"{TASK}/device:{name}" for name in ("CPU:0", "GPU:0", "GPU:1"))


def units_of(fetches, feeds=()):
    """The graph and the units of each device, by the end of its name."""
    graph = prune(list(feeds), list(fetches), [])
    inline(graph)
    place(graph, DEVICES)
    return {
        part.device[-5:]: (part.graph, group(part.graph, frozenset(), apart=True).units)
        for part in partition(graph)
    }


def marked(*fetches):
    """Names of the outputs of GPU:0, those marked first, then the others."""
    _, units = units_of(fetches)["GPU:0"]
    mark_for_host(units)
    regions = [unit for unit in units if unit.is_region]
    found = {edge for unit in regions for edge in unit.for_host}
    others = {edge for unit in regions for edge in unit.outputs} - found
    return [sorted(node.name for node, _ in edges) for edges in (found, others)]


def on(device):
    return tf.device(f"/{device}")


def test_what_is_fetched_or_sent_to_a_host():
    with on("gpu:0"):
        x = tf.get_variable("x", [3])
        a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    with on("cpu:0"):
        c = b + np.float32(1.0)
    assert marked(a, b, c) == [["a", "b"], []]


def test_not_what_another_accelerator_reads():
    with on("gpu:0"):
        x = tf.get_variable("x", [3])
        a, b = tf.exp(x, name="a"), tf.sin(x, name="b")
    with on("gpu:1"):
        c = a + b
    assert marked(a, c) == [[], ["a", "b"]]


def test_not_what_the_next_region_reads_as_well():
    with on("gpu:0"):
        x = tf.get_variable("x", [3])
        a = tf.exp(x, name="a")
        b = tf.reduce_sum(a, name="b")
    with on("cpu:0"):
        c = tf.py_func(np.sin, [b], tf.float32)
        c.set_shape([])
    with on("gpu:0"):
        d = tf.multiply(a, c, name="d")
    assert marked(a, d) == [["b", "d"], ["a"]]


def test_what_users_feed_and_nodes_of_the_host_make():
    x = tf.placeholder(tf.float32, [3])
    with on("cpu:0"):
        made = tf.py_func(np.sin, [x], tf.float32)
        computed = tf.exp(x)
    with on("gpu:0"):
        w = tf.get_variable("w", [3])
        y = w * x + made + computed
    found = units_of([y], [x])
    (graph, units), (_, others) = found["GPU:0"], found["CPU:0"]

    def fed():
        return [node for unit in units if unit.is_region for node, _ in unit.fed]

    mark_fed(graph, units)
    assert [node.type for node in fed()] == ["_Arg"]
    mark_received([others], [units])
    names = sorted(node.attrs.get("tensor_name", node.type) for node in fed())
    assert len(names) == 2 and "PyFunc" in names[1]
