"""optimize_loss: from a loss to a training operation in one call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, Tensor, get_collection
from weft.graph.slices import IndexedSlices
from weft.lib.summary import summary
from weft.lib.train.optimizers.adagrad import AdagradOptimizer
from weft.lib.train.optimizers.adam import AdamOptimizer
from weft.lib.train.optimizers.ftrl import FtrlOptimizer
from weft.lib.train.optimizers.gradient_descent import GradientDescentOptimizer
from weft.lib.train.optimizers.loss_scale_optimizer import scaled_gradient
from weft.lib.train.optimizers.momentum import MomentumOptimizer
from weft.lib.train.optimizers.moving_averages import assign_moving_average
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.rmsprop import RMSPropOptimizer
from weft.ops.array import array
from weft.ops.array import one_hot_search as select
from weft.ops.control import check, control
from weft.ops.math import clip, math
from weft.ops.random import random
from weft.ops.state import global_step as training_util
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer, zeros_initializer
from weft.ops.state.variables import trainable_variables

Pairs = list[tuple[Any, Any]]

OPTIMIZER_CLS_NAMES: dict[str, Callable[..., Optimizer]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "Momentum": functools.partial(MomentumOptimizer, momentum=0.9),
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = "learning_rate loss gradients gradient_norm global_gradient_norm".split()


def optimize_loss(
    loss: Any,
    global_step: Any,
    learning_rate: Any,
    optimizer: Any,
    gradient_noise_scale: float | None = None,
    gradient_multipliers: Any = None,
    clip_gradients: Any = None,
    learning_rate_decay_fn: Any = None,
    update_ops: Any = None,
    variables: Any = None,
    name: str | None = None,
    summaries: Any = None,
    colocate_gradients_with_ops: bool = False,
    increment_global_step: bool = True,
) -> Tensor:
    """The loss, computed after a step of `optimizer`: its name, class, instance or function."""
    loss = convert_to_tensor(loss)
    check.assert_scalar(loss)
    global_step = _step(global_step)
    with vs.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        loss = _after_updates(loss, update_ops)
        rate = _learning_rate(learning_rate)
        wanted = _checked_summaries(summaries)
        if rate is not None and learning_rate_decay_fn is not None:
            rate = _decayed(rate, learning_rate_decay_fn, global_step, wanted)
        made = _optimizer(optimizer, rate)
        pairs = made.compute_gradients(
            loss,
            trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        pairs = _changed(pairs, gradient_noise_scale, gradient_multipliers)
        pairs = _clipped(pairs, clip_gradients, wanted)
        _summarize(loss, pairs, wanted, clipped=clip_gradients is not None)
        step = global_step if increment_global_step else None
        train = made.apply_gradients(pairs, global_step=step, name="train")
        return control.with_dependencies([train], loss)


def _step(given: Any) -> Any:
    if given is None:
        return training_util.get_global_step()
    training_util.assert_global_step(given)
    return given


def _after_updates(loss: Tensor, updates: Any) -> Tensor:
    """The loss, once the updates are done: those given, or those of the graph."""
    wanted = get_collection(GraphKeys.UPDATE_OPS) if updates is None else updates
    return control.with_dependencies(list(dict.fromkeys(wanted)), loss) if wanted else loss


def _decayed(rate: Any, decay: Any, step: Any, wanted: Any) -> Any:
    if step is None:
        raise ValueError("global_step is required for learning_rate_decay_fn.")
    rate = decay(rate, step)
    if "learning_rate" in wanted:
        summary.scalar("learning_rate", rate)
    return rate


def _learning_rate(given: Any) -> Any:
    if given is None or (isinstance(given, Tensor) and given.shape.ndims == 0):
        return given
    if not isinstance(given, float):
        raise ValueError(
            f"Learning rate should be 0d Tensor or float. Got {given} of type {type(given)}"
        )
    if given < 0.0:
        raise ValueError("Invalid learning_rate %s.", given)
    initial = constant_initializer(given)
    return vs.get_variable("learning_rate", [], initializer=initial, trainable=False)


def _checked_summaries(summaries: Any) -> Any:
    if summaries is None:
        return ["loss", "learning_rate", "global_gradient_norm"]
    for one in summaries:
        if one not in OPTIMIZER_SUMMARIES:
            raise ValueError(
                f"Summaries should be one of [{', '.join(OPTIMIZER_SUMMARIES)}], you provided "
                f"{one}."
            )
    return summaries


def _optimizer(given: Any, rate: Any) -> Optimizer:
    """The optimizer that a name, a class, an instance or a function stands for."""
    if isinstance(given, str):
        _need_rate(rate, "string", given)
        if given not in OPTIMIZER_CLS_NAMES:
            raise ValueError(
                f"Optimizer name should be one of [{', '.join(OPTIMIZER_CLS_NAMES)}], you provided "
                f"{given}."
            )
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    if isinstance(given, type) and issubclass(given, Optimizer):
        _need_rate(rate, "class", given)
        return given(learning_rate=rate)  # type: ignore[call-arg]
    if isinstance(given, Optimizer):
        return given
    if callable(given):
        made = given() if rate is None else given(rate)
        if not isinstance(made, Optimizer):
            raise ValueError(
                f"Unrecognized optimizer: function should return subclass of Optimizer. Got {made}."
            )
        return made
    raise ValueError(
        "Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
        f"Optimizer or function with one argument. Got {given}."
    )


def _need_rate(rate: Any, what: str, given: Any) -> None:
    if rate is None:
        raise ValueError(
            f"Learning rate is None, but should be specified if optimizer is {what} ({given})."
        )


def _changed(pairs: Pairs, noise: float | None, multipliers: Any) -> Pairs:
    if noise is not None:
        pairs = [(_noisy(grad, noise), var) for grad, var in pairs]
    if multipliers is not None:
        pairs = multiply_gradients(pairs, multipliers)
        if not pairs:
            raise ValueError(
                "Empty list of (gradient, var) pairs encountered. This is most likely to be "
                "caused by an improper value of gradient_multipliers."
            )
    return pairs


def _noisy(grad: Any, scale: float) -> Any:
    if grad is None:
        return None
    shape = grad.dense_shape if isinstance(grad, IndexedSlices) else grad.shape
    return grad + random.truncated_normal(shape) * scale


def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: Any) -> Pairs:
    """Gradients times what `gradient_multipliers` has for their variable or its name."""
    changed = []
    for grad, var in grads_and_vars:
        keys = [key for key in gradient_multipliers if key is var or key == var.name]
        if grad is not None and keys:
            grad = scaled_gradient(grad, gradient_multipliers[keys[0]])
        changed.append((grad, var))
    return changed


_NORMS = {"global_gradient_norm", "gradient_norm"}


def _clipped(pairs: Pairs, clipping: Any, wanted: Any) -> Pairs:
    grads, variables = [grad for grad, _ in pairs], [var for _, var in pairs]
    if not _NORMS.isdisjoint(wanted):
        summary.scalar("global_norm/gradient_norm", clip.global_norm(grads))
    if clipping is None:
        return pairs
    if isinstance(clipping, float):
        return list(zip(clip.clip_by_global_norm(grads, clipping)[0], variables, strict=True))
    if not callable(clipping):
        raise ValueError(f"Unknown type {type(clipping)} for clip_gradients")
    return clipping(pairs)


def _summarize(loss: Tensor, pairs: Pairs, wanted: Any, clipped: bool) -> None:
    if "loss" in wanted:
        summary.scalar("loss", loss)
    for grad, var in pairs:
        if grad is not None:
            values = grad.values if isinstance(grad, IndexedSlices) else grad
            _summarize_gradient(values, var.name.replace(":", "_"), wanted)
    if clipped and not _NORMS.isdisjoint(wanted):
        norm = clip.global_norm([grad for grad, _ in pairs])
        summary.scalar("global_norm/clipped_gradient_norm", norm)


def _summarize_gradient(values: Tensor, name: str, wanted: Any) -> None:
    if "gradients" in wanted:
        summary.histogram(f"gradients/{name}", values)
    if "gradient_norm" in wanted:
        summary.scalar(f"gradient_norm/{name}", clip.global_norm([values]))


def adaptive_clipping_fn(
    std_factor: float = 2.0,
    decay: Any = 0.95,
    static_max_norm: float | None = None,
    global_step: Any = None,
    report_summary: bool = False,
    epsilon: float = 1e-8,
    name: str | None = None,
) -> Callable[[Pairs], Pairs]:
    """Clips gradients whose norm is far above what it has been lately."""

    def clipping(grads_and_vars: Pairs) -> Pairs:
        norm = clip.global_norm([grad for grad, _ in grads_and_vars])
        limit, log_mean = _usual_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", limit)
        usual, kept = norm < limit, array.ones_like(norm)
        factor = select.where(usual, kept, math.exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = math.minimum(static_max_norm / norm, factor)
        return [(scaled_gradient(grad, factor), var) for grad, var in grads_and_vars]

    return clipping


def _usual_norm(
    norm: Tensor, std_factor: float, decay: Any, step: Any, epsilon: float, name: str | None
) -> tuple[Tensor, Any]:
    """The largest norm to expect, and the mean of its logarithm."""
    with vs.variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = math.log(norm + epsilon)
        weight = decay if step is None else _at_first(decay, step)
        mean = _moving("mean", log_norm, weight)
        square = _moving("sq_mean", math.square(log_norm), weight)
        deviation = math.sqrt(math.maximum(epsilon, square - math.square(mean)))
        return math.exp(mean + std_factor * deviation), mean


def _at_first(decay: Any, step: Any) -> Tensor:
    """A decay that is smaller in the first steps, when there is little to average."""
    n = math.cast(step, dtypes.float32)
    return math.minimum(decay, n / (n + 1.0))


def _moving(name: str, value: Tensor, decay: Any) -> Any:
    """The average of a value that is kept in a variable, moved on."""
    initial = zeros_initializer()
    kept = vs.get_variable(name, value.shape, value.dtype, initial, trainable=False)
    return assign_moving_average(kept, value, decay, zero_debias=False)
