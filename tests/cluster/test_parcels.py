"""Parcels: what goes in comes out, and what is none is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from weft.cluster.steps import parcels
from weft.core import errors
from weft.runtime.frames import DEAD

VALUES = [
    np.arange(6, dtype=np.float32).reshape(2, 3),
    np.float64(2.5),
    np.zeros((0, 3), np.int32),
    np.arange(6, dtype=ml_dtypes.bfloat16).reshape(2, 3).T,
    np.array([b"a", b""], object),
    np.array(True),
    np.arange(4, dtype=np.complex64),
]


def sent(values: list[object], route: object = ()) -> parcels.Parcel:
    keys = [f"key {i}" for i in range(len(values))]
    return parcels.unpack(b"".join(parcels.pack(7, route, keys, values)))


def test_values_arrive_as_they_were() -> None:
    parcel = sent([*VALUES, DEAD], ("session", "graph", ("a", "b")))
    assert parcel.number == 7
    assert parcel.route == ["session", "graph", ["a", "b"]]
    assert parcel.keys == [f"key {i}" for i in range(8)]
    assert parcel.values[-1] is DEAD
    for value, arrived in zip(VALUES, parcel.values, strict=False):
        assert arrived.dtype == np.asarray(value).dtype
        np.testing.assert_array_equal(arrived, value)


def test_the_label_is_made_once_for_all_steps() -> None:
    first, second = (parcels.pack(i, (), ["k"], [np.full(5, i, np.int64)]) for i in range(2))
    assert first[1] is second[1]
    assert parcels.unpack(b"".join(second)).values[0].tolist() == [1] * 5


def test_another_shape_has_another_label() -> None:
    for size in (3, 4, 3):
        assert sent([np.ones(size)]).values[0].shape == (size,)


def test_arrays_are_aligned_and_not_copied() -> None:
    array = np.arange(1000, dtype=np.float64)
    chunks = parcels.pack(1, (), ["a", "b"], [np.array(b"x", object), array])
    assert np.shares_memory(np.frombuffer(chunks[-1], np.float64), array)
    assert sum(len(chunk) for chunk in chunks[:-1]) % 64 == 0


def _of(label: str, rest: bytes = b"") -> bytes:
    return (1).to_bytes(8, "little") + len(label).to_bytes(4, "little") + label.encode() + rest


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0" * 11,
        _of("nonsense"),
        _of("[1]"),
        _of('[[],["k"],[]]'),
        _of('[[],[1],[[1,[1],4]]]', b"\0" * 100),
        _of('[[],["k"],[[1,[2],4]]]', b"\0" * 100),
        _of('[[],["k"],[[1,[-1],-4]]]', b"\0" * 100),
        _of('[[],["k"],[[7,[1],8]]]', b"\0" * 100),
        _of('[[],["k"],[[1,[100],400]]]', b"\0" * 100),
        _of('[[],["k"],[[999,[1],4]]]', b"\0" * 100),
        _of("[" * 100000),
    ],
)  # fmt: skip
def test_what_is_no_parcel_is_refused(data: bytes) -> None:
    with pytest.raises(errors.InvalidArgumentError, match="Cannot read a parcel"):
        parcels.unpack(data)
