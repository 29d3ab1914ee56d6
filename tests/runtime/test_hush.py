"""jax is imported without a trace in the program that needs it."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import numpy as np, sys
from weft.runtime.xla.hush import import_hushed
np.random.seed(3)
drawn = np.random.rand(2).tolist()
np.random.seed(3)
first = np.random.rand()
assert "jax" not in sys.modules
import_hushed()
assert "jax" in sys.modules
assert [first, np.random.rand()] == drawn
"""


def test_importing_jax_draws_nothing() -> None:
    subprocess.run([sys.executable, "-c", _PROGRAM], check=True, timeout=120)
