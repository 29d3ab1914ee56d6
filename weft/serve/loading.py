"""A version made ready before anyone can ask it: read, given its batches, warmed up, compiled."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from weft.core import dtypes
from weft.protos.serving import message
from weft.runtime.debug import report
from weft.runtime.limits import compiling_ahead
from weft.serve.batching import Batcher, Places
from weft.serve.config import Batching, batching_of
from weft.serve.effects import lasting_effect
from weft.serve.errors import invalid
from weft.serve.merging import merged, rows_of
from weft.serve.requests import Requests
from weft.serve.servable import Servable, load
from weft.serve.signatures import Signature, Slot
from weft.serve.versions import Found
from weft.storage import file_io
from weft.storage.tf_record import tf_record_iterator

WARM_UP = os.path.join("assets.extra", "tf_serving_warmup_requests")
_MOST_RECORDS = 1000
_RUNS = 2  # the first is interpreted, the second compiles
# The kind of a PredictionLog -> the method that answers its request.
_REPLAYED = {
    "predict_log": "predict_with",
    "classify_log": "classify_with",
    "regress_log": "regress_with",
    "multi_inference_log": "multi_inference_with",
    "session_run_log": "session_run_with",
}
Step = tuple[dict[str, np.ndarray], tuple[str, ...]]
"""What is fed and what is fetched, by name."""


@dataclass(frozen=True)
class Loader:
    """How versions are loaded. `noted` is told of batches; `batching` is None if there are none."""

    tags: Sequence[str]
    batching: Batching | None
    places: Places
    noted: Callable[[str, int, int, list[float]], None]
    own_batching: bool = False
    warms_up: bool = True
    warm_up_runs: int = 1

    def __call__(self, name: str, found: Found) -> Servable:
        """The version, ready. TensorFlow's errors if it cannot be."""
        servable = load(name, found.version, found.path, self.tags)
        try:
            steps = _warmed_up(servable, self.warm_up_runs) if self.warms_up else []
            if self.batching is not None:
                self._batch(servable, steps)
        except BaseException:
            servable.close()
            raise
        return servable

    def _batch(self, servable: Servable, steps: list[Step]) -> None:
        assert self.batching is not None
        shared = self.batching
        parameters = batching_of(servable.path, shared) if self.own_batching else shared

        def noted(rows: int, padding: int, waited: list[float]) -> None:
            self.noted(servable.name, rows, padding, waited)

        servable.batcher = Batcher(servable.run_alone, parameters, self.places, noted)
        servable.run = servable.batcher.run
        _compile_ahead(servable, parameters, steps)


# ---- warming up ---------------------------------------------------------------------------------


def _warmed_up(servable: Servable, runs: int) -> list[Step]:
    """Answers the requests that came with the version; returns the steps that took."""
    path = os.path.join(servable.path, WARM_UP)
    if not file_io.exists(path):
        return []
    steps: list[Step] = []

    def remembered(feeds: dict[str, np.ndarray], fetches: Sequence[str], deadline: Any) -> Any:
        if len(steps) < _MOST_RECORDS:
            steps.append((feeds, tuple(fetches)))
        return servable.run_alone(feeds, fetches, deadline)

    servable.run = remembered
    requests = Requests(models=None)  # type: ignore[arg-type]
    for number, record in enumerate(tf_record_iterator(path)):
        if number >= _MOST_RECORDS:
            raise invalid(
                f"Number of warmup records exceeds the maximum ({_MOST_RECORDS}) at {path}"
            )
        for _ in range(runs):
            _replay(requests, servable, record, path)
    servable.run = servable.run_alone
    return steps


def _replay(requests: Requests, servable: Servable, record: bytes, path: str) -> None:
    try:
        log = message("PredictionLog").FromString(record)
    except DecodeError:
        raise invalid(f"Failed to parse warmup record: {record[:100]!r} from {path}") from None
    kind = log.WhichOneof("log_type")
    if kind not in _REPLAYED:
        raise invalid(f"Unsupported log_type for warmup: {kind}")
    getattr(requests, _REPLAYED[kind])(servable, getattr(log, kind).request)


# ---- compiling ----------------------------------------------------------------------------------


def _compile_ahead(servable: Servable, parameters: Batching, steps: list[Step]) -> None:
    """Compiles what batches of each allowed size will need.

    Models are asked what their warm-up asks, else zeros; one that would remember is not asked.
    """
    known = {(tuple(feeds), fetches): (feeds, fetches) for feeds, fetches in steps}
    for signature in servable.signatures.values():
        made = _zeros(signature)
        if made is not None:
            known.setdefault((tuple(made[0]), made[1]), made)
    with compiling_ahead():
        for feeds, fetches in known.values():
            ops = [servable.tensor(name).op for name in fetches]
            if not lasting_effect(servable.session.graph, ops, feeds):
                _compile_sizes(servable, parameters, feeds, fetches)


def _compile_sizes(
    servable: Servable, parameters: Batching, feeds: dict[str, np.ndarray], fetches: tuple[str, ...]
) -> None:
    try:
        rows_of(feeds.values())
        first = {name: value[:1] for name, value in feeds.items()}
        for size in parameters.sizes:
            batch = merged([first], size)
            for _ in range(_RUNS):
                servable.run_alone(batch, fetches)
    except Exception as error:  # made-up inputs need not make sense to a model
        text = str(error).partition("\n")[0]
        report.say(1, lambda: f"{servable.name}: nothing is compiled ahead: {text}")


def _zeros(signature: Signature) -> Step | None:
    """A request of one row, if shapes say how it looks."""
    feeds = {}
    for slot in signature.inputs.values():
        shape = _row_shape(slot)
        if shape is None or not slot.tensor or slot.tensor in feeds:
            return None
        feeds[slot.tensor] = _empty(shape, slot)
    fetches = tuple(slot.tensor for slot in signature.outputs.values())
    return (feeds, fetches) if feeds and fetches and all(fetches) else None


def _row_shape(slot: Slot) -> tuple[int, ...] | None:
    if not slot.dims or slot.dims[0] not in (None, 1) or None in slot.dims[1:]:
        return None
    return (1, *(extent or 0 for extent in slot.dims[1:]))


def _empty(shape: tuple[int, ...], slot: Slot) -> np.ndarray:
    if slot.dtype is dtypes.string:
        return np.full(shape, b"", object)
    return np.zeros(shape, slot.dtype.np_storage)
