"""Kernels that take many strings at once give what taking them one by one gives."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

LINES = ["a b c", "d", "e f", "g h", "i j", "k"]
GAPS = ["a b", "", "c  d", " e", "f ", "g"]
PLAIN = ["1,2", "3,4", "5,6"]


def _values(sess, tensor):
    x = sess.run(tensor)
    return x.tolist() if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("skip_empty", [True, False])
@pytest.mark.parametrize("texts", [LINES, GAPS, LINES * 15, LINES * 15 + [""], LINES * 15 + GAPS])
def test_lines_are_split_as_each_of_them_is(sess, texts, skip_empty):
    all_of_them = sess.run(tf.string_split(texts, skip_empty=skip_empty))
    one_by_one = {text: tf.string_split([text], skip_empty=skip_empty) for text in texts}
    found = sess.run(one_by_one)
    each = [found[text] for text in texts]
    assert all_of_them.values.tolist() == [v for one in each for v in one.values.tolist()]
    rows = [[i, j] for i, one in enumerate(each) for _, j in one.indices.tolist()]
    assert all_of_them.indices.tolist() == rows
    assert all_of_them.dense_shape.tolist() == [len(texts), max(one.dense_shape[1] for one in each)]


REPLACED = [
    ("[^a-z ]+", "#", ["ab 12 cd!", "..", ""], [b"ab # cd#", b"#", b""]),
    ("[^a-z]", "#", ["añb", "é"], [b"a#b", b"#"]),
    (" +", "_", ["a  b c", " "], [b"a_b_c", b"_"]),
    (r"[\d_]+", "", ["a1_2b", "3"], [b"ab", b""]),
    ("a", r"<\0>", ["banana"], [b"b<a>n<a>n<a>"]),
    (".", "x", ["ab"], [b"xx"]),
    ("[^a-z]+", "#", ["a\0\0b1", "\0", "c"], [b"a#b#", b"#", b"c"]),
    ("[^a-z]", "\0", ["a1", "2"], [b"a\0", b"\0"]),
    ("[^a]+", "é", ["abbbbbbba", "b" * 1000], ["aéa".encode(), "é".encode()]),
    ("-+", "aa", ["a--b-", "---"], [b"aaabaa", b"aa"]),
    ("x", "", [], []),
]


@pytest.mark.parametrize(("pattern", "rewrite", "texts", "wanted"), REPLACED)
def test_simple_expressions_replace_as_re2_does(sess, pattern, rewrite, texts, wanted):
    given = tf.constant(texts, tf.string)
    assert _values(sess, tf.regex_replace(given, pattern, rewrite)) == wanted


def test_a_range_that_goes_backwards_is_refused(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        sess.run(tf.regex_replace(["a"], "[z-a]", ""))


CUTS = [
    (1, 2, [b"bc", b"f"]),
    (-2, 1, [b"b", b"e"]),
    (-2, 5, [b"bc", b"ef"]),
    (0, 0, [b"", b""]),
    (0, -1, [b"abc", b"ef"]),
]


@pytest.mark.parametrize(("pos", "length", "wanted"), CUTS)
def test_the_same_bytes_of_all_strings(sess, pos, length, wanted):
    assert _values(sess, tf.substr(["abc", "ef"], pos, length)) == wanted


def test_one_string_that_is_too_short_is_named(sess):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"pos 2 out of range .* at index 1"):
        sess.run(tf.substr(["abc", "e"], 2, 1))


def test_plain_lines_of_fields_are_those_with_quotes(sess):
    defaults = [[0], [7]]
    for lines in (PLAIN, ['1,"2"', "3,4", '"5",6']):
        assert [c.tolist() for c in sess.run(tf.decode_csv(lines, defaults))] == [
            [1, 3, 5],
            [2, 4, 6],
        ]
    columns = sess.run(tf.decode_csv(["1,", "-3,4"], defaults))
    assert [c.tolist() for c in columns] == [[1, -3], [7, 4]]
    chosen = sess.run(tf.decode_csv(["1,2,x", "3,4,y"], [[""]], select_cols=[2]))
    assert chosen[0].tolist() == [b"x", b"y"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["1,2", "3"], "Expect 2 fields but have 1 in record 1"),
        (["1,2,3", "3,4,5"], "Expect 2 fields but have 3 in record 0"),
        (["1,2", "3,2147483648"], "Field 1 in record 1 is not a valid int32: 2147483648"),
    ],
)
def test_lines_with_too_much_or_too_little(sess, lines, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(tf.decode_csv(lines, [[0], [0]]))


def test_fields_are_of_the_types_that_the_operation_knows():
    with pytest.raises(TypeError, match="'record_defaults' has DataType bool not in list"):
        tf.decode_csv(["1"], [[True]])


def test_numbers_into_strings_and_back(sess):
    assert _values(sess, tf.as_string([1.5, -2.0, float("nan")])) == [
        b"1.500000",
        b"-2.000000",
        b"nan",
    ]
    assert _values(sess, tf.as_string(np.zeros([0, 2], np.int32))) == []
    assert _values(sess, tf.as_string([[7], [-8]], width=4, fill="0")) == [[b"0007"], [b"-008"]]
    assert _values(sess, tf.string_to_number(["007", "12"], tf.int64)) == [7, 12]
    assert _values(sess, tf.string_to_number(["-7", " 12"], tf.int64)) == [-7, 12]


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8, np.int8])
@pytest.mark.parametrize("spread", [1, 1_000_000_007])
def test_distinct_integers_in_order_of_appearance(sess, dtype, spread):
    random = np.random.RandomState(0)
    x = (random.randint(-50, 50, 1000).astype(np.int64) * spread).astype(dtype)
    y, index, counts = sess.run(tf.unique_with_counts(x))
    assert y.tolist() == list(dict.fromkeys(x.tolist())) and y.dtype == dtype
    np.testing.assert_array_equal(y[index], x)
    assert counts.tolist() == [x.tolist().count(v) for v in y.tolist()]


def test_a_fed_array_of_strings_stays_the_users(sess):
    x = tf.placeholder(tf.string, [2])
    queue = tf.FIFOQueue(1, [tf.string], [[2]])
    value = np.array([b"a", b"b"], object)
    sess.run(queue.enqueue([x]), {x: value})
    value[0] = b"changed"
    assert sess.run(queue.dequeue()).tolist() == [b"a", b"b"]


WHOLE = [
    (["1,2", "30,4", "5,60"], [[1, 30, 5], [2, 4, 60]]),
    (["1,2", "3,", "5,6"], [[1, 3, 5], [2, 7, 6]]),
    (["1,2", ",4", "5,6"], [[1, 0, 5], [2, 4, 6]]),
    (["1,2", "00000000000000000000003,4"], [[1, 3], [2, 4]]),
    (["1,2147483647", "-3,4"], [[1, -3], [2147483647, 4]]),
    (["1,9", "9,4"], [[1, 0], [7, 4]]),
]


@pytest.mark.parametrize(("lines", "wanted"), WHOLE)
def test_lines_of_digits_are_those_with_other_fields(sess, lines, wanted):
    missing = "9" if "9,4" in lines else ""
    both = [
        sess.run(tf.decode_csv(given, [[0], [7]], na_value=missing))
        for given in (lines, [*lines, '"1",2'])
    ]
    assert [c.tolist() for c in both[0]] == wanted
    assert [c.tolist()[:-1] for c in both[1]] == wanted
    assert all(c.dtype == np.int32 for c in both[0])


def test_a_number_of_too_many_digits_among_others_is_refused(sess):
    for text, kind in ((b"2147483648", 0), (b"9" * 30, np.int64(0))):
        with pytest.raises(tf.errors.InvalidArgumentError, match="in record 1 is not a valid int"):
            sess.run(tf.decode_csv([b"1,2", text + b",4"], [[kind], [kind]]))


LENGTHS = [(4, 16), (8, 16), (4, 7), (1, 16), (5, 5), (0, 100)]


@pytest.mark.parametrize(("least", "most"), LENGTHS)
@pytest.mark.parametrize("lowest", [0, 1])
@pytest.mark.parametrize("of", [list, lambda texts: np.fromiter(texts, object, len(texts))])
def test_hashes_of_many_strings_are_those_of_each(least, most, lowest, of):
    from weft.ops.kit.hashing import farm_hash

    random = np.random.RandomState(most)
    texts = [
        random.randint(lowest, 256, random.randint(least, most + 1)).astype(np.uint8).tobytes()
        for _ in range(5000)
    ]
    found = farm_hash(of(texts))
    assert found[:300].tolist() == [int(farm_hash([text])[0]) for text in texts[:300]]


def test_strings_of_bytes_alone_are_fed(sess):
    x = tf.placeholder(tf.string, [None])
    with pytest.raises(TypeError, match="Expected binary or unicode string"):
        sess.run(tf.identity(x), {x: np.array([b"a", bytearray(b"b")], object)})
