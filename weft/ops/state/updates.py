"""Updates of one variable, whatever its kind: tf.assign, tf.scatter_add and the like.

`ref` is a reference tensor, a reference variable or a resource variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import raw
from weft.ops.math import math
from weft.ops.state import variable_nodes as state  # noqa: F401  (state registers the ops on variables)


def _ref(variable: Any) -> Tensor:
    """The reference tensor of a reference variable; reference tensors as they are."""
    return variable if isinstance(variable, Tensor) else variable._ref()


def is_variable_initialized(variable: Any) -> Tensor:
    """Whether `variable` holds a value, as a bool tensor."""
    if variable.dtype._is_ref_dtype:
        return raw.IsVariableInitialized(_ref(variable))
    return variable.is_initialized()


def apply_update(
    kind: str,
    ref: Any,
    inputs: tuple[Any, ...],
    use_locking: bool | None,
    name: str | None,
    **attrs: Any,
) -> Any:
    """Adds update op `kind` on a reference tensor, a reference variable or a resource variable."""
    if not ref.dtype._is_ref_dtype:
        return ref._updated(ref._update(kind, name, use_locking, *inputs))
    given = {key: value for key, value in attrs.items() if value is not None}
    if use_locking is not None:
        given["use_locking"] = use_locking
    return getattr(raw, kind)(_ref(ref), *inputs, name=name, **given)


def assign(
    ref: Any,
    value: Any,
    validate_shape: bool | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> Any:
    """Sets the variable `ref` to `value`, and gives the new value.

    Args:
        ref: a variable.
        value: the new value, of its type.
        validate_shape: whether the shape must stay.
        use_locking: lock the variable meanwhile.
        name: of the operation.

    Returns:
        A tensor that has the new value once the assignment is done.

    Raises:
        ValueError: the shapes differ though the shape must stay.

    Example:
        >>> v = tf.Variable([1, 2])
        >>> session.run(v.initializer)
        >>> session.run(tf.assign(v, [3, 4]))
        array([3, 4], dtype=int32)
    """
    if not ref.dtype._is_ref_dtype:
        return ref.assign(value, name=name)
    return apply_update("Assign", ref, (value,), use_locking, name, validate_shape=validate_shape)


def assign_add(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Adds `value` to the variable `ref`, and gives the new value.

    Args:
        ref: a variable.
        value: what to add, of its type and shape.
        use_locking: lock the variable meanwhile.
        name: of the operation.

    Returns:
        A tensor that has the new value once the addition is done.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> v = tf.Variable(1)
        >>> session.run(v.initializer)
        >>> int(session.run(tf.assign_add(v, 10)))
        11
    """
    if not ref.dtype._is_ref_dtype:
        return ref.assign_add(value)
    return apply_update("AssignAdd", ref, (value,), use_locking, name)


def assign_sub(
    ref: Any, value: Any, use_locking: bool | None = None, name: str | None = None
) -> Any:
    """Subtracts `value` from the variable `ref`, and gives the new value."""
    if not ref.dtype._is_ref_dtype:
        return ref.assign_sub(value)
    return apply_update("AssignSub", ref, (value,), use_locking, name)


def count_up_to(ref: Any, limit: int, name: str | None = None) -> Tensor:
    """The value of `ref` before adding one; OutOfRangeError once it has reached `limit`."""
    if ref.dtype._is_ref_dtype:
        return raw.CountUpTo(_ref(ref), limit=limit, name=name)
    return raw.ResourceCountUpTo(ref.handle, limit=limit, T=ref.dtype, name=name)


def _scatter(kind: str, doc: str, locking: bool = False) -> Callable[..., Any]:
    """The function for update `kind` of parts of a variable."""

    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = locking, name: str | None = None
    ) -> Any:
        return apply_update(kind, ref, (indices, updates), use_locking, name)

    scatter.__name__ = scatter.__qualname__ = re.sub(r"\B([A-Z])", r"_\1", kind).lower()
    scatter.__doc__ = doc
    return scatter


scatter_update = _scatter(
    "ScatterUpdate", "Sets the rows `indices` of the variable `ref` to `updates`.", locking=True
)
scatter_add = _scatter("ScatterAdd", "Adds `updates` to the rows `indices` of the variable `ref`.")
scatter_sub = _scatter("ScatterSub", "Subtracts `updates` from the rows `indices` of `ref`.")
scatter_mul = _scatter("ScatterMul", "Multiplies the rows `indices` of `ref` by `updates`.")
scatter_div = _scatter("ScatterDiv", "Divides the rows `indices` of `ref` by `updates`.")
scatter_max = _scatter("ScatterMax", "The larger of the rows `indices` of `ref` and `updates`.")
scatter_min = _scatter("ScatterMin", "The smaller of the rows `indices` of `ref` and `updates`.")
scatter_nd_update = _scatter(
    "ScatterNdUpdate",
    "Sets the slices that the vectors along the last axis of `indices` name to `updates`.",
    locking=True,
)
scatter_nd_add = _scatter("ScatterNdAdd", "Adds `updates` to the slices that `indices` name.")
scatter_nd_sub = _scatter("ScatterNdSub", "Subtracts `updates` from the slices `indices` name.")


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """`scatter_update` in each batch; all dimensions of `indices` but the last are batches."""
    from weft.ops.array import array

    with name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        if indices.dims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        rank, sizes = len(indices.dims), array.shape(indices)
        last = array.expand_dims(indices, -1)

        def coordinate(axis: int) -> Tensor:
            dims = [sizes[axis] if i == axis else 1 for i in range(rank + 1)]
            along = array.reshape(math.range(0, sizes[axis], 1), dims)
            return math.cast(along, last.dtype) * array.ones_like(last)

        places = [*map(coordinate, range(rank - 1)), last]
        return scatter_nd_update(ref, array.concat(places, -1), updates, use_locking)
