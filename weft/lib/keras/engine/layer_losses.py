"""The losses, updates and metrics of a layer, and which of them depend on which inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Operation, Tensor, name_scope
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.symbolic import runs_eagerly
from weft.lib.keras.engine.call_context import call_context
from weft.lib.keras.engine.effects import check_unconditional
from weft.ops.array import shape as array_shape
from weft.ops.kit.eager import EagerTensor
from weft.ops.kit.replicas import before_replicas
from weft.ops.math import casts
from weft.ops.state.variables import Variable


class LayerLosses:
    trainable: Any
    stateful: bool
    _activity_regularizer: Any
    _losses: list[Any]
    _eager_losses: list[Any]
    _callable_losses: list[Callable[[], Any]]
    _updates: list[Any]
    _metrics: list[Any]
    _inbound_nodes: list[Any]
    _gather_children_attribute: Callable[[str], list[Any]]

    # ---- losses ----

    @property
    def losses(self) -> list[Any]:
        """The losses added with `add_loss`, and those of regularizers, made when this is read.

        Where the program runs eagerly, they are those of the latest call, if it added any.
        """
        made = [loss for f in self._callable_losses if (loss := f()) is not None]
        own = (self._eager_losses if runs_eagerly() else None) or self._losses
        return own + made + self._gather_children_attribute("losses")

    def _forget_eager_losses(self) -> None:
        """Drops the losses of earlier calls: those of eager execution are of the latest call."""
        waiting: list[Any] = [self]
        while waiting:
            layer = waiting.pop()
            layer.__dict__["_eager_losses"] = []
            waiting.extend(layer._layers)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses, tensors or functions that make one.

        With `inputs`, a loss depends on them; without, it stands for the layer as a whole.
        """
        for loss in nest.flatten(losses):
            if callable(loss):
                self._callable_losses.append(functools.partial(_made, loss, inputs is None))
            elif loss is not None:
                loss = _tagged(loss, inputs is None)
                check_unconditional(loss, "add_loss")
                self._keep_loss(loss)

    def _keep_loss(self, loss: Any) -> None:
        if runs_eagerly() and isinstance(loss, EagerTensor):
            self._eager_losses.append(loss)
        elif not call_context().in_call and getattr(self, "_is_graph_network", False):
            self._graph_network_add_loss(loss)  # type: ignore[attr-defined]
        else:
            self._losses.append(loss)

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on `inputs`; with None, those that depend on no input."""
        return _relevant(self.losses, "_unconditional_loss", inputs)

    def _add_activity_losses(self, inputs: Any, outputs: Any) -> None:
        if not self._activity_regularizer:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                check_unconditional(output, "activity_regularizer")
                loss = self._activity_regularizer(output)
                # Per example, so that the strength does not depend on the batch.
                batch = casts.cast(array_shape.shape(output)[0], loss.dtype)
                self.add_loss(loss / batch, inputs=inputs)

    # ---- updates ----

    @property
    def updates(self) -> list[Any]:
        if not self.trainable and not self.stateful:
            return []
        return self._updates + self._gather_children_attribute("updates")

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds operations to run with each training step, such as those of moving averages.

        They may be functions that make one, which eager execution calls unless the layer is frozen.
        On which inputs they depend is found out; `inputs` is there for old programs.
        """
        if runs_eagerly():
            for update in nest.flatten(updates):
                if callable(update) and not call_context().frozen:
                    update()
            return
        if before_replicas():
            return
        context = call_context()
        if context.in_call:
            relevant = nest.flatten(context.inputs)
        else:
            relevant = nest.flatten([node.input_tensors for node in self._inbound_nodes])
        for update in updates if isinstance(updates, (list, tuple)) else [updates]:
            self._updates.append(_as_update(update, relevant))

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on `inputs`; with None, those that depend on no input."""
        return _relevant(self.updates, "_unconditional_update", inputs)

    # ---- metrics ----

    @property
    def metrics(self) -> list[Any]:
        return self._metrics + self._gather_children_attribute("metrics")

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Reports `value` with the metrics of a model.

        It is the result of a metric, or, with `aggregation="mean"`, a value to be averaged.
        """
        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided "
                f"aggregation=`{aggregation}`"
            )
        metric = getattr(value, "_metric_obj", None)
        if name is None and metric is None:
            raise ValueError(
                "Please provide a name for your metric like "
                "`self.add_metric(tf.reduce_sum(inputs), name='mean_activation', "
                "aggregation='mean')`"
            )
        check_unconditional(value, "add_metric")
        name = name if metric is None else metric.name
        if call_context().in_call or not getattr(self, "_is_graph_network", False):
            self._add_metric(value, aggregation, name)
        elif metric is not None:
            raise ValueError(
                "Using the result of calling a `Metric` object when calling `add_metric` on a "
                "Functional Model is not supported. Please pass the Tensor to monitor directly."
            )
        else:
            self._graph_network_add_metric(value, aggregation, name)  # type: ignore[attr-defined]

    def _add_metric(self, value: Any, aggregation: str | None, name: Any) -> None:
        match = self._get_existing_metric(name)
        if aggregation is not None:
            if match is None:
                from weft.lib.keras.metrics import Mean

                match = Mean(name=name)
                self._metrics.append(match)
            match(value)
        elif match is None:
            if not hasattr(value, "_metric_obj"):
                raise ValueError(
                    "We do not support adding an aggregated metric result tensor that is not the "
                    "output of a `tf.keras.metrics.Metric` metric instance. Without having access "
                    "to the metric instance we cannot reset the state of a metric after every "
                    "epoch during training. You can create a `tf.keras.metrics.Metric` instance "
                    "and pass the result here or pass an un-aggregated result with `aggregation` "
                    "parameter set as `mean`. For example: `self.add_metric(tf.reduce_sum(inputs)"
                    ", name='mean_activation', aggregation='mean')`"
                )
            self._metrics.append(value._metric_obj)

    def _get_existing_metric(self, name: str | None = None) -> Any:
        match [metric for metric in self._metrics if metric.name == name]:
            case []:
                return None
            case [metric]:
                return metric
            case found:
                raise ValueError(
                    "Please provide different names for the metrics you have added. We found "
                    f'{len(found)} metrics with the name: "{name}"'
                )


def _tagged(loss: Any, unconditional: bool) -> Any:
    """A loss, which may be a number, as a tensor that knows whether it depends on inputs."""
    if loss is None:
        return None
    if not isinstance(loss, Tensor):
        loss = convert_to_tensor(loss, dtype=floatx())
    loss._unconditional_loss = unconditional
    return loss


def _made(loss: Callable[[], Any], unconditional: bool) -> Any:
    return _tagged(loss(), unconditional)


def _as_update(update: Any, inputs: list[Any]) -> Any:
    if callable(update):
        update = update()
    if not isinstance(update, Operation):
        update = getattr(update, "op", None) or convert_to_tensor(update)
    check_unconditional(update, "add_update")
    update._unconditional_update = not reached_from(inputs, [update])
    return update


def _relevant(items: list[Any], tag: str, inputs: Any) -> list[Any]:
    if inputs is None:
        return [item for item in items if getattr(item, tag, True)]
    conditional = [item for item in items if not getattr(item, tag, True)]
    return reached_from(nest.flatten(inputs), conditional)


def reached_from(inputs: Any, targets: list[Any]) -> list[Any]:
    """The members of `targets` that are computed from `inputs`."""
    sources = {id(t) for x in nest.flatten(list(inputs), expand_composites=True) for t in _read(x)}
    known: dict[Any, bool] = {}

    def reached(target: Any) -> bool:
        waiting, seen = [target], set()
        while waiting:
            item = waiting.pop()
            if id(item) in sources:
                return True
            op = item if isinstance(item, Operation) else item.op
            if op not in seen and known.get(op, True):
                seen.add(op)
                waiting.extend(op.inputs)
                waiting.extend(op.control_inputs)
        known.update(dict.fromkeys(seen, False))
        return False

    return [target for target in targets if reached(target)]


def _read(x: Any) -> list[Any]:
    """The tensors that mean `x` to operations; those that use a variable use its handle."""
    return list(x.op.outputs) if isinstance(x, Variable) else [x]
