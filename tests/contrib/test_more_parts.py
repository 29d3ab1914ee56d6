"""tf.contrib's smaller parts: integrals, solvers, expectations, and names of others."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib import (
    batching,
    bayesflow,
    deprecated,
    integrate,
    proto,
    quantization,
    saved_model,
    solvers,
    tensorrt,
    testing,
)

import weft as tf


def value(tensor: Any) -> Any:
    with tf.Session() as session:
        return session.run(tensor)


def decay(y: Any, t: Any) -> Any:
    return -2.0 * y


TIMES = np.linspace(0.0, 1.0, 5)


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
def test_odeint(kind: Any) -> None:
    found = value(integrate.odeint(decay, np.ones(2, kind), TIMES))
    assert found.dtype == kind
    np.testing.assert_allclose(found[:, 0], np.exp(-2 * TIMES), rtol=2e-5)


def test_odeint_tells_what_it_did() -> None:
    y, info = integrate.odeint(decay, 1.0, TIMES, full_output=True)
    assert y.shape == [5]
    found = value(info)
    assert found["num_func_evals"] == 6 * len(found["integrate_points"]) + 1
    assert found["integrate_points"][-1] >= 1.0
    assert found["error_ratio"][-1] <= 1.0


def test_odeint_depends_on_time() -> None:
    found = value(
        integrate.odeint(lambda y, t: tf.cast(3 * t**2, tf.float64), np.float64(0), TIMES)
    )
    np.testing.assert_allclose(found, TIMES**3, atol=1e-9)


@pytest.mark.parametrize("method", ["rk4", "midpoint"])
@pytest.mark.parametrize("dt", [None, 0.01])
def test_odeint_fixed(method: str, dt: float | None) -> None:
    found = value(integrate.odeint_fixed(decay, np.float64(1), TIMES, dt, method))
    tolerance = 5e-2 if dt is None else 1e-4
    np.testing.assert_allclose(found, np.exp(-2 * TIMES), atol=tolerance)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: integrate.odeint(decay, 1.0, TIMES, method="euler"), ValueError, "invalid method"),
        (lambda: integrate.odeint(decay, 1.0, TIMES, options={}), ValueError, "cannot supply"),
        (lambda: integrate.odeint(decay, 1, TIMES), TypeError, "`y0` must have"),
        (lambda: integrate.odeint(decay, 1.0, tf.range(2)), TypeError, "`t` must have"),
        (
            lambda: integrate.odeint_fixed(decay, 1.0, TIMES, method="x"),
            ValueError,
            "not supported",
        ),
        (lambda: integrate.odeint_fixed(decay, 1.0, TIMES[None]), ValueError, "1D tensor"),
    ],
)
def test_wrong_arguments(call: Any, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_times_must_increase() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="monotonic increasing"):
        value(integrate.odeint(decay, 1.0, [1.0, 0.5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_num_steps exceeded"):
        value(integrate.odeint(decay, 1.0, TIMES, method="dopri5", options={"max_num_steps": 1}))


MATRIX = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 2.0]])
RIGHT = np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("with_preconditioner", [False, True])
@pytest.mark.parametrize("start", [None, [0.5, 0.0, 1.0]])
def test_conjugate_gradient(with_preconditioner: bool, start: Any) -> None:
    operator = solvers.util.create_operator(tf.constant(MATRIX))
    inverse = np.diag(1 / np.diag(MATRIX))
    near = solvers.util.create_operator(tf.constant(inverse)) if with_preconditioner else None
    start = None if start is None else tf.constant(start, tf.float64)
    found = value(
        solvers.linear_equations.conjugate_gradient(operator, RIGHT, near, start, tol=1e-10)
    )
    np.testing.assert_allclose(found.x, np.linalg.solve(MATRIX, RIGHT), rtol=1e-6)
    assert found.i <= 4 and found.r.shape == (3,)


def test_cgls() -> None:
    tall = np.vstack([MATRIX, [[1.0, 1.0, 1.0]]])
    right = np.array([1.0, 2.0, 3.0, 4.0])
    operator = solvers.util.create_operator(tf.constant(tall))
    found = value(solvers.least_squares.cgls(operator, right, tol=1e-10))
    np.testing.assert_allclose(found.x, np.linalg.lstsq(tall, right, rcond=None)[0], rtol=1e-6)


def test_lanczos() -> None:
    operator = solvers.util.create_operator(tf.constant(np.vstack([MATRIX, MATRIX[:1] + 1])))
    state = solvers.lanczos.lanczos_bidiag(operator, 3, starting_vector=tf.ones(4, tf.float64))
    again = solvers.lanczos.bidiag_matmul(state.u, state.alpha, state.beta)
    v, alpha, beta, image, product = value([*state[1:], operator.apply(state.v), again])
    np.testing.assert_allclose(image, product, atol=1e-9)
    np.testing.assert_allclose(v.T @ v, np.eye(3), atol=1e-9)
    small = np.zeros((4, 3))
    small[range(3), range(3)], small[range(1, 4), range(3)] = alpha, beta
    adjoint = value(solvers.lanczos.bidiag_matmul(v, alpha, beta, adjoint_b=True))
    np.testing.assert_allclose(adjoint, (v @ small.T)[:, :3], atol=1e-9)


def test_small_solver_parts() -> None:
    unit, length = value(solvers.util.l2normalize(tf.constant([3.0, 4.0])))
    assert length == 5.0 and unit.tolist() == pytest.approx([0.6, 0.8])
    identity = solvers.util.identity_operator(tf.zeros([2, 2]))
    assert identity.shape == [2, 2] and identity.apply(1) == 1


def test_expectations() -> None:
    normal = tf.distributions.Normal(loc=np.float64(1), scale=np.float64(1))
    mean = bayesflow.monte_carlo.expectation(tf.square, normal.sample(20000, seed=1))
    other = tf.distributions.Normal(loc=np.float64(0), scale=np.float64(2))
    sampled = bayesflow.monte_carlo.expectation_importance_sampler(
        lambda z: z, normal.log_prob, other, n=20000, seed=2
    )
    logarithm = bayesflow.monte_carlo.expectation_importance_sampler_logspace(
        tf.identity, normal.log_prob, other, n=20000, seed=2
    )
    found = value([mean, sampled, tf.exp(logarithm)])
    np.testing.assert_allclose(found, [2.0, 1.0, np.exp(1.5)], rtol=0.1)


def test_the_gradient_of_an_expectation_by_its_score() -> None:
    loc = tf.constant(1.0, tf.float64)
    normal = tf.distributions.Normal(loc=loc, scale=np.float64(1))
    mean = bayesflow.monte_carlo.expectation(
        tf.square, normal.sample(50000, seed=1), normal.log_prob, use_reparametrization=False
    )
    np.testing.assert_allclose(value(tf.gradients(mean, loc)[0]), 2.0, rtol=0.1)
    with pytest.raises(ValueError, match="exactly one of"):
        bayesflow.monte_carlo.expectation_importance_sampler(tf.abs, tf.abs, normal)


def test_summaries_before_1_0() -> None:
    with tf.name_scope("s"):
        made = deprecated.scalar_summary(["a b", "c"], [1.0, 2.0])
        sound = deprecated.audio_summary("t", np.zeros((1, 8, 1)), 8.0)
    assert made.op.name == "s/ScalarSummary" and sound.op.name == "s/AudioSummary"
    merged = deprecated.merge_all_summaries()
    tags = [each.tag for each in tf.Summary.FromString(value(merged)).value]
    assert tags == ["a b", "c", "t/audio/0"] or tags == ["a b", "c", "t/audio"]
    assert deprecated.merge_all_summaries("empty") is None


def test_names_of_others() -> None:
    assert saved_model.save_keras_model is tf.keras.experimental.export_saved_model
    assert proto.decode_proto is tf.io.decode_proto
    assert batching.batch_function is tf.nondifferentiable_batch_function
    for name in dir(quantization):
        assert callable(getattr(quantization, name))
    with pytest.raises(RuntimeError, match="has not been built with TensorRT support"):
        tensorrt.create_inference_graph(None, [])


def test_summaries_in_tests(tmp_path: Path) -> None:
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step in (1, 2):
            summary = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=step)])
            writer.add_summary(summary, step)
    events = testing.latest_summaries(str(tmp_path))
    assert testing.simple_values_from_events(events, ["a"]) == {"a": 2.0}
    testing.assert_summary(["a"], {"a": 1.001}, events[0].summary)
    with pytest.raises(ValueError, match="Expected tags"):
        testing.assert_summary(["b"], {}, events[0].summary)
    assert testing.latest_events(str(tmp_path / "none")) == []


def test_a_fake_writer() -> None:
    testing.FakeSummaryWriter.install()
    try:
        writer = tf.summary.FileWriterCache.get("/nowhere/at/all")
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]), 3)
        case = unittest.TestCase()
        writer.assert_summaries(case, "/nowhere/at/all", expected_summaries={3: {"a": 1.0}})
        with pytest.raises(AssertionError):
            writer.assert_summaries(case, expected_summaries={4: {}})
    finally:
        testing.FakeSummaryWriter.uninstall()
        tf.summary.FileWriterCache.clear()
    with pytest.raises(ValueError, match="not installed"):
        testing.FakeSummaryWriter.uninstall()
