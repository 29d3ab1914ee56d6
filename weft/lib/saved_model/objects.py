"""Objects that only SavedModels have: files, tables by their functions, named signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import device, init_scope
from weft.graph.tensor import Tensor
from weft.lib.train.checkpoint.objects import AutoTrackable, Trackable


class TrackableAsset(Trackable):
    """A file that belongs to a model. `asset_path` says where it is now."""

    def __init__(self, path: Any) -> None:
        with init_scope(), device("CPU"):
            self._path = convert_to_tensor(path, dtype=dtypes.string, name="asset_path")

    @property
    def asset_path(self) -> Tensor:
        return self._path


class RestoredResource(AutoTrackable):
    """A table or the like. Functions of the SavedModel make and fill it; they are attributes."""

    _create_resource: Any = None
    _initialize: Any = None

    def __init__(self) -> None:
        self._handle: Tensor | None = None

    @property
    def resource_handle(self) -> Tensor:
        if self._handle is None:
            with init_scope():
                self._handle = self._create_resource()
        assert self._handle is not None
        return self._handle


class SignatureMap(Mapping[str, Any], Trackable):
    """The functions of a model by the names that they are served under."""

    def __init__(self, signatures: Mapping[str, Any] | None = None) -> None:
        self._signatures: dict[str, Any] = dict(signatures or {})

    def _add_signature(self, name: str, function: Any) -> None:
        self._signatures[name] = function

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"


def new_user_object() -> AutoTrackable:
    """An object to set attributes of; if `__call__` is one of them, it can be called.

    Its class is its own, so that others do not become callable with it.
    """

    class UserObject(AutoTrackable):
        pass

    UserObject.__name__ = "_UserObject"
    return UserObject()


def make_callable(instance: Any) -> None:
    """Lets `instance(...)` call what is its attribute `__call__`."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)

    type(instance).__call__ = call
