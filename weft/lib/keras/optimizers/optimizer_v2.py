"""The base of Keras's optimizers: gradients of a loss in, an update of the variables out."""

from __future__ import annotations

import inspect
from typing import Any

from weft.autodiff.gradients import gradients
from weft.autodiff.tape import GradientTape
from weft.core import dtypes, nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    init_scope,
    name_scope,
)
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.lib.keras import backend as K
from weft.lib.keras.backend.symbolic import eager_program, runs_eagerly
from weft.lib.keras.engine.naming import to_snake_case
from weft.lib.keras.optimizers import schedules
from weft.lib.keras.optimizers.hyper import OptimizerWeights
from weft.lib.keras.optimizers.replicas import apply_in_replica
from weft.lib.platform import tf_logging as logging
from weft.lib.train.optimizers.kernel_steps import training_op
from weft.lib.train.optimizers.optimizer import _deduplicate_indexed_slices as summed_rows
from weft.ops.array import array
from weft.ops.kit.eager import executing_eagerly
from weft.ops.kit.replicas import replica_in_force
from weft.ops.math import casts, clip

# (device, type) of a variable -> the tensors that its update needs, by name.
ApplyState = dict[tuple[str, Any], dict[str, Any]]


class OptimizerV2(OptimizerWeights):
    """Base of all optimizers of Keras.

    A subclass sets its hyperparameters in `__init__` (`_set_hyper`), makes slots in
    `_create_slots`, and says how to update a variable (`_resource_apply_dense` and
    `_resource_apply_sparse`). What all updates share is computed once, in `_prepare_local`.
    """

    def __init__(self, name: str | None, **kwargs: Any) -> None:
        super().__init__()
        for key, value in kwargs.items():
            if key not in ("clipnorm", "clipvalue", "lr", "decay"):
                raise TypeError("Unexpected keyword argument passed to optimizer: " + str(key))
            if not callable(value) and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._use_locking = True
        self._name = name or K.unique_object_name(
            to_snake_case(type(self).__name__), zero_based=True
        )
        self._initial_decay = kwargs.get("decay", 0.0)
        for key in ("clipnorm", "clipvalue"):
            if key in kwargs:
                setattr(self, key, kwargs[key])

    def _set_hypers(self, options: dict[str, Any], learning_rate: Any, **others: Any) -> None:
        """Sets the rate (an `lr` of `options` goes before it), its decay, and `others`.

        An `epsilon` is no hyperparameter but a number; without one it is Keras's.
        """
        if "epsilon" in others:
            self.epsilon = others.pop("epsilon") or K.epsilon()
        rate = {"learning_rate": options.get("lr", learning_rate), "decay": self._initial_decay}
        for name, value in (rate | others).items():
            self._set_hyper(name, value)

    # ---- the public steps ----

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: str | None = None
    ) -> Any:
        """An op that makes `loss`, a function without arguments or its value, smaller."""
        grads_and_vars = self._compute_gradients(loss, var_list=var_list, grad_loss=grad_loss)
        return self.apply_gradients(grads_and_vars, name=name)

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None
    ) -> list[tuple[Any, Any]]:
        with GradientTape() as tape:
            value = loss() if callable(loss) else loss
        var_list = nest.flatten(var_list() if callable(var_list) else var_list)
        with name_scope(self._name + "/gradients"):
            if runs_eagerly():
                grads = tape.gradient(value, var_list, grad_loss)
            else:
                grads = gradients(value, var_list, grad_ys=grad_loss)
            grads = self._clipped(grads)
        pairs = list(zip(grads, var_list, strict=True))
        self._assert_valid_dtypes([v for g, v in pairs if g is not None])
        return pairs

    def get_gradients(self, loss: Any, params: Any) -> list[Any]:
        """The gradients of `loss` by `params`, clipped if the optimizer says so."""
        params = nest.flatten(params)
        with name_scope(self._name + "/gradients"):
            grads = gradients(loss, params)
            missing = [p for p, grad in zip(params, grads, strict=True) if grad is None]
            # A program that runs eagerly goes on without them.
            if missing and eager_program() is None:
                raise ValueError(
                    f"Variable {missing[0]} has `None` for gradient. Please make sure that all of "
                    "your ops have a gradient defined (i.e. are differentiable). Common ops "
                    "without gradient: K.argmax, K.round, K.eval."
                )
            return self._clipped(grads)

    def _clipped(self, grads: list[Any]) -> list[Any]:
        if "clipnorm" in self.__dict__:
            grads = [g if g is None else clip.clip_by_norm(g, self.clipnorm) for g in grads]
        if "clipvalue" in self.__dict__:
            limit = self.clipvalue
            grads = [g if g is None else clip.clip_by_value(g, -limit, limit) for g in grads]
        return grads

    def apply_gradients(self, grads_and_vars: Any, name: str | None = None) -> Any:
        """An op that updates each variable by its gradient, then counts the step.

        In eager execution that is done at once: the result is the number of the step.
        """
        pairs = _with_gradients(grads_and_vars)
        replica = replica_in_force()
        if replica is not None:
            return apply_in_replica(self, replica, pairs, name)
        var_list = [v for _, v in pairs]
        with name_scope(self._name):
            self._create_weights(var_list)
            state = self._prepare(var_list)
            with name_scope(name or self._name):
                updates = [self._update(grad, var, state) for grad, var in pairs]
                with control_dependencies(updates):
                    counted = self._iterations.assign_add(1)
                    return counted if executing_eagerly() else counted.op

    def _create_weights(self, var_list: list[Any]) -> None:
        """Makes all that it keeps, outside of whatever is being built."""
        with init_scope():
            self.iterations  # noqa: B018
            self._create_hypers()
            self._create_slots(var_list)

    def _update(self, grad: Any, var: Any, state: ApplyState) -> Any:
        if isinstance(var, Tensor):
            raise NotImplementedError("Trying to update a Tensor ", var)
        with name_scope("update_" + var.op.name), colocate_with(var.op):
            if isinstance(grad, IndexedSlices):
                return self._update_sparse(grad, var, state)
            apply = self._resource_apply_dense
            updated = apply(grad, var, **_if_taken(apply, state))
            if var.constraint is None:
                return updated
            with control_dependencies([updated]):
                return var.assign(var.constraint(var))

    def _update_sparse(self, grad: IndexedSlices, var: Any, state: ApplyState) -> Any:
        if var.constraint is not None:
            raise RuntimeError("Cannot use a constraint function on a sparse variable.")
        return self._resource_apply_sparse_duplicate_indices(
            grad.values, var, grad.indices, **_if_taken(self._resource_apply_sparse, state)
        )

    def get_updates(self, loss: Any, params: Any) -> list[Any]:
        """The operations of a training step: one for all of `params`."""
        grads = self.get_gradients(loss, params)
        self._assert_valid_dtypes(params)
        return [self.apply_gradients(list(zip(grads, params, strict=True)))]

    # ---- what updates share ----

    def _prepare(self, var_list: list[Any]) -> ApplyState:
        state: ApplyState = {}
        for key in dict.fromkeys((var.device, var.dtype.base_dtype) for var in var_list):
            state[key] = {}
            with device(key[0] or None):
                self._prepare_local(*key, state)
        return state

    def _prepare_local(self, var_device: str, var_dtype: Any, apply_state: ApplyState) -> None:
        """Puts the tensors that updates of such variables need into `apply_state`."""
        if "learning_rate" in self._hyper:
            rate = array.identity(self._decayed_lr(var_dtype))
            apply_state[var_device, var_dtype]["lr_t"] = rate

    def _fallback_apply_state(self, var_device: str, var_dtype: Any) -> dict[str, Any]:
        state: ApplyState = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[var_device, var_dtype]

    def _coefficients(self, var: Any, apply_state: ApplyState | None) -> dict[str, Any]:
        key = (var.device, var.dtype.base_dtype)
        return (apply_state or {}).get(key) or self._fallback_apply_state(*key)

    def _decayed_lr(self, var_dtype: Any) -> Tensor:
        """The learning rate at this step."""
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, schedules.LearningRateSchedule):
            rate = casts.cast(rate(casts.cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            step = casts.cast(self.iterations, var_dtype)
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * step)
        return rate

    # ---- for subclasses ----

    def _create_slots(self, var_list: list[Any]) -> None:
        """Makes the state the optimizer keeps for `var_list`."""

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any) -> Any:
        raise NotImplementedError

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, apply_state: Any) -> Any:
        """`indices` names no row twice."""
        raise NotImplementedError

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any, **kwargs: Any
    ) -> Any:
        values, indices = summed_rows(grad, indices)
        return self._resource_apply_sparse(values, handle, indices, **kwargs)

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Tensor:
        """The value of `x` after rows were added to it."""
        with control_dependencies([raw.ResourceScatterAdd(x.handle, i, v)]):
            return x.value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Tensor:
        """The value of `x` after rows of it were replaced."""
        with control_dependencies([raw.ResourceScatterUpdate(x.handle, i, v)]):
            return x.value()

    def _training_op(
        self,
        operation: str,
        var: Any,
        slots: str,
        grad: Any,
        indices: Any,
        known: dict[str, Any],
        inputs: dict[str, str],
        **attributes: Any,
    ) -> Any:
        """Makes an update of `var` and of its `slots`; `inputs` says what of `known` is which."""
        states = [self.get_slot(var, slot) for slot in slots.split()]
        numbers = {name: known[key] for name, key in inputs.items()}
        lock = {"use_locking": self._use_locking}
        return training_op(operation, var, states, grad, indices, numbers, **lock, **attributes)

    def _constant(self, value: Any, dtype: Any) -> Tensor:
        return convert_to_tensor(value, dtype=dtype)

    def _valid_dtypes(self) -> set[Any]:
        return {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}

    def _assert_valid_dtypes(self, tensors: Any) -> None:
        valid = self._valid_dtypes()
        for tensor in tensors:
            dtype = tensor.dtype.base_dtype
            if dtype not in valid and dtype != dtypes.resource:
                raise ValueError(
                    f"Invalid type {dtype!r} for {tensor.name}, expected: {list(valid)}."
                )

    def _call_if_callable(self, param: Any) -> Any:
        return param() if callable(param) else param

    # ---- configurations ----

    def get_config(self) -> dict[str, Any]:
        """Arguments from which `from_config` makes the same optimizer, without its state."""
        config = {"name": self._name}
        return config | {k: getattr(self, k) for k in ("clipnorm", "clipvalue") if k in vars(self)}

    def _config_with(self, *hypers: str, **rest: Any) -> dict[str, Any]:
        """The base's configuration, hyperparameters by name, and plain values."""
        known = {name: self._serialize_hyperparameter(name) for name in hypers}
        return OptimizerV2.get_config(self) | known | rest

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        named = {"learning_rate" if key == "lr" else key: value for key, value in config.items()}
        rate = named.get("learning_rate")
        if isinstance(rate, dict):
            named["learning_rate"] = schedules.deserialize(rate, custom_objects=custom_objects)
        return cls(**named)


def _with_gradients(grads_and_vars: Any) -> list[tuple[Any, Any]]:
    """The pairs that have a gradient; there must be one."""
    given = list(grads_and_vars)
    pairs = [(grad, var) for grad, var in given if grad is not None]
    if given and not pairs:
        raise ValueError(f"No gradients provided for any variable: {[v.name for _, v in given]}.")
    missing = [var.name for grad, var in given if grad is None]
    if missing:
        logging.warning(
            "Gradients do not exist for variables %s when minimizing the loss.", missing
        )
    return pairs


def _if_taken(method: Any, state: ApplyState) -> dict[str, Any]:
    """Optimizers of users may not know of `apply_state`."""
    taken = "apply_state" in inspect.signature(method).parameters
    return {"apply_state": state} if taken else {}
