"""Functions of a graph's library: named graphs that nodes call.

A node calls a function by having its name for a type, or by naming it in an attribute. What a call
does is its body; `passes/inline.py` puts that in its place when a step is planned.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.errors import InvalidArgumentError, NotFoundError
from weft.graph.function_def import Body, body_from_def
from weft.graph.graph import Graph
from weft.graph.graph_def import attr_from_proto, attr_to_proto
from weft.graph.op_def import AttrDef, FuncRef, OpDef, lookup
from weft.graph.op_signature import parse_attr
from weft.graph.shape_fn import Dims
from weft.graph.traits import Traits


class LibraryFunction:
    """A named function: its FunctionDef, and what differentiates a call of it.

    That is the library's function `gradient`, or `python_gradient(op, *grads)`. `built` is the
    graph the function was made from, where it was made here.
    """

    def __init__(
        self,
        message: Any,
        gradient: str | None = None,
        python_gradient: Callable[..., Any] | None = None,
        built: Body | None = None,
    ) -> None:
        self.message, self.gradient, self.python_gradient = message, gradient, python_gradient
        self.name: str = message.signature.name
        self.built = built
        self._read: tuple[Any, Body] | None = None

    @functools.cached_property
    def call(self) -> OpDef:
        """The definition of operations that have the function's name for a type."""
        return _call_def(self.message.signature)

    @functools.cached_property
    def calls(self) -> Counter[str]:
        """How often its nodes name what may be a function: as their type, or in an attribute."""
        found = Counter(node.op for node in self.message.node_def)
        for node in self.message.node_def:
            for value in node.attr.values():
                found[value.func.name] += value.HasField("func")
                found.update(function.name for function in value.list.func)
        return found

    @property
    def node_count(self) -> int:
        return len(self.message.node_def)

    def body(self, attrs: dict[str, Any], library: dict[str, Any]) -> Body:
        """The body of the function, its own attributes set to `attrs`. Not to be changed."""
        if self.built is not None:
            return self.built
        if self.message.signature.attr:
            return self.new_body(attrs, library)
        if self._read is None or self._read[0] is not library:
            self._read = library, self.new_body(attrs, library)
        return self._read[1]

    def new_body(
        self, attrs: dict[str, Any], library: dict[str, Any], dims: Sequence[Dims] | None = None
    ) -> Body:
        """A copy of the body that is the caller's own; `dims`: of the arguments, where known."""
        return body_from_def(
            self.message, attrs, library, lambda kind: find(library, kind), dims, self.built
        )


def _call_def(signature: Any) -> OpDef:
    return OpDef(
        signature.name,
        ", ".join(map(_arg_text, signature.input_arg)),
        ", ".join(map(_arg_text, signature.output_arg)),
        map(_attr_def, signature.attr),
        traits=Traits(calls="function", stateful=signature.is_stateful),
    )


def _attr_def(attr: Any) -> AttrDef:
    declared = parse_attr(f"{attr.name}: {attr.type}")
    if not attr.HasField("default_value"):
        return declared
    return declared._replace(default=attr_from_proto(attr.default_value), has_default=True)


def _arg_text(arg: Any) -> str:
    spec = arg.type_list_attr and f"list({arg.type_list_attr})"
    spec = spec or arg.type_attr or dtypes.as_dtype(arg.type).base_dtype.name
    spec = f"{arg.number_attr} * {spec}" if arg.number_attr else spec
    return f"{arg.name}: ref({spec})" if arg.is_ref else f"{arg.name}: {spec}"


def find(library: dict[str, Any], kind: str) -> OpDef:
    """The definition of an op type: a function of `library`, or registered."""
    if kind in library:
        definition: OpDef = library[kind].call
        return definition
    return lookup(kind)


def function_named(library: dict[str, Any], name: str) -> LibraryFunction:
    found: LibraryFunction | None = library.get(name)
    if found is None:
        raise NotFoundError(None, None, f"Function {name} is not defined.")
    return found


def body_of(library: dict[str, Any], reference: FuncRef) -> Body:
    """The body of the function that an attribute names."""
    return function_named(library, reference.name).body(dict(reference.attrs), library)


# Set by autodiff/functions.py, which sits below this module.
_differentiated: Callable[[dict[str, Any], FuncRef], Body] | None = None


def set_differentiate(function: Callable[[dict[str, Any], FuncRef], Body]) -> None:
    global _differentiated
    _differentiated = function


def gradient_body(library: dict[str, Any], reference: FuncRef) -> Body:
    """The body that maps arguments and gradients of results to gradients of arguments."""
    function = library.get(reference.name)
    if function is not None and function.gradient:
        return body_of(library, FuncRef(function.gradient, reference.attrs))
    assert _differentiated is not None, "weft.autodiff is not imported"
    return _differentiated(library, reference)


# ---- the library of a graph -------------------------------------------------------------------


def import_library(graph: Graph, library: Any) -> None:
    """Adds the functions of a FunctionDefLibrary, and which differentiates which."""
    gradients = {each.function_name: each.gradient_func for each in library.gradient}
    for message in library.function:
        add_function(graph, LibraryFunction(message, gradients.get(message.signature.name)))
    for name, gradient in gradients.items():
        for needed in (name, gradient):
            if needed not in graph._functions:
                raise ValueError(f"FunctionDefLibrary missing '{needed}' FunctionDef\n{library}")


def add_function(graph: Graph, function: LibraryFunction) -> None:
    """Adds a function; one of its name that is there already must be the same."""
    known = graph._functions.get(function.name)
    if known is None:
        graph._functions[function.name] = function
    elif known is not function and known.message != function.message:
        raise InvalidArgumentError(
            None, None,
            f"Cannot add function '{function.name}' because a different function with the same name"
            " already exists.",
        )  # fmt: skip
    elif function.gradient and not known.gradient:
        known.gradient = function.gradient
    elif function.gradient and known.gradient != function.gradient:
        raise InvalidArgumentError(
            None, None,
            f"Cannot assign gradient function '{function.gradient}' to '{function.name}' because it"
            f" already has gradient function '{known.gradient}'",
        )  # fmt: skip


def write_library(graph: Graph, message: Any, add_shapes: bool = False) -> None:
    """Fills a FunctionDefLibrary message; `add_shapes` as for the nodes of the graph."""
    for function in graph._functions.values():
        written = message.function.add()
        written.CopyFrom(function.message)
        if add_shapes and function.built is not None:
            _write_shapes(written, function.built)
        if function.gradient:
            message.gradient.add(function_name=function.name, gradient_func=function.gradient)


def _write_shapes(message: Any, body: Body) -> None:
    """Adds the shapes that were known when the function was traced.

    Those of variables are not in a FunctionDef, so that a reader could not infer them again.
    """
    arguments = [None if t.dtype == dtypes.resource else t.dims for t in body.inputs]
    message.attr["_input_shapes"].CopyFrom(attr_to_proto(arguments, "list(shape)"))
    for node in message.node_def:
        op = body.graph._by_name.get(node.name)
        if op is not None:
            shapes = [tensor.dims for tensor in op.outputs]
            node.attr["_output_shapes"].CopyFrom(attr_to_proto(shapes, "list(shape)"))
