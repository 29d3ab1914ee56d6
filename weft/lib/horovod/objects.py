"""Objects of Python that processes tell each other, pickled."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.client.session import Session
from weft.core import dtypes
from weft.graph.graph import Graph
from weft.lib.distribute import group_ops
from weft.lib.horovod.basics import rank, size
from weft.ops.array import placeholders

_WORD = 8  # bytes


def gather_numbers(numbers: Sequence[int]) -> np.ndarray:
    """The numbers of all processes, a row for each; all have as many."""
    if size() == 1:
        return np.array([numbers], np.int64)
    return _run(np.array([numbers], np.int64), group_ops.gather)


def broadcast_object(
    obj: Any, root_rank: int = 0, session: Any = None, name: str | None = None
) -> Any:
    """What the process of rank `root_rank` has."""
    if size() == 1:
        return obj
    data = pickle.dumps(obj) if rank() == root_rank else b""
    length = int(gather_numbers([len(data)])[root_rank, 0])
    words = _words(data, length)
    found = _run(words, lambda tensor: group_ops.broadcast(tensor, root_rank))
    return obj if rank() == root_rank else pickle.loads(found.tobytes()[:length])


def allgather_object(obj: Any, session: Any = None, name: str | None = None) -> list[Any]:
    """What all processes have, in the order of their ranks."""
    data = pickle.dumps(obj)
    lengths = gather_numbers([len(data)])[:, 0]
    if size() == 1:
        return [obj]
    rows = _run(_words(data, int(lengths.max()))[None], group_ops.gather)
    return [pickle.loads(r.tobytes()[: int(n)]) for r, n in zip(rows, lengths, strict=True)]


def _words(data: bytes, length: int) -> np.ndarray:
    """Bytes as numbers that collectives take, up to a length that all processes have."""
    whole = -(-length // _WORD) * _WORD
    return np.frombuffer(data.ljust(whole, b"\0"), np.int64)


def _run(value: np.ndarray, make: Any) -> np.ndarray:
    """What a collective makes of a value, in a graph of its own."""
    with Graph().as_default():
        given = placeholders.placeholder(dtypes.int64, value.shape)
        with Session() as session:
            found: np.ndarray = session.run(make(given), {given: value})
            return found
