"""An operation as a layer: what is between layers of a model need not be one."""

from __future__ import annotations

from typing import Any

from google.protobuf import json_format
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.node_def_pb2 import NodeDef

from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import get_default_graph
from weft.graph.importer import import_graph_def
from weft.lib.keras.engine.base_layer import Layer

_PREFIX = "tf_op_layer_"


class TensorFlowOpLayer(Layer):
    """Makes an operation like `node_def` whenever it is called.

    `constants` are the inputs, by position, that do not come from the model's inputs.
    """

    def __init__(
        self,
        node_def: Any,
        name: str,
        constants: dict[Any, Any] | None = None,
        trainable: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__(trainable, _PREFIX + name, dtype, autocast=False)
        self.node_def, self.built = _parsed(node_def), True
        self.constants = {int(place): value for place, value in (constants or {}).items()}

    def call(self, inputs: Any) -> Any:
        inputs = list(nest.flatten(inputs))
        for index, value in sorted(self.constants.items()):
            name = self.node_def.input[index].partition(":")[0]
            inputs.insert(index, convert_to_tensor(value, name=name))
        outputs = self._made(inputs).outputs
        return outputs[0] if len(outputs) == 1 else outputs

    def _made(self, inputs: list[Any]) -> Any:
        """The operation on `inputs`, made as a graph of one node is imported."""
        graph_def = GraphDef()
        node = graph_def.node.add()
        node.CopyFrom(self.node_def)
        node.name = get_default_graph().unique_name(self.node_def.name, mark_as_used=False)
        # Where a constraint or an order was, it is not here.
        node.attr.pop("_class", None)
        del node.input[:]
        node.input.extend(f"input_{i}" for i in range(len(inputs)))
        feeds = {f"input_{i}": x for i, x in enumerate(inputs)}
        made = import_graph_def(graph_def, input_map=feeds, return_elements=[node.name], name="")
        assert made is not None
        return made[0]

    def get_config(self) -> dict[str, Any]:
        node_def = json_format.MessageToDict(self.node_def)
        own = {"name": self.name[len(_PREFIX) :], "node_def": node_def}
        return super().get_config() | own | {"constants": self.constants}


def _parsed(node_def: Any) -> Any:
    if isinstance(node_def, dict):
        return json_format.ParseDict(node_def, NodeDef())
    if isinstance(node_def, str):
        node_def = node_def.encode()
    return NodeDef.FromString(node_def)
