"""Functions whose intermediate results are not kept for the gradient but computed again."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.autodiff.custom_gradient import _variables_between, custom_gradient
from weft.autodiff.gradients import derivatives
from weft.graph.graph import Tensor, control_dependencies, get_default_graph
from weft.lib.contrib.framework.arg_scope import arg_scope, current_arg_scope
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.state import variable_scope as vs
from weft.ops.state.variables import Variable

_OTHER_VARIABLES = (
    "The variables used on recompute were different than the variables originally\n"
    "used. The function wrapped with @recompute_grad likley creates its own variable\n"
    "scope with a default name and has been called twice in the same enclosing scope.\n"
    "To fix, ensure each call to the function happens in its own unique variable\n"
    "scope.\n"
)


def recompute_grad(
    fn: Any = None, use_data_dep: Any = None, tupleize_grads: bool = False
) -> Callable[..., Any]:
    """Decorator: the gradient of `fn` runs it once more, when those of its results are there.

    `tupleize_grads` hands out no gradient before all are there. `use_data_dep` changes nothing: a
    compiled step orders its computations by itself.
    """
    if fn is None:
        return functools.partial(
            recompute_grad, use_data_dep=use_data_dep, tupleize_grads=tupleize_grads
        )
    _check_closure(fn)

    @functools.wraps(fn)
    def wrapped(*args: Any) -> Any:
        if not all(isinstance(arg, Tensor) for arg in args):
            raise ValueError("All inputs to function must be Tensors")
        return _recomputed(fn, args, tupleize_grads)

    return wrapped


def _check_closure(fn: Any) -> None:
    code = getattr(fn, "__code__", None)
    if code is None or not code.co_freevars:
        return
    for name, cell in zip(code.co_freevars, fn.__closure__, strict=True):
        value = cell.cell_contents
        if isinstance(value, Tensor | Variable):
            raise ValueError(
                f"fn decorated with @recompute_grad closes over Tensor {value.name} (local "
                f"variable name: {name}). The decorated fn must not close over Tensors or "
                "Variables because gradients will NOT be computed for them through fn. To ensure "
                "correct gradients, make the Tensor an input to fn."
            )


def _recomputed(fn: Callable[..., Any], args: tuple[Any, ...], tupleize: bool) -> Any:
    tells = "is_recomputing" in inspect.signature(fn).parameters

    def call(inputs: Any, again: bool) -> Any:
        return fn(*inputs, **({"is_recomputing": again} if tells else {}))

    @custom_gradient
    def run(*inputs: Any) -> Any:
        scope, arguments = vs.get_variable_scope(), current_arg_scope()

        def differentiate(output_grads: Any, given: list[Any]) -> Any:
            with (
                control_dependencies([g for g in output_grads if g is not None]),
                arg_scope(arguments),
                vs.variable_scope(scope, reuse=True),
            ):
                fresh = [array.identity(x) for x in inputs]
                outputs = call(fresh, again=True)
            outputs = list(outputs) if isinstance(outputs, list | tuple) else [outputs]
            used = _variables_between(get_default_graph(), fresh, outputs)
            if {id(v) for v in used} != {id(v) for v in given}:
                raise ValueError(_OTHER_VARIABLES)
            found = derivatives(outputs, fresh + given, list(output_grads))
            if tupleize:
                found = control.tuple_(found)
            of_inputs = found[: len(fresh)]
            return (of_inputs, found[len(fresh) :]) if given else of_inputs

        outputs = call(inputs, again=False)
        return outputs, signed(differentiate, inputs, outputs)

    return run(*args)


def signed(differentiate: Callable[..., Any], inputs: Any, outputs: Any) -> Callable[..., Any]:
    """`differentiate(gradients, variables)` with the signature that `custom_gradient` wants."""
    made = [outputs] if isinstance(outputs, Tensor) else list(outputs)
    if _variables_between(get_default_graph(), list(inputs), made):
        return lambda *grads, variables: differentiate(grads, variables)
    return lambda *grads: differentiate(grads, [])
