"""A TensorFlow to compare with, in `.venv-tf`: made at the first call. As a program: makes it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

VENV = Path(__file__).parent.parent / ".venv-tf"
WANTED = "tensorflow==2.21.*"


def interpreter() -> Path:
    """The interpreter that has TensorFlow."""
    python = VENV / "bin" / "python"
    has_it = [python, "-c", "import importlib.metadata as m; m.version('tensorflow')"]
    if python.exists() and subprocess.run(has_it, stderr=subprocess.DEVNULL).returncode == 0:
        return python
    print(f"Installing {WANTED} into {VENV.name} (minutes, once)", file=sys.stderr)
    subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", WANTED], check=True)
    return python


if __name__ == "__main__":
    interpreter()
