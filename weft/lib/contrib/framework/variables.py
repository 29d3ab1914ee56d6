"""Model variables, and finding variables by scope, suffix or pattern."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from weft.core import dtypes
from weft.core.device_name import DeviceSpec
from weft.core.signatures import with_parameters_of
from weft.graph.graph import (
    GraphKeys,
    add_to_collection,
    control_dependencies,
    get_collection,
    name_scope,
)
from weft.graph.graph import (
    device as device_scope,
)
from weft.lib.contrib.framework.arg_scope import add_arg_scope
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.control.check import Assert
from weft.ops.math import math
from weft.ops.state import global_step as training_util
from weft.ops.state import variable_scope as vs
from weft.ops.state.updates import assign, is_variable_initialized
from weft.ops.state.variables import Variable, VariableAggregation, VariableSynchronization

create_global_step = training_util.create_global_step
get_global_step = training_util.get_global_step
get_or_create_global_step = training_util.get_or_create_global_step
assert_global_step = training_util.assert_global_step


def assert_or_get_global_step(graph: Any = None, global_step_tensor: Any = None) -> Any:
    """The given global step, checked, or that of the graph."""
    if global_step_tensor is None:
        return get_global_step(graph)
    assert_global_step(global_step_tensor)
    return global_step_tensor


# ---- making ----


def _untrained(
    collection: str, initial_value: Any, validate_shape: bool, name: str | None, resource: Any
) -> Any:
    return Variable(
        initial_value,
        trainable=False,
        collections=[collection],
        validate_shape=validate_shape,
        use_resource=resource,
        name=name,
    )


def local_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A variable of this process only, not saved."""
    return _untrained(GraphKeys.LOCAL_VARIABLES, initial_value, validate_shape, name, use_resource)


def global_variable(
    initial_value: Any,
    validate_shape: bool = True,
    name: str | None = None,
    use_resource: bool | None = None,
) -> Any:
    """A variable that is shared and saved but not trained."""
    return _untrained(GraphKeys.GLOBAL_VARIABLES, initial_value, validate_shape, name, use_resource)


@add_arg_scope
def variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    use_resource: bool | None = None,
    synchronization: Any = VariableSynchronization.AUTO,
    aggregation: Any = VariableAggregation.NONE,
) -> Any:
    """`get_variable` on a device of choice, which a scope may set for all."""
    getter: Callable[..., Any] = vs.get_variable
    if custom_getter is not None:
        getter = functools.partial(custom_getter, reuse=vs.get_variable_scope().reuse)
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with device_scope(device or ""):
        return getter(
            name,
            shape=shape,
            dtype=dtype,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
            collections=list(dict.fromkeys(keys)),
            caching_device=caching_device,
            partitioner=partitioner,
            use_resource=use_resource,
            synchronization=synchronization,
            aggregation=aggregation,
        )


@add_arg_scope
@with_parameters_of(variable, dtype=dtypes.float32)
def model_variable(**wanted: Any) -> Any:
    """A variable that belongs to the model: also in `MODEL_VARIABLES`."""
    keys = [*(wanted["collections"] or []), GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
    return variable(**{**wanted, "collections": keys})


def add_model_variable(var: Any) -> None:
    """Adds a variable to those of the model, if it is not among them."""
    if not any(var is known for known in get_collection(GraphKeys.MODEL_VARIABLES)):
        add_to_collection(GraphKeys.MODEL_VARIABLES, var)


class VariableDeviceChooser:
    """A device function that puts variables on the tasks of a job in turn."""

    def __init__(
        self,
        num_tasks: int = 0,
        job_name: str = "ps",
        device_type: str = "CPU",
        device_index: int = 0,
        replica: int | None = None,
    ) -> None:
        self._spec = {"device_type": device_type, "device_index": device_index, "replica": replica}
        self._job_name, self._num_tasks, self._next_task_id = job_name, num_tasks, 0

    def __call__(self, op: Any) -> str:
        if self._num_tasks <= 0:
            return DeviceSpec(**self._spec).to_string()
        task = self._next_task_id
        self._next_task_id = (task + 1) % self._num_tasks
        return DeviceSpec(job=self._job_name, task=task, **self._spec).to_string()


# ---- finding ----


def get_variables(
    scope: Any = None, suffix: str | None = None, collection: str = GraphKeys.GLOBAL_VARIABLES
) -> list[Any]:
    """The variables of a collection whose names start with `scope` and end with `suffix`."""
    pattern = scope.name if isinstance(scope, vs.VariableScope) else scope
    if suffix is not None:
        ending = suffix if ":" in suffix else f"{suffix}:"
        pattern = f"{pattern or ''}.*{ending}"
    return get_collection(collection, pattern)


def get_model_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables of the model in a scope, those with a suffix if one is given."""
    return get_variables(scope, suffix, GraphKeys.MODEL_VARIABLES)


def get_local_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The local variables of a scope, those with a suffix if one is given."""
    return get_variables(scope, suffix, GraphKeys.LOCAL_VARIABLES)


def get_trainable_variables(scope: Any = None, suffix: str | None = None) -> list[Any]:
    """The variables of a scope that optimizers update, those with a suffix if one is given."""
    return get_variables(scope, suffix, GraphKeys.TRAINABLE_VARIABLES)


def get_variables_by_suffix(suffix: str, scope: Any = None) -> list[Any]:
    """The variables whose names end in `suffix`, in a scope if one is given."""
    return get_variables(scope=scope, suffix=suffix)


def get_variables_by_name(given_name: str, scope: Any = None) -> list[Any]:
    """Variables whose last name is `given_name`, in whatever scope below `scope`."""
    return get_variables(scope=scope, suffix=f"/{given_name}:|^{given_name}:")


def get_unique_variable(var_op_name: str) -> Any:
    """The only variable of this name; ValueError if there is none, or several."""
    candidates = get_variables(scope=var_op_name)
    if not candidates:
        raise ValueError(f"Couldn't find variable {var_op_name}")
    for candidate in candidates:
        if candidate.op.name == var_op_name:
            return candidate
    raise ValueError(f"Variable {var_op_name} does not uniquely identify a variable")


def get_variables_to_restore(include: Any = None, exclude: Any = None) -> list[Any]:
    """The variables in the scopes `include` (all, when None) but not in those of `exclude`."""
    for what, scopes in (("include", include), ("exclude", exclude)):
        if scopes is not None and not isinstance(scopes, (list, tuple)):
            raise TypeError(f"{what} is provided but is not a list or a tuple.")
    included = (
        get_variables()
        if include is None
        else [v for scope in include for v in get_variables(scope)]
    )
    excluded = {id(v) for scope in exclude or () for v in get_variables(scope)}
    return [v for v in included if id(v) not in excluded]


def filter_variables(
    var_list: Any,
    include_patterns: Any = None,
    exclude_patterns: Any = None,
    reg_search: bool = True,
) -> list[Any]:
    """The variables of `var_list` whose names match an included pattern and no excluded one."""
    matches = re.search if reg_search else re.match

    def any_of(patterns: Any, var: Any) -> bool:
        return any(matches(pattern, var.name) for pattern in patterns)

    return [
        var
        for var in var_list
        if (include_patterns is None or any_of(include_patterns, var))
        and not (exclude_patterns is not None and any_of(exclude_patterns, var))
    ]


def get_variable_full_name(var: Any) -> str:
    """The name in a checkpoint: of the whole, when `var` is a part of a variable."""
    info = getattr(var, "_save_slice_info", None)
    return info.full_name if info else var.op.name


# ---- assigning ----


def assign_from_values(var_names_to_values: dict[str, Any]) -> tuple[Any, dict[Any, Any]]:
    """An op that sets the named variables, and what to feed it."""
    feeds, assigned = {}, []
    for name, value in var_names_to_values.items():
        found = get_collection(GraphKeys.GLOBAL_VARIABLES, name)
        if not found:
            raise ValueError(f"Variable {name} wasn't found")
        exact = [v for v in found if v.op.name == name] if len(found) > 1 else found
        if not exact:
            raise ValueError(f"Variable {name} doesn't uniquely identify a variable")
        var = exact[0]
        fed = placeholder_for(var)
        assigned.append(var.assign(fed))
        feeds[fed] = value.reshape(var.shape.as_list())
    return control.group(*assigned), feeds


def placeholder_for(var: Any) -> Any:
    """The placeholder by which a new value of `var` is fed."""
    return array.placeholder(
        dtype=var.dtype.base_dtype, shape=var.shape, name="placeholder/" + var.op.name
    )


def assign_from_values_fn(var_names_to_values: dict[str, Any]) -> Callable[[Any], Any]:
    """A function of a session that sets the named variables."""
    assign_op, feeds = assign_from_values(var_names_to_values)
    return lambda session: session.run(assign_op, feeds)


def zero_initializer(ref: Any, use_locking: bool = True, name: str = "zero_initializer") -> Any:
    """Fills a variable that was never initialized with zeros; an error if it was.

    Args:
        ref: the variable.
        use_locking: not used.
        name: of the operation.

    Returns:
        The variable's reference, or its handle, once it is filled.
    """
    with name_scope(name, values=[ref]) as scope:
        unused = math.logical_not(is_variable_initialized(ref))
        with control_dependencies([Assert(unused, ["input is already initialized"])]):
            zeros = array.zeros(ref.shape, ref.dtype.base_dtype)
            filled = assign(ref, zeros)
        with control_dependencies([filled]):
            handle = getattr(ref, "handle", None)
            return filled if handle is None else array.identity(handle, name=scope)
