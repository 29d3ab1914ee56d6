"""The state of an optimizer: hyperparameters, the number of steps, and slots of the variables.

Hyperparameters are plain numbers until they are first needed, variables after that, so that they
can be changed between steps. Functions and schedules stay what they are.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.graph import Tensor
from weft.graph.tensor_util import is_tensor
from weft.lib.keras import backend as K
from weft.lib.keras import initializers
from weft.lib.keras.engine.layer_weights import make_variable
from weft.lib.keras.optimizers import schedules
from weft.lib.train.checkpoint.objects import Children, Trackable
from weft.lib.train.optimizers.distributed_apply import copy_beside, primary_copy
from weft.ops.kit.replicas import beside
from weft.ops.math import casts
from weft.ops.state.variables import Variable, VariableAggregation, VariableSynchronization


class OptimizerWeights(Trackable):
    """Hyperparameters by attribute, and variables by `weights`."""

    _name: str
    # Weights that older versions of Keras saved had no number of steps in front.
    _old_weights_lack_step = False

    def __init__(self) -> None:
        self._hyper: dict[str, Any] = {}
        self._hypers_created = False
        # Operation of a variable -> slot's name -> the slot; in eager execution names may repeat.
        self._slots: dict[Any, dict[str, Any]] = {}
        self._slot_names: list[str] = []
        self._weights: list[Any] = []
        self._iterations: Any = None
        # What a checkpoint calls the variables that are no slots.
        self._named: dict[str, Any] = {}

    # ---- hyperparameters ----

    def _set_hyper(self, name: str, value: Any) -> None:
        before = self._hyper.get(name)
        if is_tensor(before) and not isinstance(before, Tensor) and not callable(value):
            K.set_value(before, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        """The value now: a variable, a tensor or a schedule."""
        self._create_hypers()
        value = self._value_or_schedule(name)
        if dtype is None or isinstance(value, schedules.LearningRateSchedule):
            return value
        return casts.cast(value, dtype)

    def _value_or_schedule(self, name: str) -> Any:
        """A hyperparameter; of one that is a function, its result."""
        value = self._hyper[name]
        is_schedule = isinstance(value, schedules.LearningRateSchedule)
        return value() if callable(value) and not is_schedule else value

    def _create_hypers(self) -> None:
        """Makes variables of the plain numbers, once, in the order of their names."""
        if not self._hypers_created:
            plain = {k: v for k, v in self._hyper.items() if not (is_tensor(v) or callable(v))}
            for name in sorted(plain):
                self._hyper[name] = self._add_number(name, initializer=plain[name])
            self._hypers_created = True

    def _add_number(self, name: str, **options: Any) -> Any:
        """A variable that holds one number, which is the same for all replicas."""
        shared = {"aggregation": VariableAggregation.ONLY_FIRST_REPLICA}
        return self.add_weight(name, shape=[], trainable=False, **shared | options)

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        value = self._value_or_schedule(hyperparameter_name)
        if isinstance(value, schedules.LearningRateSchedule):
            return schedules.serialize(value)
        return K.get_value(value)

    def __getattr__(self, name: str) -> Any:
        hyper = self.__dict__.get("_hyper", {})
        known = "learning_rate" if name == "lr" else name
        if known in hyper:
            return self._get_hyper(known)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", {}):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    # ---- variables ----

    @property
    def iterations(self) -> Any:
        """How many steps have been made."""
        if self._iterations is None:
            self._iterations = self._add_number("iter", dtype=dtypes.int64)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                "created"
            )
        self._iterations = self._named["iter"] = variable
        self._weights.append(variable)

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = "zeros",
        trainable: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """A variable that belongs to the optimizer as a whole."""
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)
        variable = make_variable(
            name,
            shape=shape,
            dtype=dtypes.as_dtype(dtype or dtypes.float32),
            initializer=initializer,
            trainable=True if trainable is None else trainable,
            use_resource=True,
            synchronization=synchronization,
            aggregation=aggregation,
        )
        K.track_variable(variable)
        self._named[name] = variable
        return variable

    def add_slot(self, var: Any, slot_name: str, initializer: Any = "zeros") -> Any:
        """The variable `slot_name` kept for `var`, of its shape, made if there is none."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(primary_copy(var).op, {})
        if slot_name not in slots:
            slots[slot_name] = self._make_slot(var, slot_name, initializer)
            self._weights.append(slots[slot_name])
        return slots[slot_name]

    def _make_slot(self, var: Any, slot_name: str, initializer: Any) -> Any:
        dtype = var.dtype.base_dtype
        if isinstance(initializer, str) or callable(initializer):
            make = initializers.get(initializer)
            initializer = functools.partial(make, var.shape.as_list(), dtype=dtype)
        with beside(var):
            slot = Variable(
                initializer, name=f"{var.op.name}/{slot_name}", dtype=dtype, trainable=False,
                use_resource=True,
            )  # fmt: skip
        K.track_variable(slot)
        return slot

    def get_slot(self, var: Any, slot_name: str) -> Any:
        return copy_beside(var, self._slots[primary_copy(var).op][slot_name])

    def get_slot_names(self) -> list[str]:
        return self._slot_names

    @property
    def weights(self) -> list[Any]:
        """The number of steps, then the slots in the order they were made."""
        return self._weights

    def variables(self) -> list[Any]:
        return self._weights

    def get_weights(self) -> list[np.ndarray]:
        """The values of `weights`."""
        return K.batch_get_value(self.weights)

    def set_weights(self, weights: Any) -> None:
        """Assigns arrays to `weights`, in their order."""
        params = self.weights
        if self._old_weights_lack_step and len(params) == len(weights) + 1:
            weights = [np.array(0), *weights]
        if len(params) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list "
                f"of length {len(weights)}, but the optimizer was expecting {len(params)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for param, value in zip(params, weights, strict=True):
            if tuple(param.shape.as_list()) != np.shape(value):
                raise ValueError(
                    f"Optimizer weight shape {tuple(param.shape.as_list())} not compatible with "
                    f"provided weight shape {np.shape(value)}"
                )
        K.batch_set_value(list(zip(params, weights, strict=True)))

    # ---- checkpoints ----

    @property
    def _checkpoint_dependencies(self) -> Children:
        return list(self._named.items())
