"""The first compiled program leaves NumPy's own generator, which the user has seeded, alone."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np

from weft.runtime.xla.hush import _numbers_apart

IMPORTED = """
import numpy as np
from weft.runtime.xla.hush import import_hushed
np.random.seed(3)
import_hushed()
print(np.random.randint(0, 100, 5).tolist())
"""


def test_importing_jax_draws_no_numbers_of_the_program() -> None:
    told = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True)
    assert told.stdout.strip() == "[24, 3, 56, 72, 0]", told.stderr


def test_other_threads_draw_on_meanwhile() -> None:
    drawn = []
    np.random.seed(3)
    with _numbers_apart():
        np.random.rand(5)
        other = threading.Thread(target=lambda: drawn.append(np.random.rand()))
        other.start()
        other.join()
    drawn.append(np.random.rand())
    np.random.seed(3)
    assert drawn == list(np.random.rand(2))
