"""The variables of a graph, by collection: initializing them, and finding those that are not."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant, convert_to_tensor
from weft.graph.graph import (
    GraphKeys,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    get_collection,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import raw
from weft.ops.math import math
from weft.ops.state.updates import is_variable_initialized


def global_variables(scope: str | None = None) -> list[Any]:
    """Variables shared across the machines of a cluster: the usual kind.

    Args:
        scope: a regular expression; only variables whose names start with a match are listed.

    Returns:
        A list, in the order in which they were made.

    Example:
        >>> with tf.variable_scope("layer"):
        ...     w = tf.get_variable("w", [3])
        >>> tf.global_variables("layer") == [w]
        True
    """
    return get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def all_variables() -> list[Any]:
    """Deprecated spelling of `global_variables()`.

    Returns:
        A list, in the order in which they were made.

    Example:
        >>> v = tf.Variable(1)
        >>> tf.all_variables() == [v]
        True
    """
    return global_variables()


def local_variables(scope: str | None = None) -> list[Any]:
    """Variables private to a process, such as counters that are not saved."""
    return get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """The variables that make up the model, as layers of `tf.contrib` collect them."""
    return get_collection(GraphKeys.MODEL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Variables that optimizers update by default.

    Args:
        scope: a regular expression; only variables whose names start with a match are listed.

    Returns:
        A list, in the order in which they were made.

    Example:
        >>> v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w", trainable=False)
        >>> [variable.op.name for variable in tf.trainable_variables()]
        ['v']
    """
    return get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Variables that an `ExponentialMovingAverage` follows."""
    return get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


def variables_initializer(var_list: Any, name: str = "init") -> Any:
    """One operation that initializes every variable of `var_list`.

    Those of eager execution have no initializer: they have their values already.

    Args:
        var_list: the variables; None or an empty list gives an operation that does nothing.
        name: of the operation.

    Returns:
        An operation that runs all their initializers, in no fixed order.

    Example:
        >>> v = tf.Variable([1, 2])
        >>> session.run(tf.variables_initializer([v]))
        >>> session.run(v)
        array([1, 2], dtype=int32)
    """
    from weft.ops.control import control

    found = [v.initializer for v in var_list or () if v.initializer is not None]
    return control.group(*found, name=name) if found else control.no_op(name=name)


def initialize_variables(var_list: Any, name: str = "init") -> Any:
    """Deprecated spelling of `variables_initializer`."""
    return variables_initializer(var_list, name=name)


def global_variables_initializer() -> Any:
    """One operation that gives every global variable of the default graph its initial value.

    Returns:
        An operation; run it once, before any step that reads a variable.

    Example:
        >>> counter = tf.Variable(5)
        >>> session.run(tf.global_variables_initializer())
        >>> session.run(counter)
        np.int32(5)
    """
    return variables_initializer(global_variables())


def initialize_all_variables() -> Any:
    """Deprecated spelling of `global_variables_initializer`.

    Returns:
        An operation that initializes every global variable.

    Example:
        >>> v = tf.Variable(3)
        >>> session.run(tf.initialize_all_variables())
        >>> session.run(v)
        np.int32(3)
    """
    return global_variables_initializer()


def local_variables_initializer() -> Any:
    """One operation that gives every local variable a start, such as counters of `tf.metrics`.

    Returns:
        An operation to run before those variables are read.

    Example:
        >>> mean, update = tf.metrics.mean([1.0, 5.0])
        >>> session.run(tf.local_variables_initializer())
        >>> session.run(update)
        np.float32(3.0)
    """
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
    from weft.ops.array import array

    var_list = _variables_or_all(var_list)
    if not var_list:
        return None
    ranks = []
    for variable in var_list:
        with colocate_with(variable.op):
            ranks.append(_rank_when_read(variable))
    return ranks[0] if len(ranks) == 1 else array.stack(ranks)


def _rank_when_read(variable: Any) -> Tensor:
    """The rank, after the value was read: it is often known without that."""
    if not hasattr(variable, "handle"):
        with control_dependencies([convert_to_tensor(variable)]):
            return raw.Rank(variable._ref())
    with name_scope("Rank") as scope:
        read, value = (convert_to_tensor(variable) for _ in range(2))
        with control_dependencies([read]):
            return raw.Rank(value, name=scope)


def report_uninitialized_variables(
    var_list: Any = None, name: str = "report_uninitialized_variables"
) -> Tensor:
    """The names of those of `var_list` that hold no value, as a vector of strings."""
    from weft.ops.array import array
    from weft.ops.math import indexing

    variables = _variables_or_all(var_list)
    with name_scope(name):
        held = [is_variable_initialized(variable) for variable in variables]
        # The report is for the client: it should not wait on a busy accelerator.
        with device("/cpu:0"):
            if not held:
                return constant([], dtypes.string)
            missing = math.logical_not(array.stack(held))
            names = [variable.op.name for variable in variables]
            return indexing.boolean_mask(constant(names), missing)
