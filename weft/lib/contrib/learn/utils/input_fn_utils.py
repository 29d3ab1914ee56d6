"""Input functions of exported models: from serialized examples, or from features as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.ops.array.placeholders import placeholder
from weft.ops.parsing.features import parse_example


class InputFnOps(NamedTuple):
    """What an input function makes: features, labels (None when serving), and what is fed."""

    features: Any
    labels: Any
    default_inputs: Any


def build_parsing_serving_input_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function that is fed serialized `tf.Example`s, and parses them."""

    def input_fn() -> InputFnOps:
        examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


def build_default_serving_input_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function that is fed features of these types and shapes."""

    def input_fn() -> InputFnOps:
        fed = {}
        for name, tensor in features.items():
            shape = tensor.shape.as_list()
            fed[name] = placeholder(tensor.dtype, [default_batch_size, *shape[1:]], tensor.op.name)
        return InputFnOps(fed, None, fed)

    return input_fn
