"""What an operation is: its signature, shape rule, kernel and gradient, declared in one place.

`@op(...)` turns a kernel into an `OpDef` in `REGISTRY`. Calling an `OpDef` adds a node to the
default graph; `OpDef.kernel` computes at once. A mistake in a declaration stops the import.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import NotFoundError

REGISTRY: dict[str, OpDef] = {}
GRADIENTS: dict[str, Callable[..., Any] | None] = {}

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


class OpDef:
    """Everything weft knows about one operation type.

    `traceable`: XLA can compile it (given concrete `static` inputs and no string values).
    `xla`: the kernel needs jax.lax and is compiled singly when interpreted.
    `runs_on == "host"`: NumPy values only, never traced.
    """

    def __init__(self, name: str, inputs: str, outputs: str, attrs: str) -> None:
        self.name = name
        self.attrs: dict[str, AttrDef] = {a.name: a for a in map(_parse_attr, _split(attrs))}
        self.input_args = [self._parse_arg(text) for text in _split(inputs)]
        self.output_args = [self._parse_arg(text) for text in _split(outputs)]
        self.shape_rule: Callable[[Any], Any] | None = None
        self.kernel: Callable[..., Any] | None = None
        self.stateful = self.commutative = self.aggregate = self.deprecated = False
        self.allows_uninitialized = False
        self.xla = False
        self.blocking = self.reads_only = False
        self.transfer: str | None = None
        self.runs_on = "any"
        self.control_flow: str | None = None
        # How it calls functions of the library; passes/inline.py replaces it by what they do.
        self.calls: str | None = None
        # Another kernel, for tracing, of an op whose `runs_on` is the host.
        self.traced_kernel: Callable[..., Any] | None = None
        # For a node whose inputs but the first are constants: what it does to the first.
        self.prepare: Callable[[Any], Callable[[Any], Any] | None] | None = None
        self.static_rule: Callable[[Any], frozenset[str]] | None = None
        self.static: frozenset[str] = frozenset()
        self.random: Callable[..., int] | None = None
        self.flops: Callable[..., float] | None = None
        self.kernel_attrs: tuple[str, ...] = ()
        self.takes_ctx = self.takes_rng = False
        self._derive()

    def _parse_arg(self, text: str) -> ArgDef:
        name, _, spec = (part.strip() for part in text.partition(":"))
        is_ref = False
        if match := re.fullmatch(r"[Rr]ef\((.*)\)", spec):
            is_ref, spec = True, match[1].strip()
        number = type_list = type_attr = fixed = None
        if match := re.fullmatch(r"list\((\w+)\)", spec):
            type_list = match[1]
        else:
            if "*" in spec:
                number, spec = (part.strip() for part in spec.split("*"))
            if spec in self.attrs:
                if self.attrs[spec].kind == "list(type)":
                    type_list = spec
                else:
                    type_attr = spec
            else:
                fixed = _dtype(spec)
        for attr in (number, type_attr, type_list):
            if attr is not None and attr not in self.attrs:
                raise ValueError(f"op {self.name}: argument {name!r} uses unknown attr {attr!r}")
        return ArgDef(name, fixed, type_attr, number, type_list, is_ref)

    def _derive(self) -> None:
        inferred = {
            attr
            for arg in self.input_args
            for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)
            if attr is not None
        }
        self.inferred_attrs = frozenset(inferred)
        given = [a for a in self.attrs.values() if a.name not in inferred]
        self.params = [arg.name for arg in self.input_args]
        self.params += [a.name for a in given if not a.has_default]
        self.params += [a.name for a in given if a.has_default]
        self.single_output = len(self.output_args) == 1 and not self.output_args[0].is_list
        self.has_list_input = any(arg.is_list for arg in self.input_args)
        self.has_ref_input = any(arg.is_ref for arg in self.input_args)
        # A reference that it hands on may be any of those it was given.
        self.picks_reference = any(arg.is_ref and arg.is_list for arg in self.input_args)
        self.has_list_output = any(arg.is_list for arg in self.output_args)
        # Attr names in the fixed order that NodeDefs and fresh nodes list them in.
        self.attr_order = tuple(sorted(self.attrs))

    @property
    def traceable(self) -> bool:
        return self.runs_on == "any" and self.kernel is not None and not self.takes_ctx

    @property
    def is_handle(self) -> bool:
        """Whether a node of it only names a resource: the same one every time it runs."""
        return self.takes_ctx and not self.input_args and self._names_resource

    @property
    def _names_resource(self) -> bool:
        return self.single_output and (
            self.output_args[0].is_ref or self.output_args[0].type is dtypes.resource
        )

    def attach_kernel(self, kernel: Callable[..., Any]) -> None:
        """Checks the kernel's parameters against the signature, then keeps it."""
        parameters = inspect.signature(kernel).parameters
        names = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
        if not names or names[0] != "xp":
            raise TypeError(f"op {self.name}: the kernel's first parameter must be xp")
        rest = names[1:]
        if rest and rest[0] in ("ctx", "rng") and rest[0] not in self.params:
            self.takes_ctx, self.takes_rng = rest[0] == "ctx", rest[0] == "rng"
            rest = rest[1:]
        variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters.values())
        wanted = [arg.name for arg in self.input_args]
        if not variadic and [n.rstrip("_") for n in rest] != [n.rstrip("_") for n in wanted]:
            raise TypeError(f"op {self.name}: kernel takes {rest}, the signature says {wanted}")
        self.kernel_attrs = tuple(p.name for p in parameters.values() if p.kind is p.KEYWORD_ONLY)
        for attr in self.kernel_attrs:
            if attr.rstrip("_") not in self.attrs and attr not in self.attrs:
                raise TypeError(
                    f"op {self.name}: kernel wants attr {attr!r}, which is not declared"
                )
        self.kernel = kernel

    def traced(self, kernel: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """Decorator: the kernel that stands in for this one while a region is traced."""
        self.traced_kernel = kernel
        return kernel

    def prepared(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Decorator: `function(c)` may give a shorter way to do what the kernel does with NumPy.

        It gets the node's `attr`s and the `value`s of its inputs, which but for the first are
        constants, and returns a function of the first input, or None.
        """
        self.prepare = function
        return function

    def gradient(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: `function(op, *grads)` returns one gradient (or None) per input."""
        register_gradient(self.name, function)
        return function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        assert _apply is not None, "weft.graph is not fully imported"
        return _apply(self, args, kwargs)

    @property
    def __name__(self) -> str:
        return self.name

    @property
    def __signature__(self) -> inspect.Signature:
        """What `help` and `inspect` show: inputs, then attributes, then `name`."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = []
        for name in [*self.params, "name"]:
            attr = self.attrs.get(name)
            default = None if name == "name" else inspect.Parameter.empty
            if attr is not None and attr.has_default and name not in self.inferred_attrs:
                default = attr.default
            parameters.append(inspect.Parameter(name, kind, default=default))
        return inspect.Signature(parameters)

    def __repr__(self) -> str:
        return f"<OpDef {signature(self)}>"


_apply: Callable[[OpDef, tuple[Any, ...], dict[str, Any]], Any] | None = None


def set_apply(function: Callable[[OpDef, tuple[Any, ...], dict[str, Any]], Any]) -> None:
    """Called once by graph/apply.py, which sits above this module."""
    global _apply
    _apply = function


def op(
    name: str,
    *,
    inputs: str = "",
    outputs: str = "",
    attrs: str = "",
    shape: Callable[[Any], Any] | None = None,
    static: str = "",
    static_rule: Callable[[Any], frozenset[str]] | None = None,
    stateful: bool = False,
    runs_on: str = "any",
    xla: bool = False,
    blocking: bool = False,
    reads_only: bool = False,
    control_flow: str | None = None,
    transfer: str | None = None,
    calls: str | None = None,
    commutative: bool = False,
    aggregate: bool = False,
    differentiable: bool | None = None,
    random: Callable[..., int] | None = None,
    flops: Callable[..., float] | None = None,
    deprecated: bool = False,
    allows_uninitialized: bool = False,
) -> Callable[[Callable[..., Any] | None], OpDef]:
    """Declares the operation `name`; decorates its kernel and returns the `OpDef`.

    `static` lists inputs whose values must be concrete before XLA compiles; `static_rule(c)` says
    which of them a given node really needs. `random(out_dims, attrs)` counts the Philox blocks one
    run consumes. `differentiable=False` means the gradient is None. `allows_uninitialized`: its
    reference inputs need not hold a value yet. `reads_only`: it looks at its reference or resource
    input but leaves it as it is. `blocking`: it may wait for another node. `control_flow`: switch,
    merge, enter, exit, next_iteration, loop_cond or trigger; the executor runs these, as it does
    one whose `transfer` is send or recv, which moves a tensor between devices. `calls`:
    function, attribute, gradient, if, case, while or for; what is called takes the node's place.
    """

    def declare(kernel: Callable[..., Any] | None) -> OpDef:
        if name in REGISTRY:
            raise ValueError(f"op {name} is declared twice")
        definition = OpDef(name, inputs, outputs, attrs)
        definition.shape_rule = shape
        definition.stateful = stateful or random is not None
        definition.runs_on, definition.xla = runs_on, xla
        definition.blocking, definition.reads_only = blocking, reads_only
        definition.control_flow, definition.static_rule = control_flow, static_rule
        definition.calls, definition.transfer = calls, transfer
        definition.commutative, definition.aggregate = commutative, aggregate
        definition.random, definition.flops, definition.deprecated = random, flops, deprecated
        definition.allows_uninitialized = allows_uninitialized
        definition.static = frozenset(part.strip() for part in static.split(",") if part.strip())
        if unknown := definition.static - {arg.name for arg in definition.input_args}:
            raise ValueError(f"op {name}: static inputs {sorted(unknown)} are not inputs")
        if kernel is not None:
            definition.attach_kernel(kernel)
        if differentiable is False:
            register_gradient(name, None)
        REGISTRY[name] = definition
        return definition

    return declare


def lookup(name: str) -> OpDef:
    """The op named `name`, or NotFoundError with the closest known name."""
    definition = REGISTRY.get(name)
    if definition is None:
        close = difflib.get_close_matches(name, REGISTRY, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise NotFoundError(None, None, f"Op type not registered '{name}'{hint}")
    return definition


def register_gradient(name: str, function: Callable[..., Any] | None) -> None:
    """`function` None says that the op is not differentiable."""
    if name in GRADIENTS:
        raise KeyError(f"Registering two gradient with name '{name}'!")
    GRADIENTS[name] = function


class _RawOps:
    """`raw.Name(...)`: every registered op, resolved when it is asked for."""

    def __getattr__(self, name: str) -> OpDef:
        definition = REGISTRY.get(name)
        if definition is None:
            raise AttributeError(f"module 'weft.raw_ops' has no attribute {name!r}")
        return definition

    def __dir__(self) -> Iterator[str]:
        return iter(sorted(REGISTRY))


raw = _RawOps()


# ---- the signature language -------------------------------------------------------------------


def _split(text: str) -> list[str]:
    """Splits at commas that are outside brackets and quotes."""
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


def _dtype(name: str) -> DType:
    return dtypes.as_dtype(_DTYPE_NAMES.get(name, name))


_ATTR = re.compile(r"(\w+)\s*:\s*([^=]+?)\s*(?:=\s*([^=].*))?", re.DOTALL)


def _parse_attr(text: str) -> AttrDef:
    minimum = None
    if found := re.search(r">=\s*(-?\d+)", text):
        minimum = int(found[1])
        text = text[: found.start()] + text[found.end() :]
    match = _ATTR.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"cannot parse attr {text!r}")
    name, kind, default = match[1], match[2].strip(), match[3]
    listed = False
    if found := re.fullmatch(r"list\((.*)\)", kind, re.DOTALL):
        listed, kind = True, found[1].strip()
    allowed: tuple[Any, ...] | None = None
    if kind in _TYPE_SETS:
        kind, allowed = "type", tuple(_dtype(n) for n in _TYPE_SETS[kind].split())
    elif kind.startswith("{"):
        items = _split(kind.strip("{}"))
        if items[0].startswith('"'):
            kind, allowed = "string", tuple(item.strip('"') for item in items)
        else:
            kind, allowed = "type", tuple(_dtype(item) for item in items)
    if kind not in _SCALAR_KINDS:
        raise ValueError(f"attr {name!r} has unknown kind {kind!r}")
    value = None
    if default is not None:
        default = default.strip()
        if listed:
            value = [_literal(kind, item) for item in _split(default[1:-1])]
        else:
            value = _literal(kind, default)
    return AttrDef(
        name, f"list({kind})" if listed else kind, value, default is not None, allowed, minimum
    )


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
        return tuple(None if d in ("?", "-1") else int(d) for d in _split(text.strip("[]()")))
    if kind == "func":
        return FuncRef(text.strip('"'))
    if kind == "tensor":
        name, _, items = text.rstrip("]").partition("[")
        return np.array([int(item) for item in _split(items)], _dtype(name).np_storage)
    raise ValueError(f"no literal form for a {kind} default: {text!r}")


def signature(definition: OpDef) -> str:
    """One line in the form of the op tables: Name(inputs) -> (outputs) | attrs | flags."""

    def arg(a: ArgDef) -> str:
        spec = a.type_list_attr and f"list({a.type_list_attr})"
        spec = spec or a.type_attr or type_name(a.type)
        if a.is_ref:
            spec = f"Ref({spec})"
        return f"{a.name}: {a.number_attr + '*' if a.number_attr else ''}{spec}"

    def attr(a: AttrDef) -> str:
        text = f"{a.name}: {a.kind}"
        if a.allowed is not None:
            items = [type_name(i) if isinstance(i, DType) else f'"{i}"' for i in a.allowed]
            text += " in {" + ", ".join(items) + "}"
        if a.minimum is not None:
            text += f" >= {a.minimum}"
        return text + (f" = {show(a.default)}" if a.has_default else "")

    def show(value: Any) -> str:
        if isinstance(value, DType):
            return type_name(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, str):
            return f'"{value}"'
        if isinstance(value, list):
            return "[" + ", ".join(map(show, value)) + "]"
        return str(value)

    flags = ["is_stateful"] * definition.stateful + ["is_commutative"] * definition.commutative
    flags += ["is_aggregate"] * definition.aggregate
    parts = [
        f"{definition.name}({', '.join(map(arg, definition.input_args))})"
        f" -> ({', '.join(map(arg, definition.output_args))})",
        "; ".join(attr(definition.attrs[n]) for n in definition.attr_order),
        ",".join(flags),
    ]
    return " | ".join(part for part in parts if part)


def type_name(dtype: DType | None) -> str:
    assert dtype is not None
    short = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
    return "DT_" + short.get(dtype.name, dtype.name.upper())
