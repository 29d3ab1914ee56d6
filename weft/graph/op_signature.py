"""The language of op signatures: `"input: T, rest: N * T"`, `"T: {int32, int64} = int32"`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.api_names import API_NAMES

if TYPE_CHECKING:
    from weft.graph.op_def import OpDef

_TYPE_SETS: dict[str, str] = {
    "numbertype": "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 "
    "bfloat16 uint16 complex128 half uint32 uint64",
    "realnumbertype": "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 "
    "uint64",
    "floattype": "bfloat16 half float double",
    "quantizedtype": "qint8 quint8 qint32 qint16 quint16",
    "indextype": "int32 int64",
}
_DTYPE_NAMES = {"float": "float32", "double": "float64", "half": "float16"}
_SCALAR_KINDS = {"type", "int", "float", "bool", "string", "shape", "tensor", "func"}


class ArgDef(NamedTuple):
    """One input or output: a fixed `type`, or types that come from attributes."""

    name: str
    type: DType | None
    type_attr: str | None
    number_attr: str | None
    type_list_attr: str | None
    is_ref: bool

    @property
    def is_list(self) -> bool:
        return self.number_attr is not None or self.type_list_attr is not None


class AttrDef(NamedTuple):
    name: str
    kind: str
    default: Any
    has_default: bool
    allowed: tuple[Any, ...] | None
    minimum: int | None


@dataclass(frozen=True)
class FuncRef:
    """A function named by an attribute, with the attributes it is instantiated with."""

    name: str
    attrs: tuple[tuple[str, Any], ...] = ()


_NESTED = re.compile(r'[(\[{"]')


def split_signature(text: str) -> list[str]:
    """Splits at commas that are outside brackets and quotes."""
    if not _NESTED.search(text):
        return [part for piece in text.split(",") if (part := piece.strip())]
    parts, depth, quoted, current = [], 0, False, ""
    for char in text:
        if char == '"':
            quoted = not quoted
        if not quoted:
            depth += char in "([{"
            depth -= char in ")]}"
            if char == "," and depth == 0:
                parts.append(current)
                current = ""
                continue
        current += char
    parts.append(current)
    return [part.strip() for part in parts if part.strip()]


@functools.cache
def _dtype(name: str) -> DType:
    return dtypes.as_dtype(_DTYPE_NAMES.get(name, name))


def parse_arg(op: str, attrs: dict[str, AttrDef], text: str) -> ArgDef:
    """An input or output of the op named `op`, which has `attrs`."""
    name, _, spec = text.partition(":")
    name, spec = name.strip(), spec.strip()
    is_ref = spec.startswith(("ref(", "Ref("))
    if is_ref:
        spec = spec[4:-1].strip()
    number = type_list = type_attr = fixed = None
    if spec.startswith("list("):
        type_list = spec[5:-1]
    else:
        if "*" in spec:
            number, spec = (part.strip() for part in spec.split("*"))
        if spec not in attrs:
            fixed = _dtype(spec)
        elif attrs[spec].kind == "list(type)":
            type_list = spec
        else:
            type_attr = spec
    for attr in (number, type_attr, type_list):
        if attr is not None and attr not in attrs:
            raise ValueError(f"op {op}: argument {name!r} uses unknown attr {attr!r}")
    return ArgDef(name, fixed, type_attr, number, type_list, is_ref)


_ATTR = re.compile(r"(\w+)\s*:\s*([^=]+?)\s*(?:=\s*([^=].*))?", re.DOTALL)


@functools.cache
def parse_attr(text: str) -> AttrDef:
    """The attribute that a text declares; cached, since many ops declare the same."""
    minimum = None
    if found := re.search(r">=\s*(-?\d+)", text):
        minimum = int(found[1])
        text = text[: found.start()] + text[found.end() :]
    match = _ATTR.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"cannot parse attr {text!r}")
    name, kind, default = match[1], match[2].strip(), match[3]
    listed = re.fullmatch(r"list\((.*)\)", kind, re.DOTALL)
    kind, allowed = _kind_and_allowed(listed[1].strip() if listed else kind)
    if kind not in _SCALAR_KINDS:
        raise ValueError(f"attr {name!r} has unknown kind {kind!r}")
    value: Any = None
    if default is not None and listed:
        value = [_literal(kind, item) for item in split_signature(default.strip()[1:-1])]
    elif default is not None:
        value = _literal(kind, default.strip())
    whole = f"list({kind})" if listed else kind
    return AttrDef(name, whole, value, default is not None, allowed, minimum)


def _kind_and_allowed(spec: str) -> tuple[str, tuple[Any, ...] | None]:
    """The text of a kind, a named set of types or a set of values -> (kind, values)."""
    if spec in _TYPE_SETS:
        return "type", tuple(_dtype(name) for name in _TYPE_SETS[spec].split())
    if not spec.startswith("{"):
        return spec, None
    items = split_signature(spec.strip("{}"))
    if items[0].startswith('"'):
        return "string", tuple(item.strip('"') for item in items)
    names = [name for item in items for name in _TYPE_SETS.get(item, item).split()]
    return "type", tuple(_dtype(name) for name in names)


def _literal(kind: str, text: str) -> Any:
    if kind == "type":
        return _dtype(text)
    if kind == "string":
        return text.strip('"')
    if kind == "bool":
        return {"true": True, "false": False}[text.lower()]
    if kind == "int":
        return int(text)
    if kind == "float":
        return float(text)
    if kind == "shape":
        if text == "unknown" or text == "None":
            return None
        return tuple(
            None if d in ("?", "-1") else int(d) for d in split_signature(text.strip("[]()"))
        )
    if kind == "func":
        return FuncRef(text.strip('"'))
    if kind == "tensor":
        name, _, items = text.rstrip("]").partition("[")
        return np.array([int(item) for item in split_signature(items)], _dtype(name).np_storage)
    raise ValueError(f"no literal form for a {kind} default: {text!r}")


# ---- whole signatures -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Signature:
    """The name, inputs, outputs and attributes of an operation, and what follows from them."""

    name: str
    input_args: list[ArgDef]
    output_args: list[ArgDef]
    attrs: dict[str, AttrDef]
    input_names: frozenset[str]
    # Attributes that the inputs tell.
    inferred_attrs: frozenset[str]
    # Parameters in TensorFlow's order: inputs, attributes without and with a default.
    params: list[str]
    # Own names -> those of the public function, and back.
    api_names: dict[str, str]
    own_names: dict[str, str]
    # Attribute names in the fixed order that NodeDefs and fresh nodes list them in.
    attr_order: tuple[str, ...]
    single_output: bool
    has_list_input: bool
    has_list_output: bool
    has_ref_input: bool
    # A reference that it hands on may be any of those it was given.
    picks_reference: bool


def parse_signature(
    name: str, inputs: str, outputs: str, attrs: str | Iterable[AttrDef]
) -> Signature:
    """The signature of the op `name`; `attrs` may be parsed already."""
    listed = map(parse_attr, split_signature(attrs)) if isinstance(attrs, str) else attrs
    known = {attr.name: attr for attr in listed}
    ins = [parse_arg(name, known, text) for text in split_signature(inputs)]
    outs = [parse_arg(name, known, text) for text in split_signature(outputs)]
    inferred = {a for arg in ins for a in (arg.type_attr, arg.number_attr, arg.type_list_attr) if a}
    given = [attr for attr in known.values() if attr.name not in inferred]
    api_names = API_NAMES.get(name, {})
    return Signature(
        name=name,
        input_args=ins,
        output_args=outs,
        attrs=known,
        input_names=frozenset(arg.name for arg in ins),
        inferred_attrs=frozenset(inferred),
        params=[
            *(arg.name for arg in ins),
            *(attr.name for attr in sorted(given, key=lambda attr: attr.has_default)),
        ],
        api_names=api_names,
        own_names={shown: own for own, shown in api_names.items()},
        attr_order=tuple(sorted(known)),
        single_output=len(outs) == 1 and not outs[0].is_list,
        has_list_input=any(arg.is_list for arg in ins),
        has_list_output=any(arg.is_list for arg in outs),
        has_ref_input=any(arg.is_ref for arg in ins),
        picks_reference=any(arg.is_ref and arg.is_list for arg in ins),
    )


# ---- and back to text -------------------------------------------------------------------------


def signature(definition: OpDef) -> str:
    """One line in the form of the op tables: Name(inputs) -> (outputs) | attrs | flags."""
    flags = ["is_stateful"] * definition.stateful + ["is_commutative"] * definition.commutative
    flags += ["is_aggregate"] * definition.aggregate
    parts = [
        f"{definition.name}({', '.join(map(_arg_text, definition.input_args))})"
        f" -> ({', '.join(map(_arg_text, definition.output_args))})",
        "; ".join(_attr_text(definition.attrs[n]) for n in definition.attr_order),
        ",".join(flags),
    ]
    return " | ".join(part for part in parts if part)


def _arg_text(a: ArgDef) -> str:
    spec = a.type_list_attr and f"list({a.type_list_attr})"
    spec = spec or a.type_attr or type_name(a.type)
    if a.is_ref:
        spec = f"Ref({spec})"
    return f"{a.name}: {a.number_attr + '*' if a.number_attr else ''}{spec}"


def _attr_text(a: AttrDef) -> str:
    text = f"{a.name}: {a.kind}"
    if a.allowed is not None:
        text += " in {" + ", ".join(map(_value_text, a.allowed)) + "}"
    if a.minimum is not None:
        text += f" >= {a.minimum}"
    return text + (f" = {_value_text(a.default)}" if a.has_default else "")


def _value_text(value: Any) -> str:
    if isinstance(value, DType):
        return type_name(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(map(_value_text, value)) + "]"
    return str(value)


def type_name(dtype: DType | None) -> str:
    assert dtype is not None
    short = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
    return "DT_" + short.get(dtype.name, dtype.name.upper())
