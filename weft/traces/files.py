"""Traces in files: Chrome's JSON, as it is or compressed, and recordings that processes left."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from weft.runtime.recording.control import unpacked
from weft.runtime.recording.environment import SUFFIX
from weft.traces.merging import merged

Json = dict[str, Any]
_GZIP = b"\x1f\x8b"


def to_bytes(trace: Json) -> bytes:
    """A trace as a compressed file."""
    return gzip.compress(json.dumps(trace, separators=(",", ":")).encode(), 5)


def write(trace: Json, path: str) -> None:
    """Writes a trace; compressed if its name ends so."""
    data = to_bytes(trace)
    Path(path).write_bytes(data if path.endswith(".gz") else gzip.decompress(data))


def read(path: str) -> Json:
    """The trace of a file, or of a folder of recordings. ValueError if it is none."""
    where = Path(path)
    if where.is_dir():
        return from_folder(where)
    try:
        return from_bytes(where.read_bytes())
    except (ValueError, EOFError, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} is no trace: {error}") from None


def from_bytes(data: bytes) -> Json:
    """The trace in the bytes of a file. A list is one of events, without more."""
    found = json.loads(gzip.decompress(data) if data.startswith(_GZIP) else data)
    if isinstance(found, list):
        found = {"traceEvents": found}
    if not isinstance(found, dict) or not isinstance(found.get("traceEvents"), list):
        raise ValueError("it has no traceEvents")
    return found


def from_folder(folder: Path) -> Json:
    """One trace of all recordings in a folder."""
    parts = [unpacked(part.read_bytes()) for part in sorted(folder.glob(f"*{SUFFIX}"))]
    parts = [part for part in parts if part["events"]]
    if not parts:
        raise ValueError(f"there are no recordings in {folder}: no process has run a step")
    return merged(sorted(parts, key=lambda part: str(part["process"])))
