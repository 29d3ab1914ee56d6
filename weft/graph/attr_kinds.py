"""Whether the attributes of a NodeDef are of the kinds that its operation declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.core import dtypes
from weft.graph.input_types import type_text
from weft.graph.op_def import OpDef, signature

_FIELDS = {
    "s": "string", "i": "int", "f": "float", "b": "bool",
    "type": "type", "shape": "shape", "tensor": "tensor", "func": "func",
}  # fmt: skip


def check_attr_kinds(definition: OpDef, node: Any) -> None:
    """Raises TensorFlow's ValueError about the first attribute of another kind than declared."""
    for name, attr in definition.attrs.items():
        if name in node.attr and (problem := _problem(node.attr[name], attr.kind)):
            raise ValueError(
                f"{problem}\n\t for attr '{name}'\n\t; NodeDef: {{{{node {node.name}}}}};"
                f" Op<{signature(definition)}>"
            )


def _problem(message: Any, kind: str) -> str | None:
    given = _kinds(message)
    if not given:
        is_empty_list = kind.startswith("list(") and message.HasField("list")
        return None if is_empty_list else f"AttrValue missing value with expected type '{kind}'"
    other = next((g for g in given if g != kind), None)
    return other and f"AttrValue had value with type '{other}' when '{kind}' expected"


def _kinds(message: Any) -> list[str]:
    """The kinds of value in a message: one, or none; of a list, all that are filled in."""
    field = message.WhichOneof("value")
    if field == "list":
        return [f"list({_FIELDS[f.name]})" for f, _ in message.list.ListFields()]
    return [] if field is None else [_FIELDS.get(field, field)]


def tensor_mismatch(definition: OpDef, name: str, attrs: Mapping[str, Any]) -> str | None:
    """TensorFlow's message about a tensor of another type than the node says it has, if any."""
    tensors = [key for key, attr in definition.attrs.items() if attr.kind == "tensor"]
    for key in tensors if "dtype" in attrs else []:
        if key in attrs and attrs[key].tensor.dtype != attrs["dtype"].type:
            value, dtype = map(_type_name, (attrs[key].tensor.dtype, attrs["dtype"].type))
            mismatch = f"Type mismatch between value ({value}) and dtype ({dtype})"
            return f"{mismatch}\n\t [[{{{{node {name}}}}}]]"
    return None


def _type_name(enum: int) -> str:
    return type_text(dtypes.as_dtype(enum)) if enum else "invalid"
