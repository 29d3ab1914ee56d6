"""Python functions of elements -> functions of the graph's library."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

from weft.graph.conversion_status import convert
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import function_def
from weft.graph.graph import get_default_graph
from weft.graph.op_def import FuncRef, raw
from weft.graph.tensor import Tensor
from weft.lib.data import nest
from weft.lib.data.structure import (
    flat_tensor_specs,
    from_tensor_list,
    legacy_class,
    legacy_shape,
    legacy_type,
    to_tensor_list,
    type_spec_from_value,
)
from weft.ops.functions.func_graph import FuncGraph, func_graph_from_py_func, share_functions
from weft.ops.functions.traced_graph import TracedGraph, library_function
from weft.ops.state.get_variable import resource_variables

_serial = itertools.count()


class StructuredFunction:
    """A function from elements of `input_structure` to elements, in the default graph's library.

    `reference` names it; `captured_inputs` are what a call takes besides the element. `legacy`:
    as functions of TensorFlow's first kind, whose conditionals and loops are no functions.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        transformation_name: str,
        input_structure: Any,
        legacy: bool = False,
    ) -> None:
        self._func, self._transformation = func, transformation_name
        self.input_structure = input_structure
        self.output_structure: Any = None
        if not callable(func):
            raise ValueError("Argument must be callable")
        outer = get_default_graph()
        self._seed = outer.seed
        name = f"{_function_label(func, transformation_name)}_{next(_serial)}"
        function, self.graph = self._legacy(name) if legacy else self._traced(name)
        share_functions(outer, self.graph)
        add_function(outer, function)
        self.captured_inputs: list[Tensor] = self.graph.extra_inputs
        self.reference = FuncRef(function.name)
        self._warn(outer, self.graph)

    def _traced(self, name: str) -> tuple[LibraryFunction, FuncGraph]:
        graph = TracedGraph(name)
        with graph.as_default():
            for i, spec in enumerate(flat_tensor_specs(self.input_structure)):
                graph.inputs.append(raw.Placeholder(spec.dtype, shape=spec.shape, name=f"args_{i}"))
        with resource_variables():
            found = graph.trace(self._call, *graph.inputs)
        with graph.as_default():
            graph.outputs = [raw.Identity(tensor) for tensor in found]
        return library_function(graph, f"__inference_{name}", graph.inputs, graph.outputs), graph

    def _legacy(self, name: str) -> tuple[LibraryFunction, FuncGraph]:
        specs = flat_tensor_specs(self.input_structure)
        graph = func_graph_from_py_func(
            self._call, [f"arg{i}" for i in range(len(specs))], [spec.dtype for spec in specs],
            name, arg_shapes=[spec.shape for spec in specs], capture_resource_var_by_value=False,
        )  # fmt: skip
        message = function_def(name, name, graph.get_operations(), graph.inputs, graph.outputs)
        message.attr["_disable_call_shape_inference"].b = True
        return LibraryFunction(message, built=graph.body()), graph

    def _call(self, *args: Tensor) -> list[Tensor]:
        get_default_graph().seed = self._seed
        element = from_tensor_list(self.input_structure, args)
        given = element if should_unpack(element) else (element,)
        result = self._converted()(*given)
        if isinstance(result, list):
            result = tuple(result)
        try:
            self.output_structure = type_spec_from_value(result)
        except (ValueError, TypeError):
            raise TypeError(
                "Unsupported return value from function passed to"
                f" {self._transformation}: {result}."
            ) from None
        return to_tensor_list(self.output_structure, result)

    def _converted(self) -> Callable[..., Any]:
        """Control flow of the function may depend on tensors."""
        return convert(self._func)

    def _warn(self, outer: Any, graph: Any) -> None:
        if outer.seed and graph.seed == outer.seed and _draws_without_seed(graph):
            warnings.warn(
                f"Seed {outer.seed} from outer graph might be getting used by function"
                f" {self.reference.name}, if the random op has not been provided any seed."
                " Explicitly set the seed in the function if this is not the intended behavior.",
                stacklevel=4,
            )

    @property
    def output_types(self) -> Any:
        return nest.map_structure(legacy_type, self.output_structure)

    @property
    def output_shapes(self) -> Any:
        return nest.map_structure(legacy_shape, self.output_structure)

    @property
    def output_classes(self) -> Any:
        return nest.map_structure(legacy_class, self.output_structure)


def _draws_without_seed(graph: FuncGraph) -> bool:
    """Whether an operation took its seed from the number of operations before it."""
    return any(
        op.definition.takes_rng and 0 <= op.attrs.get("seed2", -1) <= op._id
        for op in graph.get_operations()
    )


def _function_label(func: Any, transformation: str) -> str:
    own = getattr(func, "__name__", None) or str(type(func))
    return f"{transformation[:-2].replace('.', '_')}_{own}" if len(transformation) > 2 else own


def should_unpack(element: Any) -> bool:
    """Whether an element is passed to functions as several arguments."""
    return type(element) is tuple
