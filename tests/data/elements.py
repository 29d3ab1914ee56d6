"""Elements as JSON, whoever made them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def drain(tf: Any, session: Any, element: Any, most: int = 1000) -> list[Any]:
    """What a session gets until the end."""
    found = []
    try:
        for _ in range(most):
            found.append(session.run(element))  # noqa: PERF401
    except tf.errors.OutOfRangeError:
        pass
    return found


def plain(value: Any) -> Any:
    """A fetched structure, with types, as JSON."""
    if isinstance(value, dict):
        return {key: plain(value[key]) for key in sorted(value)}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, bytes):
        return value.decode()
    array = np.asarray(value)
    if array.dtype == object:
        return (
            {"string": np.vectorize(bytes.decode, otypes=[object])(array).tolist()}
            if array.size
            else {"string": []}
        )
    return {array.dtype.name: array.tolist()}


def shown(structure: Any) -> Any:
    """A structure of types or shapes as JSON."""
    if isinstance(structure, dict):
        return {key: shown(structure[key]) for key in sorted(structure)}
    if isinstance(structure, tuple):
        return [shown(each) for each in structure]
    if hasattr(structure, "name"):
        return structure.name
    return None if structure.ndims is None else structure.as_list()


def same(ours: Any, theirs: Any) -> bool:
    """Whether elements are equal, but for how floats are rounded."""
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, float) and isinstance(ours, float):
        return math.isclose(ours, theirs, rel_tol=1e-6)
    return bool(ours == theirs)
