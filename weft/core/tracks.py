"""Objects that are told, by name, what else checkpoints of them hold."""

from __future__ import annotations

from typing import Any, NamedTuple

# The attribute for them: other attributes may be searched for variables, this one is not.
NAMED = "_self_unconditional_dependency_names"


class TrackableReference(NamedTuple):
    """An object that another depends on, and the name by which it does."""

    name: str
    ref: Any


class Tracks:
    """An object with dependencies besides those that its attributes are."""

    @property
    def _unconditional_dependency_names(self) -> dict[str, Any]:
        found: dict[str, Any] = self.__dict__.setdefault(NAMED, {})
        return found

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        return [TrackableReference(*item) for item in self._unconditional_dependency_names.items()]

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Adds a dependency: a checkpoint of this object holds `trackable` under `name`."""
        if not _can_be_tracked(trackable):
            raise TypeError(
                f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable."
            )
        known = self._lookup_dependency(name)
        if known is not None and known is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this"
                " name is already declared as a dependency. Names must be unique (or"
                " overwrite=True)."
            )
        self._unconditional_dependency_names[name] = trackable
        return trackable

    def _lookup_dependency(self, name: str) -> Any:
        """The dependency of this name, or None; asked for what a checkpoint has of this object."""
        return named_dependencies(self).get(name)


def named_dependencies(owner: Any) -> dict[str, Any]:
    """The dependencies that an object was told of."""
    found: dict[str, Any] = getattr(owner, "__dict__", {}).get(NAMED, {})
    return found


def _can_be_tracked(value: Any) -> bool:
    """Whether checkpoints know how to save it: an object that tracks others, or saves itself."""
    return isinstance(value, Tracks) or hasattr(value, "_gather_saveables_for_checkpoint")
