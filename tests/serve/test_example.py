"""The example, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.serve.serving import Start
from weft.serve.config import ModelConfig

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = ROOT / "examples" / "serving"


def printed(*words: object) -> str:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout


def test_train_serve_ask(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "iris"
    printed(EXAMPLE / "train.py", folder, "--steps", 200)
    client = start(models=(ModelConfig("iris", str(folder)),))
    address = f"http://127.0.0.1:{client.server.rest_port}"
    lines = printed(EXAMPLE / "ask.py", address).splitlines()
    assert [line.split()[0] for line in lines] == ["setosa", "virginica"]
