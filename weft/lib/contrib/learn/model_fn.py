"""Modes and results of the model functions of tf.contrib.learn."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.graph.convert import convert_to_tensor
from weft.graph.operation import Operation
from weft.graph.slices import convert_to_tensor_or_sparse_tensor
from weft.lib.estimator.spec import EstimatorSpec, checked_hooks, checked_loss


class ModeKeys:
    """The modes in which a model function is called."""

    TRAIN = "train"
    EVAL = "eval"
    INFER = "infer"

    @classmethod
    def validate(cls, key: str) -> None:
        """ValueError if `key` is none of them."""
        if key not in (cls.TRAIN, cls.EVAL, cls.INFER):
            raise ValueError(f"Invalid mode {key}.")


class _ModelFnOps(NamedTuple):
    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Any = None
    output_alternatives: Any = None
    training_chief_hooks: Any = None
    training_hooks: Any = None
    scaffold: Any = None


class ModelFnOps(_ModelFnOps):
    """Operations of a model for one mode."""

    def __new__(
        cls,
        mode: str,
        predictions: Any = None,
        loss: Any = None,
        train_op: Any = None,
        eval_metric_ops: Any = None,
        output_alternatives: Any = None,
        training_chief_hooks: Any = None,
        training_hooks: Any = None,
        scaffold: Any = None,
    ) -> ModelFnOps:
        ModeKeys.validate(mode)
        if train_op is None and mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        if train_op is not None and not isinstance(train_op, Operation):
            train_op = convert_to_tensor(train_op).op
        if predictions is None and mode != ModeKeys.TRAIN:
            raise ValueError("Missing predictions.")
        if eval_metric_ops is not None and not isinstance(eval_metric_ops, dict):
            raise ValueError("eval_metric_ops must be a dict.")
        return super().__new__(
            cls,
            mode,
            _as_tensors(predictions),
            checked_loss(None if loss is None else convert_to_tensor(loss), mode),
            train_op,
            eval_metric_ops or {},
            output_alternatives,
            list(checked_hooks(training_chief_hooks)),
            list(checked_hooks(training_hooks)),
            scaffold,
        )

    def estimator_spec(self, default_serving_output_alternative_key: Any = None) -> EstimatorSpec:
        """The same, as `tf.estimator` has it."""
        fields = self._asdict()
        del fields["output_alternatives"]
        metrics = {key: value for key, value in self.eval_metric_ops.items() if key != "loss"}
        return EstimatorSpec(**{**fields, "eval_metric_ops": metrics})


def _as_tensors(predictions: Any) -> Any:
    if isinstance(predictions, dict):
        return {k: convert_to_tensor_or_sparse_tensor(v) for k, v in predictions.items()}
    return None if predictions is None else convert_to_tensor_or_sparse_tensor(predictions)
