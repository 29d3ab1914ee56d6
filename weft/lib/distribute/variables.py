"""Variables with a copy on each of several devices."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import device
from weft.graph.tensor import Tensor
from weft.lib.distribute.values import DistributedValues, Mirrored
from weft.lib.train.checkpoint.saver_saveable import (
    VARIABLE_VALUE_KEY,
    ResourceVariableSaveable,
    SaveableObject,
    SaveSpec,
)
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.kit.replicas import replica_in_force, strategy_in_force, update_device
from weft.ops.math import math
from weft.ops.state.reduce_op import ReduceOp
from weft.ops.state.resource_variable import BaseResourceVariable
from weft.ops.state.variable_def import VariableAggregation

_NO_AGGREGATION = (
    "You must specify an aggregation method to update a {kind} in Replica Context. You can do so by"
    " passing an explicit value for argument `aggregation` to tf.Variable(..), e.g."
    " `tf.Variable(..., aggregation=tf.VariableAggregation.SUM)`. The values that the replicas"
    " assign become one by it; or enter cross-replica context by"
    " `tf.distribute.get_replica_context().merge_call(merge_fn, ..)`, and update the variable there"
    " by `tf.distribute.StrategyExtended.update()`."
)


@contextmanager
def in_strategy(strategy: Any) -> Iterator[None]:
    """Inside of the strategy's scope, which is opened if no other one is."""
    now = strategy_in_force()
    if now is strategy:
        yield
    elif now is not None:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {now} is not {strategy}"
        )
    else:
        with strategy.scope():
            yield


def in_replica() -> bool:
    return replica_in_force() is not None


def aggregated(strategy: Any, value: Any, aggregation: Any, destinations: Any) -> Any:
    """The value that a variable is assigned when its replicas assign `value`."""
    if aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
        first = strategy.experimental_local_results(value)[0]
        return strategy.extended.broadcast_to(first, destinations=destinations)
    reduce_op = ReduceOp.from_variable_aggregation(aggregation)
    return strategy.extended.reduce_to(reduce_op, value, destinations)


def assign_to_all(
    variable: Any, make: Callable[..., Any], value: Any, *args: Any, **kw: Any
) -> Any:
    """`make(variable, value, ...)` for a variable whose copies are equal, wherever it is called."""
    with in_strategy(variable._distribute_strategy):
        if not in_replica():
            if update_device() is not None:
                return make(variable.get(), value, *args, **kw)
            extended = variable._distribute_strategy.extended
            return extended.update(variable, make, (value, *args), kw)
        if variable.aggregation is VariableAggregation.NONE:
            raise ValueError(_NO_AGGREGATION.format(kind=type(variable).__name__))

        def merged(strategy: Any, value: Any, *args: Any, **kw: Any) -> Any:
            total = aggregated(strategy, value, variable.aggregation, variable)
            return strategy.extended.update(variable, make, (total, *args), kw)

        return replica_in_force().merge_call(merged, (value, *args), kw)


class AssignedTogether:
    """The methods of a variable that has one value, whichever replica assigns to it."""

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        return assign_to_all(self, lambda v, *a, **k: v.assign(*a, **k), value, *args, **kwargs)

    def assign_add(self, delta: Any, *args: Any, **kwargs: Any) -> Any:
        return assign_to_all(self, lambda v, *a, **k: v.assign_add(*a, **k), delta, *args, **kwargs)

    def assign_sub(self, delta: Any, *args: Any, **kwargs: Any) -> Any:
        return assign_to_all(self, lambda v, *a, **k: v.assign_sub(*a, **k), delta, *args, **kwargs)


class DistributedVariable(DistributedValues, BaseResourceVariable):
    """The base of distributed variables: wherever one is used, the closest copy is meant."""

    _cached_value = None
    _initializer_op: Any = None

    def __init__(
        self, strategy: Any, devices: Sequence[str], values: Sequence[Any], aggregation: Any
    ) -> None:
        super().__init__(devices, values)
        self._distribute_strategy, self._aggregation = strategy, aggregation
        for value in values:
            value._distributed_container = weakref.ref(self)

    # What the methods of a plain variable work on.
    _handle = property(lambda self: self._closest()._handle)
    _graph_element = property(lambda self: self._as_graph_element())
    _dtype = property(lambda self: self.primary._dtype)
    _shape = property(lambda self: self.primary._shape)
    _trainable = property(lambda self: self.primary._trainable)
    _synchronization = property(lambda self: self.primary._synchronization)
    _constraint = property(lambda self: self.primary._constraint)
    _save_slice_info = property(lambda self: self.primary._save_slice_info)

    @property
    def _initial_value(self) -> Any:
        """The initial value of the closest copy, unless a checkpoint has given one for all."""
        given = self.__dict__.get("_given_value")
        return self._closest()._initial_value if given is None else given

    @_initial_value.setter
    def _initial_value(self, value: Any) -> None:
        self._given_value = value

    def _set_save_slice_info(self, save_slice_info: Any) -> None:
        for value in self._values:
            value._set_save_slice_info(save_slice_info)

    @property
    def name(self) -> str:
        return str(self.primary.name)

    @property
    def op(self) -> Any:
        return self._closest().op if in_replica() else self.primary.op

    @property
    def graph(self) -> Any:
        return self.primary.graph

    @property
    def distribute_strategy(self) -> Any:
        return self._distribute_strategy

    @property
    def initializer(self) -> Any:
        return self._initializer_op or control.group(*(v.initializer for v in self._values))

    def is_initialized(self, name: str | None = None) -> Tensor:
        first, *rest = [value.is_initialized() for value in self._values]
        for i, other in enumerate(rest, 1):
            first = math.logical_and(first, other, name=name if i == len(rest) else None)
        return first

    def initialized_value(self) -> Tensor:
        found: Tensor = self._closest().initialized_value()
        return found

    def read_value(self) -> Tensor:
        with in_strategy(self._distribute_strategy):
            read: Tensor = array.identity(convert_to_tensor(self))
            return read

    def load(self, value: Any, session: Any = None) -> None:
        for copy in self._values:
            copy.load(value, session)

    def to_proto(self, export_scope: str | None = None) -> Any:
        return self.primary.to_proto(export_scope=export_scope)

    def __repr__(self) -> str:
        return DistributedValues.__repr__(self)


class MirroredVariable(AssignedTogether, DistributedVariable, Mirrored):
    """A variable whose copies are equal: an update is made to all of them."""

    def _as_graph_element(self) -> Tensor:
        copy = self._closest() if in_replica() else self.primary
        element: Tensor = copy._as_graph_element()
        return element

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {
            VARIABLE_VALUE_KEY: lambda name=self._shared_name: _MirroredSaveable(self, name),
        }


class _MirroredSaveable(ResourceVariableSaveable):
    """One value is saved; restoring puts it into all copies."""

    def __init__(self, variable: MirroredVariable, name: str) -> None:
        super().__init__(variable.primary, "", name)
        self._variable = variable

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return control.group(*_assigned(self._variable.values, "assign", restored_tensors[0]))


def _assigned(copies: Sequence[Any], method: str, value: Any) -> list[Any]:
    made = []
    for copy in copies:
        with device(copy.device):
            made.append(getattr(copy, method)(value))
    return made


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies go their own ways; to read it outside of replicas is to join them."""

    def assign(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        if self._to_own_copy():
            return self.get().assign(value, *args, **kwargs)
        if self._aggregation is VariableAggregation.SUM:
            value = value * (1.0 / len(self._devices))
        return control.group(*_assigned(self._values, "assign", value))

    def assign_add(self, delta: Any, *args: Any, **kwargs: Any) -> Any:
        return self._change("assign_add", delta, *args, **kwargs)

    def assign_sub(self, delta: Any, *args: Any, **kwargs: Any) -> Any:
        return self._change("assign_sub", delta, *args, **kwargs)

    def _change(self, method: str, delta: Any, *args: Any, **kwargs: Any) -> Any:
        if self._to_own_copy():
            return getattr(self.get(), method)(delta, *args, **kwargs)
        if self._aggregation is VariableAggregation.SUM:
            raise ValueError(
                f"SyncOnReadVariable does not support `{method}` in cross-replica context when"
                " aggregation is set to `tf.VariableAggregation.SUM`."
            )
        return control.group(*_assigned(self._values, method, delta))

    def _to_own_copy(self) -> bool:
        with in_strategy(self._distribute_strategy):
            return in_replica() or update_device() is not None

    def _get_cross_replica(self) -> Any:
        how, strategy = self._aggregation, self._distribute_strategy
        if how is VariableAggregation.ONLY_FIRST_REPLICA:
            return self.primary
        with in_strategy(strategy):
            return strategy.reduce(ReduceOp.from_variable_aggregation(how), self, axis=None)

    def value(self) -> Tensor:
        found: Tensor = convert_to_tensor(self.get())
        return found

    def _as_graph_element(self) -> Tensor:
        found = self.get()  # outside of its strategy, too: there that is the first copy
        element: Tensor = found if isinstance(found, Tensor) else found._as_graph_element()
        return element

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {
            VARIABLE_VALUE_KEY: lambda name=self._shared_name: _SyncOnReadSaveable(self, name),
        }


class _SyncOnReadSaveable(SaveableObject):
    """The joint value of the copies in a checkpoint."""

    def __init__(self, variable: SyncOnReadVariable, name: str) -> None:
        self._variable = variable
        where, dtype = variable.primary.device, variable.dtype
        spec = SaveSpec(self._joint, "", name, dtype=dtype, device=where)
        super().__init__(variable, [spec], name)

    def _joint(self) -> Any:
        with in_strategy(self._variable._distribute_strategy):
            return self._variable._distribute_strategy.extended.read_var(self._variable)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with in_strategy(self._variable._distribute_strategy):
            return self._variable.assign(restored_tensors[0])
