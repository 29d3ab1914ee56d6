"""The page for people: models, versions, signatures with a form, and what the last minutes saw."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from weft.serve.errors import CODE_NAMES
from weft.serve.models import Models, Spec
from weft.serve.observe import Observer
from weft.serve.servable import Servable
from weft.serve.signatures import Signature, Slot
from weft.serve.versions import Status

_SECONDS = 120
_PARTS = 60  # of the time that is shown
_HTML = Path(__file__).with_name("page.html")


class Page:
    """`html` asks for `state` again and again."""

    def __init__(self, models: Models, observer: Observer) -> None:
        self._models, self._observer = models, observer
        self.html = _HTML.read_bytes()

    def state(self) -> dict[str, Any]:
        """Everything that the page shows."""
        return {
            "seconds": _SECONDS,
            "memory": self._models.memory_used,
            "models": [self._model(name) for name in self._models.names],
        }

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
