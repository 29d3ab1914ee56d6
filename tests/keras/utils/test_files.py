"""Files that are downloaded, checked and unpacked."""

from __future__ import annotations

import hashlib
import tarfile
import zipfile
from pathlib import Path

import pytest

from weft.keras.utils.files import get_file, validate_file


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


def test_what_is_not_there(tmp_path: Path) -> None:
    origin = (tmp_path / "nothing").as_uri()
    with pytest.raises(Exception, match="URL fetch failure on file:"):
        get_file("mine.txt", origin, cache_dir=str(tmp_path))
    assert list((tmp_path / "datasets").iterdir()) == []
