"""The base of strategies with one replica: every value is the only one, and in its place."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from weft.core import nest
from weft.ops.array import array


class OneCopy:
    """Reducing, copying and updating where there is one replica."""

    def _place(self, colocate: Any) -> AbstractContextManager[Any]:
        """The scope that an update of what is at `colocate` is made in."""
        raise NotImplementedError("must be implemented in descendants")

    def _broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        return tensor

    def _reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        return value

    def _update(self, var: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool) -> Any:
        return self._update_non_slot(var, fn, (var, *args), kwargs, group)

    def _update_non_slot(
        self, colocate: Any, fn: Callable[..., Any], args: Any, kwargs: Any, group: bool
    ) -> Any:
        with self._place(colocate):
            result = fn(*args, **kwargs)
        return result if group else nest.map_structure(self._local_results, result)

    def read_var(self, v: Any) -> Any:
        return array.identity(v)

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        return (value,)

    def value_container(self, value: Any) -> Any:
        return value
