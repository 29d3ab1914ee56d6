"""Kernels in C++ touch only the memory that is theirs, and share it with their threads in order."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import jaxlib
import pytest

from tests.ops.native import CAN_BE_BUILT
from weft.core import machine

ROOT = Path(__file__).parents[2]
CHECK = Path(__file__).with_name("native_check.cc")
KINDS = {
    "avx512": ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mavx2", "-mfma"],
    "avx2": ["-mavx2", "-mfma"],
}
HERE = next((kind for kind in KINDS if machine.computes_with(kind)), None)


@pytest.mark.skipif(not CAN_BE_BUILT, reason="no C++ compiler, or no CPU, for weft's own kernels")
@pytest.mark.timeout(600)  # a compiler may have to share the machine
@pytest.mark.parametrize("sanitizers", ["address,undefined", "thread"])
def test_sanitizers_find_nothing(sanitizers: str, tmp_path: Path) -> None:
    program = tmp_path / "check"
    kernels = (p for p in (ROOT / "native").glob("*.cc") if '"python.h"' not in p.read_text())
    sources = [CHECK, *kernels]
    options = [f"-fsanitize={sanitizers}", "-fno-sanitize-recover", *KINDS.get(HERE or "", [])]
    folders = [ROOT / "native", Path(jaxlib.__file__).parent / "include"]
    built = subprocess.run(
        ["g++", "-std=c++17", "-O1", "-g1", "-pthread", *options]
        + [f"-I{folder}" for folder in folders]
        + [*map(str, sources), "-o", str(program)],
        capture_output=True, text=True,
    )  # fmt: skip
    if "cannot find" in built.stderr and "san" in built.stderr:
        pytest.skip("the compiler has no sanitizers")
    assert built.returncode == 0, built.stderr
    seed = str(random.randrange(1 << 30))
    run = subprocess.run([program, seed], capture_output=True, text=True)
    assert run.returncode == 0, f"seed {seed}\n{run.stdout}{run.stderr}"
