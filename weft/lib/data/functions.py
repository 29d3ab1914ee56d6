"""Python functions of elements -> functions of the graph's library."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Callable
from typing import Any

from weft.graph.conversion_status import convert
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import function_def
from weft.graph.graph import get_default_graph
from weft.graph.op_def import FuncRef
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

_serial = itertools.count()


class StructuredFunction:
    """A function from elements of `input_structure` to elements, in the default graph's library.

    `reference` names it; `captured_inputs` are what a call takes besides the element.
    """

    def __init__(
        self, func: Callable[..., Any], transformation_name: str, input_structure: Any
    ) -> None:
        self._func, self._transformation = func, transformation_name
        self.input_structure = input_structure
        self.output_structure: Any = None
        self._build()

    def _build(self) -> None:
        specs = flat_tensor_specs(self.input_structure)
        outer = get_default_graph()
        self._seed = outer.seed
        name = _function_name(self._func, self._transformation)
        graph = func_graph_from_py_func(
            self._call, [f"arg{i}" for i in range(len(specs))], [spec.dtype for spec in specs],
            name, arg_shapes=[spec.shape for spec in specs], capture_resource_var_by_value=False,
        )  # fmt: skip
        message = function_def(name, name, graph.get_operations(), graph.inputs, graph.outputs)
        share_functions(outer, graph)
        add_function(outer, LibraryFunction(message, built=graph.body()))
        self.graph: FuncGraph = graph
        self.captured_inputs: list[Tensor] = graph.extra_inputs
        self.reference = FuncRef(name)
        self._warn(outer, graph)

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


def _function_name(func: Any, transformation: str) -> str:
    own = getattr(func, "__name__", None) or type(func).__name__
    label = transformation.replace(".", "_")[:-2] if len(transformation) > 2 else ""
    return re.sub(r"\W", "_", f"{label}_{own}") + f"_{next(_serial)}"


def should_unpack(element: Any) -> bool:
    """Whether an element is passed to functions as several arguments."""
    return type(element) is tuple
