"""Calling an OpDef: arguments in, a node of the default graph out.

Type attributes are inferred from the inputs in order; values that are not tensors become
constants named after the argument, inside a scope named after the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.core.dtypes import DType
from weft.graph import op_def as op_defs
from weft.graph import stacks
from weft.graph.arguments import bind, convert_beside_tensors, convert_inputs
from weft.graph.attr_values import check_value, plain_form
from weft.graph.graph import Graph, graph_of
from weft.graph.kernel_call import list_length
from weft.graph.op_def import ArgDef, AttrDef, OpDef
from weft.graph.tensor import Tensor


def apply_op(definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Adds a node; returns its output tensor, a list of them, or the Operation if it has none."""
    graph = stacks.get_default_graph()
    if graph.knows_calls:
        return graph.call_known(definition, args, kwargs)
    return apply_anew(definition, args, kwargs)


def apply_anew(definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """As `apply_op`, whatever was called before."""
    name = kwargs.pop("name", None)
    params = definition.params
    if len(args) == len(params) + 1 and name is None:
        args, name = args[:-1], args[-1]
    if len(args) > len(params):
        raise TypeError(
            f"{definition.name}() takes {len(params)} arguments but {len(args)} were given"
        )
    given = dict(zip(params, args, strict=False))
    if kwargs:
        own_names = definition.own_names
        for key, value in kwargs.items():
            own = own_names[key] if key in own_names else key
            if own in given:
                raise TypeError(f"{definition.name}() got multiple values for argument '{key}'")
            given[own] = value
    op = add_node(definition, given, name)
    outputs = op.outputs
    if definition.single_output:
        return outputs[0]
    if not outputs and not definition.output_args:
        return op if op._value is None else None
    return grouped_outputs(definition, op)


def grouped_outputs(definition: OpDef, op: Any) -> Any:
    """Outputs by argument: a list argument is one list. A single list output is that list."""
    if not definition.has_list_output:
        return op_outputs_tuple(definition)(*op.outputs)
    found: list[Any] = []
    position = 0
    for arg in definition.output_args:
        count = _arg_length(arg, op.attrs)
        part = op.outputs[position : position + count]
        found.append(list(part) if arg.is_list else part[0])
        position += count
    if len(found) == 1:
        # A node without outputs is still something to run, where it has not run already.
        return found[0] or (op if op._value is None else [])
    return op_outputs_tuple(definition)(*found)


_tuples: dict[str, Any] = {}


def op_outputs_tuple(definition: OpDef) -> Any:
    """The named tuple that calls of a multi-output op return."""
    from collections import namedtuple

    kind = _tuples.get(definition.name)
    if kind is None:
        fields = [arg.name for arg in definition.output_args]
        kind = _tuples[definition.name] = namedtuple(definition.name, fields, rename=True)
    return kind


def add_node(definition: OpDef, given: dict[str, Any], name: str | None) -> Any:
    graph, inputs = _graph_for(definition, given)
    attrs = _given_attrs(definition, given)
    base = name or definition.name
    if inputs is not None:
        bind_types(definition, inputs, attrs)
    else:
        with stacks.graphs.enter(graph), graph.name_scope(base) as scope:
            convert = convert_beside_tensors if graph.knows_calls else convert_inputs
            inputs = convert(definition, given, attrs)
        base = scope
    _check_given(definition, given, attrs)
    complete_attrs(definition, attrs)
    types = output_types(definition, attrs)
    if definition.has_ref_input:
        refs = [t for arg, t in zip(definition.input_args, inputs, strict=False) if arg.is_ref]
        with stacks.graphs.enter(graph):
            return _add_beside(graph, refs, definition, inputs, types, attrs, base)
    return graph.add_op(definition, tuple(inputs), types, attrs, base)


def _add_beside(
    graph: Graph,
    refs: list[Tensor],
    definition: OpDef,
    inputs: list[Tensor],
    types: list[DType],
    attrs: dict[str, Any],
    name: str,
) -> Any:
    """Operations on a reference must live where the reference lives."""
    if not refs:
        return graph.add_op(definition, tuple(inputs), types, attrs, name)
    with graph.colocate_with(refs[0].op, ignore_existing=True):
        return _add_beside(graph, refs[1:], definition, inputs, types, attrs, name)


def _graph_for(definition: OpDef, given: dict[str, Any]) -> tuple[Graph, list[Tensor] | None]:
    """The graph for a node; its inputs, too, if they are tensors as they are."""
    default = stacks.get_default_graph()
    inputs: list[Any] = [given.get(arg.name) for arg in definition.input_args]
    plain = not definition.has_list_input
    graph: Graph | None = None
    for value in inputs:
        if type(value) is not Tensor:
            graph, plain = graph_of(inputs), False
            break
        if graph is None:
            graph = value.op.graph
        elif value.op.graph is not graph:
            graph = graph_of(inputs)
    if plain and definition.has_ref_input:
        refs = zip(definition.input_args, inputs, strict=True)
        plain = all(value.dtype._is_ref_dtype for arg, value in refs if arg.is_ref)
    if graph is None or default.building_function:
        graph = default  # a function takes in what comes from elsewhere
    return graph, inputs if plain else None


def _given_attrs(definition: OpDef, given: dict[str, Any]) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    inputs = definition.input_names
    for key, value in given.items():
        if key in inputs:
            continue
        attr = definition.attrs.get(key)
        if attr is None:
            raise TypeError(f"{definition.name}() got an unexpected keyword argument '{key}'")
        if value is not None or attr.kind == "shape" or _is_required(definition, attr):
            attrs[key] = plain_form(definition, attr, value)
    if not given.keys() >= inputs:
        missing = next(arg.name for arg in definition.input_args if arg.name not in given)
        raise TypeError(f"No argument for input {missing} of Op {definition.name}")
    return attrs


def _check_given(definition: OpDef, given: dict[str, Any], attrs: dict[str, Any]) -> None:
    """What an operation allows comes after its inputs, whose types are looked at first."""
    for key in given:
        if key in attrs:
            attr = definition.attrs[key]
            if attr.allowed is not None or attr.minimum is not None:
                check_value(definition, attr, attrs[key])


def _is_required(definition: OpDef, attr: AttrDef) -> bool:
    """Whether an attribute may not be None: it has no default, and no input says what it is."""
    if attr.has_default or not attr.kind.endswith(("int", "float", "bool", "string", "int)")):
        return False
    return all(arg.number_attr != attr.name for arg in definition.input_args)


def bind_types(definition: OpDef, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
    for arg, tensor in zip(definition.input_args, inputs, strict=True):
        bind(definition, arg, tensor, attrs)


def infer_attrs(
    definition: OpDef, inputs: Sequence[Tensor], attrs: dict[str, Any]
) -> dict[str, Any]:
    """`attrs` completed from flat inputs and defaults (nodes made from NodeDefs and create_op)."""
    position = 0
    for arg in definition.input_args:
        if arg.number_attr is not None and arg.number_attr not in attrs:
            single = len(definition.input_args) == 1
            attrs[arg.number_attr] = len(inputs) if single else _run_length(inputs, position)
        if arg.type_list_attr is not None and arg.type_list_attr not in attrs:
            attrs[arg.type_list_attr] = [t.dtype.base_dtype for t in inputs[position:]]
        count = _arg_length(arg, attrs)
        if arg.type_attr is not None and arg.type_attr not in attrs and count:
            if position >= len(inputs):
                raise ValueError(f"Op {definition.name} lacks the input {arg.name}")
            attrs[arg.type_attr] = inputs[position].dtype.base_dtype
        position += count
    if position != len(inputs):
        raise ValueError(f"Op {definition.name} takes {position} inputs, got {len(inputs)}")
    complete_attrs(definition, attrs)
    return attrs


def _run_length(inputs: Sequence[Tensor], start: int) -> int:
    kind = inputs[start].dtype.base_dtype
    count = 0
    while start + count < len(inputs) and inputs[start + count].dtype.base_dtype == kind:
        count += 1
    return count


def complete_attrs(definition: OpDef, attrs: dict[str, Any]) -> None:
    """Fills in defaults; an attr that has none and was not given is the caller's mistake."""
    if attrs.keys() >= definition.attrs.keys():
        return
    for key, attr in definition.attrs.items():
        if key not in attrs:
            if not attr.has_default:
                raise TypeError(f"No argument for attr {key} of Op {definition.name}")
            default = attr.default
            attrs[key] = list(default) if type(default) is list else default


def _arg_length(arg: ArgDef, attrs: dict[str, Any]) -> int:
    return list_length(arg, attrs) if arg.is_list else 1


def output_types(definition: OpDef, attrs: dict[str, Any]) -> list[DType]:
    if definition.single_output:
        arg = definition.output_args[0]
        dtype = arg.type if arg.type is not None else attrs[arg.type_attr or ""]
        return [dtype._as_ref if arg.is_ref else dtype]
    found: list[DType] = []
    for arg in definition.output_args:
        if arg.type_list_attr is not None:
            types = list(attrs[arg.type_list_attr])
        else:
            dtype = arg.type if arg.type is not None else attrs[arg.type_attr or ""]
            types = [dtype] * _arg_length(arg, attrs)
        found += [t._as_ref if arg.is_ref else t for t in types]
    return found


op_defs.set_apply(apply_op)
