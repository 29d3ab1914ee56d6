"""Copies of a model, each on a device of its own with its part of the batch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from weft.core.device_name import DeviceSpec, short_name
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies, device, get_collection, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.slices import SparseTensor
from weft.lib.contrib.estimator.tower_optimizer import (
    INSTEAD,
    TowerOptimizer,
    Towers,
    scaled_loss,
    summed,
)
from weft.lib.contrib.framework.deprecation import deprecated
from weft.lib.estimator.functions import fn_args
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model.export_outputs import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from weft.ops.array.fill import zeros_like
from weft.ops.array.join import concat, stack
from weft.ops.array.split import split
from weft.ops.control.control import group
from weft.ops.math import math
from weft.ops.scores.losses import Reduction
from weft.ops.sparse.select import sparse_split
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import assign, assign_add

_VARIABLES = ("Variable", "VariableV2", "VarHandleOp")


@deprecated(*INSTEAD)
def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: list[str] | None = None,
) -> Callable[..., EstimatorSpec]:
    """A model function that runs `model_fn` on each device, with a part of the batch.

    Variables are shared. Optimizers of `model_fn` must be in a `TowerOptimizer`, which adds up the
    gradients of the copies; so do losses and metrics.

    Args:
        model_fn: as for an Estimator; batches are cut along the first dimension.
        loss_reduction: how `model_fn` reduces its losses: unless by sums, copies are averaged.
        devices: one for each copy; None: all GPUs of this process, or else its CPU.

    Raises:
        ValueError: losses are not reduced; later: a batch cannot be cut so, or an optimizer is
            used as it is.
    """
    if loss_reduction == Reduction.NONE:
        raise ValueError(
            f"Tower losses need to be reduced in some way, yet {loss_reduction} reduction is "
            "specified."
        )
    found = devices or _local_devices("GPU") or _local_devices("CPU")
    home = found[0] if len(found) == 1 and "GPU" in found[0].upper() else "/CPU:0"
    logging.info(
        f"Replicating the `model_fn` across {found}.  Variables are going to be placed on "
        f"{[home]}.  Consolidation device is going to be {home}."
    )

    def replicated_model_fn(
        features: Any, labels: Any, mode: Any, params: Any = None, config: Any = None
    ) -> EstimatorSpec:
        given = {"params": params, "config": config}
        wanted = {k: copy.deepcopy(v) for k, v in given.items() if k in fn_args(model_fn)}
        parts = [features], [labels]
        if len(found) > 1:
            with name_scope("split_inputs"), device(home):
                parts = _cut(features, len(found)), _cut(labels, len(found))
        calls = [
            {"features": x, "labels": y, "mode": mode, **wanted}
            for x, y in zip(*parts, strict=True)
        ]
        specs = _copies(model_fn, calls, loss_reduction, found, home)
        return specs[0] if len(found) == 1 else _JOIN[mode](specs, home)

    return replicated_model_fn


def _local_devices(kind: str) -> list[str]:
    from weft.runtime.devices.device import local_devices

    names = [short_name(each.name) for each in local_devices()]
    return [name for name in names if DeviceSpec.from_string(name).device_type == kind]


# ---- parts of a batch -------------------------------------------------------------------------


def _cut(batch: Any, count: int) -> list[Any]:
    """The part of a batch for each copy; a dict becomes dicts."""
    if batch is None:
        return [None] * count
    if isinstance(batch, dict):
        parts = {name: _cut(value, count) for name, value in batch.items()}
        return [{name: each[i] for name, each in parts.items()} for i in range(count)]
    if isinstance(batch, SparseTensor):
        return sparse_split(sp_input=batch, num_split=count, axis=0)
    size = convert_to_tensor(batch).shape.as_list()[0]
    if size is not None and size % count:
        raise ValueError(
            f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}."
        )
    return split(batch, count)


# ---- copies -----------------------------------------------------------------------------------


def _copies(
    model_fn: Callable[..., Any],
    calls: list[dict[str, Any]],
    reduction: str,
    devices: list[str],
    home: str,
) -> list[EstimatorSpec]:
    towers, specs = Towers.of_new_copies(len(devices), reduction), []
    for i, (where, call) in enumerate(zip(devices, calls, strict=True)):
        with ExitStack() as scopes:
            # Names without a prefix are those of the first copy.
            variables = scopes.enter_context(vs.variable_scope("", reuse=i > 0))
            names = scopes.enter_context(name_scope(f"tower_{i}" if i else ""))
            scopes.enter_context(towers.making(i, (variables, names)))
            scopes.enter_context(device(_placing(where, home)))
            spec = model_fn(**call)
            summed_up = len(devices) == 1 or TowerOptimizer.has_been_used()
            if spec.train_op is not None and not summed_up:
                raise ValueError(
                    "Please wrap optimizers with TowerOptimizer in order to use replicate_model_fn"
                    " with multiple `devices`."
                )
            loss = scaled_loss(spec.loss, reduction, len(devices))
            specs.append(spec if loss is None else spec._replace(loss=loss))
    towers.finish()
    return specs


def _placing(where: str, home: str) -> Callable[[Any], str]:
    """Variables at home, everything else `where` the copy is; what an operation asks for wins."""

    def place(op: Any) -> str:
        chosen = DeviceSpec.from_string(home if op.type in _VARIABLES else where)
        return chosen.make_merged_spec(DeviceSpec.from_string(op.device)).to_string()

    return place


# ---- one spec of all --------------------------------------------------------------------------


def _loss(specs: list[EstimatorSpec], home: str) -> Any:
    return summed([spec.loss for spec in specs], home, "loss")


def _training(specs: list[EstimatorSpec], home: str) -> EstimatorSpec:
    """That of the last copy, which applied the gradients; hooks may ask for that."""
    return specs[-1]._replace(loss=_loss(specs, home))


def _evaluation(specs: list[EstimatorSpec], home: str) -> EstimatorSpec:
    loss = _loss(specs, home)
    updates = [update for spec in specs for _, update in spec.eval_metric_ops.values()]
    with control_dependencies(updates):
        update = _metrics_of_first(len(specs))
    metrics = {name: (value, update) for name, (value, _) in specs[0].eval_metric_ops.items()}
    return specs[0]._replace(loss=loss, eval_metric_ops=metrics)


def _metrics_of_first(count: int) -> Any:
    """Moves what the metrics of all copies have counted to those of the first."""
    variables = get_collection(GraphKeys.METRIC_VARIABLES)
    each = len(variables) // count
    if each * count != len(variables):
        raise ValueError(
            "Different `EstimatorSpec.eval_metric_ops` across `model_fn()` calls. Expected "
            f"{each * count} local variables, but got {len(variables)} instead."
        )
    done = []
    for i, first in enumerate(variables[:each]):
        others = variables[each + i :: each]
        with control_dependencies([assign_add(first, math.add_n(others))]):
            done += [assign(other, zeros_like(other)) for other in others]
    return group(*done)


def _prediction(specs: list[EstimatorSpec], home: str) -> EstimatorSpec:
    with device(home):
        predictions = _concatenated([spec.predictions for spec in specs])
        outputs = {
            name: _output([spec.export_outputs[name] for spec in specs])
            for name in specs[0].export_outputs or ()
        }
    return specs[0]._replace(predictions=predictions, export_outputs=outputs)


def _concatenated(dicts: list[dict[str, Any]]) -> dict[str, Any]:
    return {name: concat([each[name] for each in dicts], 0, name=name) for name in dicts[0]}


def _output(outputs: list[Any]) -> Any:
    """One output of an export, from those of all copies."""
    first = outputs[0]
    if isinstance(first, PredictOutput):
        return PredictOutput(_concatenated([each.outputs for each in outputs]))
    if isinstance(first, RegressionOutput):
        return RegressionOutput(concat([each.value for each in outputs], 0))
    scores, classes = ([getattr(each, n) for each in outputs] for n in ("scores", "classes"))
    return ClassificationOutput(
        scores=None if first.scores is None else concat(scores, 0),
        # Stacked and not joined, as TensorFlow has it: every copy names the same classes.
        classes=None if first.classes is None else stack(classes, axis=0),
    )


_JOIN = {ModeKeys.TRAIN: _training, ModeKeys.EVAL: _evaluation, ModeKeys.PREDICT: _prediction}
