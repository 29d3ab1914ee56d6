"""The docstring of a function that a declaration makes: its arguments and result in words.

Types come from the operation's signature, a call and its result from examples.py.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.core.dtypes import DType
from weft.graph.op_def import OpDef
from weft.ops.kit.examples import EXAMPLES


def describe(name: str, definition: OpDef, sentence: str, shown: Sequence[str]) -> str:
    """`sentence`, then a section for each of arguments, result, errors and example.

    `name` is that of the function, `shown` those of the operation's first parameters as users see
    them.
    """
    parts = [sentence, _arguments(definition, shown), _result(definition), _errors(definition)]
    return with_example("\n\n".join(part for part in parts if part), name)


def with_example(doc: str, name: str) -> str:
    """`doc`, and the example that examples.py has of the function `name`."""
    if name not in EXAMPLES:
        return f"{doc}\n"
    call, result = EXAMPLES[name]
    lines = [f">>> session.run({call})", *(result.split("\n") if result else ())]
    return f"{doc}\n\n{in_section('Example', lines)}\n"


def in_section(title: str, lines: Sequence[str]) -> str:
    return "\n".join([f"{title}:", *(f"    {line}" for line in lines)])


def _arguments(definition: OpDef, shown: Sequence[str]) -> str:
    by_type: dict[str, list[str]] = {}
    inputs = definition.input_args
    for name, argument in zip(shown, inputs, strict=False):
        by_type.setdefault(_type_names(definition, argument), []).append(name)
    lines = [_line(names, types) for types, names in by_type.items()]
    attributes = [name for name in shown[len(inputs) :] if name != "name"]
    lines += [f"{name}: the attribute `{name}` of {definition.name}." for name in attributes]
    return in_section("Args", [*lines, "name: of the operation."])


def _line(names: list[str], types: str) -> str:
    kind = "a tensor" if len(names) == 1 else "tensors of one type"
    joint = " of" if len(names) == 1 else ":"
    return f"{', '.join(names)}: {kind}{joint} {types}." if types else f"{names[0]}: {kind}."


def _type_names(definition: OpDef, argument: object) -> str:
    attribute = getattr(argument, "type_attr", None)
    if attribute is None:
        fixed: DType | None = getattr(argument, "type", None)
        return fixed.name if fixed is not None else ""
    allowed = definition.attrs[attribute].allowed
    return ", ".join(dtype.name for dtype in allowed) if allowed else ""


def _result(definition: OpDef) -> str:
    if not definition.single_output:
        return ""
    (output,) = definition.output_args
    if output.type_attr is None:
        kind = f"A tensor of {output.type.name}." if output.type is not None else "A tensor."
    else:
        like = [a.name for a in definition.input_args if a.type_attr == output.type_attr]
        kind = f"A tensor of the type of `{like[0]}`." if like else "A tensor."
    return in_section("Returns", [kind])


def _errors(definition: OpDef) -> str:
    errors = ["TypeError: an argument is of another type."]
    if [argument.name for argument in definition.input_args] == ["x", "y"]:
        errors.append("ValueError: the shapes of `x` and `y` do not broadcast.")
    return in_section("Raises", errors)
