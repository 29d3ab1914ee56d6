import os
import pathlib
import subprocess
import sys

import pytest

from weft.core import flags

ROOT = pathlib.Path(__file__).parents[2]


def in_a_process(code, **environment):
    """Runs `code` after importing flags, with only these WEFT_ variables set."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("WEFT_")} | environment
    command = [sys.executable, "-c", "from weft.core import flags; " + code]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_defaults():
    shown = in_a_process("print(flags.FLAGS)").stdout
    for each in ("WEFT_DEBUG=0", "WEFT_DUMP=''", "WEFT_CONTROL_FLOW='whole'", "WEFT_XLA=True"):
        assert f"{each}, " in shown
    assert len({flag.name for flag in flags.FLAGS}) == len(flags.FLAGS)


def test_read_from_the_environment():
    shown = in_a_process("print(flags.FLAGS)", WEFT_DEBUG="3", WEFT_XLA="0", WEFT_DUMP="d").stdout
    for each in ("WEFT_DEBUG=3", "WEFT_DUMP='d'", "WEFT_CONTROL_FLOW='whole'", "WEFT_XLA=False"):
        assert f"{each}, " in shown


def test_unreadable_value():
    done = in_a_process("", WEFT_XLA="maybe")
    assert "ValueError: WEFT_XLA='maybe': expected 0 or 1" in done.stderr


def test_override():
    before = flags.DEBUG.value
    with flags.DEBUG.override(2):
        assert flags.DEBUG.value == 2 and flags.DEBUG
        with flags.DEBUG.override(0):
            assert not flags.DEBUG
        assert flags.DEBUG.value == 2
    assert flags.DEBUG.value == before
    with pytest.raises(ZeroDivisionError), flags.DEBUG.override(before + 1):
        raise ZeroDivisionError
    assert flags.DEBUG.value == before


def test_cache_directory(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    with flags.CACHE.override(""):
        assert flags.cache_directory() == os.path.join("/cache", "weft")
    with flags.CACHE.override("0"):
        assert flags.cache_directory() is None
    with flags.CACHE.override("here"):
        assert flags.cache_directory() == "here"


def test_table_lists_every_flag():
    rows = flags.table().splitlines()
    assert rows[0] == "| switch | default | meaning |" and len(rows) == 2 + len(flags.FLAGS)
    assert any(row.startswith("| `WEFT_XLA` | `1` | ") for row in rows)
    assert any(row.startswith("| `WEFT_DUMP` | empty | ") for row in rows)
