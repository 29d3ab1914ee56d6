"""Control flow of the second version: one graph and one result, to any order, in both libraries."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity import graphdefs
from tests.parity.control_flow_programs import ORDERS
from tests.parity.store import DATA
from tests.parity.test_functions import ROOT, TENSORFLOW

PROGRAMS = {program.__name__: program for program in ORDERS}
CASES = {case.name: case for case in graphdefs.load(DATA / "control_flow")}
# Those add what weft and TensorFlow have different names for.
OWN_NAMES = {"hessians", "variables"}
# What weft knows of Python's gradients does not travel.
IMPORTED = [name for name in PROGRAMS if name != "own_gradients"]

every_program = pytest.mark.parametrize("name", PROGRAMS)


@contextmanager
def second_version() -> Iterator[None]:
    tf.enable_control_flow_v2()
    try:
        yield
    finally:
        tf.disable_control_flow_v2()


def assert_steps(case: graphdefs.Case, found: list[list[Any]]) -> None:
    for step, values in zip(case.steps, found, strict=True):
        assert len(values) == len(step.results)
        for fetch, value, wanted in zip(step.fetches, values, step.results, strict=True):
            if wanted is None:
                assert value is None
            else:
                np.testing.assert_allclose(value, wanted, 2e-4, 2e-4, err_msg=fetch)


@every_program
def test_built(name: str) -> None:
    with second_version(), tf.Graph().as_default() as graph:
        forward = PROGRAMS[name](tf)
        steps = forward.steps(tf, ORDERS[PROGRAMS[name]])
        with tf.Session(graph=graph) as session:
            found = [session.run(step.fetches, step.feeds) for step in steps]
    assert_steps(CASES[name], found)


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in OWN_NAMES])
def test_names(name: str) -> None:
    """Control flow of a graph has TensorFlow's names, and inputs and outputs in its order."""
    with second_version(), tf.Graph().as_default() as graph:
        PROGRAMS[name](tf)
    wanted = tf.GraphDef.FromString(CASES[name].graph_def)
    assert control_flow(graph.as_graph_def()) == control_flow(wanted)


# TensorFlow 1.15 has no StatelessCase; resizing a list, for arrays that grow, is stateful there.
STATEFUL = {"StatelessIf": "If", "StatelessWhile": "While", "StatelessCase": "Case"}


def control_flow(graph_def: Any) -> dict[str, Any]:
    """Inputs and types of nodes that call functions."""
    return {
        node.name: (
            STATEFUL.get(node.op, node.op),
            list(node.input),
            list(node.attr["T" if "While" in node.op else "Tout"].list.type),
            node.attr["_lower_using_switch_merge"].b,
        )
        for node in graph_def.node
        if node.op in {*STATEFUL, *STATEFUL.values()}
    }


@pytest.mark.parametrize("name", IMPORTED)
def test_imported(name: str) -> None:
    """What weft derives from a graph of TensorFlow's."""
    case, order = CASES[name], ORDERS[PROGRAMS[name]]
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(case.graph_def), name="")
        last = case.steps[-1]
        xs = [x for x in map(graph.get_tensor_by_name, last.feeds) if x.dtype.is_floating]
        known = {op.name for op in graph.get_operations()}
        ys = fetches = [
            graph.get_tensor_by_name(each) for each in last.fetches if each.split(":")[0] in known
        ]
        for _ in range(order if len(ys) < len(last.fetches) else 0):
            ys = [dy for dy in tf.gradients(ys, xs) if dy is not None]
            fetches = fetches + ys
        with tf.Session(graph=graph) as session:
            found = [
                session.run(fetches if step.fetches == last.fetches else step.fetches, step.feeds)
                for step in case.steps
            ]
    assert_steps(case, found)


def built(name: str, order: int) -> graphdefs.Case:
    with second_version(), tf.Graph().as_default() as graph:
        steps = PROGRAMS[name](tf).steps(tf, order)
        with tf.Session(graph=graph) as session:
            named = [graphdefs.run_step(session, step) for step in steps]
        return graphdefs.Case(name, graph.as_graph_def().SerializeToString(), named)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_run_in_tensorflow(tmp_path: Path) -> None:
    if not TENSORFLOW.exists():
        pytest.skip("no .venv-tf: TensorFlow is not installed to run weft's graphs")
    graphdefs.save(tmp_path, [built(name, ORDERS[PROGRAMS[name]]) for name in PROGRAMS])
    command = [str(TENSORFLOW), "-m", "tests.parity.check_in_tensorflow", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
