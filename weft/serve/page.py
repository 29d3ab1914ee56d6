"""The page for people: models, versions, signatures with a form, and what the last minutes saw."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.core import errors
from weft.pages import resources
from weft.pages.pictures import items_of, picture
from weft.pages.status import trace_limits
from weft.serve.errors import CODE_NAMES
from weft.serve.models import Models, Spec
from weft.serve.observe import Observer
from weft.serve.servable import Servable
from weft.serve.signatures import Signature, Slot
from weft.serve.versions import Status
from weft.traces import files
from weft.traces.here import record_here

_SECONDS = 120
_PARTS = 60  # of the time that is shown
_HTML = Path(__file__).with_name("page.html")


class Page:
    """`html` asks for `state` again and again."""

    def __init__(self, models: Models, observer: Observer) -> None:
        self._models, self._observer, self._began = models, observer, time.time()
        self.html = _HTML.read_bytes()

    def state(self) -> dict[str, Any]:
        """Everything that the page shows."""
        return {
            "seconds": _SECONDS,
            "memory": self._models.memory_used,
            "models": [self._model(name) for name in self._models.names],
        }

    # ---- the state of the process ----

    def status(self, query: Mapping[str, str]) -> dict[str, Any]:
        """As the status of a server of a cluster has it, with models for sessions."""
        found = [each for name in self._models.names for each in self._servables(name)]
        stores = {
            f"{each.name}:{each.version} {device}": store
            for each in found
            for device, store in runner_of(each).stores.items()
        }
        devices = runner_of(found[0]).devices if found else []
        return {
            "title": "weft serve",
            "uptime": time.time() - self._began,
            "process": resources.process(),
            "models": [self._model(name) for name in self._models.names],
            "devices": resources.devices(devices, {}),
            "variables": resources.variables(stores),
            "queues": resources.queues(stores),
        }

    def _servables(self, name: str) -> list[Servable]:
        return list(self._models.available(name).values())

    def graph(self, query: Mapping[str, str]) -> dict[str, Any]:
        """The picture of the graph of a model's latest version."""
        found = self._servables(query.get("model", ""))
        if not found:
            raise errors.NotFoundError(None, None, "There is no such model")
        opened = [scope for scope in query.get("open", "").split(",") if scope]
        latest = max(found, key=lambda each: each.version)
        return picture(items_of(latest.session.graph), opened)

    def trace(self, query: Mapping[str, str]) -> bytes:
        """A trace of the next steps, as a file."""
        return files.to_bytes(record_here(**trace_limits(query)))

    def _model(self, name: str) -> dict[str, Any]:
        try:
            statuses = self._models.statuses(Spec(name))
        except Exception:
            statuses = []  # there is none yet
        available = self._models.available(name)
        latest = available[max(available)] if available else None
        queued = sum(s.batcher.queued for s in available.values() if s.batcher is not None)
        return {
            "name": name,
            "labels": self._models.labels_of(name),
            "versions": [_version(version, status) for version, status in statuses],
            "signatures": _signatures(latest),
            "queued": queued,
            **self._plots(name),
        }

    def _plots(self, name: str) -> dict[str, Any]:
        recent = self._observer.recent(name, _SECONDS)
        began, width = time.time() - _SECONDS, _SECONDS / _PARTS
        latencies: list[list[float]] = [[] for _ in range(_PARTS)]
        batches: list[list[int]] = [[] for _ in range(_PARTS)]
        failed = 0
        for when, seconds, is_good in recent["requests"]:
            latencies[min(_PARTS - 1, int((when - began) / width))].append(seconds * 1e3)
            failed += not is_good
        for when, rows, _ in recent["batches"]:
            batches[min(_PARTS - 1, int((when - began) / width))].append(rows)
        return {
            "requests": [len(part) / width for part in latencies],
            "p50": [_quantile(part, 0.5) for part in latencies],
            "p99": [_quantile(part, 0.99) for part in latencies],
            "batch": [sum(part) / len(part) if part else None for part in batches],
            "failed": failed,
        }


def runner_of(servable: Servable) -> Any:
    """The plans and stores of a version."""
    return servable.session._runner


def _quantile(values: list[float], part: float) -> float | None:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else None


def _version(version: int, status: Status) -> dict[str, Any]:
    return {
        "version": version,
        "state": status.state.name,
        "error": f"{CODE_NAMES[status.code]}: {status.message}" if status.code else "",
    }


def _signatures(servable: Servable | None) -> list[dict[str, Any]]:
    if servable is None:
        return []
    return [_signature(each) for each in servable.signatures.values()]


def _signature(signature: Signature) -> dict[str, Any]:
    return {
        "key": signature.key,
        "method": signature.method,
        "inputs": [_slot(slot) for slot in signature.inputs.values()],
        "outputs": [_slot(slot) for slot in signature.outputs.values()],
    }


def _slot(slot: Slot) -> dict[str, Any]:
    dims = None if slot.dims is None else [-1 if d is None else d for d in slot.dims]
    return {"alias": slot.alias, "dtype": slot.dtype.name, "shape": dims}
