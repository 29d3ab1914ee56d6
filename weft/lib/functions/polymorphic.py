"""tf.function: a Python function that is traced once for each signature it is called with.

    @tf.function
    def scale(x, factor=2.0):
        return x * factor

Each trace is a `ConcreteFunction`; a call adds one node to the graph.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from weft.client.eager import EagerExecution
from weft.graph.graph import Graph, get_default_graph, init_scope
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.functions.arguments import (
    Arguments,
    FunctionSpec,
    bound_to,
    key_of,
    quick_key,
    relaxed,
)
from weft.lib.functions.concrete import ConcreteFunction, trace
from weft.lib.functions.lift import lifted
from weft.ops.kit.eager import EagerTensor, executing_eagerly
from weft.ops.kit.replicas import replica_number
from weft.ops.state.resource_variable import ResourceVariable
from weft.ops.state.variable_creators import last_creator_scope

_NOT_FIRST = "tf.function-decorated function tried to create variables on non-first call."
_NOT_THE_FIRST = "Creating variables on a non-first call to a function decorated with tf.function."
_run_eagerly = False


def experimental_run_functions_eagerly(run_eagerly: bool) -> None:
    """Whether calls of `tf.function`s are calls of their Python functions, from now on."""
    global _run_eagerly
    _run_eagerly = bool(run_eagerly)


def functions_run_eagerly() -> bool:
    """Whether `experimental_run_functions_eagerly` said so."""
    return _run_eagerly


class Function:
    """A Python function with its traces, as `tf.function` makes it."""

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str,
        input_signature: Any = None,
        autograph: bool = True,
        experimental_autograph_options: Any = None,
        experimental_relax_shapes: bool = False,
        attributes: dict[str, Any] | None = None,
        variables: str = "first",
    ) -> None:
        """`variables`: made in the "first" call only, as `tf.function` wants, or in "any"."""
        functools.update_wrapper(self, python_function)
        self._python_function, self._name = python_function, name
        self._spec = FunctionSpec(python_function, input_signature)
        self._autograph, self._features = autograph, experimental_autograph_options
        self._relax, self._attributes, self._variables = (
            experimental_relax_shapes, attributes, variables,
        )  # fmt: skip
        self._seen: dict[Hashable, Arguments] = {}
        # Traces by arguments of eager calls, of the last graph that these were in.
        self._known: dict[Hashable, ConcreteFunction] = {}
        self._known_in: Graph | None = None
        self._created: list[Any] | None = None
        self._lock = threading.RLock()

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function that this one was made of."""
        return self._python_function

    @property
    def input_signature(self) -> Any:
        return self._spec.input_signature

    @property
    def function_spec(self) -> FunctionSpec:
        return self._spec

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        """As a method, one function for each object, which keeps it."""
        if owner is None:
            return self
        space = getattr(owner, "__dict__", {})
        kept = space.get(_KEPT)
        if kept is None or kept.owner() is not owner:  # a copy has what the first one keeps
            kept = space[_KEPT] = _Methods(owner)
        if id(self) not in kept:
            kept[id(self)] = self._bound(owner)
        return kept[id(self)]

    def _bound(self, owner: Any) -> Function:
        signature = self.input_signature
        if signature is not None and len(signature) == len(self._spec.signature.parameters):
            signature = signature[1:]  # it says something of `self`, too
        return Function(
            bound_to(self._python_function, owner), self._name, signature, self._autograph,
            self._features, self._relax, self._attributes, self._variables,
        )  # fmt: skip

    # ---- calling ----

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if _run_eagerly:
            return self._python_function(*args, **kwargs)
        graph = get_default_graph()
        if isinstance(graph, EagerExecution) and not kwargs:
            return self._call_eagerly(graph, args)
        if _is_in_python_kernel():
            return self._python_function(*args, **kwargs)
        given = self._spec.bind(args, kwargs)
        return self._trace_for(given).call_flat(given.tensors)

    def _call_eagerly(self, graph: EagerExecution, args: tuple[Any, ...]) -> Any:
        """Calls that differ from an earlier one by values of tensors alone need not look far."""
        tensors = [arg for arg in args if isinstance(arg, Tensor)]
        key = quick_key(args) if self._is_quick(tensors, args) else None
        if self._known_in is not graph:
            self._known_in, self._known = graph, {}
        known = None if key is None else self._known.get((replica_number(), key))
        if known is not None:
            return known.call_with_captured(tensors, known.captured_inputs)
        given = self._spec.bind(args, {})
        trace = self._trace_for(given)
        if key is not None and list(map(id, given.tensors)) == list(map(id, tensors)):
            self._known[replica_number(), key] = trace
        return trace.call_flat(given.tensors)

    def _is_quick(self, tensors: list[Tensor], args: tuple[Any, ...]) -> bool:
        """Whether the trace for arguments depends on nothing but types, shapes and numbers."""
        if self.input_signature is not None:  # numbers become tensors
            return len(tensors) == len(args)
        return not self._relax

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments like these; `tf.TensorSpec`s may stand for tensors."""
        return self._trace_for(self._spec.bind_specs(args, kwargs))

    def traces(self) -> list[ConcreteFunction]:
        """All traces in the current graph, and that of the signature, if there is one."""
        if self.input_signature is not None:
            self.get_concrete_function()
        return list(_traces_of(_outermost()).get(self, {}).values())

    def _trace_for(self, given: Arguments) -> ConcreteFunction:
        with self._lock:
            known = _traces_of(_outermost()).setdefault(self, {})
            key = self._key(given)
            if key not in known and self._relax and self.input_signature is None:
                given = self._relaxed(given)
                key = self._key(given)
            if key not in known:
                known[key] = self._trace(given)
            return known[key]

    def _key(self, given: Arguments) -> Hashable:
        signature = self.input_signature
        key: Hashable
        if signature is None:
            key = given.key()
        else:
            covered = Arguments(given.args[len(signature) :], given.kwargs, [])
            key = "signature", covered.key()
        # Each replica of a strategy has variables of its own, and so a trace.
        number = replica_number()
        return (number, key) if number else key

    # ---- tracing ----

    def _trace(self, given: Arguments) -> ConcreteFunction:
        if self._variables == "any":
            return self._traced(given, None)
        if self._created is None:
            made: list[Any] = []
            self._created = made
            try:
                values = [t for t in given.tensors if isinstance(t, EagerTensor)]
                found = self._traced(given, functools.partial(_create, made, arguments=values))
            except BaseException:
                self._created = None  # the next call is the first
                raise
            # With variables there, it is traced as it will be from now on.
            return self._traced(given, _refuse) if made else found
        return self._traced(given, _refuse if self._created else _refuse_later)

    def _relaxed(self, given: Arguments) -> Arguments:
        """Arguments that fit these and all seen ones that differ from them in shapes only."""
        types = (Tensor, TensorSpec)
        leaves = [x.dtype if isinstance(x, types) else key_of(x) for x in given.leaves]
        key = given.structure, tuple(leaves)
        if key in self._seen:
            given = relaxed(given, self._seen[key])
        self._seen[key] = given
        return given

    def _traced(self, given: Arguments, creator: Callable[..., Any] | None) -> ConcreteFunction:
        function = self._python_function
        if self._autograph:
            from weft.lib.autograph.api import convert_for_function

            function = convert_for_function(function, self._features)
        scope = None if creator is None else functools.partial(last_creator_scope, creator)
        return trace(
            function, self._name, given, self.input_signature, self._attributes, scope=scope
        )

    def __repr__(self) -> str:
        return f"<tf.function {self._name}>"


_KEPT = "_weft_functions"


class _Methods(dict[int, Function]):
    """The functions that an object keeps as methods; copies of the object make their own."""

    def __init__(self, owner: Any = None) -> None:
        super().__init__()
        self.owner: Callable[[], Any] = _reference(owner)

    def __reduce__(self) -> Any:
        return _Methods, ()


def _reference(owner: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(owner)
    except TypeError:  # None, and what has no room for references
        return lambda: owner


def _is_in_python_kernel() -> bool:
    """Whether a `tf.py_function` of a graph runs: its tensors are gone when it ends."""
    return executing_eagerly() and not isinstance(get_default_graph(), EagerExecution)


def _outermost() -> Graph:
    with init_scope():
        return get_default_graph()


def _traces_of(graph: Graph) -> Any:
    """The traces of all functions in a graph, which keeps them: they are part of it."""
    return vars(graph).setdefault("_function_traces", weakref.WeakKeyDictionary())


def _create(
    made: list[Any], next_creator: Any, arguments: Sequence[Tensor] = (), **kwargs: Any
) -> Any:
    """A variable of a function lies outside, and so does the computation of its initial value.

    `arguments` are those of the first call, if they have values.
    """
    wanted = (
        "initial_value trainable collections caching_device name dtype constraint"
        " synchronization aggregation shape"
    ).split()
    given = {key: kwargs[key] for key in wanted if kwargs.get(key) is not None}
    value = given.get("initial_value")
    if isinstance(value, Tensor) and value.graph.building_function:
        given["initial_value"] = lifted(value, arguments)
    variable = ResourceVariable(**given)
    made.append(weakref.ref(variable))
    return variable


def _refuse(next_creator: Any, **kwargs: Any) -> Any:
    raise ValueError(_NOT_FIRST)


def _refuse_later(next_creator: Any, **kwargs: Any) -> Any:
    """In functions that made no variables at first."""
    raise ValueError(_NOT_THE_FIRST)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
    experimental_compile: bool | None = None,
    experimental_implements: str | None = None,
) -> Any:
    """A decorator: calls of the function become calls of graph functions.

    `input_signature`, a sequence of `tf.TensorSpec`, allows one trace only. `autograph` lets Python
    control flow depend on tensors. `experimental_relax_shapes` traces for shapes that are less
    specific once a second one has been seen.
    """
    attributes: dict[str, Any] = {}
    if experimental_implements is not None:
        attributes["_implements"] = experimental_implements
    if experimental_compile is not None:
        attributes["_XlaCompile"] = bool(experimental_compile)

    def decorate(inner: Callable[..., Any]) -> Function:
        return Function(
            inner, name_of(inner), input_signature, autograph, experimental_autograph_options,
            experimental_relax_shapes, attributes,
        )  # fmt: skip

    return decorate if func is None else decorate(func)


def defun(
    func: Callable[..., Any] | None = None,
    input_signature: Any = None,
    autograph: bool = True,
    experimental_autograph_options: Any = None,
    experimental_relax_shapes: bool = False,
) -> Any:
    """`tf.function` of former times: variables may be made in any trace."""

    def decorate(inner: Callable[..., Any]) -> Function:
        return Function(
            inner, name_of(inner), input_signature, autograph, experimental_autograph_options,
            experimental_relax_shapes, variables="any",
        )  # fmt: skip

    return decorate if func is None else decorate(func)


def name_of(function: Callable[..., Any]) -> str:
    """The name of a function in the library."""
    inner = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    name: str = getattr(inner, "__name__", type(inner).__name__)
    return name if name.isidentifier() else "lambda"
