"""Slices of variables: `v[1:, 2]` reads like a slice of a tensor, and can be assigned to."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.ops.array.getitem import getitem
from weft.ops.kit.eager import EagerTensor
from weft.ops.kit.shared import invalid

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


class EagerVariableSlice(EagerTensor):
    """The same in eager execution, where nothing but the value is kept of the operation."""

    _extra: dict[str, Any] | None = None

    def assign(self, value: Any, name: str | None = None) -> Any:
        """Sets this part of the variable to `value`, and gives the whole variable's new value."""
        assert self._extra is not None
        variable, spec = self._extra["variable"], self._extra["slice_spec"]
        whole, new = variable.numpy(), convert_to_tensor(value, variable.dtype).numpy()  # type: ignore[attr-defined]
        try:
            whole[_as_numbers(spec)] = new
        except ValueError:
            raise invalid(
                f"Cannot broadcast input shape {s.show(np.shape(new))} into final shape"
                f" {s.show(self.dims)}"
            ) from None
        return variable.assign(whole, name=name)


def _as_numbers(spec: Any) -> Any:
    if isinstance(spec, tuple):
        return tuple(_as_numbers(each) for each in spec)
    if isinstance(spec, slice):
        return slice(*(_as_numbers(each) for each in (spec.start, spec.stop, spec.step)))
    return spec.numpy() if hasattr(spec, "numpy") else spec


def slice_variable(variable: Any, slice_spec: Any) -> Tensor:
    """`variable[slice_spec]`."""
    part = getitem(variable.value(), slice_spec)
    if part.op.type == "StridedSlice":
        # The op made a plain tensor; this one alone has more to offer.
        part.__class__ = EagerVariableSlice if isinstance(part, EagerTensor) else VariableSlice
        part.__dict__["_extra"] = {"variable": variable, "slice_spec": slice_spec}
    return part
