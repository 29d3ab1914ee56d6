"""tf.estimator.Estimator: trains, evaluates, asks and exports a model, given its function."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

from weft.graph.graph import Graph, GraphKeys, get_default_graph
from weft.graph.random_seed import set_random_seed
from weft.lib.estimator import distributed, eval_results, exporting, training_loop
from weft.lib.estimator.arguments import (
    check_how_long,
    check_positive,
    check_trained,
    checked_hooks,
    checked_listeners,
    device_setter,
    step_of_checkpoint,
    with_local_init,
    with_model_dir,
)
from weft.lib.estimator.functions import verify_model_fn_args
from weft.lib.estimator.model_calls import ModelCalls
from weft.lib.estimator.predictions import examples, selected
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.estimator.task import TaskType
from weft.lib.estimator.warm_start import settings_of, start_warm
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.inspection import list_variables, load_variable
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.evaluation import StopAfterNEvalsHook, evaluate_once
from weft.lib.train.sessions.hooks import StopAtStepHook
from weft.lib.train.sessions.monitored_session import ChiefSessionCreator, MonitoredSession
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.state.global_step import _get_or_create_global_step_read, get_global_step

_MAY_BE_OVERRIDDEN = {
    "model_fn",
    "_create_and_assert_global_step",
    "_eval_metrics",
    "_export_all_saved_models",
    "latest_checkpoint",
}


def _model_on_input(estimator: Any, input_fn: Any, mode: str) -> tuple[EstimatorSpec, Any]:
    """(what the model function made of the input, the hooks of the input)."""
    *data, hooks = estimator._get_features_and_labels_from_input_fn(input_fn, mode)
    return estimator._call_model_fn(*data, mode, estimator.config), hooks


def _check_trains(config: Any) -> None:
    if config.task_type in (TaskType.EVALUATOR, TaskType.PS):
        raise ValueError(
            "Train has been called wrong configuration. Please use "
            "tf.estimator.train_and_evaluate which calls proper API according to given "
            f"configuration. Current configuration: {config}."
        )


class Estimator(ModelCalls):
    """A model that is trained, evaluated and served from checkpoints in `model_dir`.

    `model_fn(features, labels, mode, params, config)` builds the model in the default graph and
    returns an EstimatorSpec; it may leave out all arguments but the first. Every call builds a
    graph of its own.

    Args:
        model_fn: see above.
        model_dir: the folder for checkpoints and summaries; None: that of `config`, or a temporary
            one.
        config: a `tf.estimator.RunConfig`.
        params: what `model_fn` gets as `params`.
        warm_start_from: a checkpoint or SavedModel to take first values from.

    Raises:
        ValueError: `model_fn` takes other arguments, or `model_dir` and `config` disagree.

    Example:
        >>> def model_fn(features, labels, mode):
        ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        ...     loss = tf.reduce_mean((w * features - labels) ** 2)
        ...     step = tf.train.get_global_step()
        ...     train = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        ...     return tf.estimator.EstimatorSpec(mode, predictions=w, loss=loss, train_op=train)
        >>> def input_fn():
        ...     return tf.constant([1.0, 2.0]), tf.constant([3.0, 6.0])
        >>> estimator = tf.estimator.Estimator(model_fn, "./model").train(input_fn, steps=20)
        >>> round(float(estimator.get_variable_value("w")), 1)
        3.0
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        # Libraries switch the check off by putting a function in its place.
        type(self)._assert_members_are_not_overridden(self)
        self._config = settled = with_model_dir(config, model_dir)
        self._model_dir, self._session_config = settled.model_dir, settled.session_config
        logging.info("Using config: %s", str(vars(settled)))
        self._device_fn = settled.device_fn or device_setter(settled)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        verify_model_fn_args(model_fn, params)
        self._model_fn, self._params = model_fn, copy.deepcopy(params or {})
        self._warm_start_settings = settings_of(warm_start_from)

    def _assert_members_are_not_overridden(self) -> None:
        """ValueError if a subclass replaces what is not meant to be."""
        cls = type(self)
        if cls.__name__ == "TPUEstimator":
            return
        ours = {name for name in dir(Estimator) if not name.startswith("__")} - _MAY_BE_OVERRIDDEN
        wrong = [
            name for name in ours & set(vars(cls)) if getattr(Estimator, name) != getattr(cls, name)
        ]
        if wrong:
            raise ValueError(
                "Subclasses of Estimator cannot override members of Estimator. "
                f"{cls} does override {wrong}"
            )

    # ---- what it is ----

    @property
    def model_dir(self) -> Any:
        return self._model_dir

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function, bound to the parameters."""

        def public_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        check_trained(self.model_dir)
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint."""
        check_trained(self.model_dir)
        return [name for name, _ in list_variables(self.model_dir)]

    def latest_checkpoint(self) -> str | None:
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """The folder in which evaluations of that name write their events."""
        return os.path.join(self._model_dir, "eval" if not name else "eval_" + name)

    # ---- training ----

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Any = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Any = None,
    ) -> Estimator:
        """Trains for `steps` more steps, up to step `max_steps`, or to the end of the input."""
        _check_trains(self.config)
        check_how_long(steps, max_steps)
        if max_steps is not None and step_of_checkpoint(self._model_dir) >= max_steps:
            logging.info("Skipping training since max_steps has already saved.")
        else:
            stops = self._convert_train_steps_to_hooks(steps, max_steps)
            together = [*checked_hooks(hooks), *stops]
            listeners = checked_listeners(saving_listeners)
            loss = self._train_model(input_fn, together, listeners)
            logging.info("Loss for final step: %s.", loss)
        return self

    def _convert_train_steps_to_hooks(self, steps: Any, max_steps: Any) -> list[SessionRunHook]:
        wanted = steps is not None or max_steps is not None
        return [StopAtStepHook(steps, max_steps)] if wanted else []

    def _train_model(self, input_fn: Any, hooks: list[Any], saving_listeners: list[Any]) -> Any:
        strategy = self._config.train_distribute
        if strategy is not None:
            return distributed.train(self, strategy, input_fn, hooks, saving_listeners)
        with Graph().as_default() as graph, graph.device(self._device_fn):
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            _get_or_create_global_step_read(graph)
            spec, input_hooks = _model_on_input(self, input_fn, ModeKeys.TRAIN)
            # A model may have put another counter in the place of ours.
            step = get_global_step(graph)
            return self._train_with_estimator_spec(spec, input_hooks, hooks, step, saving_listeners)

    def _train_with_estimator_spec(
        self, spec: Any, worker_hooks: Any, hooks: Any, global_step_tensor: Any, listeners: Any
    ) -> Any:
        if self._warm_start_settings and not latest_checkpoint(self._model_dir):
            start_warm(self._warm_start_settings)
        everyone = [*worker_hooks, *hooks]
        return training_loop.train(self._config, spec, everyone, global_step_tensor, listeners)

    # ---- evaluation ----

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Any = None,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """The metrics over `steps` batches, or over all the input; also written as events."""
        hooks = checked_hooks(hooks)
        check_positive("steps", steps)
        if steps is not None:
            hooks.append(StopAfterNEvalsHook(steps))
        checkpoint_path = checkpoint_path or self._latest_or_fresh("evaluate")
        strategy = self._config.eval_distribute
        with Graph().as_default(), nullcontext() if strategy is None else strategy.scope():
            built = self._build_evaluation(input_fn, hooks, checkpoint_path)
            return self._evaluate_run(checkpoint_path, *built, output_dir=self.eval_dir(name))

    def _latest_or_fresh(self, purpose: str) -> str | None:
        path = latest_checkpoint(self._model_dir)
        if not path:
            logging.info(
                f"Could not find trained model in model_dir: {self._model_dir}, running "
                f"initialization to {purpose}."
            )
        return path

    def _build_evaluation(
        self, input_fn: Any, hooks: Any = None, checkpoint_path: str | None = None
    ) -> tuple[Any, Any, dict[str, Any], list[Any]]:
        """(scaffold, operation that updates the metrics, metrics by name, hooks)"""
        set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(get_default_graph())
        strategy = self._config.eval_distribute
        if strategy is None:
            scaffold, update_op, values, *own_hooks = self._build_eval(input_fn)
        else:
            built = distributed.build_eval(self, strategy, input_fn)
            scaffold, update_op, values, *own_hooks = built
        input_hooks, evaluation_hooks = own_hooks
        self._maybe_warm_start(checkpoint_path)
        if GraphKeys.GLOBAL_STEP in values:
            raise ValueError(
                "Metric with name `global_step` is not allowed, because Estimator already defines "
                "a default metric with the same name."
            )
        values[GraphKeys.GLOBAL_STEP] = get_global_step(get_default_graph())
        all_hooks = [*input_hooks, *(hooks or ()), *evaluation_hooks]
        return with_local_init(scaffold), update_op, values, all_hooks

    def _build_eval(self, input_fn: Any) -> tuple[Any, Any, dict[str, Any], Any, Any]:
        """(scaffold, update of the metrics, metrics, hooks of the input, those of the model)"""
        spec, input_hooks = _model_on_input(self, input_fn, ModeKeys.EVAL)
        update_op, values = eval_results.split_metrics(self._eval_metrics(spec))
        return spec.scaffold, update_op, values, input_hooks, spec.evaluation_hooks

    def _eval_metrics(self, spec: Any) -> dict[str, Any]:
        return eval_results.add_loss_metric(spec.eval_metric_ops, spec.loss)

    def _evaluate_run(
        self,
        checkpoint_path: str | None,
        scaffold: Any,
        update_op: Any,
        eval_dict: dict[str, Any],
        all_hooks: list[Any],
        output_dir: str,
    ) -> dict[str, Any]:
        results = evaluate_once(
            checkpoint_path,
            master=self._config.evaluation_master,
            scaffold=scaffold,
            eval_ops=update_op,
            final_ops=eval_dict,
            hooks=all_hooks,
            config=self._session_config,
        )
        step = results[GraphKeys.GLOBAL_STEP]
        eval_results.write_results(output_dir, results, step)
        if checkpoint_path:
            eval_results.write_checkpoint_path(output_dir, checkpoint_path, step)
        return results

    def _maybe_warm_start(self, checkpoint_path: str | None) -> None:
        if not checkpoint_path and self._warm_start_settings:
            start_warm(self._warm_start_settings)

    # ---- prediction ----

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Any = None,
        checkpoint_path: str | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields the predictions, one example (or one batch) after the other."""
        hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self._latest_or_fresh("predict")
        with Graph().as_default() as graph:
            set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(input_fn, ModeKeys.PREDICT)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._maybe_warm_start(checkpoint_path)
            predictions = selected(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=checkpoint_path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._session_config,
            )
            all_hooks = [*input_hooks, *hooks, *spec.prediction_hooks]
            with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    yield from examples(batch) if yield_single_examples else [batch]

    # ---- export ----

    def export_saved_model(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Any,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes the model, as it is in a checkpoint, for serving; the folder it is in."""
        receivers = exporting.receivers_of(serving_input_receiver_fn, experimental_mode)
        return self._export_all_saved_models(
            export_dir_base, receivers, assets_extra, as_text, checkpoint_path
        )

    def experimental_export_all_saved_models(
        self,
        export_dir_base: str,
        input_receiver_fn_map: dict[str, Callable[[], Any]],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """As `export_saved_model`, with a graph for each mode."""
        return self._export_all_saved_models(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path
        )

    def export_savedmodel(
        self,
        export_dir_base: str,
        serving_input_receiver_fn: Any,
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The older name of `export_saved_model`, which may keep attributes with their defaults."""
        receivers = exporting.receivers_of(serving_input_receiver_fn, ModeKeys.PREDICT)
        saved = (assets_extra, as_text, checkpoint_path, strip_default_attrs)
        return self._export_all_saved_models(export_dir_base, receivers, *saved)

    def _export_all_saved_models(
        self,
        export_dir_base: str,
        input_receiver_fn_map: dict[str, Callable[[], Any]],
        assets_extra: dict[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
        strip_default_attrs: bool = True,
    ) -> bytes:
        checkpoint_path = checkpoint_path or exporting.checkpoint_of(self)
        saved = (assets_extra, as_text, checkpoint_path, strip_default_attrs)
        return exporting.export(self, export_dir_base, input_receiver_fn_map, *saved)
