"""StrategyExtended: what libraries ask of a strategy, and what each kind of it has to provide."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from weft.core import nest
from weft.lib.distribute import device_util
from weft.lib.distribute.context import require_cross_replica, require_strategy
from weft.lib.distribute.scope import StrategyScope
from weft.ops.control import control
from weft.ops.state.reduce_op import ReduceOp, as_reduce_op
from weft.ops.state.variable_creators import variable_creator_scope


def _provided(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("must be implemented in descendants")

    method.__name__ = method.__qualname__ = name
    return method


class StrategyExtended:
    """Base of what is behind each strategy. Methods with an underscore are for subclasses."""

    # A device for what is made in the strategy's scope outside of replicas.
    _default_device: str | None = None
    # Whether a Keras model is run by replicas alone, even if there is one.
    _runs_in_replicas = False
    # Whether each worker has a session on its own devices alone, and collectives join them.
    _has_own_session = False
    # The number of this worker's first replica among those of all workers.
    _first_replica = 0
    # Whether input pipelines are given the batch of all replicas, or of one.
    _global_batch_size = True

    def __init__(self, container_strategy: Any) -> None:
        self._container_strategy_weakref = weakref.ref(container_strategy)
        self._require_static_shapes = False

    def __deepcopy__(self, memo: dict[int, Any]) -> StrategyExtended:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        for key, value in vars(self).items():
            if key != "_container_strategy_weakref":
                setattr(made, key, copy.deepcopy(value, memo))
        return made

    def _container_strategy(self) -> Any:
        strategy = self._container_strategy_weakref()
        assert strategy is not None
        return strategy

    # ---- variables ----

    def _scope(self, strategy: Any) -> AbstractContextManager[Any]:
        return StrategyScope(strategy, self._create_for_scope, self._default_device)

    def _create_for_scope(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        require_strategy(self)
        variable = self._create_variable(next_creator, **{**kwargs, "use_resource": True})
        variable._distribute_strategy = self._container_strategy()
        return variable

    def _allow_variable_partition(self) -> bool:
        return False

    _create_variable = _provided("_create_variable")

    def variable_created_in_scope(self, v: Any) -> bool:
        """Whether the variable was made in this strategy's scope."""
        return v._distribute_strategy is self._container_strategy()

    def colocate_vars_with(self, colocate_with_variable: Any) -> AbstractContextManager[Any]:
        """A scope in which variables are made where `colocate_with_variable` is."""

        def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            require_strategy(self)
            kwargs["colocate_with"] = colocate_with_variable
            return next_creator(**{**kwargs, "use_resource": True})

        require_strategy(self)
        self._validate_colocate_with_variable(colocate_with_variable)
        return variable_creator_scope(create)

    def _validate_colocate_with_variable(self, variable: Any) -> None:
        if getattr(variable, "_distribute_strategy", None) is not self._container_strategy():
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this"
                f" tf.distribute.Strategy.scope(), not: {variable!r}"
            )

    read_var = _provided("read_var")
    value_container = _provided("value_container")
    non_slot_devices = _provided("non_slot_devices")

    # ---- input ----

    _make_dataset_iterator = _provided("_make_dataset_iterator")
    _make_input_fn_iterator = _provided("_make_input_fn_iterator")
    _experimental_distribute_dataset = _provided("_experimental_distribute_dataset")
    _experimental_distribute_datasets_from_function = _provided(
        "_experimental_distribute_datasets_from_function"
    )
    _experimental_make_numpy_dataset = _provided("_experimental_make_numpy_dataset")

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A dataset of the rows of arrays, which are kept out of the graph."""
        require_cross_replica(self)
        return self._experimental_make_numpy_dataset(numpy_input, session=session)

    def experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: Any = 1,
        initial_loop_values: Any = None,
    ) -> Any:
        """Runs `fn(MultiStepContext, element)` so many times in one step."""
        require_cross_replica(self)
        with self._container_strategy().scope():
            return self._experimental_run_steps_on_iterator(
                fn, iterator, iterations, initial_loop_values
            )

    _experimental_run_steps_on_iterator = _provided("_experimental_run_steps_on_iterator")

    # ---- replicas ----

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """`fn` in each replica, with its part of distributed arguments."""
        require_cross_replica(self)
        with self._container_strategy().scope():
            return self._call_for_each_replica(fn, tuple(args), kwargs or {})

    _call_for_each_replica = _provided("_call_for_each_replica")
    _local_results = _provided("_local_results")

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The sum or mean of what replicas have, on the devices of `destinations`."""
        require_cross_replica(self)
        how = as_reduce_op(reduce_op)
        assert isinstance(how, ReduceOp) and not isinstance(destinations, (list, tuple))
        return self._reduce_to(how, value, destinations)

    _reduce_to = _provided("_reduce_to")

    def _reduce(self, reduce_op: ReduceOp, value: Any) -> Any:
        where = device_util.current() or "/device:CPU:0"
        return self._local_results(self._reduce_to(reduce_op, value, where))[0]

    def batch_reduce_to(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """`reduce_to` for several values at once."""
        require_cross_replica(self)
        return list(self._batch_reduce_to(as_reduce_op(reduce_op), list(value_destination_pairs)))

    def _batch_reduce_to(self, reduce_op: Any, value_destination_pairs: list[Any]) -> list[Any]:
        return [self.reduce_to(reduce_op, t, destinations=v) for t, v in value_destination_pairs]

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """Copies of `tensor` on the devices of `destinations`."""
        assert destinations is not None
        require_cross_replica(self)
        assert not isinstance(destinations, (list, tuple))
        return self._broadcast_to(tensor, destinations)

    _broadcast_to = _provided("_broadcast_to")

    # ---- updates ----

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """`fn(copy, *args)` for each copy of `var`, where that copy is."""
        require_cross_replica(self)
        with self._container_strategy().scope():
            return self._update(var, fn, tuple(args), kwargs or {}, group)

    _update = _provided("_update")

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """`fn(*args)` on each device of what `non_slot_devices` gave."""
        require_cross_replica(self)
        with self._container_strategy().scope():
            return self._update_non_slot(colocate_with, fn, tuple(args), kwargs or {}, group)

    _update_non_slot = _provided("_update_non_slot")

    def _group(self, value: Any, name: str | None = None) -> Any:
        values = nest.flatten(self._local_results(value))
        if len(values) != 1 or name is not None:
            return control.group(*values, name=name)
        return getattr(values[0], "op", values[0])

    # ---- what it is ----

    @property
    def experimental_require_static_shapes(self) -> bool:
        return self._require_static_shapes

    @property
    def _num_replicas_in_sync(self) -> int:
        raise NotImplementedError("must be implemented in descendants")

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices of the replicas."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices of the variables."""
        raise NotImplementedError("must be implemented in descendants")

    @property
    def experimental_between_graph(self) -> bool:
        """Whether each worker has a graph of its own."""
        return False

    @property
    def experimental_should_init(self) -> bool:
        """Whether this worker initializes the variables."""
        return True

    @property
    def should_checkpoint(self) -> bool:
        """Whether this worker writes checkpoints."""
        return True

    @property
    def should_save_summary(self) -> bool:
        """Whether this worker writes summaries."""
        return True

    def _configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        if session_config is not None:
            session_config.CopyFrom(self._update_config_proto(session_config))

    def _update_config_proto(self, config_proto: Any) -> Any:
        return copy.deepcopy(config_proto)
