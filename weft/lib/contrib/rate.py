"""tf.contrib.rate: how fast a value changes against another, since they were last seen."""

from __future__ import annotations

import re
from typing import Any

from weft.core import dtypes
from weft.graph.graph import control_dependencies
from weft.graph.keys import GraphKeys
from weft.graph.tensor import Tensor
from weft.ops.array import array
from weft.ops.math import casts, math
from weft.ops.state import updates
from weft.ops.state.resource_variable import ResourceVariable
from weft.ops.state.variable_scope import variable_scope

_OTHERS = re.compile("[^A-Za-z0-9.]")


class Rate:
    """The change of `values` for each 1 that the denominator changes, since the last call."""

    def __init__(self, name: str | None = None) -> None:
        name = name or type(self).__name__
        plain = _OTHERS.sub("_", name)
        with variable_scope(plain, use_resource=True, reuse=False) as self._scope:
            place = self._scope.name
        self._name = name + place[place.rfind(plain) + len(plain) :]
        self._built = False
        self._vars: list[Any] = []

    @property
    def name(self) -> str:
        """The name of its scope, as it was given."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """Variables that are listed: none."""
        return self._vars

    def build(self, values: Any, denominator: Any) -> None:
        """Makes the variables, for values of some shapes."""
        for name, like in (
            ("numer", values),
            ("denom", denominator),
            ("prev_values", values),
            ("prev_denominator", denominator),
        ):
            setattr(self, name, self._add_variable(name, like.get_shape(), dtypes.float64))
        self._built = True

    def _add_variable(self, name: str, shape: Any = None, dtype: Any = None) -> Any:
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        return ResourceVariable(
            lambda: array.zeros(shape, dtype),
            trainable=False,
            name=name,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )

    def __call__(self, values: Any, denominator: Any) -> Tensor:
        if not self._built:
            with variable_scope(self._scope):
                self.build(values, denominator)
        return self.call(values, denominator)

    def call(self, values: Any, denominator: Any) -> Tensor:
        """The rate; 0 where the denominator has not grown."""
        seen: Any = self
        changes = []
        for given, before, kept in (
            (values, seen.prev_values, seen.numer),
            (denominator, seen.prev_denominator, seen.denom),
        ):
            now = casts.cast(given, dtypes.float64)
            change = updates.assign(kept, now - before.read_value()).read_value()
            with control_dependencies([change]):
                changes.append((change, updates.assign(before, now)))
        with control_dependencies([change for pair in changes for change in pair]):
            rise, run = (array.identity(change) for change, _ in changes)
            return math.div_no_nan(rise, math.maximum(run, 0), name="safe_rate")
