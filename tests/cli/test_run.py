"""`weft run`, in processes of its own: what a program sees, and what its caller sees."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """\
import sys
import tensorflow as tf
from tensorflow.python.framework import ops
a = tf.add(3, 5)
assert isinstance(a, ops.Tensor)
with tf.Session() as sess:
    print(sess.run(a), sys.argv, __name__, __file__)
"""


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


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_a_program_runs_as_it_is(tmp_path: Path) -> None:
    script = write(tmp_path / "add.py", PROGRAM)
    args = ["--steps", "3", "-v", "--help", "--", "-m"]
    done = weft("run", script, *args)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"8 {[script, *args]} __main__ {script}\n"
    assert done.stderr == ""


def test_modules_next_to_the_program(tmp_path: Path) -> None:
    """Numbers in lists are printed as NumPy of that time printed them."""
    write(tmp_path / "model.py", "import tensorflow.compat.v1 as tf\nx = tf.constant(2.5)\n")
    show = "import model, numpy\nprint(model.x, [numpy.float32(1.5)])\n"
    script = write(tmp_path / "train.py", show)
    done = weft("run", "train.py", cwd=tmp_path)
    assert done.stdout == 'Tensor("Const:0", shape=(), dtype=float32) [1.5]\n', done.stderr
    assert weft("run", script).stdout == done.stdout


def test_a_module(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    write(package / "__init__.py", "")
    write(package / "train.py", "from . import data\nimport sys\nprint(data.N, sys.argv)\n")
    write(package / "data.py", "import tensorflow as tf\nN = tf.float32.size\n")
    done = weft("run", "-m", "package.train", "--lr", "0.1", cwd=tmp_path)
    assert done.stdout == f"4 {[str(package / 'train.py'), '--lr', '0.1']}\n", done.stderr


def test_standard_input() -> None:
    done = weft("run", "-", input="import tensorflow as tf\nprint(tf.add(1, 2))\n")
    assert done.stdout == 'Tensor("Add:0", shape=(), dtype=int32)\n', done.stderr


@pytest.mark.parametrize(
    ("program", "code"), [("import sys; sys.exit(7)", 7), ("raise SystemExit('no')", 1), ("", 0)]
)
def test_exit_codes(program: str, code: int, tmp_path: Path) -> None:
    assert weft("run", write(tmp_path / "exit.py", program)).returncode == code


def test_a_traceback_begins_at_the_program(tmp_path: Path) -> None:
    script = write(tmp_path / "bad.py", "def f():\n    return 1 / 0\n\nf()\n")
    done = weft("run", script)
    python = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == python.stderr


def test_a_syntax_error(tmp_path: Path) -> None:
    script = write(tmp_path / "bad.py", "x = 1\nprint(x\n")
    done = weft("run", script)
    python = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, python.stderr)


# A process started in the background may have been told to ignore interrupts.
INTERRUPTS_ITSELF = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
os.kill(os.getpid(), signal.SIGINT)
"""


def test_an_interrupt(tmp_path: Path) -> None:
    script = write(tmp_path / "stop.py", INTERRUPTS_ITSELF)
    done = weft("run", script)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_a_slip_is_met_with_a_name(tmp_path: Path) -> None:
    script = write(tmp_path / "slip.py", "import tensorflow as tf\ntf.nn.sofmax([1.0])\n")
    last = weft("run", script).stderr.splitlines()[-1]
    assert last.endswith("tensorflow.nn.sofmax is not in weft yet. Did you mean: 'softmax'?")


def test_a_missing_name(tmp_path: Path) -> None:
    script = write(tmp_path / "bad.py", "import tensorflow as tf\ntf.contrib.nothing.at_all()\n")
    done = weft("run", script)
    assert done.returncode == 1
    assert "is not in weft yet" in done.stderr.splitlines()[-1]


def test_a_missing_program() -> None:
    done = weft("run", "no_such_file.py")
    assert done.returncode == 2
    assert done.stderr == "weft run: cannot open 'no_such_file.py': No such file or directory\n"
    assert weft("run", "-m", "no_such_module").returncode == 2


def test_processes_that_the_program_starts(tmp_path: Path) -> None:
    write(tmp_path / "child.py", "import tensorflow as tf\nprint(tf.add(1, 2).name)\n")
    script = write(
        tmp_path / "parent.py",
        "import subprocess, sys\nsubprocess.run([sys.executable, 'child.py'], check=True)\n",
    )
    done = weft("run", script, cwd=tmp_path)
    assert done.stdout == "Add:0\n", done.stderr


def test_a_module_that_a_program_starts(tmp_path: Path) -> None:
    write(tmp_path / "child.py", "import tensorflow as tf\nprint(tf.add(1, 2).name)\n")
    script = write(
        tmp_path / "parent.py",
        "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'child'], check=True)\n",
    )
    assert weft("run", script, cwd=tmp_path).stdout == "Add:0\n"


def test_version_and_help() -> None:
    version = weft("--version")
    assert version.stdout.startswith("weft ")
    assert "TensorFlow 1.15" in version.stdout
    assert "weft run train.py" in weft("--help").stdout
    assert weft().returncode == 2


def test_devices() -> None:
    done = weft("devices")
    assert done.returncode == 0, done.stderr
    assert "/device:CPU:0" in done.stdout
