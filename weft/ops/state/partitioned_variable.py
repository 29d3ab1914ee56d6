"""PartitionedVariable: one large variable kept as several, each holding a slice of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weft.core.shapes import TensorShape
from weft.graph.convert import register_tensor_conversion_function
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.graph.op_def import raw


def _offset(part: Any) -> Any:
    return part._get_save_slice_info().var_offset


class PartitionedVariable:
    """A list of variables that, put together along one axis, make up a whole.

    Used as a tensor it is the concatenation; iterating gives the parts.
    """

    def __init__(
        self, name: str, shape: Any, dtype: Any, variable_list: Any, partitions: Any
    ) -> None:
        for what, given in (("variable_list", variable_list), ("partitions", partitions)):
            if not isinstance(given, list | tuple):
                raise TypeError(f"{what} is not a list or tuple: {given}")
        if min(partitions, default=1) < 1:
            raise ValueError(f"partition values must be positive: {partitions}")
        if not variable_list:
            raise ValueError("variable_list may not be empty")
        for variable in variable_list:
            _check_part(variable, variable_list, shape, partitions)
        self._name, self._shape, self._dtype, self._partitions = name, shape, dtype, partitions
        self._variable_list = sorted(variable_list, key=_offset)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variable_list)

    def __len__(self) -> int:
        axes = self._partition_axes()
        if len(axes) > 1:
            raise ValueError(f"Cannot get a length for {len(axes)} > 1 partition axes")
        return len(self._variable_list)

    def _partition_axes(self) -> list[int]:
        return [i for i, p in enumerate(self._partitions) if p > 1] or [0]

    def as_tensor(self) -> Tensor:
        """The whole variable, concatenated anew."""
        with control_dependencies(None):
            return self._concat()

    def _concat(self) -> Tensor:
        parts = self._variable_list
        whole = parts[0] if len(parts) == 1 else self._joined()
        with name_scope(None):
            return raw.Identity(whole, name=self._name)

    def _joined(self) -> Tensor:
        from weft.ops.array import array

        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot concatenate along more than one dimension: {axes}.  Multi-axis partition "
                "concat is not supported"
            )
        with name_scope(f"{self._name}/ConcatPartitions/"):
            return array.concat(self._variable_list, axes[0])

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> Any:
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        return self.get_shape()

    def get_shape(self) -> TensorShape:
        return self._shape

    def _get_variable_list(self) -> list[Any]:
        return self._variable_list

    def _get_partitions(self) -> Any:
        return self._partitions

    def _parts_of(self, value: Any) -> list[Any]:
        """`value` cut the way this variable is."""
        axes = self._partition_axes()
        if len(axes) > 1:
            raise NotImplementedError(
                f"Cannot do assign action along more than one dimension: {axes}.  Multi-axis "
                "partition assign action is not supported "
            )
        if isinstance(value, list):
            if len(value) != len(self._variable_list):
                raise ValueError(f"expected {len(self._variable_list)} parts, got {len(value)}")
            return value
        if isinstance(value, PartitionedVariable):
            return list(value)
        from weft.ops.array import array

        sizes = [variable.shape.as_list()[axes[0]] for variable in self._variable_list]
        return array.split(value, sizes, axis=axes[0])

    def _update(
        self, method: str, value: Any, use_locking: bool, name: Any, read_value: bool
    ) -> Any:
        parts = self._parts_of(value)
        return [
            getattr(variable, method)(
                part, use_locking=use_locking, name=name, read_value=read_value
            )
            for variable, part in zip(self._variable_list, parts, strict=True)
        ]

    def assign(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> list[Any]:
        """Assigns a whole value, a list of parts or another partitioned variable, part by part."""
        return self._update("assign", value, use_locking, name, read_value)

    def assign_add(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> list[Any]:
        return self._update("assign_add", value, use_locking, name, read_value)

    def assign_sub(
        self, value: Any, use_locking: bool = False, name: Any = None, read_value: bool = True
    ) -> list[Any]:
        return self._update("assign_sub", value, use_locking, name, read_value)


def _check_part(variable: Any, variable_list: Any, shape: Any, partitions: Any) -> None:
    info = variable._get_save_slice_info()
    if info is None:
        names = [v.name for v in variable_list]
        raise ValueError(f"All variables must have a save_slice_info available: {names}")
    if len(shape) != len(partitions):
        raise ValueError(f"len(shape) != len(partitions): {shape} vs. {partitions}")
    if info.full_shape != shape:
        raise ValueError(
            f"All variables' full shapes must match shape: {shape}; but full shapes were: "
            f"{[info.full_shape]}"
        )


def _to_tensor(
    value: PartitionedVariable, dtype: Any = None, name: str | None = None, as_ref: bool = False
) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(
            f"Incompatible type conversion requested to type '{dtype.name}' for variable of type "
            f"'{value.dtype.name}'"
        )
    if as_ref:
        raise NotImplementedError("PartitionedVariable doesn't support being used as a reference.")
    return value.as_tensor()


register_tensor_conversion_function(PartitionedVariable, _to_tensor)
