"""Operation: a node of the graph, as plain data, and where in the user's program it was made."""

from __future__ import annotations

import linecache
import sys
from types import CodeType
from typing import TYPE_CHECKING, Any

from weft.core import device_name
from weft.core.dtypes import DType
from weft.core.errors import PACKAGE
from weft.graph.op_def import OpDef
from weft.graph.tensor import Tensor, _session_for

if TYPE_CHECKING:
    from weft.graph.graph import Graph

_MAX_FRAMES = 24

Attrs = dict[str, Any]


# The files that frames come from, as they turn out to be weft's: most frames are from few files.
_own_files: set[str] = set()


def creation_stack() -> tuple[tuple[CodeType, int], ...]:
    """The user's frames that led here, innermost first. Line numbers are worked out when asked."""
    frame: Any = sys._getframe(2)
    kept: list[tuple[CodeType, int]] = []
    own_files = _own_files
    while frame is not None:
        code = frame.f_code
        file = code.co_filename
        if file not in own_files:
            if file.startswith(PACKAGE):
                own_files.add(file)
            else:
                kept.append((code, frame.f_lasti))
                if len(kept) == _MAX_FRAMES:
                    break
        frame = frame.f_back
    return tuple(kept)


class Operation:
    """A node: type, inputs, attributes, device.

    `attrs` holds Python values by TensorFlow's attribute names: DType for types, dims for shapes,
    NumPy arrays for tensors, str (bytes if not UTF-8) for strings, lists of these.
    """

    __slots__ = (
        "__dict__", "__weakref__", "_control_flow_context", "_control_inputs", "_device", "_id",
        "_original_op", "_stack", "_value", "attrs", "definition", "graph", "inputs", "name",
        "outputs",
    )  # fmt: skip

    def __init__(
        self,
        graph: Graph,
        definition: OpDef,
        name: str,
        inputs: tuple[Tensor, ...],
        output_types: list[DType],
        attrs: Attrs,
        control_inputs: tuple[Operation, ...],
    ) -> None:
        self.graph = graph
        self.definition = definition
        self.name = name
        self.inputs = inputs
        self.attrs = attrs
        self._control_inputs = control_inputs
        self._device = ""
        self._id = 0
        self._original_op: Operation | None = None
        self._control_flow_context: Any = None
        self._value: Any = None
        self._stack: tuple[tuple[CodeType, int], ...] = ()
        self.outputs = [Tensor(self, i, dtype) for i, dtype in enumerate(output_types)]

    @property
    def type(self) -> str:
        return self.definition.name

    # The names by which programs reach into TensorFlow's operations.
    @property
    def _outputs(self) -> list[Tensor]:
        return self.outputs

    @property
    def _inputs(self) -> tuple[Tensor, ...]:
        return self.inputs

    @property
    def _output_types(self) -> list[int]:
        """The types of the outputs, as numbers of `DataType`."""
        return [tensor.dtype.as_datatype_enum for tensor in self.outputs]

    @property
    def control_inputs(self) -> list[Operation]:
        return list(self._control_inputs)

    @property
    def _control_outputs(self) -> list[Operation]:
        return [op for op in self.graph._ops if self in op._control_inputs]

    @property
    def device(self) -> str:
        return self._device

    def _set_device(self, device: Any) -> None:
        self._device = device_name.canonical_name(device)

    def colocation_groups(self) -> list[bytes]:
        """The groups this operation must share a device with; its own if it joined none."""
        groups = [c for c in self.attrs.get("_class", ()) if str(c).startswith("loc:@")]
        return [g.encode() for g in groups] or [f"loc:@{self.name}".encode()]

    @property
    def op_def(self) -> Any:
        from weft.graph.graph_def import op_def_proto

        return op_def_proto(self.definition)

    @property
    def node_def(self) -> Any:
        from weft.graph.graph_def import node_def

        return node_def(self)

    def get_attr(self, name: str) -> Any:
        """The attribute as TensorFlow returns it: bytes for strings, protos for shapes, tensors."""
        from weft.graph.graph_def import public_attr

        if name not in self.attrs:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return public_attr(self, name)

    def _set_attr(self, name: str, value: Any) -> None:
        """`value` is an AttrValue message."""
        from weft.graph.graph_def import attr_from_proto

        self.attrs[name] = attr_from_proto(value)
        self.graph._note_mutation(self)

    def _add_control_input(self, op: Operation) -> None:
        self._add_control_inputs([op])

    def _add_control_inputs(self, ops: list[Operation]) -> None:
        for op in ops:
            if not isinstance(op, Operation):
                raise TypeError(f"op must be an Operation: {op}")
            if op not in self._control_inputs:
                self._control_inputs += (op,)
        self.graph._note_mutation(self)

    def _remove_all_control_inputs(self) -> None:
        self._control_inputs = ()
        self.graph._note_mutation(self)

    def _update_input(self, index: int, tensor: Tensor) -> None:
        old = self.inputs[index]
        self.inputs = (*self.inputs[:index], tensor, *self.inputs[index + 1 :])
        if old is not tensor:
            old._consumers.remove(self)
            tensor._consumers.append(self)
            if old.dtype.base_dtype is not tensor.dtype.base_dtype:
                self.graph._retyped.add(self)
        self.graph._note_mutation(self)

    def _get_control_flow_context(self) -> Any:
        return self._control_flow_context

    def _set_control_flow_context(self, context: Any) -> None:
        self._control_flow_context = context

    def values(self) -> tuple[Tensor, ...]:
        return tuple(self.outputs)

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        """(file, line, function, source line) of the user's frames, outermost first."""
        found = []
        for code, instruction in reversed(self._stack):
            line = _line_of(code, instruction)
            text = linecache.getline(code.co_filename, line).strip()
            found.append((code.co_filename, line, code.co_name, text))
        return found

    @property
    def traceback_with_start_lines(self) -> list[tuple[str, int, str, str, int]]:
        """As `traceback`, and where each function starts."""
        starts = [code.co_firstlineno for code, _ in reversed(self._stack)]
        return [(*frame, start) for frame, start in zip(self.traceback, starts, strict=True)]

    def run(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> None:
        """Runs this operation in `session` (the default session if None)."""
        _session_for(session, self.graph, "execute operation", "run").run(self, feed_dict)

    def __str__(self) -> str:
        return str(self.node_def)

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"

    def _repr_html_(self) -> str:
        from weft.graph.pictures.cards import operation_card

        return operation_card(self)


def _line_of(code: CodeType, instruction: int) -> int:
    line = code.co_firstlineno
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
    return line
