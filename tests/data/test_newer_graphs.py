"""Operations on datasets that newer clients send in the place of those of TensorFlow 1.15."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def results(graph_def: Any, fetch: str) -> list[int]:
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        tf.import_graph_def(graph_def, name="")
        found = []
        while True:
            try:
                found.append(int(session.run(fetch)))
            except tf.errors.OutOfRangeError:
                return found


def pipeline(make: Any) -> tuple[Any, str]:
    with tf.Graph().as_default() as graph:
        # Functions of one-shot iterators would hide the nodes.
        element = tf.data.make_one_shot_iterator(make()).get_next()
        return graph.as_graph_def(), element.name


def rewritten(make: Any, old: str, change: Any) -> list[int]:
    graph_def, fetch = pipeline(make)
    changed = 0
    for function in graph_def.library.function:
        holder = [node for node in function.node_def if node.op == old]
        for node in holder:
            change(function, node)
            changed += 1
    assert changed
    return results(graph_def, fetch)


def constant_of(function: Any, name: str) -> Any:
    return next(node for node in function.node_def if node.name == name.partition(":")[0])


def widened(node: Any) -> None:
    value = tf.make_ndarray(node.attr["value"].tensor).astype(np.int64)
    node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
    node.attr["dtype"].type = tf.int64.as_datatype_enum


def test_parallel_map() -> None:
    def change(function: Any, node: Any) -> None:
        node.op = "ParallelMapDatasetV2"
        del node.attr["sloppy"]
        node.attr["deterministic"].s = b"default"
        node.attr["metadata"].s = b""
        widened(constant_of(function, node.input[-1]))

    def make() -> Any:
        return tf.data.Dataset.range(4).map(lambda x: x * 2, num_parallel_calls=2)

    assert rewritten(make, "ParallelMapDataset", change) == [0, 2, 4, 6]


def test_parallel_interleave_and_options() -> None:
    def make() -> Any:
        each = tf.data.Dataset.from_tensors
        return tf.data.Dataset.range(3).interleave(each, 2, num_parallel_calls=2)

    def third(function: Any, node: Any) -> None:
        node.op = "ParallelInterleaveDatasetV3"
        del node.attr["sloppy"]

    def fourth(function: Any, node: Any) -> None:
        node.op = "ParallelInterleaveDatasetV4"
        del node.attr["sloppy"]
        node.input.insert(len(node.input) - 1, node.input[-1])
        node.input.insert(len(node.input) - 1, node.input[-1])

    def legacy(function: Any, node: Any) -> None:
        node.op = "LegacyParallelInterleaveDatasetV2"
        del node.attr["sloppy"]
        node.attr["deterministic"].s = b"true"
        node.input.append(node.input[-1])

    def rewrite(function: Any, node: Any) -> None:
        node.op = "RewriteDataset"
        name = function.node_def.add(name="rewrite_name", op="Const")
        name.attr["dtype"].type = tf.string.as_datatype_enum
        name.attr["value"].tensor.CopyFrom(tf.make_tensor_proto("replicate_on_split"))
        node.input.append("rewrite_name:output:0")
        for attr in ("algorithm", "cpu_budget"):
            node.attr.pop(attr, None)

    def options(function: Any, node: Any) -> None:
        node.op = "OptionsDataset"
        node.attr["serialized_options"].s = b""
        for name in ("algorithm", "cpu_budget"):
            node.attr.pop(name, None)

    for old, change in (
        ("ParallelInterleaveDatasetV2", third),
        ("ParallelInterleaveDatasetV2", fourth),
        ("ParallelInterleaveDatasetV2", legacy),
        ("ModelDataset", rewrite),
        ("ModelDataset", options),
    ):
        assert sorted(rewritten(make, old, change)) == [0, 1, 2]


def numbers(dataset: Any) -> list[list[int]]:
    """All elements of a dataset of vectors, given as a tensor."""
    structure = {"output_types": [tf.int64], "output_shapes": [[None]]}
    iterator = tf.raw_ops.IteratorV2(shared_name="", container="", **structure)
    started = tf.raw_ops.MakeIterator(dataset=dataset, iterator=iterator)
    (element,) = tf.raw_ops.IteratorGetNext(iterator=iterator, **structure)
    found = []
    with tf.Session() as session:
        session.run(started)
        while True:
            try:
                found.append(session.run(element).tolist())
            except tf.errors.OutOfRangeError:
                return found


def test_a_dataset_as_a_graph_and_back() -> None:
    two = tf.constant(2, tf.int64)
    dataset = tf.data.Dataset.range(5).map(lambda x: x * two).batch(2)
    text = tf.raw_ops.DatasetToGraph(input_dataset=dataset._variant_tensor)
    with tf.Session() as session:
        graph = tf.GraphDef.FromString(session.run(text))
    assert [node.op for node in graph.node][-2:] == ["BatchDatasetV2", "_Retval"]
    assert graph.node[-1].name == "dataset" and graph.node[0].name == "Const/_0"
    assert numbers(tf.raw_ops.DatasetFromGraph(graph_def=text)) == [[0, 2], [4, 6], [8]]


def test_graphs_that_are_no_datasets() -> None:
    fed = tf.placeholder(tf.int64, [])
    dataset = tf.data.Dataset.range(fed)._variant_tensor
    text = tf.raw_ops.DatasetToGraph(input_dataset=dataset)
    with tf.Session() as session:
        with pytest.raises(tf.errors.UnimplementedError, match="Placeholder"):
            session.run(text, {fed: 3})
    for content, message in ((b"", "returns one value, not 0"), (b"\xff", "Unable to parse")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            numbers(tf.raw_ops.DatasetFromGraph(graph_def=content))
