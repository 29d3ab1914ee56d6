"""tf.contrib.checkpoint: what can be put in a tf.train.Checkpoint."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as _Mapping
from typing import Any

import numpy as np

from weft.core.no_dependency import NoDependency as NoDependency
from weft.lib.train.checkpoint.inspection import load_checkpoint
from weft.lib.train.checkpoint.management import CheckpointManager as CheckpointManager
from weft.lib.train.checkpoint.objects import AutoTrackable as Checkpointable  # noqa: F401
from weft.lib.train.checkpoint.objects import ObjectGraph, Trackable, is_trackable
from weft.lib.train.checkpoint.python_state import PythonState as PythonStateWrapper
from weft.lib.train.checkpoint.saver_objects import OBJECT_GRAPH_PROTO_KEY
from weft.protos.checkpoint import TrackableObjectGraph as CheckpointableObjectGraph

CheckpointableBase = Trackable


def list_objects(root_trackable: Any) -> list[Any]:
    """The object and all that it depends on, the nearest first."""
    return ObjectGraph(root_trackable).objects


def object_metadata(save_path: str) -> Any:
    """The graph of the objects in a checkpoint, as a message.

    Raises:
        ValueError: the checkpoint was made by names, and holds no objects.
    """
    reader = load_checkpoint(save_path)
    if not reader.has_tensor(OBJECT_GRAPH_PROTO_KEY):
        raise ValueError(
            f'The specified checkpoint "{save_path}" does not appear to be object-based (saved'
            " with TF2) since it is missing the key"
            f' "{OBJECT_GRAPH_PROTO_KEY}". Likely it was created with the TF1 name-based saver.'
        )
    found = CheckpointableObjectGraph()
    found.ParseFromString(reader.get_tensor(OBJECT_GRAPH_PROTO_KEY))
    return found


class UniqueNameTracker(Trackable):
    """Dependencies under names that are made different: x, x_1, x_2."""

    def track(self, trackable: Any, base_name: str) -> Any:
        """Depends on an object; gives it back."""
        names, name, number = self._unconditional_dependency_names, base_name, 0
        while name in names:
            number += 1
            name = f"{base_name}_{number}"
        return self._track_trackable(trackable, name=name)


# ---- lists and mappings --------------------------------------------------------------------------


class _Structure(Trackable):
    """Objects that are added one by one, and the variables of the layers among them."""

    trainable = True

    def _values(self) -> Iterable[Any]:
        raise NotImplementedError

    def _checked(self, value: Any) -> Any:
        if isinstance(value, (list, dict)) or is_trackable(value):
            return value
        raise ValueError(
            "Only trackable objects (such as Layers or Optimizers) may be stored in a List"
            f" object. Got {value}, which does not inherit from Trackable."
        )

    @property
    def layers(self) -> list[Any]:
        return [value for value in self._values() if hasattr(value, "trainable_weights")]

    def _of_layers(self, attribute: str) -> list[Any]:
        return [found for layer in self.layers for found in getattr(layer, attribute, ())]

    @property
    def trainable_weights(self) -> list[Any]:
        return self._of_layers("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        fixed = self._of_layers("non_trainable_weights")
        return fixed if self.trainable else self._of_layers("trainable_weights") + fixed

    @property
    def weights(self) -> list[Any]:
        return self.trainable_weights + self.non_trainable_weights

    @property
    def trainable_variables(self) -> list[Any]:
        return self.trainable_weights

    @property
    def variables(self) -> list[Any]:
        return self.weights

    @property
    def updates(self) -> list[Any]:
        return self._of_layers("updates")

    @property
    def losses(self) -> list[Any]:
        return self._of_layers("losses")


class List(_Structure, Sequence[Any]):
    """A list that only grows, of objects that a checkpoint holds by their places."""

    def __init__(self, *args: Any) -> None:
        self._storage: list[Any] = []
        self.extend(*args)

    def _values(self) -> Iterable[Any]:
        return self._storage

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return [(str(place), value) for place, value in enumerate(self._storage)]

    def append(self, value: Any) -> None:
        self._storage.append(self._checked(value))

    def extend(self, values: Iterable[Any] = ()) -> None:
        for value in values:
            self.append(value)

    def __iadd__(self, values: Any) -> List:
        self.extend(values)
        return self

    def __add__(self, other: Any) -> List:
        return List([*self, *other])

    def __getitem__(self, place: Any) -> Any:
        return self._storage[place]

    def __len__(self) -> int:
        return len(self._storage)

    def __repr__(self) -> str:
        return f"List({self._storage!r})"


class Mapping(_Structure, _Mapping[str, Any]):
    """A mapping that only grows, from names to objects that a checkpoint holds by these."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._storage: dict[str, Any] = {}
        self.update(*args, **kwargs)

    def _values(self) -> Iterable[Any]:
        return [self._storage[key] for key in sorted(self._storage)]

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return list(self._storage.items())

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        known = self._storage.setdefault(key, self._checked(value))
        if known is not value:
            raise ValueError(
                "Mappings are an append-only data structure. Tried to overwrite the key"
                f" '{key}' with value {value}, but it already contains {known}"
            )

    def __getitem__(self, key: str) -> Any:
        return self._storage[key]

    def __len__(self) -> int:
        return len(self._storage)

    def __iter__(self) -> Iterator[str]:
        return iter(self._storage)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"Mapping({self._storage!r})"


# ---- arrays --------------------------------------------------------------------------------------


class _Array(PythonStateWrapper):
    """An array, which a checkpoint holds in NumPy's own format."""

    array: Any = None

    def serialize(self) -> bytes:
        file = io.BytesIO()
        np.save(file, self.array, allow_pickle=False)
        return file.getvalue()

    def deserialize(self, string_value: bytes) -> None:
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


class NumpyState(Trackable):
    """An object whose attributes are arrays, each of which a checkpoint holds.

    Example:
        >>> state = tf.contrib.checkpoint.NumpyState()
        >>> state.x = np.ones([2])
        >>> path = tf.train.Checkpoint(arrays=state).save("/tmp/weft-arrays", session=session)
        >>> state.x = np.zeros([2])
        >>> restored = tf.train.Checkpoint(arrays=state).restore(path)
        >>> state.x
        array([1., 1.])
    """

    def _lookup_dependency(self, name: str) -> Any:
        known = super()._lookup_dependency(name)
        # Asked for what a checkpoint has: an attribute that is not there yet.
        return self._kept(name) if known is None else known

    def _kept(self, name: str) -> Any:
        return self._unconditional_dependency_names.setdefault(name, _Array())

    def __getattr__(self, name: str) -> Any:
        kept = None if name[:1] == "_" else self._unconditional_dependency_names.get(name)
        if kept is None or kept.array is None:
            raise AttributeError(f"'NumpyState' object has no attribute '{name}'")
        return kept.array

    def __setattr__(self, name: str, value: Any) -> None:
        if not isinstance(value, (np.ndarray, np.generic)):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array."
                " Currently mixing NumPy arrays and other trackable objects is not supported."
                " File a feature request if this limitation bothers you."
            )
        self._kept(name).array = value
