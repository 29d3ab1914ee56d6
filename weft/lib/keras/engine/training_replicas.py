"""Steps of a model whose variables belong to a distribution strategy of several replicas.

What is fed is a batch for all of them: each takes its rows, and the losses count by how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from weft.core import nest
from weft.graph.graph import control_dependencies, device, name_scope
from weft.graph.slices import SparseTensor
from weft.lib.distribute import group_ops
from weft.lib.distribute.context import has_strategy, in_cross_replica_context
from weft.lib.distribute.values import PerReplica
from weft.lib.keras.backend import function, symbolic_learning_phase
from weft.lib.keras.backend.phase import learning_phase_scope
from weft.lib.keras.backend.symbolic import eager_program
from weft.lib.keras.engine import training_losses, training_metrics
from weft.lib.keras.engine.layer_nodes import mask_of
from weft.lib.keras.engine.training_endpoint import Part
from weft.lib.keras.losses import Reduction
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.math import casts, math


def strategy_of(model: Any) -> Any:
    """The strategy in whose scope the model was made, if its replicas are to run it; or None.

    A model made inside of a replica is that replica's own, and runs as any other.
    """
    if has_strategy() and not in_cross_replica_context():
        return None
    for weight in model.weights:
        strategy = getattr(weight, "_distribute_strategy", None)
        if strategy is not None:
            return strategy if strategy.extended._runs_in_replicas else None
    return None


def scope_of(model: Any) -> AbstractContextManager[Any]:
    """The scope of a model's strategy, where it has one: callbacks act on all replicas."""
    strategy = None if has_strategy() else strategy_of(model)
    return nullcontext() if strategy is None else strategy.scope()


def check_for_strategy(
    model: Any, sample_weight_mode: Any, weighted_metrics: Any, target_tensors: Any
) -> None:
    """An error if a model is compiled for a strategy with what strategies do not support."""
    if not has_strategy() or not in_cross_replica_context():
        return
    by = "is not supported with tf.distribute.Strategy."
    if sample_weight_mode:
        raise NotImplementedError(f"sample_weight_mode {by}")
    if weighted_metrics:
        raise NotImplementedError(f"weighted_metrics {by}")
    if target_tensors:
        raise ValueError(f"target_tensors {by}")
    if model.run_eagerly:
        raise ValueError(
            "We currently do not support enabling `run_eagerly` with distribution strategy."
        )
    if eager_program() is None and not (model.built and model.inputs and model.outputs):
        raise ValueError(
            "We currently do not support distribution strategy with a `Sequential` model that is "
            "created without `input_shape`/`input_dim` set in its first layer or a subclassed "
            "model."
        )


class ReplicaSteps:
    """Makes the functions of a model, one for each mode, of steps of all replicas."""

    def __init__(self, model: Any, mode: str, feeds_phase: bool) -> None:
        self._model, self._mode, self._trains = model, mode, mode == "train"
        self._strategy = strategy_of(model)
        self._count = self._strategy.num_replicas_in_sync
        first, here = self._strategy.extended._first_replica, self._strategy.extended.worker_devices
        self._numbers = range(first, first + len(here))
        self._feeds_phase = feeds_phase and self._trains

    def make(self) -> Any:
        """The function, of the values of a batch."""
        model = self._model
        feeds = list(model._feed_inputs)
        if self._mode != "predict":
            feeds += [*model._feed_targets, *model._feed_sample_weights]
        before = model._get_trainable_state()
        if model._is_compiled:
            model._set_trainable_state(model._compiled_trainable_state)
        compute = self._predicted if self._mode == "predict" else self._computed
        phase = learning_phase_scope(int(self._trains))
        with name_scope(self._mode), self._strategy.scope(), phase:
            results, updates = compute(feeds)
        model._set_trainable_state(before)
        if self._feeds_phase:
            feeds.append(symbolic_learning_phase())
        settings = getattr(model, "_function_kwargs", {})
        name = f"{self._mode}_function"
        return function(feeds, results, updates=updates, name=name, **settings)

    # ---- what is computed for all replicas ----

    def _predicted(self, feeds: list[Any]) -> tuple[list[Any], list[Any]]:
        found = self._for_each(lambda *x: nest.flatten(self._outputs(list(x))), feeds)
        counts = [self._own_count(array.shape(feeds[0])[0], i) for i in self._numbers]
        # A replica that had to take a row of another gives nothing.
        results = [
            array.concat([part[:n] for part, n in zip(self._local(each), counts, strict=True)], 0)
            for each in found
        ]
        return [group_ops.gather(each) for each in results], []

    def _computed(self, feeds: list[Any]) -> tuple[list[Any], list[Any]]:
        loss, made = self._for_each(self._step, [*feeds, self._share(feeds[0])])
        loss = self._strategy.reduce("SUM", loss, axis=None)
        updates = [self._strategy.group(each) for each in made]
        with control_dependencies(updates):
            metrics = self._model._get_training_eval_metrics()
            results = [array.identity(metric.result()) for metric in metrics]
        return [loss, *results], updates

    def _for_each(self, fn: Any, feeds: Sequence[Any]) -> Any:
        rows = [each if isinstance(each, PerReplica) else self._rows(each) for each in feeds]
        return self._strategy.extended.call_for_each_replica(fn, tuple(rows))

    def _local(self, value: Any) -> list[Any]:
        return list(self._strategy.experimental_local_results(value))

    # ---- which rows are whose ----

    def _bounds(self, count: Any, number: int) -> tuple[Any, Any]:
        """First and last row of a replica: at least one, which may be another's too."""
        start = math.minimum(count * number // self._count, count - 1)
        return start, math.maximum(count * (number + 1) // self._count, start + 1)

    def _own_count(self, count: Any, number: int) -> Any:
        return count * (number + 1) // self._count - count * number // self._count

    def _rows(self, feed: Any) -> PerReplica:
        if isinstance(feed, SparseTensor):
            raise NotImplementedError("Sparse inputs of a model with several replicas.")
        devices = self._strategy.extended.worker_devices
        parts = []
        for number, where in zip(self._numbers, devices, strict=True):
            with device(where):
                start, stop = self._bounds(array.shape(feed)[0], number)
                part = feed[start:stop]
                part.set_shape([None, *feed.shape.as_list()[1:]] if feed.shape.ndims else None)
                parts.append(part)
        return PerReplica(devices, parts)

    def _share(self, feed: Any) -> PerReplica:
        """How much of the batch is whose."""
        count = array.shape(feed)[0]
        own = [casts.cast(self._own_count(count, i), "float32") for i in self._numbers]
        shares = [each / casts.cast(count, "float32") for each in own]
        return PerReplica(self._strategy.extended.worker_devices, shares)

    # ---- one replica ----

    def _outputs(self, inputs: list[Any]) -> Any:
        model = self._model
        kwargs = {"training": self._trains} if model._expects_training_arg else {}
        return model(nest.pack_sequence_as(model._nested_inputs, inputs), **kwargs)

    def _step(self, *feeds: Any) -> tuple[Any, list[Any]]:
        """The replica's part of the loss, and what it updates."""
        model = self._model
        *values, share = feeds
        count = len(model._feed_inputs)
        had = set(map(id, model.updates))
        outputs = nest.flatten(self._outputs(values[:count]))
        updates = [each for each in model.updates if id(each) not in had] if self._trains else []
        parts = self._parts(outputs, values[count:])
        added = list(model.get_losses_for(values[:count]))
        added += model.get_losses_for(None)
        loss = self._loss(parts, added, share)
        training_metrics.call_all(model, model._per_output_metrics, parts, False)
        training_metrics.call_all(model, model._per_output_weighted_metrics, parts, True)
        for metric in model._get_training_eval_metrics():
            updates += _last_update(metric)
        # Last, since other replicas call layers and metrics while this one waits for gradients.
        if self._trains:
            weights = model._collected_trainable_weights
            updates += model.optimizer.get_updates(params=weights, loss=loss)
        return loss, updates

    def _parts(self, outputs: list[Any], feeds: list[Any]) -> list[Part]:
        endpoints = self._model._training_endpoints
        fed = len(self._model._feed_targets)
        targets, weights = iter(feeds[:fed]), iter(feeds[fed:])
        parts = []
        for endpoint, output in zip(endpoints, outputs, strict=True):
            target = next(targets) if endpoint.feeds_target else endpoint.target
            weight = None if endpoint.sample_weight is None else next(weights)
            parts.append(Part(target, output, weight, mask_of(output)))
        return parts

    def _loss(self, parts: list[Part], added: list[Any], share: Any) -> Any:
        """Means count by the replica's share, sums in full."""
        losses = [math.add_n(added) * share] if added else []
        endpoints = self._model._training_endpoints
        for endpoint, part in zip(endpoints, parts, strict=True):
            if endpoint.is_skipped:
                continue
            with name_scope(endpoint.loss_name):
                loss = training_losses._output_loss(endpoint.loss_fn, part)
            if endpoint.output_loss_metric is not None:
                endpoint.output_loss_metric(loss, sample_weight=share)
            if getattr(endpoint.loss_fn, "reduction", None) != Reduction.SUM:
                loss = loss * casts.cast(share, loss.dtype)
            losses.append(endpoint.loss_weight * loss)
        if not losses:
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        return math.add_n(losses)


def _last_update(metric: Any) -> list[Any]:
    """The update of a metric's variables by its last call."""
    return [control.group(*metric.updates[-1:])] if metric.updates else []
