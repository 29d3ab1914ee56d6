"""Values of a dump that are no arrays."""

from __future__ import annotations

from typing import Any


class InconvertibleTensorProto:
    """A message that no array can be made of: a resource, or a variable without a value."""

    def __init__(self, tensor_proto: Any, initialized: bool = True) -> None:
        self._tensor_proto, self.initialized = tensor_proto, initialized

    def __str__(self) -> str:
        return (
            f"{'' if self.initialized else 'Uninitialized tensor:' + chr(10)}{self._tensor_proto}"
        )
