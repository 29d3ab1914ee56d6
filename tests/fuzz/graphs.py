"""Programs that import a GraphDef with something changed, and run one of its nodes."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import weft as tf
from tests.fuzz import mutate
from weft.graph.op_def import REGISTRY

PROGRAM = """\
import numpy as np, weft as tf
from tensorboard.compat.proto.config_pb2 import ConfigProto
from tensorboard.compat.proto.graph_pb2 import GraphDef
graph_def = GraphDef.FromString({data!r})
config = ConfigProto(operation_timeout_in_ms=4000)
with tf.Graph().as_default() as graph, tf.Session(config=config) as session:
    tf.import_graph_def(graph_def, name="")
    operations = graph.get_operations()
    wanted = operations[{pick} % len(operations)]
    for _ in range(2): session.run(list(wanted.outputs) or wanted)
"""


def changed(rng: random.Random) -> Any:
    """A GraphDef that is not quite right."""
    graph_def = type(bases()[0])()
    graph_def.CopyFrom(rng.choice(bases()))
    for _ in range(rng.choice((1, 1, 2, 3))):
        _change(rng, graph_def)
    return graph_def


def program(rng: random.Random) -> str:
    graph_def = changed(rng)
    data = graph_def.SerializeToString(deterministic=True)
    if rng.random() < 0.2:
        data = _parsed(rng, graph_def, data)
    return PROGRAM.format(data=data, pick=rng.randrange(1000))


def _change(rng: random.Random, graph_def: Any) -> None:
    """A field anywhere, or what matters most: inputs and types of operations."""
    way, node = rng.random(), rng.choice(graph_def.node)
    if way < 0.5:
        mutate.message(rng, graph_def)
    elif way < 0.7:
        other = rng.choice(graph_def.node).name
        texts = (other, f"^{other}", f"{other}:1", f"{other}:999", "", "nobody", ":", "^")
        node.input.append(rng.choice(texts))
    elif way < 0.85:
        others = [n.op for n in graph_def.node]
        node.op = rng.choice(sorted(REGISTRY) if rng.random() < 0.7 else others)
    else:
        key = rng.choice(["_class", "_output_shapes", "T", "dtype", "N", "shape", "value"])
        source = rng.choice(graph_def.node)
        if source.attr:
            node.attr[key].CopyFrom(source.attr[rng.choice(sorted(source.attr))])


def _parsed(rng: random.Random, graph_def: Any, data: bytes) -> bytes:
    """Bytes with a change after which they are still a message."""
    for _ in range(20):
        changed = mutate.bytes_of(rng, data)
        try:
            if type(graph_def).FromString(changed).node:
                return changed
        except Exception:
            continue
    return data


# ---- what is changed ---------------------------------------------------------------------------


def _loop() -> None:
    tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), [0, tf.constant([1.0, 2.0])])


def _branch() -> None:
    x = tf.constant([1.0, -1.0])
    tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: tf.exp(x))


def _training() -> None:
    weights = tf.get_variable("w", [3, 2])
    loss = tf.reduce_sum(tf.matmul(tf.ones([4, 3]), weights) ** 2)
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    tf.global_variables_initializer()


def _pictures() -> None:
    image = tf.reshape(tf.range(32.0), [1, 4, 4, 2])
    made = tf.nn.conv2d(image, tf.ones([2, 2, 2, 3]), strides=[1, 1, 1, 1], padding="SAME")
    tf.nn.max_pool(made, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")


def _texts() -> None:
    parts = tf.string_split(["a b", "c"])
    tf.strings.to_hash_bucket_fast(parts.values, 10)
    tf.strings.join([["x"], ["y"]], "-")


def _queue() -> None:
    queue = tf.FIFOQueue(4, [tf.float32], [[2]])
    with tf.control_dependencies([queue.enqueue([[1.0, 2.0]])]):
        queue.dequeue()
    table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
    with tf.control_dependencies([table.initializer]):
        table.lookup(tf.constant(["b"]))


def _function() -> None:
    @tf.function
    def squared(x: Any) -> Any:
        return x * x

    squared(squared(tf.constant([3.0])))
    tf.data.Dataset.range(5).map(lambda x: x * 2).batch(2).make_one_shot_iterator().get_next()


def _lists() -> None:
    values = tf.TensorArray(tf.float32, 2).unstack([[1.0], [2.0]])
    values.stack()
    tf.split(tf.range(6), 3)
    tf.strided_slice(tf.range(6), [1], [4], [2])
    tf.concat([[1], [2, 3]], 0)


@lru_cache(maxsize=1)
def bases() -> list[Any]:
    """Graphs that are right."""
    makers: tuple[Callable[[], None], ...] = (
        _loop, _branch, _training, _pictures, _texts, _queue, _function, _lists,
    )  # fmt: skip
    found = []
    for make in makers:
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            make()
            found.append(graph.as_graph_def())
    return found
