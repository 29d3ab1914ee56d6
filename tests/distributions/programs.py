"""Distributions with parameters and values, and what is asked of them, in either library.

TensorFlow's answers are kept by `tests/parity/record_distributions.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data" / "answers.npz"
OF_VALUES = (
    "prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival_function", "quantile"
)  # fmt: skip
STATISTICS = ("mean", "variance", "stddev", "mode", "entropy", "covariance")
SEED = 17


@dataclass(frozen=True)
class Case:
    """A distribution by name, its parameters, values to ask about, and another to compare with."""

    kind: str
    values: Any
    parameters: dict[str, Any]
    other: dict[str, Any] = field(default_factory=dict)


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def f64(*values: Any) -> np.ndarray:
    return np.array(values, np.float64)


CASES = {
    "normal": Case("Normal", f32(-30, 0.25, 7), {"loc": f32(1), "scale": f32(0.5, 2, 3)},
                   {"loc": f32(2), "scale": f32(0.7)}),
    "normal64": Case("Normal", f64([0.1], [0.9]), {"loc": f64(0, 1), "scale": f64(2.5)}),
    "laplace": Case("Laplace", f32(-3, 0.25, 7), {"loc": f32(1), "scale": f32(0.5, 2, 3)}),
    "uniform": Case("Uniform", f32(-1, 0.5, 4), {"low": f32(-2), "high": f32(1, 2, 4)}),
    "gamma": Case("Gamma", f32(0.1, 1, 9), {"concentration": f32(0.5, 1, 3), "rate": f32(2)},
                  {"concentration": f32(2), "rate": f32(0.5)}),
    "exponential": Case("Exponential", f64(0.1, 1, 9), {"rate": f64(0.5, 1, 3)}),
    "beta": Case("Beta", f32(0.1, 0.5, 0.9),
                 {"concentration1": f32(0.5, 2, 3), "concentration0": f32(2, 2, 2)},
                 {"concentration1": f32(1.5), "concentration0": f32(4)}),
    "student": Case("StudentT", f32(-2, 0.5, 6),
                    {"df": f32(0.5, 1.5, 5), "loc": f32(1), "scale": f32(2)[0]}),
    "bernoulli": Case("Bernoulli", np.array([1, 0, 1], np.int32), {"probs": f32(0.2, 0.5, 0.9)},
                      {"logits": f32(0.3)}),
    "categorical": Case("Categorical", np.array([2, 0], np.int32),
                        {"logits": f32([0.1, 1, -2], [2, 0, 0])}, {"logits": f32(0.0, 1, 2)}),
    "dirichlet": Case("Dirichlet", f32([0.2, 0.3, 0.5], [0.1, 0.8, 0.1]),
                      {"concentration": f32(1.5, 2, 3)},
                      {"concentration": f32(1, 1, 4)}),
    "multinomial": Case("Multinomial", f32([1, 2, 1], [3, 0, 1]),
                        {"total_count": f32(4)[0], "probs": f32(0.2, 0.3, 0.5)}),
    "dirichlet_multinomial": Case("DirichletMultinomial", f32([1, 2, 1], [3, 0, 1]),
                                  {"total_count": f32(4)[0], "concentration": f32(0.5, 1, 2)}),
}  # fmt: skip


def questions(tf: Any, case: Case) -> dict[str, Any]:
    """Tensors by name: values, statistics, samples, divergences, and gradients of log_prob."""
    given = {name: tf.constant(value) for name, value in case.parameters.items()}
    made = getattr(tf.distributions, case.kind)(**given)
    values = tf.constant(case.values)
    asked: dict[str, Any] = {}

    def ask(name: str, function: Any) -> None:
        try:
            asked[name] = function()
        except NotImplementedError:
            asked[name] = tf.constant("not implemented")

    for name in OF_VALUES:
        if name != "quantile" or (np.all(case.values > 0) and np.all(case.values < 1)):
            ask(name, lambda name=name: getattr(made, name)(values))
    for name in STATISTICS:
        ask(name, lambda name=name: getattr(made, name)())
    asked["sample"] = made.sample((2, 3), seed=SEED)
    asked["batch"] = made.batch_shape_tensor()
    asked["event"] = made.event_shape_tensor()
    if case.other:
        asked["kl"] = made.kl_divergence(getattr(tf.distributions, case.kind)(**case.other))
    wanted = [values, *given.values()]
    for i, found in enumerate(tf.gradients(made.log_prob(values), wanted)):
        if found is not None:
            asked[f"gradient_{i}"] = found
    return asked


def answers(tf: Any, name: str, times: int = 1) -> dict[str, np.ndarray]:
    with tf.Graph().as_default(), tf.Session() as session:
        asked = questions(tf, CASES[name])
        for _ in range(times):
            found = session.run(asked)
    return {key: np.asarray(value) for key, value in found.items()}
