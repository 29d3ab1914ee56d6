"""Tensor bundles against those that TensorFlow wrote (tests/parity/record_checkpoints.py)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.parity.checkpoints import FOLDER, ROWS, every_dtype, large_index, many
from weft.core import dtypes, errors
from weft.storage.bundle import BundleWriter, merge_bundles
from weft.storage.bundle_reader import BundleReader
from weft.storage.tensor_slice import parse_slice, slice_key

ROOT = Path(__file__).parent.parent.parent
CONTENTS: dict[str, Callable] = {"every_dtype": every_dtype, "many": many}


def write(prefix: Path, content: dict) -> None:
    with BundleWriter(str(prefix)) as writer:
        for name, (dtype, value) in content.items():
            writer.add(name.encode(), value, dtypes.as_dtype(dtype))


def read_all(prefix: Path) -> dict[str, np.ndarray]:
    with BundleReader(str(prefix)) as reader:
        return {key.decode("latin-1"): reader.read(key) for key in reader.keys()}


def same(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype == object:
        return a.shape == b.shape and a.tolist() == b.tolist()
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("name", CONTENTS)
def test_reads_what_tensorflow_wrote(name: str) -> None:
    content = CONTENTS[name]()
    with BundleReader(str(FOLDER / name)) as reader:
        assert [key.decode() for key in reader.keys()] == sorted(content)
        for key, (dtype, value) in content.items():
            assert reader.dtype_and_shape(key.encode()) == (dtypes.as_dtype(dtype), value.shape)
            assert same(reader.read(key.encode()), value), key


@pytest.mark.parametrize("name", CONTENTS)
def test_writes_the_bytes_that_tensorflow_writes(name: str, tmp_path: Path) -> None:
    write(tmp_path / "m", CONTENTS[name]())
    for suffix in (".index", ".data-00000-of-00001"):
        assert (tmp_path / f"m{suffix}").read_bytes() == (FOLDER / (name + suffix)).read_bytes()
    assert len(os.listdir(tmp_path)) == 2


def test_slices_are_put_together() -> None:
    with BundleReader(str(FOLDER / "partitioned")) as reader:
        assert same(reader.read(b"rows"), ROWS)
        assert same(reader.read(b"r/rows"), 2 * ROWS)
        for text in ("2,4:-", "0,3:-", "6,1:1,2", "0,7:0,1"):
            slice_ = parse_slice(text)
            index = tuple(slice(None) if p is None else slice(p[0], sum(p)) for p in slice_)
            assert same(reader.read(b"rows", slice_), ROWS[index]), text
            assert same(reader.read(b"whole", slice_), ROWS[index]), text


def test_slices_are_written_as_tensorflow_writes_them(tmp_path: Path) -> None:
    parts = ((0, 3), (3, 2), (5, 2))
    with BundleWriter(str(tmp_path / "m")) as writer:
        for name, rows in ((b"r/rows", 2 * ROWS), (b"rows", ROWS)):
            for start, length in parts:
                cut = rows[start : start + length]
                slice_ = ((start, length), (0, 3))
                writer.add_slice(name, (7, 3), slice_, cut, dtypes.float32)
        writer.add_slice(b"whole", (7, 3), (None, (0, 3)), ROWS, dtypes.float32)
    for suffix in (".index", ".data-00000-of-00001"):
        expected = (FOLDER / f"partitioned{suffix}").read_bytes()
        assert (tmp_path / f"m{suffix}").read_bytes() == expected


def test_missing_slices_are_an_error(tmp_path: Path) -> None:
    with BundleWriter(str(tmp_path / "m")) as writer:
        writer.add_slice(b"x", (4,), ((0, 2),), np.zeros(2, np.int32), dtypes.int32)
    with BundleReader(str(tmp_path / "m")) as reader:
        assert reader.read(b"x", ((1, 1),)).tolist() == [0]
        with pytest.raises(errors.InvalidArgumentError, match=r"sufficient slices.*tensor x"):
            reader.read(b"x")


@pytest.mark.parametrize(
    ("name", "spec", "expected"),
    [
        (b"p", "0,2:-", b"\x00p\x00\x01\x01\x02\x80\x82\x80\x7f"),
        (b"a\x00b\xff", "64,8192", b"\x00a\x00\xffb\xff\x00\x00\x01\x01\x01\xc0@\xe0 \x00"),
    ],
)
def test_keys_of_slices(name: bytes, spec: str, expected: bytes) -> None:
    assert slice_key(name, parse_slice(spec)) == expected


def test_shards_are_read_and_merged(tmp_path: Path) -> None:
    found = read_all(FOLDER / "sharded")
    assert {k: v.tolist() for k, v in found.items()} == {"a": [1, 2], "b": [4, 5, 6], "c": [3]}
    write(tmp_path / "t/0", {k: ("float32", found[k]) for k in "ac"})
    write(tmp_path / "t/1", {"b": ("int32", found["b"])})
    merge_bundles([str(tmp_path / "t/0"), str(tmp_path / "t/1")], str(tmp_path / "m"))
    for suffix in (".index", ".data-00000-of-00002", ".data-00001-of-00002"):
        expected = (FOLDER / f"sharded{suffix}").read_bytes()
        assert (tmp_path / f"m{suffix}").read_bytes() == expected
    assert os.listdir(tmp_path / "t") == []


def test_a_name_in_two_bundles_is_an_error(tmp_path: Path) -> None:
    for i in "01":
        write(tmp_path / i, {"x": ("int32", np.zeros(1, np.int32))})
    with pytest.raises(errors.InvalidArgumentError, match="Duplicate tensor keyed by x"):
        merge_bundles([str(tmp_path / "0"), str(tmp_path / "1")], str(tmp_path / "m"))
    with pytest.raises(errors.InvalidArgumentError, match="Adding duplicate key: y"):
        with BundleWriter(str(tmp_path / "m")) as writer:
            for _ in range(2):
                writer.add(b"y", np.zeros(1), dtypes.float64)
    assert not [name for name in os.listdir(tmp_path) if name.startswith("m")]


def test_a_table_of_many_blocks(tmp_path: Path) -> None:
    write(tmp_path / "m", large_index())
    assert (tmp_path / "m.index").stat().st_size > 300_000
    assert [int(v) for v in read_all(tmp_path / "m").values()] == list(range(3000))


def test_missing_things(tmp_path: Path) -> None:
    with pytest.raises(errors.NotFoundError, match=r"nothing.index; No such file"):
        BundleReader(str(tmp_path / "nothing"))
    with BundleReader(str(FOLDER / "many")) as reader:
        with pytest.raises(errors.NotFoundError, match="Key x not found in checkpoint"):
            reader.read(b"x")


# ---- damage -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    write(folder / "m", every_dtype())
    return folder / "m"


def check_never_wrong(prefix: Path) -> bool:
    """Reads everything: what comes is right or an error that names the bundle's file."""
    content = every_dtype()
    complete = True
    try:
        with BundleReader(str(prefix)) as reader:
            assert len(reader.keys()) == len(content)
            for name, (_, value) in content.items():
                try:
                    assert same(reader.read(name.encode()), value), name
                except (errors.DataLossError, errors.OutOfRangeError) as error:
                    complete = False
                    assert str(prefix) in error.message and name in error.message
    except errors.DataLossError as error:
        complete = False
        assert str(prefix) in error.message
    return complete


@settings(max_examples=60, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001"])
def test_a_flipped_bit_is_never_a_wrong_value(
    damaged: Path, suffix: str, data: st.DataObject
) -> None:
    path = damaged.with_name(damaged.name + suffix)
    whole = path.read_bytes()
    at = data.draw(st.integers(0, 8 * len(whole) - 1))
    broken = bytearray(whole)
    broken[at // 8] ^= 1 << at % 8
    path.write_bytes(broken)
    try:
        complete = check_never_wrong(damaged)
    finally:
        path.write_bytes(whole)
    # In the index, nobody reads the footer's padding and an empty block.
    assert not complete or suffix == ".index"


@settings(max_examples=40, deadline=None)
@given(data=st.data())
@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001"])
def test_a_truncated_file_is_an_error(damaged: Path, suffix: str, data: st.DataObject) -> None:
    path = damaged.with_name(damaged.name + suffix)
    whole = path.read_bytes()
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    try:
        assert not check_never_wrong(damaged)
    finally:
        path.write_bytes(whole)


# ---- saving is atomic and lean ------------------------------------------------------------------

_SAVE_FOREVER = """
import sys, itertools, numpy as np
from weft.core import dtypes
from weft.storage.bundle import BundleWriter
for i in itertools.count(1):
    with BundleWriter(sys.argv[1]) as writer:
        for name in (b"a", b"b", b"c"):
            writer.add(name, np.full(50_000, i, np.int32), dtypes.int32)
    print(i, flush=True)
"""


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.011, 0.017])
def test_a_killed_save_leaves_a_whole_checkpoint(tmp_path: Path, delay: float) -> None:
    """The same prefix is saved again and again: the old one must survive the new one's death."""
    prefix = str(tmp_path / "m")
    process = subprocess.Popen(
        [sys.executable, "-c", _SAVE_FOREVER, prefix], stdout=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    try:
        process.wait(timeout=delay or 0.0001)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    seen = [int(line) for line in process.stdout.read().split()]
    process.wait()
    process.stdout.close()
    values = read_all(tmp_path / "m")
    assert set(values) == {"a", "b", "c"}
    numbers = {int(v) for value in values.values() for v in np.unique(value)}
    assert len(numbers) == 1 and numbers.pop() >= max([3, *seen])


def test_replacing_leaves_nothing_behind(tmp_path: Path) -> None:
    write(tmp_path / "t/0", {"a": ("int32", np.zeros(1, np.int32))})
    write(tmp_path / "t/1", {"b": ("int32", np.zeros(1, np.int32))})
    merge_bundles([str(tmp_path / "t/0"), str(tmp_path / "t/1")], str(tmp_path / "m"))
    for i in range(2):
        write(tmp_path / "m", {"a": ("int32", np.full(1, i, np.int32))})
        found = sorted(p.name for p in tmp_path.iterdir() if p.is_file())
        assert found == ["m.data-00000-of-00001", "m.index"]
        assert read_all(tmp_path / "m")["a"].tolist() == [i]


def test_values_are_not_copied(tmp_path: Path) -> None:
    value = np.zeros(1 << 23, np.float64)
    tracemalloc.start()
    try:
        write(tmp_path / "m", {"x": ("float64", value)})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < value.nbytes / 20


def test_room_that_was_not_needed_is_given_back(tmp_path: Path) -> None:
    prefix = str(tmp_path / "model")
    with BundleWriter(prefix) as writer:
        writer.reserve(1 << 20)
        writer.add(b"a", np.arange(3, dtype=np.int32), dtypes.int32)
    assert (tmp_path / "model.data-00000-of-00001").stat().st_size == 12
    with BundleReader(prefix) as reader:
        assert reader.read(b"a").tolist() == [0, 1, 2]
