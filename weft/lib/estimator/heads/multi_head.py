"""tf.estimator.MultiHead: several heads on one model, each with labels of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.estimator.heads import measures
from weft.lib.estimator.heads.base import (
    DEFAULT_SERVING_KEY,
    PREDICT_SERVING_KEY,
    Head,
    train_op_of,
)
from weft.lib.estimator.heads.keys import MetricKeys
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.saved_model.export_outputs import ExportOutput, PredictOutput
from weft.lib.summary import summary
from weft.ops.control.control import no_op
from weft.ops.math.math import add_n


class MultiHead(Head):
    """Logits are split among the heads, labels are a dict by their names, losses are summed."""

    def __init__(self, heads: Any, head_weights: Any = None) -> None:
        if not heads:
            raise ValueError(f"Must specify heads. Given: {heads}")
        if head_weights and len(head_weights) != len(heads):
            raise ValueError(
                "heads and head_weights must have the same size. Given len(heads): "
                f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
            )
        unnamed = [head for head in heads if head.name is None]
        if unnamed:
            raise ValueError(f"All given heads must have name specified. Given: {unnamed[0]}")
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights) if head_weights else (None,) * len(heads)

    @property
    def name(self) -> str:
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> str:
        found = [head.loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(
                f"The loss_reduction must be the same for different heads. Given: {found}"
            )
        return found[0]

    # ---- logits and labels ----

    def _split(self, logits: Any) -> dict[str, Tensor]:
        """The part of the logits that belongs to each head."""
        sizes = [head.logits_dimension for head in self._heads]
        with name_scope(None, "split_logits", [logits]):
            logits = convert_to_tensor(logits)
            last = logits.dims[-1] if logits.dims else None
            if last is not None and last != sum(sizes):
                raise ValueError(
                    f"Could not split logits of shape {logits.shape.as_list()!r} among the heads "
                    f"with individual logits dimensions: {sizes!r}. The last dimension of the "
                    f"logits tensor should equal {sum(sizes)} but is {last}."
                )
            parts, start = {}, 0
            for head, size in zip(self._heads, sizes, strict=True):
                parts[head.name] = logits[..., start : start + size]
                start += size
            return parts

    def _parts(self, logits: Any, labels: Any = None) -> dict[str, Tensor]:
        """The logits of each head; labels, where given, must be there for each, too."""
        if labels is not None and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        names = {head.name for head in self._heads}
        for word, given in (("logits", logits), ("labels", labels)):
            missing = list(names - set(given)) if isinstance(given, dict) else []
            if missing:
                raise ValueError(f"{word} has missing values for head(s): {missing}")
        return logits if isinstance(logits, dict) else self._split(logits)

    # ---- what a head does ----

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Tensor:
        parts, losses = self._parts(logits, labels), []
        for head, weight in zip(self._heads, self._head_weights, strict=True):
            loss = head.loss(labels[head.name], parts[head.name], features, mode)
            losses.append(loss if weight is None else loss * weight)
        with name_scope(None, "merge_losses", losses):
            total = add_n(losses)
            if regularization_losses:
                total = total + add_n(regularization_losses)
        return total

    def predictions(self, logits: Any, keys: Any = None) -> dict[Any, Tensor]:
        """By (name of the head, name of the prediction)."""
        parts = self._parts(logits)
        return {
            (head.name, key): value
            for head in self._heads
            for key, value in head.predictions(parts[head.name]).items()
        }

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        names = [f"{MetricKeys.LOSS}/{head.name}" for head in self._heads]
        if regularization_losses is not None:
            names.append(self._summary_key(MetricKeys.LOSS_REGULARIZATION))
        return {name: measures.Metric(name) for name in names}

    def update_metrics(  # type: ignore[override]
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        parts = self._parts(logits, labels)
        if regularization_losses:
            key = self._summary_key(MetricKeys.LOSS_REGULARIZATION)
            measures.add_all(eval_metrics, {key: measures.mean(add_n(regularization_losses))})
        for head in self._heads:
            ours, theirs = parts[head.name], labels[head.name]
            loss = measures.mean(head.loss(theirs, ours, features))
            measures.add_all(eval_metrics, {f"{MetricKeys.LOSS}/{head.name}": loss})
            eval_metrics.update(head.update_metrics(head.metrics(), features, ours, theirs))
        return eval_metrics

    def create_estimator_spec(
        self,
        features: Any,
        mode: Any,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        with name_scope(self.name, "multi_head"):
            parts = self._parts(logits, labels)
            predictions = self.predictions(logits)
            if mode == ModeKeys.PREDICT:
                outputs = self._export_outputs(features, parts)
                return EstimatorSpec(mode, predictions=predictions, export_outputs=outputs)
            loss = self.loss(labels, logits, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses),
                    features,
                    logits,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(
                    mode, predictions=predictions, loss=loss, eval_metric_ops=metrics
                )
            if mode != ModeKeys.TRAIN:
                raise ValueError(f"mode={mode} unrecognized")
            train_op = train_op_of(loss, optimizer, trainable_variables, train_op_fn, update_ops)
        self._add_summaries(features, parts, labels, loss, regularization_losses)
        return EstimatorSpec(mode, predictions=predictions, loss=loss, train_op=train_op)

    def _add_summaries(
        self, features: Any, parts: Any, labels: Any, loss: Any, regularization_losses: Any
    ) -> None:
        """The loss of every head, and that of the model."""
        for head in self._heads:
            head.create_estimator_spec(
                features, ModeKeys.TRAIN, parts[head.name], labels[head.name], train_op_fn=_nothing
            )
        with name_scope(""):
            summary.scalar(MetricKeys.LOSS, loss)
            if regularization_losses:
                summary.scalar(MetricKeys.LOSS_REGULARIZATION, add_n(regularization_losses))

    def _export_outputs(self, features: Any, parts: dict[str, Tensor]) -> dict[str, ExportOutput]:
        """The outputs of all heads, under their names; the first head's is the default."""
        outputs: dict[str, ExportOutput] = {}
        merged: dict[str, Tensor] = {}
        for head in self._heads:
            spec = head.create_estimator_spec(features, ModeKeys.PREDICT, parts[head.name])
            outputs.setdefault(DEFAULT_SERVING_KEY, spec.export_outputs[DEFAULT_SERVING_KEY])
            for key, output in spec.export_outputs.items():
                outputs[head.name if key == DEFAULT_SERVING_KEY else f"{head.name}/{key}"] = output
                if key == PREDICT_SERVING_KEY and isinstance(output, PredictOutput):
                    for name, tensor in output.outputs.items():
                        merged[f"{head.name}/{name}"] = tensor
        outputs[PREDICT_SERVING_KEY] = PredictOutput(merged)
        return outputs


def _nothing(loss: Any) -> Any:
    return no_op()
