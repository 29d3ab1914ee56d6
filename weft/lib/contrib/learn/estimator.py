"""tf.contrib.learn.Estimator: fit, evaluate and predict, on arrays or input functions."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.keys import GraphKeys
from weft.graph.stacks import get_default_graph
from weft.lib.contrib.learn.array_feeder import ArrayFeeder
from weft.lib.contrib.learn.metric_spec import MetricSpec
from weft.lib.contrib.learn.model_fn import ModelFnOps, as_pair
from weft.lib.contrib.learn.monitors import replace_monitors_with_hooks
from weft.lib.estimator import estimator as core
from weft.lib.estimator.functions import accepted, fn_args
from weft.lib.estimator.receivers import ServingInputReceiver, TensorServingInputReceiver
from weft.lib.estimator.spec import LOSS_METRIC_KEY, EstimatorSpec, ModeKeys
from weft.lib.train.sessions.session_run_hook import SessionRunHook


def input_of(
    x: Any, y: Any, input_fn: Any, batch_size: int | None, train: bool
) -> tuple[Callable[..., Any], list[Any]]:
    """An input function, as given or over arrays, and the hooks that it needs."""
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        return input_fn, []
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    feeder = ArrayFeeder(x, y, batch_size, train)
    return feeder.input_fn, [feeder]


def _metric(
    name: Any, metric: Any, features: Any, labels: Any, predictions: Any
) -> tuple[str, Any]:
    """The name of a metric and its operations; a name may be (name, which prediction)."""
    if isinstance(metric, MetricSpec):
        return name, as_pair(metric.create_metric_ops(features, labels, predictions))
    if not isinstance(name, tuple):
        return name, as_pair(metric(predictions, labels))
    if len(name) != 2:
        raise ValueError(
            f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2."
        )
    if not isinstance(predictions, dict):
        raise ValueError(
            "Metrics passed provide (name, prediction), but predictions are not dict. "
            f"Metrics: {metric}, Predictions: {predictions}."
        )
    return name[0], as_pair(metric(predictions[name[1]], labels))


class _OnceForConstants(SessionRunHook):
    """Ends a prediction after its first batch, where the inputs are the same for ever."""

    def begin(self) -> None:
        graph = get_default_graph()
        iterates = any(op.type == "IteratorGetNext" for op in graph.get_operations())
        self._is_constant = not (iterates or graph.get_collection(GraphKeys.QUEUE_RUNNERS))

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if self._is_constant:
            run_context.request_stop()


class Evaluable(abc.ABC):
    """Something that can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> Any:
        """Where checkpoints and summaries are."""

    @abc.abstractmethod
    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """Metrics by name, over some data."""


class Trainable(abc.ABC):
    """Something that can be trained."""

    @abc.abstractmethod
    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Trains on some data."""


class _Core(core.Estimator):
    """An Estimator whose models may report a loss of their own."""

    def _eval_metrics(self, spec: Any) -> dict[str, Any]:
        metrics = dict(spec.eval_metric_ops)
        return metrics if LOSS_METRIC_KEY in metrics else super()._eval_metrics(spec)


class BaseEstimator(Evaluable, Trainable):
    """What `Estimator` and its like are."""


class Estimator(BaseEstimator):
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
        self._default_output: Any = None
        self._serves_examples = False
        self._core = _Core(self._core_fn, model_dir, config, params or {})

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
        spec = ops.estimator_spec(self._default_output)
        if spec.export_outputs and not self._serves_examples:
            outputs = ops.export_outputs(self._default_output, plain=True)
            spec = spec._replace(export_outputs=outputs)
        if mode != ModeKeys.EVAL or not self._metrics:
            return spec
        more = dict(
            _metric(name, each, features, labels, ops.predictions)
            for name, each in self._metrics.items()
        )
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
        given, feeders = input_of(x, y, input_fn, batch_size, True)
        hooks = [*replace_monitors_with_hooks(monitors, self), *feeders]
        self._core.train(given, hooks, steps, max_steps)
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
        given, feeders = input_of(x, y, input_fn, batch_size, False)
        try:
            return self._core.evaluate(
                given, steps, [*(hooks or []), *feeders], checkpoint_path, name
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
        given, feeders = input_of(x, None, input_fn, batch_size, False)
        found = self._predictions(given, outputs, not iterate_batches, feeders)
        return found if as_iterable else _joined(found)

    def _predictions(self, input_fn: Any, keys: Any, single: bool = True, feeders: Any = ()) -> Any:
        hooks = feeders or [_OnceForConstants()]
        return self._core.predict(
            input_fn, predict_keys=keys, hooks=hooks, yield_single_examples=single
        )

    def get_variable_names(self) -> list[str]:
        return self._core.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        return self._core.get_variable_value(name)

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Any,
        default_output_alternative_key: Any = None,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        graph_rewrite_specs: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes a SavedModel below a directory.

        Args:
            export_dir_base: the directory.
            serving_input_fn: makes `InputFnOps`, or a `tf.estimator.export.ServingInputReceiver`.
            default_output_alternative_key: the head whose predictions are the default, of several.
            assets_extra: files to go with it, by name.
            as_text: whether the message is written as text.
            checkpoint_path: the latest if None.
            graph_rewrite_specs: not used; there is one graph, for serving.
            strip_default_attrs: whether attributes with their defaults are left out.

        Returns:
            The path of the new directory.
        """
        self._default_output = default_output_alternative_key
        try:
            return self._core.export_savedmodel(
                export_dir_base, lambda: self._receiver(serving_input_fn()), assets_extra, as_text,
                checkpoint_path, strip_default_attrs,
            )  # fmt: skip
        finally:
            self._default_output = None

    def _receiver(self, made: Any) -> Any:
        """Classes and scores are a signature for serialized examples; others get plain tensors."""
        if not isinstance(made, (ServingInputReceiver, TensorServingInputReceiver)):
            made = ServingInputReceiver(made[0], made[2])
        inputs = list(made.receiver_tensors.values())
        self._serves_examples = len(inputs) == 1 and inputs[0].dtype == dtypes.string
        return made


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
        """All predictions of the model, also where the Estimator's own `predict` chooses one."""
        return Estimator.predict(
            self._estimator, x, batch_size=batch_size, outputs=outputs, as_iterable=False
        )
