"""tf.contrib.gan.estimator: models of two sides as Estimators."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.graph.graph import name_scope
from weft.lib.contrib.gan import models, training
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.saved_model.export_outputs import PredictOutput
from weft.ops.scores.metrics_mean import mean
from weft.ops.state.variable_scope import variable_scope


class GANEstimator(Estimator):
    """An Estimator of a generator and a discriminator; the labels are the real data."""

    def __init__(
        self,
        model_dir: str | None = None,
        generator_fn: Callable[..., Any] | None = None,
        discriminator_fn: Callable[..., Any] | None = None,
        generator_loss_fn: Callable[..., Any] | None = None,
        discriminator_loss_fn: Callable[..., Any] | None = None,
        generator_optimizer: Any = None,
        discriminator_optimizer: Any = None,
        get_hooks_fn: Callable[..., Any] | None = None,
        get_eval_metric_ops_fn: Callable[..., Any] | None = None,
        add_summaries: Any = None,
        use_loss_summaries: bool = True,
        config: Any = None,
        warm_start_from: Any = None,
        is_chief: bool = True,
    ) -> None:
        for name, given in (("generator_fn", generator_fn), ("discriminator_fn", discriminator_fn)):
            if not callable(given):
                raise ValueError(f"{name} must be callable.")
        functions = generator_fn, discriminator_fn
        losses: Any = generator_loss_fn, discriminator_loss_fn
        optimizers = generator_optimizer, discriminator_optimizer
        hooks = get_hooks_fn or training.get_sequential_train_hooks()

        def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
            if mode == ModeKeys.PREDICT:
                return _prediction(generator_fn, features, mode)
            model = _model(functions, features, labels, mode)
            with name_scope("GANHead"):
                loss = training.gan_loss(
                    model, losses[0], losses[1], add_summaries=use_loss_summaries
                )
                if mode == ModeKeys.EVAL:
                    return _evaluation(model, loss, get_eval_metric_ops_fn)
                made = [each() if callable(each) else each for each in optimizers]
                ops = training.gan_train_ops(model, loss, made[0], made[1], is_chief=is_chief)
            return EstimatorSpec(
                mode,
                loss=loss.discriminator_loss,
                train_op=ops.global_step_inc_op,
                training_hooks=hooks(ops),
            )

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


def _with_mode(function: Any, mode: str) -> Any:
    """A function that is told the mode, if it asks for it."""
    if "mode" not in inspect.signature(function).parameters:
        return function
    return lambda *args: function(*args, mode=mode)


def _model(functions: Any, features: Any, labels: Any, mode: str) -> Any:
    if labels is None:
        raise ValueError(f"`labels` must not be `None` in mode {mode}.")
    generator, discriminator = (_with_mode(function, mode) for function in functions)
    return models.gan_model(generator, discriminator, labels, features, check_shapes=False)


def _prediction(generator_fn: Any, features: Any, mode: str) -> EstimatorSpec:
    with variable_scope("Generator"):
        made = _with_mode(generator_fn, mode)(models.tensors(features))
    return EstimatorSpec(mode, made, export_outputs={"predict": PredictOutput(made)})


def _evaluation(model: Any, loss: Any, more: Callable[..., Any] | None) -> EstimatorSpec:
    metrics = {name: mean(value) for name, value in loss._asdict().items()}
    metrics |= more(model) if more else {}
    return EstimatorSpec(
        ModeKeys.EVAL, model.generated_data, loss.discriminator_loss, eval_metric_ops=metrics
    )
