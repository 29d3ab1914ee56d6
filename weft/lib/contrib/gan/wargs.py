"""tf.contrib.gan.losses.wargs: the losses of both sides of the game, from tensors.

A loss is written as a function of a `_Way` and its own arguments; `_loss` gives it a scope, a
place in a collection, a reduction and summaries.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.autodiff.gradients import gradients
from weft.core import dtypes
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.lib.contrib.framework.variables import get_trainable_variables
from weft.lib.summary import summary
from weft.ops.array import array
from weft.ops.math import casts, math, reduce
from weft.ops.math.clip import global_norm
from weft.ops.random.random import random_uniform
from weft.ops.scores import losses
from weft.ops.state.variable_scope import AUTO_REUSE, variable_scope

__all__ = [
    "acgan_discriminator_loss",
    "acgan_generator_loss",
    "combine_adversarial_loss",
    "cycle_consistency_loss",
    "least_squares_discriminator_loss",
    "least_squares_generator_loss",
    "minimax_discriminator_loss",
    "minimax_generator_loss",
    "modified_discriminator_loss",
    "modified_generator_loss",
    "mutual_information_penalty",
    "wasserstein_discriminator_loss",
    "wasserstein_generator_loss",
    "wasserstein_gradient_penalty",
]


@dataclass(frozen=True)
class _Way:
    """The scope of a loss, and how the losses of a batch become one."""

    scope: str
    reduction: str
    collection: str | None

    def weighted(self, values: Any, weights: Any, *, listed: bool = False) -> Tensor:
        """The losses of a batch as one, in the collection if they are all there is."""
        kept = self.collection if listed else None
        return losses.compute_weighted_loss(values, weights, self.scope, kept, self.reduction)

    def crossed(self, cross_entropy: Callable[..., Tensor], *args: Any, **settings: Any) -> Tensor:
        """A cross entropy of `tf.losses`, in no collection unless one is given."""
        chosen = {"loss_collection": None, "reduction": self.reduction, "scope": self.scope}
        return cross_entropy(*args, **chosen | settings)


_COMMON = (
    ("scope", None),
    ("loss_collection", GraphKeys.LOSSES),
    ("reduction", losses.Reduction.SUM_BY_NONZERO_WEIGHTS),
    ("add_summaries", False),
)


def _loss(place: str, *tags: str) -> Callable[[Callable[..., Any]], Callable[..., Tensor]]:
    """A function of a `_Way` as a loss; it returns the values that `tags` name, the loss last."""

    def decorate(rule: Callable[..., Any]) -> Callable[..., Tensor]:
        own = list(inspect.signature(rule).parameters.values())[1:]
        shared = [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=value)
            for name, value in _COMMON
        ]
        signature = inspect.Signature([*own, *shared])

        @functools.wraps(rule)
        def loss(*args: Any, **kwargs: Any) -> Tensor:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            scope, collection, reduction, shown = (bound.arguments.pop(name) for name, _ in _COMMON)
            with name_scope(scope, place, list(bound.arguments.values())) as inner:
                found = rule(_Way(inner, reduction, collection), **bound.arguments)
                values = found if isinstance(found, tuple) else (found,)
                for tag, value in zip(tags, values, strict=True) if shown else ():
                    summary.scalar(tag, value)
            return values[-1]

        loss.__signature__ = signature  # type: ignore[attr-defined]
        return loss

    return decorate


def _sides(kind: str) -> list[str]:
    return [f"discriminator_{part}{kind}_loss" for part in ("gen_", "real_", "")]


def _alike(*outputs: Any) -> list[Tensor]:
    """Outputs as floats of one shape."""
    first, second = (casts.cast(each, dtypes.float32) for each in map(convert_to_tensor, outputs))
    first.shape.assert_is_compatible_with(second.shape)
    return [first, second]


# ---- Wasserstein ---------------------------------------------------------------------------------


@_loss("generator_wasserstein_loss", "generator_wass_loss")
def wasserstein_generator_loss(
    way: _Way, discriminator_gen_outputs: Any, weights: Any = 1.0
) -> Tensor:
    """Minus the mark that generated data gets."""
    marks = casts.cast(convert_to_tensor(discriminator_gen_outputs), dtypes.float32)
    return way.weighted(-marks, weights, listed=True)


@_loss("discriminator_wasserstein_loss", *_sides("wass"))
def wasserstein_discriminator_loss(
    way: _Way,
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
) -> tuple[Tensor, ...]:
    """The mark of generated data less that of real data."""
    real, generated = _alike(discriminator_real_outputs, discriminator_gen_outputs)
    parts = way.weighted(generated, generated_weights), way.weighted(real, real_weights)
    return _told(way, *parts, parts[0] - parts[1])


def _told(way: _Way, generated: Tensor, real: Tensor, loss: Tensor) -> tuple[Tensor, ...]:
    losses.add_loss(loss, way.collection)
    return generated, real, loss


@_loss("wasserstein_gradient_penalty", "gradient_penalty_loss")
def wasserstein_gradient_penalty(
    way: _Way,
    real_data: Any,
    generated_data: Any,
    generator_inputs: Any,
    discriminator_fn: Callable[..., Any],
    discriminator_scope: Any,
    epsilon: float = 1e-10,
    target: Any = 1.0,
    one_sided: bool = False,
    weights: Any = 1.0,
) -> Tensor:
    """The distance from `target` of the slopes between real and generated data, squared."""
    real, generated = convert_to_tensor(real_data), convert_to_tensor(generated_data)
    for name, data in (("real_data", real), ("generated_data", generated)):
        if data.shape.ndims is None:
            raise ValueError(f"`{name}` can't have unknown rank.")
    way_between: Any = generated - real
    count = way_between.dims[0] or array.shape(way_between)[0]
    share = random_uniform([count] + [1] * (len(way_between.dims) - 1))
    points = real + share * way_between
    # In no scope of names, so that updates of the discriminator are listed under its own.
    with (
        name_scope(None),
        variable_scope(discriminator_scope, "gpenalty_dscope", reuse=AUTO_REUSE),
    ):
        marks = discriminator_fn(points, generator_inputs)
    slopes: Any = gradients(marks[0] if isinstance(marks, tuple) else marks, points)[0]
    squares = reduce.reduce_sum(math.square(slopes), axis=list(range(1, slopes.shape.ndims)))
    if isinstance(count, int):
        squares.set_shape([count, *squares.shape.as_list()[1:]])
    excess = math.sqrt(squares + epsilon) / target - 1.0
    excess = math.maximum(0.0, excess) if one_sided else excess
    return way.weighted(math.square(excess), weights, listed=True)


# ---- classes -------------------------------------------------------------------------------------


@_loss("acgan_discriminator_loss", *_sides("ac"))
def acgan_discriminator_loss(
    way: _Way,
    discriminator_real_classification_logits: Any,
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    label_smoothing: float = 0.0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
) -> tuple[Tensor, ...]:
    """How wrong the classes of generated and of real data are told."""
    softmax = functools.partial(way.crossed, losses.softmax_cross_entropy, one_hot_labels)
    generated = softmax(discriminator_gen_classification_logits, weights=generated_weights)
    real = softmax(
        discriminator_real_classification_logits,
        weights=real_weights,
        label_smoothing=label_smoothing,
    )
    return _told(way, generated, real, generated + real)


@_loss("acgan_generator_loss", "generator_ac_loss")
def acgan_generator_loss(
    way: _Way,
    discriminator_gen_classification_logits: Any,
    one_hot_labels: Any,
    weights: Any = 1.0,
) -> Tensor:
    """How wrong the classes of generated data are told."""
    logits, kept = discriminator_gen_classification_logits, way.collection
    softmax = losses.softmax_cross_entropy
    return way.crossed(softmax, one_hot_labels, logits, weights=weights, loss_collection=kept)


# ---- the game as it was first told ---------------------------------------------------------------


def _minimax(
    way: _Way, real: Any, generated: Any, smoothing: Any, real_weights: Any, generated_weights: Any
) -> tuple[Tensor, ...]:
    sigmoid = functools.partial(way.crossed, losses.sigmoid_cross_entropy)
    on_real = sigmoid(array.ones_like(real), real, real_weights, smoothing)
    on_generated = sigmoid(array.zeros_like(generated), generated, generated_weights)
    return _told(way, on_generated, on_real, on_real + on_generated)


def _minimax_loss(place: str, doc: str) -> Callable[..., Tensor]:
    def rule(
        way: _Way,
        discriminator_real_outputs: Any,
        discriminator_gen_outputs: Any,
        label_smoothing: float = 0.25,
        real_weights: Any = 1.0,
        generated_weights: Any = 1.0,
    ) -> tuple[Tensor, ...]:
        real, generated = discriminator_real_outputs, discriminator_gen_outputs
        return _minimax(way, real, generated, label_smoothing, real_weights, generated_weights)

    rule.__doc__ = doc
    return _loss(place, *_sides("minimax"))(rule)


minimax_discriminator_loss = _minimax_loss(
    "discriminator_minimax_loss", "How wrong real and generated data are told apart."
)
modified_discriminator_loss = _minimax_loss(
    "discriminator_modified_loss", "`minimax_discriminator_loss` under another name."
)
minimax_discriminator_loss.__name__ = "minimax_discriminator_loss"
modified_discriminator_loss.__name__ = "modified_discriminator_loss"


@_loss("generator_minimax_loss", "generator_minimax_loss")
def minimax_generator_loss(
    way: _Way, discriminator_gen_outputs: Any, label_smoothing: float = 0.0, weights: Any = 1.0
) -> Tensor:
    """Minus the loss of the discriminator."""
    marks = discriminator_gen_outputs
    return -_minimax(way, array.ones_like(marks), marks, label_smoothing, weights, weights)[-1]


@_loss("generator_modified_loss", "generator_modified_loss")
def modified_generator_loss(
    way: _Way, discriminator_gen_outputs: Any, label_smoothing: float = 0.0, weights: Any = 1.0
) -> Tensor:
    """How far generated data is from being taken for real; steep where the game is lost."""
    marks, kept = discriminator_gen_outputs, way.collection
    settings = {"label_smoothing": label_smoothing, "loss_collection": kept}
    sigmoid = losses.sigmoid_cross_entropy
    return way.crossed(sigmoid, array.ones_like(marks), marks, weights, **settings)


# ---- least squares -------------------------------------------------------------------------------


@_loss("lsq_generator_loss", "generator_lsq_loss")
def least_squares_generator_loss(
    way: _Way, discriminator_gen_outputs: Any, real_label: Any = 1, weights: Any = 1.0
) -> Tensor:
    """Half the squared distance of generated data's marks from those of real data."""
    marks = casts.cast(convert_to_tensor(discriminator_gen_outputs), dtypes.float32)
    return way.weighted(math.squared_difference(marks, real_label) / 2.0, weights, listed=True)


@_loss("lsq_discriminator_loss", *_sides("lsq"))
def least_squares_discriminator_loss(
    way: _Way,
    discriminator_real_outputs: Any,
    discriminator_gen_outputs: Any,
    real_label: Any = 1,
    fake_label: Any = 0,
    real_weights: Any = 1.0,
    generated_weights: Any = 1.0,
) -> tuple[Tensor, ...]:
    """Half the squared distances of all marks from those that are due."""
    real, generated = (
        math.squared_difference(marks, due) / 2.0
        for marks, due in zip(
            _alike(discriminator_real_outputs, discriminator_gen_outputs),
            (real_label, fake_label),
            strict=True,
        )
    )
    on_real = way.weighted(real, real_weights)
    on_generated = way.weighted(generated, generated_weights)
    return _told(way, on_generated, on_real, on_real + on_generated)


# ---- others --------------------------------------------------------------------------------------


def _check_distributions(found: Any, wanted: int) -> None:
    if not isinstance(found, list | tuple):
        raise ValueError(f"`distributions` must be a list or tuple. Instead, found {type(found)}.")
    for each in found:
        if not callable(getattr(each, "log_prob", None)):
            raise ValueError(
                f"`distributions` must be a list of `Distributions`. Instead, found {type(each)}."
            )
    if wanted != len(found):
        raise ValueError(
            f"`structured_generator_inputs` length {wanted} must be the same as "
            f"`predicted_distributions` length {len(found)}."
        )


@_loss("mutual_information_loss", "mutual_information_penalty")
def mutual_information_penalty(
    way: _Way,
    structured_generator_inputs: Any,
    predicted_distributions: Any,
    weights: Any = 1.0,
) -> Tensor:
    """How little the discriminator knows of the noise that data was made from."""
    _check_distributions(predicted_distributions, len(structured_generator_inputs))
    told = [
        reduce.reduce_mean(distribution.log_prob(noise))
        for noise, distribution in zip(
            structured_generator_inputs, predicted_distributions, strict=True
        )
    ]
    return -1 * way.weighted(told, weights, listed=True)


def _size(slopes: list[Any]) -> Any:
    """The norm of all slopes together, divided by the largest first, for it may overflow."""
    there = [slope for slope in slopes if slope is not None]
    if not there:
        return 0.0
    largest = reduce.reduce_max([reduce.reduce_max(math.abs(slope)) for slope in there])
    return largest * global_norm([slope / largest for slope in there])


def combine_adversarial_loss(
    main_loss: Any,
    adversarial_loss: Any,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    variables: Any = None,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
    scope: str | None = None,
) -> Tensor:
    """The main loss and a share of the other: a fixed one, or by the sizes of their gradients."""
    both = {"main_loss": main_loss, "adversarial_loss": adversarial_loss}
    for loss in both.values():
        loss.shape.assert_is_compatible_with([])
    if (weight_factor is None) == (gradient_ratio is None):
        given = "specified." if gradient_ratio is not None else "`None.`"
        raise ValueError(f"`weight_factor` and `gradient_ratio` cannot both be {given}")
    variables = get_trainable_variables() if variables is None else variables
    with name_scope(scope, "adversarial_loss", values=list(both.values())):
        sizes: dict[str, Any] = {}
        if gradient_summaries or gradient_ratio is not None:
            sizes = {name: _size(gradients(loss, variables)) for name, loss in both.items()}
        for name, loss in both.items() if scalar_summaries else ():
            summary.scalar(name, loss)
        for name, size in sizes.items() if gradient_summaries else ():
            summary.scalar(f"{name}_gradients", size)
        share = gradient_ratio if weight_factor is None else weight_factor
        if constant_value(convert_to_tensor(share)) == 0:
            return main_loss
        if weight_factor is None:
            main, other = sizes.values()
            share = main / (other + gradient_ratio_epsilon) / gradient_ratio
            summary.scalar("adversarial_coefficient", share)
        return main_loss + array.stop_gradient(share) * adversarial_loss


def cycle_consistency_loss(
    data_x: Any,
    reconstructed_data_x: Any,
    data_y: Any,
    reconstructed_data_y: Any,
    scope: str | None = None,
    add_summaries: bool = False,
) -> Tensor:
    """How far data is from what it was, after there and back."""
    pairs = {"_x2x": (data_x, reconstructed_data_x), "_y2y": (data_y, reconstructed_data_y)}
    with name_scope(
        scope, "cycle_consistency_loss", [each for two in pairs.values() for each in two]
    ):
        found: dict[str, Any] = {
            suffix: losses.absolute_difference(*pair) for suffix, pair in pairs.items()
        }
        found[""] = (found["_x2x"] + found["_y2y"]) / 2.0
        for suffix, value in found.items() if add_summaries else ():
            summary.scalar(f"cycle_consistency_loss{suffix}", value)
    return found[""]
