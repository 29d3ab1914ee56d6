"""The operations that write and read checkpoint files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.parity.checkpoints import FOLDER
from weft.graph.op_def import raw


def run(value: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(value)


def save(path: Path, **tensors: Any) -> None:
    run(raw.SaveV2(str(path), list(tensors), [""] * len(tensors), list(tensors.values())))


def test_save_and_restore_slices(tmp_path: Path) -> None:
    rows = np.arange(12, dtype=np.float32).reshape(4, 3)
    whole = raw.SaveV2(
        str(tmp_path / "m"), ["x", "x"], ["4 3 0,1:-", "4 3 1,3:-"], [rows[:1], rows[1:]]
    )
    run(whole)
    specs = ["", "4 3 0,2:-", "4 3 -:1,2"]
    restored = raw.RestoreV2(str(tmp_path / "m"), ["x"] * 3, specs, dtypes=[tf.float32] * 3)
    assert [t.shape.as_list() if t.shape.ndims else None for t in restored] == [
        None,
        [2, 3],
        [4, 2],
    ]
    for found, expected in zip(run(restored), (rows, rows[:2], rows[:, 1:]), strict=True):
        assert np.array_equal(found, expected)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("2 0,3", "shape_and_slice spec|out of bounds"),
        ("0,2", "Need least two elements in shape_and_slice specification: 0,2"),
        ("x 0,2", "Non numerical dimension in shape_and_slice: x 0,2"),
        ("2 a", "Expected a pair of numbers or '-' but got 'a'"),
        ("2 0,0", "Expected non-negative start and positive length"),
        ("3 0,2", r"shape in shape_and_slice spec \[3\] does not match .*: \[2\]"),
    ],
)
def test_wrong_slices_are_errors(tmp_path: Path, spec: str, message: str) -> None:
    save(tmp_path / "m", x=np.zeros(2, np.float32))
    spec_tensor = tf.placeholder(tf.string, [1])
    (restored,) = raw.RestoreV2(str(tmp_path / "m"), ["x"], spec_tensor, dtypes=[tf.float32])
    with tf.Session() as sess, pytest.raises(tf.errors.OpError, match=message):
        sess.run(restored, {spec_tensor: [spec]})


def test_wrong_inputs_are_errors(tmp_path: Path) -> None:
    save(tmp_path / "m", x=np.zeros(2, np.float32))
    path = str(tmp_path / "m")
    with pytest.raises(tf.errors.NotFoundError, match="Key y not found in checkpoint"):
        run(raw.RestoreV2(path, ["y"], [""], dtypes=[tf.float32]))
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match="tensor_name = x; expected dtype int32 does not equal original dtype float",
    ):
        run(raw.RestoreV2(path, ["x"], [""], dtypes=[tf.int32]))
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files for"):
        run(raw.RestoreV2(path + "x", ["x"], [""], dtypes=[tf.float32]))
    with pytest.raises(ValueError, match="Dimension must be 1 but is 2"):
        raw.SaveV2(path, ["a", "b"], ["", ""], [tf.constant(1.0)])
    slices = raw.SaveV2(path, ["a"], ["3 0,2"], [tf.zeros([3])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not match the shape of the"):
        run(slices)
    assert sorted(os.listdir(tmp_path)) == ["m.data-00000-of-00001", "m.index"]


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int8", "int64", "bool", "complex64"]
)
def test_v1_files(tmp_path: Path, dtype: str) -> None:
    path = str(tmp_path / "v1")
    value = tf.cast(tf.constant([[1, 0, 3]]), dtype)
    run(raw.Save(path, ["x", "s"], [value, tf.constant(["a", "bb"])]))
    found, text = run(
        [raw.Restore(path, "x", dt=tf.as_dtype(dtype)), raw.Restore(path, "s", dt=tf.string)]
    )
    assert np.array_equal(found, run(value)) and text.tolist() == [b"a", b"bb"]
    assert run(raw.RestoreSlice(path, "x", "1 3 -:1,2", dt=tf.as_dtype(dtype))).shape == (1, 2)


def test_v1_slices_over_several_files(tmp_path: Path) -> None:
    rows = np.arange(8, dtype=np.int32).reshape(4, 2)
    for i in range(2):
        name = run(raw.ShardedFilename(str(tmp_path / "m"), i, 2)).decode()
        part = rows[2 * i : 2 * i + 2]
        run(raw.SaveSlices(name, ["x"], [f"4 2 {2 * i},2:-"], [part]))
    pattern = run(raw.ShardedFilespec(str(tmp_path / "m"), 2)).decode()
    assert np.array_equal(run(raw.Restore(pattern, "x", dt=tf.int32)), rows)
    for what, message in (("y", 'Tensor name "y" not found in checkpoint files'), ("x", "float")):
        with pytest.raises(tf.errors.OpError, match=message):
            run(raw.Restore(pattern, what, dt=tf.float32))


def test_a_damaged_v1_file_is_an_error(tmp_path: Path) -> None:
    whole = (FOLDER / "v1").read_bytes()
    for at in range(0, len(whole) - 150, 37):
        broken = bytearray(whole)
        broken[at] ^= 4
        (tmp_path / "v1").write_bytes(broken)
        with pytest.raises(tf.errors.DataLossError, match="v1"):
            # The file has one block of records, which every read checks.
            run(raw.Restore(str(tmp_path / "v1"), "w", dt=tf.float32))


def test_merging_removes_what_is_left(tmp_path: Path) -> None:
    prefixes = [str(tmp_path / "t" / f"part-{i}") for i in range(2)]
    for i, prefix in enumerate(prefixes):
        save(Path(prefix), **{f"x{i}": np.full(2, i, np.int32)})
    run(raw.MergeV2Checkpoints(prefixes, str(tmp_path / "m")))
    assert sorted(os.listdir(tmp_path)) == [
        "m.data-00000-of-00002", "m.data-00001-of-00002", "m.index",
    ]  # fmt: skip
    found = run(raw.RestoreV2(str(tmp_path / "m"), ["x0", "x1"], ["", ""], dtypes=[tf.int32] * 2))
    assert [value.tolist() for value in found] == [[0, 0], [1, 1]]


# ---- vocabularies -------------------------------------------------------------------------------


def test_remapping(tmp_path: Path) -> None:
    for name, words in (("old", "a b c d"), ("new", "c x a")):
        (tmp_path / name).write_text("\n".join(words.split()) + "\n")

    def remap(**options: Any) -> list[Any]:
        files = str(tmp_path / "new"), str(tmp_path / "old")
        return [v.tolist() for v in run(raw.GenerateVocabRemapping(*files, **options))]

    assert remap(new_vocab_offset=0, num_new_vocab=3) == [[2, -1, 0], 2]
    assert remap(new_vocab_offset=1, num_new_vocab=2, old_vocab_size=2) == [[-1, 0], 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="last new vocab entry's line"):
        remap(new_vocab_offset=2, num_new_vocab=2)


def test_load_and_remap(tmp_path: Path) -> None:
    old = np.arange(6, dtype=np.float32).reshape(3, 2)
    save(tmp_path / "m", x=old, v=np.zeros(3, np.float32), i=np.zeros((1, 1), np.int32))

    def load(rows: Any, columns: Any, fill: Any, name: str = "x") -> Any:
        sizes = dict(num_rows=len(rows), num_cols=len(columns) or 2)
        path = str(tmp_path / "m")
        return run(raw.LoadAndRemapMatrix(path, name, rows, columns, fill, **sizes)).tolist()

    assert load([2, -1], [], [8.0, 9.0]) == [[4, 5], [8, 9]]
    assert load([0, 1], [1, -1], [8.0, 9.0]) == [[1, 8], [3, 9]]
    for arguments, message in (
        (([0, 0], [], []), "mapped to both new ID 0 and 1"),
        (([0, -1], [], [1.0]), "more missing values remain"),
        (([0], [], [1.0]), "only 0 elements were used"),
        (([0], [], [], "v"), "invalid rank 1"),
        (([0], [], [], "i"), "invalid type int32"),
        (([9], [], []), "reaches beyond the stored matrix"),
    ):
        with pytest.raises(tf.errors.OpError, match=message):
            load(*arguments)
