"""How an optimizer updates one variable: by one training op, unless a subclass says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from weft.core.tracks import Tracks
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import Tensor, colocate_with
from weft.graph.op_def import lookup
from weft.graph.slices import IndexedSlices
from weft.ops.math import math
from weft.ops.state import optimizer_nodes as training  # noqa: F401  (training registers its ops)
from weft.ops.state.resource_variable import is_resource_variable


def hyperparameters(*names: str) -> tuple[tuple[str, str, str], ...]:
    """The entries of `_HYPERPARAMETERS` for hyperparameters whose attributes bear their names."""
    return tuple((f"_{name}", f"_{name}_tensor", name) for name in names)


class KernelSteps(Tracks):
    """The part of an optimizer that updates one variable by its gradient.

    A subclass overrides `_apply_dense` and `_apply_sparse` for reference variables, and
    `_resource_apply_dense` and `_resource_apply_sparse` for resource variables; rows of sparse
    gradients are named once. Or its step is one training op, whatever the kind of variable and
    gradient: `_KERNEL` names the op, `_SLOTS` the slots it takes (zeros at first), `_INPUTS` the
    attribute for each of its scalars, `_ATTRS` those of its attributes that this object holds,
    `_HYPERPARAMETERS` (attribute with the value, attribute for its tensor, tensor's name).
    """

    _HYPERPARAMETERS: tuple[tuple[str, str, str], ...] = ()
    _KERNEL: str | None = None
    _SLOTS: tuple[str, ...] = ()
    _INPUTS: Mapping[str, str] = {}
    _ATTRS: tuple[str, ...] = ("use_locking",)
    _name: str
    get_slot: Callable[..., Any]
    _zeros_slot: Callable[..., Any]
    _get_or_make_slot: Callable[..., Any]
    _call_if_callable: Callable[..., Any]

    def _forget_hyperparameters(self) -> None:
        for _, tensor, _ in self._HYPERPARAMETERS:
            setattr(self, tensor, None)

    def _prepare(self) -> None:
        """Makes the tensors that all updates use, such as the learning rate."""
        for value, tensor, name in self._HYPERPARAMETERS:
            given = self._call_if_callable(getattr(self, value))
            setattr(self, tensor, convert_to_tensor(given, name=name))

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes the state the optimizer keeps for `var_list`."""
        for var in var_list:
            for slot in self._SLOTS:
                self._zeros_slot(var, slot, self._name)

    def _constant_slot(self, var: Any, value: float, slot: str, name: str | None = None) -> None:
        """Makes a slot that begins with the same number everywhere."""
        with colocate_with(var.op):
            filled = constant(value, var.dtype.base_dtype, var.get_shape())
        self._get_or_make_slot(var, filled, slot, name or self._name)

    def _inputs(self) -> dict[str, Any]:
        """The scalars of the training op by name."""
        return {name: getattr(self, attribute) for name, attribute in self._INPUTS.items()}

    def _step(self, grad: Tensor, var: Any, indices: Tensor | None) -> Any:
        """Adds the training op; `indices` None means a dense gradient."""
        if self._KERNEL is None:
            raise NotImplementedError
        slots = [self.get_slot(var, slot) for slot in self._SLOTS]
        attrs = {name: getattr(self, f"_{name}") for name in self._ATTRS}
        return training_op(self._KERNEL, var, slots, grad, indices, self._inputs(), **attrs)

    def _apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._step(grad, var, None).op

    def _resource_apply_dense(self, grad: Tensor, var: Any) -> Any:
        return self._step(grad, var, None)

    def _apply_sparse(self, grad: IndexedSlices, var: Any) -> Any:
        return self._step(grad.values, var, grad.indices).op

    def _resource_apply_sparse(self, grad: Tensor, var: Any, indices: Tensor) -> Any:
        return self._step(grad, var, indices)


def training_op(
    name: str,
    var: Any,
    slots: list[Any],
    grad: Tensor,
    indices: Tensor | None,
    inputs: dict[str, Any],
    **attrs: Any,
) -> Any:
    """Adds the form of training op `name` that fits the variable and the gradient.

    `inputs` are the op's scalars by name; those that share the variable's type are cast to it.
    """
    resource, sparse = is_resource_variable(var), indices is not None
    definition = lookup("Resource" * resource + "Sparse" * sparse + "Apply" + name)
    dtype = (grad if resource else var).dtype.base_dtype
    variables = [v.handle if resource else v._ref() for v in (var, *slots)]
    given = {"grad": grad, "delta": grad, "indices": indices, **inputs}
    rest = []
    for arg in definition.input_args[len(variables) :]:
        value = given[arg.name]
        if arg.type_attr == "T" and value is not grad:
            value = math.cast(value, dtype)
        rest.append(value)
    return definition(*variables, *rest, **attrs)
