"""Summaries of models: pictures, variables and regularization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib.gan.eval.eval_utils import image_grid, image_reshaper
from weft.lib.contrib.gan.tuples import CycleGANModel
from weft.lib.summary import summary
from weft.ops.array import array
from weft.ops.array.fill import zeros_like
from weft.ops.array.one_hot_search import one_hot
from weft.ops.functions.functional import map_fn
from weft.ops.math import math
from weft.ops.scores.losses import get_regularization_loss
from weft.ops.state.variable_scope import variable_scope

__all__ = (
    "add_cyclegan_image_summaries",
    "add_gan_model_image_summaries",
    "add_gan_model_summaries",
    "add_image_comparison_summaries",
    "add_regularization_loss_summaries",
    "add_stargan_image_summaries",
)


def _check_images(*batches: Tensor) -> None:
    for each in batches:
        each.shape.assert_has_rank(4)
        each.shape[1:].assert_is_fully_defined()


def _of_both(model: Any, kind: str, add: Callable[[Any], None]) -> bool:
    """Whether the model is a cycle; then summaries of both its models are added."""
    if not isinstance(model, CycleGANModel):
        return False
    for way, each in (("x2y", model.model_x2y), ("y2x", model.model_y2x)):
        with name_scope(f"cyclegan_{way}_{kind}"):
            add(each)
    return True


# ---- pictures ----------------------------------------------------------------------------------


def add_gan_model_image_summaries(
    gan_model: Any, grid_size: int = 4, model_summaries: bool = True
) -> None:
    """Adds grids of real and of generated images, and the model's variables if wanted."""
    if isinstance(gan_model, CycleGANModel):
        raise ValueError(
            "`add_gan_model_image_summaries` does not take CycleGANModels. Please use "
            "`add_cyclegan_image_summaries` instead."
        )
    _check_images(gan_model.real_data, gan_model.generated_data)
    for name in ("real_data", "generated_data"):
        images = getattr(gan_model, name)
        height, width, channels = images.shape.as_list()[1:]
        some = images[: grid_size**2]
        grid = image_grid(some, (grid_size, grid_size), [height, width], channels)
        summary.image(name, grid, max_outputs=1)
    if model_summaries:
        add_gan_model_summaries(gan_model)


def add_cyclegan_image_summaries(cyclegan_model: Any) -> None:
    """Adds, for both ways, an image beside what it became and what came back of it."""
    if not isinstance(cyclegan_model, CycleGANModel):
        raise ValueError(
            f"`cyclegan_model` was not a CycleGANModel. Instead, was {type(cyclegan_model)}"
        )
    ways = {
        "x2y": (cyclegan_model.model_x2y, cyclegan_model.reconstructed_x),
        "y2x": (cyclegan_model.model_y2x, cyclegan_model.reconstructed_y),
    }
    stages = {
        way: (model.generator_inputs, model.generated_data, back)
        for way, (model, back) in ways.items()
    }
    for batches in stages.values():
        _check_images(*batches)
    for way, batches in stages.items():
        with name_scope(f"{way}_image_comparison_summaries"):
            _add_comparison(batches, 1, len(batches))


def add_image_comparison_summaries(
    gan_model: Any, num_comparisons: int = 2, display_diffs: bool = False
) -> None:
    """Adds inputs, generated and real images, in a row each, and their differences if wanted."""
    batches = (gan_model.generator_inputs, gan_model.generated_data, gan_model.real_data)
    _check_images(*batches)
    inputs, generated, real = batches
    generated.shape.assert_is_compatible_with(inputs.shape)
    real.shape.assert_is_compatible_with(generated.shape)
    more = []
    if display_diffs:
        pairs = (array.unstack(each[:num_comparisons]) for each in (generated, real))
        more = [_difference(*pair) for pair in zip(*pairs, strict=True)]
    _add_comparison(batches, num_comparisons, num_comparisons, more)


def _difference(one: Tensor, other: Tensor) -> Tensor:
    return math.abs(math.cast(one, dtypes.float32) - math.cast(other, dtypes.float32))


def _add_comparison(
    batches: Any, count: int, columns: int, more: list[Tensor] | None = None
) -> None:
    images = [image for batch in batches for image in array.unstack(batch[:count])]
    picture = image_reshaper([*images, *(more or [])], num_cols=columns)
    summary.image("image_comparison", picture, max_outputs=1)


def add_stargan_image_summaries(
    stargan_model: Any, num_images: int = 2, display_diffs: bool = False
) -> None:
    """Adds images beside what they become in each domain, and how that differs if wanted."""
    _check_images(stargan_model.input_data)
    labels = stargan_model.input_data_domain_label
    labels.shape.assert_has_rank(2)
    labels.shape[1:].assert_is_fully_defined()
    domains = labels.shape.as_list()[-1]

    def apart(images: Tensor) -> list[Tensor]:
        return [array.squeeze(each, axis=0) for each in array.split(images, domains)]

    def picture(image: Tensor) -> Tensor:
        images = array.tile(array.expand_dims(image, axis=0), [domains, 1, 1, 1])
        targets = one_hot(list(range(domains)), domains)
        with variable_scope(stargan_model.generator_scope, reuse=True):
            made = stargan_model.generator_fn(images, targets)
            shown = [image, *apart(made)]
            if display_diffs:
                shown += [zeros_like(image), *apart(made - images)]
            return array.squeeze(image_reshaper(shown, num_cols=domains + 1), axis=0)

    pictures = map_fn(
        picture,
        stargan_model.input_data[:num_images],
        parallel_iterations=num_images,
        back_prop=False,
        swap_memory=True,
    )
    summary.image("stargan_image_generation", pictures, max_outputs=num_images)


# ---- variables and losses ----------------------------------------------------------------------


def add_gan_model_summaries(gan_model: Any) -> None:
    """Adds histograms of the variables of both networks."""
    if _of_both(gan_model, "summaries", add_gan_model_summaries):
        return
    for network in ("generator", "discriminator"):
        with name_scope(f"{network}_variables"):
            for variable in getattr(gan_model, f"{network}_variables"):
                summary.histogram(variable.name, variable)


def add_regularization_loss_summaries(gan_model: Any) -> None:
    """Adds the regularization losses of both networks."""
    kind = "regularization_loss_summaries"
    if _of_both(gan_model, kind, add_regularization_loss_summaries):
        return
    for network in ("generator", "discriminator"):
        scope = getattr(gan_model, f"{network}_scope")
        if scope:
            loss = get_regularization_loss(scope.name)
            summary.scalar(f"{network}_regularization_loss", loss)
