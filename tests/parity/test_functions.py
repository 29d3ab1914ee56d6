"""Graphs full of functions travel both ways and give one result in both libraries."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.autodiff.test_function_orders import PROGRAMS, outputs
from tests.parity import graphdefs
from tests.parity.programs import Step
from tests.parity.store import DATA
from weft.core import flags
from weft.ops.functions.defun import Defun
from weft.ops.functions.function_calls import If, While, partitioned_call

ROOT = Path(__file__).parents[2]
TENSORFLOW = ROOT / ".venv-tf" / "bin" / "python"
CASES = graphdefs.load(DATA / "functions")
DERIVED = graphdefs.load(DATA / "derivatives")
ROW = np.array([1.0, 2.0, -3.0], np.float32)

every_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


@every_case
def test_graph_from_tensorflow(case: graphdefs.Case) -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(case.graph_def), name="")
        with tf.Session(graph=graph) as session:
            for _ in range(2):  # compiled, the second time
                found = graphdefs.rerun(session, case)
    assert not (problems := graphdefs.mismatches(case, found)), "\n".join(problems)


@every_case
def test_library_survives_a_round_trip(case: graphdefs.Case) -> None:
    graph_def = tf.GraphDef.FromString(case.graph_def)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    assert graph.as_graph_def().library == graph_def.library


@pytest.mark.parametrize(
    ("name", "slope"),
    [("conditional_gradient", 1), ("loop_gradient", 1), ("rows", 2), ("choice", 1),
     ("backward_call", 1), ("loop_twice", 1), ("nested_loops", 1), ("arrays", 1), ("growing", 1),
     ("branch_twice", 1)],
)  # fmt: skip
def test_gradient_of_an_imported_graph(name: str, slope: int) -> None:
    """What weft derives from TensorFlow's functions is what TensorFlow derived itself."""
    case = next(case for case in CASES if case.name == name)
    *before, step = case.steps
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(case.graph_def), name="")
        y = graph.get_tensor_by_name(step.fetches[0])
        (found,) = tf.gradients(y, graph.get_tensor_by_name(next(iter(step.feeds))))
        with tf.Session(graph=graph) as session:
            for first in before:
                session.run(first.fetches, first.feeds)
            value = session.run(found, step.feeds)
    np.testing.assert_allclose(value, step.results[slope], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", DERIVED, ids=[case.name for case in DERIVED])
def test_derivatives_of_an_imported_graph(case: graphdefs.Case) -> None:
    """Up to the third order."""
    (step,) = case.steps
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(case.graph_def), name="")
        ys = [graph.get_tensor_by_name(step.fetches[0])]
        xs = [graph.get_tensor_by_name(name) for name in step.feeds]
        fetches = [*ys]
        for _ in range(3):
            ys = tf.gradients(ys, xs)
            fetches += ys
        with flags.XLA.override(False), tf.Session(graph=graph) as session:
            found = session.run(fetches, step.feeds)
    for mine, wanted in zip(found, step.results, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "name", ["loop_twice", "nested_loops", "arrays", "growing", "branch_twice"]
)
def test_second_derivative_of_an_imported_graph(name: str) -> None:
    case = next(case for case in CASES if case.name == name)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(case.graph_def), name="")
        y = graph.get_tensor_by_name(case.steps[0].fetches[0])
        x = graph.get_tensor_by_name(next(iter(case.steps[0].feeds)))
        second = tf.gradients(tf.gradients(y, x), x)[0]
        with flags.XLA.override(False), tf.Session(graph=graph) as session:
            for step in case.steps:
                value = session.run(second, step.feeds)
                np.testing.assert_allclose(value, step.results[2], rtol=1e-4, atol=1e-5)


def defined() -> list[Step]:
    """Calls: nested, with captures and effects, and their gradients."""
    x = tf.placeholder(tf.float32, [3])
    variable = tf.get_variable("v", initializer=[1.0, 2.0, 3.0], use_resource=True)

    @Defun(tf.float32, tf.float32)
    def odd_slope(a, dy):
        return dy * 100.0 + a

    @Defun(tf.float32, grad_func=odd_slope)
    def square(a):
        return a * a

    @Defun(tf.float32)
    def nested(a):
        return square(a) * variable.read_value() + tf.tanh(a), tf.reduce_sum(a)

    @Defun(tf.float32)
    def add(a):
        variable.assign_add(a)

    outs = nested(x)
    slopes = tf.gradients(outs[0], x) + tf.gradients(square(x), x)
    call = partitioned_call([x, *add.captured_inputs], add)
    steps = [Step([variable.initializer]), Step([*outs, *slopes], {x: ROW})]
    return [*steps, Step([call], {x: ROW}), Step([variable.read_value()])]


def branches() -> list[Step]:
    x, take = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.bool, [])

    @Defun(tf.float32)
    def wave(a):
        return tf.exp(a) * tf.sin(a)

    @Defun(tf.float32)
    def square(a):
        return a * a

    (y,) = If(take, [x], wave, square)
    first = tf.gradients(y, x)
    fetches = [y, *first, *tf.gradients(first, x)]
    return [Step(fetches, {x: ROW, take: choice}) for choice in (True, False)]


def loops() -> list[Step]:
    x, w = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.float32, [])

    @Defun(tf.int32, tf.float32, tf.float32)
    def more(i, a, w):
        return i < 4

    @Defun(tf.int32, tf.float32, tf.float32)
    def turn(i, a, w):
        return i + 1, tf.sin(a) * w + a, w

    _, y, _ = While([0, x, w], more, turn)
    return [Step([y, *tf.gradients(y, [x, w])], {x: ROW, w: np.float32(0.5)})]


def second_order(program: Callable[..., Any]) -> Callable[[], list[Step]]:
    def steps() -> list[Step]:
        fetches, feeds = outputs(program, False, 2)
        return [Step(fetches, {x: np.asarray(v, np.float32) for x, v in feeds.items()})]

    steps.__name__ = program.__name__
    return steps


def built(program: Callable[[], list[Step]]) -> graphdefs.Case:
    with tf.Graph().as_default() as graph:
        steps = program()
        with tf.Session(graph=graph) as session:
            named = [graphdefs.run_step(session, step) for step in steps]
        return graphdefs.Case(program.__name__, graph.as_graph_def().SerializeToString(), named)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_graphs_run_in_tensorflow(tmp_path: Path) -> None:
    if not TENSORFLOW.exists():
        pytest.skip("no .venv-tf: TensorFlow is not installed to run weft's graphs")
    programs = [defined, branches, loops, *map(second_order, PROGRAMS)]
    graphdefs.save(tmp_path, [built(program) for program in programs])
    command = [str(TENSORFLOW), "-m", "tests.parity.check_in_tensorflow", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
