"""The loss of a model: from what is given to `compile` to one tensor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.graph.graph import name_scope
from weft.lib.distribute.context import get_strategy
from weft.lib.keras import losses
from weft.lib.keras.engine.training_endpoint import Endpoint, Part
from weft.lib.keras.losses import Reduction
from weft.lib.platform import tf_logging as logging
from weft.ops.math import casts, math


def check_keys(name: str, given: Mapping[str, Any], expected: list[str]) -> None:
    unknown = set(given) - set(expected)
    if unknown:
        raise ValueError(
            f"Unknown entries in {name} dictionary: {list(unknown)}. Only expected following keys: "
            f"{expected}"
        )


def loss_functions(loss: Any, output_names: list[str]) -> list[Any]:
    """The loss of each output, from one for all, a list, or a dictionary by names."""
    if isinstance(loss, Mapping):
        check_keys("loss", loss, output_names)
        for name in output_names:
            if name not in loss:
                logging.warning(
                    f"Output {name} missing from loss dictionary. We assume this was done on "
                    "purpose. The fit and evaluate APIs will not be expecting any data to be "
                    f"passed to {name}."
                )
        return [loss_function(loss.get(name)) for name in output_names]
    if isinstance(loss, Sequence) and not isinstance(loss, str):
        if len(loss) != len(output_names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. The "
                f"model has {len(output_names)} outputs, but you passed loss={loss}"
            )
        return [loss_function(each) for each in loss]
    return [loss_function(loss) for _ in output_names]


def loss_function(loss: Any) -> Any:
    """A `Loss`, from whatever stands for one; objects with a `__call__` only stay as they are."""
    is_object = callable(loss) and not hasattr(loss, "__name__")
    if loss is None or is_object or isinstance(loss, losses.Loss):
        return loss
    function = losses.get(loss)
    settings = {"name": function.__name__, "reduction": Reduction.SUM_OVER_BATCH_SIZE}
    return losses.LossFunctionWrapper(function, **settings)


def set_loss_weights(endpoints: list[Endpoint], loss_weights: Any) -> None:
    """How much the loss of each output counts."""
    if loss_weights is None:
        weights = [1.0] * len(endpoints)
    elif isinstance(loss_weights, Mapping):
        check_keys("loss_weights", loss_weights, [e.output_name for e in endpoints])
        weights = [loss_weights.get(e.output_name, 1.0) for e in endpoints]
    elif isinstance(loss_weights, list):
        if len(loss_weights) != len(endpoints):
            raise ValueError(
                "When passing a list as loss_weights, it should have one entry per model output. "
                f"The model has {len(endpoints)} outputs, but you passed "
                f"loss_weights={loss_weights}"
            )
        weights = loss_weights
    else:
        raise TypeError(
            f"Could not interpret loss_weights argument: {loss_weights} - expected a list of dicts."
        )
    for endpoint, weight in zip(endpoints, weights, strict=True):
        endpoint.loss_weight = weight


def set_sample_weight_modes(endpoints: list[Endpoint], mode: Any) -> None:
    """Whether samples of each output have a weight, and whether steps of time have their own."""
    names = [e.output_name for e in endpoints]
    if isinstance(mode, Mapping):
        check_keys("sample_weight_mode", mode, names)
        for endpoint in endpoints:
            if endpoint.takes_sample_weights and endpoint.output_name not in mode:
                raise ValueError(
                    f"Output {endpoint.output_name}missing from `_sample_weight_modes` dictionary"
                )
        modes = [mode.get(name) for name in names]
    elif isinstance(mode, (list, tuple)):
        if len(mode) != len(endpoints):
            raise ValueError(
                "When passing a list as sample_weight_mode, it should have one entry per model "
                f"output. The model has {len(endpoints)} outputs, but you passed {len(mode)}"
                "_sample_weight_modes."
            )
        modes = list(mode)
    else:
        modes = [mode] * len(endpoints)
    for endpoint, each in zip(endpoints, modes, strict=True):
        if endpoint.takes_sample_weights:
            endpoint.sample_weight_mode = each


def masked_weights(part: Part) -> Any:
    """Weights of samples that are 0 where the mask is."""
    weights = part.sample_weight
    if part.mask is None:
        return weights
    mask = casts.cast(part.mask, part.output.dtype)
    if weights is None:
        return mask
    mask, _, weights = losses.squeeze_or_expand_dimensions(mask, sample_weight=weights)
    return weights * mask


def total_loss(model: Any, parts: list[Part], added: list[Any] | None = None) -> Any:
    """The weighted sum of the losses of all outputs, and of those that layers `added`."""
    total: Any = None
    with name_scope("loss"):
        for endpoint, part in zip(model._training_endpoints, parts, strict=True):
            if endpoint.is_skipped:
                continue
            with name_scope(endpoint.loss_name):
                loss = _output_loss(endpoint.loss_fn, part)
            if len(model.outputs) > 1:
                endpoint.output_loss_metric(loss)
            reduction = getattr(endpoint.loss_fn, "reduction", Reduction.AUTO)
            if Reduction.decided(reduction) == Reduction.SUM_OVER_BATCH_SIZE:
                loss = _of_one_replica(loss)
            weighted = endpoint.loss_weight * loss
            total = weighted if total is None else total + weighted
        if added is None:
            added = model.get_losses_for(None) + model.get_losses_for(model.inputs)
        if total is None:
            if not added:
                raise ValueError("The model cannot be compiled because it has no loss to optimize.")
            total = 0.0
        return total + _of_one_replica(math.add_n(added)) if added else total


def _of_one_replica(loss: Any) -> Any:
    """A mean as one replica's part of the mean over all; a strategy sums what they compute."""
    replicas = get_strategy().num_replicas_in_sync
    return loss * (1.0 / replicas) if replicas > 1 else loss


def _output_loss(loss_fn: Any, part: Part) -> Any:
    weights = masked_weights(part)
    if not hasattr(loss_fn, "reduction"):
        return loss_fn(part.target, part.output, sample_weight=weights)
    each = losses.compute_weighted_loss(
        loss_fn.call(part.target, part.output), sample_weight=weights, reduction=Reduction.NONE
    )
    return losses.reduce_weighted_loss(each, reduction=Reduction.decided(loss_fn.reduction))
