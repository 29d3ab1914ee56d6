"""State managers, which hold the variables and tables of columns.

Columns are descriptions; a state manager makes what they need and knows it by column and name.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from weft.graph.graph import GraphKeys
from weft.ops.state import variable_scope as vs


class StateManager:
    """The variables and tables of the columns of one model."""

    # How messages of the model spell the classes of columns.
    class_prefix = ""

    def __init__(self) -> None:
        self._variables: dict[Any, dict[str, Any]] = defaultdict(dict)
        self._resources: dict[Any, dict[str, Any]] = defaultdict(dict)

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """Makes a variable for `feature_column`, which has none of that name."""
        if name in self._variables[feature_column]:
            raise ValueError("Variable already exists.")
        made = self._make(trainable, name=name, shape=shape, dtype=dtype, initializer=initializer)
        self._variables[feature_column][name] = made
        return made

    def _make(self, trainable: bool, **settings: Any) -> Any:
        raise NotImplementedError("StateManager.create_variable")

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """A variable made earlier."""
        if name in self._variables[feature_column]:
            return self._variables[feature_column][name]
        raise ValueError("Variable does not exist.")

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps a table, say."""
        self._resources[feature_column][name] = resource

    def get_resource(self, feature_column: Any, name: str) -> Any:
        if name in self._resources[feature_column]:
            return self._resources[feature_column][name]
        raise ValueError("Resource does not exist.")


class LayerState(StateManager):
    """For a layer: variables are made before it is called, and are the layer's."""

    def __init__(self, layer: Any, trainable: bool) -> None:
        super().__init__()
        self._layer, self._trainable = layer, trainable

    def _make(self, trainable: bool, **settings: Any) -> Any:
        return self._layer.scoped_variable(self._trainable and trainable, **settings)


class ScopeState(StateManager):
    """For `input_layer` and `linear_model`: state is made when it is first asked for.

    Variables belong to the variable scope that is open then.
    """

    class_prefix = "_"

    def __init__(self, weight_collections: list[str] | None, trainable: bool) -> None:
        super().__init__()
        self._collections, self._trainable = weight_collections, trainable

    def _make(self, trainable: bool, **settings: Any) -> Any:
        # Whether these are resources is for the scope to say.
        trainable = self._trainable and trainable
        return vs.get_variable(trainable=trainable, collections=self._collections, **settings)

    def get_variable(self, feature_column: Any, name: str) -> Any:
        if name not in self._variables[feature_column]:
            feature_column.create_state(self)
        return super().get_variable(feature_column, name)

    def get_resource(self, feature_column: Any, name: str) -> Any:
        if name not in self._resources[feature_column]:
            feature_column.create_state(self)
        return super().get_resource(feature_column, name)


def weight_collections(given: Any) -> list[str]:
    """The collections for the variables of `input_layer` and `linear_model`."""
    given = list(given or [])
    for always in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if always not in given:
            given.append(always)
    return given
