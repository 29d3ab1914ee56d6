"""The type of tensors whose values are between two limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.dtypes import as_dtype
from weft.graph.type_spec import TensorSpec


class BoundedTensorSpec(TensorSpec):
    """The type of tensors whose values are between two limits."""

    def __init__(
        self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        for limit, value in {"minimum": minimum, "maximum": maximum}.items():
            if value is None:
                raise ValueError(f"{limit} can not be None.")
        kind = self.dtype.as_numpy_dtype
        self._minimum, self._maximum = np.array(minimum, kind), np.array(maximum, kind)
        for each in (self._minimum, self._maximum):
            each.setflags(write=False)

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> Any:
        """The same type; of a dtype's whole range if it had no limits."""
        dtype = as_dtype(spec.dtype)  # it may be a spec of arrays, with a dtype of NumPy's
        whole = {"minimum": dtype.min, "maximum": dtype.max}
        limits = {limit: getattr(spec, limit, value) for limit, value in whole.items()}
        return cls(spec.shape, dtype, name=name or spec.name, **limits)

    @property
    def minimum(self) -> Any:
        return self._minimum

    @property
    def maximum(self) -> Any:
        return self._maximum

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype, self._minimum, self._maximum, self._name

    def __repr__(self) -> str:
        limits = f"minimum={self.minimum!r}, maximum={self.maximum!r}"
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r},"
            f" {limits})"
        )

    def __eq__(self, other: Any) -> bool:
        return (
            super().__eq__(other)
            and np.allclose(self.minimum, other.minimum)
            and np.allclose(self.maximum, other.maximum)
        )

    def __hash__(self) -> int:
        return hash((tuple(self.shape.as_list()), self.dtype))
