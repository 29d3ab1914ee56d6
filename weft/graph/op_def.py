"""Operations: signature, shape rule, kernel and gradient, declared in one place.

`@op(...)` turns a kernel into an `OpDef` in `REGISTRY`. Calling an `OpDef` adds a node to the
default graph; `OpDef.kernel` computes at once. A declaration is read when the op is first used, and
with `WEFT_CHECK`, as in tests, at once: then a mistake in it stops the import.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any

from weft.core import dtypes, flags
from weft.core.errors import NotFoundError
from weft.graph.by_library import ByLibrary
from weft.graph.op_signature import (
    ArgDef,
    AttrDef,
    FuncRef,
    Signature,
    parse_signature,
    signature,
    type_name,
)
from weft.graph.registry import Registry
from weft.graph.traits import DEFAULTS, PLAIN, Traits, split_names

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

Kernel = Callable[..., Any]

REGISTRY: Registry[OpDef] = Registry(searches=True)
# Names that programs make up for `gradient_override_map` are in it, too.
GRADIENTS: Registry[Callable[..., Any] | None] = Registry(searches=False)


@dataclass(slots=True)
class Kernels:
    """The functions that compute one operation, attached at import and never later.

    `traced` stands in for `general` while a region is traced, of an op that runs on the host.
    `prepare(c)`, of a node whose inputs but the first `prepared_inputs` are constants, gives what
    it does to these, or None.
    """

    general: Kernel | None
    traced: Kernel | None = None
    prepare: Callable[[Any], Callable[..., Any] | None] | None = None
    prepared_inputs: int = 1


@dataclass(frozen=True, eq=False, repr=False, init=False, kw_only=True)
class OpDef(Traits, Signature):
    """Everything weft knows about one operation type: its signature, traits, shape and kernels.

    `traceable`: XLA can compile it (given concrete `static` inputs and no string values).
    `is_handle`: a node of it only names a resource: the same one every time it runs.
    """

    shape_rule: Callable[[Any], Any] | None
    kernels: Kernels
    kernel_attrs: tuple[str, ...]
    takes_ctx: bool
    takes_rng: bool
    traceable: bool
    is_handle: bool

    def __init__(
        self,
        name: str,
        inputs: str = "",
        outputs: str = "",
        attrs: str | Iterable[AttrDef] = "",
        *,
        shape: Callable[[Any], Any] | None = None,
        static: str = "",
        traits: Traits = PLAIN,
        kernel: Kernel | None = None,
    ) -> None:
        fields = vars(self)
        fields.update(vars(traits), name=name, shape_rule=shape, kernels=Kernels(kernel))
        fields["static"] = split_names(static)
        fields["known"] = traits.known | self.static
        listed = attrs if isinstance(attrs, str) else tuple(attrs)
        fields["_declared"] = inputs, outputs, listed, kernel
        if flags.CHECK:
            self._read()

    def _read(self) -> None:
        """Reads the declaration, and checks it; what follows from it is there from then on.

        All fields lie side by side then: those of ops in use are read all the time. Most programs
        use few of the ops: those of the others are never read. Two threads may both do it, and
        find the same.
        """
        fields = vars(self)
        declared = fields.get("_declared")
        if declared is not None:
            fields.update(DEFAULTS | fields | _follows(self, *declared))
            fields.pop("_declared", None)

    if not TYPE_CHECKING:  # the checker knows the fields

        def __getattr__(self, name: str) -> Any:
            self._read()
            try:
                return vars(self)[name]
            except KeyError:
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r}") from None

    @property
    def kernel(self) -> Kernel | None:
        return self.kernels.general

    @property
    def traced_kernel(self) -> Kernel | None:
        return self.kernels.traced

    @property
    def prepare(self) -> Callable[[Any], Callable[..., Any] | None] | None:
        return self.kernels.prepare

    def numpy(self, kernel: Kernel) -> Kernel:
        """Decorator: the kernel's form for NumPy, with the same parameters."""
        general = self.kernels.general
        assert general is not None and _parameters(kernel) == _parameters(general), self.name
        self.kernels.general = ByLibrary(general, kernel)
        return kernel

    def traced(self, kernel: Callable[..., Any] | None) -> Callable[..., Any] | None:
        """Decorator: the kernel that stands in for this one while a region is traced."""
        self.kernels.traced = kernel
        return kernel

    def prepared(self, function: Callable[[Any], Any], inputs: int = 1) -> Callable[[Any], Any]:
        """Decorator: `function(c)` may give a shorter way to do what the kernel does with NumPy.

        It gets the node's `attr`s and the `value`s of its inputs, which but for the first, or the
        first few, are constants, and returns a function of these inputs, or None.
        """
        self.kernels.prepare, self.kernels.prepared_inputs = function, inputs
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
        """The signature in `help` and `inspect`: inputs, then attributes, then `name`."""
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
    traits: Traits = PLAIN,
) -> Callable[[Kernel | None], OpDef]:
    """Declares the operation `name`; decorates its kernel and returns the `OpDef`.

    `static` lists inputs whose values must be concrete before XLA compiles; graph/traits.py lists
    what `traits` can say.
    """

    def declare(kernel: Kernel | None) -> OpDef:
        if REGISTRY.has(name):
            raise ValueError(f"op {name} is declared twice")
        definition = OpDef(
            name, inputs, outputs, attrs, shape=shape, static=static, traits=traits, kernel=kernel
        )
        if not traits.differentiable:
            register_gradient(name, None)
        REGISTRY[name] = definition
        return definition

    return declare


def _follows(
    traits: OpDef, inputs: str, outputs: str, attrs: str | Iterable[AttrDef], kernel: Kernel | None
) -> dict[str, Any]:
    """The fields that a declaration tells."""
    name = traits.name
    found = parse_signature(name, inputs, outputs, attrs)
    if unknown := traits.known - {arg.name for arg in found.input_args}:
        raise ValueError(f"op {name}: static inputs {sorted(unknown)} are not inputs")
    extra, kernel_attrs = (None, ()) if kernel is None else _check(found, kernel)
    takes_ctx = extra == "ctx"
    return vars(found) | {
        "kernel_attrs": kernel_attrs,
        "takes_ctx": takes_ctx,
        "takes_rng": extra == "rng",
        "traceable": traits.runs_on == "any" and kernel is not None and not takes_ctx,
        "is_handle": takes_ctx and not found.input_args and _makes_handle(found),
    }


def _makes_handle(definition: Signature) -> bool:
    first = definition.output_args[0] if definition.single_output else None
    return first is not None and (first.is_ref or first.type is dtypes.resource)


def _check(definition: Signature, kernel: Kernel) -> tuple[str | None, tuple[str, ...]]:
    """Checks a kernel's parameters against the signature.

    Gives what it takes besides inputs, "ctx" or "rng", and the attributes it takes.
    """
    names, attrs, variadic = _parameters(kernel)
    if not names or names[0] != "xp":
        raise TypeError(f"op {definition.name}: the kernel's first parameter must be xp")
    rest, extra = names[1:], None
    if rest and rest[0] in ("ctx", "rng") and rest[0] not in definition.params:
        extra = rest.pop(0)
    wanted = [arg.name for arg in definition.input_args]
    if not variadic and [n.rstrip("_") for n in rest] != [n.rstrip("_") for n in wanted]:
        raise TypeError(f"op {definition.name}: kernel takes {rest}, the signature says {wanted}")
    for attr in attrs:
        if attr.rstrip("_") not in definition.attrs and attr not in definition.attrs:
            raise TypeError(
                f"op {definition.name}: kernel wants attr {attr!r}, which is not declared"
            )
    return extra, attrs


def _parameters(kernel: Kernel) -> tuple[list[str], tuple[str, ...], bool]:
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
    definition: OpDef | None = REGISTRY.get(name)
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

    def __init__(self) -> None:
        self.__dict__: dict[str, Any] = REGISTRY  # where Python looks without a call

    def __getattr__(self, name: str) -> OpDef:
        if name not in REGISTRY:
            raise AttributeError(f"module 'weft.raw_ops' has no attribute {name!r}")
        return REGISTRY[name]

    def __dir__(self) -> Iterator[str]:
        return iter(sorted(REGISTRY))


raw = _RawOps()
