"""State of Python's own in object-based checkpoints."""

from __future__ import annotations

import abc
from typing import Any

from weft.core import compat, dtypes
from weft.graph.op_def import raw
from weft.lib.train.checkpoint.objects import Trackable
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.ops.functions.py_func import py_func


class PythonState(Trackable, abc.ABC):
    """Something that a checkpoint holds as a string, which the subclass makes and reads."""

    @abc.abstractmethod
    def serialize(self) -> Any:
        """The string that stands for the object as it is now."""

    @abc.abstractmethod
    def deserialize(self, string_value: Any) -> None:
        """Takes the state from a string that `serialize` gave."""

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"py_state": lambda name="py_state": _Text(self, name)}


class _Text(SaveableObject):
    """The string of an object, as of the moment at which it is saved."""

    def __init__(self, state: PythonState, name: str) -> None:
        text = py_func(lambda: compat.as_bytes(state.serialize()), [], dtypes.string)
        text.set_shape([])
        super().__init__(text, [SaveSpec(text, "", name)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        return raw.NoOp()  # `restore_python_states` has done it


def restore_python_states(found: dict[int, Any], message: Any, reader: Any) -> None:
    """Gives those of the objects found in a checkpoint that have such a state theirs."""
    for number, value in found.items():
        if isinstance(value, PythonState):
            for attribute in message.nodes[number].attributes:
                value.deserialize(reader.get_tensor(attribute.checkpoint_key))
