"""Functions as messages: what a SavedModel says of them besides their bodies."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tensorboard.compat.proto.saved_object_graph_pb2 import (
    FunctionSpec,
    SavedBareConcreteFunction,
    SavedConcreteFunction,
    SavedFunction,
)

from weft.core import nest
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec, TypeSpec, type_spec_from_value
from weft.lib.functions.concrete import ConcreteFunction
from weft.lib.saved_model.restored_function import RestoredFunction
from weft.lib.saved_model.structure import NotEncodableError, encode
from weft.ops.lists.tensor_array import TensorArray


def saved_trace(function: ConcreteFunction, number_of: Callable[[Tensor], int]) -> Any:
    """The message of one trace; `number_of` says which object a captured tensor is of."""
    return SavedConcreteFunction(
        bound_inputs=[number_of(tensor) for tensor in function.captured_inputs],
        canonicalized_input_signature=encode(function.structured_input_signature),
        output_signature=encode(nest.map_structure(_spec, function.structured_outputs)),
    )


def _spec(leaf: Any) -> Any:
    if isinstance(leaf, Tensor):
        return TensorSpec(leaf.shape, leaf.dtype)
    if leaf is None or isinstance(leaf, (TypeSpec, TensorArray)):
        return leaf
    return type_spec_from_value(leaf)


def saved_bare(function: ConcreteFunction) -> Any:
    return SavedBareConcreteFunction(
        concrete_function_name=function.name,
        argument_keywords=function.argument_names,
        allowed_positional_arguments=function.positional,
    )


def saved_function(function: Any, names: list[str]) -> Any:
    """The message of a `tf.function` with these traces."""
    if isinstance(function, RestoredFunction):
        spec = function._message.function_spec
    else:
        spec = FunctionSpec(
            fullargspec=_full_arg_spec(function.function_spec.signature),
            input_signature=encode(function.input_signature),
        )
    return SavedFunction(concrete_functions=names, function_spec=spec)


def _full_arg_spec(signature: inspect.Signature) -> Any:
    """The parameters as TensorFlow writes them: `inspect.FullArgSpec` without annotations."""
    given = list(signature.parameters.values())
    plain = [p for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = [p for p in given if p.kind is p.KEYWORD_ONLY]
    defaults = tuple(_default(p) for p in plain if p.default is not p.empty)
    spec = inspect.FullArgSpec(
        args=[p.name for p in plain],
        varargs=next((p.name for p in given if p.kind is p.VAR_POSITIONAL), None),
        varkw=next((p.name for p in given if p.kind is p.VAR_KEYWORD), None),
        defaults=defaults or None,
        kwonlyargs=[p.name for p in by_name],
        kwonlydefaults={p.name: _default(p) for p in by_name if p.default is not p.empty} or None,
        annotations={},
    )
    return encode(spec)


def _default(parameter: inspect.Parameter) -> Any:
    """A default that no message can hold is one that a loaded function does not have."""
    try:
        encode(parameter.default)
    except NotEncodableError:
        return None
    return parameter.default


# ---- signatures ---------------------------------------------------------------------------------


def with_named_outputs(outputs: Any, function_name: str, key: str) -> dict[str, Tensor]:
    """The results of a signature by name; those of a list are numbered."""
    if isinstance(outputs, Mapping):
        for name, value in outputs.items():
            if not isinstance(value, Tensor):
                raise ValueError(
                    f"Got a dictionary containing non-Tensor value {value} for key {name} in the"
                    f" output of the function {function_name} used to generate a SavedModel"
                    " signature. Dictionaries outputs for functions used as signatures should"
                    " have one Tensor output per string key."
                )
        return dict(outputs)
    listed = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    if not all(isinstance(each, Tensor) for each in listed):
        raise ValueError(
            f"Got non-flat outputs '{outputs}' from '{function_name}' for SavedModel signature"
            f" '{key}'. Signatures have one Tensor per output, so to have predictable names"
            " Python functions used to generate these signatures should avoid outputting Tensors"
            " in nested structures."
        )
    return {f"output_{i}": each for i, each in enumerate(listed)}
