"""Graphs of a server that is confined to a folder, or to no files."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core.errors import NotFoundError, PermissionDeniedError
from weft.storage.confinement import ANYWHERE, NOWHERE, confined, is_confined, permitted

Make = Callable[[str], Any]


def of_dataset(dataset: Any) -> Any:
    return tf.data.make_one_shot_iterator(dataset).get_next()


def of_reader(reader: Any, path: str) -> Any:
    queue = tf.FIFOQueue(2, tf.string, shapes=[[]])
    with tf.control_dependencies([queue.enqueue(path)]):
        return reader.read(queue)


def saver(path: str) -> Any:
    return tf.raw_ops.SaveV2(
        prefix=path, tensor_names=["x"], shape_and_slices=[""], tensors=[tf.constant(1.0)]
    )


def table(path: str) -> Any:
    words = tf.contrib.lookup.index_table_from_file(path)
    return tf.tables_initializer(), words


def summary(path: str) -> Any:
    with tf.contrib.summary.create_file_writer(path).as_default():
        return tf.contrib.summary.summary_writer_initializer_op()


def rows(path: str) -> Any:
    return of_dataset(tf.data.experimental.SqlDataset("sqlite", path, "SELECT 1", (tf.int32,)))


FILE_OPS: dict[str, Make] = {
    "ReadFile": tf.io.read_file,
    "WriteFile": lambda path: tf.io.write_file(path, "x"),
    "MatchingFiles": lambda path: tf.io.matching_files(path),
    "SaveV2": saver,
    "RestoreV2": lambda path: tf.raw_ops.RestoreV2(
        prefix=path, tensor_names=["x"], shape_and_slices=[""], dtypes=[tf.float32]
    ),
    "Restore": lambda path: tf.raw_ops.Restore(
        file_pattern=path, tensor_name="x", dt=tf.float32, preferred_shard=-1
    ),
    "Save": lambda path: tf.raw_ops.Save(
        filename=path, tensor_names=["x"], data=[tf.constant(1.0)]
    ),
    "MergeV2Checkpoints": lambda path: tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[path], destination_prefix=path
    ),
    "TFRecordDataset": lambda path: of_dataset(tf.data.TFRecordDataset(path)),
    "TextLineDataset": lambda path: of_dataset(tf.data.TextLineDataset(path)),
    "FixedLengthRecordDataset": lambda path: of_dataset(tf.data.FixedLengthRecordDataset(path, 1)),
    "list_files": lambda path: of_dataset(tf.data.Dataset.list_files(path)),
    "cache": lambda path: of_dataset(tf.data.Dataset.range(1).cache(path)),
    "SqlDataset": rows,
    "WholeFileReader": lambda path: of_reader(tf.WholeFileReader(), path),
    "TFRecordReader": lambda path: of_reader(tf.TFRecordReader(), path),
    "TextLineReader": lambda path: of_reader(tf.TextLineReader(), path),
    "LMDBReader": lambda path: of_reader(tf.LMDBReader(), path),
    "table": lambda path: table(path)[0],
    "summary": summary,
    "print": lambda path: tf.print("x", output_stream=f"file://{path}"),
    "ImmutableConst": lambda path: tf.raw_ops.ImmutableConst(
        dtype=tf.uint8, shape=[1], memory_region_name=path
    ),
    "vocabulary": lambda path: tf.nn.fixed_unigram_candidate_sampler(
        tf.zeros([1, 1], tf.int64), 1, 1, False, 2, vocab_file=path
    ),
    "descriptors": lambda path: tf.raw_ops.DecodeProtoV2(
        bytes=["x"], message_type="A", field_names=[], output_types=[], descriptor_source=path
    ),
}


@pytest.mark.parametrize("kind", FILE_OPS)
@pytest.mark.parametrize("where", ["nowhere", "a folder"])
def test_ops_on_files(kind: str, where: str, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    path = str(outside / "file")
    with confined(NOWHERE if where == "nowhere" else str(inside)):
        with tf.Session() as session, pytest.raises(PermissionDeniedError, match="--file-root"):
            session.run(FILE_OPS[kind](path))
    assert list(outside.iterdir()) == [] == list(inside.iterdir())


def test_files_of_the_folder_can_be_used(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    with confined(str(tmp_path)), tf.Session() as session:
        session.run(tf.io.write_file(path, "content"))
        assert session.run(tf.io.read_file(f"file://{path}")) == b"content"
        assert session.run(tf.io.matching_files(f"{tmp_path}/*")).tolist() == [path.encode()]
        session.run(saver(str(tmp_path / "model")))
    assert not is_confined() and permitted("/anywhere") == "/anywhere"


WAYS_OUT = ["../secret", "/etc/hostname", "link/secret", "sub/../../secret", "*/../../secret",
            "gs://bucket/x", "file:///etc/hostname", "http://localhost/x"]  # fmt: skip


@pytest.mark.parametrize("path", WAYS_OUT)
def test_ways_out(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (root / "link").symlink_to(tmp_path)
    monkeypatch.chdir(root)
    with confined(str(root)):
        assert permitted("sub/file") == "sub/file" and permitted(str(root)) == str(root)
        with pytest.raises(PermissionDeniedError):
            permitted(path)
    with confined(NOWHERE), pytest.raises(PermissionDeniedError, match="no files"):
        permitted(os.devnull)
    with confined(ANYWHERE):
        permitted(path)


def test_a_query_opens_no_other_database(tmp_path: Path) -> None:
    path, other = str(tmp_path / "db"), str(tmp_path / "other")
    sqlite3.connect(path).close()
    dataset = tf.data.experimental.SqlDataset(
        "sqlite", path, f"ATTACH DATABASE '{other}' AS o", (tf.int32,)
    )
    with confined(str(tmp_path)), tf.Session() as session:
        with pytest.raises(tf.errors.UnknownError, match="not authorized"):
            session.run(of_dataset(dataset))
    assert not os.path.exists(other)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="is not a folder"), confined(str(tmp_path / "no")):
        pass
    np.testing.assert_equal(is_confined(), False)
