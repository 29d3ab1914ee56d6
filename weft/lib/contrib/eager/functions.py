"""Functions of functions: values and gradients, computed at once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from weft.autodiff.tape import GradientTape
from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.lib.platform import app
from weft.ops.kit.eager import executing_eagerly

Params = Sequence[Any] | None


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """f's value, and its gradients by all trainable variables that it reads, with these."""

    @functools.wraps(f)
    def value_and_gradients(*args: Any, **kwargs: Any) -> Any:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
            _check_result(f, value)
        variables = sorted(tape.watched_variables(), key=lambda v: v.handle.op._id)
        if not variables:
            raise ValueError(
                "No trainable variables were accessed while the function was being computed."
            )
        return value, list(zip(tape.gradient(value, variables), variables, strict=True))

    return value_and_gradients


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """As `implicit_value_and_gradients`, without the value."""
    both = implicit_value_and_gradients(f)

    @functools.wraps(f)
    def gradients(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradients


def value_and_gradients_function(f: Callable[..., Any], params: Params = None) -> Any:
    """f's value, and its gradients by the parameters of these names or positions (all of them)."""
    positions = _positions(f, params)

    @functools.wraps(f)
    def value_and_gradients(*args: Any, **kwargs: Any) -> Any:
        weight = kwargs.pop("dy", None)
        given = _arguments(f, args, kwargs)
        asked = list(range(len(given))) if params is None else positions
        with GradientTape() as tape:
            for i in asked:
                if not isinstance(given[i], Tensor) and not hasattr(given[i], "handle"):
                    given[i] = convert_to_tensor(given[i])
                tape.watch(given[i])
            value = f(*given)
            _check_result(f, value)
        weights = None if weight is None else nest.map_structure(convert_to_tensor, weight)
        return value, tape.gradient(value, [given[i] for i in asked], weights)

    return value_and_gradients


def gradients_function(f: Callable[..., Any], params: Params = None) -> Callable[..., Any]:
    """As `value_and_gradients_function`, without the value."""
    both = value_and_gradients_function(f, params)

    @functools.wraps(f)
    def gradients(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return gradients


def make_vjp(f: Callable[..., Any], params: Params = None, persistent: bool = True) -> Any:
    """f's value, and a function of the value's gradient that gives those of the parameters."""
    positions = _positions(f, params)

    @functools.wraps(f)
    def value_and_vjp(*args: Any, **kwargs: Any) -> Any:
        given = _arguments(f, args, kwargs)
        sources = [convert_to_tensor(given[i]) for i in positions]
        tape = GradientTape(persistent=persistent)
        with tape:
            tape.watch(sources)
            for i, source in zip(positions, sources, strict=True):
                given[i] = source
            value = f(*given)
            _check_result(f, value)

        def vjp(dy: Any = None) -> Any:
            weights = None if dy is None else nest.map_structure(convert_to_tensor, dy)
            return tape.gradient(value, sources, weights)

        return value, vjp

    return value_and_vjp


def _check_result(f: Callable[..., Any], value: Any) -> None:
    if value is None:
        raise ValueError(
            "Cannot differentiate a function that returns None; did you forget to return a value"
            f" from {f.__name__}?"
        )


def _arguments(f: Callable[..., Any], args: Any, kwargs: Any) -> list[Any]:
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    return list(bound.args)


def _positions(f: Callable[..., Any], params: Params) -> list[int]:
    names = list(inspect.signature(f).parameters)
    if params is None:
        return list(range(len(names)))
    if not params or (all(isinstance(p, int) for p in params) and len(set(params)) != len(params)):
        raise ValueError("params must be None or a non-empty list of different parameters")
    if all(isinstance(p, int) for p in params):
        return list(params)
    if not all(isinstance(p, str) for p in params):
        raise ValueError(f"params must be all strings or all integers; got {params}.")
    return [names.index(p) for p in params]


def run(main: Any = None, argv: Any = None) -> None:
    """`tf.app.run` of a program that executes eagerly."""
    from weft.lib.platform.behavior import enable_eager_execution

    if not executing_eagerly():
        enable_eager_execution()
    app.run(main, argv)
