"""The tests of a GPU, on any machine: with a device of the host that passes for one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def test_a_device_with_another_memory() -> None:
    command = [sys.executable, "-m", "pytest", "-p", "tests.posing", "-p", "no:cacheprovider"]
    found = subprocess.run(
        [*command, "-q", "-m", "gpu", "tests/gpu"],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert found.returncode == 0, found.stdout[-5000:] + found.stderr[-2000:]
    passed = re.search(r"(\d+) passed, 1 skipped", found.stdout)
    assert passed and int(passed[1]) >= 19, found.stdout[-500:]
