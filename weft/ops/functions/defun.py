"""`Defun`: Python functions as functions of a graph's library.

    @Defun(tf.float32, tf.float32)
    def add_twice(x, y):
        return x + 2 * y

A call of `add_twice` adds one node; what the function does stands in the library, once.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import InvalidArgumentError
from weft.graph.convert import convert_to_tensor
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import function_def
from weft.graph.graph import Graph, get_default_graph
from weft.graph.graph_def import attr_to_proto
from weft.graph.op_def import OpDef
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.traits import Traits
from weft.ops.functions.func_graph import FuncGraph, func_graph_from_py_func, share_functions

_SHORT = {
    "float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32", "uint8": "i8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64", "int16": "i16", "int8": "i8", "string": "s",
    "complex64": "c64", "complex128": "c128", "int64": "i64", "bool": "b", "qint8": "qi8",
    "quint8": "qu8", "qint16": "qi16", "quint16": "qu16", "qint32": "qi32", "bfloat16": "b16",
}  # fmt: skip


class Defun:
    """Decorator. Without input types, each combination of types it is called with gets a function.

    `func_name` names it; `grad_func` (a Defun too) or `python_grad_func(op, *grads)` differentiates
    it; `out_names` names its results; `shape_func(op)` gives their shapes; `capture_by_value`
    copies what it uses from outside. `noinline` and the like go into the graph as attributes.
    """

    def __init__(self, *input_types: Any, **kwargs: Any) -> None:
        self._input_types = tuple(dtypes.as_dtype(each) for each in input_types)
        self._kwargs = kwargs

    def __call__(self, func: Callable[..., Any]) -> Any:
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        names, fewest, most = _parameters(func)
        if self._input_types:
            if not fewest <= len(self._input_types) <= most:
                raise ValueError(
                    "The function has fewer arguments than the number of specified input types."
                )
            return DefinedFunction(func, names, self._input_types, **self._kwargs)
        if fewest == most == 0:
            return DefinedFunction(func, [], (), **self._kwargs)
        return OverloadedFunction(func, names, **self._kwargs)


def _parameters(func: Callable[..., Any]) -> tuple[list[str], float, float]:
    """(names, fewest, most) of the arguments that `func` takes."""
    found = list(inspect.signature(func).parameters.values())
    if any(p.kind is p.VAR_KEYWORD or p.default is not p.empty for p in found):
        raise ValueError(
            "Functions with argument defaults or keywords arguments are not supported. "
            f"{func} has defaults or keywords."
        )
    named = [p.name for p in found if p.kind is not p.VAR_POSITIONAL]
    variadic = len(named) != len(found)
    return named, len(named), float("inf") if variadic else len(named)


class DefinedFunction:
    """A function of given types. Its body is built when it is first needed."""

    def __init__(
        self,
        func: Callable[..., Any] | None,
        argnames: Sequence[str],
        input_types: Sequence[DType],
        func_name: str | None = None,
        grad_func: DefinedFunction | None = None,
        python_grad_func: Callable[..., Any] | None = None,
        out_names: Sequence[str] | None = None,
        shape_func: Callable[[Operation], Any] | None = None,
        capture_by_value: bool = False,
        whitelisted_stateful_ops: Any = None,
        capture_resource_var_by_value: bool = True,
        **attrs: Any,
    ) -> None:
        self._func, self._func_name = func, func_name
        self._input_types = input_types
        self._arg_names = [
            argnames[i] if i < len(argnames) else f"arg{i}" for i in range(len(input_types))
        ]
        self._grad_func, self._python_grad_func = grad_func, python_grad_func
        self._out_names, self._shape_func = out_names, shape_func
        self._graph_options = {
            "capture_by_value": capture_by_value,
            "whitelisted_stateful_ops": whitelisted_stateful_ops,
            "capture_resource_var_by_value": capture_resource_var_by_value,
        }
        self._attrs = attrs
        devices = get_default_graph()._scopes.devices
        self._device = devices[-1] if devices else None
        self._made: LibraryFunction | None = None
        self._extra_inputs: list[Tensor] = []
        self._graph: FuncGraph | None = None

    @classmethod
    def from_definition(
        cls, message: Any, grad_func: DefinedFunction | None = None
    ) -> DefinedFunction:
        """The function of a FunctionDef."""
        signature = message.signature
        names = [arg.name for arg in signature.input_arg]
        types = tuple(dtypes.as_dtype(arg.type) for arg in signature.input_arg)
        outs = [arg.name for arg in signature.output_arg]
        found = cls(None, names, types, signature.name, grad_func, None, outs)
        found._made = LibraryFunction(message, found.grad_func_name)
        return found

    @property
    def name(self) -> str:
        return self._library_function.name

    @property
    def definition(self) -> Any:
        """The FunctionDef."""
        return self._library_function.message

    @property
    def _signature(self) -> Any:
        return self.definition.signature

    @property
    def grad_func_name(self) -> str | None:
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def python_grad_func(self) -> Callable[..., Any] | None:
        return self._python_grad_func

    @property
    def declared_input_types(self) -> Sequence[DType]:
        return self._input_types

    @property
    def captured_inputs(self) -> list[Tensor]:
        """Tensors from outside that a call passes on after its own arguments."""
        _ = self._library_function
        return self._extra_inputs

    @property
    def stateful_ops(self) -> list[tuple[str, str]]:
        _ = self._library_function
        ops = self._graph.get_operations() if self._graph is not None else []
        return [(op.name, op.type) for op in ops if op.definition.stateful]

    def set_grad_func(self, grad_func: DefinedFunction) -> None:
        """Names the function that differentiates this one."""
        assert self._grad_func is None and isinstance(grad_func, DefinedFunction)
        self._grad_func = grad_func

    @property
    def _library_function(self) -> LibraryFunction:
        if self._made is None:
            self._made = self._build()
        return self._made

    def _build(self) -> LibraryFunction:
        assert self._func is not None
        graph = func_graph_from_py_func(
            self._func, self._arg_names, self._input_types, self._func_name,
            device_name=self._device, **self._graph_options,
        )  # fmt: skip
        base = self._func_name or self._func.__name__
        if self._grad_func is not None and not self._func_name:
            base += f"_{self._grad_func.name}"
        if self._out_names and len(self._out_names) != len(graph.outputs):
            raise InvalidArgumentError(
                None, None,
                "output names must be either empty or equal in size to outputs. output names size"
                f" = {len(self._out_names)} outputs size = {len(graph.outputs)}",
            )  # fmt: skip
        message = function_def(
            self._func_name, base, graph.get_operations(), graph.inputs, graph.outputs,
            self._out_names,
        )  # fmt: skip
        if self._func.__doc__:
            message.signature.description = self._func.__doc__
        for key, value in call_attrs(base, **self._attrs).items():
            message.attr[key].CopyFrom(attr_to_proto(value, None))
        self._extra_inputs, self._graph = graph.extra_inputs, graph
        return LibraryFunction(message, self.grad_func_name, self._python_grad_func, graph.body())

    def add_to_graph(self, g: Graph) -> None:
        """Adds the function, those it calls, and the one that differentiates it."""
        function = self._library_function
        if self._grad_func is not None:
            function.gradient = self._grad_func.name
            self._grad_func.add_to_graph(g)
        add_function(g, function)
        if self._graph is not None:
            share_functions(g, self._graph)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.add_to_graph(get_default_graph())
        function = self._library_function
        inputs = [convert_to_tensor(arg) for arg in args] + self._extra_inputs
        op = call(function.call, inputs, **kwargs)
        if self._python_grad_func is not None:
            op._gradient_function = self._python_grad_func  # type: ignore[attr-defined]
        if self._shape_func is not None:
            self._set_shapes(op, self._shape_func)
        return results(op)

    @staticmethod
    def _set_shapes(op: Operation, shape_func: Callable[[Operation], Any]) -> None:
        outputs, shapes = op.outputs, shape_func(op)
        made, wanted = len(shapes), len(outputs)
        if made != wanted:
            raise ValueError(f"shape_func produced {made} shapes for {wanted} outputs")
        for i, shape in enumerate(shapes):
            outputs[i].set_shape(shape)


class OverloadedFunction:
    """Functions of one Python function, by the types they are called with."""

    def __init__(
        self,
        func: Callable[..., Any],
        argnames: Sequence[str],
        func_name: str | None = None,
        grad_func: OverloadedFunction | None = None,
        **options: Any,
    ) -> None:
        assert grad_func is None or isinstance(grad_func, OverloadedFunction)
        self._func, self._argnames, self._func_name = func, argnames, func_name
        self._grad_func, self._options = grad_func, options
        self._overload: dict[str, DefinedFunction] = {}

    def instantiate(self, input_types: Sequence[Any]) -> DefinedFunction:
        """The function for arguments of these types."""
        types = [dtypes.as_dtype(each).base_dtype for each in input_types]
        if any(each.name not in _SHORT for each in types):
            raise ValueError(f"Unsupported dtypes: {types}")
        key = "".join(_SHORT[each.name] for each in types)
        if key not in self._overload:
            name = None if self._func_name is None else f"{self._func_name}_{key}"
            made = DefinedFunction(self._func, self._argnames, types, name, **self._options)
            outputs = [dtypes.as_dtype(arg.type) for arg in made.definition.signature.output_arg]
            if self._grad_func is not None:
                made._grad_func = self._grad_func.instantiate([*types, *outputs])
            self._overload[key] = made
        return self._overload[key]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        inputs = [convert_to_tensor(arg) for arg in args]
        return self.instantiate([tensor.dtype for tensor in inputs])(*inputs, **kwargs)


class Declare:
    """The signature of a function that is defined elsewhere, so that it can be called here.

    `inputs` and `outputs` are lists of (name, dtype).
    """

    def __init__(
        self, func_name: str, inputs: Sequence[tuple[str, Any]], outputs: Sequence[tuple[str, Any]]
    ) -> None:
        def text(args: Sequence[tuple[str, Any]]) -> str:
            names = [name for name, _ in args]
            if len(set(names)) != len(names):
                raise ValueError(f"Expected names to all be unique: {names}")
            return ", ".join(f"{name}: {dtypes.as_dtype(kind).name}" for name, kind in args)

        called = Traits(calls="function")
        self._definition = OpDef(func_name, text(inputs), text(outputs), traits=called)

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        tensors = [convert_to_tensor(value) for value in inputs]
        return results(call(self._definition, tensors, **kwargs))


# ---- calls ------------------------------------------------------------------------------------


def call(
    definition: OpDef, inputs: Sequence[Tensor], name: str | None = None, **kwargs: Any
) -> Operation:
    """Adds a node that calls a function."""
    wanted = definition.input_args
    if len(inputs) != len(wanted):
        raise ValueError(f"Expected number of arguments: {len(wanted)}, received: {len(inputs)}")
    for arg, tensor in zip(wanted, inputs, strict=True):
        if arg.type is not None and arg.type.base_dtype != tensor.dtype.base_dtype:
            raise ValueError(
                f"Input '{arg.name}' of '{definition.name}' has type {tensor.dtype.name}, expected"
                f" {arg.type.base_dtype.name}"
            )
    types = [arg.type for arg in definition.output_args if arg.type is not None]
    attrs = call_attrs(definition.name, **kwargs)
    return get_default_graph().add_op(
        definition, tuple(inputs), types, attrs, name or definition.name
    )


def results(op: Operation) -> Any:
    """The result of a call: its one output, a tuple of them, or the operation."""
    if not op.outputs:
        return op
    return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)


def call_attrs(name: str, **kwargs: Any) -> dict[str, Any]:
    """Keyword arguments of a call or definition as attributes."""
    attrs: dict[str, Any] = {}
    noinline = kwargs.pop("noinline", None)
    if noinline is not None:
        attrs["_noinline"] = bool(noinline)
    attrs["_disable_call_shape_inference"] = True
    compiled = kwargs.pop("compiled", None)
    separate = kwargs.pop("separate_compiled_gradients", None)
    if compiled is not None:
        attrs["_XlaCompile"] = bool(compiled)
        attrs["_XlaSeparateCompiledGradients"] = bool(separate)
        scope = get_default_graph()._scopes.attrs.get("_XlaScope")
        attrs["_XlaScope"] = scope or f"function_{name}"
    for key in list(kwargs):
        if key.startswith("experimental_") or key in ("_implements", "_reference"):
            attrs[key] = kwargs.pop(key)
            if not isinstance(attrs[key], (bool, int, float, str)):
                raise ValueError(
                    f"Unsupported attribute type for {key} with type {type(attrs[key])}"
                )
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {kwargs.keys()}")
    return attrs


# ---- functions of libraries, and of the function being built ----------------------------------


def from_library(lib: Any) -> list[DefinedFunction]:
    """The functions of a FunctionDefLibrary, each with the one that differentiates it."""
    if not lib.function and not lib.gradient:
        return []
    messages = {message.signature.name: message for message in lib.function}
    gradients = {each.function_name: each.gradient_func for each in lib.gradient}
    for name in [*gradients, *gradients.values()]:
        if name not in messages:
            raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}")
    made: dict[str, DefinedFunction] = {}
    while len(made) < len(messages):
        ready = [n for n in messages if n not in made and gradients.get(n, n) in {*made, n}]
        ready = [n for n in ready if gradients.get(n) != n]
        if not ready:
            raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}")
        for name in ready:
            made[name] = DefinedFunction.from_definition(
                messages[name], made.get(gradients.get(name, ""))
            )
    return list(made.values())


def _of_function(field: str) -> list[Any]:
    graph = get_default_graph()
    return getattr(graph, field) if isinstance(graph, FuncGraph) else []


def get_extra_vars() -> list[Any]:
    """The variables that the function being built has asked for."""
    return _of_function("extra_vars")


def get_extra_inputs() -> list[Tensor]:
    """The tensors from outside that the function being built uses."""
    return _of_function("extra_inputs")


def get_extra_args() -> list[Tensor]:
    """The arguments that stand for `get_extra_inputs()` inside."""
    return _of_function("extra_args")


# TensorFlow's names for these.
_DefinedFunction = DefinedFunction
_OverloadedFunction = OverloadedFunction
_FuncGraph = FuncGraph
_from_definition = DefinedFunction.from_definition
