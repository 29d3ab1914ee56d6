"""tf.contrib.gan.losses: the losses of `wargs`, of a model."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.graph.tensor import Tensor
from weft.lib.contrib.gan import tuples
from weft.lib.contrib.gan import wargs as wargs


def _of_model(loss: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A loss whose arguments are fields of a model where it has them."""
    parameters = inspect.signature(loss).parameters
    label: str = loss.__name__

    def of_model(gan_model: Any, **kwargs: Any) -> Tensor:
        twice = set(gan_model._fields) & set(kwargs)
        given = {name: getattr(gan_model, name) for name in gan_model._fields if name in parameters}
        for name, parameter in parameters.items():
            needed = parameter.default is inspect.Parameter.empty
            if needed and name not in given and name not in kwargs:
                raise ValueError(f"`{name}` must be supplied to {label} loss function.")
        if twice:
            raise ValueError(
                "The following args are present in both the tuple and keyword args "
                f"for {label}: {twice}"
            )
        chosen = {name: value for name, value in kwargs.items() if value is not None}
        return loss(**given | chosen)

    of_model.__name__, of_model.__doc__ = label, f"`wargs.{label}` of the tensors of a model."
    return of_model


acgan_discriminator_loss = _of_model(wargs.acgan_discriminator_loss)
acgan_generator_loss = _of_model(wargs.acgan_generator_loss)
least_squares_discriminator_loss = _of_model(wargs.least_squares_discriminator_loss)
least_squares_generator_loss = _of_model(wargs.least_squares_generator_loss)
minimax_discriminator_loss = _of_model(wargs.minimax_discriminator_loss)
minimax_generator_loss = _of_model(wargs.minimax_generator_loss)
modified_discriminator_loss = _of_model(wargs.modified_discriminator_loss)
modified_generator_loss = _of_model(wargs.modified_generator_loss)
mutual_information_penalty = _of_model(wargs.mutual_information_penalty)
wasserstein_discriminator_loss = _of_model(wargs.wasserstein_discriminator_loss)
wasserstein_generator_loss = _of_model(wargs.wasserstein_generator_loss)
wasserstein_gradient_penalty = _of_model(wargs.wasserstein_gradient_penalty)


def combine_adversarial_loss(
    gan_loss: tuples.GANLoss,
    gan_model: Any,
    non_adversarial_loss: Tensor,
    weight_factor: Any = None,
    gradient_ratio: Any = None,
    gradient_ratio_epsilon: float = 1e-6,
    scalar_summaries: bool = True,
    gradient_summaries: bool = True,
) -> tuples.GANLoss:
    """The losses of a model, with another loss joined to the generator's."""
    joined = wargs.combine_adversarial_loss(
        main_loss=non_adversarial_loss,
        adversarial_loss=gan_loss.generator_loss,
        variables=gan_model.generator_variables,
        weight_factor=weight_factor,
        gradient_ratio=gradient_ratio,
        gradient_ratio_epsilon=gradient_ratio_epsilon,
        scalar_summaries=scalar_summaries,
        gradient_summaries=gradient_summaries,
    )
    return gan_loss._replace(generator_loss=joined)


def cycle_consistency_loss(
    cyclegan_model: Any, scope: str | None = None, add_summaries: bool = False
) -> Tensor:
    """How far the data of both models is from what it was, after there and back."""
    model = cyclegan_model
    if not isinstance(model, tuples.CycleGANModel):
        raise ValueError(f"`cyclegan_model` must be a `CycleGANModel`. Instead, was {type(model)}.")
    x = model.model_x2y.generator_inputs, model.reconstructed_x
    y = model.model_y2x.generator_inputs, model.reconstructed_y
    return wargs.cycle_consistency_loss(*x, *y, scope=scope, add_summaries=add_summaries)


def _of_star(
    choose: Callable[[Any], dict[str, Any] | list[Any]],
) -> Callable[[Callable[..., Tensor]], Callable[..., Tensor]]:
    """A wrapper of losses, that takes their arguments out of a `StarGANModel`."""

    def wrapper(loss_fn: Callable[..., Tensor]) -> Callable[..., Tensor]:
        """A loss that takes a `StarGANModel`, made of one that takes parts of such a model."""

        @functools.wraps(loss_fn)
        def of_model(stargan_model: Any, **kwargs: Any) -> Tensor:
            found = choose(stargan_model)
            if isinstance(found, dict):
                return loss_fn(**found, **kwargs)
            return loss_fn(*found, **kwargs)

        return of_model

    return wrapper


def _penalty_arguments(model: Any) -> dict[str, Any]:
    return {
        "real_data": model.input_data,
        "generated_data": model.generated_data,
        "generator_inputs": model.input_data_domain_label.shape.as_list()[-1],
        "discriminator_fn": model.discriminator_fn,
        "discriminator_scope": model.discriminator_scope,
    }


stargan_generator_loss_wrapper = _of_star(
    lambda model: [model.discriminator_generated_data_source_predication]
)
stargan_discriminator_loss_wrapper = _of_star(
    lambda model: [
        model.discriminator_input_data_source_predication,
        model.discriminator_generated_data_source_predication,
    ]
)
stargan_gradient_penalty_wrapper = _of_star(_penalty_arguments)
