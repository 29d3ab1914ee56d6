"""The distribution that takes the name of TensorFlow."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging" / "weft-tensorflow"
PROGRAM = """
import tensorflow.contrib.slim.nets
from tensorflow.python.ops import math_ops
import tensorflow as tf
import weft
assert math_ops.reduce_sum is tf.reduce_sum is weft.reduce_sum
with tf.Session() as session:
    print(session.run(tf.constant(2) + 3))
"""


def python(executable: str, program: str, *paths: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(
        [executable, "-c", program], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_its_package_is_weft() -> None:
    assert python(sys.executable, PROGRAM, str(FOLDER), str(ROOT)) == "5\n"


def test_its_metadata() -> None:
    project = tomllib.loads((FOLDER / "pyproject.toml").read_text())["project"]
    own = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert (project["name"], project["version"]) == ("tensorflow", "1.15.5")
    assert project["dependencies"] == ["weft"]
    assert project["requires-python"] == own["requires-python"]
    assert not [each for each in own["dependencies"] if each.startswith("tensorflow")]


def empty_wheel(folder: Path, name: str, *requires: str) -> Path:
    """A distribution that has nothing but requirements."""
    path = folder / f"{name}-1.0-py3-none-any.whl"
    metadata = [f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0"]
    metadata += [f"Requires-Dist: {each}" for each in requires]
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{name}-1.0.dist-info/METADATA", "\n".join(metadata) + "\n")
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{name}-1.0.dist-info/WHEEL", tags)
        wheel.writestr(f"{name}-1.0.dist-info/RECORD", "")
    return path


@pytest.mark.slow
def test_the_wheel(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    source = tmp_path / "source"
    for file in ("pyproject.toml", "README.md", "tensorflow/__init__.py"):
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        (source / file).write_bytes((FOLDER / file).read_bytes())
    subprocess.run([*pip, "wheel", "--no-deps", "-w", tmp_path, source], check=True)
    (built,) = tmp_path.glob("tensorflow-1.15.5-*.whl")
    venv.create(tmp_path / "venv")
    inside = str(tmp_path / "venv" / "bin" / "python")
    install = [*pip, "--python", inside, "install", "--no-index"]
    subprocess.run([*install, built, empty_wheel(tmp_path, "weft")], check=True)
    # There is no index: a library is content with what is installed.
    library = empty_wheel(tmp_path, "a_library", "tensorflow>=1.14,<2")
    subprocess.run([*install, library], check=True)
    libraries = [path for path in sys.path if path.endswith("site-packages")]
    program = PROGRAM + "import importlib.metadata as m; print(m.version('tensorflow'))"
    assert python(inside, program, str(ROOT), *libraries) == "5\n1.15.5\n"
