"""tf.contrib.constrained_optimization: minima under constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.constrained_optimization import players

CONSTRAINED = tf.contrib.constrained_optimization


class _Problem(CONSTRAINED.ConstrainedMinimizationProblem):
    """The smallest (x - 3)^2 where x is at most 1."""

    def __init__(self) -> None:
        self.x = tf.Variable(0.0, name="x")
        self.before = tf.Variable(0, trainable=False)

    @property
    def objective(self) -> Any:
        return tf.square(self.x - 3.0)

    @property
    def constraints(self) -> Any:
        return tf.stack([self.x - 1.0])

    @property
    def pre_train_ops(self) -> Any:
        return [self.before.assign_add(1)]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("AdditiveExternalRegretOptimizer", {"maximum_multiplier_radius": 10.0}),
        ("AdditiveExternalRegretOptimizer", {}),
        ("AdditiveSwapRegretOptimizer", {}),
        ("MultiplicativeSwapRegretOptimizer", {}),
    ],
)
@pytest.mark.parametrize("two", [False, True])
def test_the_constraint_holds_on_average(kind: str, options: dict[str, Any], two: bool) -> None:
    problem = _Problem()
    make = lambda: tf.train.GradientDescentOptimizer(0.05)  # noqa: E731
    optimizer = getattr(CONSTRAINED, kind)(make(), make() if two else None, **options)
    step = tf.train.get_or_create_global_step()
    train = optimizer.minimize(problem, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        seen = []
        for _ in range(600):
            session.run(train)
            seen.append(session.run(problem.x))
        assert session.run([step, problem.before]) == [600, 600]
    assert np.mean(seen[300:]) == pytest.approx(1.0, abs=0.15)


def test_the_first_steps_are_free() -> None:
    problem, step = _Problem(), tf.train.get_or_create_global_step()
    optimizer = CONSTRAINED.AdditiveExternalRegretOptimizer(
        tf.train.GradientDescentOptimizer(0.5), tf.train.GradientDescentOptimizer(1.0)
    )
    train = optimizer.minimize(problem, unconstrained_steps=1, global_step=step)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train)
        assert session.run(problem.x) == 3.0
        session.run(train)  # the multiplier becomes 2, and the next step brings x back
        session.run(train)
        assert session.run(problem.x) == 2.0
    with pytest.raises(ValueError, match="global_step cannot be None"):
        optimizer.minimize(problem, unconstrained_steps=1)


@pytest.mark.parametrize(
    ("project", "given", "expected"),
    [
        (
            lambda x: players._project_multipliers_wrt_euclidean_norm(x, 1.0),
            [0.9, -0.5, 0.5], [0.7, 0.0, 0.3],
        ),
        (
            players._project_stochastic_matrix_wrt_euclidean_norm,
            [[0.6, -2.0], [0.8, 0.1]], [[0.4, 0.0], [0.6, 1.0]],
        ),
        (
            lambda x: tf.exp(players._project_log_stochastic_matrix_wrt_kl_divergence(tf.log(x))),
            [[0.2, 0.5], [0.6, 1.5]], [[0.25, 0.25], [0.75, 0.75]],
        ),
        (
            players._maximal_eigenvector_power_method,
            [[2.0, 1.0], [1.0, 2.0]], [0.5**0.5, 0.5**0.5],
        ),
    ],
)  # fmt: skip
def test_projections(project: Any, given: Any, expected: Any) -> None:
    with tf.Session() as session:
        found = session.run(project(tf.constant(given)))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_candidates() -> None:
    objectives = np.array([1.0, 2.0, 0.0])
    constraints = np.array([[0.0, -1.0, 2.0]])
    index = CONSTRAINED.find_best_candidate_index
    assert index(objectives, constraints) == 0
    assert index(objectives, np.array([[3.0, 1.0, 2.0]])) == 1
    mixture = CONSTRAINED.find_best_candidate_distribution(objectives, constraints)
    # Two parts of the second for one of the third cost 4/3, more than the first alone.
    np.testing.assert_allclose(mixture, [1.0, 0.0, 0.0], atol=1e-9)
    # Without a mixture that violates nothing, the one that violates least.
    forced = CONSTRAINED.find_best_candidate_distribution(
        objectives, np.array([[1.0, 4.0, 3.0], [3.0, 4.0, 1.0]]), epsilon=1e-9
    )
    np.testing.assert_allclose(forced, [0.5, 0.0, 0.5], atol=1e-6)
    with pytest.raises(ValueError, match="objective_vector must have shape"):
        index(objectives, constraints[:, :2])
