"""Checks of a step's graph between passes."""

from __future__ import annotations

import pytest

import weft as tf
from weft.passes.control_flow.structured_nodes import subgraphs
from weft.passes.pipeline import Options, prepare
from weft.passes.verify import verify


def test_graphs_inside_of_loops_are_looked_at() -> None:
    i = tf.while_loop(lambda i: i < 10, lambda i: i * 2 + 1, [tf.constant(0)])
    (part,) = prepare([], [i], [], Options())
    loop = next(node for node in part.graph.nodes if subgraphs(node))
    verify("as it is", part.graph)
    body = loop.loop.body
    body.nodes.remove(body.fetches[0][0])
    with pytest.raises(AssertionError, match=f"stage, in {loop.name}: .* gone"):
        verify("stage", part.graph)
