"""Files from elsewhere, kept in ~/.keras: downloaded once, checked, unpacked."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tarfile
import tempfile
import urllib.error
import urllib.request
import uuid
import zipfile
from typing import Any

from weft.lib.keras.utils.io_utils import say
from weft.lib.keras.utils.progress import Progbar

CHUNK = 1 << 16


def get_file(
    fname: str,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: Any = "auto",
    cache_dir: str | None = None,
) -> str:
    """The path of `fname` in the cache; downloads it from `origin` unless it is there.

    A file whose hash is not the one given is downloaded again. `untar` is the older way to say
    that `origin` is an archive: then the path is that of what it holds.
    """
    if md5_hash is not None and file_hash is None:
        file_hash, hash_algorithm = md5_hash, "md5"
    folder = cache_folder(cache_dir, cache_subdir)
    path = _path_in(folder, fname)
    archive = f"{path}.tar.gz" if untar else path
    if not _is_there(archive, file_hash, hash_algorithm):
        say(f"Downloading data from {origin}")
        download(origin, archive)
    if untar and not os.path.exists(path):
        _untar(archive, folder, path)
    elif extract:
        extract_archive(archive, folder, archive_format)
    return path


def cache_folder(cache_dir: str | None, cache_subdir: str) -> str:
    """A folder of the cache; in the temporary folder, where that of the user cannot be written."""
    base = os.path.expanduser(cache_dir or os.path.join("~", ".keras"))
    if cache_dir is None:
        with contextlib.suppress(OSError):
            os.makedirs(base, exist_ok=True)
    if not os.access(base, os.W_OK):
        base = os.path.join(tempfile.gettempdir(), ".keras")
    folder = os.path.join(base, cache_subdir)
    os.makedirs(folder, exist_ok=True)
    return folder


def _path_in(folder: str, fname: str) -> str:
    """The path of a file in the cache, or the full path that a program gives itself."""
    path = os.path.join(folder, fname)
    if not os.path.isabs(fname) and os.path.normpath(fname).split(os.sep)[0] == os.pardir:
        raise ValueError(f"The file name {fname!r} leads out of the folder {folder}")
    return path


def _is_there(path: str, file_hash: str | None, algorithm: str) -> bool:
    if not os.path.exists(path):
        return False
    if file_hash is None or validate_file(path, file_hash, algorithm):
        return True
    say(
        "A local file was found, but it seems to be incomplete or outdated because the "
        f"{algorithm} file hash does not match the original value of {file_hash} so we will "
        "re-download the data."
    )
    return False


def download(origin: str, path: str) -> None:
    """Writes what `origin` has to `path`; nothing is left there if that fails."""
    # Another process may be downloading the same.
    part = f"{path}.{uuid.uuid4().hex}.part"
    try:
        with urllib.request.urlopen(origin) as source, open(part, "wb") as target:
            _copy(source, target)
        os.replace(part, path)
    except urllib.error.HTTPError as error:
        raise Exception(f"URL fetch failure on {origin}: {error.code} -- {error.msg}") from error
    except urllib.error.URLError as error:
        raise Exception(
            f"URL fetch failure on {origin}: {error.errno} -- {error.reason}"
        ) from error
    finally:
        if os.path.exists(part):
            os.remove(part)


def _untar(archive: str, folder: str, path: str) -> None:
    """Unpacks what `path` is in; a half of it would pass for the whole the next time."""
    try:
        extract_archive(archive, folder, "tar")
    except BaseException:
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
        raise


def _copy(source: Any, target: Any) -> None:
    length, copied = source.headers.get("Content-Length"), 0
    bar = Progbar(int(length) if length else None)
    while chunk := source.read(CHUNK):
        target.write(chunk)
        copied += len(chunk)
        bar.add(len(chunk))
    if length and copied < int(length):
        # A connection that breaks looks like the end of the file.
        message = f"retrieval incomplete: got only {copied} out of {length} bytes"
        raise urllib.error.ContentTooShortError(message, (target.name, source.headers))


def _algorithm(algorithm: str, file_hash: str) -> str:
    return "sha256" if algorithm == "sha256" or len(file_hash) == 64 else "md5"


def validate_file(
    fpath: str, file_hash: str, algorithm: str = "auto", chunk_size: int = CHUNK
) -> bool:
    """Whether a file has this hash: SHA-256, or MD5 if it is shorter."""
    name = _algorithm(algorithm, file_hash) if algorithm == "auto" else algorithm
    hasher = hashlib.sha256() if name == "sha256" else hashlib.md5()
    with open(fpath, "rb") as file:
        while chunk := file.read(chunk_size):
            hasher.update(chunk)
    return hasher.hexdigest() == str(file_hash)


def extract_archive(file_path: str, path: str = ".", archive_format: Any = "auto") -> bool:
    """Unpacks a tar or zip file into the folder `path`; whether it was one."""
    if archive_format is None:
        return False
    formats = ["tar", "zip"] if archive_format == "auto" else archive_format
    for each in [formats] if isinstance(formats, str) else formats:
        if each == "tar" and tarfile.is_tarfile(file_path):
            with tarfile.open(file_path) as archive:
                archive.extractall(path, filter="data")
            return True
        if each == "zip" and zipfile.is_zipfile(file_path):
            shutil.unpack_archive(file_path, path, "zip")
            return True
    return False
