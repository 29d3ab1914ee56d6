"""Nodes that order and check: NoOp, group, tuple, Assert."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors, nest
from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    name_scope,
)
from weft.graph.op_def import op, raw
from weft.graph.slices import IndexedSlices
from weft.graph.traits import ASSERTS, FREE, HANDS_ON, NO_GRADIENT, Traits
from weft.ops.kit.eager import executing_eagerly
from weft.ops.kit.shared import c_escaped
from weft.ops.kit.value_checks import must_hold


@op("NoOp", shape=s.none, traits=FREE | HANDS_ON)
def no_op_(xp: Any) -> None:
    return None


@op("ControlTrigger", shape=s.none, traits=Traits(control_flow="trigger"))
def control_trigger(xp: Any) -> None:
    return None


def no_op(name: str | None = None) -> Operation:
    """Does nothing: a place to hang control dependencies on.

    Args:
        name: of the operation.

    Returns:
        An operation without outputs.

    Example:
        >>> session.run(tf.no_op()) is None
        True
    """
    return no_op_(name=name)


def group(*inputs: Any, **kwargs: Any) -> Any:
    """An operation that is done when all of `inputs` are.

    Args:
        *inputs: operations and tensors, also in lists.
        **kwargs: `name`, of the operation.

    Returns:
        An operation without outputs; None in eager execution, where all is done.

    Raises:
        TypeError: an input is neither an operation nor a tensor.
        ValueError: a keyword is unknown.

    Example:
        >>> a, b = tf.Variable(1), tf.Variable(2)
        >>> session.run(tf.group(a.initializer, b.initializer))
        >>> session.run([a, b])
        [np.int32(1), np.int32(2)]
    """
    if executing_eagerly():
        return None
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    with name_scope(name, "group_deps", list(nest.flatten(inputs))) as scope:
        by_device: dict[str, list[Operation]] = {}
        for item in nest.flatten(inputs, expand_composites=True):
            found = item if isinstance(item, Operation) else _operation_behind(item)
            if not isinstance(found, Operation):
                raise TypeError(
                    f"Expected tf.group() expected Tensor arguments not '{item}' with type"
                    f" '{type(item)}'"
                )
            by_device.setdefault(found.device, []).append(found)
        if len(by_device) <= 1:
            for where, ops in by_device.items():
                with device(where), control_dependencies(ops):
                    return no_op(name=scope)
            return no_op(name=scope)
        waits = []
        for where, ops in sorted(by_device.items()):
            with device(where), control_dependencies(ops):
                waits.append(no_op())
        with control_dependencies(waits):
            return no_op(name=scope)


def _operation_behind(item: Any) -> Any:
    """The operation of a tensor or variable; None if it is neither.

    Nothing is read for the sake of the variable that an assignment gave.
    """
    if isinstance(getattr(item, "handle", None), Tensor):
        return item.op
    element = getattr(item, "_as_graph_element", lambda: item)()
    return element if isinstance(element, Operation) else getattr(element, "op", None)


def with_dependencies(
    dependencies: Sequence[Any], output_tensor: Any, name: str | None = None
) -> Any:
    """`output_tensor`, available only after `dependencies` have run."""
    with name_scope(name, "control_dependency", [output_tensor]) as scope:
        with colocate_with(output_tensor), control_dependencies(dependencies):
            return _identity(output_tensor, scope)


def _identity(value: Any, name: str | None = None) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(
            raw.Identity(value.values, name=name), value.indices, value.dense_shape
        )
    return raw.Identity(convert_to_tensor(value), name=name)


def tuple_(
    tensors: Sequence[Any], name: str | None = None, control_inputs: Any = None
) -> list[Any]:
    """`tensors`, none of which is available before all of them are computed."""
    with name_scope(name, "tuple", tensors):
        tensors = [
            t if t is None or isinstance(t, Operation) or hasattr(t, "op") else convert_to_tensor(t)
            for t in tensors
        ]
        for item in control_inputs or ():
            if not isinstance(item, Operation | Tensor):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
        waited_for = [item for item in (*tensors, *(control_inputs or ())) if item is not None]
        gating = {item if isinstance(item, Operation) else item.op for item in waited_for}
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*sorted(gating, key=lambda operation: operation._id))
        return [_after(gate, item) for item in tensors]


def _after(gate: Operation, item: Any) -> Any:
    """`item`, a tensor, an operation or None, once `gate` has run."""
    if item is None:
        return None
    if not isinstance(item, Operation):
        return with_dependencies([gate], item)
    with control_dependencies([gate]):
        return group(item)


# ---- checks and reports -----------------------------------------------------------------------


def summarize(values: np.ndarray, limit: int) -> str:
    """The first `limit` elements as TensorFlow shows them in Assert, Print: [[1 2][3...]...]."""
    array = np.asarray(values)
    flat = array.ravel()
    count = flat.size if limit < 0 else min(limit, flat.size)
    more = "..." if count < flat.size else ""
    shown = list(map(_show, flat[:count].tolist()))
    return f"[{_rows(shown, array.shape) if array.ndim > 1 else ' '.join(shown)}{more}]"


def _rows(shown: list[str], shape: tuple[int, ...]) -> str:
    """Elements in brackets for each row that has any; what a row lacks is dots."""
    size = int(np.prod(shape[1:]))
    found = []
    for at in range(0, len(shown), max(size, 1)):
        part = shown[at : at + size]
        if len(shape) > 2:
            found.append(_rows(part, shape[1:]))
        else:
            found.append(" ".join(part) + ("..." if len(part) < size else ""))
    return "".join(f"[{each}]" for each in found)


def _show(value: Any) -> str:
    if isinstance(value, bytes):
        return c_escaped(value.decode("utf-8", "surrogateescape"))
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        whole = value.is_integer() and builtins.abs(value) < 1e16
        return f"{int(value)}" if whole else f"{value:.9g}"
    return str(value)


@op(
    "Assert",
    inputs="condition: bool, data: list(T)",
    attrs="T: list(type) >= 1, summarize: int = 3",
    shape=s.none,
    traits=ASSERTS | NO_GRADIENT,
)
def assert_op(xp: Any, condition: Any, data: list[Any], *, summarize: int) -> None:
    if not bool(condition):
        shown = " ".join(_summary(d, summarize) for d in data)
        raise errors.InvalidArgumentError(None, None, f"assertion failed: {shown}")


@assert_op.traced
def _(xp: Any, condition: Any, data: list[Any], *, summarize: int) -> None:
    if not must_hold(condition):
        raise NotImplementedError("an accelerator has no way to say that an assertion failed")


_summary = summarize


def _shown_now(tensor: Any, count: int | None) -> str:
    """The first values of a tensor that has them, 3 if nothing is said; all if `count` < 0."""
    flat = np.ravel(tensor.numpy()).tolist() if tensor.shape.ndims else [tensor.numpy()]
    first = flat if count is not None and count < 0 else flat[: 3 if count is None else count]
    texts = [str(value) for value in first]
    if len(texts) < len(flat) and tensor.shape.ndims:
        texts.append("...")
    return ", ".join(texts)


def Assert(
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Any:
    """Fails the step with `data` when `condition` is false.

    Data that may lie on an accelerator is looked at only then.

    Args:
        condition: a boolean scalar.
        data: tensors to show in the message.
        summarize: how many entries of each; None: 3.
        name: of the operation.

    Returns:
        An operation; make others depend on it by `tf.control_dependencies`.

    Raises:
        tf.errors.InvalidArgumentError: from the step: the condition is false.

    Example:
        >>> x = tf.constant(5)
        >>> with tf.control_dependencies([tf.Assert(x > 0, [x])]):
        ...     root = tf.sqrt(tf.to_float(x))
        >>> session.run(root)
        np.float32(2.236068)
    """
    given = {} if summarize is None else {"summarize": summarize}
    if executing_eagerly():
        if condition:
            return None
        shown = "\n".join(_shown_now(convert_to_tensor(each), summarize) for each in data)
        message = f"Expected '{condition!s}' to be true. Summarized data: {shown}"
        raise errors.InvalidArgumentError(None, None, message)
    if not isinstance(data, list | tuple):
        raise TypeError("values must be a sequence.")
    with name_scope(name, "Assert", [condition, data]):
        tensors = [convert_to_tensor(each) for each in data]
        if all(tensor.dtype in (dtypes.string, dtypes.int32) for tensor in tensors):
            return assert_op(condition, data, name="Assert", **given)
        condition = convert_to_tensor(condition, name="Condition")

        def fail() -> Any:
            return assert_op(condition, data, name="Assert", **given)

        from weft.ops.control.cond import cond

        guarded = cond(condition, no_op, fail, name="AssertGuard")
        return guarded if isinstance(guarded, Operation) else guarded.op
