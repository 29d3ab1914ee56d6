"""The dtypes that a node's inputs must have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.dtypes import DType
from weft.graph.counts import checked_count
from weft.graph.op_def import OpDef
from weft.graph.tensor import Tensor


def input_types(definition: OpDef, attrs: dict[str, Any]) -> list[DType]:
    """The dtype of each flat input."""
    found: list[DType] = []
    for arg in definition.input_args:
        if arg.type_list_attr is not None:
            found += attrs.get(arg.type_list_attr, ())
            continue
        kind = arg.type if arg.type is not None else attrs.get(arg.type_attr or "")
        if kind is not None:
            number = arg.number_attr
            found += [kind] * (checked_count(number, attrs.get(number, 0)) if number else 1)
    return found


def mismatch(
    definition: OpDef, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> str | None:
    """TensorFlow's message about the first input of another dtype than the node takes, if any."""
    for i, wanted in enumerate(input_types(definition, attrs)):
        given = inputs[i]
        if given.dtype.base_dtype != wanted.base_dtype:
            return (
                f"Input {i} of node {name} was passed {type_text(given.dtype)} from"
                f" {given.name} incompatible with expected {type_text(wanted)}."
            )
    return None


def type_text(dtype: DType) -> str:
    """The dtype as TensorFlow's C++ errors name it."""
    name = dtype.base_dtype.name
    name = {"float32": "float", "float64": "double", "float16": "half"}.get(name, name)
    return f"{name}_ref" if dtype._is_ref_dtype else name
