"""The arguments of a `tf.function`: in one form however passed, and which trace they mean.

Tensors count by type and shape, everything else by its value.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec, TypeSpec, type_spec_from_value
from weft.ops.lists.eager_array import EagerTensorArray
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.state.variables import Variable

_KEYWORDS = (
    "Cannot define a TensorFlow function from a Python function with keyword arguments when"
    " input_signature is provided."
)


@dataclass
class Arguments:
    """The arguments of a call: positional ones, defaults included, and the others by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    names: list[str]  # of the positional ones

    @property
    def leaves(self) -> list[Any]:
        return nest.flatten((self.args, self.kwargs), expand_composites=True)

    @property
    def tensors(self) -> list[Tensor]:
        """The inputs of the call node."""
        return [leaf if isinstance(leaf, Tensor) else leaf.flow for leaf in self.leaves
                if isinstance(leaf, (Tensor, TensorArray))]  # fmt: skip

    @property
    def structure(self) -> str:
        return repr(nest.map_structure(lambda _: 0, (self.args, self.kwargs)))

    def key(self) -> Hashable:
        return self.structure, tuple(map(key_of, self.leaves))

    def with_leaves(self, leaves: Sequence[Any]) -> Arguments:
        made = nest.pack_sequence_as((self.args, self.kwargs), leaves, expand_composites=True)
        return Arguments(made[0], made[1], self.names)

    def as_specs(self) -> Arguments | None:
        """A spec for each tensor and array; None if there is anything else than plain values."""
        flat = nest.flatten((self.args, self.kwargs))
        specs = [_spec_of(leaf) for leaf in flat]
        if any(spec is _Same for spec in specs):
            return None
        made = nest.pack_sequence_as((self.args, self.kwargs), specs)
        return Arguments(made[0], made[1], self.names)

    def leaf_names(self) -> list[str]:
        """A name for each leaf: that of the argument it is in."""
        count = [len(nest.flatten(arg, expand_composites=True)) for arg in self.args]
        found = [name for name, n in zip(self.names, count, strict=True) for _ in range(n)]
        for name in sorted(self.kwargs):
            found += [name] * len(nest.flatten(self.kwargs[name], expand_composites=True))
        return found


def _spec_of(leaf: Any) -> Any:
    """The spec of an argument that a trace depends on; `_Same` if that is the object itself."""
    if isinstance(leaf, (Tensor, np.ndarray, np.generic)):
        return TensorSpec(leaf.shape, leaf.dtype)
    if leaf is None or isinstance(leaf, (bool, int, float, str, TypeSpec)):
        return leaf
    return type_spec_from_value(leaf) if hasattr(leaf, "_composite_components") else _Same


def quick_key(args: tuple[Any, ...]) -> Hashable:
    """Equal for calls that differ by nothing a trace depends on; None where that takes a look."""
    found: list[Hashable] = []
    for arg in args:
        if isinstance(arg, Tensor):
            found.append((arg.dtype, arg.dims))
        elif arg is None or type(arg) in (bool, int, float, str):
            found.append((type(arg), arg))
        else:
            return None
    return tuple(found)


def key_of(leaf: Any) -> Hashable:
    """The key of an argument: a trace serves all arguments with an equal key."""
    if isinstance(leaf, Tensor):
        return "tensor", leaf.dtype.base_dtype, leaf.dims
    if isinstance(leaf, TensorSpec):
        return "tensor", leaf.dtype.base_dtype, leaf.shape._dims_tuple
    if isinstance(leaf, TensorArray):
        return "array", leaf.dtype, leaf.element_shape._dims_tuple, leaf.handle is None
    try:
        if not isinstance(leaf, Variable):
            hash(leaf)
            return "value", type(leaf), leaf
    except TypeError:
        pass
    return "object", _Same(leaf)


class _Same:
    """Equal to itself only, whatever `==` of the object does; keeps it alive as a key must."""

    def __init__(self, kept: Any) -> None:
        self._kept = kept

    def __hash__(self) -> int:
        return id(self._kept)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other._kept is self._kept


class FunctionSpec:
    """The parameters of a Python function, and the signature that calls are held to, if any."""

    def __init__(self, python_function: Callable[..., Any], input_signature: Any) -> None:
        self.python_function = python_function
        self.signature = _parameters(python_function)
        if input_signature is not None:
            if not isinstance(input_signature, (tuple, list)):
                raise TypeError(
                    "input_signature must be either a tuple or a list, received"
                    f" {type(input_signature)}"
                )
            kinds = [p.kind for p in self.signature.parameters.values()]
            if inspect.Parameter.VAR_KEYWORD in kinds:
                raise ValueError(_KEYWORDS)
            for spec in nest.flatten(input_signature):
                if not isinstance(spec, TypeSpec):
                    raise TypeError(
                        f"Invalid input_signature {input_signature}; input_signature must be a"
                        " possibly nested sequence of TensorSpec objects."
                    )
            input_signature = tuple(input_signature)
        self.input_signature: tuple[Any, ...] | None = input_signature

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """The arguments of a call in one form, arrays of NumPy as tensors."""
        if self.input_signature is not None:
            self._check_covered(args, kwargs)
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        positional, names = self._positional(bound)
        if self.input_signature is not None:
            positional = _held_to(positional, self.input_signature)
        found = Arguments(positional, dict(bound.kwargs), names)
        return found.with_leaves([_converted(leaf) for leaf in found.leaves])

    def _check_covered(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        assert self.input_signature is not None
        covered = len(self.input_signature)
        if len(args) > covered:
            raise TypeError(
                "When input_signature is provided, only pass arguments covered by it. Received"
                f" {len(args)} argument(s)."
            )
        order = list(self.signature.parameters)
        for name in kwargs:
            if name not in order:
                raise TypeError(f"Function got an unexpected keyword argument {name}")
            if order.index(name) >= covered:
                raise TypeError(
                    "When input_signature is provided, only pass arguments covered by it. Received"
                    f" argument {name}."
                )

    def _positional(self, bound: inspect.BoundArguments) -> tuple[tuple[Any, ...], list[str]]:
        names = []
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                names += [f"{name}_{i}" for i in range(len(bound.arguments.get(name, ())))]
            elif parameter.kind not in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD):
                names.append(name)
        return bound.args, names

    def bind_specs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
        """The arguments of `get_concrete_function`: specs stand for tensors."""
        if self.input_signature is not None:
            if kwargs:
                raise ValueError(_KEYWORDS)
            if args and not _same_structure(self.input_signature, args):
                raise ValueError(
                    "Structure of Python function inputs does not match input_signature."
                )
            given = zip(nest.flatten(self.input_signature), nest.flatten(args), strict=False)
            if not all(spec.is_compatible_with(other) for spec, other in given):
                raise ValueError(
                    f"Python inputs incompatible with input_signature: inputs ({args}),"
                    f" input_signature ({self.input_signature})"
                )
            args = self.input_signature
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        positional, names = self._positional(bound)
        return Arguments(positional, dict(bound.kwargs), names)


def _parameters(function: Callable[..., Any]) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        every = inspect.Parameter("args", inspect.Parameter.VAR_POSITIONAL)
        named = inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
        return inspect.Signature([every, named])


def _same_structure(a: Any, b: Any) -> bool:
    try:
        nest.assert_same_structure(tuple(a), tuple(b))
    except (TypeError, ValueError):
        return False
    return True


def _converted(leaf: Any) -> Any:
    """An argument in the form in which functions take it: arrays of tensors as lists."""
    if isinstance(leaf, EagerTensorArray):
        return leaf._after(leaf.flow)
    return convert_to_tensor(leaf) if isinstance(leaf, np.ndarray) else leaf


def _held_to(inputs: tuple[Any, ...], signature: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments as tensors that fit the signature; what it does not cover stays."""

    def text() -> str:
        given, wanted = (",\n    ".join(map(str, each)) for each in (inputs, signature))
        return f"  inputs: (\n    {given})\n  input_signature: (\n    {wanted})"

    try:
        flat = nest.flatten_up_to(signature, inputs[: len(signature)])
    except (ValueError, TypeError):
        raise ValueError(
            f"Structure of Python function inputs does not match input_signature:\n{text()}"
        ) from None
    specs = nest.flatten(signature)
    made = []
    for value, spec in zip(flat, specs, strict=True):
        if isinstance(spec, TensorSpec) and not isinstance(value, (Tensor, TensorSpec)):
            try:
                value = convert_to_tensor(value, dtype_hint(value, spec))
            except (ValueError, TypeError):
                raise ValueError(
                    "When input_signature is provided, all inputs to the Python function must be"
                    f" convertible to tensors:\n{text()}"
                ) from None
        if not spec.is_compatible_with(value):
            raise ValueError(f"Python inputs incompatible with input_signature:\n{text()}")
        made.append(value)
    packed = nest.pack_sequence_as(signature, made)
    return (*packed, *inputs[len(signature) :])


def dtype_hint(value: Any, spec: TensorSpec) -> Any:
    """Python numbers take the type that is wanted; arrays and variables have their own."""
    own = isinstance(value, (np.ndarray, np.generic, Variable))
    return None if own else spec.dtype


def relaxed(a: Arguments, b: Arguments) -> Arguments:
    """Specs that the tensors of both fit, for `experimental_relax_shapes`."""
    from weft.ops.functions.branch_functions import common_dims

    def common(x: Any, y: Any) -> Any:
        if not isinstance(x, (Tensor, TensorSpec)):
            return x
        shapes = x.shape._dims_tuple, y.shape._dims_tuple
        return TensorSpec(TensorShape.from_dims(common_dims(shapes)), x.dtype.base_dtype)

    return a.with_leaves([common(x, y) for x, y in zip(a.leaves, b.leaves, strict=True)])


def bound_to(function: Callable[..., Any], owner: Any) -> Callable[..., Any]:
    """A method of an object, also if the function is one that only wraps it."""
    if hasattr(function, "__get__"):
        bound: Callable[..., Any] = function.__get__(owner, type(owner))
        return bound
    return functools.partial(function, owner)
