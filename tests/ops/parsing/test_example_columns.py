"""A batch whose examples are written alike is read by columns: what comes out is the same."""

import numpy as np
import pytest

import weft as tf
from tests.ops.native import needs_native
from weft.core import flags
from weft.core.varint import varint
from weft.ops.parsing import example_nodes
from weft.ops.strings.example_columns import columns, read_columns

WANTED = {
    "x": tf.FixedLenFeature([2], tf.float32),
    "n": tf.FixedLenFeature([], tf.int64, default_value=-7),
    "s": tf.FixedLenFeature([2], tf.string, default_value=["", ""]),
    "ids": tf.VarLenFeature(tf.int64),
    "words": tf.VarLenFeature(tf.string),
}


def field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def numbers(*values):
    return field(3, field(1, b"".join(varint(value % 2**64) for value in values)))


def floats(*values):
    return field(2, field(1, np.array(values, "<f4").tobytes()))


def texts(*values):
    return field(1, b"".join(field(1, value) for value in values))


def entry(key, feature):
    return field(1, field(1, key) + field(2, feature))


def example(*entries):
    return field(1, b"".join(entries))


def features(i):
    return {
        b"x": floats(i, -i),
        b"n": numbers(i * 1000 - 5),
        b"s": texts(b"a" * i, b"b"),
        b"ids": numbers(*range(0, i * 100, 90), 2**62),
        b"words": texts(*[b"%d" % j for j in range(i + 1)]),
    }


def written(i, order=None, without=(), **changed):
    found = {**features(i), **{key.encode(): value for key, value in changed.items()}}
    keys = [key for key in order or found if key not in without]
    return example(*(entry(key, found[key]) for key in keys))


def usual(count=9):
    return [written(i) for i in range(count)]


ORDER = [b"words", b"ids", b"x", b"s", b"n"]
BATCHES = {
    "alike": usual(),
    "one": usual(1),
    "none": [],
    "long": [*usual(200)],
    "in several orders": [written(i, ORDER[i % 5 :] + ORDER[: i % 5]) for i in range(9)],
    "one is without a feature": [*usual(), written(3, without=[b"n"])],
    "all are without a feature": [written(i, without=[b"n", b"words"]) for i in range(9)],
    "one lacks what it must have": [*usual(), written(3, without=[b"x"])],
    "another type": [*usual(), written(3, n=floats(1.0))],
    "strings for numbers": [*usual(), written(3, x=texts(b"1", b"2"))],
    "numbers for strings": [*usual(), written(3, s=floats(1.0, 2.0))],
    "too many": [*usual(), written(3, x=floats(1.0, 2.0, 3.0))],
    "too few strings": [*usual(), written(3, s=texts(b"1"))],
    "an empty list of strings": [*usual(), written(3, words=texts())],
    "a feature without a list": [*usual(), written(3, s=b"", ids=b"")],
    "not packed": [*usual(), written(3, ids=field(3, b"\x08\x05\x08\x86\x01"))],
    "in pieces": [*usual(), written(3, s=texts(b"1") + texts(b"2"))],
    "of two kinds": [*usual(), written(3, words=floats(1.0) + texts(b"1"))],
    "a number that does not end": [*usual(), written(3, ids=field(3, field(1, b"\x80")))],
    "a key twice": [example(entry(b"n", numbers(5)), *[entry(*f) for f in features(i).items()])
                    for i in range(3)],
    "a value twice": [*usual(), written(3) + field(1, field(1, field(1, b"n") + field(2, numbers(1))
                                                            + field(2, numbers(2))))],
    "the key behind the value": [example(*(field(1, field(2, v) + field(1, k))
                                           for k, v in features(i).items())) for i in range(4)],
    "cut off": [*usual(), written(3)[:-1]],
    "more than there is": [written(2), b"\x0a\x7f" + written(3), *usual(2)],
    "other fields": [written(i) + field(9, b"text") for i in range(5)],
    "no example": [*usual(), b"\xff\xff"],
    "empty": [b"", *usual()],
    "a long key": [example(*(entry(k, v) for k, v in features(i).items()),
                           entry(b"k" * 200, numbers(1))) for i in range(4)],
}  # fmt: skip


def outcome(sess, batch):
    parsed = tf.parse_example(np.array(batch, object), WANTED)
    return called(lambda batch: sess.run(parsed), batch)


def called(call, batch):
    try:
        found = call(np.array(batch, object))
    except tf.errors.OpError as error:
        return error.message.partition("\n")[0]
    parts = []
    for value in found.values():
        parts += value if isinstance(value, tuple) else [value]
    return [(part.dtype, part.shape, part.tolist()) for part in map(np.asarray, parts)]


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("name", BATCHES)
def test_the_same_as_one_by_one(sess, monkeypatch, name, native):
    with flags.NATIVE.override(native):
        found = outcome(sess, BATCHES[name])
    monkeypatch.setattr(example_nodes, "columns", lambda serialized: None)
    with flags.NATIVE.override(False):
        assert found == outcome(sess, BATCHES[name])


def damaged(random):
    """Some examples, of which a few have other bytes, or fewer."""
    batch = [written(int(i)) for i in random.integers(0, 9, 4)]
    for at in random.integers(0, 4, random.integers(0, 3)):
        data = bytearray(batch[at])
        place = random.integers(len(data))
        data[place : place + random.integers(3)] = random.bytes(random.integers(3))
        batch[at] = bytes(data)
    return batch


@needs_native
def test_what_is_damaged_is_told_in_the_same_way(sess):
    given = tf.placeholder(tf.string, [None])
    call = sess.make_callable(tf.parse_example(given, WANTED), [given])
    random = np.random.default_rng(0)
    outcomes = []
    for _ in range(300):
        batch = damaged(random)
        found = called(call, batch)
        with flags.NATIVE.override(False):
            assert found == called(call, batch), batch
        outcomes.append(type(found))
    assert min(map(outcomes.count, (str, list))) > 30


USUAL = ["alike", "one", "long", "in several orders", "a long key", "too many", "too few strings"]


@needs_native
@pytest.mark.parametrize("name", BATCHES)
def test_batches_that_the_kernel_reads(name):
    wanted = [(key, feature.dtype) for key, feature in WANTED.items()]
    found = read_columns(BATCHES[name], wanted)
    assert set(found) == (set(WANTED) if name in USUAL else set())
    assert not read_columns(BATCHES[name], [*wanted, ("x", tf.int64)])


@pytest.mark.parametrize("name", ["alike", "long", "in several orders", "other fields"])
def test_columns_are_found(name):
    found = columns(BATCHES[name])
    assert found is not None
    for key, feature in WANTED.items():
        assert found.values(key, feature.dtype, pytest.fail) is not None
