"""Losses and training of the models of `tf.contrib.gan`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.graph import control_dependencies, get_collection, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.lib.contrib.gan import losses, tuples
from weft.lib.contrib.slim import learning
from weft.lib.contrib.training.train_op import create_train_op, train
from weft.lib.train.optimizers.sync_replicas import SyncReplicasOptimizer
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.array import array
from weft.ops.control.check import assert_greater_equal
from weft.ops.scores.losses import get_regularization_loss
from weft.ops.state.get_variable import get_variable
from weft.ops.state.global_step import get_or_create_global_step
from weft.ops.state.initializers import zeros_initializer
from weft.ops.state.variable_scope import variable_scope

ONE_EACH = tuples.GANTrainSteps(1, 1)


def _checked_weight(weight: Any, name: str) -> Any:
    """The weight of a further loss; one of a graph is checked there."""
    if isinstance(weight, Tensor):
        weight.shape.assert_is_compatible_with([])
        with control_dependencies([assert_greater_equal(weight, 0.0)]):
            return array.identity(weight)
    if weight is not None and weight < 0:
        raise ValueError(f"`{name}` must be greater than 0. Instead, was {weight}")
    return weight or None


def _pooled(model: Any, tensor_pool_fn: Callable[..., Any] | None) -> Any:
    """A model whose discriminator saw data of earlier steps as well."""
    if tensor_pool_fn is None:
        return model
    data = tensor_pool_fn((model.generated_data, model.generator_inputs))
    names = {
        tuples.GANModel: ["discriminator_gen_outputs"],
        tuples.ACGANModel: ["discriminator_gen_outputs", "discriminator_gen_classification_logits"],
        tuples.InfoGANModel: ["discriminator_gen_outputs", "predicted_distributions"],
    }.get(type(model))
    if names is None:
        raise ValueError(f"Tensor pool does not support `model`: {type(model)}.")
    judge = getattr(model, "discriminator_and_aux_fn", model.discriminator_fn)
    with variable_scope(model.discriminator_scope, reuse=True):
        marks = judge(*data)
    return model._replace(**dict(zip(names, marks if len(names) > 1 else [marks], strict=True)))


def gan_loss(
    model: Any,
    generator_loss_fn: Callable[..., Any] = losses.wasserstein_generator_loss,
    discriminator_loss_fn: Callable[..., Any] = losses.wasserstein_discriminator_loss,
    gradient_penalty_weight: Any = None,
    gradient_penalty_epsilon: float = 1e-10,
    gradient_penalty_target: Any = 1.0,
    gradient_penalty_one_sided: bool = False,
    mutual_information_penalty_weight: Any = None,
    aux_cond_generator_weight: Any = None,
    aux_cond_discriminator_weight: Any = None,
    tensor_pool_fn: Callable[..., Any] | None = None,
    add_summaries: bool = True,
) -> tuples.GANLoss:
    """The losses of both sides, with penalties and regularization."""
    penalty = _checked_weight(gradient_penalty_weight, "gradient_penalty_weight")
    information = _checked_weight(mutual_information_penalty_weight, "infogan_weight")
    classes = [
        _checked_weight(weight, f"aux_cond_{side}_weight")
        for side, weight in (
            ("generator", aux_cond_generator_weight),
            ("discriminator", aux_cond_discriminator_weight),
        )
    ]
    _check_kind(model, information, classes)
    shown = {"add_summaries": add_summaries}
    sides = [
        generator_loss_fn(model, **shown),
        discriminator_loss_fn(_pooled(model, tensor_pool_fn), **shown),
    ]
    if penalty is not None:
        settings = {
            "epsilon": gradient_penalty_epsilon,
            "target": gradient_penalty_target,
            "one_sided": gradient_penalty_one_sided,
        }
        sides[1] += penalty * losses.wasserstein_gradient_penalty(model, **settings, **shown)
    if information is not None:
        shared = losses.mutual_information_penalty(model, **shown)
        sides = [sides[0] + information * shared, sides[1] + information * shared]
    told = (losses.acgan_generator_loss, losses.acgan_discriminator_loss)
    for place, (weight, loss) in enumerate(zip(classes, told, strict=True)):
        if weight is not None:
            sides[place] += weight * loss(model, **shown)
    scopes = model.generator_scope, model.discriminator_scope
    regular = [get_regularization_loss(scope.name) if scope else 0 for scope in scopes]
    return tuples.GANLoss(*(side + more for side, more in zip(sides, regular, strict=True)))


def _check_kind(model: Any, information: Any, classes: list[Any]) -> None:
    if information is not None and not isinstance(model, tuples.InfoGANModel):
        raise ValueError(
            "When `mutual_information_penalty_weight` is provided, `model` must be an "
            f"`InfoGANModel`. Instead, was {type(model)}."
        )
    if any(weight is not None for weight in classes) and not isinstance(model, tuples.ACGANModel):
        raise ValueError(
            "When `aux_cond_generator_weight` or `aux_cond_discriminator_weight` is provided, "
            f"`model` must be an `ACGANModel`. Instead, was {type(model)}."
        )


def cyclegan_loss(
    model: tuples.CycleGANModel,
    generator_loss_fn: Callable[..., Any] = losses.least_squares_generator_loss,
    discriminator_loss_fn: Callable[..., Any] = losses.least_squares_discriminator_loss,
    cycle_consistency_loss_fn: Callable[..., Any] = losses.cycle_consistency_loss,
    cycle_consistency_loss_weight: Any = 10.0,
    **kwargs: Any,
) -> tuples.CycleGANLoss:
    """The losses of two models, the generators' with what is lost on the way there and back."""
    settings = {"add_summaries": kwargs.get("add_summaries", True)}
    lost = cycle_consistency_loss_fn(model, **settings)
    weight = _checked_weight(cycle_consistency_loss_weight, "cycle_consistency_loss_weight")
    weight = 0 if weight is None else weight
    found = []
    for part in (model.model_x2y, model.model_y2x):
        loss = gan_loss(part, generator_loss_fn, discriminator_loss_fn, **kwargs)
        found.append(loss._replace(generator_loss=loss.generator_loss + weight * lost))
    return tuples.CycleGANLoss(*found)


def _updates_of(
    update_ops: Any, scopes: tuple[str, str], check_for_unused_ops: bool
) -> list[list[Any]]:
    """The updates of the generator and of the discriminator, by their scopes."""
    wanted = get_collection(GraphKeys.UPDATE_OPS) if update_ops is None else list(update_ops)
    owned = [get_collection(GraphKeys.UPDATE_OPS, scope) for scope in scopes]
    unused = set(wanted) - {update for side in owned for update in side}
    if unused and check_for_unused_ops:
        raise ValueError(f"There are unused update ops: {unused}")
    return [[update for update in side if update in set(wanted)] for side in owned]


def gan_train_ops(
    model: Any,
    loss: Any,
    generator_optimizer: Any,
    discriminator_optimizer: Any,
    check_for_unused_update_ops: bool = True,
    is_chief: bool = True,
    **kwargs: Any,
) -> Any:
    """A step of each side, and one of the global step; `kwargs` go to `create_train_op`."""
    if isinstance(model, tuples.CycleGANModel):
        sides = zip((model.model_x2y, model.model_y2x), loss, strict=True)
        optimizers = generator_optimizer, discriminator_optimizer
        parts = [
            gan_train_ops(part, own, *optimizers, check_for_unused_update_ops=False, **kwargs)
            for part, own in sides
        ]
        steps = [[part.generator_train_op for part in parts]]
        steps += [[part.discriminator_train_op for part in parts]]
        return tuples.GANTrainOps(steps[0], steps[1], parts[0].global_step_inc_op)
    step = get_or_create_global_step()
    count = step.assign_add(1)
    scopes = model.generator_scope.name, model.discriminator_scope.name
    updates = _updates_of(kwargs.pop("update_ops", None), scopes, check_for_unused_update_ops)
    ops, hooks = [], []
    sides_of = zip(
        ("generator", "discriminator"),
        (generator_optimizer, discriminator_optimizer),
        updates,
        strict=True,
    )
    for side, optimizer, own in sides_of:
        place = _own_step(side, step) if isinstance(optimizer, SyncReplicasOptimizer) else None
        if place is not None:
            own = [*own, place.assign(step)]
            hooks.append(optimizer.make_session_run_hook(is_chief))
        with name_scope(f"{side}_train"):
            variables = getattr(model, f"{side}_variables")
            settings = {"variables_to_train": variables, "global_step": place, "update_ops": own}
            total = getattr(loss, f"{side}_loss")
            ops.append(create_train_op(total, optimizer, **settings, **kwargs))
    return tuples.GANTrainOps(ops[0], ops[1], count, hooks)


def _own_step(side: str, step: Any) -> Any:
    """A count that an optimizer of several replicas may keep for itself."""
    return get_variable(
        f"dummy_global_step_{side}",
        [],
        step.dtype.base_dtype,
        zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.GLOBAL_VARIABLES],
    )


class RunTrainOpsHook(SessionRunHook):
    """Runs operations a number of times before each step."""

    def __init__(self, train_ops: Any, train_steps: int) -> None:
        self._train_ops = train_ops if isinstance(train_ops, list | tuple) else [train_ops]
        self._train_steps = train_steps

    def before_run(self, run_context: Any) -> None:
        for _ in range(self._train_steps):
            run_context.session.run(self._train_ops)


def get_sequential_train_hooks(
    train_steps: tuples.GANTrainSteps = ONE_EACH,
) -> Callable[[Any], list[Any]]:
    """A function of `GANTrainOps` to hooks: all steps of the generator, then the others."""

    def hooks(train_ops: tuples.GANTrainOps) -> list[Any]:
        return [
            *map(RunTrainOpsHook, train_ops[:2], train_steps),
            *train_ops.train_hooks,
        ]

    return hooks


def get_joint_train_hooks(
    train_steps: tuples.GANTrainSteps = ONE_EACH,
) -> Callable[[Any], list[Any]]:
    """A function of `GANTrainOps` to hooks: both at once, then what is left of one of them."""
    both = min(train_steps)

    def hooks(train_ops: tuples.GANTrainOps) -> list[Any]:
        alone = map(RunTrainOpsHook, train_ops[:2], (count - both for count in train_steps))
        return [RunTrainOpsHook(list(train_ops[:2]), both), *alone, *train_ops.train_hooks]

    return hooks


def gan_train(
    train_ops: tuples.GANTrainOps,
    logdir: str,
    get_hooks_fn: Callable[[Any], list[Any]] | None = None,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: Any = 600,
    save_summaries_steps: Any = 100,
    config: Any = None,
) -> Any:
    """Trains both sides by `tf.contrib.training.train` until a hook stops it."""
    own = (get_hooks_fn or get_sequential_train_hooks())(train_ops)
    return train(
        train_ops.global_step_inc_op,
        logdir,
        hooks=[*(hooks or ()), *own],
        **{
            "master": master, "is_chief": is_chief, "scaffold": scaffold,
            "chief_only_hooks": chief_only_hooks, "save_checkpoint_secs": save_checkpoint_secs,
            "save_summaries_steps": save_summaries_steps, "config": config,
        },
    )  # fmt: skip


def get_sequential_train_steps(
    train_steps: tuples.GANTrainSteps = ONE_EACH,
) -> Callable[..., tuple[Any, Any]]:
    """A `train_step_fn` of `tf.contrib.slim.learning.train` for `GANTrainOps`."""

    def step(sess: Any, train_ops: Any, global_step: Any, train_step_kwargs: Any) -> Any:
        settings = dict(train_step_kwargs)
        # Asked at the end, when the global step is that of both sides.
        asked = settings.pop("should_stop", None)
        total: Any = 0
        for op, count in zip(train_ops[:2], train_steps, strict=True):
            for _ in range(count):
                total += learning.train_step(sess, op, global_step, settings)[0]
        sess.run(train_ops.global_step_inc_op)
        return total, False if asked is None else sess.run(asked)

    return step
