"""Calling an OpDef: arguments in, a node of the default graph out.

Type attributes are inferred from the inputs in order; values that are not tensors become
constants named after the argument, inside a scope named after the node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.shapes import dims_of
from weft.graph import op_def as op_defs
from weft.graph import stacks
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, graph_of
from weft.graph.kernel_call import list_length
from weft.graph.op_def import ArgDef, AttrDef, FuncRef, OpDef
from weft.graph.tensor import Tensor


def apply_op(definition: OpDef, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Adds a node; returns its output tensor, a list of them, or the Operation if it has none."""
    name = kwargs.pop("name", None)
    params = definition.params
    if len(args) > len(params):
        if len(args) == len(params) + 1 and name is None:
            args, name = args[:-1], args[-1]
        else:
            raise TypeError(
                f"{definition.name}() takes {len(params)} arguments but {len(args)} were given"
            )
    given = dict(zip(params, args, strict=False))
    for key, value in kwargs.items():
        if key in given:
            raise TypeError(f"{definition.name}() got multiple values for argument '{key}'")
        given[key] = value
    op = add_node(definition, given, name)
    outputs = op.outputs
    if definition.single_output:
        return outputs[0]
    if not outputs and not definition.output_args:
        return op
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
        # A node without outputs is still something to run.
        return found[0] or op
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
    graph = _graph_for(definition, given)
    attrs = _given_attrs(definition, given)
    base = name or definition.name
    if _all_tensors(definition, given):
        inputs = [given[arg.name] for arg in definition.input_args]
        bind_types(definition, inputs, attrs)
    else:
        with stacks.graphs.enter(graph), graph.name_scope(base) as scope:
            inputs = _convert_inputs(definition, given, attrs)
        base = scope
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


def _all_tensors(definition: OpDef, given: dict[str, Any]) -> bool:
    if definition.has_list_input:
        return False
    for arg in definition.input_args:
        value = given.get(arg.name)
        if type(value) is not Tensor:
            return False
        if value.dtype._is_ref_dtype != arg.is_ref and arg.is_ref:
            return False
    return True


def _graph_for(definition: OpDef, given: dict[str, Any]) -> Graph:
    values = [given.get(arg.name) for arg in definition.input_args]
    if (default := stacks.get_default_graph()).building_function:
        return default  # which takes in what comes from elsewhere
    for value in values:
        if type(value) is Tensor:
            graph = value.op.graph
            break
    else:
        return graph_of(values)
    if len(values) > 1:
        return graph_of(values)
    return graph


def _given_attrs(definition: OpDef, given: dict[str, Any]) -> dict[str, Any]:
    attrs: dict[str, Any] = {}
    inputs = {arg.name for arg in definition.input_args}
    for key, value in given.items():
        attr = definition.attrs.get(key)
        if attr is not None and key not in inputs:
            if value is not None or attr.kind == "shape":
                attrs[key] = normalize(definition, attr, value)
        elif key not in inputs:
            raise TypeError(f"{definition.name}() got an unexpected keyword argument '{key}'")
    for name in inputs - given.keys():
        raise TypeError(f"No argument for input {name} of Op {definition.name}")
    return attrs


def _convert_inputs(
    definition: OpDef, given: dict[str, Any], attrs: dict[str, Any]
) -> list[Tensor]:
    inputs: list[Tensor] = []
    for arg in definition.input_args:
        value = given[arg.name]
        if arg.is_list:
            inputs.extend(_convert_list(definition, arg, value, attrs))
        else:
            inputs.append(_convert_one(definition, arg, value, attrs))
    return inputs


def _wanted(definition: OpDef, arg: ArgDef, attrs: dict[str, Any]) -> tuple[Any, Any]:
    """(the dtype an argument must have, the dtype it should have if that is open)"""
    if arg.type is not None:
        return arg.type, None
    assert arg.type_attr is not None
    if arg.type_attr in attrs:
        return attrs[arg.type_attr], None
    attr = definition.attrs[arg.type_attr]
    return None, attr.default if attr.has_default else None


def _convert_one(definition: OpDef, arg: ArgDef, value: Any, attrs: dict[str, Any]) -> Tensor:
    dtype, hint = _wanted(definition, arg, attrs)
    try:
        tensor = convert_to_tensor(
            value, dtype=dtype, name=arg.name, preferred_dtype=hint, as_ref=arg.is_ref
        )
    except TypeError as error:
        if dtype is None:
            raise
        raise TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{definition.name}', got"
            f" {value!r} of type '{type(value).__name__}' instead. Error: {error}"
        ) from None
    except ValueError as error:
        if dtype is None or not _is_dtype_mismatch(value, dtype):
            raise
        raise _mismatch(definition, arg, _dtype_of(value), dtype, attrs) from error
    _bind(definition, arg, tensor, attrs)
    return tensor


def _dtype_of(value: Any) -> DType | None:
    found = getattr(value, "dtype", None)
    return found.base_dtype if isinstance(found, DType) else None


def _is_dtype_mismatch(value: Any, dtype: DType) -> bool:
    found = _dtype_of(value)
    return found is not None and found != dtype.base_dtype


def _mismatch(
    definition: OpDef, arg: ArgDef, found: DType | None, wanted: DType, attrs: dict[str, Any]
) -> TypeError:
    text = (
        f"Input '{arg.name}' of '{definition.name}' Op has type"
        f" {found.name if found else '?'} that does not match"
    )
    if arg.type is not None:
        return TypeError(f"{text} expected type of {wanted.base_dtype.name}.")
    other = next((a for a in definition.input_args if a.type_attr == arg.type_attr), arg)
    if other is arg or other.name == arg.name:
        return TypeError(f"{text} type {wanted.base_dtype.name} of attr '{arg.type_attr}'.")
    return TypeError(f"{text} type {wanted.base_dtype.name} of argument '{other.name}'.")


def _convert_list(
    definition: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any]
) -> list[Tensor]:
    if not isinstance(values, (list, tuple)):
        raise TypeError(
            f"Expected list for '{arg.name}' argument to '{definition.name}' Op, not {values}."
        )
    if arg.type_list_attr is not None:
        asked = attrs.get(arg.type_list_attr) or [None] * len(values)
        tensors = [
            convert_to_tensor(v, dtype=t, name=f"{arg.name}_{i}", as_ref=arg.is_ref)
            for i, (v, t) in enumerate(zip(values, asked, strict=True))
        ]
        attrs[arg.type_list_attr] = [t.dtype.base_dtype for t in tensors]
        _check_list_types(definition, arg, attrs)
        return tensors
    return _convert_homogeneous(definition, arg, values, attrs)


def _convert_homogeneous(
    definition: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any]
) -> list[Tensor]:
    dtype, hint = _wanted(definition, arg, attrs)
    if dtype is None:
        dtype = next((t.dtype.base_dtype for t in values if isinstance(t, Tensor)), None)
    tensors: list[Tensor] = []
    for i, value in enumerate(values):
        try:
            tensor = convert_to_tensor(
                value, dtype=dtype, name=f"{arg.name}_{i}", preferred_dtype=hint, as_ref=arg.is_ref
            )
        except ValueError:
            kinds = [getattr(_dtype_of(v), "name", "<NOT CONVERTIBLE TO TENSOR>") for v in values]
            if all(k == kinds[0] for k in kinds) and dtype is None:
                raise
            raise TypeError(
                f"Tensors in list passed to '{arg.name}' of '{definition.name}' Op have types"
                f" [{', '.join(kinds)}] that {_list_complaint(arg, dtype)}"
            ) from None
        dtype = dtype or tensor.dtype.base_dtype
        tensors.append(tensor)
    assert arg.number_attr is not None
    count = attrs.setdefault(arg.number_attr, len(tensors))
    if count != len(tensors):
        raise ValueError(
            f"List argument '{arg.name}' to '{definition.name}' Op with length {len(tensors)} must"
            f" match length {count} of argument '{arg.number_attr}'."
        )
    minimum = definition.attrs[arg.number_attr].minimum
    if minimum is not None and len(tensors) < minimum:
        raise ValueError(
            f"List argument '{arg.name}' to '{definition.name}' Op with length {len(tensors)}"
            f" shorter than minimum length {minimum}."
        )
    if tensors:
        _bind(definition, arg, tensors[0], attrs)
    return tensors


def _list_complaint(arg: ArgDef, dtype: DType | None) -> str:
    if arg.type is not None:
        return f"do not match expected type {arg.type.name}."
    return "don't all match."


def _check_list_types(definition: OpDef, arg: ArgDef, attrs: dict[str, Any]) -> None:
    assert arg.type_list_attr is not None
    attr = definition.attrs[arg.type_list_attr]
    types = attrs[arg.type_list_attr]
    if attr.minimum is not None and len(types) < attr.minimum:
        raise ValueError(
            f"List argument '{arg.name}' to '{definition.name}' Op with length {len(types)} shorter"
            f" than minimum length {attr.minimum}."
        )


def _bind(definition: OpDef, arg: ArgDef, tensor: Tensor, attrs: dict[str, Any]) -> None:
    """Records the type an input gives to its attribute, and checks it."""
    found = tensor.dtype.base_dtype
    if arg.is_ref and not tensor.dtype._is_ref_dtype:
        raise TypeError(
            f"'{definition.name}' Op requires that input '{arg.name}' be a mutable tensor"
            " (e.g.: a tf.Variable)"
        )
    if arg.type_attr is None:
        if arg.type is not None and found != arg.type.base_dtype:
            raise _mismatch(definition, arg, found, arg.type, attrs)
        return
    bound = attrs.get(arg.type_attr)
    if bound is None:
        allowed = definition.attrs[arg.type_attr].allowed
        if allowed is not None and found not in allowed:
            raise TypeError(
                f"Value passed to parameter '{arg.name}' has DataType {found.name} not in list of"
                f" allowed values: {', '.join(d.name for d in allowed)}"
            )
        attrs[arg.type_attr] = found
    elif bound != found:
        raise _mismatch(definition, arg, found, bound, attrs)


def bind_types(definition: OpDef, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> None:
    for arg, tensor in zip(definition.input_args, inputs, strict=True):
        _bind(definition, arg, tensor, attrs)


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
            types = [dtype] * (attrs[arg.number_attr] if arg.number_attr else 1)
        found += [t._as_ref if arg.is_ref else t for t in types]
    return found


# ---- attribute values -----------------------------------------------------------------------


def normalize(definition: OpDef, attr: AttrDef, value: Any) -> Any:
    """`value` as the plain Python form attributes are kept in; checks what the op allows."""
    if attr.kind.startswith("list("):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for attr {attr.name}, got {value!r}.")
        found: Any = [_normalize(attr, attr.kind[5:-1], item) for item in value]
        if attr.minimum is not None and len(found) < attr.minimum:
            raise ValueError(
                f"Attr '{attr.name}' of '{definition.name}' Op passed list of length {len(found)}"
                f" less than minimum {attr.minimum}."
            )
    else:
        found = _normalize(attr, attr.kind, value)
        if attr.minimum is not None and found < attr.minimum:
            raise ValueError(
                f"Attr '{attr.name}' of '{definition.name}' Op passed {found} less than minimum"
                f" {attr.minimum}."
            )
    _check_allowed(definition, attr, found)
    return found


def _check_allowed(definition: OpDef, attr: AttrDef, value: Any) -> None:
    if attr.allowed is None:
        return
    for item in value if type(value) is list else [value]:
        if item in attr.allowed:
            continue
        if isinstance(item, DType):
            raise TypeError(
                f"Value passed to parameter '{attr.name}' has DataType {item.name} not in list of"
                f" allowed values: {', '.join(d.name for d in attr.allowed)}"
            )
        allowed = '", "'.join(attr.allowed)
        raise ValueError(
            f"Attr '{attr.name}' of '{definition.name}' Op passed string '{item}' not in:"
            f' "{allowed}".'
        )


def _normalize(attr: AttrDef, kind: str, value: Any) -> Any:
    wrong = TypeError(f"Expected {kind} for argument '{attr.name}' not {value!r}.")
    if kind == "type":
        return dtypes.as_dtype(value).base_dtype
    if kind == "int":
        if isinstance(value, (str, bytes)) or not hasattr(value, "__int__"):
            raise wrong
        return int(value)
    if kind == "float":
        if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
            raise wrong
        return float(value)
    if kind == "bool":
        if not isinstance(value, (bool, np.bool_)):
            raise wrong
        return bool(value)
    if kind == "string":
        if not isinstance(value, (str, bytes)):
            raise wrong
        return text_of(value)
    if kind == "shape":
        return dims_of(value)
    if kind == "tensor":
        return np.asarray(value)
    return _function_reference(value)


def _function_reference(value: Any) -> FuncRef:
    """A function by its name, as a message, or as an object that goes into the graph with it."""
    from weft.graph.graph_def import attr_from_proto

    if isinstance(value, FuncRef):
        return value
    if isinstance(value, (str, bytes)):
        return FuncRef(str(text_of(value)))
    if hasattr(value, "add_to_graph"):
        value.add_to_graph(stacks.get_default_graph())
        return FuncRef(value.name)
    return FuncRef(value.name, tuple((k, attr_from_proto(v)) for k, v in value.attr.items()))


def text_of(value: str | bytes) -> str | bytes:
    """str where the bytes are UTF-8, so that attributes read naturally; else the bytes."""
    if isinstance(value, str):
        return value
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


op_defs.set_apply(apply_op)
