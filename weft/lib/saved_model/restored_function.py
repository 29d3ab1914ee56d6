"""Functions that come out of a SavedModel: traces without the Python function they are of."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable, Sequence
from typing import Any

from weft.core import errors, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import Body
from weft.graph.graph import Graph, get_default_graph
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.type_spec import TensorSpec, TypeSpec
from weft.lib.functions.arguments import Arguments
from weft.lib.functions.concrete import ConcreteFunction
from weft.lib.functions.placeholders import component_specs, from_components
from weft.lib.saved_model.restored_library import RestoredLibrary
from weft.lib.saved_model.structure import decode
from weft.ops.state.variables import Variable


class RestoredConcrete(ConcreteFunction):
    """A trace. What it captured is given to it when all objects are there (`bind`)."""

    def __init__(self, function: LibraryFunction, library: RestoredLibrary, message: Any) -> None:
        self._function, self._library, self._message = function, library, message
        self._captured: list[Tensor] = []
        self._bound_variables: list[Any] = []
        self._stateful = function.message.signature.is_stateful

    def bind(self, captured: list[Tensor], variables: list[Any]) -> None:
        self._captured, self._bound_variables = captured, variables

    def allow(self, keywords: Iterable[str], positional: int) -> None:
        """Says how a program may call it directly."""
        self._keywords, self._allowed_positional = list(keywords), positional

    # ---- what it is; read from the message when it is asked for ----

    @functools.cached_property
    def body(self) -> Body:
        return self._function.body({}, self._library.functions)

    @property
    def graph(self) -> Graph:  # type: ignore[override]
        return self.body.graph

    @functools.cached_property
    def _own_inputs(self) -> list[Tensor]:  # type: ignore[override]
        return self.body.inputs[: len(self.body.inputs) - len(self._message.bound_inputs)]

    @property
    def inputs(self) -> list[Tensor]:
        return list(self.body.inputs)

    @property
    def outputs(self) -> list[Tensor]:  # type: ignore[override]
        return self.body.outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        return list(self._captured)

    @functools.cached_property
    def structured_outputs(self) -> Any:  # type: ignore[override]
        return decode(self._message.output_signature)

    @functools.cached_property
    def _given(self) -> Arguments:  # type: ignore[override]
        args, kwargs = decode(self._message.canonicalized_input_signature)
        return Arguments(args, kwargs, [])

    @property
    def _leaves(self) -> list[Any]:  # type: ignore[override]
        return [
            each for spec in nest.flatten(self.structured_outputs) for each in component_specs(spec)
        ]

    def _variables(self, key: str) -> list[Any]:
        wanted = key == "variables"
        return [v for v in self._bound_variables if wanted or v.trainable]

    # ---- calling ----

    @property
    def _awaited(self) -> Iterable[Operation]:
        return ()

    def _packed(self, found: Any) -> Any:
        tensors: Sequence[Tensor] = [] if isinstance(found, Operation) else list(found)
        if not tensors and self.structured_outputs is None:
            return found if isinstance(found, Operation) else None
        if len(tensors) != len(self._leaves):
            raise errors.InvalidArgumentError(
                None, None, f"The function {self._function.name!r} of a SavedModel has"
                f" {len(tensors)} results, of which its signature lists {len(self._leaves)}",
            )  # fmt: skip
        self._set_shapes(tensors)
        values = iter(tensors)
        return nest.map_structure(
            lambda spec: from_components(spec, lambda _: next(values)), self.structured_outputs
        )

    def _mapped(self, what: Any) -> Any:
        return nest.map_structure(
            lambda spec: None if spec is None else what(spec), self.structured_outputs
        )

    def add_to_graph(self, g: Graph | None = None) -> None:
        graph = get_default_graph() if g is None else g
        for function in self._library.needed_by(self._function):
            add_function(graph, function)

    # ---- calls with arguments in their structure ----

    def fits(self, given: tuple[Any, Any], convert: bool) -> bool:
        """Whether it can be called so; `convert` lets Python values stand for tensors."""
        wanted = self.structured_input_signature
        try:
            flat = nest.flatten_up_to(wanted, given, check_types=False)
            nest.assert_same_structure(
                nest.pack_sequence_as(wanted, flat), given, check_types=False
            )
        except (TypeError, ValueError):
            return False
        specs = nest.flatten(wanted)
        return all(_fits(arg, spec, convert) for arg, spec in zip(flat, specs, strict=True))

    def call_with(self, given: tuple[Any, Any]) -> Any:
        wanted = self.structured_input_signature
        flat = nest.flatten_up_to(wanted, given, check_types=False)
        tensors: list[Any] = []
        for arg, spec in zip(flat, nest.flatten(wanted), strict=True):
            if isinstance(spec, TensorSpec):
                tensors.append(convert_to_tensor(arg, dtype_hint=spec.dtype))
            elif isinstance(spec, TypeSpec):
                tensors += nest.flatten(arg, expand_composites=True)
        found = self.call_flat(tensors)
        return None if isinstance(found, Operation) else found


def _fits(arg: Any, spec: Any, convert: bool) -> bool:
    if isinstance(spec, TensorSpec):
        if convert and not isinstance(arg, TensorSpec):
            arg = _converted(arg, spec)
        if not isinstance(arg, (Tensor, Variable, TensorSpec)):
            return False
        same_type = arg.dtype.base_dtype == spec.dtype.base_dtype
        return bool(same_type and spec.shape.is_compatible_with(arg.shape))
    if isinstance(spec, TypeSpec):
        try:
            return spec.is_compatible_with(arg)
        except (TypeError, ValueError):
            return False
    if isinstance(arg, (Tensor, Variable)):
        return False
    return bool(arg == spec)


def _converted(arg: Any, spec: TensorSpec) -> Any:
    """`arg` as a tensor, made in a graph aside, which is thrown away."""
    if isinstance(arg, (Tensor, Variable)):
        return arg
    with Graph().as_default():
        try:
            made = convert_to_tensor(arg, dtype_hint=spec.dtype)
            return TensorSpec(made.shape, made.dtype)
        except (TypeError, ValueError):
            return None


class RestoredFunction:
    """A `tf.function` as far as it was traced before it was saved."""

    def __init__(self, message: Any, traces: Sequence[RestoredConcrete]) -> None:
        self._message, self.concrete_functions = message, list(traces)
        self.__name__ = "restored_function_body"

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        """The parameters of the function that was saved, as `inspect` is told them."""
        return _parameters(self._message.function_spec)

    @property
    def input_signature(self) -> Any:
        """The specs that calls are held to, if it was made with some."""
        return decode(self._message.function_spec.input_signature)

    def traces(self) -> list[ConcreteFunction]:
        return list(self.concrete_functions)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._canonical(args, kwargs)
        return self._found(given).call_with(given)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for arguments like these."""
        if not args and not kwargs and len(self.concrete_functions) == 1:
            return self.concrete_functions[0]
        return self._found(self._canonical(args, kwargs))

    def _canonical(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
        bound = self.__signature__.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args, dict(bound.kwargs)

    def _found(self, given: tuple[Any, Any]) -> RestoredConcrete:
        for convert in (False, True):
            for trace in self.concrete_functions:
                if trace.fits(given, convert):
                    return trace
        options = [
            f"Option {i + 1}:\n  {_shown(*trace.structured_input_signature)}"
            for i, trace in enumerate(self.concrete_functions)
        ]
        raise ValueError(
            "Could not find matching function to call loaded from the SavedModel. Got:\n  "
            f"{_shown(*given)}\n\nExpected these arguments to match one of the following"
            f" {len(options)} option(s):\n\n" + "\n\n".join(options)
        )


def _shown(args: Any, kwargs: Any) -> str:
    listed = "".join(f"\n    * {arg}" for arg in args)
    return f"Positional arguments ({len(args)} total):{listed}\n  Keyword arguments: {kwargs}"


def _parameters(message: Any) -> inspect.Signature:
    """The parameters of the Python function; an object's own method has none for the object."""
    spec = decode(message.fullargspec)
    missing = [part for part in inspect.FullArgSpec._fields if not hasattr(spec, part)]
    if missing and missing != ["annotations"]:
        raise ValueError(f"A function of a SavedModel does not say its {', '.join(missing)}.")
    names, values = list(spec.args), list(spec.defaults or ())
    defaults = [_NONE] * (len(names) - len(values)) + values
    made = [
        _parameter("POSITIONAL_OR_KEYWORD", *each) for each in zip(names, defaults, strict=True)
    ]
    made = made[1:] if message.is_method else made
    if spec.varargs:
        made.append(_parameter("VAR_POSITIONAL", spec.varargs))
    for name in spec.kwonlyargs or ():
        made.append(_parameter("KEYWORD_ONLY", name, (spec.kwonlydefaults or {}).get(name, _NONE)))
    if spec.varkw:
        made.append(_parameter("VAR_KEYWORD", spec.varkw))
    return inspect.Signature(made)


_NONE = inspect.Parameter.empty


def _parameter(kind: str, name: Any, default: Any = _NONE) -> inspect.Parameter:
    if not (isinstance(name, str) and name.isidentifier()):
        raise ValueError(f"A function of a SavedModel has a parameter {name!r}, which is no name.")
    return inspect.Parameter(name, getattr(inspect.Parameter, kind), default=default)
