"""Gradients on their way back, caught where they pass a tensor."""

from __future__ import annotations

import re
import uuid
from typing import Any

from weft.graph.op_def import lookup
from weft.graph.tensor import Tensor
from weft.lib.debug.dump import WatchKeyDoesNotExistInDebugDumpDirError
from weft.lib.debug.names import parse_node_or_tensor_name
from weft.ops.control.debug_nodes import gradient_listeners
from weft.ops.state.variables import Variable

_TAG = "gradient_debug_"
_debuggers: dict[str, GradientsDebugger] = {}


def _node_name(tensor: Any, key: str) -> str:
    name, slot = parse_node_or_tensor_name(tensor.name)
    return f"{name}_{slot}/{_TAG}{key}"


def _parse_grad_debug_op_name(op_name: str) -> tuple[str, str]:
    """`a/b_0/gradient_debug_KEY_1` -> (KEY, `a/b:0`)."""
    found = re.fullmatch(rf"(.+)_(\d+)/{_TAG}([0-9a-f]+)(?:_\d+)?", op_name)
    assert found is not None
    return found[3], f"{found[1]}:{found[2]}"


class GradientsDebugger:
    """Collects the gradients of `y_tensor` by the tensors it watches.

    Several at once need `with debugger:` around the call of `tf.gradients`, to tell them apart.
    """

    def __init__(self, y_tensor: Any = None) -> None:
        self._uuid = uuid.uuid4().hex
        _debuggers[self._uuid] = self
        self.y_tensor = y_tensor
        self.graph = None if y_tensor is None else y_tensor.graph
        self._gradients: dict[str, Any] = {}
        self._is_active = False

    def __enter__(self) -> GradientsDebugger:
        self._is_active = True
        return self

    def __exit__(self, *exc: Any) -> None:
        self._is_active = False

    def identify_gradient(self, input_tensor: Any) -> Any:
        """A tensor to go on with instead of `input_tensor`, past which its gradient comes."""
        is_reference = input_tensor.dtype._is_ref_dtype
        kind = "DebugGradientRefIdentity" if is_reference else "DebugGradientIdentity"
        name = _node_name(input_tensor, self._uuid)
        made = lookup(kind)(input_tensor, name=name)
        if made.op.name != name:
            raise ValueError(f"The graph already contains an op named {name}")
        return made

    def watch_gradients_by_tensors(self, graph: Any, tensors: Any) -> GradientsDebugger:
        given = tensors if isinstance(tensors, list) else [tensors]
        return self.watch_gradients_by_tensor_names(
            graph, "(" + "|".join(re.escape(tensor.name) + "$" for tensor in given) + ")"
        )

    def watch_gradients_by_tensor_names(
        self, graph: Any, tensor_name_regex: str
    ) -> GradientsDebugger:
        """Watches the tensors whose names match a pattern."""
        with graph.as_default():
            outputs = [t for op in graph.get_operations() for t in op.outputs]
            for tensor in outputs:
                if re.match(tensor_name_regex, tensor.name):
                    self._go_past(tensor)
        return self

    def _go_past(self, tensor: Any) -> None:
        """Leads the users of a tensor past a node that catches its gradient."""
        users = list(tensor.consumers())
        made = self.identify_gradient(tensor)
        for user in users:
            for i, given in enumerate(user.inputs):
                if given is tensor:
                    user._update_input(i, made)

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Any) -> None:
        """Keeps a gradient, unless another debugger is at work."""
        if len(_debuggers) > 1 and not self._is_active:
            return
        self.graph = gradient_tensor.graph if self.graph is None else self.graph
        if self.graph is not gradient_tensor.graph:
            raise ValueError(
                f"The graph of the value ({gradient_tensor.graph}) is not the same as the graph"
                f" {self.graph}"
            )
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Any:
        """The gradient by a tensor, a variable, or what has this name."""
        if not isinstance(x_tensor, (str, Tensor, Variable)):
            raise TypeError(
                "x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type"
                f" {type(x_tensor)}"
            )
        name = x_tensor if isinstance(x_tensor, str) else x_tensor.name
        if name not in self._gradients:
            raise LookupError(
                f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}"
            )
        return self._gradients[name]

    def gradient_tensors(self) -> dict[str, Any]:
        return self._gradients


def clear_gradient_debuggers() -> None:
    _debuggers.clear()


def _catch(node: Any, gradient: Any) -> None:
    if _TAG not in node.name:
        return
    key, name = _parse_grad_debug_op_name(node.name)
    if key in _debuggers:
        _debuggers[key].register_gradient_tensor(name, gradient)


gradient_listeners.append(_catch)


def gradient_values_from_dump(grad_debugger: Any, x_tensor: Any, dump: Any) -> list[Any]:
    """The values of a gradient in a dump."""
    mine, other = grad_debugger.graph, dump.python_graph
    if mine and other and mine is not other:
        raise ValueError(
            f"This GradientsDebugger instance has a graph ({mine}) that differs from the graph of"
            f" the DebugDumpDir object ({other})."
        )
    name, slot = parse_node_or_tensor_name(grad_debugger.gradient_tensor(x_tensor).name)
    try:
        return dump.get_tensors(name, slot or 0, "DebugIdentity")  # type: ignore[no-any-return]
    except WatchKeyDoesNotExistInDebugDumpDirError:
        return []
