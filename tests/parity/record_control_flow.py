"""Builds programs of control flow of the second version with TensorFlow and keeps their results.

.venv-tf/bin/python -m tests.parity.record_control_flow

A case is a graph without derivatives, and what its results and their derivatives are.
`tests/parity/test_control_flow.py` builds, imports and differentiates them in weft.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from tests.parity import graphdefs
from tests.parity.control_flow_programs import ORDERS, Forward
from tests.parity.store import DATA

tf.disable_eager_execution()
tf.enable_control_flow_v2()
tf.logging.set_verbosity(tf.logging.ERROR)


def recorded(program: Callable[[Any], Forward], order: int) -> graphdefs.Case:
    with tf.Graph().as_default() as graph:
        forward = program(tf)
        graph_def = graph.as_graph_def().SerializeToString()
        steps = forward.steps(tf, order)
        with tf.Session(graph=graph) as session:
            named = [graphdefs.run_step(session, step) for step in steps]
        return graphdefs.Case(program.__name__, graph_def, named)


if __name__ == "__main__":
    graphdefs.save(DATA / "control_flow", [recorded(*each) for each in ORDERS.items()])
