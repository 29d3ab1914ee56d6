"""The functions of an object that are served, and their form: named tensors in and out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.graph.type_spec import TensorSpec
from weft.lib.functions.concrete import ConcreteFunction
from weft.lib.functions.polymorphic import Function
from weft.lib.saved_model.objects import SignatureMap
from weft.lib.saved_model.restored_function import RestoredFunction
from weft.lib.saved_model.saved_functions import with_named_outputs
from weft.lib.saved_model.saved_objects import SIGNATURES, attributes, functions_of
from weft.lib.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_DEFAULT = "_default_save_signature"


def signatures_of(root: Any, asked: Any) -> SignatureMap:
    """The signatures to save: those asked for, or that of the only function that can be one."""
    own = attributes(root).get(SIGNATURES)
    if own is not None and not isinstance(own, SignatureMap):
        raise ValueError(
            f"Exporting an object {root} which has an attribute named 'signatures'. This is a"
            " reserved attribute used to store SavedModel signatures in objects which come from"
            " `tf.saved_model.load`. Delete this attribute (e.g. 'del obj.signatures') before"
            " saving if this shadowing is acceptable."
        )
    if asked is None:
        asked = _only_candidate(root)
    if asked is None:
        return SignatureMap()
    if not isinstance(asked, Mapping):
        asked = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: asked}
    return SignatureMap({key: _wrapped(function, key) for key, function in asked.items()})


def _only_candidate(root: Any) -> ConcreteFunction | None:
    functions = functions_of(root)
    if _DEFAULT in functions:
        return _concrete(functions[_DEFAULT])
    found = [_concrete(function) for function in functions.values()]
    possible = [each for each in found if each is not None and _can_be_one(each)]
    return possible[0] if len(possible) == 1 else None


def _concrete(function: Any) -> ConcreteFunction | None:
    kinds = (Function, RestoredFunction)
    if isinstance(function, kinds) and function.input_signature is not None:
        return function.get_concrete_function()
    return function if isinstance(function, ConcreteFunction) else None


def _can_be_one(function: ConcreteFunction) -> bool:
    """Whether it has results, all of them tensors that a signature could name."""
    if not function.outputs:
        return False
    try:
        # Of a function that was loaded there are specs, which count as what they are of.
        with_named_outputs(function.packed_inside(), "unused", "unused")
    except ValueError:
        return False
    return True


def _wrapped(given: Any, key: str) -> ConcreteFunction:
    """The function taking all arguments by name and returning a dict."""
    function = _concrete(given)
    if function is None:
        raise ValueError(
            f"Expected a TensorFlow function to generate a signature for, but got {given}. Only"
            " `tf.functions` with an input signature or concrete functions can be used as a"
            " signature."
        )
    inner = function

    def wrapper(**kwargs: Any) -> Any:
        return with_named_outputs(inner(**kwargs), inner.name, key)

    specs = {
        name: TensorSpec(tensor.shape, tensor.dtype, name)
        for name, tensor in zip(inner.argument_names, inner.inputs, strict=False)
    }
    made = Function(wrapper, "signature_wrapper", autograph=False).get_concrete_function(**specs)
    made._allowed_positional = 1 if len(specs) == 1 else 0
    return made
