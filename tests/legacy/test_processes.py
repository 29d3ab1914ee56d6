"""What a program starts, and what starts a program, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


def weft(*args: str, **options) -> subprocess.CompletedProcess:
    """Runs the command; the checkout is on the path whether or not it is installed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "weft", *args],
        capture_output=True,
        text=True,
        env=environment,
        **options,
    )


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).write_text(text)


SPAWNS = """\
import multiprocessing
import numpy as np
from old import half

def work(x):
    import tensorflow as tf
    return np.float(half(x)) + tf.float32.size, __name__

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [3]))
"""


def test_processes_of_multiprocessing(tmp_path: Path) -> None:
    """They find TensorFlow, the old names, and modules in Python 2."""
    write(
        tmp_path, {"train.py": SPAWNS, "old.py": "def half(x):\n    print ''\n    return x / 2\n"}
    )
    done = weft("run", str(tmp_path / "train.py"))
    assert done.stdout.split("\n")[-2] == "[(5.0, '__mp_main__')]", done.stderr


POOLS = """\
import multiprocessing
import numpy as np

def work(x):
    return np.float(x)

for _ in range(3):
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.map(work, [3, 4]))
"""


def test_workers_that_are_forked_tell_of_old_names_once(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": POOLS})
    done = weft("run", str(tmp_path / "train.py"))
    assert done.stdout == "[3.0, 4.0]\n" * 3
    assert done.stderr.count("uses np.float") == 1


def test_a_script_that_a_program_starts(tmp_path: Path) -> None:
    child = "import sys, tensorflow as tf\nprint sys.argv[1:], 3 / 2, tf.float32.size, __name__\n"
    parent = "import subprocess, sys\n"
    parent += "subprocess.check_call([sys.executable, '-u', 'child.py', 'a b'])\n"
    parent += "code = 'import sys; print(\"weft\" in sys.modules); import other'\n"
    parent += "subprocess.check_call([sys.executable, '-c', code])\n"
    write(tmp_path, {"child.py": child, "other.py": "print 1 / 2\n", "parent.py": parent})
    done = weft("run", "parent.py", cwd=tmp_path)
    assert done.stdout == "['a b'] 1 4 __main__\nFalse\n0\n", done.stderr


def test_a_notebook(tmp_path: Path) -> None:
    cells = ["import tensorflow as tf\nx = None", "def f():\n    return 1 / 0\n", "f()"]
    made = [{"cell_type": "code", "source": cell, "metadata": {"on": True}} for cell in cells]
    write(tmp_path, {"book.ipynb": json.dumps({"cells": made})})
    done = weft("run", "book.ipynb", cwd=tmp_path)
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if "^" not in line]
    assert lines == [
        "Traceback (most recent call last):",
        '  File "book.ipynb[3]", line 1, in <module>',
        "    f()",
        '  File "book.ipynb[2]", line 2, in f',
        "    return 1 / 0",
        "ZeroDivisionError: division by zero",
    ]


def test_pytest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Test files are loaded by pytest itself, which keeps what it has made of them."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    test = "import unittest\nimport numpy as np\nclass Old(unittest.TestCase):\n"
    test += "    def test_it(self):\n        self.assertItemsEqual([np.float(1)], [1.0])\n"
    write(
        tmp_path,
        {"test_names.py": test, "test_old.py": "def test_it():\n    assert 3 / 2 == `1`\n"},
    )
    done = weft("run", "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)
    assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
    assert "assert 1 == '1'" in done.stdout or "AssertionError" in done.stdout
    plain = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_names.py"]
    again = subprocess.run(plain, cwd=tmp_path, capture_output=True, text=True)
    assert "has no attribute 'assertItemsEqual'" in again.stdout


def test_an_installed_command() -> None:
    assert weft("run", "pytest", "--version").stdout.startswith("pytest ")


def test_a_traceback_of_python_2(tmp_path: Path) -> None:
    write(tmp_path, {"bad.py": "print 'a'\nimport other\n", "other.py": "x = (1\n"})
    done = weft("run", "bad.py", cwd=tmp_path)
    notice, *rest = done.stderr.splitlines()
    assert notice == "bad.py is a Python 2 program: it is translated in memory"
    assert rest[:3] == [
        "Traceback (most recent call last):",
        '  File "bad.py", line 2, in <module>',
        "    import other",
    ]
    assert rest[-1].startswith("SyntaxError: ") and len(rest) == 7


@pytest.mark.parametrize("order", [["--strict", "old.py"], ["--strict", "-m", "old"]])
def test_strict(order: list[str], tmp_path: Path) -> None:
    write(tmp_path, {"old.py": "import numpy as np\nprint(np.float)\n"})
    done = weft("run", *order, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith(
        "old.py:2 uses np.float, gone since NumPy 1.24 (--strict)"
    )
