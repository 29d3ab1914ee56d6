"""tf.estimator.train_and_evaluate: training with evaluations in between, alone or in a cluster."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.cluster.server import Server
from weft.graph.graph import GraphKeys
from weft.lib.estimator.continuous import (
    ContinuousEvalListener,
    EvalResult,
    EvalStatus,
    Evaluator,
    NewCheckpointListener,
    stop_as_requested,
)
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.task import TaskType, is_alone
from weft.lib.estimator.train_eval_specs import EvalSpec, TrainSpec, checked_hooks
from weft.lib.estimator.training_loop import has_own_session
from weft.lib.platform import tf_logging as logging

MAX_DELAY_SECS = 60
DELAY_SECS_PER_WORKER = 5
_TRAINERS = (TaskType.CHIEF, TaskType.MASTER, TaskType.WORKER)


def train_and_evaluate(estimator: Any, train_spec: Any, eval_spec: Any) -> Any:
    """Does what this task has to do: train, serve variables, evaluate; or, alone, all of it.

    Alone, every checkpoint is evaluated (but see `EvalSpec.throttle_secs`), and the result is
    (metrics of the last evaluation, what the exporters returned).

    Args:
        estimator: an `Estimator`.
        train_spec: a `TrainSpec`.
        eval_spec: an `EvalSpec`.

    Returns:
        Alone: the last metrics, and what was exported. In a cluster: None.

    Raises:
        ValueError: TF_CONFIG does not fit.

    Example:
        >>> x = tf.feature_column.numeric_column("x")
        >>> estimator = tf.estimator.LinearRegressor([x], model_dir="./model")
        >>> def input_fn():
        ...     return {"x": tf.constant([[1.0]])}, tf.constant([[2.0]])
        >>> train = tf.estimator.TrainSpec(input_fn, max_steps=3)
        >>> evaluate = tf.estimator.EvalSpec(input_fn, steps=1)
        >>> metrics, exports = tf.estimator.train_and_evaluate(estimator, train, evaluate)
        >>> int(metrics["global_step"])
        3
    """
    _check_eval_spec(eval_spec)
    executor = TrainingExecutor(estimator, train_spec, eval_spec)
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task (with task id 0).  "
            f"Given task id {config.task_id}"
        )
    return executor.run()


def _check_eval_spec(eval_spec: Any) -> None:
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(
            f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}"
        )


def _check_type(value: Any, kind: type, message: str) -> None:
    if not isinstance(value, kind):
        raise TypeError(f"{message} Got: {type(value)}")


class TrainingExecutor:
    """The work of each kind of task; `run` does that of this process's kind."""

    def __init__(
        self,
        estimator: Any,
        train_spec: Any,
        eval_spec: Any,
        train_hooks: Any = None,
        continuous_eval_listener: Any = None,
    ) -> None:
        _check_type(estimator, Estimator, "`estimator` must have type `tf.estimator.Estimator`.")
        _check_type(train_spec, TrainSpec, "`train_spec` must have type `tf.estimator.TrainSpec`.")
        if eval_spec:
            _check_type(
                eval_spec,
                EvalSpec,
                "`eval_spec` must be either `None` or have type `tf.estimator.EvalSpec`.",
            )
        if continuous_eval_listener and not isinstance(
            continuous_eval_listener, ContinuousEvalListener
        ):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self._estimator, self._train_spec, self._eval_spec = estimator, train_spec, eval_spec
        self._train_hooks = checked_hooks(train_hooks)
        self._listener = continuous_eval_listener or ContinuousEvalListener()

    @property
    def estimator(self) -> Any:
        return self._estimator

    def run(self) -> Any:
        """Does the work of the task that this process is by the Estimator's configuration."""
        config = self._estimator.config
        if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
            logging.info("Not using Distribute Coordinator.")
            logging.info("Running training and evaluation locally (non-distributed).")
            return self.run_local()
        if not config.task_type:
            raise ValueError(
                "`estimator.config` must have task_type set. This usually means TF_CONFIG "
                "environment is not set correctly."
            )
        if config.task_type == "local":
            raise ValueError(
                "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and `task` "
                "properties in TF_CONFIG absent triggers train and evaluate `Estimator` locally "
                "(non-distributed)."
            )
        kinds = [name[len("run_") :] for name in dir(self) if name.startswith("run_")]
        kinds.remove("local")
        if config.task_type not in kinds:
            raise ValueError(
                f"Task type {config.task_type} is not supported. Supported task types are {kinds}"
            )
        getattr(self, "run_" + config.task_type)()
        return None

    # ---- one method for each kind of task ----

    def run_chief(self) -> None:
        self._train_in_cluster()

    def run_worker(self) -> None:
        self._train_in_cluster()

    def run_master(self) -> None:
        """A chief that also evaluates."""
        _check_eval_spec(self._eval_spec)
        listener = NewCheckpointListener(
            self._evaluator(), self._eval_spec.throttle_secs, ContinuousEvalListener()
        )
        self._train_in_cluster(saving_listeners=[listener])

    def run_evaluator(self) -> None:
        """Evaluates checkpoints as they come, until the last."""
        _check_eval_spec(self._eval_spec)
        delay = self._eval_spec.start_delay_secs
        if delay:
            logging.info("Waiting %f secs before starting eval.", delay)
            time.sleep(delay)
        evaluator, result, stop = self._evaluator(), None, False
        while not stop:
            if result is not None and self._was_last(result):
                return
            result, stop = self._evaluate_next(evaluator)

    def run_ps(self) -> None:
        """Serves variables, for good."""
        self._start_server(self._estimator.config).join()

    def run_local(self) -> tuple[Any, Any]:
        """Trains and evaluates in turn, in one process."""
        _check_eval_spec(self._eval_spec)
        config = self._estimator.config
        logging.info(
            "Start train and evaluate loop. The evaluate will happen after every checkpoint. "
            "Checkpoint frequency is determined based on RunConfig arguments: "
            f"save_checkpoints_steps {config.save_checkpoints_steps} or save_checkpoints_secs "
            f"{config.save_checkpoints_secs}."
        )
        listener = NewCheckpointListener(
            self._evaluator(), self._eval_spec.throttle_secs, self._listener
        )
        self._train(saving_listeners=[listener])
        result = listener.eval_result or EvalResult(EvalStatus.MISSING_CHECKPOINT)
        return result.metrics, listener.export_results

    # ---- training ----

    def _train(self, saving_listeners: Any = None) -> None:
        self._estimator.train(
            input_fn=self._train_spec.input_fn,
            max_steps=self._train_spec.max_steps,
            hooks=[*self._train_spec.hooks, *self._train_hooks],
            saving_listeners=saving_listeners,
        )

    def _train_in_cluster(self, saving_listeners: Any = None) -> None:
        config = self._estimator.config
        if has_own_session(config):
            self._train(saving_listeners)
            return
        if not _has_server_already():
            self._start_server(config)
        if config.task_type == TaskType.WORKER:
            _let_the_chief_begin(config)
        self._train(saving_listeners)

    def _start_server(self, config: Any) -> Any:
        if not config.cluster_spec or not config.task_type or config.task_id is None:
            raise RuntimeError(
                "Could not start server; be sure to specify cluster_spec, task_type, and task in "
                "RunConfig or set the TF_CONFIG environment variable."
            )
        if not config.master:
            return _without_server(config)
        logging.info("Start Tensorflow server.")
        options = ConfigProto(log_device_placement=False)
        if config.session_config is not None:
            options.gpu_options.CopyFrom(config.session_config.gpu_options)
        task = {"job_name": config.task_type, "task_index": config.task_id}
        how = {"protocol": config.protocol, "config": options, "start": False}
        server = Server(config.cluster_spec, **task, **how)
        server.start()
        return server

    # ---- evaluation ----

    def _evaluator(self) -> Evaluator:
        return Evaluator(self._estimator, self._eval_spec, self._train_spec.max_steps)

    def _was_last(self, result: EvalResult) -> bool:
        last = self._train_spec.max_steps
        if result.status != EvalStatus.EVALUATED or not last:
            return False
        step = result.metrics.get(GraphKeys.GLOBAL_STEP)
        if not step or step < last:
            return False
        logging.info("Exiting evaluation, global_step=%s >= train max_steps=%s", step, last)
        return True

    def _evaluate_next(self, evaluator: Evaluator) -> tuple[EvalResult | None, bool]:
        """(result, whether to stop); takes at least as long as the throttle says."""
        start = time.time()
        if not self._listener.before_eval():
            return None, stop_as_requested("evaluation", "before_eval")
        result, _ = evaluator.evaluate_and_export()
        if not self._listener.after_eval(result):
            return result, stop_as_requested("evaluation", "after_eval")
        throttle = self._eval_spec.throttle_secs
        left = throttle - (time.time() - start)
        if left > 0:
            logging.info("Waiting %f secs before starting next eval run.", left)
            time.sleep(left)
        elif throttle == 0 and result.status != EvalStatus.EVALUATED:
            logging.warning(
                "EvalSpec.throttle_secs is set as 0. This might overload the job before finding "
                "(next) new checkpoint. Please consider to increase it."
            )
        return result, False


def _without_server(config: Any) -> None:
    """One task by itself needs no server; anything else without an address is a mistake."""
    if not (is_alone(config.cluster_spec) and config.task_type in _TRAINERS):
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set the TF_CONFIG "
            "environment variable."
        )
    logging.info("Skip starting Tensorflow server as there is only one node in the cluster.")


def _has_server_already() -> bool:
    """Whether TF_CONFIG says that something else runs the servers."""
    config = json.loads(os.environ.get("TF_CONFIG") or "{}")
    if not config:
        logging.warning("TF_CONFIG should not be empty in distributed environment.")
    return config.get("environment") == "google"


def _let_the_chief_begin(config: Any) -> None:
    """Workers begin one after the other, so that the first steps do not undo one another."""
    asked = config.experimental_max_worker_delay_secs
    longest = MAX_DELAY_SECS if asked is None else int(asked)
    seconds = min((config.task_id + 1) * DELAY_SECS_PER_WORKER, longest)
    if seconds > 0:
        logging.info("Waiting %d secs before starting training.", seconds)
        time.sleep(seconds)
