"""Properties of a variable besides its value, as a VariableDef has them.

When the copies of a distributed variable agree, which part of a larger variable it holds, and the
names of its nodes below a scope.
"""

from __future__ import annotations

import enum
from typing import Any

from tensorboard.compat.proto.variable_pb2 import SaveSliceInfoDef


class VariableSynchronization(enum.Enum):
    """When the copies of a distributed variable are brought into line."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How the updates of a distributed variable's copies are combined."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3
    ONLY_FIRST_TOWER = 3


def validate_distribution(
    synchronization: Any, aggregation: Any, trainable: bool | None, name: str | None
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """The three arguments with their defaults filled in; ValueError for unknown modes."""
    try:
        aggregation = VariableAggregation(0 if aggregation is None else aggregation)
    except ValueError:
        raise ValueError(
            f"Invalid variable aggregation mode: {aggregation} for variable: {name}"
        ) from None
    try:
        synchronization = VariableSynchronization(0 if synchronization is None else synchronization)
    except ValueError:
        raise ValueError(
            f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
        ) from None
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, trainable


class SaveSliceInfo:
    """The part of a larger, partitioned variable that a variable holds."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Any = None,
        var_offset: Any = None,
        var_shape: Any = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        given = save_slice_info_def
        if given is not None:
            self.full_name: str | None = prepend_scope(given.full_name, import_scope)
            self.full_shape = list(given.full_shape)
            self.var_offset = list(given.var_offset)
            self.var_shape = list(given.var_shape)
        else:
            self.full_name, self.full_shape = full_name, full_shape
            self.var_offset, self.var_shape = var_offset, var_shape

    @property
    def spec(self) -> str:
        """The slice as checkpoints spell it: "4 3 0,2:0,3" is rows 0 and 1 of a 4 by 3 matrix."""
        full = " ".join(map(str, self.full_shape))
        parts = (f"{o},{n}" for o, n in zip(self.var_offset, self.var_shape, strict=True))
        return f"{full} {':'.join(parts)}"

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        if export_scope is not None and not str(self.full_name).startswith(export_scope):
            return None
        return SaveSliceInfoDef(
            full_name=strip_scope(str(self.full_name), export_scope),
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )


def prepend_scope(name: str, import_scope: str | None) -> str:
    """`name` as it is called after an import below `import_scope`."""
    if not import_scope:
        return name
    import_scope = import_scope.rstrip("/")
    if name.startswith("loc:@"):
        return f"loc:@{import_scope}/{name[len('loc:@') :]}"
    if name.startswith("^"):
        return f"^{import_scope}/{name[1:]}"
    return f"{import_scope}/{name}"


def strip_scope(name: str, export_scope: str | None) -> str:
    """`name` without the `export_scope` in front."""
    if not export_scope:
        return name
    prefix = export_scope.rstrip("/") + "/"
    for mark in ("loc:@", "^", ""):
        if name.startswith(mark + prefix):
            return mark + name[len(mark + prefix) :]
    return name
