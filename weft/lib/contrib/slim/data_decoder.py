"""Decoders of encoded records into tensors."""

from __future__ import annotations

import abc
from typing import Any


class DataDecoder(abc.ABC):
    """Decodes records into named items."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Any) -> list[Any]:
        """The tensors of `items`, in their order, of one record."""

    @abc.abstractmethod
    def list_items(self) -> list[str]:
        """The names of all items that a record has."""
