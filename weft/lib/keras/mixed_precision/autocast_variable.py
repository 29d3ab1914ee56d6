"""Variables that are read in the type in which the layer being called computes."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import Tensor
from weft.lib.keras.engine.call_context import call_context
from weft.ops.math import casts
from weft.ops.state.resource_variable import BaseResourceVariable, is_resource_variable


class AutoCastVariable(BaseResourceVariable):
    """The variable it is made of, in all but the type in which layers read it."""

    __slots__ = ("_variable",)
    _variable: Any

    def __init__(self, variable: Any) -> None:
        if not is_resource_variable(variable):
            raise ValueError(f"variable must be of type tf.ResourceVariable, but got: {variable}")
        if not variable.dtype.is_floating:
            raise ValueError(
                f"variable must be a floating point variable but has type: {variable.dtype.name}"
            )
        self.__dict__ = variable.__dict__
        object.__setattr__(self, "_variable", variable)

    @property
    def true_dtype(self) -> dtypes.DType:
        """The type in which the value is kept."""
        return self._variable.dtype

    @property
    def dtype(self) -> dtypes.DType:
        """The type in which it is read now."""
        context = call_context()
        wanted = getattr(context.layer, "_compute_dtype", None) if context.in_call else None
        return dtypes.as_dtype(wanted) if wanted else self.true_dtype

    def value(self) -> Tensor:
        return casts.cast(self._variable.value(), self.dtype)

    def read_value(self) -> Tensor:
        return casts.cast(self._variable.read_value(), self.dtype)

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        return casts.cast(self._variable.sparse_read(indices, name=name), self.dtype)

    def _lazy_read(self, op: Any) -> Any:
        return self._variable._lazy_read(op)

    def __repr__(self) -> str:
        return (
            f"<AutoCastVariable '{self.name}' shape={self.shape} dtype={self.dtype.name} "
            f"true_dtype={self.true_dtype.name}>"
        )
