"""Switches between TensorFlow 1 and 2: weft is 1, with graphs and sessions, or eager execution.

A switch to what weft does anyway is taken and changes nothing. A switch to what it does not do is
refused at once, where the program asks for it.
"""

from __future__ import annotations

from typing import Any, NoReturn

from weft.client import eager as eager_execution
from weft.graph.graph import Graph, get_default_graph
from weft.ops.kit import eager


def executing_eagerly() -> bool:
    """Whether operations are computed at once: after `enable_eager_execution`, or in a function."""
    return eager.executing_eagerly()


def _refuse(what: str, instead: str) -> NoReturn:
    raise RuntimeError(
        f"{what} is not part of weft, which runs TensorFlow 1 graphs in sessions. {instead}"
    )


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """From now on operations are computed as they are made, and tensors have values.

    It is for the start of a program: ValueError if it has made a graph already.

    Args:
        config: a `tf.ConfigProto`.
        device_policy: what to do with operands on several devices; kept, not used.
        execution_mode: kept, not used: operations are computed in turn.

    Raises:
        ValueError: the program has made a graph already, or arguments contradict an earlier call.

    Example:
        >>> x = tf.constant(1)
        >>> tf.enable_eager_execution()
        Traceback (most recent call last):
            ...
        ValueError: tf.enable_eager_execution must be called at program startup.
    """
    if config is not None and not hasattr(config, "SerializeToString"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in (None, 0, 1, 2, 3):
        raise ValueError(
            "device_policy must be one of None, DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN,"
            " DEVICE_PLACEMENT_SILENT or DEVICE_PLACEMENT_SILENT_FOR_INT32"
        )
    if execution_mode not in (None, 0, 1):
        raise ValueError("execution_mode must be one of None, SYNC, ASYNC")
    eager_execution.enable(config)


def disable_eager_execution() -> None:
    """Back to graphs that sessions run."""
    eager_execution.disable()


def enable_v2_behavior() -> NoReturn:
    """Refused: it would turn on eager execution."""
    _refuse("TensorFlow 2 behavior", "Leave out tf.enable_v2_behavior() and run a tf.Session().")


def disable_v2_behavior() -> None:
    """Nothing to do: the behavior is that of TensorFlow 1."""


def enable_v2_tensorshape() -> NoReturn:
    """Refused: dimensions of shapes are `tf.Dimension` objects."""
    _refuse("TensorShape with plain integers", "Use tf.compat.dimension_value(shape[i]).")


def disable_v2_tensorshape() -> None:
    """Nothing to do: dimensions of shapes are `tf.Dimension` objects."""


def enable_tensor_equality() -> NoReturn:
    """Refused: tensors are equal when they are the same tensor."""
    _refuse("Comparing tensors by value with ==", "Use tf.equal(a, b).")


def disable_tensor_equality() -> None:
    """Nothing to do: tensors are equal when they are the same tensor."""


def control_flow_v2_enabled() -> bool:
    """Whether loops and conditionals are `While` and `If` nodes: always so in a `tf.function`."""
    return Graph.functional_control_flow or get_default_graph().functional_control_flow


def enable_control_flow_v2() -> None:
    """From now on loops and conditionals are `While` and `If` nodes, which call functions.

    Their gradients are such nodes as well, and have gradients. Without it they are Switch and Merge
    nodes, whose loops have gradients of the first order only.
    """
    Graph.functional_control_flow = True


def disable_control_flow_v2() -> None:
    """From now on loops and conditionals outside of `tf.function` are Switch and Merge nodes."""
    Graph.functional_control_flow = False
