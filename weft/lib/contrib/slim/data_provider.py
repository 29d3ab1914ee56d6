"""Named tensors that come from some source of data."""

from __future__ import annotations

import abc
from collections.abc import Collection
from typing import Any


class DataProvider(abc.ABC):  # noqa: B024 - as in TensorFlow, a base class without abstract methods
    """Gives the tensors of items that are asked for by name."""

    def __init__(self, items_to_tensors: dict[str, Any], num_samples: int) -> None:
        self._items_to_tensors, self._num_samples = items_to_tensors, num_samples

    def get(self, items: Any) -> list[Any]:
        """The tensors of `items`, a list of names; ValueError for a name that is not there."""
        if not isinstance(items, list | tuple):
            raise ValueError("items must be a list or tuple")
        valid = self.list_items()
        unknown = [item for item in items if item not in valid]
        if unknown:
            raise ValueError(f"Item [{unknown[0]}] is invalid. Valid entries include: {valid}")
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Collection[str]:
        return self._items_to_tensors.keys()

    def num_samples(self) -> int:
        return self._num_samples
