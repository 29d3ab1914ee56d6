"""The EstimatorSpec of a model function, checked when it is made."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import GraphKeys, add_to_collection, get_collection, get_default_graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.saved_model.export_outputs import get_export_outputs
from weft.lib.train.sessions.scaffold import Scaffold
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.array.shape import reshape
from weft.ops.state.variables import Variable

LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"


class ModeKeys:
    """The purposes that a model function is called for.

    Attributes:
        TRAIN: to learn from features and labels.
        EVAL: to measure how good the model is.
        PREDICT: to make predictions from features alone.

    Example:
        >>> tf.estimator.ModeKeys.TRAIN
        'train'
    """

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class _EstimatorSpec(NamedTuple):
    mode: Any
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    export_outputs: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None
    evaluation_hooks: Any = None
    prediction_hooks: Any = None


class EstimatorSpec(_EstimatorSpec):
    """Operations and hooks of a model for one mode.

    `TRAIN` needs a loss and a train_op, `EVAL` a loss, `PREDICT` predictions.

    Args:
        mode: one of `tf.estimator.ModeKeys`.
        predictions: a tensor or a dict of them.
        loss: a scalar.
        train_op: the operation of a training step.
        eval_metric_ops: a dict of metrics, each as `tf.metrics` gives it.
        export_outputs: a dict of `tf.estimator.export.ExportOutput`s, the signatures of an export.
        training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks: session hooks.
        scaffold: a `tf.train.Scaffold` for training.

    Raises:
        ValueError: what the mode needs is missing, or a tensor is of another graph.
        TypeError: something is of the wrong kind.

    Example:
        >>> spec = tf.estimator.EstimatorSpec("infer", predictions={"x": tf.constant([1.0])})
        >>> sorted(spec.predictions)
        ['x']
    """

    def __new__(
        cls,
        mode: Any,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        export_outputs: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
        evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> EstimatorSpec:
        train_op = checked_train_op(train_op, mode)
        loss = checked_loss(loss, mode)
        predictions = checked_predictions(predictions, mode)
        return super().__new__(
            cls,
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            export_outputs=checked_export_outputs(export_outputs, predictions, mode),
            training_hooks=checked_hooks(training_hooks),
            evaluation_hooks=checked_hooks(evaluation_hooks),
            prediction_hooks=checked_hooks(prediction_hooks),
            training_chief_hooks=checked_hooks(training_chief_hooks),
            eval_metric_ops=_checked_metrics(eval_metric_ops),
            scaffold=_checked_scaffold(scaffold),
        )

    def _replace(self, **kwds: Any) -> EstimatorSpec:
        """Another one, checked again; the mode stays."""
        if "mode" in kwds and kwds["mode"] != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(*[kwds.pop(*item) for item in self._asdict().items()])


# ---- checks --------------------------------------------------------------------------------------


def _in_default_graph(thing: Any, kind: str, name: str) -> None:
    if thing.graph is not get_default_graph():
        raise ValueError(
            f'{kind} with "{name}" must be from the default graph. Possible causes of this error '
            f"include: \n\n1) {kind} was created outside the context of the default graph.\n\n2) "
            "The object passed through to EstimatorSpec was not created in the most recent call "
            'to "model_fn".'
        )


def _tensor(value: Any, name: str) -> Any:
    if not isinstance(value, (Tensor, Variable)):
        raise TypeError(f"{name} must be Tensor, given: {value}")
    return value


def _lacks(value: Any, name: str, required: bool) -> bool:
    """Whether a part of a spec is missing; an error in the modes that need it."""
    if value is None and required:
        raise ValueError(f"Missing {name}.")
    return value is None


def checked_train_op(train_op: Any, mode: Any) -> Any:
    if _lacks(train_op, "train_op", mode == ModeKeys.TRAIN):
        return None
    if not isinstance(train_op, (Operation, Tensor, Variable)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    if isinstance(train_op, Variable):
        train_op = train_op.op
    _in_default_graph(train_op, "train_op", train_op.name)
    return train_op


def checked_loss(loss: Any, mode: Any) -> Any:
    """The loss, as a scalar."""
    if _lacks(loss, "loss", mode in (ModeKeys.TRAIN, ModeKeys.EVAL)):
        return None
    shape = _tensor(loss, "loss").get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if not shape.is_compatible_with(TensorShape([])):
        loss = reshape(loss, [])
    _in_default_graph(loss, "loss", loss.name)
    return loss


def checked_predictions(predictions: Any, mode: Any) -> Any:
    if _lacks(predictions, "predictions", mode == ModeKeys.PREDICT):
        return {}
    if not isinstance(predictions, dict):
        _in_default_graph(
            _tensor(predictions, "predictions"), "prediction values", predictions.name
        )
        return predictions
    predictions = {k: _tensor(v, f"predictions[{k}]") for k, v in predictions.items()}
    for key, value in predictions.items():
        _in_default_graph(value, "prediction values", f"{key}: {value.name}")
    return predictions


def checked_export_outputs(export_outputs: Any, predictions: Any, mode: Any) -> Any:
    if mode == ModeKeys.PREDICT:
        return get_export_outputs(export_outputs, predictions)
    return export_outputs


def checked_hooks(hooks: Any) -> tuple[SessionRunHook, ...]:
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")
    return hooks


def _is_metric(value: Any) -> bool:
    """An object with state, in the way of Keras."""
    return hasattr(value, "update_state") and hasattr(value, "result")


def _checked_metrics(eval_metric_ops: Any) -> dict[str, tuple[Any, Any]]:
    """Name -> (value, update operation); metric objects are taken apart."""
    if eval_metric_ops is None:
        return {}
    if not isinstance(eval_metric_ops, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {eval_metric_ops}")
    for key, value in eval_metric_ops.items():
        if _is_metric(value):
            if not value.updates:
                raise ValueError(f'Please call update_state(...) on the "{value.name}" metric')
            eval_metric_ops[key] = (value.result(), value.updates[0])
            _add_to_collections(value.variables)
        elif not isinstance(value, tuple) or len(value) != 2:
            raise TypeError(
                "Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                f"{value} for key: {key}"
            )
    for key, value in eval_metric_ops.items():
        for each in nest.flatten(value):
            _in_default_graph(each, "eval_metric_ops", f"{key}: {each.name}")
    return eval_metric_ops


def _add_to_collections(variables: Any) -> None:
    for collection in (GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES):
        there = {id(each) for each in get_collection(collection)}
        for variable in variables:
            if id(variable) not in there:
                add_to_collection(collection, variable)


def _checked_scaffold(scaffold: Any) -> Scaffold:
    scaffold = scaffold or Scaffold()
    if not isinstance(scaffold, Scaffold):
        raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
    return scaffold
