"""Slices of variables: `v[1:, 2]` reads like a slice of a tensor, and can be assigned to."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import Tensor
from weft.ops.getitem import getitem

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


class VariableSlice(Tensor):
    """The value of a slice of a variable, which knows the variable it was cut from."""

    _extra: dict[str, Any] | None = None

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Sets this part of the variable to `value`, and gives the whole variable's new value."""
        assert self._extra is not None
        begin, end, strides = self.op.inputs[1:4]
        masks = {mask: self.op.attrs[mask] for mask in _MASKS}
        return self._extra["variable"]._strided_slice_assign(
            begin, end, strides, value, name or f"{self.op.name}/_assign", **masks
        )


def slice_variable(variable: Any, slice_spec: Any) -> Tensor:
    """`variable[slice_spec]`."""
    part = getitem(variable.value(), slice_spec)
    if part.op.type == "StridedSlice":
        # The op made a plain tensor; this one alone has more to offer.
        part.__class__ = VariableSlice
        part.__dict__["_extra"] = {"variable": variable}
    return part
