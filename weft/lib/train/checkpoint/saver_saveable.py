"""Saveables of a Saver: variables and other objects, each as named tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from weft.core.device_name import DeviceSpec
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import GraphKeys, Tensor, device, get_collection
from weft.graph.op_def import raw
from weft.ops.kit.eager import EagerGraph
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.resource_variable import BaseResourceVariable
from weft.ops.state.updates import assign
from weft.ops.state.variables import Variable

_REFERENCE_OPS = ("Variable", "VariableV2", "AutoReloadVariable")
_VARIABLE_OPS = (*_REFERENCE_OPS, "VarHandleOp", "ReadVariableOp")
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"


def set_cpu0(device_string: str) -> str:
    """The first CPU of the process that a device belongs to."""
    spec = DeviceSpec.from_string(device_string)
    return spec.replace(device_type="CPU", device_index=0).to_string()


class SaveSpec:
    """One tensor to save: its value (or a function that makes it), slice and name."""

    def __init__(
        self, tensor: Any, slice_spec: str, name: str, dtype: Any = None, device: Any = None
    ) -> None:
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        if callable(tensor):
            if dtype is None or device is None:
                raise AssertionError(
                    "When passing a callable `tensor` to a SaveSpec, an explicit dtype and device "
                    "must be provided."
                )
            self.dtype, self.device = dtype, device
        else:
            self.dtype, self.device = tensor.dtype, tensor.device

    @property
    def tensor(self) -> Any:
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """An object that is saved as the tensors of `specs`, all on one device."""

    def __init__(self, op: Any, specs: list[SaveSpec], name: str) -> None:
        self.op, self.specs, self.name = op, specs, name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint without this object is complete all the same."""
        return False

    @property
    def device(self) -> Any:
        return self.specs[0].device

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """An operation that puts `restored_tensors`, reshaped if shapes are given, in place."""
        raise ValueError("Calling an abstract method.")


def _reshaped(restored_tensors: Any, restored_shapes: Any) -> Any:
    tensor = restored_tensors[0]
    if restored_shapes is None:
        return tensor
    from weft.ops.array import array

    return array.reshape(tensor, restored_shapes[0])


class ReferenceVariableSaveable(SaveableObject):
    """A variable that is a reference tensor."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        super().__init__(var, [SaveSpec(var, slice_spec, name, dtype=var.dtype)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return assign(
            self.op,
            _reshaped(restored_tensors, restored_shapes),
            validate_shape=restored_shapes is None and self.op.shape.is_fully_defined(),
        )


class ResourceVariableSaveable(SaveableObject):
    """A variable behind a handle: given as the variable, or as the tensor of its read."""

    def __init__(self, var: Any, slice_spec: str, name: str) -> None:
        self._var_device, self._var_shape = var.device, var.shape
        tensor: Any
        if isinstance(var, Tensor):
            self.handle_op, tensor = var.op.inputs[0], var
        elif isinstance(var, BaseResourceVariable):
            self.handle_op, tensor = var.handle, _copy_on_cpu(var)
        else:
            raise ValueError(
                f"Saveable is neither a resource variable nor a read operation. Got: {var!r}"
            )
        spec = SaveSpec(tensor, slice_spec, name, dtype=var.dtype, device=var.device)
        super().__init__(var, [spec], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        tensor = _reshaped(restored_tensors, restored_shapes)
        with device(self._var_device):
            tensor = raw.Identity(tensor)
            self._var_shape.assert_is_compatible_with(tensor.shape)
            return raw.AssignVariableOp(self.handle_op, tensor)


def _copy_on_cpu(variable: Any) -> Callable[[], Any]:
    def read() -> Any:
        with device(variable.device):
            value = variable.read_value()
            with device("/device:CPU:0"):
                return raw.Identity(value)

    return read


def _of_variable(variable: Any, slice_spec: str, name: str) -> SaveableObject:
    is_reference = variable.op.type in _REFERENCE_OPS
    kind = ReferenceVariableSaveable if is_reference else ResourceVariableSaveable
    return kind(variable, slice_spec, name)


def _is_trackable(value: Any) -> bool:
    """Whether it says itself what is saved of it; of variables, those with several copies do."""
    return hasattr(value, "_gather_saveables_for_checkpoint")


# ---- from what users give to saveables ----------------------------------------------------------


def all_saveable_objects(scope: str | None = None) -> list[Any]:
    """The global variables and the objects that asked to be saved with them."""
    return [
        *get_collection(GraphKeys.GLOBAL_VARIABLES, scope),
        *get_collection(GraphKeys.SAVEABLE_OBJECTS, scope),
    ]


def saveable_objects_for_op(op: Any, name: str) -> Iterator[SaveableObject]:
    """The saveables that together save `op` under `name`."""
    if not isinstance(name, str):
        raise TypeError(
            "names_to_saveables must be a dict mapping string names to trackable operations. "
            f"Name is not a string: {name}"
        )
    if isinstance(op, SaveableObject):
        yield op
    elif isinstance(op, (list, tuple, PartitionedVariable)):
        yield from _slices(list(op), name)
    elif _is_trackable(op):
        for attribute, factory in op._gather_saveables_for_checkpoint().items():
            full_name = name if attribute == VARIABLE_VALUE_KEY else f"{name}_{attribute}"
            made = factory(full_name) if callable(factory) else factory
            yield from saveable_objects_for_op(made, made.name)
    elif isinstance(op, BaseResourceVariable):
        source = op if isinstance(op.graph, EagerGraph) else op._graph_element
        yield ResourceVariableSaveable(source, "", name)
    else:
        tensor = _as_reference(op)
        if tensor is None or tensor.op.type not in _VARIABLE_OPS:
            raise TypeError(
                "names_to_saveables must be a dict mapping string names to Tensors/Variables. Not "
                f"a variable: {tensor if tensor is not None else op}"
            )
        yield _of_variable(tensor, "", name)


def _slices(variables: list[Any], name: str) -> Iterator[SaveableObject]:
    full_name = None
    for variable in variables:
        if not isinstance(variable, Variable):
            raise ValueError(f"Slices must all be Variables: {variable}")
        info = variable._save_slice_info
        if not info:
            raise ValueError(f"Slices must all be slices: {variable}")
        if full_name is None:
            full_name = info.full_name
        elif full_name != info.full_name:
            raise ValueError(
                f"Slices must all be from the same tensor: {full_name} != {info.full_name}"
            )
        yield _of_variable(variable, info.spec, name)


def _as_reference(value: Any) -> Any:
    return convert_to_tensor(value._ref() if isinstance(value, Variable) else value)


def op_list_to_dict(op_list: Any, convert_variable_to_tensor: bool = True) -> dict[str, Any]:
    """Name -> what is saved under it; the slices of one variable come as a list."""
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    found: dict[str, Any] = {}
    # Sorted, so that the graph does not depend on the order in which they were given.
    for each in sorted(op_list, key=lambda item: item.name):
        if isinstance(each, SaveableObject):
            found[each.name] = each
        elif isinstance(each, PartitionedVariable):
            _add_new(found, each.name, each)
        elif isinstance(each, Variable) and each._save_slice_info:
            _add_slice(found, each)
        elif _is_trackable(each):
            factories = each._gather_saveables_for_checkpoint().values()
            made = [factory() if callable(factory) else factory for factory in factories]
            found.update(op_list_to_dict(made))
        else:
            convert = convert_variable_to_tensor and not isinstance(each.graph, EagerGraph)
            tensor = _variable_tensor(each) if convert else each
            is_read = tensor.op.definition.reads_variable
            _add_new(found, (tensor.op.inputs[0].op if is_read else tensor.op).name, tensor)
    return found


def _variable_tensor(variable: Any) -> Any:
    if isinstance(variable, BaseResourceVariable):
        tensor = variable._graph_element
    else:
        tensor = _as_reference(variable)
    if tensor.op.type not in _VARIABLE_OPS:
        raise TypeError(f"Variable to save is not a Variable: {tensor}")
    return tensor


def _add_new(found: dict[str, Any], name: str, value: Any) -> None:
    if name in found:
        raise ValueError(f"At least two variables have the same name: {name}")
    found[name] = value


def _add_slice(found: dict[str, Any], variable: Any) -> None:
    name = variable._save_slice_info.full_name
    if not isinstance(found.setdefault(name, []), list):
        raise ValueError(f"Mixing slices and non-slices with the same name: {name}")
    found[name].append(variable)


def validate_and_slice_inputs(names_to_saveables: Any) -> list[SaveableObject]:
    """The saveables of a dict or list of variables, in the order of their names."""
    if not isinstance(names_to_saveables, dict):
        names_to_saveables = op_list_to_dict(names_to_saveables)
    saveables: list[SaveableObject] = []
    seen: set[int] = set()
    for name in sorted(names_to_saveables):
        for saveable in saveable_objects_for_op(names_to_saveables[name], name):
            if id(saveable.op) in seen:
                raise ValueError(
                    f"The same saveable will be restored with two names: {saveable.name}"
                )
            seen.add(id(saveable.op))
            saveables.append(saveable)
    return saveables
