"""tf.contrib.learn.models: linear models with their losses, as model functions use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import Tensor
from weft.lib.contrib.learn import ops
from weft.lib.summary import summary
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import RandomNormal


def linear_regression(
    x: Tensor, y: Tensor, init_mean: float | None = None, init_stddev: float = 1.0
) -> tuple[Tensor, Tensor]:
    """(predictions, mean squared error) of a linear model; normal weights if a mean is given."""
    width = y.shape[1] if len(y.shape) > 1 else 1
    with vs.variable_scope("linear_regression"):
        weights, bias = _variables("linear_regression", x, y, width, init_mean, init_stddev)
        return ops.mean_squared_error_regressor(x, y, weights, bias)


def logistic_regression(
    x: Tensor,
    y: Tensor,
    class_weight: Any = None,
    init_mean: float | None = None,
    init_stddev: float = 1.0,
) -> tuple[Tensor, Tensor]:
    """(probabilities, cross entropy) of a linear classifier; `y` are rows of zeros and a one."""
    with vs.variable_scope("logistic_regression"):
        width = y.shape[-1]
        weights, bias = _variables("logistic_regression", x, y, width, init_mean, init_stddev)
        return ops.softmax_classifier(x, y, weights, bias, class_weight=class_weight)


def _variables(
    name: str, x: Tensor, y: Tensor, width: Any, mean: float | None, stddev: float
) -> tuple[Any, Any]:
    """Weights and bias, with histograms of them and of what comes in."""
    summary.histogram(name + ".x", x)
    summary.histogram(name + ".y", y)
    shapes = {"weights": [x.shape[1], width], "bias": [width]}
    made: dict[str, Any] = {}
    for key, shape in shapes.items():
        start = None if mean is None else RandomNormal(mean, stddev, dtype=x.dtype)
        made[key] = vs.get_variable(key, shape, dtype=x.dtype, initializer=start)
    for key, variable in made.items():
        summary.histogram(f"{name}.{key}", variable)
    return made["weights"], made["bias"]


def _from_zero(model: Callable[..., Any]) -> Callable[[Tensor, Tensor], Any]:
    def started_at_zero(x: Tensor, y: Tensor) -> Any:
        return model(x, y, init_mean=0.0, init_stddev=0.0)

    return started_at_zero


linear_regression_zero_init = _from_zero(linear_regression)
logistic_regression_zero_init = _from_zero(logistic_regression)
