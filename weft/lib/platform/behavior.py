"""Switches between TensorFlow 1 and 2, as TensorFlow 1.15 has them.

Names stay those of TensorFlow 1 (`tf.Variable`, `tf.layers`): what changes is how operations run,
and what shapes, variables and comparisons are.
"""

from __future__ import annotations

from typing import Any

from weft.client import eager as eager_execution
from weft.core.shapes import TensorShape
from weft.graph.graph import Graph, get_default_graph
from weft.graph.tensor import Tensor
from weft.ops.kit import eager
from weft.ops.state.variable_store import disable_resource_variables, enable_resource_variables


def executing_eagerly() -> bool:
    """Whether operations are computed at once: after `enable_eager_execution`, or in a function."""
    return eager.executing_eagerly()


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


_v2_behavior = False


def v2_behavior_enabled() -> bool:
    """Whether `enable_v2_behavior` was called, as `tensorflow.python.tf2.enabled` says."""
    return _v2_behavior


def enable_v2_behavior() -> None:
    """Turns on all of TensorFlow 2's behavior that TensorFlow 1.15 has; for the start of a program.

    That is eager execution, plain numbers in shapes, resource variables, `==` by value, and loops
    and conditionals that are functions.
    """
    global _v2_behavior
    enable_eager_execution()
    _v2_behavior = True
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_tensor_equality()
    enable_control_flow_v2()


def disable_v2_behavior() -> None:
    """Turns off all that `enable_v2_behavior` turns on."""
    global _v2_behavior
    _v2_behavior = False
    disable_eager_execution()
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_tensor_equality()
    disable_control_flow_v2()


def enable_v2_tensorshape() -> None:
    """From now on sizes in shapes are numbers and None instead of `tf.Dimension` objects."""
    TensorShape.plain_sizes = True


def disable_v2_tensorshape() -> None:
    """From now on sizes in shapes are `tf.Dimension` objects."""
    TensorShape.plain_sizes = False


def enable_tensor_equality() -> None:
    """From now on `==` compares tensors and variables by value, where eager execution is on."""
    Tensor._USE_EQUALITY = True


def disable_tensor_equality() -> None:
    """From now on tensors are equal when they are the same tensor."""
    Tensor._USE_EQUALITY = False


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
