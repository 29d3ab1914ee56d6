"""tf.custom_gradient: functions that say themselves how they are differentiated.

The function's inputs, results and variables go through one IdentityN node. Its forward value is
that of the results; its gradient is the user's function. So gradients never enter the nodes that
the function made.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from weft.autodiff.gradients import derivatives
from weft.core import dtypes, nest
from weft.core.walk import reached
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, control_dependencies
from weft.graph.keys import GraphKeys
from weft.graph.op_def import GRADIENTS, raw
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor
from weft.ops.kit.own_gradient import with_gradient
from weft.ops.state.variable_scope import get_variable_scope


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator of `f(*x)`, which returns a result and a function that differentiates it.

    `grad_fn(*dy)` gets one gradient for each result and returns one for each x. When f reads
    trainable variables, it is called as `grad_fn(*dy, variables=[...])` and returns a pair: the
    gradients of the x, and those of the variables.
    """

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError(
                "A function with a custom gradient takes no keyword arguments, got"
                f" {sorted(kwargs)}: a gradient is due for each positional argument."
            )
        return _call(f, [convert_to_tensor(x) for x in args])

    return decorated


def _call(f: Callable[..., Any], args: list[Tensor]) -> Any:
    graph = get_default_graph()
    before = set(map(id, _all_variables(graph)))
    result, grad_fn = f(*args)
    made = [v for v in _all_variables(graph) if id(v) not in before]
    if not all(map(_is_resource, made)):
        raise TypeError(
            "All variables used by a function wrapped with @custom_gradient must be"
            " `ResourceVariable`s. Ensure that no `variable_scope` is created with"
            " `use_resource=False`."
        )
    outputs = [convert_to_tensor(r) for r in nest.flatten(result)]
    variables = _variables_between(graph, args, outputs)
    _check_signature(grad_fn, variables)

    def differentiate(op: Any, *grads: Any) -> list[Any]:
        grads = grads[: len(outputs)]
        of_variables: list[Any] = []
        if variables:
            of_args, of_variables = grad_fn(*grads, variables=variables)
            if len(of_variables) != len(variables):
                raise ValueError(
                    "Must return gradient for each variable from @custom_gradient grad_fn."
                )
        else:
            of_args = grad_fn(*grads)
        of_args = nest.flatten(of_args)
        if len(of_args) != len(args):
            raise ValueError(
                f"custom_gradient function expected to return {len(args)} gradients, but returned"
                f" {len(of_args)} instead."
            )
        return [None] * len(outputs) + of_args + list(of_variables)

    passed = with_gradient(outputs, [*args, *variables], differentiate)
    for variable in variables:
        convert_to_tensor(variable)  # nodes of TensorFlow's that nothing reads
    return nest.pack_sequence_as(result, passed)


def _is_resource(variable: Any) -> bool:
    handle = getattr(variable, "handle", None)
    return isinstance(handle, Tensor) and handle.dtype is dtypes.resource


def _all_variables(graph: Graph) -> list[Any]:
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES)
    found = {id(v): v for key in keys for v in graph.get_collection(key)}
    return list(found.values())


def _variables_between(graph: Graph, args: list[Tensor], outputs: list[Tensor]) -> list[Any]:
    """Trainable variables that the outputs depend on other than through `args`."""
    stop = set(args)

    def before(tensor: Tensor) -> list[Tensor]:
        if GRADIENTS.get(tensor.op.type, True) is None:
            return []
        return [t for t in tensor.op.inputs if t not in stop]

    seen = reached([t for t in outputs if t not in stop], before)
    return [
        v
        for v in _all_variables(graph)
        if getattr(v, "trainable", False)
        and (v.handle if _is_resource(v) else v._as_graph_element()) in seen
    ]


def _check_signature(grad_fn: Callable[..., Any], variables: list[Any]) -> None:
    spec = inspect.getfullargspec(grad_fn)
    takes = "variables" in (*spec.args, *spec.kwonlyargs) or spec.varkw is not None
    if variables and not takes:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, then grad_fn must"
            " accept a keyword argument 'variables'."
        )
    asks = "variables" in (*spec.args, *spec.kwonlyargs)
    if asks and not variables and not get_variable_scope().use_resource:
        raise TypeError(
            "If using @custom_gradient with a function that uses variables, the enclosing variable"
            " scope must have use_resource=True."
        )


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f`, computed again for its gradient, so that what it makes need not be kept meanwhile."""

    @custom_gradient
    def inner(*args: Any) -> Any:
        def grad(*dy: Any, variables: Any = None) -> Any:
            own = list(variables or ())
            # Not before the gradient is there: else both copies would run at once.
            with control_dependencies(dy):
                again = f(*[raw.Identity(x) for x in args])
            found = _gradients_of(again, args, own, dy)
            return (found[: len(args)], found[len(args) :]) if own else found

        return f(*args), grad

    return functools.wraps(f)(inner)


def _gradients_of(again: Any, args: Any, variables: list[Any], dy: Any) -> list[Any]:
    return derivatives(nest.flatten(again), [*args, *variables], list(dy))


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` forwards, the identity backwards: its gradient is that of its result."""

    @custom_gradient
    def inner(*args: Any) -> Any:
        def grad(*dy: Any, **kwargs: Any) -> Any:
            variables = kwargs.get("variables")
            return dy if variables is None else (dy, [None] * len(variables))

        return f(*args), grad

    return functools.wraps(f)(inner)
