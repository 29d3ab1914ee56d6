"""Programs that both TensorFlow and weft can run, as tables of functions of (tf, keras)."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "recorded"
Program = Callable[[Any, Any], Any]


def play(tf: Any, keras: Any, program: Program) -> list[np.ndarray]:
    """The values of what a program builds, or what it returns if that is arrays already."""
    keras.backend.clear_session()
    built = program(tf, keras)
    built = list(built) if isinstance(built, (list, tuple)) else [built]
    tensors = [hasattr(x, "graph") for x in built]
    session = keras.backend.get_session()
    values = session.run([x for x, is_tensor in zip(built, tensors, strict=True) if is_tensor])
    computed = iter(values)
    return [
        np.asarray(next(computed) if is_tensor else x)
        for x, is_tensor in zip(built, tensors, strict=True)
    ]


def write(name: str, results: dict[str, list[np.ndarray]]) -> None:
    """Stores results as one array of numbers for each program, and their shapes and types."""
    kinds = {
        key: [[list(a.shape), a.dtype.name] for a in arrays] for key, arrays in results.items()
    }
    flat = {
        key: np.concatenate([np.ravel(a).astype(np.float64) for a in arrays])
        for key, arrays in results.items()
    }
    np.savez_compressed(RECORDED / f"{name}.npz", **flat)
    (RECORDED / f"{name}.json").write_text(json.dumps(kinds, indent=0, sort_keys=True) + "\n")


class Recorded:
    """What `write` stored."""

    def __init__(self, name: str) -> None:
        self._kinds = json.loads((RECORDED / f"{name}.json").read_text())
        with np.load(RECORDED / f"{name}.npz") as file:
            self._flat = dict(file)

    def check(self, key: str, found: list[np.ndarray], rtol: float = 2e-5, atol: float = 1e-6):
        """Fails unless `found` has the recorded shapes, types and values."""
        assert [[list(a.shape), a.dtype.name] for a in found] == self._kinds[key]
        flat = np.concatenate([np.ravel(a).astype(np.float64) for a in found])
        np.testing.assert_allclose(flat, self._flat[key], rtol=rtol, atol=atol)
