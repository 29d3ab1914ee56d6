"""The models of a server: finding the version a request means, while versions come and go.

Requests read a snapshot and take no lock but that of the version they find. Changes are made by
one thread at a time, and show in the snapshot when they are done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from weft.core import errors
from weft.runtime.debug import report
from weft.runtime.threads import ThreadPool
from weft.serve.config import ModelConfig
from weft.serve.errors import exhausted, invalid, not_found, precondition
from weft.serve.servable import Servable
from weft.serve.versions import Found, State, Status, decide, examine, look

Load = Callable[[str, Found], Servable]
_MOST_ENDED = 100  # versions of a model that are gone and still reported


class Spec(NamedTuple):
    """What a request says of the model it means."""

    name: str
    version: int | None = None
    label: str | None = None
    signature: str = ""

    def __str__(self) -> str:
        if self.version is None:
            return f"Latest({self.name})"
        return f"Specific({self.name}, {self.version})"


def read_spec(message: Any) -> Spec:
    """The spec of a ModelSpec."""
    choice = message.WhichOneof("version_choice")
    return Spec(
        message.name,
        message.version.value if choice == "version" else None,
        message.version_label if choice == "version_label" else None,
        message.signature_name,
    )


@dataclass
class _Model:
    config: ModelConfig
    statuses: dict[int, Status] = field(default_factory=dict)
    loaded: dict[int, Servable] = field(default_factory=dict)
    memory: dict[int, int] = field(default_factory=dict)
    marks: dict[int, Any] = field(default_factory=dict)  # of the files that failed
    problem: str = ""  # why its folder cannot be read


@dataclass(frozen=True)
class _Served:
    """The part of the snapshot about one model."""

    latest: Servable
    versions: dict[int, Servable]


class Models:
    """All models. `load` reads a version and makes it ready; `memory` bounds them all, in bytes."""

    def __init__(
        self,
        load: Load,
        memory: int = 0,
        labels_in_advance: bool = False,
        pool: ThreadPool | None = None,
    ) -> None:
        self._load, self._memory = load, memory
        self._labels_in_advance = labels_in_advance
        self._models: dict[str, _Model] = {}
        self._served: dict[str, _Served] = {}
        self._labels: dict[str, dict[str, int]] = {}
        self._changing = threading.RLock()
        self._statuses_lock = threading.Lock()
        self._pool = pool or ThreadPool("weft-serve")
        self._unloading: set[Servable] = set()
        self.on_loaded: Callable[[Servable], None] = lambda servable: None

    # ---- requests ----

    def using(self, spec: Spec) -> Servable:
        """The version that a request means; it stays until the `with` that uses it is over."""
        while True:
            servable = self._find(spec)
            if servable.enter():
                return servable
            # It was let go just now: the snapshot of the next turn does not have it.

    def _find(self, spec: Spec) -> Servable:
        if not spec.name:
            raise invalid("ModelSpec has no name specified.")
        if spec.label is not None:
            version = self._labels.get(spec.name, {}).get(spec.label)
            if version is None:
                raise invalid(f"Unrecognized servable version label: {spec.label}")
            spec = Spec(spec.name, version)
        served = self._served.get(spec.name)
        found = None
        if served is not None:
            found = served.latest if spec.version is None else served.versions.get(spec.version)
        if found is None:
            raise not_found(f"Servable not found for request: {spec}")
        return found

    # ---- what there is ----

    @property
    def names(self) -> list[str]:
        return sorted(self._models)

    def has(self, name: str) -> bool:
        return name in self._models

    def config_of(self, name: str) -> ModelConfig | None:
        model = self._models.get(name)
        return model.config if model is not None else None

    def labels_of(self, name: str) -> dict[str, int]:
        return dict(self._labels.get(name, {}))

    def available(self, name: str) -> dict[int, Servable]:
        """The versions that can be asked."""
        served = self._served.get(name)
        return dict(served.versions) if served is not None else {}

    def statuses(self, spec: Spec) -> list[tuple[int, Status]]:
        """The versions of a model (or the one that is meant), newest first as they are listed."""
        model = self._models.get(spec.name)
        with self._statuses_lock:
            known = dict(model.statuses) if model is not None else {}
        if spec.version is not None:
            if spec.version not in known:
                raise not_found(f"Could not find version {spec.version} of model {spec.name}")
            return [(spec.version, known[spec.version])]
        if not known:
            raise not_found(f"Could not find any versions of model {spec.name}")
        return sorted(known.items(), reverse=True)

    @property
    def is_ready(self) -> bool:
        """Whether every model has a version that can be asked."""
        return all(name in self._served for name in list(self._models))

    @property
    def memory_used(self) -> int:
        with self._statuses_lock:
            return sum(sum(m.memory.values()) for m in self._models.values())

    # ---- changes ----

    def configure(self, configs: Sequence[ModelConfig]) -> None:
        """Serves these models from now on. OpError if one has no good version, or a label has not.

        What is good is served all the same.
        """
        with self._changing:
            wanted = {config.name: config for config in configs}
            for name in [name for name in self._models if name not in wanted]:
                self._drop(name)
            for name, config in wanted.items():
                self._models.setdefault(name, _Model(config)).config = config
            self.look_again()
            self._set_labels()
            missing = [name for name in wanted if name not in self._served]
            if missing:
                raise errors.UnknownError(None, None, self._complaint(missing), errors.UNKNOWN)

    def _complaint(self, missing: Sequence[str]) -> str:
        parts = []
        for name in missing:
            model = self._models[name]
            failed = [s.message for s in model.statuses.values() if s.code] or [model.problem]
            why = f" due to error: {failed[-1]}" if failed[-1] else ""
            parts.append(f"{{{Spec(name)}{why}}}")
        return f"{len(missing)} model(s) did not become available: {{{', '.join(parts)}}}"

    def look_again(self) -> None:
        """Looks at all folders, loads what is new and lets go of what is no longer wanted."""
        with self._changing:
            for model in list(self._models.values()):
                self._look_at(model)

    def _look_at(self, model: _Model) -> None:
        try:
            folders = look(model.config)
        except (errors.OpError, OSError) as error:
            self._say_problem(model, getattr(error, "message", None) or str(error))
            return
        self._say_problem(model, "" if folders else "There are no versions in its folder")
        found = {
            v: examine(v, path)
            for v, path in folders.items()
            if v not in model.loaded and not self._is_leaving(model, v)
        }
        changed = {v for v, each in found.items() if model.marks.get(v) != each.mark}
        actions = decide(set(folders), model.statuses, changed)
        for version in actions.load:
            self._bring(model, found[version])
        for version in decide(set(folders), model.statuses, set()).unload:
            self._let_go(model, version)

    def _is_leaving(self, model: _Model, version: int) -> bool:
        status = model.statuses.get(version)
        return status is not None and status.state is State.UNLOADING

    def _say_problem(self, model: _Model, problem: str) -> None:
        if problem and problem != model.problem:
            report.log(f"weft serve: {model.config.name} at {model.config.path}: {problem}")
        model.problem = problem

    def _bring(self, model: _Model, found: Found) -> None:
        name, version = model.config.name, found.version
        self._set(model, version, Status(State.LOADING))
        try:
            self._reserve(model, found)
            servable = self._load(name, found)
        except Exception as error:
            model.memory.pop(version, None)
            model.marks[version] = found.mark
            code, text = _status_of(error)
            self._set(model, version, Status(State.END, code, text))
            report.log(f"weft serve: version {version} of {name} is not served: {text}")
            return
        model.marks.pop(version, None)
        model.loaded[version] = servable
        self._set(model, version, Status(State.AVAILABLE))
        self._publish(name, model)
        self.on_loaded(servable)
        report.log(f"weft serve: version {version} of {name} is served from {found.path}")

    def _reserve(self, model: _Model, found: Found) -> None:
        if self._memory and self.memory_used + found.memory > self._memory:
            raise exhausted(
                f"Version {found.version} of {model.config.name} takes about {found.memory} bytes,"
                f" and {self.memory_used} of the {self._memory} bytes for models are taken."
                " --memory, where the server is started, sets the limit"
            )
        with self._statuses_lock:
            model.memory[found.version] = found.memory

    def _set(self, model: _Model, version: int, status: Status) -> None:
        with self._statuses_lock:
            model.statuses.pop(version, None)
            model.statuses[version] = status
            ended = [v for v, s in model.statuses.items() if s.state is State.END]
            for old in ended[:-_MOST_ENDED]:
                del model.statuses[old]
                model.marks.pop(old, None)

    def _publish(self, name: str, model: _Model) -> None:
        """Makes a new snapshot; what requests have found in the old one they keep."""
        served = dict(self._served)
        served.pop(name, None)
        if model.loaded:
            served[name] = _Served(model.loaded[max(model.loaded)], dict(model.loaded))
        self._served = served

    def _let_go(self, model: _Model, version: int) -> None:
        """Takes a version out of the snapshot; it is freed when the last request has left it."""
        servable = model.loaded.pop(version)
        self._set(model, version, Status(State.UNLOADING))
        self._publish(model.config.name, model)
        self._unloading.add(servable)
        self._pool.start(lambda: self._free(model, servable))

    def _free(self, model: _Model, servable: Servable) -> None:
        servable.drain()
        servable.close()
        with self._statuses_lock:
            model.memory.pop(servable.version, None)
        self._set(model, servable.version, Status(State.END))
        self._unloading.discard(servable)
        report.log(f"weft serve: version {servable.version} of {servable.name} is unloaded")

    def _drop(self, name: str) -> None:
        model = self._models.pop(name)
        for version in list(model.loaded):
            self._let_go(model, version)
        self._labels = {each: labels for each, labels in self._labels.items() if each != name}

    def _set_labels(self) -> None:
        made: dict[str, dict[str, int]] = {}
        for name, model in self._models.items():
            for label, version in model.config.labels.items():
                known = self._labels.get(name, {}).get(label)
                in_advance = self._labels_in_advance and known in (None, version)
                if version not in model.loaded and not in_advance:
                    raise precondition(
                        f"Request to assign label to version {version} of model {name}, which is"
                        " not currently available for inference"
                    )
                made.setdefault(name, {})[label] = version
        self._labels = made

    def close(self, seconds: float) -> None:
        """Lets everything go; requests that are still running have so long."""
        with self._changing:
            leaving = [s for m in self._models.values() for s in m.loaded.values()]
            self._served = {}
            for servable in (*leaving, *self._unloading):
                servable.drain(seconds)
                servable.close()
            self._models.clear()
        self._pool.close()


def _status_of(error: Exception) -> tuple[int, str]:
    if isinstance(error, errors.OpError):
        return error.error_code, error.message
    if isinstance(error, MemoryError):
        return errors.RESOURCE_EXHAUSTED, f"There is not enough memory: {error}"
    return errors.INTERNAL, f"{type(error).__name__}: {error}"
