"""Reversible residual blocks: their inputs follow from their outputs, so nothing is kept.

A layer takes (x1, x2) to y1 = x1 + f(x2), y2 = x2 + g(y1). The gradient goes back from layer to
layer, computing x2 = y2 - g(y1), x1 = y1 - f(x2) on the way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from weft.autodiff.custom_gradient import custom_gradient
from weft.autodiff.gradients import derivatives
from weft.core import nest
from weft.lib.contrib.layers.recompute import signed
from weft.lib.layers.base import Layer
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.math import math
from weft.ops.state import variable_scope as vs

_OWNER = re.compile(r".*revlayer_([0-9]*)/([fg])/.*")
Function = Callable[..., Any]


def _applied(function: Function, x: Any, side: list[Any]) -> Any:
    return function(x, side) if side else function(x)


def _in_scope(function: Function, scope: str) -> Function:
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        with vs.variable_scope(scope, use_resource=True):
            return function(*args, **kwargs)

    return wrapped


def _of_each_layer(functions: Any, count: int, kind: str) -> list[Function]:
    functions = functions if isinstance(functions, list) else [functions] * count
    assert len(functions) == count
    return [_in_scope(each, f"revlayer_{i}/{kind}") for i, each in enumerate(functions)]


class RevBlock(Layer):
    """`num_layers` reversible layers of the functions `f` and `g`, or lists of them."""

    def __init__(
        self,
        f: Any,
        g: Any,
        num_layers: int = 1,
        f_side_input: Any = None,
        g_side_input: Any = None,
        use_efficient_backprop: bool = True,
        name: str = "revblock",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.f, self.g = (_of_each_layer(x, num_layers, kind) for x, kind in ((f, "f"), (g, "g")))
        self.num_layers = num_layers
        self.f_side_input, self.g_side_input = f_side_input or [], g_side_input or []
        self._use_efficient_backprop = use_efficient_backprop

    def call(self, inputs: Any, forward: bool = True, **kwargs: Any) -> Any:
        scope = vs.get_variable_scope()
        known = len(scope.global_variables())
        out = self._forward(*inputs) if forward else self._backward(*inputs)
        trained = scope.trainable_variables()
        for variable in scope.global_variables()[known:]:
            ours = any(variable is each for each in trained)
            (self._trainable_weights if ours else self._non_trainable_weights).append(variable)
        return out

    def forward(self, x1: Any, x2: Any) -> Any:
        return self.apply([x1, x2])

    def backward(self, y1: Any, y2: Any) -> Any:
        """The inputs that give these outputs."""
        return self.apply([y1, y2], forward=False)

    def _backward(self, y1: Any, y2: Any) -> tuple[Any, Any]:
        for f, g in zip(reversed(self.f), reversed(self.g), strict=True):
            y2 = y2 - _applied(g, y1, self.g_side_input)
            y1 = y1 - _applied(f, y2, self.f_side_input)
        return y1, y2

    def _forward(self, x1: Any, x2: Any) -> Any:
        sides = [self.f_side_input, self.g_side_input]

        def plain(x1: Any, x2: Any, *flat: Any) -> tuple[Any, Any]:
            f_side, g_side = nest.pack_sequence_as(sides, flat)
            for f, g in zip(self.f, self.g, strict=True):
                x1 = x1 + _applied(f, x2, f_side)
                x2 = x2 + _applied(g, x1, g_side)
                if self._use_efficient_backprop:
                    x1, x2 = control.tuple_([x1, x2])
            return x1, x2

        if not self._use_efficient_backprop:
            return plain(x1, x2, *nest.flatten(sides))

        @custom_gradient
        def reversible(*inputs: Any) -> Any:
            outputs = plain(*inputs)

            def differentiate(grads: Any, variables: list[Any]) -> Any:
                return self._gradient(outputs, grads, variables)

            return outputs, signed(differentiate, inputs, outputs)

        return reversible(x1, x2, *nest.flatten(sides))

    def _gradient(self, ys: Any, grad_ys: Any, variables: list[Any]) -> Any:
        """Gradients of the inputs and side inputs, and of the variables if there are any."""
        of_variables: dict[int, Any] = {}
        f_sides, g_sides = [], []
        with vs.variable_scope(self.scope_name, reuse=True):
            for i in reversed(range(self.num_layers)):
                f_vars, g_vars = (_owned(variables, i, kind) for kind in "fg")
                step = self._step_back(i, ys, grad_ys, f_vars, g_vars)
                ys, grad_ys, (of_f, f_side), (of_g, g_side) = step
                f_sides.append(f_side)
                g_sides.append(g_side)
                for variable, grad in zip(f_vars + g_vars, of_f + of_g, strict=True):
                    of_variables[id(variable)] = grad
        of_inputs = [*grad_ys, *_summed(f_sides), *_summed(g_sides)]
        if not variables:
            return of_inputs
        return of_inputs, [of_variables.get(id(variable)) for variable in variables]

    def _step_back(
        self, i: int, ys: Any, grad_ys: Any, f_vars: list[Any], g_vars: list[Any]
    ) -> Any:
        """Inputs of a layer, their gradients, and those of what f and g use."""
        (y1, y2), (grad_y1, grad_y2) = ys, grad_ys
        y1_stop = array.stop_gradient(y1)
        g_side = [array.stop_gradient(t) for t in self.g_side_input]
        gy1 = _applied(self.g[i], y1_stop, g_side)
        x2 = y2 - gy1
        x2_stop = array.stop_gradient(x2)
        f_side = [array.stop_gradient(t) for t in self.f_side_input]
        fx2 = _applied(self.f[i], x2_stop, f_side)
        x1 = y1 - fx2
        through_g, *of_g = derivatives(gy1, [y1_stop, *g_vars, *g_side], grad_y2)
        grad_x1 = grad_y1 + through_g
        through_f, *of_f = derivatives(fx2, [x2_stop, *f_vars, *f_side], grad_x1)
        grad_x2 = through_f + grad_y2
        split_f, split_g = len(f_vars), len(g_vars)
        result = (
            (x1, x2),
            (grad_x1, grad_x2),
            (of_f[:split_f], of_f[split_f:]),
            (of_g[:split_g], of_g[split_g:]),
        )
        # One layer at a time: nothing of the one before starts until this one is done.
        return nest.pack_sequence_as(result, control.tuple_(nest.flatten(result)))


def _owned(variables: list[Any], layer: int, kind: str) -> list[Any]:
    """The variables that a function of a layer has made."""
    matched = [(v, _OWNER.match(v.name)) for v in variables]
    return [v for v, m in matched if m is not None and (int(m[1]), m[2]) == (layer, kind)]


def _summed(lists: list[list[Any]]) -> list[Any]:
    """Gradients of the same things, of several layers."""
    there = [[grad for grad in each if grad is not None] for each in zip(*lists, strict=True)]
    return [math.add_n(grads) if grads else None for grads in there]


def rev_block(
    x1: Any,
    x2: Any,
    f: Any,
    g: Any,
    num_layers: int = 1,
    f_side_input: Any = None,
    g_side_input: Any = None,
    is_training: bool = True,
) -> Any:
    """Reversible layers on (x1, x2); without `is_training`, their gradient is the usual one."""
    block = RevBlock(
        f,
        g,
        num_layers,
        f_side_input,
        g_side_input,
        use_efficient_backprop=is_training,
        _reuse=vs.get_variable_scope().reuse,
    )
    return block.forward(x1, x2)
