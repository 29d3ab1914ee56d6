"""Values of attributes, in the plain Python form they are kept in."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import NotFoundError
from weft.core.shapes import dims_of
from weft.graph import stacks
from weft.graph.late_error import told_late
from weft.graph.op_def import AttrDef, FuncRef, OpDef


def normalize(definition: OpDef, attr: AttrDef, value: Any) -> Any:
    """`value` as the plain Python form attributes are kept in; checks what the op allows."""
    found = plain_form(definition, attr, value)
    check_value(definition, attr, found)
    return found


def plain_form(definition: OpDef, attr: AttrDef, value: Any) -> Any:
    """As `normalize`, for a value that is checked later."""
    if attr.kind.startswith("list("):
        if not isinstance(value, (list, tuple)):
            raise TypeError(
                f"Expected list for '{attr.name}' argument to '{python_name(definition)}' Op, not"
                f" {value!r}."
            )
        return [_normalize(attr, attr.kind[5:-1], item) for item in value]
    return _normalize(attr, attr.kind, value)


def check_value(definition: OpDef, attr: AttrDef, value: Any) -> None:
    """Raises if a value in its plain form is too small, too short, or none of those allowed."""
    is_list = type(value) is list
    if attr.minimum is not None and (len(value) if is_list else value) < attr.minimum:
        passed = f"list of length {len(value)}" if is_list else value
        raise ValueError(
            f"Attr '{attr.name}' of '{definition.name}' Op passed {passed} less than minimum"
            f" {attr.minimum}."
        )
    for item in value if is_list else [value]:
        check_allowed(definition, attr, item, attr.name)


def check_allowed(definition: OpDef, attr: AttrDef, item: Any, parameter: str) -> None:
    """Raises if a value, that came with the argument `parameter`, is none of those it may be."""
    if attr.allowed is None or item in attr.allowed:
        return
    if isinstance(item, DType):
        error = TypeError(
            f"Value passed to parameter '{parameter}' has DataType {item.name} not in list of"
            f" allowed values: {', '.join(d.name for d in attr.allowed)}"
        )
        text = (
            f"Could not find valid device for node.\nNode:{{{{node {definition.name}}}}}\n{error}"
        )
        late = NotFoundError(None, None, f"{text} [Op:{definition.name}]")
        raise told_late(error, late)
    allowed = '", "'.join(attr.allowed)
    raise ValueError(
        f"Attr '{attr.name}' of '{definition.name}' Op passed string '{item}' not in:"
        f' "{allowed}".'
    )


def python_name(definition: OpDef) -> str:
    """What TensorFlow calls the function of an op, in errors too: conv2d_backprop_input."""
    return re.sub("(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", definition.name).lower()


# Kinds of attributes that only values of some types will do for.
_FORMS: dict[str, Any] = {
    "int": (int, lambda v: hasattr(v, "__int__") and not isinstance(v, str | bytes)),
    "float": (float, lambda v: hasattr(v, "__float__") and not isinstance(v, str | bytes)),
    "bool": (bool, lambda v: isinstance(v, bool | np.bool_)),
    "string": (lambda v: text_of(v), lambda v: isinstance(v, str | bytes)),
}


def _normalize(attr: AttrDef, kind: str, value: Any) -> Any:
    if kind in _FORMS:
        convert, fits = _FORMS[kind]
        try:
            if fits(value):
                return convert(value)
        except (TypeError, ValueError):
            pass  # as an array of several is no int
        raise TypeError(f"Expected {kind} for argument '{attr.name}' not {value!r}.")
    if kind == "type":
        try:
            return dtypes.as_dtype(value).base_dtype
        except TypeError:
            raise TypeError(
                f"Expected DataType for argument '{attr.name}' not {value!r}."
            ) from None
    if kind == "shape":
        try:
            return dims_of(value)
        except (TypeError, ValueError) as error:
            message = f"Error converting {attr.name} to a TensorShape: {error}."
            raise type(error)(message) from None
    if kind == "tensor":
        return np.asarray(value)
    return _function_reference(value)


def _function_reference(value: Any) -> FuncRef:
    """A function by its name, as a message, or as an object that goes into the graph with it."""
    from weft.graph.graph_def import attr_from_proto

    if isinstance(value, FuncRef):
        return value
    if isinstance(value, (str, bytes)):
        return FuncRef(str(text_of(value)))
    if hasattr(value, "add_to_graph"):
        value.add_to_graph(stacks.get_default_graph())
        return FuncRef(value.name)
    return FuncRef(value.name, tuple((k, attr_from_proto(v)) for k, v in value.attr.items()))


def text_of(value: str | bytes) -> str | bytes:
    """str where the bytes are UTF-8, so that attributes read naturally; else the bytes."""
    if isinstance(value, str):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value
