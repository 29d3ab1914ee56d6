"""Files that are downloaded, checked and unpacked."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import tarfile
import urllib.request
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import pytest

from weft.lib.keras.utils import files
from weft.lib.keras.utils.files import download, get_file, validate_file


@pytest.fixture
def served(tmp_path: Path) -> Path:
    """A folder of files that are elsewhere, with archives of one of them."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "data.txt").write_text("content")
    with tarfile.open(folder / "data.tar.gz", "w:gz") as archive:
        archive.add(folder / "data.txt", "data.txt")
    with zipfile.ZipFile(folder / "data.zip", "w") as archive:
        archive.write(folder / "data.txt", "inside/data.txt")
    return folder


def test_a_file_is_downloaded_once(served: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    origin = (served / "data.txt").as_uri()
    path = get_file("mine.txt", origin, cache_dir=str(cache))
    assert path == str(cache / "datasets" / "mine.txt")
    (served / "data.txt").write_text("changed")
    assert Path(get_file("mine.txt", origin, cache_dir=str(cache))).read_text() == "content"
    sha = hashlib.sha256(b"changed").hexdigest()
    again = get_file("mine.txt", origin, file_hash=sha, cache_dir=str(cache))
    assert Path(again).read_text() == "changed"
    assert validate_file(again, sha)
    assert validate_file(again, hashlib.md5(b"changed").hexdigest())
    assert not validate_file(again, hashlib.md5(b"other").hexdigest())


def test_archives_are_unpacked(served: Path, tmp_path: Path) -> None:
    cache = str(tmp_path)
    origin = (served / "data.tar.gz").as_uri()
    path = get_file("data.txt", origin, untar=True, cache_subdir="tar", cache_dir=cache)
    assert Path(path).read_text() == "content"
    origin = (served / "data.zip").as_uri()
    get_file("data.zip", origin, extract=True, cache_subdir="zip", cache_dir=cache)
    assert (tmp_path / "zip" / "inside" / "data.txt").read_text() == "content"


class _Broken(io.BytesIO):
    """A connection that breaks after half of what it announced."""

    headers: ClassVar[dict[str, str]] = {"Content-Length": "14"}


def test_a_download_that_breaks_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "datasets").mkdir()
    old = tmp_path / "datasets" / "mine.txt"
    old.write_text("old")
    monkeypatch.setattr(urllib.request, "urlopen", lambda _: _Broken(b"content"))
    wanted = "URL fetch failure on x: None -- retrieval incomplete: got only 7 out of 14 bytes"
    with pytest.raises(Exception, match=wanted):
        get_file("mine.txt", "x", file_hash="0" * 64, cache_dir=str(tmp_path))
    assert old.read_text() == "old"
    assert list(old.parent.iterdir()) == [old]


def test_two_downloads_at_once(served: Path, tmp_path: Path, monkeypatch) -> None:
    """One that has not ended does not get in the way of another."""
    origin, target = (served / "data.txt").as_uri(), tmp_path / "mine.txt"
    copy = files._copy

    def copy_twice(source: Any, to: Any) -> None:
        monkeypatch.setattr(files, "_copy", copy)
        download(origin, str(target))
        copy(source, to)

    monkeypatch.setattr(files, "_copy", copy_twice)
    download(origin, str(target))
    assert target.read_text() == "content"
    assert [each.name for each in tmp_path.iterdir() if each.is_file()] == ["mine.txt"]


def test_half_an_archive_is_not_taken_for_the_whole(served: Path, tmp_path: Path) -> None:
    (served / "folder").mkdir()
    for name in ("first", "second"):
        (served / "folder" / name).write_bytes(os.urandom(4096))
    with tarfile.open(served / "folder.tar", "w") as archive:
        archive.add(served / "folder", "folder")
    whole = (served / "folder.tar").read_bytes()
    (served / "folder.tar").write_bytes(whole[: len(whole) // 2])
    with pytest.raises((tarfile.TarError, OSError)):
        get_file("folder", (served / "folder.tar").as_uri(), untar=True, cache_dir=str(tmp_path))
    assert not (tmp_path / "datasets" / "folder").exists()


def test_what_is_not_there(tmp_path: Path) -> None:
    origin = (tmp_path / "nothing").as_uri()
    with pytest.raises(Exception, match="URL fetch failure on file:"):
        get_file("mine.txt", origin, cache_dir=str(tmp_path))
    assert list((tmp_path / "datasets").iterdir()) == []


@pytest.mark.parametrize("name", ["../mine.txt", "a/../../mine.txt", ".."])
def test_names_stay_in_the_cache(name: str, served: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="leads out of the folder"):
        get_file(name, (served / "data.txt").as_uri(), cache_dir=str(tmp_path))


@pytest.mark.parametrize("kind", ["tar", "zip"])
@pytest.mark.parametrize("name", ["../out.txt", "/out.txt"])
def test_archives_stay_in_the_folder(kind: str, name: str, tmp_path: Path) -> None:
    archive, inside = tmp_path / "archive", tmp_path / "a" / "b"
    inside.mkdir(parents=True)
    name = str(tmp_path / "out.txt") if name[0] == "/" else name
    if kind == "zip":
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr(name, "content")
    else:
        with tarfile.open(archive, "w") as made:
            made.addfile(tarfile.TarInfo(name))
            link = tarfile.TarInfo("link")
            link.type, link.linkname = tarfile.SYMTYPE, "/etc"
            made.addfile(link)
    with contextlib.suppress(tarfile.TarError):
        files.extract_archive(str(archive), str(inside), kind)
    assert not (tmp_path / "out.txt").exists() and not (tmp_path / "a" / "out.txt").exists()
    assert not (inside / "link").exists()
