"""The best of several solutions, or the best mixture of them."""

from __future__ import annotations

from typing import Any

import numpy as np


def _check(objectives: Any, constraints: Any) -> None:
    if np.shape(objectives) != np.shape(constraints)[1:]:
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), where n is the "
            "number of candidates, and m is the number of constraints"
        )


def _mixture(objectives: Any, constraints: Any, violation: float) -> np.ndarray | None:
    """The best mixture that violates no constraint by more than so much; None if there is none."""
    from scipy.optimize import linprog

    rows, columns = np.shape(constraints)
    found = linprog(
        objectives, constraints, np.full(rows, violation), np.ones((1, columns)), [1.0], (0, None)
    )
    return found.x if found.success else None


def find_best_candidate_distribution(
    objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0
) -> np.ndarray:
    """The mixture of candidates with the least objective of those with the least violation.

    The least violation is found by halving intervals, down to `epsilon`.
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    _check(objective_vector, constraints_matrix)
    best = _mixture(objective_vector, constraints_matrix, 0.0)
    if best is not None:
        return best
    # None is possible with `low`, one is with `high`.
    low, high = 0.0, float(np.min(np.max(constraints_matrix, axis=0)))
    best = _mixture(objective_vector, constraints_matrix, high)
    assert best is not None
    while min((middle := (low + high) / 2) - low, high - middle) > epsilon:
        found = _mixture(objective_vector, constraints_matrix, middle)
        if found is None:
            low = middle
        else:
            best, high = found, middle
    return best


def find_best_candidate_index(
    objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False
) -> int:
    """The candidate whose worst rank among all, by any violation, is the best.

    `rank_objectives` counts the objective among the ranks; it decides between equal ones anyway.
    """
    from scipy.stats import rankdata

    _check(objective_vector, constraints_matrix)
    violations = np.maximum(0.0, np.asarray(constraints_matrix))
    rows = [*violations, *([objective_vector] if rank_objectives else [])]
    worst = np.max([rankdata(row, method="min") for row in rows], axis=0)
    # Of candidates that are equal in all the last one is taken.
    order = np.lexsort((-np.arange(len(worst)), objective_vector, worst))
    return int(order[0])
