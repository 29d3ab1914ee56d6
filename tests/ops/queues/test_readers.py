"""Readers and whole files."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import weft as tf
from weft.core import dtypes
from weft.core.deferred import Deferred
from weft.ops.queues.queue_objects import Queue
from weft.ops.queues.reader_objects import TextLineReaderObject, WholeFileReaderObject


def names_queue(*names):
    queue = Queue("names", [dtypes.string], [()], 100)
    for name in names:
        queue.enqueue([string(name)])
    return queue


def string(value):
    return np.array(str(value).encode(), object)


def text(pair):
    return tuple(part[()] for part in pair)


@pytest.fixture
def lines(tmp_path):
    paths = [tmp_path / "a", tmp_path / "b"]
    paths[0].write_bytes(b"1\n2\r\n\n")
    paths[1].write_bytes(b"3")
    return paths


def test_lines_of_several_files(lines):
    reader, queue = TextLineReaderObject("r", 0), names_queue(*lines)
    queue.close()
    a, b = (str(path).encode() for path in lines)
    expected = [(a + b":1", b"1"), (a + b":2", b"2"), (a + b":3", b""), (b + b":1", b"3")]
    assert [text(reader.read(queue)) for _ in range(4)] == expected
    assert reader.produced == 4 and reader.finished == 1
    with pytest.raises(tf.errors.OutOfRangeError):
        reader.read(queue)
    assert reader.finished == 2


def test_headers_are_skipped_in_every_file(lines):
    reader, queue = TextLineReaderObject("r", 2), names_queue(*lines)
    assert text(reader.read(queue))[1] == b""
    assert isinstance(reader.read(queue), Deferred)  # the second file has nothing but a header


def test_a_read_waits_for_the_next_name(lines):
    reader, queue = WholeFileReaderObject("r"), names_queue()
    first, second = reader.read(queue), reader.read(queue)
    assert isinstance(first, Deferred) and isinstance(second, Deferred)
    queue.enqueue([string(lines[0])])
    queue.enqueue([string(lines[1])])
    assert text(first.wait())[1] == b"1\n2\r\n\n"
    assert text(second.wait())[1] == b"3"
    assert not queue.waiting() and reader.turn.holder is None


def test_a_read_that_gives_up_lets_the_next_one_go_on(lines):
    reader, queue = WholeFileReaderObject("r"), names_queue()
    first, second = reader.read(queue), reader.read(queue)
    first.cancel()
    first.at_end()
    assert not queue.waiting()
    queue.enqueue([string(lines[1])])
    assert text(second.wait())[1] == b"3"


def test_a_missing_file_does_not_stop_the_reader(lines):
    reader, queue = WholeFileReaderObject("r"), names_queue("/no/such/file", lines[1])
    assert reader.turn.holder is None
    with pytest.raises(tf.errors.NotFoundError, match="/no/such/file; No such file"):
        reader.read(queue)
    reader.reset()
    assert reader.turn.holder is None
    assert text(reader.read(queue))[1] == b"3"


def test_several_records_at_once(lines, sess):
    queue = tf.FIFOQueue(10, tf.string, shapes=[()])
    reader = tf.TextLineReader()
    keys, values = reader.read_up_to(queue, 2)
    assert values.shape.as_list() == [None]
    sess.run(queue.enqueue_many([[str(p) for p in lines]]))
    sess.run(queue.close())
    assert [sess.run(values).tolist() for _ in range(3)] == [[b"1", b"2"], [b""], [b"3"]]
    with pytest.raises(tf.errors.OutOfRangeError):
        sess.run(keys)


def test_records_of_compressed_files(tmp_path, sess):
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path, "GZIP") as writer:
        for i in range(3):
            writer.write(b"record %d" % i)
    queue = tf.FIFOQueue(10, tf.string, shapes=[()])
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    key, value = tf.TFRecordReader(options=options).read(queue)
    sess.run(queue.enqueue(path))
    found = [sess.run([key, value]) for _ in range(3)]
    assert found[1] == [f"{path}:24".encode(), b"record 1"]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ({"record_bytes": 2}, [b"HH", b"ab", b"cd", b"ef", b"FF"]),
        ({"record_bytes": 2, "header_bytes": 2, "footer_bytes": 2}, [b"ab", b"cd", b"ef"]),
        ({"record_bytes": 3, "header_bytes": 2, "hop_bytes": 2}, [b"abc", b"cde", b"efF"]),
        ({"record_bytes": 1, "header_bytes": 2, "footer_bytes": 2, "hop_bytes": 4}, [b"a", b"e"]),
    ],
)
def test_records_of_one_length(tmp_path, sess, lengths, expected):
    path = tmp_path / "fixed"
    path.write_bytes(b"HHabcdefFF")
    queue = tf.FIFOQueue(10, tf.string, shapes=[()])
    reader = tf.FixedLengthRecordReader(**lengths)
    key, value = reader.read(queue)
    sess.run(queue.enqueue(str(path)))
    sess.run(queue.close())
    found = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            found.append(sess.run([key, value]))
    assert [value for _, value in found] == expected
    assert found[1][0] == f"{path}:1".encode()


def test_a_readers_state_can_be_kept(sess):
    queue = tf.FIFOQueue(10, tf.string, shapes=[()])
    reader = tf.IdentityReader()
    key, value = reader.read(queue)
    sess.run(queue.enqueue_many([["x", "y"]]))
    assert sess.run([key, value]) == [b"x", b"x"]
    state = sess.run(reader.serialize_state())
    sess.run(reader.reset())
    assert sess.run(reader.num_records_produced()) == 0
    sess.run(reader.restore_state(state))
    assert sess.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [1, 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state"):
        sess.run(reader.restore_state(b"BOGUS"))
    with pytest.raises(tf.errors.UnimplementedError):
        sess.run(tf.TextLineReader().serialize_state())


def test_older_readers_work_on_new_queues(sess):
    queue = tf.FIFOQueue(10, tf.string, shapes=[()])
    reader = tf.ReaderBase(tf.raw_ops.IdentityReader())
    _, value = reader.read(queue)
    sess.run(queue.enqueue("x"))
    assert sess.run(value) == b"x"


def test_many_reads_share_the_records(tmp_path, sess):
    path = tmp_path / "many"
    path.write_text("".join(f"{i}\n" for i in range(400)))
    queue = tf.FIFOQueue(10, tf.string, shapes=[()])
    _, value = tf.TextLineReader().read(queue)
    read = sess.make_callable(value)
    found = []

    def loop():
        try:
            while True:
                found.append(int(read()))
        except tf.errors.OutOfRangeError:
            pass

    threads = [threading.Thread(target=loop, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    sess.run(queue.enqueue_many([[str(path)] * 2]))
    sess.run(queue.close())
    for thread in threads:
        thread.join(30)
    assert sorted(found) == sorted(list(range(400)) * 2)


def test_whole_files(tmp_path, sess):
    path = str(tmp_path / "new" / "file.txt")
    content = tf.placeholder(tf.string, [])
    write, read = tf.write_file(path, content), tf.read_file(path)
    for text_ in (b"one", b"two"):
        sess.run(write, {content: text_})
        assert sess.run(read) == text_  # never taken for a constant
    found = tf.matching_files([str(tmp_path / "new" / "*"), str(tmp_path / "n*")])
    assert sess.run(found).tolist() == [str(tmp_path / "new").encode(), path.encode()]
    with pytest.raises(tf.errors.NotFoundError):
        sess.run(tf.read_file(path + ".missing"))


def test_records_of_many_files_in_random_order(tmp_path, sess):
    from weft.ops.queues.record_input import RecordInput

    for i in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"{i}.records")) as writer:
            for j in range(10):
                writer.write(str(i * 10 + j))
    records = RecordInput(str(tmp_path / "*.records"), 30, 5, 2).get_yield_op()
    epochs = [sess.run(records).tolist() for _ in range(2)]
    for epoch in epochs:
        assert sorted(map(int, epoch)) == list(range(30))
    assert epochs[0] != epochs[1]
    missing = RecordInput(str(tmp_path / "none*")).get_yield_op()
    for _ in range(2):
        with pytest.raises(tf.errors.NotFoundError, match="Found no files"):
            sess.run(missing)


def test_a_file_whose_name_comes_from_a_list(tmp_path, sess):
    """One element of a list of names is a string like any other."""
    for name in "ab":
        (tmp_path / name).write_text(name)
    names = tf.constant([str(tmp_path / name) for name in "ab"])
    which = tf.placeholder(tf.int32, [])
    content = tf.read_file(tf.gather(names, which))
    assert [sess.run(content, {which: i}) for i in (1, 0, 1)] == [b"b", b"a", b"b"]
