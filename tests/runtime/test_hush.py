"""jax is imported without a trace in the program that needs it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from weft.runtime.xla.hush import import_hushed


def test_importing_jax_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "jax.py").write_text("import numpy\nnumpy.random.rand(10)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(sys.modules, "jax", None)
    del sys.modules["jax"]
    np.random.seed(3)
    drawn = np.random.rand(2)
    np.random.seed(3)
    first = np.random.rand()
    assert import_hushed().__file__ == str(tmp_path / "jax.py")
    assert [first, np.random.rand()] == drawn.tolist()
