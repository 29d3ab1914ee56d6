"""Models of `tf.contrib.gan`: a generator and a discriminator, built together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.lib.contrib.framework.variables import get_trainable_variables
from weft.lib.contrib.gan import tuples
from weft.lib.distributions.base import Distribution
from weft.ops.state.variable_scope import variable_scope


def tensors(given: Any) -> Any:
    """A value, or the values of a list or dictionary, as tensors."""
    match given:
        case list() | tuple():
            return [convert_to_tensor(each) for each in given]
        case dict():
            return {name: convert_to_tensor(each) for name, each in given.items()}
    return convert_to_tensor(given)


class _Built:
    """The parts of a model, made by calling its functions in their scopes."""

    def __init__(self, generator_fn: Callable[..., Any], generator_scope: Any, noise: Any) -> None:
        with variable_scope(generator_scope) as self.generator_scope:
            self.inputs = noise()
            self.generated = generator_fn(self.inputs)
        self.generator_fn = generator_fn

    def judge(self, discriminator_fn: Any, scope: Any, real_data: Any, check: Any) -> None:
        """The marks of generated data, then of real data by the same variables."""
        with variable_scope(scope) as self.scope:
            self.generated_marks = check(discriminator_fn(self.generated, self.inputs))
        with variable_scope(self.scope, reuse=True):
            self.real = convert_to_tensor(real_data)
            self.real_marks = check(discriminator_fn(self.real, self.inputs))

    def check_shapes(self) -> None:
        """ValueError where generated data has not the shape of real data."""
        made, wanted = self.generated.shape, self.real.shape
        if not made.is_compatible_with(wanted):
            raise ValueError(
                f"Generator output shape ({made}) must be the same shape as real data ({wanted})."
            )

    def fields(self, discriminator_fn: Any, real_marks: Any, generated_marks: Any) -> list[Any]:
        """The fields that all models begin with."""
        return [
            self.inputs, self.generated, get_trainable_variables(self.generator_scope),
            self.generator_scope, self.generator_fn, self.real, real_marks, generated_marks,
            get_trainable_variables(self.scope), self.scope, discriminator_fn,
        ]  # fmt: skip


def gan_model(
    generator_fn: Callable[..., Any],
    discriminator_fn: Callable[..., Any],
    real_data: Any,
    generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> tuples.GANModel:
    """A model of a generator of data and a discriminator, which marks real and generated data."""
    built = _Built(generator_fn, generator_scope, lambda: tensors(generator_inputs))
    built.judge(discriminator_fn, discriminator_scope, real_data, lambda marks: marks)
    if check_shapes:
        built.check_shapes()
    return tuples.GANModel(*built.fields(discriminator_fn, built.real_marks, built.generated_marks))


def infogan_model(
    generator_fn: Callable[..., Any],
    discriminator_fn: Callable[..., Any],
    real_data: Any,
    unstructured_generator_inputs: Any,
    structured_generator_inputs: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
) -> tuples.InfoGANModel:
    """A model whose discriminator also returns distributions of the structured noise."""
    structured: list[Any] = []

    def noise() -> list[Any]:
        plain = tensors(unstructured_generator_inputs)
        structured.extend(tensors(structured_generator_inputs))
        return plain + structured

    def told(marks: Any) -> Any:
        _check_distributions(marks[1], structured)
        return marks

    built = _Built(generator_fn, generator_scope, noise)
    built.judge(discriminator_fn, discriminator_scope, real_data, told)
    built.check_shapes()
    marks, distributions = built.generated_marks

    def marks_alone(data: Any, inputs: Any) -> Any:
        return discriminator_fn(data, inputs)[0]

    common = built.fields(marks_alone, built.real_marks[0], marks)
    return tuples.InfoGANModel._make([*common, structured, distributions, discriminator_fn])


def acgan_model(
    generator_fn: Callable[..., Any],
    discriminator_fn: Callable[..., Any],
    real_data: Any,
    generator_inputs: Any,
    one_hot_labels: Any,
    generator_scope: Any = "Generator",
    discriminator_scope: Any = "Discriminator",
    check_shapes: bool = True,
) -> tuples.ACGANModel:
    """A model whose discriminator also returns logits of classes."""
    built = _Built(generator_fn, generator_scope, lambda: tensors(generator_inputs))
    built.judge(discriminator_fn, discriminator_scope, real_data, _two)
    if check_shapes:
        built.check_shapes()
    (real, real_logits), (generated, generated_logits) = built.real_marks, built.generated_marks
    common = built.fields(discriminator_fn, real, generated)
    more = one_hot_labels, real_logits, generated_logits
    return tuples.ACGANModel._make([*common, *more])


def cyclegan_model(
    generator_fn: Callable[..., Any],
    discriminator_fn: Callable[..., Any],
    data_x: Any,
    data_y: Any,
    generator_scope: str = "Generator",
    discriminator_scope: str = "Discriminator",
    model_x2y_scope: str = "ModelX2Y",
    model_y2x_scope: str = "ModelY2X",
    check_shapes: bool = True,
) -> tuples.CycleGANModel:
    """Two models, one from the data x to y and one back."""

    def partial(source: Any, target: Any) -> tuples.GANModel:
        scopes = {"generator_scope": generator_scope, "discriminator_scope": discriminator_scope}
        settings: dict[str, Any] = {"check_shapes": check_shapes, **scopes}
        return gan_model(generator_fn, discriminator_fn, target, source, **settings)

    def back(model: tuples.GANModel, data: Any) -> Any:
        with variable_scope(model.generator_scope, reuse=True):
            return generator_fn(data)

    with variable_scope(model_x2y_scope):
        there = partial(data_x, data_y)
    with variable_scope(model_y2x_scope):
        here = partial(data_y, data_x)
    ways = back(here, there.generated_data), back(there, here.generated_data)
    return tuples.CycleGANModel(there, here, *ways)


def _two(marks: Any) -> tuple[Any, Any]:
    try:
        first, second = marks
    except (TypeError, ValueError):
        raise TypeError(
            "A discriminator function for ACGAN must output a tuple consisting of "
            "(discrimination logits, classification logits)."
        ) from None
    return first, second


def _check_distributions(found: Any, noise: list[Any]) -> None:
    if not isinstance(found, list | tuple):
        raise ValueError(f"`predicted_distributions` must be a list. Instead, found {type(found)}.")
    for each in found:
        if not isinstance(each, Distribution):
            raise ValueError(
                "Every element in `predicted_distributions` must be a `tf.Distribution`. "
                f"Instead, found {type(each)}."
            )
    if len(found) != len(noise):
        raise ValueError(
            f"Length of `predicted_distributions` {len(found)} must be the same as the length of "
            f"structured noise {len(noise)}."
        )
