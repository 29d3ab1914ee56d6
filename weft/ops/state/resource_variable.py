"""ResourceVariable: a variable behind a handle, read by explicit `ReadVariableOp` nodes.

A read is a snapshot: it sees the writes that control dependencies order before it, no later ones.
"""

from __future__ import annotations

import contextlib
import itertools
from typing import Any, NoReturn

import numpy as np
from tensorboard.compat.proto.variable_pb2 import VariableDef

from weft.core import dtypes
from weft.core.shapes import TensorShape, as_shape, dims_of
from weft.graph.convert import convert_to_tensor, register_tensor_conversion_function
from weft.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    graph_of,
    init_scope,
    name_scope,
)
from weft.graph.op_def import raw
from weft.ops.kit.eager import executing_eagerly, shown
from weft.ops.state.initial_value import (
    check_outside_control_flow,
    guard_initial_value,
    initializer_scope,
)
from weft.ops.state.variable_def import prepend_scope, strip_scope
from weft.ops.state.variables import Variable, _variable_to_tensor

# Updates whose resource form is not just "Resource" in front of the name.
_RESOURCE_FORMS = {
    "Assign": "AssignVariableOp",
    "AssignAdd": "AssignAddVariableOp",
    "AssignSub": "AssignSubVariableOp",
}
_serial = itertools.count()  # of variables that are made eagerly, which need not differ by name
_IN_PLACE = {"AssignAdd", "AssignSub", "StridedSliceAssign"}


_INSIDE = (
    "Tensor-typed variable initializers must either be wrapped in an init_scope or callable (e.g.,"
    " `tf.Variable(lambda : tf.truncated_normal([10, 40]))`) when building functions. Please file a"
    " feature request if this restriction inconveniences you."
)


class BaseResourceVariable(Variable):
    """The base of `ResourceVariable` and of the value of an assignment to one."""

    _handle: Tensor
    _dtype: dtypes.DType
    _shape: TensorShape
    _cached_value: Tensor | None
    _graph_element: Tensor
    _constraint: Any

    @property
    def handle(self) -> Tensor:
        """The resource tensor that stands for the variable."""
        return self._handle

    @property
    def name(self) -> str:
        return self._handle.name

    @property
    def device(self) -> str:
        return self._handle.device

    @property
    def dtype(self) -> dtypes.DType:
        return self._dtype

    @property
    def op(self) -> Operation:
        return self._handle.op

    @property
    def graph(self) -> Any:
        return self._handle.graph

    @property
    def shape(self) -> TensorShape:
        return self._shape

    @property
    def create(self) -> Any:
        """The operation that initializes the variable."""
        return self._initializer_op

    def set_shape(self, shape: Any) -> NoReturn:
        raise NotImplementedError("ResourceVariable does not implement set_shape()")

    def is_initialized(self, name: str | None = None) -> Tensor:
        """Whether the variable holds a value, as a bool tensor."""
        return raw.VarIsInitializedOp(self._handle, name=name)

    def numpy(self) -> Any:
        """The value, in eager execution."""
        if not executing_eagerly():
            raise NotImplementedError("numpy() is only available when eager execution is enabled.")
        return self.read_value().numpy()  # type: ignore[attr-defined]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.numpy(), dtype=dtype)

    def __bool__(self) -> bool:
        return bool(self.read_value())

    def __int__(self) -> int:
        return int(self.value())  # type: ignore[call-overload, no-any-return]

    def __float__(self) -> float:
        return float(self.value())  # type: ignore[arg-type]

    def __copy__(self) -> BaseResourceVariable:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        if not executing_eagerly():
            raise NotImplementedError(
                "__deepcopy__() is only available when eager execution is enabled."
            )
        copied = ResourceVariable(
            self.read_value(), trainable=self.trainable, constraint=self._constraint,
            name=self.name.partition(":")[0], dtype=self._dtype,
        )  # fmt: skip
        memo[id(self)] = copied
        return copied

    def __repr__(self) -> str:
        if not executing_eagerly():
            return super().__repr__()
        return (
            f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name},"
            f" numpy={shown(self.numpy())}>"
        )

    # ---- reading ----

    def value(self) -> Tensor:
        if self._cached_value is not None:
            return self._cached_value
        with colocate_with(None, ignore_existing=True), device(self._handle.device):
            return self._read_variable_op()

    def read_value(self) -> Tensor:
        with name_scope("Read"), device(self._handle.device):
            value = self._read_variable_op()
        return raw.Identity(value)

    def _read_variable_op(self) -> Tensor:
        return raw.ReadVariableOp(self._handle, dtype=self._dtype)

    def _as_graph_element(self) -> Tensor:
        return self._graph_element

    def _ref(self) -> Tensor:
        # There is no reference: an op that wants one is told that the tensor is not mutable.
        with name_scope("Read"), device(self._handle.device):
            value = self._read_variable_op()
        raw.Identity(value)  # as `read_value` does; nothing uses the node
        return value

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        with name_scope("Gather" if name is None else name) as scope:
            value = raw.ResourceGather(self._handle, indices, dtype=self._dtype, name=scope)
        return raw.Identity(value)

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        with name_scope("GatherNd" if name is None else name) as scope:
            value = raw.ResourceGatherNd(self._handle, indices, dtype=self._dtype, name=scope)
        return raw.Identity(value)

    # ---- writing ----

    def _update(self, kind: str, name: str | None, use_locking: bool | None, *inputs: Any) -> Any:
        *where, value = inputs
        with graph_of([self._handle]).as_default(), self._after_cached_read(kind):
            value = convert_to_tensor(value, dtype=self._dtype)
            if kind == "Assign":
                self._shape.assert_is_compatible_with(value.shape)
            form = _RESOURCE_FORMS.get(kind, "Resource" + kind)
            return getattr(raw, form)(self._handle, *where, value, name=name)

    def _updated(self, update: Operation, read_value: bool = True) -> Any:
        if not read_value:
            return update
        if executing_eagerly():
            return self
        with graph_of([self._handle]).as_default():
            return self._lazy_read(update)

    def _after_cached_read(self, kind: str) -> Any:
        """An update in place must not overtake the read that fills the cache."""
        if self._cached_value is None or kind not in _IN_PLACE:
            return contextlib.nullcontext()
        return control_dependencies([self._cached_value])

    def _lazy_read(self, op: Operation) -> BaseResourceVariable:
        """The variable as it is after `op`."""
        return self if executing_eagerly() else UpdatedVariable(self, op)

    def _strided_slice_assign(
        self,
        begin: Tensor,
        end: Tensor,
        strides: Tensor,
        value: Any,
        name: str | None,
        **masks: int,
    ) -> Any:
        value = convert_to_tensor(value, dtype=self._dtype)
        with self._after_cached_read("StridedSliceAssign"):
            return self._lazy_read(
                raw.ResourceStridedSliceAssign(
                    self._handle, begin, end, strides, value, name=name, **masks
                )
            )

    # ---- as data ----

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        if export_scope is not None and not self._handle.name.startswith(export_scope):
            return None
        read = self._graph_element if self._cached_value is None else self._cached_value
        result = self._common_proto(export_scope)
        result.variable_name = strip_scope(self._handle.name, export_scope)
        result.snapshot_name = strip_scope(read.name, export_scope)
        result.is_resource = True
        return result


def _refuse_in_place(symbol: str, advice: str) -> Any:
    def refuse(self: BaseResourceVariable, other: Any) -> NoReturn:
        raise RuntimeError(f"Variable {symbol}= value not supported. Use {advice}")

    return refuse


for _name, _symbol, _method in (("__iadd__", "+", "assign_add"), ("__isub__", "-", "assign_sub")):
    setattr(
        BaseResourceVariable,
        _name,
        _refuse_in_place(
            _symbol,
            f"variable.{_method}(value) to modify the variable value and variable = variable "
            f"{_symbol} value to get a new Tensor object.",
        ),
    )
for _name, _symbol in (("__imul__", "*"), ("__itruediv__", "/"), ("__ipow__", "**")):
    setattr(
        BaseResourceVariable,
        _name,
        _refuse_in_place(
            _symbol,
            f"`var.assign(var {_symbol} value)` to modify the variable or `var = var {_symbol} "
            "value` to get a new Tensor object.",
        ),
    )


class ResourceVariable(BaseResourceVariable):
    """A variable with snapshot reads, made by `tf.Variable(..., use_resource=True)`.

    Args:
        initial_value, trainable, collections, validate_shape, caching_device: as for
            `tf.Variable`.
        name, dtype, variable_def, import_scope, constraint, distribute_strategy: likewise.
        synchronization, aggregation, shape: likewise.

    Example:
        >>> v = tf.contrib.eager.Variable(3.0)
        >>> session.run(v.initializer)
        >>> session.run(v + 1)
        np.float32(4.0)
    """

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        dtype: Any = None,
        variable_def: VariableDef | None = None,
        import_scope: str | None = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_proto(variable_def, import_scope)
            return
        self._set_modes(synchronization, aggregation, trainable, name)
        collections = self._checked_collections(initial_value, collections, constraint)
        self._constraint = constraint
        if isinstance(initial_value, Tensor) and initial_value.graph.building_function:
            raise ValueError(_INSIDE)
        with init_scope():
            if executing_eagerly():
                self._build_eagerly(initial_value, name, dtype, shape)
            else:
                self._build(initial_value, caching_device, name, dtype, shape)
            get_default_graph().add_to_collections(collections, self)

    def _build(
        self, initial_value: Any, caching_device: Any, name: str | None, dtype: Any, shape: Any
    ) -> None:
        values = [] if callable(initial_value) else [initial_value]
        with name_scope(name, "Variable", values) as scope:
            with initializer_scope(scope):
                with name_scope("Initializer"), device(None):
                    given = initial_value() if callable(initial_value) else initial_value
                    initial = convert_to_tensor(given, dtype, name="initial_value")
                self._shape = _declared_shape(initial, shape)
                self._dtype = initial.dtype.base_dtype
                self._handle = raw.VarHandleOp(
                    shape=dims_of(self._shape),
                    dtype=self._dtype,
                    shared_name=scope.rstrip("/"),
                    name=scope,
                )
            check_outside_control_flow(initial, scope)
            self._initial_value = initial
            with name_scope("IsInitialized"):
                self._is_initialized_op = raw.VarIsInitializedOp(self._handle)
            with name_scope("Assign") as assign_scope, _beside(self._handle):
                safe = guard_initial_value(scope, initial)
                self._initializer_op = raw.AssignVariableOp(self._handle, safe, name=assign_scope)
            self._add_read(caching_device)

    def _build_eagerly(self, initial_value: Any, name: str | None, dtype: Any, shape: Any) -> None:
        """Makes an eager variable, which has its value from the start, and no operations."""
        with name_scope(name, "Variable") as scope:
            given = initial_value() if callable(initial_value) else initial_value
            initial = convert_to_tensor(given, dtype, name="initial_value")
            label = scope.rstrip("/")
            for replacement in get_default_graph().initial_values:  # type: ignore[attr-defined]
                initial = convert_to_tensor(replacement(label), initial.dtype.base_dtype)
            self._shape = _declared_shape(initial, shape)
            self._dtype = initial.dtype.base_dtype
            self._handle = raw.VarHandleOp(
                shape=dims_of(self._shape), dtype=self._dtype,
                shared_name=f"{label}_{next(_serial)}", name=scope,
            )  # fmt: skip
            raw.AssignVariableOp(self._handle, initial)
        self._cached_value = self._initializer_op = self._is_initialized_op = None
        self._initial_value = None

    def _add_read(self, caching_device: Any) -> None:
        with name_scope("Read"):
            with device(self._handle.device):
                self._graph_element = self._read_variable_op()
            self._cached_value = None
            if caching_device is not None:
                with colocate_with(None, ignore_existing=True), device(caching_device):
                    self._cached_value = raw.Identity(self._graph_element)

    def _init_from_proto(self, variable_def: VariableDef, import_scope: str | None) -> None:
        if not variable_def.is_resource:
            raise ValueError("Trying to restore Variable as ResourceVariable.")
        graph = get_default_graph()

        def element(name: str) -> Any:
            return graph.as_graph_element(prepend_scope(name, import_scope))

        self._handle = element(variable_def.variable_name)
        self._shape = TensorShape.from_dims(self._handle.op.attrs["shape"])
        self._dtype = self._handle.op.attrs["dtype"]
        self._cached_value = None
        snapshot = element(
            variable_def.snapshot_name or f"{variable_def.variable_name[:-2]}/Read/ReadVariableOp:0"
        )
        if snapshot.op.type != "ReadVariableOp":
            self._cached_value = snapshot
        while snapshot.op.type != "ReadVariableOp":
            snapshot = snapshot.op.inputs[0]
        self._graph_element = snapshot
        self._init_common_from_proto(variable_def, element, import_scope)


@contextlib.contextmanager
def _beside(handle: Tensor) -> Any:
    """On the variable's device, whatever scopes say."""
    with colocate_with(None, ignore_existing=True), device(handle.device):
        yield


def _declared_shape(initial: Tensor, shape: Any) -> TensorShape:
    if shape is None:
        return initial.shape
    if not initial.shape.is_compatible_with(shape):
        raise ValueError(
            f"The initial value's shape ({initial.shape}) is not compatible with the explicitly "
            f"supplied `shape` argument ({shape})."
        )
    return as_shape(shape)


class UpdatedVariable(BaseResourceVariable):
    """A variable as it is after one update: every read of it waits for that update."""

    def __init__(self, variable: BaseResourceVariable, parent_op: Operation) -> None:
        self._handle, self._dtype, self._shape = variable.handle, variable.dtype, variable.shape
        self._set_modes(None, None, None, None)
        self._parent_op = parent_op
        self._cached_value = self._initial_value = self._initializer_op = None
        self._graph_element = self._read_variable_op()

    @property
    def name(self) -> str:
        return self._parent_op.name

    @property
    def op(self) -> Operation:
        return self._parent_op

    def value(self) -> Tensor:
        return self._read_variable_op()

    def read_value(self) -> Tensor:
        return self._read_variable_op()

    def _read_variable_op(self) -> Tensor:
        with control_dependencies([self._parent_op]):
            return super()._read_variable_op()


def is_resource_variable(variable: Any) -> bool:
    return isinstance(variable, BaseResourceVariable)


register_tensor_conversion_function(BaseResourceVariable, _variable_to_tensor)
