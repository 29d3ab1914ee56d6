"""NumPy's random numbers are the program's: what it seeded is not drawn by anything else."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

PROGRAM = """
import sys
import numpy as np
from weft.runtime.xla.hush import import_hushed
np.random.seed(5)
assert "jax" not in sys.modules
import_hushed()
print(np.random.randint(2**31))
"""


def test_importing_jax_draws_none() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    expected = np.random.RandomState(5).randint(2**31)
    assert done.stdout == f"{expected}\n", done.stderr
