"""Arguments of an op -> its input tensors, and the attributes that follow from their types."""

from __future__ import annotations

from typing import Any

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph.attr_values import check_allowed, python_name
from weft.graph.convert import convert_to_tensor
from weft.graph.input_types import type_text
from weft.graph.late_error import late_error, told_late
from weft.graph.op_def import ArgDef, AttrDef, OpDef
from weft.graph.tensor import Tensor


def convert_inputs(definition: OpDef, given: dict[str, Any], attrs: dict[str, Any]) -> list[Tensor]:
    inputs: list[Tensor] = []
    for arg in definition.input_args:
        value = given[arg.name]
        if arg.is_list:
            inputs.extend(_convert_list(definition, arg, value, attrs))
        else:
            inputs.append(_convert_one(definition, arg, value, attrs))
    return inputs


def convert_beside_tensors(
    definition: OpDef, given: dict[str, Any], attrs: dict[str, Any]
) -> list[Tensor]:
    """As `convert_inputs` in eager execution, where tensors say what stands beside them becomes.

    A number or an array becomes of the type of the first tensor, before it or after it; what the
    operation allows comes after that, and before its inputs are looked at one by one.
    """
    bound = _types_of_tensors(definition, given, attrs)
    attrs |= {attr: dtype for attr, (_, dtype) in bound.items()}
    try:
        inputs = convert_inputs(definition, given, attrs)
    except TypeError as error:
        if late_error(error) is not None:
            _check_bound(definition, bound)
        raise
    _check_bound(definition, bound)
    return inputs


def _types_of_tensors(
    definition: OpDef, given: dict[str, Any], attrs: dict[str, Any]
) -> dict[str, tuple[ArgDef, DType]]:
    """The types that tensors give to attributes, and the arguments where they stand."""
    found: dict[str, tuple[ArgDef, DType]] = {}
    for arg in definition.input_args:
        attr, value = arg.type_attr, given[arg.name]
        if attr is None or attr in found or attrs.get(attr) is not None:
            continue
        values = value if arg.is_list and isinstance(value, list | tuple) else [value]
        dtype = next((v.dtype for v in values if _has_type(v)), None)
        if dtype is None and arg.is_list and values:
            dtype = _own_type(values[0], definition.attrs[attr])
        if dtype is not None:
            found[attr] = arg, dtype.base_dtype
    return found


def _own_type(value: Any, attr: AttrDef) -> DType | None:
    """The type of the first of a list, which the others become, if it can become a tensor."""
    hint = attr.default if attr.has_default else None
    try:
        return convert_to_tensor(value, preferred_dtype=hint).dtype
    except (TypeError, ValueError):
        return None


def _check_bound(definition: OpDef, bound: dict[str, tuple[ArgDef, DType]]) -> None:
    for attr, (arg, dtype) in bound.items():
        check_allowed(definition, definition.attrs[attr], dtype, arg.name)


def _has_type(value: Any) -> bool:
    return isinstance(getattr(value, "dtype", None), DType)


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
    except ValueError:
        try:
            found = _observed(value)
        except ValueError as error:
            failed = f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}"
            raise ValueError(failed) from None
        if dtype is None or found == dtype.base_dtype:
            raise
        raise _mismatch(definition, arg, found, dtype, attrs) from None
    bind(definition, arg, tensor, attrs)
    return tensor


def _observed(value: Any) -> DType:
    """The type that a value has by itself; an error if it cannot become a tensor."""
    found: DType = value.dtype if _has_type(value) else convert_to_tensor(value).dtype
    return found.base_dtype


def _mismatch(
    definition: OpDef, arg: ArgDef, found: DType, wanted: DType, attrs: dict[str, Any]
) -> TypeError:
    text = f"Input '{arg.name}' of '{definition.name}' Op has type {found.name} that does not match"
    other = next((a for a in definition.input_args if a.type_attr == arg.type_attr), arg)
    if arg.type is not None:
        text = f"{text} expected type of {wanted.base_dtype.name}."
    elif other is arg or other.name == arg.name:
        text = f"{text} type {wanted.base_dtype.name} of attr '{arg.type_attr}'."
    else:
        text = f"{text} type {wanted.base_dtype.name} of argument '{other.name}'."
    return told_late(TypeError(text), _unexpected(definition, arg, 0, found, wanted, attrs))


def _unexpected(
    definition: OpDef, arg: ArgDef, item: int, found: DType, wanted: DType, attrs: dict[str, Any]
) -> errors.OpError:
    """What is said of an input, an item of `arg`, when the operation is run."""
    before = definition.input_args[: definition.input_args.index(arg)]
    position = item + sum(attrs.get(a.number_attr, 1) if a.number_attr else 1 for a in before)
    return errors.InvalidArgumentError(
        None,
        None,
        f"cannot compute {definition.name} as input #{position}(zero-based) was expected to be a"
        f" {type_text(wanted)} tensor but is a {type_text(found)} tensor [Op:{definition.name}]",
    )


def _convert_list(
    definition: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any]
) -> list[Tensor]:
    if not isinstance(values, (list, tuple)):
        any_types = arg.type_list_attr is not None
        called = definition.name if any_types else python_name(definition)
        shown = str(values) if any_types else repr(values)
        raise TypeError(f"Expected list for '{arg.name}' argument to '{called}' Op, not {shown}.")
    if arg.type_list_attr is not None:
        asked = attrs.get(arg.type_list_attr) or [None] * len(values)
        try:
            tensors = [
                convert_to_tensor(v, dtype=t, name=f"{arg.name}_{i}", as_ref=arg.is_ref)
                for i, (v, t) in enumerate(zip(values, asked, strict=True))
            ]
        except (TypeError, ValueError):
            raise _unfit(definition, arg, values, "are invalid") from None
        found = [t.dtype.base_dtype for t in tensors]
        for dtype in found:
            check_allowed(definition, definition.attrs[arg.type_list_attr], dtype, arg.name)
        attrs[arg.type_list_attr] = found
        _check_length(definition, arg, arg.type_list_attr, len(tensors))
        return tensors
    return _convert_homogeneous(definition, arg, values, attrs)


def _convert_homogeneous(
    definition: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any]
) -> list[Tensor]:
    dtype, hint = _wanted(definition, arg, attrs)
    if dtype is None:
        dtype = next((t.dtype.base_dtype for t in values if isinstance(t, Tensor)), None)
    try:
        tensors = [
            convert_to_tensor(
                value, dtype=dtype, name=f"{arg.name}_{i}", preferred_dtype=hint, as_ref=arg.is_ref
            )
            for i, value in enumerate(values)
        ]
    except (TypeError, ValueError):
        raise _uneven(definition, arg, values, attrs) from None
    if len({tensor.dtype.base_dtype for tensor in tensors}) > 1:
        raise _uneven(definition, arg, values, attrs)
    assert arg.number_attr is not None
    count = attrs.setdefault(arg.number_attr, len(tensors))
    if count != len(tensors):
        raise ValueError(
            f"List argument '{arg.name}' to '{python_name(definition)}' Op with length"
            f" {len(tensors)} must match length {count} of argument '{_counted(definition, arg)}'."
        )
    _check_length(definition, arg, arg.number_attr, len(tensors))
    if tensors:
        bind(definition, arg, tensors[0], attrs)
    return tensors


def _counted(definition: OpDef, arg: ArgDef) -> str | None:
    """The argument whose length is that of `arg` too: the first; else the attribute itself."""
    alike = [other.name for other in definition.input_args if other.number_attr == arg.number_attr]
    return arg.number_attr if alike[0] == arg.name else alike[0]


def _uneven(definition: OpDef, arg: ArgDef, values: Any, attrs: dict[str, Any]) -> TypeError:
    known = arg.type if arg.type is not None else attrs.get(arg.type_attr or "")
    if known is None:
        return _unfit(definition, arg, values, "don't all match")
    if arg.type is not None:
        error = _unfit(definition, arg, values, f"do not match expected type {known.name}")
    else:
        inferred = f"do not match type {known.name} inferred from earlier arguments"
        error = _unfit(definition, arg, values, inferred)
    for i, value in enumerate(values):
        if _has_type(value) and value.dtype.base_dtype != known.base_dtype:
            late = _unexpected(definition, arg, i, value.dtype.base_dtype, known, attrs)
            return told_late(error, late)
    return error


def _unfit(definition: OpDef, arg: ArgDef, values: Any, fault: str) -> TypeError:
    """Tells the types of a list in which not all are what they should be."""
    kinds = []
    for value in values:
        try:
            kinds.append(_observed(value).name)
        except (TypeError, ValueError):
            kinds.append("<NOT CONVERTIBLE TO TENSOR>")
    return TypeError(
        f"Tensors in list passed to '{arg.name}' of '{definition.name}' Op have types"
        f" [{', '.join(kinds)}] that {fault}."
    )


def _check_length(definition: OpDef, arg: ArgDef, attr: str, length: int) -> None:
    minimum = definition.attrs[attr].minimum
    if minimum is not None and length < minimum:
        raise ValueError(
            f"List argument '{arg.name}' to '{definition.name}' Op with length {length} shorter"
            f" than minimum length {minimum}."
        )


def bind(definition: OpDef, arg: ArgDef, tensor: Tensor, attrs: dict[str, Any]) -> None:
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
        check_allowed(definition, definition.attrs[arg.type_attr], found, arg.name)
        attrs[arg.type_attr] = found
    elif bound != found:
        raise _mismatch(definition, arg, found, bound, attrs)
