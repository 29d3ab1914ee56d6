"""Optimizer: gradients of a loss in, an operation that updates the variables out."""

from __future__ import annotations

from typing import Any

from weft.autodiff.gradients import gradients
from weft.autodiff.tape import GradientTape
from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    get_collection,
    get_collection_ref,
    get_default_graph,
    init_scope,
    name_scope,
)
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices, convert_to_tensor_or_indexed_slices
from weft.lib.train.optimizers import slot_creator
from weft.lib.train.optimizers.distributed_apply import (
    apply_in_replica,
    closest_copy,
    copy_beside,
    distributed_apply,
    primary_copy,
    scaled_loss,
)
from weft.lib.train.optimizers.kernel_steps import KernelSteps
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.kit.eager import EagerGraph, executing_eagerly
from weft.ops.kit.replicas import beside, strategy_in_force
from weft.ops.math import math
from weft.ops.state import optimizer_nodes as training  # noqa: F401  (training registers its ops)
from weft.ops.state.resource_variable import BaseResourceVariable, is_resource_variable
from weft.ops.state.updates import assign_add
from weft.ops.state.variables import Variable, trainable_variables

Gradient = Any  # Tensor | IndexedSlices | None


class Optimizer(KernelSteps):
    """Base of all optimizers.

    A subclass says how to update one variable by its gradient (`_apply_dense` and `_apply_sparse`
    for reference variables, `_resource_apply_dense` and `_resource_apply_sparse` for resource
    variables) and, if it keeps state, makes it in `_create_slots`.

    Args:
        use_locking: lock variables while they are updated.
        name: of the operations and of the variables it keeps.

    Raises:
        ValueError: there is no name.

    Example:
        >>> v = tf.Variable(3.0)
        >>> optimizer = tf.train.GradientDescentOptimizer(0.5)
        >>> pairs = optimizer.compute_gradients(v * v)
        >>> train = optimizer.apply_gradients([(gradient / 2, v) for gradient, v in pairs])
        >>> session.run(v.initializer)
        >>> session.run(train)
        >>> float(session.run(v))
        1.5
    """

    # How many gradients may be computed at once before any is applied.
    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    def __init__(self, use_locking: bool, name: str) -> None:
        if not name:
            raise ValueError("Must specify the optimizer name")
        self._use_locking, self._name = use_locking, name
        # Slot name -> key of the variable -> slot variable.
        self._slots: dict[str, dict[Any, Any]] = {}
        # (name, graph) -> variable that belongs to the optimizer as a whole.
        self._non_slot_dict: dict[tuple[str, Any], Any] = {}
        self._forget_hyperparameters()

    def get_name(self) -> str:
        return self._name

    # ---- the three public steps ----

    def minimize(
        self,
        loss: Any,
        global_step: Any = None,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:
        """`compute_gradients` and `apply_gradients` in one: an op that makes `loss` smaller."""
        grads_and_vars = self.compute_gradients(
            loss,
            var_list=var_list,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            grad_loss=grad_loss,
        )
        if all(g is None for g, _ in grads_and_vars):
            raise ValueError(
                "No gradients provided for any variable, check your graph for ops that do not "
                "support gradients, between variables "
                f"{[str(v) for _, v in grads_and_vars]} and loss {loss}."
            )
        return self.apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def compute_gradients(
        self,
        loss: Any,
        var_list: Any = None,
        gate_gradients: int = GATE_OP,
        aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False,
        grad_loss: Any = None,
    ) -> list[tuple[Gradient, Any]]:
        """(gradient, variable) for each variable of `var_list` (the trainable ones by default)."""
        if callable(loss):
            if _knows_variables_by_their_use():
                return self._compute_gradients_on_tape(loss, var_list, grad_loss)
            loss = loss()
        elif executing_eagerly():
            raise RuntimeError(
                "`loss` passed to Optimizer.compute_gradients should be a function"
                " when eager execution is enabled."
            )
        if gate_gradients not in (self.GATE_NONE, self.GATE_OP, self.GATE_GRAPH):
            raise ValueError(
                "gate_gradients must be one of: Optimizer.GATE_NONE, Optimizer.GATE_OP, "
                f"Optimizer.GATE_GRAPH.  Not {gate_gradients}"
            )
        loss = scaled_loss(loss)
        self._assert_valid_dtypes([loss])
        if grad_loss is not None:
            self._assert_valid_dtypes([grad_loss])
        if var_list is None:
            var_list = trainable_variables()
            var_list += get_collection(GraphKeys.TRAINABLE_RESOURCE_VARIABLES)
        else:
            var_list = nest.flatten(var_list)
        var_list += get_collection(GraphKeys._STREAMING_MODEL_PORTS)
        if not var_list:
            raise ValueError("No variables to optimize.")
        grads = gradients(
            loss,
            [_target(v) for v in var_list],
            grad_ys=grad_loss,
            gate_gradients=gate_gradients == self.GATE_OP,
            aggregation_method=aggregation_method,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
        )
        if gate_gradients == self.GATE_GRAPH:
            grads = control.tuple_(grads)
        grads_and_vars = list(zip(grads, var_list, strict=True))
        self._assert_valid_dtypes([v for g, v in grads_and_vars if g is not None])
        return grads_and_vars

    def _compute_gradients_on_tape(
        self, loss: Any, var_list: Any, grad_loss: Any
    ) -> list[tuple[Gradient, Any]]:
        with GradientTape() as tape:
            if var_list is not None:
                tape.watch(var_list)
            value = loss()
        if var_list is None:
            var_list = tape.watched_variables()
        self._assert_valid_dtypes([value])
        grads = tape.gradient(value, var_list, grad_loss)
        return list(zip(grads, nest.flatten(var_list), strict=True))

    def apply_gradients(
        self, grads_and_vars: Any, global_step: Any = None, name: str | None = None
    ) -> Operation:
        """An op that updates each variable by its gradient, then adds one to `global_step`."""
        grads_and_vars = tuple(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("No variables provided.")
        if strategy_in_force() is not None:
            return apply_in_replica(self, grads_and_vars, global_step, name)
        pairs = [(_checked_gradient(g), v) for g, v in grads_and_vars]
        var_list = [v for g, v in pairs if g is not None]
        if not var_list:
            raise ValueError(
                f"No gradients provided for any variable: {[str(v) for _, v in pairs]}."
            )
        with init_scope():
            self._create_slots(var_list)
        with name_scope(name or self._name) as scope:
            self._prepare()
            updates = [self._update(g, v) for g, v in pairs if g is not None]
            if global_step is None:
                applied = self._finish(updates, scope)
            else:
                with control_dependencies([self._finish(updates, "update")]):
                    applied = _increment(global_step, scope)
            if isinstance(applied, Tensor):
                applied = applied.op
            if executing_eagerly():
                return applied
            train_op = get_collection_ref(GraphKeys.TRAIN_OP)
            if applied not in train_op:
                train_op.append(applied)
            return applied

    def _distributed_apply(
        self, distribution: Any, grads_and_vars: Any, global_step: Any = None,
        name: str | None = None,
    ) -> Any:  # fmt: skip
        """`apply_gradients` for all replicas of a strategy at once."""
        return distributed_apply(self, distribution, grads_and_vars, global_step, name)

    def _update(self, grad: Gradient, var: Any) -> Any:
        """The update of one variable, with its constraint applied afterwards."""
        with name_scope("update_" + var.op.name), colocate_with(var.op):
            if not isinstance(var, Variable):
                raise NotImplementedError("Trying to update a Tensor ", var)
            is_resource = var.op.type == "VarHandleOp"
            if isinstance(grad, IndexedSlices):
                if var.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                if is_resource:
                    return self._resource_apply_sparse_duplicate_indices(
                        grad.values, var, grad.indices
                    )
                return self._apply_sparse_duplicate_indices(grad, var)
            apply = self._resource_apply_dense if is_resource else self._apply_dense
            updated = apply(grad, var)
            if var.constraint is None:
                return updated
            with control_dependencies([updated]):
                return var.assign(var.constraint(var))

    # ---- slots ----

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot `name` this optimizer keeps for `var`, or None."""
        slot = self._slots.get(name, {}).get(_var_key(var))
        return copy_beside(var, slot)

    def get_slot_names(self) -> list[str]:
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """The variables this optimizer has made in the current graph, by name."""
        made = list(self._non_slot_variables())
        for slots in self._slots.values():
            made += slots.values()
        graph = get_default_graph()
        return sorted((v for v in made if v.graph is graph), key=lambda v: v.name)

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _get_or_make_slot(self, var: Any, val: Any, slot_name: str, op_name: str) -> Any:
        slots, key = self._slot_dict(slot_name), _var_key(var)
        if key not in slots:
            slots[key] = slot_creator.create_slot(var, val, op_name)
        return slots[key]

    def _get_or_make_slot_with_initializer(
        self, var: Any, initializer: Any, shape: Any, dtype: Any, slot_name: str, op_name: str
    ) -> Any:
        slots, key = self._slot_dict(slot_name), _var_key(var)
        if key not in slots:
            slots[key] = slot_creator.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name
            )
        return slots[key]

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        slots, key = self._slot_dict(slot_name), _var_key(var)
        if key not in slots:
            slots[key] = slot_creator.create_zeros_slot(var, op_name)
        return slots[key]

    def _create_non_slot_variable(self, initial_value: Any, name: str, colocate_with: Any) -> Any:
        """A variable of the optimizer as a whole, placed with one of the variables it updates."""
        key = (name, colocate_with.graph)
        if key not in self._non_slot_dict:
            with beside(colocate_with):
                self._non_slot_dict[key] = Variable(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=is_resource_variable(colocate_with),
                )
        return self._non_slot_dict[key]

    def _get_non_slot_variable(self, name: str, graph: Any = None) -> Any:
        while graph is not None and graph.outer_graph is not None:
            graph = graph.outer_graph  # variables lie outside of functions
        return closest_copy(self._non_slot_dict.get((name, graph)))

    def _non_slot_variables(self) -> Any:
        return self._non_slot_dict.values()

    # ---- for subclasses ----

    def _valid_dtypes(self) -> set[Any]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Any) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid:
                raise ValueError(
                    f"Invalid type {dtype!r} for {tensor.name}, expected: {list(valid)}."
                )

    def _apply_sparse_duplicate_indices(self, grad: IndexedSlices, var: Any) -> Any:
        values, indices = _deduplicate_indexed_slices(grad.values, grad.indices)
        return self._apply_sparse(IndexedSlices(values, indices, grad.dense_shape), var)

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Tensor, handle: Any, indices: Tensor
    ) -> Any:
        values, indices = _deduplicate_indexed_slices(grad, indices)
        return self._resource_apply_sparse(values, handle, indices)

    def _finish(self, update_ops: list[Any], name_scope: str) -> Any:
        """One op for all updates, and whatever has to happen after them."""
        return control.group(*update_ops, name=name_scope)

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param


def _target(var: Any) -> Tensor:
    """The tensor to differentiate with respect to."""
    if isinstance(var, Tensor):
        return var
    if not isinstance(var, Variable):
        raise NotImplementedError("Trying to optimize unsupported type ", var)
    return var.handle if isinstance(var, BaseResourceVariable) else var._ref()


def _checked_gradient(grad: Any) -> Gradient:
    if grad is None:
        return None
    try:
        grad = convert_to_tensor_or_indexed_slices(grad)
    except TypeError:
        raise TypeError(
            f"Gradient must be convertible to a Tensor or IndexedSlices, or None: {grad}"
        ) from None
    if not isinstance(grad, (Tensor, IndexedSlices)):
        raise TypeError(f"Gradient must be a Tensor, IndexedSlices, or None: {grad}")
    return grad


def _increment(global_step: Any, name: str) -> Any:
    with colocate_with(global_step.op):
        if is_resource_variable(global_step):
            one = convert_to_tensor(1, dtype=global_step.dtype)
            return raw.AssignAddVariableOp(global_step.handle, one, name=name)
        return assign_add(global_step, 1, name=name)


def _knows_variables_by_their_use() -> bool:
    """Whether no collection has the variables: eagerly, and in functions traced there."""
    with init_scope():
        return executing_eagerly()


def _var_key(var: Any) -> tuple[Any, Any]:
    var = primary_copy(var)
    # Names of variables that were made eagerly need not differ.
    return var.op.graph, var.op if isinstance(var.op.graph, EagerGraph) else var.op.name


def _deduplicate_indexed_slices(values: Tensor, indices: Tensor) -> tuple[Tensor, Tensor]:
    """(summed values, indices) with every index once."""
    if isinstance(indices, Tensor) and indices.op.type == "Unique" and indices.value_index == 0:
        return values, indices
    unique, positions = array.unique(indices)
    summed = math.unsorted_segment_sum(values, positions, array.shape(unique)[0])
    return summed, unique
