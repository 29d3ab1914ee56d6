"""What an operation is: its signature, shape rule, kernel and gradient, declared in one place.

`@op(...)` turns a kernel into an `OpDef` in `REGISTRY`. Calling an `OpDef` adds a node to the
default graph; `OpDef.kernel` computes at once. A mistake in a declaration stops the import.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from weft.core import dtypes
from weft.core.errors import NotFoundError
from weft.graph.api_names import API_NAMES
from weft.graph.op_signature import (
    ArgDef,
    AttrDef,
    FuncRef,
    parse_arg,
    parse_attr,
    signature,
    split_signature,
    type_name,
)

__all__ = [
    "GRADIENTS",
    "REGISTRY",
    "ArgDef",
    "AttrDef",
    "FuncRef",
    "OpDef",
    "lookup",
    "op",
    "raw",
    "register_gradient",
    "set_apply",
    "signature",
    "type_name",
]

REGISTRY: dict[str, OpDef] = {}
GRADIENTS: dict[str, Callable[..., Any] | None] = {}


class OpDef:
    """Everything weft knows about one operation type.

    `traceable`: XLA can compile it (given concrete `static` inputs and no string values).
    `xla`: the kernel needs jax.lax and is compiled singly when interpreted.
    `runs_on == "host"`: NumPy values only, never traced.
    """

    def __init__(self, name: str, inputs: str, outputs: str, attrs: str) -> None:
        self.name = name
        self.attrs: dict[str, AttrDef] = {
            a.name: a for a in map(parse_attr, split_signature(attrs))
        }
        self.input_args = [parse_arg(name, self.attrs, text) for text in split_signature(inputs)]
        self.output_args = [parse_arg(name, self.attrs, text) for text in split_signature(outputs)]
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
        self.known: frozenset[str] = frozenset()
        self.random: Callable[..., int] | None = None
        self.flops: Callable[..., float] | None = None
        self.kernel_attrs: tuple[str, ...] = ()
        self.takes_ctx = self.takes_rng = False
        self._derive()

    def _derive(self) -> None:
        inferred = {
            attr
            for arg in self.input_args
            for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)
            if attr is not None
        }
        self.inferred_attrs = frozenset(inferred)
        self.api_names = API_NAMES.get(self.name, {})
        self.own_names = {shown: own for own, shown in self.api_names.items()}
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
        names, self.kernel_attrs, variadic = _parameters(kernel)
        if not names or names[0] != "xp":
            raise TypeError(f"op {self.name}: the kernel's first parameter must be xp")
        rest = names[1:]
        if rest and rest[0] in ("ctx", "rng") and rest[0] not in self.params:
            first = rest.pop(0)
            self.takes_ctx, self.takes_rng = first == "ctx", first == "rng"
        wanted = [arg.name for arg in self.input_args]
        if not variadic and [n.rstrip("_") for n in rest] != [n.rstrip("_") for n in wanted]:
            raise TypeError(f"op {self.name}: kernel takes {rest}, the signature says {wanted}")
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
        """What `help` and `inspect` show: inputs, then attributes, then `name`, as callers say."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = []
        for name in [*self.params, "name"]:
            attr = self.attrs.get(name)
            default = None if name == "name" else inspect.Parameter.empty
            if attr is not None and attr.has_default and name not in self.inferred_attrs:
                default = attr.default
            shown = self.api_names.get(name, name)
            parameters.append(inspect.Parameter(shown, kind, default=default))
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
    known: str = "",
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
    which of them a given node really needs. `known` lists inputs that stay NumPy's in a trace where
    their values are known; all others are arrays of xp. `random(out_dims, attrs)` counts the Philox
    blocks one run consumes. `differentiable=False` means the gradient is None.
    `allows_uninitialized`: its reference inputs need not hold a value yet. `reads_only`: it looks
    at its reference or resource input but leaves it as it is. `blocking`: it may wait for another
    node. `control_flow`: switch, merge, enter, exit, next_iteration, loop_cond or trigger; the
    executor runs these, as it does one whose `transfer` is send or recv, which moves a tensor
    between devices. `calls`: function, attribute, gradient, if, case, while or for; what is called
    takes the node's place.
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
        definition.static, definition.known = _names(static), _names(static) | _names(known)
        if unknown := definition.known - {arg.name for arg in definition.input_args}:
            raise ValueError(f"op {name}: static inputs {sorted(unknown)} are not inputs")
        if kernel is not None:
            definition.attach_kernel(kernel)
        if differentiable is False:
            register_gradient(name, None)
        REGISTRY[name] = definition
        return definition

    return declare


def _names(text: str) -> frozenset[str]:
    return frozenset(part.strip() for part in text.split(",") if part.strip())


def _parameters(kernel: Callable[..., Any]) -> tuple[list[str], tuple[str, ...], bool]:
    """The names of positional and of keyword parameters, and whether there may be any number."""
    if isinstance(kernel, FunctionType) and not hasattr(kernel, "__signature__"):
        code = kernel.__code__
        count, keywords = code.co_argcount, code.co_kwonlyargcount
        names = code.co_varnames
        variadic = bool(code.co_flags & inspect.CO_VARARGS)
        return list(names[:count]), names[count : count + keywords], variadic
    found = inspect.signature(kernel).parameters.values()
    positional = [p.name for p in found if p.kind is p.POSITIONAL_OR_KEYWORD]
    keyword = tuple(p.name for p in found if p.kind is p.KEYWORD_ONLY)
    return positional, keyword, any(p.kind is p.VAR_POSITIONAL for p in found)


def lookup(name: str) -> OpDef:
    """The op named `name`, or NotFoundError with the closest known name."""
    definition = REGISTRY.get(name)
    if definition is None:
        import difflib

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
