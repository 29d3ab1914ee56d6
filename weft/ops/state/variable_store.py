"""The variables that `get_variable` has made in a graph, by full name: making and sharing."""

from __future__ import annotations

import enum
import functools
import inspect
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.core import dtypes
from weft.core.shapes import TensorShape, as_shape
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Graph,
    GraphKeys,
    Tensor,
    colocate_with,
    get_default_graph,
    name_scope,
)
from weft.ops.kit.eager import executing_eagerly
from weft.ops.state import initializers
from weft.ops.state.partitioned_variable import PartitionedVariable
from weft.ops.state.resource_variable import ResourceVariable
from weft.ops.state.variables import (
    SaveSliceInfo,
    Variable,
    VariableAggregation,
    VariableSynchronization,
    validate_distribution,
)


class ReuseMode(enum.Enum):
    """Ways to share variables between scopes of one name.

    Attributes:
        AUTO_REUSE: get a variable if it exists, else create it.

    Example:
        >>> with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
        ...     first = tf.get_variable("w", [2])
        ...     second = tf.get_variable("w", [2])
        >>> first is second
        True
    """

    AUTO_REUSE = 1


AUTO_REUSE = ReuseMode.AUTO_REUSE


@dataclass(frozen=True)
class Request:
    """The arguments of a call of `get_variable`, with the defaults of the scopes filled in."""

    name: str
    shape: Any = None
    dtype: Any = dtypes.float32
    initializer: Any = None
    regularizer: Any = None
    reuse: Any = None
    trainable: bool | None = None
    collections: Any = None
    caching_device: Any = None
    partitioner: Any = None
    validate_shape: bool = True
    use_resource: bool | None = None
    constraint: Any = None
    synchronization: Any = VariableSynchronization.AUTO
    aggregation: Any = VariableAggregation.NONE


class PartitionInfo:
    """The place of a part in a partitioned variable, for initializers that need the whole."""

    def __init__(self, full_shape: Sequence[int], var_offset: Sequence[int]) -> None:
        for what, value in (("full_shape", full_shape), ("var_offset", var_offset)):
            if not isinstance(value, Sequence) or isinstance(value, str):
                raise TypeError(
                    f"`{what}` must be a sequence (like tuple or list) instead of "
                    f"{type(value).__name__}"
                )
        if len(var_offset) != len(full_shape):
            raise ValueError(
                f"Expected equal length, but `var_offset` is of length {len(var_offset)} while "
                f"full_shape is of length {len(full_shape)}."
            )
        for offset, size in zip(var_offset, full_shape, strict=True):
            if offset < 0 or offset >= size:
                raise ValueError(
                    f"Expected 0 <= offset < shape but found offset={offset}, shape={size} for "
                    f"var_offset={var_offset}, full_shape={full_shape}"
                )
        self.full_shape, self.var_offset = full_shape, var_offset

    def single_offset(self, shape: Sequence[int]) -> int:
        """The offset along the one axis in which a part of this `shape` is cut."""
        axis = self.single_slice_dim(shape)
        return 0 if axis is None else self.var_offset[axis]

    def single_slice_dim(self, shape: Sequence[int]) -> int | None:
        """The one axis in which a part of this `shape` is cut; None if it is the whole."""
        if not isinstance(shape, Sequence) or isinstance(shape, str):
            raise TypeError(
                f"`shape` must be a sequence (like tuple or list) instead of {type(shape).__name__}"
            )
        if len(shape) != len(self.full_shape):
            raise ValueError(
                f"Expected equal length, but received shape={shape} of length {len(shape)} while "
                f"self.full_shape={self.full_shape} is of length {len(self.full_shape)}."
            )
        for i, size in enumerate(shape):
            if self.var_offset[i] + size > self.full_shape[i]:
                raise ValueError(
                    f"With self.var_offset={self.var_offset}, a partition of shape={shape} would "
                    f"exceed self.full_shape={self.full_shape} in dimension {i}."
                )
        cut = [i for i, size in enumerate(shape) if size != self.full_shape[i]]
        if len(cut) > 1:
            raise ValueError(
                f"Cannot use single_slice_dim() with shape={shape} and self.full_shape="
                f"{self.full_shape} since slice dim could be either dimension {cut[1]} or {cut[0]}."
            )
        return cut[0] if cut else None


class VariableStore:
    """The named variables of one graph."""

    def __init__(self) -> None:
        self._vars: dict[str, Variable] = {}
        self._partitioned_vars: dict[str, PartitionedVariable] = {}
        # Whether variables that are made eagerly can be had again by name.
        self._store_eager_variables = False

    def _forgets(self) -> bool:
        return executing_eagerly() and not self._store_eager_variables

    def get_variable(self, name: str, custom_getter: Any = None, **wanted: Any) -> Any:
        """The variable called `name`, made if it may be. Arguments as in `tf.get_variable`."""
        if custom_getter is not None and not callable(custom_getter):
            raise ValueError(f"Passed a custom_getter which is not callable: {custom_getter}")
        request = Request(name, **wanted)
        dtype = getattr(request.dtype, "base_dtype", request.dtype)
        synchronization, aggregation, trainable = validate_distribution(
            request.synchronization, request.aggregation, request.trainable, name
        )
        request = replace(
            request,
            dtype=dtype,
            synchronization=synchronization,
            aggregation=aggregation,
            trainable=trainable,
        )
        if custom_getter is None:
            return self._get(request)
        given = {field: getattr(request, field) for field in Request.__dataclass_fields__}
        if not _accepts(custom_getter, "constraint"):
            del given["constraint"]
        return custom_getter(getter=self._true_getter, **given)

    def _true_getter(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """The getter that custom getters call in the end."""
        return self._get(Request(name, *args, **kwargs))

    def _get(self, request: Request) -> Any:
        name = request.name
        is_scalar = isinstance(request.shape, Sequence) and not request.shape
        if request.partitioner is not None and not is_scalar:
            if not callable(request.partitioner):
                raise ValueError(
                    f"Partitioner must be callable, but received: {request.partitioner}"
                )
            with name_scope(None):
                return self.get_partitioned(request)
        request = replace(request, partitioner=None)
        if request.reuse is True and name in self._partitioned_vars:
            return self.get_partitioned(request)
        if f"{name}/part_0" in self._vars:
            raise ValueError(
                "No partitioner was provided, but a partitioned version of the variable was found: "
                f"{name}/part_0. Perhaps a variable of the same name was already created with "
                "partitioning?"
            )
        return self._get_single(request)

    # ---- one variable ----

    def _get_single(
        self, request: Request, partition_info: PartitionInfo | None = None
    ) -> Variable:
        name, initializer = request.name, request.initializer
        if request.shape is not None and initializer is not None and not callable(initializer):
            raise ValueError("If initializer is a constant, do not specify shape.")
        if executing_eagerly():
            request = replace(request, reuse=AUTO_REUSE if self._store_eager_variables else False)
        dtype, shape = dtypes.as_dtype(request.dtype), as_shape(request.shape)
        if name in self._vars:
            return self._share(request, shape, dtype)
        if request.reuse is True:
            raise ValueError(
                f"Variable {name} does not exist, or was not created with tf.get_variable(). Did "
                "you mean to set reuse=tf.AUTO_REUSE in VarScope?"
            )
        if initializer is None:
            initializer = _default_initializer(name, dtype)
        initial_value, variable_dtype = _initial_value(initializer, shape, dtype, partition_info)
        use_resource = request.use_resource
        if use_resource is None:
            use_resource = resource_variables_enabled()
        variable = Variable(
            initial_value=initial_value,
            name=name,
            trainable=request.trainable,
            collections=request.collections,
            caching_device=request.caching_device,
            dtype=variable_dtype,
            validate_shape=request.validate_shape,
            constraint=request.constraint,
            use_resource=use_resource,
            synchronization=request.synchronization,
            aggregation=request.aggregation,
        )
        if not self._forgets():
            self._vars[name] = variable
        if executing_eagerly() and self._store_eager_variables:
            _collect(variable, request)
        if request.regularizer:
            _regularize(variable, name, request.regularizer)
        return variable

    def _share(self, request: Request, shape: TensorShape, dtype: dtypes.DType) -> Variable:
        name, found = request.name, self._vars[request.name]
        if request.reuse is False:
            message = (
                f"Variable {name} already exists, disallowed. Did you mean to set reuse=True or "
                "reuse=tf.AUTO_REUSE in VarScope?"
            )
            if isinstance(found, ResourceVariable):
                raise ValueError(message)
            where = "".join(traceback.format_list(found.op.traceback[::-1][:5]))
            raise ValueError(f"{message} Originally defined at:\n\n{where}")
        if not shape.is_compatible_with(found.shape):
            raise ValueError(
                f"Trying to share variable {name}, but specified shape {shape} and found shape "
                f"{found.shape}."
            )
        if not dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"Trying to share variable {name}, but specified dtype {dtype.name} and found "
                f"dtype {found.dtype.name}."
            )
        return found

    # ---- partitioned variables ----

    def get_partitioned(self, request: Request) -> PartitionedVariable:
        name, initializer = request.name, request.initializer
        if name in self._vars:
            raise ValueError(
                "A partitioner was provided, but an unpartitioned version of the variable was "
                f"found: {name}.  Perhaps a variable of the same name was already created without "
                "partitioning?"
            )
        shape = as_shape(request.shape)
        if isinstance(initializer, Tensor):
            shape = shape.merge_with(initializer.shape)
        partitions = None
        if not request.reuse or request.partitioner:
            partitions = _call_partitioner(request.partitioner, shape, request.dtype)
        if name in self._partitioned_vars:
            return self._share_partitioned(request, shape, partitions)
        if request.reuse is True:
            raise ValueError(
                f"PartitionedVariable {name} does not exist, or was not created with "
                "tf.get_variable(). Did you mean to set reuse=False or reuse=tf.AUTO_REUSE in "
                "VarScope?"
            )
        assert partitions is not None
        axis, count = _slice_axis(partitions)
        self._check_parts(name, count)
        parts = []
        for i, (offset, part_shape) in enumerate(_iter_slices(_dims(shape), count, axis)):
            parts.append(self._get_part(request, i, shape, offset, part_shape))
        whole = PartitionedVariable(
            name=name, shape=shape, dtype=request.dtype, variable_list=parts, partitions=partitions
        )
        self._partitioned_vars[name] = whole
        return whole

    def _get_part(
        self, request: Request, i: int, shape: TensorShape, offset: list[int], part_shape: list[int]
    ) -> Variable:
        full_shape, name = _dims(shape), f"{request.name}/part_{i}"
        initializer, dtype = request.initializer, request.dtype
        wanted: list[int] | None = part_shape
        with name_scope(name + "/PartitionedInitializer"):
            if initializer is None:
                initializer = _default_initializer(request.name, dtype)
            elif not callable(initializer):
                from weft.ops.math import indexing

                if not isinstance(initializer, Tensor):
                    initializer = convert_to_tensor(initializer, dtype=dtype)
                initializer = indexing.slice(initializer, offset, part_shape)
                dtype, wanted = initializer.dtype.base_dtype, None
        with name_scope(None):
            part = self._get_single(
                replace(
                    request,
                    name=name,
                    shape=wanted,
                    dtype=dtype,
                    initializer=initializer,
                    partitioner=None,
                ),
                PartitionInfo(full_shape, offset),
            )
        part._set_save_slice_info(SaveSliceInfo(request.name, full_shape, offset, part_shape))
        return part

    def _share_partitioned(
        self, request: Request, shape: TensorShape, partitions: Any
    ) -> PartitionedVariable:
        name, found = request.name, self._partitioned_vars[request.name]
        if request.reuse is False:
            raise ValueError(
                f"Partitioned variable with name {name} already exists. Did you mean to set "
                "reuse=True or reuse=tf.AUTO_REUSE in VarScope?"
            )
        reusing = f"Trying to reuse partitioned variable {name}, but specified"
        if not shape.is_compatible_with(found.shape):
            raise ValueError(f"{reusing} shape {shape} and found shape {found.shape}.")
        if not request.dtype.is_compatible_with(found.dtype):
            raise ValueError(
                f"{reusing} dtype {request.dtype.name} and found dtype {found.dtype.name}."
            )
        if partitions is not None and found._get_partitions() != partitions:
            raise ValueError(
                f"{reusing} partitions {partitions} and found partitions {found._get_partitions()}."
            )
        return found

    def _check_parts(self, name: str, count: int) -> None:
        """Parts made earlier under these names must be as many as are asked for now."""
        if f"{name}/part_0" not in self._vars:
            return
        start = (
            "Partitioner returned a different partitioning than what was already found.  "
            f"Partitioner returned {count} shards, and shard {name}/part_0 was found, but"
        )
        if f"{name}/part_{count - 1}" not in self._vars:
            raise ValueError(f"{start} {name}/part_{count - 1} was not.")
        if f"{name}/part_{count}" in self._vars:
            raise ValueError(f"{start} so was the extra shard {name}/part_{count}.")


def _collect(variable: Variable, request: Request) -> None:
    """Puts an eager variable into collections: those of a store are kept, and can be listed."""
    joined = list(request.collections or [GraphKeys.GLOBAL_VARIABLES])
    if request.trainable:
        joined.append(GraphKeys.TRAINABLE_VARIABLES)
    graph = get_default_graph()
    for name in dict.fromkeys(joined):
        if not any(each is variable for each in graph.get_collection(name)):
            Graph.add_to_collection(graph, name, variable)


# ---- initial values ---------------------------------------------------------------------------


def _initial_value(
    initializer: Any, shape: TensorShape, dtype: dtypes.DType, partition_info: PartitionInfo | None
) -> tuple[Any, dtypes.DType | None]:
    """Arguments of `tf.Variable`: (initial value or function, dtype or None to take its own)."""
    if not callable(initializer):
        return initializer, None
    if inspect.isclass(initializer):
        initializer = initializer()
    if shape.is_fully_defined():
        dims, part = shape.as_list(), _part_argument(initializer, partition_info)
        return lambda: initializer(dims, dtype=dtype, **part), dtype.base_dtype
    if _needs_no_arguments(initializer):
        return initializer, None
    raise ValueError(
        "The initializer passed is not valid. It should be a callable with no arguments and the "
        "shape should not be provided or an instance of `tf.keras.initializers.*' and `shape` "
        "should be fully defined."
    )


def _part_argument(initializer: Any, partition_info: PartitionInfo | None) -> dict[str, Any]:
    """The part of a variable as an argument, for initializers that ask for it.

    Functions of (shape, dtype) alone start variables that have no parts: later releases take them.
    """
    if partition_info is None and not _asks_for_part(initializer):
        return {}
    return {"partition_info": partition_info}


def _asks_for_part(initializer: Any) -> bool:
    if isinstance(initializer, initializers.Initializer):
        kind: Any = type(initializer)
        return _call_asks_for_part(kind)
    return "partition_info" in inspect.signature(initializer).parameters


@functools.lru_cache(64)
def _call_asks_for_part(kind: Any) -> bool:
    return "partition_info" in inspect.signature(kind.__call__).parameters


def _needs_no_arguments(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return all(p.default is not p.empty for p in positional)


def _default_initializer(name: str, dtype: dtypes.DType) -> Any:
    if dtype.is_floating:
        return initializers.GlorotUniform()
    if dtype.is_integer or dtype.is_bool or dtype == dtypes.string:
        return initializers.Zeros()
    raise ValueError(f"An initializer for variable {name} of {dtype.base_dtype} is required")


def _regularize(variable: Variable, name: str, regularizer: Callable[..., Any]) -> None:
    with colocate_with(variable.op), name_scope(name + "/Regularizer/"):
        loss = regularizer(variable)
    if loss is not None:
        # Eager execution keeps no collections by itself; this one was asked for.
        Graph.add_to_collection(get_default_graph(), GraphKeys.REGULARIZATION_LOSSES, loss)


def _accepts(function: Callable[..., Any], keyword: str) -> bool:
    """Whether `function` can be called with this keyword argument."""
    parameters = inspect.signature(function).parameters
    return keyword in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


# ---- partitioning -----------------------------------------------------------------------------


def _call_partitioner(partitioner: Any, shape: TensorShape, dtype: Any) -> Any:
    """How many parts along each axis; at most one axis may have several."""
    _demand(
        shape.is_fully_defined(),
        f"Shape of a new partitioned variable must be fully defined, but instead was {shape}.",
    )
    _demand(shape.ndims, f"A partitioned Variable must have rank at least 1, shape: {shape}")
    parts = partitioner(shape=shape, dtype=dtype)
    _demand(isinstance(parts, Sequence), f"Partitioner must return a sequence, but saw: {parts}")
    _demand(
        len(parts) == shape.ndims,
        "Partitioner returned a partition list that does not match the Variable's rank: "
        f"{parts} vs. {shape}",
    )
    _demand(min(parts) >= 1, f"Partitioner returned zero partitions for some axes: {parts}")
    _demand(
        sum(count > 1 for count in parts) <= 1,
        f"Can only slice a variable along one dimension: shape: {shape}, partitioning: {parts}",
    )
    return parts


def _demand(holds: Any, message: str) -> None:
    if not holds:
        raise ValueError(message)


def _dims(shape: TensorShape) -> list[int]:
    """The dimensions of a fully known shape."""
    return [int(d) for d in shape.as_list() if d is not None]


def _slice_axis(slicing: Sequence[int]) -> tuple[int, int]:
    """(axis that is cut, number of parts)"""
    return next(((axis, count) for axis, count in enumerate(slicing) if count > 1), (0, 1))


def _iter_slices(
    full_shape: list[int], count: int, axis: int
) -> Iterator[tuple[list[int], list[int]]]:
    """(offset, shape) of each part; the first ones get the rows left over."""
    least, longer = divmod(full_shape[axis], count)
    offset = [0] * len(full_shape)
    for i in range(count):
        shape = list(full_shape)
        shape[axis] = least + (i < longer)
        yield list(offset), shape
        offset[axis] += shape[axis]


# ---- the default kind of variable ---------------------------------------------------------------

_use_resource_by_default = False


def enable_resource_variables() -> None:
    """`tf.Variable` and `tf.get_variable` make resource variables unless told otherwise."""
    global _use_resource_by_default
    _use_resource_by_default = True


def disable_resource_variables() -> None:
    """`tf.Variable` and `tf.get_variable` make reference variables unless told otherwise."""
    global _use_resource_by_default
    _use_resource_by_default = False


def resource_variables_enabled() -> bool:
    """Whether new variables are resource variables unless they say otherwise."""
    return _use_resource_by_default
