"""What bringing jax in leaves as it was."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import numpy as np
from weft.runtime.xla.hush import import_hushed
np.random.seed(4)
import_hushed()
print(np.random.get_state()[2])
"""


def test_loading_jax_draws_nothing_from_a_program_s_generator() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "624\n", done.stderr
