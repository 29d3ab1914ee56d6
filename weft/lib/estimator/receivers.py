"""Inputs of served models, and how they become features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.lib.estimator.input_results import parse_input_fn_result
from weft.lib.saved_model.export_signatures import SINGLE_RECEIVER_DEFAULT_NAME
from weft.ops.array.placeholders import placeholder
from weft.ops.parsing.features import parse_example

# How a single tensor is called that stands for all features, labels or inputs.
SINGLE_FEATURE_DEFAULT_NAME = "feature"
SINGLE_LABEL_DEFAULT_NAME = "label"
_SINGLE = {
    "feature": SINGLE_FEATURE_DEFAULT_NAME,
    "label": SINGLE_LABEL_DEFAULT_NAME,
    "receiver_tensor": SINGLE_RECEIVER_DEFAULT_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_DEFAULT_NAME,
}


def wrap_and_check_input_tensors(
    tensors: Any, field_name: str, allow_int_keys: bool = False
) -> dict[Any, Any]:
    """Tensors by name; a single one gets the name that is usual for the field."""
    if tensors is None:
        raise ValueError(f"{field_name}s must be defined.")
    named = tensors if isinstance(tensors, dict) else {_SINGLE[field_name]: tensors}
    for name in named:
        _check_key(name, field_name, allow_int_keys)
        _check_tensor(named[name], name, field_name)
    return named


def _check_tensor(tensor: Any, name: Any, error_label: str = "feature") -> None:
    if isinstance(tensor, (Tensor, SparseTensor)):
        return
    shown = f"{error_label} {name}" if name else error_label
    wrong = ValueError(f"{shown} must be a Tensor or SparseTensor.")
    if not hasattr(tensor, "tensor"):
        raise wrong
    try:
        convert_to_tensor(tensor)
    except TypeError:
        raise wrong from None


def _check_key(name: Any, error_label: str, allow_ints: bool) -> None:
    if isinstance(name, str) or (allow_ints and isinstance(name, int)):
        return
    kinds = "strings or ints" if allow_ints else "strings"
    raise ValueError(f"{error_label} keys must be {kinds}: {name}.")


class _ServingInputReceiver(NamedTuple):
    features: Any
    receiver_tensors: Any
    receiver_tensors_alternatives: Any = None


class ServingInputReceiver(_ServingInputReceiver):
    """Features, by name, made from the tensors that a request feeds.

    `receiver_tensors_alternatives` are other sets of tensors that may be fed instead.

    Args:
        features: a tensor, or a dict of them.
        receiver_tensors: a tensor, or a dict of them: what a request feeds.
        receiver_tensors_alternatives: see above.

    Returns:
        A named tuple.

    Raises:
        ValueError: something is no tensor, or a name is missing.

    Example:
        >>> x = tf.placeholder(tf.float32, [None], name="x")
        >>> tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x}).features["x"] is x
        True
    """

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        return super().__new__(
            cls,
            wrap_and_check_input_tensors(features, "feature", allow_int_keys=True),
            wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor"),
            _checked_alternatives(receiver_tensors_alternatives),
        )


def _checked_alternatives(alternatives: Any) -> Any:
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    for name, tensors in alternatives.items():
        alternatives[name] = wrap_and_check_input_tensors(tensors, "receiver_tensors_alternative")
    return alternatives


class TensorServingInputReceiver(_ServingInputReceiver):
    """As ServingInputReceiver, for models whose features are a single tensor."""

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, None)
        checked = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(cls, features, *checked[1:])


class UnsupervisedInputReceiver(ServingInputReceiver):
    """Features and what feeds them, for a graph that is exported to be trained further."""

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        made = super().__new__(cls, features, receiver_tensors)
        assert isinstance(made, UnsupervisedInputReceiver)
        return made


class _SupervisedInputReceiver(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: Any


class SupervisedInputReceiver(_SupervisedInputReceiver):
    """Features, labels and what feeds them, for a graph exported to be trained or evaluated."""

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        for name, field in (("feature", features), ("label", labels)):
            wrap_and_check_input_tensors(field, name, allow_int_keys=True)
        receivers = wrap_and_check_input_tensors(receiver_tensors, "receiver_tensor")
        return super().__new__(cls, features, labels, receivers)


# ---- functions that make them --------------------------------------------------------------------


def build_parsing_serving_input_receiver_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Requests hold serialized examples."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        serialized = placeholder(
            dtypes.string, shape=[default_batch_size], name="input_example_tensor"
        )
        features = parse_example(serialized, feature_spec)
        return ServingInputReceiver(features, {"examples": serialized})

    return serving_input_receiver_fn


def _placeholder_like(tensor: Any, batch_size: int | None) -> Any:
    """A placeholder for batches of what `tensor` is a batch of, named like it."""
    shape = TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    op = getattr(tensor, "op", None)
    return placeholder(tensor.dtype, shape=shape, name=op and op.name)


def _placeholders(tensors: dict[str, Any], batch_size: int | None) -> dict[str, Any]:
    return {name: _placeholder_like(each, batch_size) for name, each in tensors.items()}


def build_raw_serving_input_receiver_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Requests hold the features themselves."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        receivers = _placeholders(features, default_batch_size)
        return ServingInputReceiver(receivers, receivers)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """Placeholders for features and labels, for further training of the exported graph."""

    def names(tensors: Any, single: str) -> set[str]:
        return set(tensors) if isinstance(tensors, dict) else {single}

    common = names(features, SINGLE_RECEIVER_DEFAULT_NAME) & names(
        labels, SINGLE_LABEL_DEFAULT_NAME
    )
    if common:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {common}"
        )

    def received(tensors: Any, single: str) -> tuple[Any, dict[str, Any]]:
        if isinstance(tensors, dict):
            made = _placeholders(tensors, default_batch_size)
            return made, made
        one = _placeholder_like(tensors, default_batch_size)
        return one, {single: one}

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        new_features, inputs = received(features, SINGLE_RECEIVER_DEFAULT_NAME)
        new_labels, targets = received(labels, SINGLE_LABEL_DEFAULT_NAME)
        return SupervisedInputReceiver(new_features, new_labels, {**inputs, **targets})

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """As the raw one, with the features and labels of an input function."""
    with Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
