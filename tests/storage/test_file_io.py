"""tf.gfile and tf.io.gfile, on disk and on a file system of fsspec's."""

from __future__ import annotations

import itertools
from typing import ClassVar

import pytest

import weft as tf
from weft.storage import file_io

_serial = itertools.count()


@pytest.fixture(params=["local", "memory"])
def root(request, tmp_path):
    """A directory, local or remote."""
    if request.param == "local":
        yield str(tmp_path)
        return
    path = f"memory://root{next(_serial)}"
    file_io.makedirs(path)
    yield path
    file_io.rmtree(path)


def write(path, content):
    with tf.gfile.GFile(path, "w") as file:
        file.write(content)


def test_text_and_bytes(root):
    path = f"{root}/file"
    write(path, "grün\nline two\nend")
    with tf.gfile.GFile(path) as file:
        assert file.read(1) == "g"
        assert file.tell() == 1 and file.readline() == "rün\n"
        assert list(file) == ["line two\n", "end"]
        file.seek(0)
        assert file.readlines()[1] == "line two\n"
        file.seek(-3, whence=2)
        assert file.read() == "end"
        assert file.size() == len("grün\nline two\nend".encode())
    with tf.gfile.GFile(path, "rb") as file:
        assert file.read() == "grün\nline two\nend".encode()


def test_a_file_is_opened_when_it_is_used(root):
    file = tf.gfile.GFile(f"{root}/later", "r")
    write(f"{root}/later", "here")
    assert file.read() == "here"
    file.close()
    missing = tf.gfile.GFile(f"{root}/missing")
    with pytest.raises(tf.errors.NotFoundError):
        missing.read()


def test_appending(tmp_path):
    path = str(tmp_path / "log")
    for line in ("one\n", b"two\n"):
        with tf.gfile.Open(path, "a") as file:
            file.write(line)
    assert file_io.read_file_to_string(path) == "one\ntwo\n"
    with tf.gfile.FastGFile(path, "a+") as file:
        file.write("three\n")
        file.flush()
        assert file.readlines()[-1] == "three\n"


def test_modes_are_kept(tmp_path):
    path = str(tmp_path / "file")
    write(path, "x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for writing"):
        tf.gfile.GFile(path, "r").write("y")
    with tf.gfile.GFile(path, "w") as file:
        with pytest.raises(tf.errors.PermissionDeniedError, match="isn't open for reading"):
            file.read()
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode is not"):
        tf.gfile.GFile(path, "x")


def test_seek_checks_its_arguments(tmp_path):
    path = str(tmp_path / "file")
    write(path, "abc")
    with tf.gfile.GFile(path) as file:
        file.seek(position=1)
        assert file.read() == "bc"
        with pytest.raises(TypeError, match="offset argument required"):
            file.seek()
        with pytest.raises(TypeError, match="simultaneously"):
            file.seek(1, position=1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="whence"):
            file.seek(0, whence=3)
        with pytest.raises(tf.errors.InvalidArgumentError):
            file.seek(-1)


def test_directories(root):
    tf.io.gfile.makedirs(f"{root}/a/b")
    tf.io.gfile.makedirs(f"{root}/a/b")
    assert tf.io.gfile.isdir(f"{root}/a") and not tf.io.gfile.isdir(f"{root}/none")
    write(f"{root}/a/x", "1")
    write(f"{root}/a/b/y", "22")
    assert sorted(tf.io.gfile.listdir(f"{root}/a")) == ["b", "x"]
    walked = [(sorted(d), sorted(f)) for _, d, f in tf.io.gfile.walk(f"{root}/a")]
    assert walked == [(["b"], ["x"]), ([], ["y"])]
    assert next(tf.gfile.Walk(f"{root}/a", in_order=False))[2] == ["y"]
    assert list(tf.io.gfile.walk(f"{root}/none")) == []
    tf.io.gfile.rmtree(f"{root}/a")
    assert not tf.io.gfile.exists(f"{root}/a")
    with pytest.raises(tf.errors.NotFoundError, match="Could not find directory"):
        tf.io.gfile.listdir(f"{root}/a")


def test_the_directory_of_a_bare_file_name_needs_no_making():
    for make in (tf.gfile.MkDir, tf.gfile.MakeDirs, tf.io.gfile.mkdir, tf.io.gfile.makedirs):
        make("")
    assert not tf.gfile.Exists("")


def test_what_is_there_needs_no_making(root):
    tf.gfile.MkDir(f"{root}/new")
    write(f"{root}/new/file", "1")
    tf.gfile.MkDir(f"{root}/new")
    tf.io.gfile.mkdir(f"{root}/new/file")
    assert tf.gfile.ListDirectory(f"{root}/new") == ["file"]


def test_copy_rename_remove(root):
    one, two = f"{root}/one", f"{root}/two"
    write(one, "1")
    tf.gfile.Copy(one, two)
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Copy(one, two)
    tf.gfile.Copy(one, two, overwrite=True)
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.gfile.Rename(one, two)
    tf.gfile.Rename(one, two, overwrite=True)
    assert not tf.gfile.Exists(one) and tf.gfile.Stat(two).length == 1
    tf.gfile.Remove(two)
    with pytest.raises(tf.errors.NotFoundError):
        tf.gfile.Remove(two)


def test_patterns(tmp_path):
    for name in ("b.txt", "a.txt", ".hidden.txt", "c.log"):
        (tmp_path / name).touch()
    found = tf.gfile.Glob(str(tmp_path / "*.txt"))
    assert [name.rsplit("/", 1)[1] for name in found] == [".hidden.txt", "a.txt", "b.txt"]
    two = tf.io.gfile.glob([str(tmp_path / "[ab].txt"), str(tmp_path / "*.log")])
    assert [name[-5:] for name in two] == ["a.txt", "b.txt", "c.log"]
    assert tf.gfile.Glob(str(tmp_path / "none*")) == []


def test_between_file_systems(tmp_path):
    write(str(tmp_path / "here"), "content")
    there = f"memory://copy{next(_serial)}"
    tf.io.gfile.copy(tmp_path / "here", there)
    assert file_io.read_file_to_string(there, binary_mode=True) == b"content"
    assert file_io.filecmp(tmp_path / "here", there)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.io.gfile.rename(there, str(tmp_path / "back"))
    tf.io.gfile.remove(there)


def test_errors_are_tensorflows(tmp_path):
    path = str(tmp_path / "file")
    write(path, "")
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.gfile.MkDir(path + "/below")
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.gfile.GFile(str(tmp_path)).read()
    with pytest.raises(tf.errors.UnimplementedError, match="File system scheme 'nosuch'"):
        tf.gfile.Exists("nosuch://x")


def test_a_file_is_replaced_as_a_whole(tmp_path):
    path = tmp_path / "state"
    for content in ("old", "new"):
        file_io.atomic_write_string_to_file(path, content)
    assert path.read_text() == "new" and [p.name for p in tmp_path.iterdir()] == ["state"]
    with pytest.raises(tf.errors.AlreadyExistsError):
        file_io.atomic_write_string_to_file(path, "other", overwrite=False)
    assert path.read_text() == "new" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("gs://bucket/x", "install gcsfs to use it"),
        ("s3://bucket/x", "install s3fs to use it"),
        ("hdfs://host/x", "install pyarrow to use it"),
        ("nosuch://x", "Protocol not known: nosuch"),
    ],
)
def test_a_missing_driver_is_named(path, why, monkeypatch):
    def missing(url):
        raise (ValueError if "nosuch" in url else ImportError)(f"Protocol not known: {url[:6]}")

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    scheme = path.split(":")[0]
    message = rf"File system scheme '{scheme}' not implemented \(file: '{path}'\): {why}"
    with pytest.raises(tf.errors.UnimplementedError, match=message):
        file_io.exists(path)


def test_the_host_is_part_of_the_path():
    """As in hdfs://host:8020/folder."""
    import fsspec
    from fsspec.implementations.memory import MemoryFileSystem

    class Hosted(MemoryFileSystem):
        protocol = "hosted"
        seen: ClassVar[list] = []

        def __init__(self, host=None, **kwargs):
            super().__init__(**kwargs)
            self.seen.append(host)

        @classmethod
        def _strip_protocol(cls, path):
            return "/" + path.split("://", 1)[-1].partition("/")[2]

        @staticmethod
        def _get_kwargs_from_urls(url):
            return {"host": url.split("://", 1)[1].partition("/")[0]}

    fsspec.register_implementation("hosted", Hosted, clobber=True)
    assert not file_io.exists("hosted://first:8020/x")
    assert not file_io.exists("hosted://second/x")
    assert Hosted.seen == ["first:8020", "second"]
