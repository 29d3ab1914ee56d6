"""`tfe.EagerVariableStore`: variables that `tf.get_variable` finds again, in eager execution."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from weft.graph.graph import get_default_graph
from weft.ops.state.get_variable import STORE_KEY
from weft.ops.state.resource_variable import ResourceVariable
from weft.ops.state.variable_store import VariableStore


class EagerVariableStore:
    """The variables made inside of `with store.as_default()`, by name."""

    def __init__(self, store: VariableStore | None = None) -> None:
        if store is not None and not store._store_eager_variables:
            raise ValueError("Cannot construct EagerVariableStore from a store that forgets.")
        self._store = store or VariableStore()
        self._store._store_eager_variables = True

    @contextlib.contextmanager
    def as_default(self) -> Iterator[None]:
        """`tf.get_variable` and functional layers look here, and leave here what they make."""
        kept = get_default_graph().get_collection_ref(STORE_KEY)
        before = list(kept)
        kept[:] = [self._store]
        try:
            yield
        finally:
            kept[:] = before

    def variables(self) -> list[Any]:
        return sorted(self._store._vars.values(), key=lambda v: v.name)

    def trainable_variables(self) -> list[Any]:
        return [v for v in self.variables() if v.trainable]

    def non_trainable_variables(self) -> list[Any]:
        return [v for v in self.variables() if not v.trainable]

    def copy(self) -> EagerVariableStore:
        """A store with variables of the same names and values."""
        made = VariableStore()
        made._store_eager_variables = True
        for key, variable in self._store._vars.items():
            made._vars[key] = ResourceVariable(
                variable.read_value(), name=variable.name.partition(":")[0],
                trainable=variable.trainable,
            )  # fmt: skip
        return EagerVariableStore(made)
