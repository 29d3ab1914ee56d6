"""tf.Variable: what all variables share, and the functions on sets of them.

`tf.Variable(...)` makes a `RefVariable` or a `ResourceVariable` (see those modules); which one, and
whether somebody's `variable_creator_scope` has a say, is decided in `variable_scope.py`.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterator
from typing import Any

from tensorboard.compat.proto.variable_pb2 import SaveSliceInfoDef, VariableDef

from weft.core import dtypes
from weft.graph import stacks
from weft.graph.collection_def import register_proto_function
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import (
    GraphKeys,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    get_collection,
    get_default_graph,
    init_scope,
    name_scope,
)
from weft.graph.op_def import raw
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Reference
from weft.ops import math
from weft.ops.updates import (  # noqa: F401  (public from here too)
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


class VariableSynchronization(enum.Enum):
    """When the copies of a distributed variable are brought into line."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the updates of a distributed variable's copies are combined."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def validate_distribution(
    synchronization: Any, aggregation: Any, trainable: bool | None, name: str | None
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """The three arguments with their defaults filled in; ValueError for unknown modes."""
    try:
        aggregation = VariableAggregation(0 if aggregation is None else aggregation)
    except ValueError:
        raise ValueError(
            f"Invalid variable aggregation mode: {aggregation} for variable: {name}"
        ) from None
    try:
        synchronization = VariableSynchronization(0 if synchronization is None else synchronization)
    except ValueError:
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        ) from None
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


class SaveSliceInfo:
    """Which part of a larger, partitioned variable a variable holds."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Any = None,
        var_offset: Any = None,
        var_shape: Any = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        given = save_slice_info_def
        if given is not None:
            self.full_name: str | None = prepend_scope(given.full_name, import_scope)
            self.full_shape = list(given.full_shape)
            self.var_offset = list(given.var_offset)
            self.var_shape = list(given.var_shape)
        else:
            self.full_name, self.full_shape = full_name, full_shape
            self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """The slice as checkpoints spell it: "4 3 0,2:0,3" is rows 0 and 1 of a 4 by 3 matrix."""
        full = " ".join(map(str, self.full_shape))
        parts = (f"{o},{n}" for o, n in zip(self.var_offset, self.var_shape, strict=True))
        return f"{full} {':'.join(parts)}"

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        if export_scope is not None and not str(self.full_name).startswith(export_scope):
            return None
        return SaveSliceInfoDef(
            full_name=strip_scope(str(self.full_name), export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


class _VariableType(type):
    """Makes `tf.Variable(...)` go through the variable creators; subclasses construct as usual."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Variable:
            from weft.ops.variable_scope import create_variable

            return create_variable(*args, **kwargs)
        return super().__call__(*args, **kwargs)


class Variable(metaclass=_VariableType):
    """State that outlives steps: a tensor that operations can assign to.

    A variable must be initialized (`v.initializer`, `tf.global_variables_initializer()`) in a
    session before it is read there. It can be used wherever a tensor can.
    """

    # NumPy must leave `array * variable` to Variable.__rmul__.
    __array_priority__ = 100

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
        """What an op that wants a reference gets."""
        raise NotImplementedError

    def initialized_value(self) -> Tensor:
        """The value if the variable is initialized when this runs, else its initial value."""
        from weft.ops.cond import cond

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
        """What is known of the shape, as a TensorShape."""
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
        """What an update method returns: the variable after `update`, or just the operation."""
        raise NotImplementedError

    def _scatter(
        self, kind: str, sparse_delta: Any, use_locking: bool | None, name: str | None
    ) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return self._updated(
            self._update(kind, name, use_locking, sparse_delta.indices, sparse_delta.values)
        )

    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter("ScatterSub", sparse_delta, use_locking, name)

    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter("ScatterAdd", sparse_delta, use_locking, name)

    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter("ScatterMax", sparse_delta, use_locking, name)

    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter("ScatterMin", sparse_delta, use_locking, name)

    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter("ScatterMul", sparse_delta, use_locking, name)

    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter("ScatterDiv", sparse_delta, use_locking, name)

    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        return self._scatter("ScatterUpdate", sparse_delta, use_locking, name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """`scatter_update` where all leading dimensions but the last of `indices` are batches."""
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(f"sparse_delta is not IndexedSlices: {sparse_delta}")
        return batch_scatter_update(
            self, sparse_delta.indices, sparse_delta.values, use_locking=use_locking, name=name
        )

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

    @staticmethod
    def from_proto(variable_def: VariableDef, import_scope: str | None = None) -> Variable:
        """The variable of the default graph whose nodes `variable_def` names."""
        from weft.ops.ref_variable import RefVariable
        from weft.ops.resource_variable import ResourceVariable

        kind = ResourceVariable if variable_def.is_resource else RefVariable
        return kind(variable_def=variable_def, import_scope=import_scope)

    def experimental_ref(self) -> Reference:
        """A hashable stand-in for this variable."""
        return Reference(self)

    # ---- as a value ----

    def __getitem__(self, slice_spec: Any) -> Tensor:
        """A slice of the value; `v[1:].assign(x)` assigns to that part of the variable."""
        from weft.ops.variable_slice import slice_variable

        return slice_variable(self, slice_spec)

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("'Variable' object is not iterable.")

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        # By identity, as TensorFlow 1 compares tensors, so that variables can be keys.
        return self is other

    def __repr__(self) -> str:
        return f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


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


def prepend_scope(name: str, import_scope: str | None) -> str:
    """`name` as it is called after an import below `import_scope`."""
    if not import_scope:
        return name
    import_scope = import_scope.rstrip("/")
    if name.startswith("loc:@"):
        return f"loc:@{import_scope}/{name[len('loc:@') :]}"
    if name.startswith("^"):
        return f"^{import_scope}/{name[1:]}"
    return f"{import_scope}/{name}"


def strip_scope(name: str, export_scope: str | None) -> str:
    """`name` without the `export_scope` in front."""
    if not export_scope:
        return name
    prefix = export_scope.rstrip("/") + "/"
    for mark in ("loc:@", "^", ""):
        if name.startswith(mark + prefix):
            return mark + name[len(mark + prefix) :]
    return name


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


def global_variables(scope: str | None = None) -> list[Any]:
    """Variables shared across the machines of a cluster: the usual kind."""
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Deprecated spelling of `global_variables()`."""
    return global_variables()


def local_variables(scope: str | None = None) -> list[Any]:
    """Variables private to a process, such as counters that are not saved."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Variables that optimizers update by default."""
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Variables that an `ExponentialMovingAverage` follows."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """One operation that initializes every variable of `var_list`."""
    from weft.ops import control

    if var_list:
        return control.group(*[v.initializer for v in var_list], name=name)
    return control.no_op(name=name)


def initialize_variables(var_list: Any, name: str = "init") -> Any:
    """Deprecated spelling of `variables_initializer`."""
    return variables_initializer(var_list, name=name)


def global_variables_initializer() -> Any:
    return variables_initializer(global_variables())


def initialize_all_variables() -> Any:
    """Deprecated spelling of `global_variables_initializer`."""
    return global_variables_initializer()


def local_variables_initializer() -> Any:
    return variables_initializer(local_variables())


def initialize_local_variables() -> Any:
    """Deprecated spelling of `local_variables_initializer`."""
    return local_variables_initializer()


def _variables_or_all(var_list: Any) -> list[Any]:
    """`var_list`, or else every variable the collections or, failing them, the graph know of."""
    if var_list is None:
        var_list = global_variables() + local_variables()
        if not var_list:
            ops = get_default_graph().get_operations()
            var_list = [op.outputs[0] for op in ops if op.type in ("Variable", "VariableV2")]
    return list(var_list)


def assert_variables_initialized(var_list: Any = None) -> Tensor | None:
    """Deprecated. A tensor that cannot be evaluated unless all of `var_list` are initialized."""
    from weft.ops import array

    var_list = _variables_or_all(var_list)
    if not var_list:
        return None
    ranks = []
    for variable in var_list:
        with colocate_with(variable.op):
            value = convert_to_tensor(variable)
            # A rank is often known without the value, whose reading is the point here.
            with control_dependencies([raw.Identity(value)]):
                ranks.append(raw.Rank(value))
    return ranks[0] if len(ranks) == 1 else array.stack(ranks)


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of those of `var_list` that hold no value, as a vector of strings."""
    from weft.ops import array, indexing

    var_list = _variables_or_all(var_list)
    with name_scope(name):
        initialized = [is_variable_initialized(variable) for variable in var_list]
        # The report is for the client: it should not wait on a busy accelerator.
        with device("/cpu:0"):
            if not var_list:
                return constant([], dtype=dtypes.string)
            missing = math.logical_not(array.stack(initialized))
            names = constant([variable.op.name for variable in var_list])
            return indexing.boolean_mask(names, missing)
