"""The folder of compiled programs stays within its limit, and loses only what is weft's."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.core import cache, flags

MEGABYTE = b"\0" * 2**20


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    with flags.CACHE.override(str(tmp_path)):
        yield tmp_path


def put(folder: Path, letter: str, used: float) -> Path:
    path = folder / f"jit_run-{letter * 64}-cache"
    path.write_bytes(MEGABYTE)
    os.utime(path, (used, used))
    return path


def test_the_oldest_go(folder: Path) -> None:
    new, old, middle = put(folder, "a", 3000), put(folder, "b", 1000), put(folder, "c", 2000)
    with flags.CACHE_LIMIT.override(2):
        cache.trim()
        assert not old.exists() and new.exists() and middle.exists()
        cache.trim()
        assert len(cache.entries()) == 2
    with flags.CACHE_LIMIT.override(0):
        cache.trim()
        assert len(cache.entries()) == 2


def test_what_is_not_ours_stays(folder: Path) -> None:
    mine = [folder / name for name in ("notes.txt", "my-cache", "jit_run-abc-cache")]
    for path in mine:
        path.write_text("mine")
    put(folder, "a", 1000)
    cache.keep_time("abc", 12.0)
    (folder / cache.LEGACY / "00").mkdir(parents=True)
    (folder / cache.LEGACY / "00" / "1234").write_bytes(b"code")
    assert len(cache.entries()) == 3
    with flags.CACHE_LIMIT.override(0):
        assert len(cache.clear()) == 3
    assert all(path.read_text() == "mine" for path in mine)
    assert cache.entries() == []


def test_times(folder: Path) -> None:
    assert cache.last_time("abc") is None
    cache.keep_time("abc", 12.34)
    assert cache.last_time("abc") == 12.3
    (folder / cache.TIMES / "abc").write_text("soon")
    assert cache.last_time("abc") is None


def test_without_a_cache() -> None:
    with flags.CACHE.override("0"):
        cache.keep_time("abc", 1.0)
        cache.trim()
        assert cache.last_time("abc") is None
        assert cache.entries() == [] == cache.clear()


HOME = os.path.expanduser("~")


@pytest.mark.parametrize(
    ("system", "environment", "expected"),
    [
        ("linux", {}, f"{HOME}/.cache/weft"),
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/weft"),
        ("darwin", {}, f"{HOME}/Library/Caches/weft"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/weft/Cache"),
        ("win32", {}, f"{HOME}/AppData/Local/weft/Cache"),
    ],
)
def test_its_place(system: str, environment: dict[str, str], expected: str) -> None:
    assert flags.users_cache(system, environment) == expected


def test_its_place_is_that_of_platformdirs(monkeypatch: pytest.MonkeyPatch) -> None:
    platformdirs = pytest.importorskip("platformdirs")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    for system, module in (("linux", "Unix"), ("darwin", "MacOS")):
        kind = pytest.importorskip(f"platformdirs.{module.lower()}")
        place = getattr(kind, module)("weft", appauthor=False).user_cache_dir
        assert flags.users_cache(system, {}) == place
    assert platformdirs.user_cache_dir("weft", appauthor=False)
