"""RefVariable: a variable as TensorFlow 1 makes it by default, a `VariableV2` node."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.variable_pb2 import VariableDef

from weft.core.shapes import TensorShape, dims_of, unknown_shape
from weft.graph.convert import convert_to_tensor, register_tensor_conversion_function
from weft.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    device,
    get_default_graph,
    init_scope,
    name_scope,
)
from weft.graph.op_def import raw
from weft.ops.state.initial_value import (
    check_outside_control_flow,
    guard_initial_value,
    initializer_scope,
)
from weft.ops.state.updates import apply_update, assign
from weft.ops.state.variable_def import prepend_scope, strip_scope
from weft.ops.state.variables import Variable, _variable_to_tensor


class RefVariable(Variable):
    """A variable that ops reach by reference: a read may see later writes of the same step."""

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
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
    ) -> None:
        self._caching_device = caching_device
        if variable_def is not None:
            if initial_value is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            self._init_from_proto(variable_def, import_scope)
            return
        self._set_modes(synchronization, aggregation, trainable, name)
        collections = self._checked_collections(initial_value, collections, constraint)
        self._constraint = constraint
        with init_scope():
            self._build(initial_value, validate_shape, name, dtype, shape)
            get_default_graph().add_to_collections(collections, self)

    def _build(
        self, initial_value: Any, validate_shape: bool, name: str | None, dtype: Any, shape: Any
    ) -> None:
        values = [] if callable(initial_value) else [initial_value]
        with name_scope(name, "Variable", values) as scope:
            if callable(initial_value):
                with initializer_scope(scope):
                    with name_scope("Initializer"), device(None):
                        initial = convert_to_tensor(initial_value(), dtype, name="initial_value")
                    self._variable = _variable_node(initial, validate_shape, shape, scope)
            else:
                initial = convert_to_tensor(initial_value, dtype, name="initial_value")
                check_outside_control_flow(initial, scope)
                self._variable = _variable_node(initial, validate_shape, shape, scope)
            self._initial_value = initial
            if validate_shape and not initial.shape.is_fully_defined():
                raise ValueError(f"initial_value must have a shape specified: {initial}")
            safe = guard_initial_value(scope, initial)
            self._initializer_op = assign(self._variable, safe, validate_shape=validate_shape).op
            if self._caching_device is not None:
                beside = device(self._caching_device)
            else:
                beside = colocate_with(self._variable.op)
            with beside:
                self._snapshot = raw.Identity(self._variable, name="read")

    def _init_from_proto(self, variable_def: VariableDef, import_scope: str | None) -> None:
        def element(name: str) -> Any:
            return get_default_graph().as_graph_element(prepend_scope(name, import_scope))

        self._variable = element(variable_def.variable_name)
        self._snapshot = element(variable_def.snapshot_name)
        self._init_common_from_proto(variable_def, element, import_scope)

    # ---- what it is ----

    @property
    def name(self) -> str:
        return self._variable.name

    @property
    def device(self) -> str:
        return self._variable.device

    @property
    def dtype(self) -> Any:
        return self._variable.dtype

    @property
    def op(self) -> Operation:
        return self._variable.op

    @property
    def graph(self) -> Any:
        return self._variable.graph

    @property
    def shape(self) -> TensorShape:
        return self._variable.shape

    def set_shape(self, shape: Any) -> None:
        self._variable.set_shape(shape)
        self._snapshot.set_shape(shape)

    # ---- reading and writing ----

    def value(self) -> Tensor:
        return self._snapshot

    def read_value(self) -> Tensor:
        return raw.Identity(self._variable, name="read")

    def _ref(self) -> Tensor:
        return self._variable

    def _as_graph_element(self) -> Tensor:
        return self._variable

    def _update(
        self, kind: str, name: str | None, use_locking: bool | None, *inputs: Any
    ) -> Tensor:
        return apply_update(kind, self._variable, inputs, use_locking, name)

    def _updated(self, update: Tensor, read_value: bool = True) -> Any:
        if not read_value:
            return update.op
        # What assigning to a resource variable gives can be read; so programs do.
        vars(update)["read_value"] = lambda: raw.Identity(update, name="read")
        return update

    # Gathers see that a reference variable lacks these, and read all of it.

    @property
    def sparse_read(self) -> Any:  # type: ignore[override]
        raise AttributeError("sparse_read needs a resource variable")

    @property
    def gather_nd(self) -> Any:  # type: ignore[override]
        raise AttributeError("gather_nd needs a resource variable")

    def _strided_slice_assign(
        self,
        begin: Tensor,
        end: Tensor,
        strides: Tensor,
        value: Any,
        name: str | None,
        **masks: int,
    ) -> Tensor:
        return raw.StridedSliceAssign(
            self._variable, begin, end, strides, value, name=name, **masks
        )

    def __iadd__(self, other: Any) -> Any:
        return self + other  # type: ignore[operator]

    def __isub__(self, other: Any) -> Any:
        return self - other  # type: ignore[operator]

    def __imul__(self, other: Any) -> Any:
        return self * other  # type: ignore[operator]

    def __itruediv__(self, other: Any) -> Any:
        return self / other  # type: ignore[operator]

    def __ipow__(self, other: Any) -> Any:  # type: ignore[misc]
        return self**other  # type: ignore[operator]

    # ---- as data ----

    def to_proto(self, export_scope: str | None = None) -> VariableDef | None:
        if export_scope is not None and not self._variable.name.startswith(export_scope):
            return None
        result = self._common_proto(export_scope)
        result.variable_name = strip_scope(self._variable.name, export_scope)
        result.snapshot_name = strip_scope(self._snapshot.name, export_scope)
        return result


def _variable_node(initial: Tensor, validate_shape: bool, shape: Any, scope: str) -> Tensor:
    if shape is None:
        shape = initial.shape if validate_shape else unknown_shape()
    return raw.VariableV2(shape=dims_of(shape), dtype=initial.dtype.base_dtype, name=scope)


register_tensor_conversion_function(RefVariable, _variable_to_tensor)
