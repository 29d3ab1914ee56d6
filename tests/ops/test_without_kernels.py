"""Graphs of operations that only have a signature can be built and imported, but not run."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

import weft as tf


def imported(text: str, producer: int, **options: object) -> list[tf.Operation]:
    graph_def = text_format.Parse(text, tf.GraphDef())
    graph_def.versions.producer = producer
    return tf.import_graph_def(graph_def, **options)


def test_signatures_are_known() -> None:
    text = """
        node { name: 'A' op: 'IntOutputFloatOutput' }
        node { name: 'B' op: 'ListOutput'
               attr { key: 'T' value { list { type: DT_INT32 type: DT_FLOAT } } } }
        node { name: 'C' op: 'ListInput' attr { key: 'N' value { i: 2 } }
               attr { key: 'T' value { type: DT_FLOAT } } input: 'A:1' input: 'B:1' }
        node { name: 'D' op: 'OpWithDefaultAttr' }"""
    names = ["A", "B", "C", "D"]
    a, b, c, d = imported(text, tf.GRAPH_DEF_VERSION, return_elements=names, name="")
    assert list(c.inputs) == [a.outputs[1], b.outputs[1]] and d.get_attr("default_float") == 123
    assert [t.dtype for t in b.outputs] == [tf.int32, tf.float32] and b.outputs[
        0
    ].shape.ndims is None
    with tf.Session() as session, pytest.raises(tf.errors.OpError, match="D"):
        session.run(d)


def test_a_shape_rule_may_ask_how_old_the_graph_is() -> None:
    text = "node { name: 'A' op: 'RequiresOlderGraphVersion' }"
    with tf.Graph().as_default() as graph:
        imported(text, tf.GRAPH_DEF_VERSION - 1)
        assert graph.graph_def_versions.producer == tf.GRAPH_DEF_VERSION - 1
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Wrong graph version"):
        imported(text, tf.GRAPH_DEF_VERSION)
