"""`weft cache`: what is kept, and how it goes."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.cli.main import main
from weft.core import flags


def test_show_and_clear(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / f"jit_run-{'0' * 64}-cache").write_bytes(b"\0" * 2**20)
    (tmp_path / "notes.txt").write_text("mine")
    with flags.CACHE.override(str(tmp_path)), flags.CACHE_LIMIT.override(100):
        assert main(["cache", "show"]) == 0
        assert capsys.readouterr().out == (
            f"folder:  {tmp_path}\nlimit:   100 MB (WEFT_CACHE_LIMIT)\n"
            "holds:   1 programs, 0 other files, 1.0 MB\noldest:  last used 0 days ago\n"
        )
        assert main(["cache", "clear"]) == 0
        assert capsys.readouterr().out == "removed 1 programs, 0 other files, 1.0 MB\n"
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_none(capsys: pytest.CaptureFixture[str]) -> None:
    with flags.CACHE.override("0"):
        assert main(["cache", "show"]) == 0
    assert capsys.readouterr().out == "folder:  none (WEFT_CACHE=0)\n"
