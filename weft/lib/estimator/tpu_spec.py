"""tf.contrib.tpu.TPUEstimatorSpec: as EstimatorSpec, with functions where graphs for TPUs end."""

from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from weft.lib.estimator.functions import fn_args
from weft.lib.estimator.spec import (
    EstimatorSpec,
    checked_export_outputs,
    checked_hooks,
    checked_loss,
    checked_predictions,
    checked_train_op,
)
from weft.lib.platform import tf_logging as logging
from weft.lib.summary.event_writers import flush
from weft.lib.summary.summary_ops_v2 import summary_writer_initializer_op
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook


class _TPUEstimatorSpec(NamedTuple):
    mode: Any
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metrics: Any = None
    export_outputs: Any = None
    scaffold_fn: Any = None
    host_call: Any = None
    training_hooks: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None


class TPUEstimatorSpec(_TPUEstimatorSpec):
    """Operations and hooks of a model; metrics and summaries are (function, its tensors).

    Args:
        *args, **kwargs: `mode`, `predictions`, `loss`, `train_op`, `eval_metrics`,
            `export_outputs`, `scaffold_fn`, `host_call`, `training_hooks`, `evaluation_hooks` and
            `prediction_hooks`.

    Returns:
        A named tuple.

    Raises:
        ValueError: what the mode needs is missing.

    Example:
        >>> spec = tf.contrib.tpu.TPUEstimatorSpec("infer", predictions={"x": tf.constant([1.0])})
        >>> sorted(spec.predictions)
        ['x']
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TPUEstimatorSpec:
        given = _TPUEstimatorSpec(*args, **kwargs)
        for name in ("eval_metrics", "host_call"):
            _check_call(name, getattr(given, name))
        predictions = checked_predictions(given.predictions, given.mode)
        checked = given._replace(
            train_op=checked_train_op(given.train_op, given.mode),
            loss=checked_loss(given.loss, given.mode),
            predictions=predictions,
            export_outputs=checked_export_outputs(given.export_outputs, predictions, given.mode),
            training_hooks=checked_hooks(given.training_hooks),
            evaluation_hooks=checked_hooks(given.evaluation_hooks),
            prediction_hooks=checked_hooks(given.prediction_hooks),
        )
        return super().__new__(cls, *checked)

    def as_estimator_spec(self) -> EstimatorSpec:
        """The spec of a model that runs elsewhere than on TPUs."""
        hooks: tuple[SessionRunHook, ...] = ()
        if self.host_call is not None:
            hooks = (_HostCallHook(_called("host_call", self.host_call)),)
        metrics = None
        if self.eval_metrics is not None:
            metrics = _called("eval_metrics", self.eval_metrics)
        return EstimatorSpec(
            mode=self.mode,
            predictions=self.predictions,
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=metrics,
            export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )


def _check_call(name: str, call: Any) -> None:
    if call is None:
        return
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(tensors, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    if isinstance(tensors, dict) or inspect.getfullargspec(function).varargs is not None:
        return
    if len(tensors) != len(fn_args(function)):
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method "
            f"args of the function, which takes {len(fn_args(function))}."
        )


def _called(name: str, call: Any) -> Any:
    function, tensors = call
    if not isinstance(tensors, dict):
        return function(*tensors)
    try:
        return function(**tensors)
    except TypeError as error:
        logging.warning(
            "Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the "
            "function's arguments",
            name, error, name,
        )  # fmt: skip
        raise


class _HostCallHook(SessionRunHook):
    """Runs what a host call made with every step, and takes care of its summary writers."""

    def __init__(self, tensors: Any) -> None:
        self._tensors = tensors

    def begin(self) -> None:
        self._init_ops = summary_writer_initializer_op()
        self._flush_ops = [flush(writer=op.inputs[0]) for op in self._init_ops]

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._init_ops)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._tensors)

    def end(self, session: Any) -> None:
        session.run(self._flush_ops)
