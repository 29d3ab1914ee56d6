"""From a loss to a training operation, and a loop that runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    GraphKeys,
    control_dependencies,
    get_collection,
    get_collection_ref,
    name_scope,
)
from weft.graph.slices import IndexedSlices
from weft.lib.platform import tf_logging
from weft.lib.summary import summary
from weft.lib.train.optimizers.loss_scale_optimizer import scaled_gradient
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.ops.array import placeholders as array_pass
from weft.ops.control import control
from weft.ops.math import clip
from weft.ops.state import global_step as training_util
from weft.ops.state.variables import trainable_variables

Pairs = list[tuple[Any, Any]]

# Stands for "the graph's global step" where None means "no global step".
USE_GLOBAL_STEP = 0


def add_gradients_summaries(grads_and_vars: Pairs, separator: str = "_") -> list[Any]:
    """A histogram and the norm of every gradient."""
    made = []
    for grad, var in grads_and_vars:
        if grad is None:
            tf_logging.info(f"Var {var.op.name} has no gradient")
            continue
        values = grad.values if isinstance(grad, IndexedSlices) else grad
        base = f"{var.op.name}{separator}gradient"
        made.append(summary.histogram(base, values))
        made.append(summary.scalar(f"{base}_norm", clip.global_norm([values])))
    return made


def clip_gradient_norms(gradients_to_variables: Pairs, max_norm: Any) -> Pairs:
    """Every gradient by itself, no longer than `max_norm`."""
    return [
        (None if g is None else clip.clip_by_norm(g, max_norm), var)
        for g, var in gradients_to_variables
    ]


def clip_gradient_norms_fn(max_norm: Any) -> Callable[[Pairs], Pairs]:
    """A function that clips the norm of each gradient, for `create_train_op`."""
    return lambda pairs: clip_gradient_norms(pairs, max_norm)


def multiply_gradients(grads_and_vars: Pairs, gradient_multipliers: dict[Any, Any]) -> Pairs:
    """Gradients times what is given for their variable or its name."""
    for fine, rule in (
        (isinstance(grads_and_vars, list), "`grads_and_vars` must be a list."),
        (gradient_multipliers, "`gradient_multipliers` is empty."),
        (isinstance(gradient_multipliers, dict), "`gradient_multipliers` must be a dict."),
    ):
        if not fine:
            raise ValueError(rule)
    return [(_multiplied(grad, var, gradient_multipliers), var) for grad, var in grads_and_vars]


def _multiplied(grad: Any, var: Any, multipliers: dict[Any, Any]) -> Any:
    factors = [factor for key, factor in multipliers.items() if key is var or key == var.op.name]
    if not factors:
        return grad
    if grad is None:
        raise ValueError("Requested multiple of `None` gradient.")
    return scaled_gradient(grad, convert_to_tensor(factors[0], dtype=grad.dtype))


def create_train_op(
    total_loss: Any,
    optimizer: Any,
    global_step: Any = USE_GLOBAL_STEP,
    update_ops: Any = None,
    variables_to_train: Any = None,
    transform_grads_fn: Callable[[Pairs], Pairs] | None = None,
    summarize_gradients: bool | Callable[[Pairs], Any] = False,
    gate_gradients: int = Optimizer.GATE_OP,
    aggregation_method: Any = None,
    colocate_gradients_with_ops: bool = False,
    check_numerics: bool = True,
) -> Any:
    """An op that runs the updates, one step of the optimizer, and returns the loss."""
    if global_step is USE_GLOBAL_STEP:
        global_step = training_util.get_or_create_global_step()
    total_loss = _after_updates(total_loss, update_ops)
    if variables_to_train is None:
        variables_to_train = trainable_variables()
    assert variables_to_train
    pairs = optimizer.compute_gradients(
        total_loss,
        variables_to_train,
        gate_gradients=gate_gradients,
        aggregation_method=aggregation_method,
        colocate_gradients_with_ops=colocate_gradients_with_ops,
    )
    if transform_grads_fn:
        pairs = transform_grads_fn(pairs)
    if summarize_gradients:
        with name_scope("summarize_grads"):
            (summarize_gradients if callable(summarize_gradients) else add_gradients_summaries)(
                pairs
            )
    applied = optimizer.apply_gradients(pairs, global_step=global_step)
    with name_scope("train_op"):
        if check_numerics:
            total_loss = array_pass.check_numerics(total_loss, "LossTensor is inf or nan")
        train_op = control.with_dependencies([applied], total_loss)
    collected = get_collection_ref(GraphKeys.TRAIN_OP)
    if not any(train_op is known for known in collected):
        collected.append(train_op)
    return train_op


def _after_updates(loss: Any, update_ops: Any) -> Any:
    """`loss`, computed after the updates (those in UPDATE_OPS, unless others are given)."""
    known = get_collection(GraphKeys.UPDATE_OPS)
    chosen = known if update_ops is None else list(update_ops)
    if any(all(op is not other for other in chosen) for op in known):
        tf_logging.warning(
            "update_ops in create_train_op does not contain all the update_ops in "
            "GraphKeys.UPDATE_OPS"
        )
    if not chosen:
        return loss
    with control_dependencies(list(dict.fromkeys(chosen))):
        barrier = control.no_op(name="update_barrier")
    return control.with_dependencies([barrier], loss)


def train(
    train_op: Any,
    logdir: str | None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: Any = 600,
    save_summaries_steps: Any = 100,
    config: Any = None,
    max_wait_secs: int = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs `train_op` in a monitored session until a hook stops it; the last loss."""
    from weft.lib.train.sessions.monitored_session import MonitoredTrainingSession

    saved = {
        "save_summaries_steps": save_summaries_steps,
        "save_checkpoint_secs": save_checkpoint_secs,
    }
    for name, how_often in saved.items():
        if how_often and is_chief and logdir is None:
            raise ValueError(f"logdir cannot be None when {name} is not None")
    session = MonitoredTrainingSession(
        master=master,
        is_chief=is_chief,
        checkpoint_dir=logdir,
        scaffold=scaffold,
        hooks=hooks,
        chief_only_hooks=chief_only_hooks,
        config=config,
        max_wait_secs=max_wait_secs,
        **saved,
    )
    loss = None
    with session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
