"""Calls of operations that eager execution has seen before, with all that does not change.

A call is known by its operation, the types of its tensors and its other arguments. Types are
inferred, attributes checked and the kernel bound once; the shape rule, which raises where shapes do
not fit, is asked once for the same shapes, and for the same values of inputs that it looks at.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.graph.by_library import form_for_numpy
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import infer_shapes
from weft.graph.kernel_call import Call, kernel_attrs
from weft.graph.op_def import OpDef
from weft.graph.operation import Operation
from weft.graph.shape_fn import Dims, ShapeContext, size
from weft.graph.tensor import Tensor
from weft.ops.kit.eager import EagerTensor

_PLAIN = frozenset({bool, int, str, type(None), DType})
_INTEGERS = frozenset({int})
_MAX_SHAPES = 256
_FEW = 64  # elements of an input whose value tells a shape
_LARGE = 1 << 20  # elements of an output for which there may be no memory

Args = tuple[Any, ...]
Named = dict[str, Any]


def key_of(definition: OpDef, args: Args, named: Named) -> Any:
    """The key of a call; None if it cannot be known."""
    found: list[Any] = [definition.name]
    for value in args:
        kind = type(value)
        if kind is EagerTensor:
            found.append(id(value.dtype))
        elif kind in _PLAIN:
            found += (kind, value)
        elif not _add_key(found, kind, value):
            return None
    for name, value in named.items():
        if name != "name":
            found.append(name)
            if not _add_key(found, type(value), value):
                return None
    return tuple(found)


def _add_key(found: list[Any], kind: type, value: Any) -> bool:
    if kind in _PLAIN or (kind is tuple and _INTEGERS.issuperset(map(type, value))):
        found += (kind, value)
    elif kind is float:
        found.append(repr(value))  # 0.0 and -0.0 are equal
    elif kind is EagerTensor:
        found.append(id(value.dtype))
    else:
        return False
    return True


def can_be_known(definition: OpDef) -> bool:
    """Whether calls are nothing but a kernel on values, with one result."""
    kind = definition
    special = kind.takes_ctx or kind.takes_rng or kind.needs_xla or kind.calls or kind.control_flow
    lists = kind.has_list_input or kind.has_ref_input or not kind.single_output
    return not (special or lists or kind.kernel is None or not kind.input_args)


def gives_object(op: Operation) -> bool:
    """Whether a result is no array."""
    return any(tensor.dtype in (dtypes.resource, dtypes.variant) for tensor in op.outputs)


class KnownCall:
    """Calls like the one with these arguments, which made `op`.

    `places` has for each input where it is: a number for an argument, a name for one that goes by
    it; a tensor for the number that was given for one.
    """

    __slots__ = ("_leading", "_looked", "_shapes", "attrs", "call", "dtype", "places")

    def __init__(self, op: Operation, args: Args, named: Named) -> None:
        self.attrs, self.dtype = dict(op.attrs), op.outputs[0].dtype
        self.places = _places(op, args, named)
        # How many inputs there are, if they are the first arguments. Tensors compare by value.
        leads = all(type(at) is int and at == i for i, at in enumerate(self.places))
        self._leading = len(self.places) if leads else 0
        self.call = _bare(op)
        self._looked: set[int] | None = set()  # inputs; None: the rule looks at more than values
        # The way to compute, for each of the shapes that the rule allows.
        self._shapes: dict[Any, Call] = {}

    def inputs(self, args: Args, named: Named) -> tuple[Tensor, ...]:
        """The inputs of a call, of which numbers are those of this call."""
        if self._leading:
            return args[: self._leading]
        return tuple(
            [
                args[at] if type(at) is int else named[at] if type(at) is str else at
                for at in self.places
            ]
        )

    def seen(self, inputs: Sequence[Tensor], values: list[Any]) -> Call | None:
        """The way to compute, if the shape rule allows these and there is memory for the result."""
        looked = self._looked
        if looked is None:
            return None
        dims = [tensor.dims for tensor in inputs]
        return self._shapes.get(_shape_key(dims, looked, values) if looked else tuple(dims))

    def infer(self, op: Operation, values: list[Any]) -> None:
        """Asks the shape rule, and notes what it allows."""
        context = _Watched(op)
        infer_shapes(op, context)
        if self._looked is None or context.beyond or _any_long(values, context.values):
            self._looked = None
            return
        if not context.values <= self._looked or len(self._shapes) > _MAX_SHAPES:
            self._looked, self._shapes = self._looked | context.values, {}
        if not any(_is_large(tensor) for tensor in op.outputs):
            dims = [tensor.dims for tensor in op.inputs]
            self._shapes[_shape_key(dims, self._looked, values)] = self._way(op)

    def _way(self, op: Operation) -> Call:
        """The kernel, or what it does to the first inputs, if the others are the same each time."""
        prepare, first = op.definition.prepare, op.definition.kernels.prepared_inputs
        if prepare is None or not all(isinstance(place, Tensor) for place in self.places[first:]):
            return self.call
        short = prepare(ShapeContext(op))
        return self.call if short is None else lambda xp, values: (short(*values[:first]),)


def _bare(op: Operation) -> Call:
    """The kernel's form for NumPy, with nothing around it."""
    assert op.definition.kernel is not None
    kernel = form_for_numpy(op.definition.kernel)
    named = kernel_attrs(op.definition, op.attrs)
    return lambda xp, values: (kernel(xp, *values, **named),)


def _places(op: Operation, args: Args, named: Named) -> list[Any]:
    definition = op.definition
    at: dict[str, Any] = {name: i for i, name in enumerate(definition.params[: len(args)])}
    at |= {definition.own_names.get(name, name): name for name in named}
    found = []
    for arg in definition.input_args:
        place = at[arg.name]
        value = args[place] if isinstance(place, int) else named[place]
        if type(value) is not EagerTensor:
            place = convert_to_tensor(value, arg.type or op.attrs[arg.type_attr or ""])
        found.append(place)
    return found


def _shape_key(dims: list[Dims], looked: set[int], values: list[Any]) -> Any:
    return (*dims, *[values[i].tobytes() for i in looked])


def _any_long(values: list[Any], looked: set[int]) -> bool:
    kinds = (np.ndarray, np.generic)
    return any(not isinstance(v, kinds) or v.size > _FEW for v in (values[i] for i in looked))


def _is_large(tensor: Tensor) -> bool:
    count = size(tensor.dims)
    return count is None or count >= _LARGE


class _Watched(ShapeContext):
    """A shape context that notes which values a rule looks at.

    `beyond`: it looks at more than types, shapes, attributes and values.
    """

    __slots__ = ("beyond", "values")

    def __init__(self, op: Operation) -> None:
        super().__init__(op)
        self.values: set[int] = set()
        self.beyond = False

    @property
    def op(self) -> Operation:
        self.beyond = True
        return self._op

    def value(self, i: int) -> np.ndarray | None:
        self.values.add(i)
        return super().value(i)

    def partial(self, i: int) -> Dims:
        self.values.add(i)
        return super().partial(i)
