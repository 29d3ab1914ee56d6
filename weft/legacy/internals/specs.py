"""Names of `tensorflow.python.framework.type_spec` and `tensor_spec` that are not public."""

from __future__ import annotations

import abc
from typing import Any

from weft.graph.bounded_spec import BoundedTensorSpec as BoundedTensorSpec
from weft.graph.type_spec import TypeSpec


class BatchableTypeSpec(TypeSpec):
    """The type of values that can be stacked: their tensors, stacked, are those of the stack."""

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> Any:
        """The type of so many values together."""

    @abc.abstractmethod
    def _unbatch(self) -> Any:
        """The type of one of the values."""
