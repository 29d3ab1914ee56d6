"""Device names such as `/job:worker/task:1/device:GPU:0`, whole or in part.

A name leaves out what does not matter: `/gpu:0` is GPU 0 of whichever task, `/job:ps` any device
of that job. Scopes nest by merging: the inner name wins, the outer one fills what it left out.
Graph building parses and merges names for every node, so the string functions are cached.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

_CACHE_SIZE = 4096


class NameParts(NamedTuple):
    """The components of a device name; None where the name does not say."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str | None = None
    device_index: int | None = None


@functools.lru_cache(_CACHE_SIZE)
def parse(name: str) -> NameParts:
    """The parts of a device name; ValueError when it cannot be read.

    Accepts the full form and the short ones (`gpu:0`, `/CPU`, `/device:GPU:*`).
    """
    found: dict[str, Any] = {}
    for component in name.split("/"):
        fields = component.split(":")
        key = fields[0]
        if key == "" and len(fields) == 1:
            continue
        if len(fields) == 2 and key in ("job", "replica", "task"):
            if fields[1] != "*":
                found[key] = fields[1] if key == "job" else _index(fields[1], name)
        elif key.upper() in ("CPU", "GPU") and len(fields) <= 2:
            _set_device(found, name, key.upper(), fields[1] if len(fields) == 2 else "*")
        elif key == "device" and len(fields) == 3:
            _set_device(found, name, _device_type(fields[1]), fields[2])
        else:
            raise ValueError(f"Unknown attribute: '{key}' in '{name}'")
    return NameParts(**found)


def _set_device(found: dict[str, Any], name: str, device_type: str | None, index: str) -> None:
    if "device_type" in found:
        raise ValueError(f"Cannot specify multiple device types: {name}")
    found["device_type"] = device_type
    if index != "*":
        found["device_index"] = _index(index, name)


def _index(text: str, name: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"Not a device, task or replica number: '{text}' in '{name}'") from None


def _device_type(value: Any) -> str | None:
    if value is None:
        return None
    text = str(value)
    return text.upper() if text in ("cpu", "gpu") else text


@functools.lru_cache(_CACHE_SIZE)
def unparse(parts: NameParts) -> str:
    """The device name with these parts, in canonical form."""
    text = ""
    if parts.job is not None:
        text += f"/job:{parts.job}"
    if parts.replica is not None:
        text += f"/replica:{parts.replica}"
    if parts.task is not None:
        text += f"/task:{parts.task}"
    if parts.device_type is not None:
        index = "*" if parts.device_index is None else parts.device_index
        text += f"/device:{parts.device_type}:{index}"
    return text


def _fill(inner: NameParts, outer: NameParts) -> NameParts:
    return NameParts._make(o if i is None else i for i, o in zip(inner, outer, strict=True))


@functools.lru_cache(_CACHE_SIZE)
def merge(outer: str, inner: str) -> str:
    """`inner`, with what it leaves out taken from `outer`, in canonical form."""
    return unparse(_fill(parse(inner), parse(outer)))


def canonical_name(device: Any) -> str:
    """The canonical form of a name or DeviceSpec; empty for None."""
    if device is None:
        return ""
    if isinstance(device, DeviceSpec):
        return device.to_string()
    return unparse(parse(device))


@functools.lru_cache(_CACHE_SIZE)
def matches(partial: str, full: str) -> bool:
    """Whether device `full` has every part that `partial` asks for."""
    wanted, actual = parse(partial), parse(full)
    return all(w is None or w == a for w, a in zip(wanted, actual, strict=True))


@functools.lru_cache(_CACHE_SIZE)
def is_compatible(left: str, right: str) -> bool:
    """Whether some device answers to both names."""
    pairs = zip(parse(left), parse(right), strict=True)
    return all(a is None or b is None or a == b for a, b in pairs)


class DeviceSpec:
    """A device name taken apart; fields that are None are not specified."""

    __slots__ = ("_parts",)

    def __init__(
        self,
        job: Any = None,
        replica: Any = None,
        task: Any = None,
        device_type: Any = None,
        device_index: Any = None,
    ) -> None:
        self._parts = NameParts(
            job=None if job is None else str(job),
            replica=None if replica is None else int(replica),
            task=None if task is None else int(task),
            device_type=_device_type(device_type),
            device_index=None if device_index is None else int(device_index),
        )

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpec:
        """The spec that `spec` names; ValueError when it cannot be read."""
        return cls(*parse(spec or ""))

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """Makes this spec the one that `spec` names, and returns it."""
        self._parts = parse(spec or "")
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over what `dev` specifies."""
        self._parts = _fill(dev._parts, self._parts)

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new spec: `dev`, with what it leaves out taken from this one."""
        return type(self)(*_fill(dev._parts, self._parts))

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A new spec with some fields changed."""
        return type(self)(**{**self._parts._asdict(), **kwargs})

    def to_string(self) -> str:
        """The canonical name, `/job:<name>/replica:<id>/task:<id>/device:<type>:<id>`."""
        return unparse(self._parts)

    def _set(self, **kwargs: Any) -> None:
        self._parts = self.replace(**kwargs)._parts

    @property
    def job(self) -> str | None:
        return self._parts.job

    @job.setter
    def job(self, job: Any) -> None:
        self._set(job=job)

    @property
    def replica(self) -> int | None:
        return self._parts.replica

    @replica.setter
    def replica(self, replica: Any) -> None:
        self._set(replica=replica)

    @property
    def task(self) -> int | None:
        return self._parts.task

    @task.setter
    def task(self, task: Any) -> None:
        self._set(task=task)

    @property
    def device_type(self) -> str | None:
        return self._parts.device_type

    @device_type.setter
    def device_type(self, device_type: Any) -> None:
        self._set(device_type=device_type)

    @property
    def device_index(self) -> int | None:
        return self._parts.device_index

    @device_index.setter
    def device_index(self, device_index: Any) -> None:
        self._set(device_index=device_index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        given = {name: value for name, value in self._parts._asdict().items() if value is not None}
        return f"DeviceSpec({', '.join(f'{name}={value!r}' for name, value in given.items())})"


class MergeDevice:
    """A device function that fills what a node's device leaves out."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, node_def: Any) -> DeviceSpec:
        return DeviceSpec.from_string(self.string_merge(node_def))

    def string_merge(self, node_def: Any) -> str:
        """The result of `__call__`, as a string."""
        return merge(self.name, node_def.device or "")

    @property
    def is_null_merge(self) -> bool:
        """Whether there is nothing to fill in."""
        return not self.name

    def __repr__(self) -> str:
        return f"MergeDevice({self.name!r})"


def merge_device(spec: Any) -> MergeDevice | Callable[[Any], Any]:
    """The device function for a scope given by a name, a DeviceSpec or a function.

    A function is returned as it is. A DeviceSpec is read now: later changes to it do not count.
    """
    if callable(spec):
        return spec  # type: ignore[no-any-return]
    return _merger(canonical_name(spec))


@functools.lru_cache(_CACHE_SIZE)
def _merger(name: str) -> MergeDevice:
    return MergeDevice(name)


def short_name(name: str) -> str:
    """`/device:GPU:0`: what a program in one process says."""
    return name[name.index("/device:") :]
