"""Steps of a model with `run_eagerly`: operation by operation, in Python, on the program's values.

A step takes the same list of arrays, and gives the same list of results, as a function of the graph
(`training_functions.py`), so that its caller need not know which of the two it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.autodiff.tape import GradientTape
from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.slices import SparseTensor, SparseTensorValue
from weft.lib.keras.backend.phase import learning_phase_scope
from weft.lib.keras.engine import training_losses, training_metrics
from weft.lib.keras.engine.layer_nodes import mask_of
from weft.lib.keras.engine.training_endpoint import Part
from weft.lib.platform import tf_logging as logging
from weft.ops.kit.eager import EagerTensor


class EagerStep:
    """One step of training ("train"), of testing ("test") or of predicting ("predict")."""

    def __init__(self, model: Any, mode: str) -> None:
        self._model, self._mode = model, mode
        if mode == "train" and hasattr(model.optimizer, "_create_weights"):
            with name_scope(model.optimizer._name):
                model.optimizer._create_weights(model._unique_trainable_weights)

    def __call__(self, feeds: list[Any]) -> list[Any]:
        model, trains = self._model, self._mode == "train"
        if feeds and feeds[-1] is True:  # the learning phase, which we know
            feeds = feeds[:-1]
        inputs, feeds = feeds[: len(model._feed_inputs)], feeds[len(model._feed_inputs) :]
        with learning_phase_scope(int(trains)):
            if self._mode == "predict":
                outputs = nest.flatten(self._outputs(inputs))
                return [each.numpy() for each in outputs]
            before = model._get_trainable_state()
            model._set_trainable_state(model._compiled_trainable_state)
            try:
                loss, parts = self._trained(inputs, feeds) if trains else self._loss(inputs, feeds)
            finally:
                model._set_trainable_state(before)
            return [loss.numpy(), *(each.numpy() for each in self._metrics(parts))]

    def _outputs(self, inputs: list[Any]) -> Any:
        model = self._model
        values = [_as_tensor(x, like) for x, like in zip(inputs, model._feed_inputs, strict=True)]
        kwargs = {"training": self._mode == "train"} if model._expects_training_arg else {}
        return model(nest.pack_sequence_as(model._nested_inputs, values), **kwargs)

    def _loss(self, inputs: list[Any], feeds: list[Any]) -> tuple[Any, list[Part]]:
        """The loss, and what it was computed from, output by output."""
        model = self._model
        outputs = nest.flatten(self._outputs(inputs))
        count = len(model._fed_endpoints)
        targets, weights = iter(feeds[:count]), iter(feeds[count : 2 * count])
        parts = []
        for endpoint, output in zip(model._training_endpoints, outputs, strict=True):
            target = weight = None
            if endpoint.feeds_target:
                target, weight = next(targets), next(weights, None)
            parts.append(
                Part(_like(target, output), output, _like(weight, output), mask_of(output))
            )
        added = [loss for loss in model.losses if isinstance(loss, EagerTensor)]
        return training_losses.total_loss(model, parts, added), parts

    def _trained(self, inputs: list[Any], feeds: list[Any]) -> tuple[Any, list[Part]]:
        model = self._model
        optimizer = model.optimizer
        with GradientTape() as tape:
            loss, parts = self._loss(inputs, feeds)
            scaled = optimizer.get_scaled_loss(loss) if hasattr(optimizer, "loss_scale") else loss
        weights = model._unique_trainable_weights
        if not weights:
            logging.warning(
                "The list of trainable weights is empty. Make sure that you are not setting "
                "model.trainable to False before compiling the model."
            )
            return loss, parts
        grads = tape.gradient(scaled, weights)
        if hasattr(optimizer, "loss_scale"):
            grads = optimizer.get_unscaled_gradients(grads)
        if hasattr(optimizer, "_clipped"):
            grads = optimizer._clipped(grads)
        optimizer.apply_gradients(zip(grads, weights, strict=True))
        return loss, parts

    def _metrics(self, parts: list[Part]) -> list[Any]:
        model = self._model
        training_metrics.call_all(model, model._per_output_metrics, parts, False)
        training_metrics.call_all(model, model._per_output_weighted_metrics, parts, True)
        return [metric.result() for metric in model._get_training_eval_metrics()]


def _as_tensor(value: Any, like: Any) -> Any:
    """A value of the type of the input that it is for."""
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return convert_to_tensor(np.asarray(value), dtype=like.dtype.base_dtype)


def _like(value: Any, output: Any) -> Any:
    """Floats as floats of the type of the output; numbers of classes stay integers."""
    if value is None:
        return None
    array = np.asarray(value)
    dtype = output.dtype.base_dtype.as_numpy_dtype
    return convert_to_tensor(array.astype(dtype) if array.dtype.kind == "f" else array)
