"""tf.contrib.learn.Estimator: fit, evaluate and predict, on arrays or input functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.graph.keys import GraphKeys
from weft.graph.stacks import get_default_graph
from weft.lib.contrib.learn.metric_spec import MetricSpec
from weft.lib.contrib.learn.model_fn import ModelFnOps
from weft.lib.estimator import estimator as core
from weft.lib.estimator.functions import accepted, fn_args
from weft.lib.estimator.inputs import numpy_input_fn
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.train.sessions.session_run_hook import SessionRunHook


def input_fn_of(
    x: Any, y: Any, input_fn: Any, batch_size: int | None, train: bool
) -> Callable[..., Any]:
    """An input function, as given or over arrays; in training those never end."""
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    x = x if isinstance(x, dict) else np.asarray(x)
    y = np.asarray(y) if y is not None and not isinstance(y, dict) else y
    rows = len(next(iter(x.values())) if isinstance(x, dict) else x)
    return numpy_input_fn(
        x, y, batch_size or rows, None if train else 1, shuffle=train, queue_capacity=4 * rows
    )


class _OnceForConstants(SessionRunHook):
    """Ends a prediction after its first batch, where the inputs are the same for ever."""

    def begin(self) -> None:
        graph = get_default_graph()
        iterates = any(op.type == "IteratorGetNext" for op in graph.get_operations())
        self._is_constant = not (iterates or graph.get_collection(GraphKeys.QUEUE_RUNNERS))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._is_constant:
            run_context.request_stop()


class Estimator:
    """A model given by `model_fn(features, labels, mode, params, config)`.

    The function returns ModelFnOps, or (predictions, loss, train_op).
    """

    def __init__(
        self,
        model_fn: Any = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        self._model_fn, self._engineer = model_fn, feature_engineering_fn
        self._metrics: Any = None
        self._core = core.Estimator(self._core_fn, model_dir, config, params or {})

    def _core_fn(
        self, features: Any, labels: Any, mode: Any, params: Any, config: Any
    ) -> EstimatorSpec:
        if self._engineer:
            features, labels = self._engineer(features, labels)
        names = fn_args(self._model_fn)
        offered = accepted(self._model_fn, mode=mode, params=params, config=config)
        both = (features, labels) if len(names) > len(offered) + 1 else (features,)
        made = self._model_fn(*both, **offered)
        if isinstance(made, EstimatorSpec):
            return made
        ops = made if isinstance(made, ModelFnOps) else ModelFnOps(mode, *made)
        spec = ops.estimator_spec()
        if mode != ModeKeys.EVAL or not self._metrics:
            return spec
        more = {
            name: each.create_metric_ops(features, labels, ops.predictions)
            if isinstance(each, MetricSpec)
            else each(ops.predictions, labels)
            for name, each in self._metrics.items()
        }
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **more})

    @property
    def model_dir(self) -> Any:
        return self._core.model_dir

    @property
    def config(self) -> Any:
        return self._core.config

    @property
    def params(self) -> Any:
        return self._core.params

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> Estimator:
        """Trains for `steps` more steps, or up to step `max_steps`."""
        hooks = [hook for hook in monitors or [] if isinstance(hook, SessionRunHook)]
        unknown = [each for each in monitors or [] if not isinstance(each, SessionRunHook)]
        if unknown:
            raise TypeError(f"monitors must be SessionRunHooks, given: {unknown}")
        self._core.train(input_fn_of(x, y, input_fn, batch_size, True), hooks, steps, max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Any = None,
    ) -> Estimator:
        """`fit`, for one step unless told otherwise."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """Metrics of the model, and those in `metrics`: MetricSpecs by name."""
        self._metrics = metrics
        try:
            return self._core.evaluate(
                input_fn_of(x, y, input_fn, batch_size, False), steps, hooks, checkpoint_path, name
            )
        finally:
            self._metrics = None

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Predictions, one after the other, or all at once as arrays."""
        found = self._predictions(
            input_fn_of(x, None, input_fn, batch_size, False), outputs, not iterate_batches
        )
        return found if as_iterable else _joined(found)

    def _predictions(self, input_fn: Any, keys: Any, single: bool = True) -> Any:
        return self._core.predict(
            input_fn, predict_keys=keys, hooks=[_OnceForConstants()], yield_single_examples=single
        )

    def get_variable_names(self) -> list[str]:
        return self._core.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        return self._core.get_variable_value(name)

    def export_savedmodel(self, *args: Any, **kwargs: Any) -> bytes:
        """As `tf.estimator.Estimator` does it."""
        return self._core.export_savedmodel(*args, **kwargs)


def _joined(rows: Iterator[Any]) -> Any:
    listed = list(rows)
    if listed and isinstance(listed[0], dict):
        return {key: np.stack([row[key] for row in listed]) for key in listed[0]}
    return np.asarray(listed)


class SKCompat:
    """An Estimator that works as one of scikit-learn: arrays in, arrays out."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def fit(
        self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None,
        max_steps: int | None = None, monitors: Any = None,
    ) -> SKCompat:  # fmt: skip
        self._estimator.fit(
            x, y, batch_size=batch_size, steps=steps, max_steps=max_steps, monitors=monitors
        )
        return self

    def score(
        self, x: Any, y: Any, batch_size: int = 128, steps: int | None = None,
        metrics: Any = None, name: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)
