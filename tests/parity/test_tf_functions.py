"""Graphs that `tf.function` and AutoGraph make give one result in weft and in TensorFlow."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.parity import graphdefs
from tests.parity.programs import Step
from tests.parity.test_functions import ROOT, TENSORFLOW, built

X = np.array([1.0, 2.0, -3.0], np.float32)


def loop_with_effects() -> list[Step]:
    v = tf.Variable(2.0, use_resource=True, name="v")
    x = tf.placeholder(tf.float32, [None], name="x")

    @tf.function
    def f(x):
        total = tf.zeros([])
        array = tf.TensorArray(tf.float32, size=4)
        for i in tf.range(4):
            if tf.equal(i, 2):
                continue
            total += tf.reduce_sum(x * x) * tf.cast(i, tf.float32) * v
            v.assign_add(1.0)
            array = array.write(i, total)
        return total, array.stack()

    total, array = f(x)
    dx, dv = tf.gradients(total, [x, v])
    (second,) = tf.gradients(dx, x)
    # Each of these would change the variable.
    return [Step([v.initializer], {}), Step([total, array, dx, dv, second], {x: X})]


def early_exits() -> list[Step]:
    x = tf.placeholder(tf.float32, [], name="x")

    @tf.function
    def f(x):
        if x > 100:
            return x
        n = 0
        while n < 10:
            n += 1
            x = x * 3.0
            if x > 50:
                return x
            if x < -50:
                break
        return x - tf.cast(n, tf.float32)

    y = f(x)
    fetches = [y, *tf.gradients(y, x)]
    return [Step(fetches, {x: np.float32(value)}) for value in (200, 2, -2, 0)]


def variables_and_layers() -> list[Step]:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    state = {}

    @tf.function
    def dense(x, units):
        if units not in state:
            state[units] = tf.Variable(tf.ones([3, units]) * 0.1, name="w")
        return tf.tanh(tf.matmul(x, state[units]))

    @tf.function
    def model(x):
        return dense(x, 3) + dense(dense(x, 3), 3)

    y = model(x)
    gradients = tf.gradients(y, [x, state[3]])
    start = tf.global_variables_initializer()
    return [Step([start], {}), Step([y, *gradients], {x: np.stack([X, X * 2])})]


PROGRAMS: list[Callable[[], list[Step]]] = [loop_with_effects, early_exits, variables_and_layers]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_graphs_run_in_tensorflow(tmp_path: Path) -> None:
    if not TENSORFLOW.exists():
        pytest.skip("no .venv-tf: TensorFlow is not installed to run weft's graphs")
    graphdefs.save(tmp_path, [built(program) for program in PROGRAMS])
    command = [str(TENSORFLOW), "-m", "tests.parity.check_in_tensorflow", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]


def test_what_they_compute() -> None:
    """Values that TensorFlow 2.21 gives for these graphs (the test above)."""
    cases = {program.__name__: built(program) for program in PROGRAMS}
    total, array, dx, dv, second = cases["loop_with_effects"].steps[1].results
    assert total == 14 * (1 * 3 + 3 * 4)
    np.testing.assert_allclose(array, [0, 42, 0, 210])
    np.testing.assert_allclose(dx, 30 * X)
    np.testing.assert_allclose(second, [30, 30, 30])
    assert dv == 14 * 4
    found = [[float(r) for r in step.results] for step in cases["early_exits"].steps]
    assert found == [[200, 1], [54, 27], [-57, 27], [-10, 59049]]
