"""Shared parts of the layers: names of outputs, collections of variables, sizes of axes."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value as value_of
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Tensor,
    add_to_collection,
    add_to_collections,
    get_collection,
    get_default_graph,
    name_scope,
)
from weft.lib.contrib.framework.variables import model_variable
from weft.ops.control.cond import cond
from weft.ops.state import variable_scope as vs
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.variables import Variable

NamedOutputs = namedtuple("NamedOutputs", ["name", "outputs"])


# ---- outputs by name ----


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """Adds `outputs` to the collections, to be found there as `alias`."""
    if collections:
        append_tensor_alias(outputs, alias)
        add_to_collections(collections, outputs)
    return outputs


def collected(
    make: Callable[[Tensor], Any], scope: Any, default_name: str, values: list[Any],
    collections: Any, opening: Callable[..., Any] = name_scope,
) -> Any:  # fmt: skip
    """The output that `make` gives for the first of `values`, in a scope that also names it."""
    with opening(scope, default_name, values) as opened:
        outputs = make(convert_to_tensor(values[0]))
        return collect_named_outputs(collections, getattr(opened, "name", opened), outputs)


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Gives a tensor one more name under which collections show it."""
    tensor.aliases = [*getattr(tensor, "aliases", ()), alias.removesuffix("/")]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The names that were given to a tensor, or else that of its operation."""
    if hasattr(tensor, "aliases"):
        return tensor.aliases
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The names given to any of some tensors, one after the other."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """Alias -> tensor, for the tensors of a collection."""
    found = OrderedDict(
        (alias, tensor)
        for tensor in get_collection(collection)
        for alias in get_tensor_aliases(tensor)
    )
    if clear_collection:
        get_default_graph().clear_collection(collection)
    return found


# ---- values known now ----


def constant_value(value_or_tensor_or_var: Any, dtype: Any = None) -> Any:
    """The value if it is known now, else None."""
    value = value_or_tensor_or_var
    if value is None:
        raise ValueError("value_or_tensor_or_var cannot be None")
    if not isinstance(value, (Tensor, Variable)):
        return value
    if dtype and value.dtype != dtype:
        raise ValueError(f"It has the wrong type {value.dtype} instead of {dtype}")
    return None if isinstance(value, Variable) else value_of(value)


def static_cond(pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any]) -> Any:
    """One of the two results, decided now."""
    for what, fn in (("fn1", fn1), ("fn2", fn2)):
        if not callable(fn):
            raise TypeError(f"{what} must be callable.")
    return fn1() if pred else fn2()


def smart_cond(
    pred: Any, fn1: Callable[[], Any], fn2: Callable[[], Any], name: str | None = None
) -> Any:
    """`static_cond` when `pred` is known now, else `cond`."""
    known = constant_value(pred)
    if known is not None:
        return static_cond(known, fn1, fn2)
    return cond(pred, fn1, fn2, name=name)


# ---- variables ----


def get_variable_collections(variables_collections: Any, name: str) -> Any:
    """The collections for the variable called `name`."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def add_variable_to_collections(variable: Any, variables_collections: Any, name: str) -> None:
    """Adds `variable`, each part of it, to the collections for `name`, once."""
    if variable is None:
        return
    parts = list(variable) if isinstance(variable, PartitionedVariable) else [variable]
    for collection in get_variable_collections(variables_collections, name) or []:
        for part in parts:
            if not any(part is known for known in get_collection(collection)):
                add_to_collection(collection, part)


def model_variable_getter(rename: dict[str, str] | None = None) -> Callable[..., Any]:
    """A custom getter that makes model variables, some under other names."""

    def make(getter: Callable[..., Any], name: str, *args: Any, **kwargs: Any) -> Any:
        scope, _, last = name.rpartition("/")
        last = (rename or {}).get(last, last)
        kept = {key: kwargs[key] for key in _PASSED if key in kwargs}
        return model_variable(
            f"{scope}/{last}" if scope else last, *args, custom_getter=getter, **kept
        )

    return make


_PASSED = (
    "shape dtype initializer regularizer trainable collections caching_device partitioner "
    "use_resource synchronization aggregation"
).split()


@contextmanager
def layer_scope(
    scope: Any, default_name: str, inputs: Any, reuse: Any, rename: dict[str, str] | None = None
) -> Iterator[Any]:
    """A variable scope whose variables belong to the model."""
    getter = model_variable_getter(rename)
    with vs.variable_scope(
        scope, default_name, [inputs], reuse=reuse, custom_getter=getter
    ) as opened:
        yield opened


def finished(
    outputs: Any,
    name: str,
    outputs_collections: Any,
    activation_fn: Any = None,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
) -> Any:
    """`outputs` normalized, activated and collected."""
    steps: Any = (normalizer_fn, normalizer_params or {}), (activation_fn, {})
    for function, settings in steps:
        outputs = outputs if function is None else function(outputs, **settings)
    return collect_named_outputs(outputs_collections, name, outputs)


def placed(inputs: Tensor, scope: Any, reuse: Any, trainable: bool) -> dict[str, Any]:
    """The arguments that put a layer into the scope that was opened for it."""
    return {
        "trainable": trainable,
        "name": scope.name,
        "dtype": inputs.dtype.base_dtype,
        "_scope": scope,
        "_reuse": reuse,
    }


def weighted(arguments: dict[str, Any], default_name: str, make: Callable[..., Any]) -> Tensor:
    """The finished output of a layer of weights and biases.

    `arguments` are those of the public function; `make(inputs, **settings)` makes the layer.
    """
    a = SimpleNamespace(**arguments)
    renamed = {"bias": "biases", "kernel": "weights"}
    with layer_scope(a.scope, default_name, a.inputs, a.reuse, renamed) as opened:
        inputs = convert_to_tensor(a.inputs)
        layer = make(
            inputs,
            use_bias=not a.normalizer_fn and bool(a.biases_initializer),
            kernel_initializer=a.weights_initializer,
            bias_initializer=a.biases_initializer,
            kernel_regularizer=a.weights_regularizer,
            bias_regularizer=a.biases_regularizer,
            **placed(inputs, opened, a.reuse, a.trainable),
        )
        outputs = layer.apply(inputs)
        add_variable_to_collections(layer.kernel, a.variables_collections, "weights")
        add_variable_to_collections(layer.bias, a.variables_collections, "biases")
        return finished(
            outputs,
            opened.name,
            a.outputs_collections,
            a.activation_fn,
            a.normalizer_fn,
            a.normalizer_params,
        )


# ---- data formats and sizes ----


def layer_format(data_format: str | None) -> str:
    """The name of a data format in tf.layers."""
    return "channels_first" if data_format and data_format.startswith("NC") else "channels_last"


def check_format(data_format: str | None, *allowed: str) -> None:
    if data_format not in allowed:
        raise ValueError(f"data_format has to be either {allowed[0]} or {allowed[1]}.")


def channel_dimension(shape: Any, data_format: str, min_rank: int = 1) -> int:
    """The size of the axis of channels, which must be known."""
    return _dimension(shape, 1 if data_format == "channels_first" else -1, min_rank)


def last_dimension(shape: Any, min_rank: int = 1) -> int:
    """The size of the last axis, which must be known."""
    return _dimension(shape, -1, min_rank)


def _dimension(shape: Any, axis: int, min_rank: int) -> int:
    if shape.ndims is None:
        raise ValueError("dims of shape must be known but is None")
    if shape.ndims < min_rank:
        raise ValueError(f"rank of shape must be at least {min_rank} not: {shape.ndims}")
    size = shape.as_list()[axis]
    if size is None:
        raise ValueError(f"dimension {axis} of shape must be known but is None: {shape}")
    return size


def two_element_tuple(int_or_tuple: Any) -> Any:
    """A number for both axes, or one for each."""
    given = int_or_tuple
    if isinstance(given, int):
        return given, given
    if isinstance(given, list | tuple) and len(given) != 2:
        raise ValueError(f"Must be a list with 2 elements: {given}")
    if not isinstance(given, list | tuple | TensorShape) or len(given) != 2:
        raise ValueError("Must be an int, a list with 2 elements or a TensorShape of length 2")
    first, second = given
    return (first, second) if isinstance(given, TensorShape) else (int(first), int(second))


def n_positive_integers(n: int, value: Any) -> tuple[int, ...]:
    """One number `n` times, or `n` numbers."""
    if int(n) < 1 or int(n) != n:
        raise ValueError("n must be a positive integer")
    try:
        values = (int(value),) * n
    except (TypeError, ValueError):
        wrong = f"Expected sequence of {n} positive integers, but received {value!r}"
        if len(value) != n:
            raise ValueError(wrong) from None
        try:
            values = tuple(int(x) for x in value)
        except (TypeError, ValueError):
            raise ValueError(wrong) from None
    for x in values:
        if x < 1:
            raise ValueError(f"expected positive integer, but received {x}")
    return values
