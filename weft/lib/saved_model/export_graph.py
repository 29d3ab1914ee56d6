"""The graph of a SavedModel that was made of an object.

TensorFlow Serving and sessions use that one: it has the variables, the files and tables, a call for
each signature, and the nodes that save and restore. Bodies of functions stand in its library.
"""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef

from weft.core import compat, dtypes
from weft.core.shapes import dims_of
from weft.graph.constant_value import constant_value
from weft.graph.convert import constant
from weft.graph.graph import Graph, control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.functions.concrete import ConcreteFunction
from weft.lib.saved_model import constants
from weft.lib.saved_model.assets import _new_name
from weft.lib.saved_model.objects import TrackableAsset
from weft.lib.saved_model.saved_objects import SavedObjects
from weft.lib.saved_model.signature_constants import PREDICT_METHOD_NAME
from weft.lib.saved_model.signatures import build_signature_def, op_signature_def
from weft.lib.saved_model.tables import SavedTable, is_table
from weft.lib.saved_model.tensor_info import build_tensor_info
from weft.lib.train.checkpoint.saver import Saver
from weft.ops.control.control import no_op
from weft.ops.kit.eager import EagerTensor
from weft.ops.state.resource_variable import BaseResourceVariable

_NOT_COPIED = (dtypes.resource, dtypes.variant)


class CopiedVariable(BaseResourceVariable):
    """A variable of another graph, in this one: a handle of the same name, without a value."""

    def __init__(self, original: BaseResourceVariable) -> None:
        self._set_modes(None, None, original.trainable, None)
        self._dtype, self._shape = original.dtype.base_dtype, original.shape
        name = original.name.partition(":")[0]
        self._handle = raw.VarHandleOp(
            shape=dims_of(self._shape), dtype=self._dtype, shared_name=name, name=name
        )
        self._initializer_op = self._initial_value = self._cached_value = None
        with name_scope(f"{name}/Read/"):
            self._graph_element = self._read_variable_op()


class ExportGraph:
    """`graph`, and what of it stands for tensors of the program.

    `numbers` says to which object a captured tensor belongs; `constants` are captured values that
    belong to none, with the nodes that hold them: they become objects after all others.
    """

    def __init__(self, objects: SavedObjects) -> None:
        self._objects, self.graph = objects, Graph()
        self.numbers: dict[Tensor, int] = {}
        self.constants: list[Tensor] = []
        self.assets: list[Any] = []
        self.asset_numbers: dict[int, int] = {}  # of an object -> among `assets`
        self.files: dict[str, str] = {}
        self._stand_ins: dict[Tensor, Tensor] = {}
        self._variables: dict[str, CopiedVariable] = {}
        self._before: list[Operation] = []
        with self.graph.as_default():
            for number, value in enumerate(objects.objects):
                self._add(number, value)

    def _add(self, number: int, value: Any) -> None:
        if isinstance(value, BaseResourceVariable):
            copy = CopiedVariable(value)
            self._variables[self._objects.variable_key(value)] = copy
            self._stand_for(value.handle, copy.handle, number)
        elif isinstance(value, TrackableAsset):
            self._stand_for(value.asset_path, self._asset(number, value), number)
        elif is_table(value):
            handle = value.resource_handle
            made = self.call(self._objects.table(value).create_trace, [])
            self._stand_for(handle, made, number)

    def _stand_for(self, tensor: Tensor, copy: Tensor, number: int) -> None:
        self._stand_ins[tensor], self.numbers[tensor] = copy, number

    def _asset(self, number: int, asset: TrackableAsset) -> Tensor:
        """The path of a file: the handle of a variable that a session sets when it loads."""
        source = compat.as_text(_value_of(asset.asset_path).item())
        name = _new_name(source, self.files)
        self.files[name] = source
        path = raw.Placeholder(dtypes.string, shape=[], name="asset_path_initializer")
        handle = raw.VarHandleOp(
            shape=(), dtype=dtypes.string, shared_name=f"asset_{number}", name="asset"
        )
        self._before.append(raw.AssignVariableOp(handle, path))
        self.asset_numbers[number] = len(self.assets)
        described = AssetFileDef(filename=name)
        described.tensor_info.name = path.name
        self.assets.append(described)
        return handle

    # ---- functions ----

    def note_captures(self, function: ConcreteFunction) -> None:
        """Values that a function took from outside, and that are no object's, become constants."""
        for tensor in function.captured_inputs:
            if tensor in self._stand_ins or tensor.dtype.base_dtype in _NOT_COPIED:
                continue
            value = _value_of(tensor)
            if value is None:
                raise ValueError(
                    f"Attempted to save a function {function.name} which references a symbolic"
                    f" Tensor {tensor} that is not a simple constant. This is not supported."
                )
            with self.graph.as_default():
                copy = constant(value)
            self.constants.append(copy)
            self._stand_for(tensor, copy, len(self._objects.objects) + len(self.constants) - 1)

    def call(self, function: ConcreteFunction, args: list[Tensor]) -> Any:
        """Calls a function of the program in this graph."""
        self.note_captures(function)
        captured = []
        for tensor, inside in zip(
            function.captured_inputs, function.inputs[len(args) :], strict=True
        ):
            if tensor not in self._stand_ins:
                raise AssertionError(
                    f"Tried to export a function which references untracked object {inside}."
                    "TensorFlow objects (e.g. tf.Variable) captured by functions must be tracked"
                    " by assigning them to an attribute of a tracked object or assigned to an"
                    " attribute of the main object directly."
                )
            captured.append(self._passed(tensor))
        return function.call_with_captured(args, captured)

    def _passed(self, tensor: Tensor) -> Tensor:
        """The tensor passed for a captured tensor; of a variable that is a path, its value."""
        found = self._stand_ins[tensor]
        if tensor.dtype.base_dtype is found.dtype.base_dtype:
            return found
        return raw.ReadVariableOp(found, dtype=tensor.dtype.base_dtype)

    # ---- what a session uses ----

    def signature(self, key: str, function: ConcreteFunction) -> Any:
        """A call of the function with placeholders."""
        given = {
            name: raw.Placeholder(inside.dtype, shape=inside.shape, name=f"{key}_{name}")
            for name, inside in zip(function.argument_names, function.inputs, strict=False)
        }
        outputs = self.call(function, list(given.values()))
        return build_signature_def(
            {name: build_tensor_info(tensor) for name, tensor in given.items()},
            {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
            PREDICT_METHOD_NAME,
        )

    def add_main_op(self, meta_graph: Any, tables: list[SavedTable]) -> None:
        """Adds the op that a session runs after restoring variables: sets paths, fills tables."""
        with self.graph.as_default():
            with control_dependencies(self._before):
                filled = [self.call(table.initialize_trace, []) for table in tables]
            done = [each for each in filled if each is not None]
            with control_dependencies([*self._before, *done]):
                op = no_op()
        meta_graph.collection_def[constants.MAIN_OP_KEY].node_list.value.append(op.name)
        signature = op_signature_def(op, constants.INIT_OP_SIGNATURE_KEY)
        meta_graph.signature_def[constants.INIT_OP_SIGNATURE_KEY].CopyFrom(signature)

    def saver_def(self) -> Any:
        with self.graph.as_default():
            saver = Saver(self._variables, sharded=True, allow_empty=True)
            return saver.as_saver_def() if self._variables else None


def _value_of(tensor: Tensor) -> Any:
    return tensor._array() if isinstance(tensor, EagerTensor) else constant_value(tensor)
