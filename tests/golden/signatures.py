"""Op signatures as canonical lines: `Name(inputs) -> (outputs) | attrs | flags`.

Attrs, allowed values and flags are sorted, so that two lines are equal exactly when the signatures
are. `from_table` reads the lines of TensorFlow's op table, `from_definition` writes weft's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import weft.passes.pipeline  # noqa: F401  (declares what passes put into graphs)
from weft.core import dtypes
from weft.graph.op_def import REGISTRY, ArgDef, AttrDef, FuncRef, OpDef, type_name

GOLDEN = Path(__file__).parent / "op_signatures.txt"
# TensorFlow's own table lies beside the checkout where weft is developed, not in it.
TABLE = Path(__file__).parents[3] / "shared" / "facts" / "ops_v1.txt"

_ATTR = re.compile(
    r"(?P<name>\w+): (?P<kind>[\w()]+)"
    r"(?: in \{(?P<allowed>[^}]*)\})?(?: >= (?P<minimum>-?\d+))?(?: = (?P<default>.*))?"
)
_UNKNOWN_SHAPE = "shape[('unknown_rank', 'true')]"


def from_table(line: str) -> tuple[str, str]:
    """(op name, canonical line) of one line of the table."""
    line = line.strip().removesuffix("DEPRECATED").strip().removesuffix("|").strip()
    call, *rest = re.split(r" \| ", line)
    attrs, flags = "", ""
    for part in rest:
        if _ATTR.match(part):
            attrs = part
        else:
            flags = part
    described = [_table_attr(text) for text in attrs.split("; ") if text]
    return call.split("(")[0], _join(call, described, [f for f in flags.split(",") if f])


def _table_attr(text: str) -> str:
    match = _ATTR.fullmatch(text.strip())
    assert match is not None, text
    allowed = match["allowed"].split(", ") if match["allowed"] is not None else None
    return _attr(match["name"], match["kind"], allowed, match["minimum"], match["default"])


def from_definition(definition: OpDef) -> str:
    inputs = ", ".join(map(_arg, definition.input_args))
    outputs = ", ".join(map(_arg, definition.output_args))
    takes_resource = any(arg.type is dtypes.resource for arg in definition.input_args)
    flags = {
        # TensorFlow knows by the reference alone that such an op has an effect, and says only of
        # references (not of resources) that they may be empty.
        "is_stateful": definition.stateful and not definition.has_ref_input,
        "is_commutative": definition.commutative,
        "is_aggregate": definition.aggregate,
        "allows_uninitialized_input": definition.allows_uninitialized and not takes_resource,
    }
    attrs = [_weft_attr(attr) for attr in definition.attrs.values()]
    call = f"{definition.name}({inputs}) -> ({outputs})"
    return _join(call, attrs, [name for name, is_set in flags.items() if is_set])


def _arg(arg: ArgDef) -> str:
    spec = f"list({arg.type_list_attr})" if arg.type_list_attr else arg.type_attr
    spec = spec or type_name(arg.type)
    if arg.number_attr:
        spec = f"{arg.number_attr}*{spec}"
    return f"{arg.name}: Ref({spec})" if arg.is_ref else f"{arg.name}: {spec}"


def _weft_attr(attr: AttrDef) -> str:
    allowed = None if attr.allowed is None else [_literal(item).strip('"') for item in attr.allowed]
    default = _default(attr) if attr.has_default else None
    return _attr(attr.name, attr.kind, allowed, attr.minimum, default)


def _default(attr: AttrDef) -> str:
    if attr.kind == "shape":
        return _UNKNOWN_SHAPE if attr.default is None else f"shape{list(attr.default)}"
    if attr.kind == "tensor":
        shape = [("dim", [("size", str(extent))]) for extent in attr.default.shape]
        dtype = type_name(dtypes.as_dtype(attr.default.dtype))
        values = [("int_val", str(value)) for value in attr.default.ravel()]
        return f"tensor{[('dtype', dtype), ('tensor_shape', shape), *values]}"
    return _literal(attr.default)


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        escaped = value.encode("unicode_escape").decode()
        return f'"{escaped}"'
    if isinstance(value, FuncRef):
        return value.name
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_literal, value)) + "]"
    return str(value) if isinstance(value, int | float) else type_name(value)


def _attr(name: str, kind: str, allowed: list[str] | None, minimum: Any, default: Any) -> str:
    text = f"{name}: {kind}"
    if allowed is not None:
        text += " in {" + ", ".join(sorted(allowed)) + "}"
    if minimum is not None:
        text += f" >= {minimum}"
    if default is not None:
        text += f" = {_number(kind, default)}"
    return text


def _number(kind: str, default: str) -> str:
    if kind == "shape" and default == "shape{}":
        return "shape[]"
    if "float" not in kind:
        return default
    # The table prints single precision: 0.1 and 0.100000001 are one value.
    return re.sub(r"-?\d[\w.+-]*", lambda m: f"{float(m[0]):.6g}", default)


def _join(call: str, attrs: list[str], flags: list[str]) -> str:
    call = re.sub(r"\s+", " ", call).strip()
    return " | ".join(
        part for part in (call, "; ".join(sorted(attrs)), ",".join(sorted(flags))) if part
    )


def table() -> dict[str, str] | None:
    """TensorFlow's signatures by op name, or None where the table is not at hand."""
    if not TABLE.exists():
        return None
    lines = TABLE.read_text().splitlines()
    return dict(from_table(line) for line in lines if line.strip() and not line.startswith("#"))


def registered() -> dict[str, str]:
    """The signatures of weft's ops by name."""
    return {name: from_definition(REGISTRY[name]) for name in sorted(REGISTRY)}


def difference(ours: str, theirs: str) -> list[str]:
    """What differs between two canonical lines, part by part."""

    def parts(line: str) -> list[str]:
        call, *rest = line.split(" | ")
        _, _, args = call.partition("(")
        pieces = re.split(r", |\(|\) -> ", args.rstrip(")"))
        return [piece for piece in pieces if piece] + [p for r in rest for p in r.split("; ")]

    mine, other = parts(ours), parts(theirs)
    lines = [f"  weft: {part}" for part in mine if part not in other]
    return lines + [f"  TensorFlow: {part}" for part in other if part not in mine]
