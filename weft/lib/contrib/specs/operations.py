"""The short names of layers and operations in specifications of networks."""

from __future__ import annotations

import itertools
from typing import Any

from weft.lib.contrib import layers
from weft.lib.contrib.specs import composing
from weft.lib.contrib.specs.composing import Composable
from weft.ops.array import array
from weft.ops.control.printing import Print as print_op
from weft.ops.math import math
from weft.ops.nn import activations
from weft.ops.state.get_variable import get_variable
from weft.ops.state.variable_scope import VariableScope, variable_scope

__all__ = (
    "Ap Bn Cl Cm Conc Cr Cs Ct Cx Do Dwm Dws Expand Flat Fl Fm Fr Fs Ft Fun Fx Id Idx Lrn Mp Print "
    "Relu Reshape Shared Sig Smax Squeeze Tanh Transpose Unit Var"
).split()


class Idx(Composable):
    """The input as it is, without a node."""

    def funcall(self, x: Any) -> Any:
        """`x`."""
        return x


class Conc(Composable):
    """What several parts make of the same input, joined along an axis."""

    def __init__(self, dim: int, *args: Composable) -> None:
        self.dim, self.funs = dim, args

    def funcall(self, x: Any) -> Any:
        """The parts, joined."""
        return array.concat([part.funcall(x) for part in self.funs], self.dim)


External, Import = composing.External, composing.Import
Fun, debug = composing.Function, composing.debug
Print, Id = Fun(print_op), Fun(array.identity)

# Layers by the activation they end with: its own, sigmoid, tanh, ReLU, softmax, none.
_ENDS: dict[str, dict[str, Any]] = {
    "x": {},
    "s": {"activation_fn": math.sigmoid},
    "t": {"activation_fn": math.tanh},
    "r": {"activation_fn": activations.relu},
    "m": {"activation_fn": activations.softmax},
    "l": {"activation_fn": None},
}
Cx, Cs, Ct, Cr, Cm, Cl = (Fun(layers.conv2d, **end) for end in _ENDS.values())
Fx, Fs, Ft, Fr, Fm, Fl = (Fun(layers.fully_connected, **end) for end in _ENDS.values())
Mp, Ap = Fun(layers.max_pool2d), Fun(layers.avg_pool2d)
Do, Bn = Fun(layers.dropout), Fun(layers.batch_norm)
Lrn, Unit = Fun(activations.local_response_normalization), Fun(layers.unit_norm)
Flat, Reshape = Fun(layers.flatten), Fun(array.reshape)
Transpose, Squeeze, Expand = Fun(array.transpose), Fun(array.squeeze), Fun(array.expand_dims)
Relu, Sig = Fun(activations.relu), Fun(math.sigmoid)
Tanh, Smax = Fun(math.tanh), Fun(activations.softmax)


def Dws(n: int) -> composing.Function:
    """A dense layer for each pixel, that ends with a sigmoid."""
    return Cs(n, [1, 1])


def Dwm(n: int) -> composing.Function:
    """A dense layer for each pixel, that ends with a softmax."""
    return Cm(n, [1, 1])


def Var(name: str, *args: Any, **kw: Any) -> composing.Callable:
    """A variable, whatever the input."""
    return composing.Callable(lambda _: get_variable(name, *args, **kw))


class Shared(Composable):
    """A part whose variables are the same wherever it stands."""

    _numbers = itertools.count(1)

    def __init__(self, subnet: Composable, name: str | None = None, scope: Any = None) -> None:
        if scope is not None and not isinstance(scope, VariableScope):
            raise ValueError("scope must be None or a VariableScope")
        if name is not None and not isinstance(name, str):
            raise ValueError("name must be None or a string")
        if scope is not None and name is not None:
            raise ValueError("cannot provide both a name and a scope")
        self.subnet, self.scope = subnet, scope
        self.name = f"Shared_{next(self._numbers)}" if name is None else name

    def funcall(self, x: Any) -> Any:
        """The part, with the variables that it has."""
        known: dict[str, Any] = {"reuse": True} if self.scope is not None else {}
        with variable_scope(self.scope or self.name, values=[x], **known) as scope:
            self.scope = self.scope or scope
            return self.subnet.funcall(x)
