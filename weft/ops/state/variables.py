"""tf.Variable: what all variables share.

`tf.Variable(...)` makes a `RefVariable` or a `ResourceVariable` (see those modules); which one, and
whether a `variable_creator_scope` takes part, is decided in `variable_creators.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from tensorboard.compat.proto.variable_pb2 import VariableDef

from weft.core import dtypes
from weft.core.tracks import Tracks
from weft.graph import stacks
from weft.graph.collection_def import register_proto_function
from weft.graph.graph import GraphKeys, Tensor, init_scope
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Reference
from weft.ops.math import equality, math
from weft.ops.state.updates import (  # noqa: F401  (public from here too)
    assign,
    assign_add,
    assign_sub,
    batch_scatter_update,
    count_up_to,
    is_variable_initialized,
    scatter_add,
    scatter_div,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_nd_add,
    scatter_nd_sub,
    scatter_nd_update,
    scatter_sub,
    scatter_update,
)
from weft.ops.state.variable_def import (  # noqa: F401  (public from here too)
    SaveSliceInfo,
    VariableAggregation,
    VariableSynchronization,
    prepend_scope,
    strip_scope,
    validate_distribution,
)
from weft.ops.state.variable_lists import (  # noqa: F401  (public from here too)
    all_variables,
    assert_variables_initialized,
    global_variables,
    global_variables_initializer,
    initialize_all_variables,
    initialize_local_variables,
    initialize_variables,
    local_variables,
    local_variables_initializer,
    model_variables,
    moving_average_variables,
    report_uninitialized_variables,
    trainable_variables,
    variables_initializer,
)


class _VariableType(type):
    """Makes `tf.Variable(...)` go through the variable creators; subclasses construct as usual."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Variable:
            from weft.ops.state.variable_creators import create_variable

            return create_variable(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    @property
    def __signature__(cls) -> inspect.Signature:
        """The parameters of the class, for `help`; those of `__call__` tell nothing."""
        own = inspect.signature(cls.__init__)  # type: ignore[misc]
        return own.replace(parameters=list(own.parameters.values())[1:])


def _rows(sparse_delta: Any) -> tuple[Tensor, Tensor]:
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
    return sparse_delta.indices, sparse_delta.values


def _scatter_method(kind: str) -> Callable[..., Any]:
    """The method that applies update `kind` to the rows that an IndexedSlices names."""

    def scatter(
        self: Variable, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._updated(self._update(kind, name, use_locking, *_rows(sparse_delta)))

    scatter.__name__ = kind.replace("Scatter", "scatter_").lower()
    scatter.__qualname__ = f"Variable.{scatter.__name__}"
    return scatter


class Variable(Tracks, metaclass=_VariableType):
    """State that outlives steps: a tensor that operations can assign to.

    A variable must be initialized (`v.initializer`, `tf.global_variables_initializer()`) in a
    session before it is read there. It can be used wherever a tensor can.

    Args:
        initial_value: a value, or a function without arguments that gives one; tells type and
            shape.
        trainable: whether optimizers update it; None: yes.
        collections: names of the graph collections it joins; None: the global variables.
        validate_shape: False leaves the shape open.
        caching_device: a device to keep a copy for reading on.
        name: of the variable; it gets a number where it is taken.
        variable_def: a `VariableDef` to make the variable from, with nothing else given.
        dtype: the type to convert `initial_value` to.
        expected_shape: not used.
        import_scope: a name to put before that of `variable_def`.
        constraint: a function that projects the value after each update by an optimizer.
        use_resource: whether reads are snapshots that later assignments do not change.
        synchronization, aggregation: for distribution strategies.
        shape: the shape, where it is less definite than that of `initial_value`.

    Raises:
        ValueError: there is neither an initial value nor a `variable_def`, or both.

    Example:
        >>> counter = tf.Variable(0, name="counter")
        >>> session.run(counter.initializer)
        >>> [int(session.run(tf.assign_add(counter, 2))) for step in range(3)]
        [2, 4, 6]
    """

    # NumPy must leave `array * variable` to Variable.__rmul__.
    __array_priority__ = 100

    # The strategy in whose scope the variable was made.
    _distribute_strategy: Any = None
    _trainable: bool
    _synchronization: VariableSynchronization
    _aggregation: VariableAggregation
    _constraint: Callable[..., Any] | None
    _initial_value: Tensor | None
    _initializer_op: Any
    _save_slice_info: SaveSliceInfo | None
    _in_graph_mode = True

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: VariableDef | None = None,
        dtype: Any = None,
        expected_shape: Any = None,
        import_scope: str | None = None,
        constraint: Any = None,
        use_resource: bool | None = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
        shape: Any = None,
    ) -> None:
        """Makes a variable that starts as `initial_value`, a value or a function that gives one.

        `collections` names the graph collections it joins, `constraint` projects it after each
        update by an optimizer, `caching_device` says where to keep a copy for reading.
        """
        raise NotImplementedError  # the metaclass makes one of the subclasses instead

    # ---- making ----

    def _set_modes(
        self, synchronization: Any, aggregation: Any, trainable: bool | None, name: str | None
    ) -> None:
        modes = validate_distribution(synchronization, aggregation, trainable, name)
        self._synchronization, self._aggregation, self._trainable = modes
        self._constraint = self._save_slice_info = None

    def _checked_collections(self, initial_value: Any, collections: Any, constraint: Any) -> Any:
        """The collections to join; raises for arguments no variable can be made from."""
        if initial_value is None:
            raise ValueError("initial_value must be specified.")
        joined = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
        if not isinstance(joined, list | tuple | set):
            raise ValueError(
                "collections argument to Variable constructor must be a list, tuple, or set. "
                f"Got {joined} of type {type(joined)}"
            )
        if not (constraint is None or callable(constraint)):
            raise ValueError("The `constraint` argument must be a callable.")
        trained = {GraphKeys.TRAINABLE_VARIABLES} if self._trainable else set()
        return [*joined, *trained] if trained - set(joined) else joined

    # ---- reading ----

    def value(self) -> Tensor:
        """The last snapshot of the variable, as ops see it that use the variable as a tensor."""
        raise NotImplementedError

    def read_value(self) -> Tensor:
        """The value at the time this read runs, which control dependencies can order."""
        raise NotImplementedError

    def eval(self, session: Any = None) -> Any:
        """The value in `session`, or in the default session."""
        return self._as_graph_element().eval(session=session)

    def _as_graph_element(self) -> Tensor:
        raise NotImplementedError

    def _ref(self) -> Tensor:
        """The tensor for an op that takes a reference."""
        raise NotImplementedError

    def initialized_value(self) -> Tensor:
        """The value if the variable is initialized when this runs, else its initial value."""
        from weft.ops.control.cond import cond

        with init_scope():
            return cond(is_variable_initialized(self), self.read_value, lambda: self.initial_value)

    # ---- what it is ----

    @property
    def name(self) -> str:
        raise NotImplementedError

    @property
    def op(self) -> Any:
        """The operation that makes the variable."""
        raise NotImplementedError

    @property
    def graph(self) -> Any:
        raise NotImplementedError

    @property
    def dtype(self) -> dtypes.DType:
        raise NotImplementedError

    @property
    def shape(self) -> Any:
        """The known shape, as a TensorShape."""
        raise NotImplementedError

    @property
    def device(self) -> str:
        raise NotImplementedError

    @property
    def trainable(self) -> bool:
        return self._trainable

    @property
    def synchronization(self) -> VariableSynchronization:
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        return self._aggregation

    @property
    def constraint(self) -> Callable[..., Any] | None:
        """Projection applied to the value after an optimizer has updated it."""
        return self._constraint

    @property
    def initial_value(self) -> Tensor | None:
        return self._initial_value

    @property
    def initializer(self) -> Any:
        """The operation that assigns the initial value."""
        return self._initializer_op

    def get_shape(self) -> Any:
        return self.shape

    def _shape_as_list(self) -> list[int | None] | None:
        return None if self.shape.ndims is None else self.shape.as_list()

    def _shape_tuple(self) -> tuple[int | None, ...] | None:
        dims = self._shape_as_list()
        return None if dims is None else tuple(dims)

    @property
    def _shared_name(self) -> str:
        return self.name.partition(":")[0]

    def _set_save_slice_info(self, save_slice_info: SaveSliceInfo) -> None:
        self._save_slice_info = save_slice_info

    def _get_save_slice_info(self) -> SaveSliceInfo | None:
        return self._save_slice_info

    # ---- writing ----

    def load(self, value: Any, session: Any = None) -> None:
        """Sets the variable in `session` to `value`, without adding to the graph."""
        session = session or stacks.get_default_session()
        if session is None:
            raise ValueError(
                "Either session argument should be provided or default session should be "
                "established"
            )
        session.run(self.initializer, {self.initializer.inputs[1]: value})

    def _update(self, kind: str, name: str | None, use_locking: bool | None, *inputs: Any) -> Any:
        """Adds the op that applies update `kind` ("Assign", "ScatterAdd", ...) to this variable."""
        raise NotImplementedError

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Sets the variable to `value`. Gives the new value, or with `read_value` False the op."""
        return self._updated(self._update("Assign", name, use_locking, value), read_value)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        return self._updated(self._update("AssignAdd", name, use_locking, delta), read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        return self._updated(self._update("AssignSub", name, use_locking, delta), read_value)

    def _updated(self, update: Any, read_value: bool = True) -> Any:
        """The result of an update method: the variable after `update`, or just the operation."""
        raise NotImplementedError

    scatter_sub = _scatter_method("ScatterSub")
    scatter_add = _scatter_method("ScatterAdd")
    scatter_max = _scatter_method("ScatterMax")
    scatter_min = _scatter_method("ScatterMin")
    scatter_mul = _scatter_method("ScatterMul")
    scatter_div = _scatter_method("ScatterDiv")
    scatter_update = _scatter_method("ScatterUpdate")

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """`scatter_update` where all leading dimensions but the last of `indices` are batches."""
        rows = _rows(sparse_delta)
        return batch_scatter_update(self, *rows, use_locking=use_locking, name=name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._updated(self._update("ScatterNdSub", name, True, indices, updates))

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._updated(self._update("ScatterNdAdd", name, True, indices, updates))

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        return self._updated(self._update("ScatterNdUpdate", name, True, indices, updates))

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`."""
        raise NotImplementedError

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The slices that the vectors along the last axis of `indices` name."""
        raise NotImplementedError

    def count_up_to(self, limit: int) -> Tensor:
        """The value before adding one; OutOfRangeError once it has reached `limit`."""
        return count_up_to(self, limit)

    def set_shape(self, shape: Any) -> None:
        """Adds what `shape` says to what is known of the variable's shape."""
        raise NotImplementedError

    # ---- as data ----

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        """Names of the variable's nodes below `export_scope`; None if it lies elsewhere."""
        raise NotImplementedError

    def _common_proto(self, export_scope: str | None) -> VariableDef:
        """The fields of a VariableDef that both kinds of variables fill in alike."""
        result = VariableDef(
            initializer_name=strip_scope(self.initializer.name, export_scope),
            trainable=self.trainable,
            synchronization=self.synchronization.value,
            aggregation=self.aggregation.value,
        )
        if self.initial_value is not None:
            result.initial_value_name = strip_scope(self.initial_value.name, export_scope)
        if self._save_slice_info is not None:
            info = self._save_slice_info.to_proto(export_scope)
            if info is not None:
                result.save_slice_info_def.MergeFrom(info)
        return result

    def _init_common_from_proto(
        self, variable_def: VariableDef, element: Callable[[str], Any], import_scope: str | None
    ) -> None:
        given = variable_def
        self._set_modes(
            given.synchronization, given.aggregation, given.trainable, given.variable_name
        )
        self._initializer_op = element(given.initializer_name)
        initial = given.initial_value_name
        self._initial_value = element(initial) if initial else None
        if given.HasField("save_slice_info_def"):
            self._save_slice_info = SaveSliceInfo(
                save_slice_info_def=given.save_slice_info_def, import_scope=import_scope
            )

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable of the default graph whose nodes `variable_def` names."""
        from weft.ops.state.ref_variable import RefVariable
        from weft.ops.state.resource_variable import ResourceVariable

        kind = ResourceVariable if variable_def.is_resource else RefVariable
        return kind(variable_def=variable_def, import_scope=import_scope)

    def experimental_ref(self) -> Reference:
        """A hashable stand-in for this variable."""
        return Reference(self)

    # ---- as a value ----

    def __getitem__(self, slice_spec: Any) -> Tensor:
        """A slice of the value; `v[1:].assign(x)` assigns to that part of the variable."""
        from weft.ops.array.variable_slice import slice_variable

        return slice_variable(self, slice_spec)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Variable' object is not iterable.")

    def __hash__(self) -> int:
        return id(self)

    __eq__ = equality.equals
    __ne__ = equality.not_equals

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"

    def _repr_html_(self) -> str:
        from weft.core.html import card
        from weft.ops.kit.eager import executing_eagerly

        value = self.numpy() if executing_eagerly() else ""  # type: ignore[attr-defined]
        rows = [
            ("type", self.dtype.name),
            ("shape", self.shape),
            ("trainable", self.trainable),
            ("device", self.device),
            ("value", str(value)),
        ]
        return card(f"Variable {self.name}", rows)


Variable.SaveSliceInfo = SaveSliceInfo  # type: ignore[attr-defined]


def _on_value(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The tensor's operator, applied to the variable's value."""

    @functools.wraps(operator)
    def run(self: Variable, *args: Any) -> Any:
        return operator(self.value(), *args)

    return run


for _name, _operator in math.OPERATORS.items():
    setattr(Variable, _name, _on_value(_operator))


def _variable_to_tensor(
    value: Variable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    """Conversion function of all variables: their value, or the reference where one is wanted."""
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}'"
        )
    return value._ref() if as_ref else value.value()


# ---- collections of variables -----------------------------------------------------------------


def _to_proto(variable: Any, export_scope: str | None = None) -> VariableDef | None:
    return variable.to_proto(export_scope=export_scope)


for _key in (
    GraphKeys.GLOBAL_VARIABLES,
    GraphKeys.TRAINABLE_VARIABLES,
    GraphKeys.MOVING_AVERAGE_VARIABLES,
    GraphKeys.LOCAL_VARIABLES,
    GraphKeys.MODEL_VARIABLES,
    GraphKeys.GLOBAL_STEP,
    GraphKeys.METRIC_VARIABLES,
):
    register_proto_function(_key, VariableDef, _to_proto, Variable.from_proto)
