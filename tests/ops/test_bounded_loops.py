"""Inputs and attributes that a kernel would loop over for ever: an error, or the result at once."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core.step_limits import looking_up
from weft.runtime.limits import deadline_scope, in_session

raw = tf.raw_ops


def run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize(
    "matrix",
    [[[-np.inf]], [[np.nan]], [[1, np.inf], [0, 1]], [[1, np.nan], [0, 1]], [[-np.inf, 1], [2, 3]]],
)
def test_logarithms_of_what_is_not_finite(matrix: Any) -> None:
    found = run(raw.MatrixLogarithm(input=np.array([matrix, np.eye(len(matrix))], np.complex128)))
    assert np.isnan(found[0].real).all() and np.isnan(found[0].imag).all()
    np.testing.assert_allclose(found[1], 0, atol=1e-12)


@pytest.mark.parametrize("width", [2**31, 2**40, 2**62])
def test_beams_wider_than_tensorflow_counts(width: int) -> None:
    scores = np.zeros([40, 1, 5], np.float32)
    decoded = raw.CTCBeamSearchDecoder(
        inputs=scores, sequence_length=[40], beam_width=width, top_paths=1
    )
    words = f"Attr beam_width has value {width} out of range for an int32"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        run(decoded.log_probability)


def test_a_beam_that_grows_without_end_is_ended() -> None:
    scores = np.zeros([400, 1, 30], np.float32)
    decoded = raw.CTCBeamSearchDecoder(
        inputs=scores, sequence_length=[400], beam_width=2**16, top_paths=1
    )
    config = tf.ConfigProto(operation_timeout_in_ms=300)
    with tf.Session(config=config) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(decoded.log_probability)


@pytest.mark.parametrize("search", [raw.LowerBound, raw.UpperBound])
def test_rows_without_elements_are_not_gone_through(search: Any) -> None:
    rows = np.empty([2**40, 0], np.int32)
    given = tf.placeholder(tf.int32), tf.placeholder(tf.int32)
    found = search(sorted_inputs=given[0], values=given[1])
    assert run(found, dict.fromkeys(given, rows)).shape == rows.shape


LONG_DRAWS = {
    "uniform": lambda n: tf.random_uniform(n),
    "uniform double": lambda n: tf.random_uniform(n, dtype=tf.float64),
    "normal": lambda n: tf.random_normal(n),
    "normal double": lambda n: tf.random_normal(n, dtype=tf.float64),
    "truncated": lambda n: tf.truncated_normal(n),
    "truncated double": lambda n: tf.truncated_normal(n, dtype=tf.float64),
    "gamma": lambda n: raw.StatelessRandomGammaV2(shape=n, seed=[3, 5], alpha=2.5),
    "stateful gamma": lambda n: tf.random_gamma(n, 2.5),
    "poisson": lambda n: tf.random_poisson(3.0, n),
    "binomial": lambda n: raw.StatelessRandomBinomial(shape=n, seed=[3, 5], counts=20.0, probs=0.3),
    "bounded normal": lambda n: raw.ParameterizedTruncatedNormal(
        shape=n, means=0.0, stdevs=1.0, minvals=-1.0, maxvals=1.0, seed=1
    ),
}


@pytest.mark.parametrize("name", LONG_DRAWS)
def test_long_draws_can_be_ended(name: str) -> None:
    drawn = LONG_DRAWS[name](tf.placeholder_with_default([1 << 25], [1]))
    config = tf.ConfigProto(operation_timeout_in_ms=50)
    start = time.monotonic()
    with tf.Session(config=config) as session, pytest.raises(tf.errors.DeadlineExceededError):
        session.run(drawn)
    assert time.monotonic() - start < 10


@pytest.mark.parametrize("name", LONG_DRAWS)
def test_a_part_of_a_draw_is_drawn_as_the_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for part in (1 << 16, 7):
        monkeypatch.setattr("weft.core.step_limits.PART", part)
        with tf.Graph().as_default():
            tf.set_random_seed(3)
            found.append(run(LONG_DRAWS[name](tf.constant([50]))))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("retries", [2**62, -(2**62), 2**32 + 1, 2**31])
def test_centers_drawn_again_and_again(retries: int) -> None:
    points = np.arange(8, dtype=np.float32).reshape(4, 2)
    found = run(
        raw.KmeansPlusPlusInitialization(
            points=points, num_to_sample=2, seed=1, num_retries_per_sample=retries
        )
    )
    assert all(row.tolist() in points.tolist() for row in found)


@pytest.mark.parametrize("rows", [2**40, 2**62])
def test_rows_of_a_sparse_tensor_that_nobody_can_keep(rows: int) -> None:
    handles = raw.AddManySparseToTensorsMap(
        sparse_indices=np.array([[0, 0]]), sparse_values=[1.0], sparse_shape=np.array([rows, 1])
    )
    with pytest.raises(tf.errors.ResourceExhaustedError, match=rf"shape\[{rows}\] and type int64"):
        run(handles)


def test_rows_of_a_sparse_tensor_in_any_order() -> None:
    indices, values = np.array([[2, 1], [0, 3], [2, 0]]), np.array([1.0, 2.0, 3.0])
    handles = raw.AddManySparseToTensorsMap(
        sparse_indices=indices, sparse_values=values, sparse_shape=np.array([4, 5]),
        shared_name="rows",
    )  # fmt: skip
    taken = raw.TakeManySparseFromTensorsMap(
        sparse_handles=handles, dtype=tf.float64, shared_name="rows"
    )
    found = run(taken)
    assert found.sparse_indices.tolist() == [[0, 3], [2, 1], [2, 0]]
    assert found.sparse_values.tolist() == [2, 1, 3]
    assert found.sparse_shape.tolist() == [4, 5]


def test_segments_that_nobody_can_keep() -> None:
    count = tf.placeholder(tf.int64, [])
    joined = tf.strings.unsorted_segment_join(["a", "b"], [0, 1], count)
    words = r"OOM when allocating tensor with shape\[1099511627776\] and type string"
    with pytest.raises(tf.errors.ResourceExhaustedError, match=words):
        run(joined, {count: 2**40})
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be non-negative but got -1"):
        run(joined, {count: -1})
    assert run(joined, {count: 3}).tolist() == [b"a", b"b", b""]


@pytest.mark.parametrize("nested", [[], [[]], [[1]]])
@pytest.mark.parametrize("rank", [255, 2**62])
def test_more_dimensions_than_a_tensor_has(nested: Any, rank: int) -> None:
    for make in (tf.ragged.constant, tf.ragged.constant_value):
        with pytest.raises(ValueError, match=f"Invalid ragged_rank={rank}: must be at most 254"):
            make(nested, ragged_rank=rank)


def test_pipes_and_devices_are_read_as_far_as_they_are_long(tmp_path: Any) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    assert run(tf.io.read_file(pipe)) == b""
    assert run(tf.io.read_file("/dev/zero")) == b""
    names = tf.train.string_input_producer([pipe], num_epochs=1, shuffle=False)
    value = tf.WholeFileReader().read(names)[1]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert session.run(value) == b""
        coordinator.request_stop()
        coordinator.join(threads)


def test_a_loop_looks_at_the_end_of_its_step() -> None:
    with pytest.raises(tf.errors.DeadlineExceededError), deadline_scope(time.monotonic() - 1):
        list(looking_up(range(3)))
    assert list(looking_up(range(3))) == [0, 1, 2]


def test_a_pattern_holds_nobody_up() -> None:
    text = tf.placeholder(tf.string, [None])
    matches = tf.strings.regex_full_match(text, "(a+)+b")
    done = threading.Event()
    thread = threading.Thread(target=done.set)
    with tf.Session() as session:
        thread.start()
        found = session.run(matches, {text: ["a" * 5000 + "!", "a" * 5000 + "b"]})
    thread.join()
    assert found.tolist() == [False, True] and done.is_set()


def numbered(count: int) -> Any:
    """So many texts, which differ."""
    return tf.constant(np.arange(count).astype("S8").astype(object))


LONG_TEXTS = {
    "split": lambda x: tf.string_split(x).values,
    "split at a text": lambda x: tf.strings.split(x, sep="ab", result_type="SparseTensor").values,
    "join": lambda x: tf.strings.join([x, "-"]),
    "substrings": lambda x: tf.strings.substr(x, 0, 1),
    "upper": tf.strings.upper,
    "characters": lambda x: tf.strings.length(x, unit="UTF8_CHAR"),
    "buckets": lambda x: tf.strings.to_hash_bucket_strong(x, 10, [1, 2]),
    "numbers": lambda x: tf.strings.to_number(x, tf.int64),
    "numbers as texts": lambda x: tf.as_string(tf.strings.length(x)),
    "replaced": lambda x: tf.strings.regex_replace(x, "[0-3]+", "b"),
    "fields": lambda x: tf.decode_csv(x, [["a"]])[0],
    "fingerprints": lambda x: raw.SdcaFprint(input=x),
    "sets": lambda x: tf.sets.size(tf.sets.intersection(x[:, None], x[:, None])),
}


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_loops_over_texts_can_be_ended(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.core.step_limits.PART", 100)
    asked = []

    class Ended:
        """The steps of a session that is closed when something has been asked three times."""

        def check(self) -> None:
            asked.append(None)
            if len(asked) > 3:
                raise tf.errors.CancelledError(None, None, "closed")

    texts = numbered(1000)
    with tf.Session() as session:
        made = LONG_TEXTS[name](texts)
        with in_session(Ended()), pytest.raises(tf.errors.CancelledError, match="closed"):
            session.run(made)


WIDE_SHAPES = {
    "fill": lambda p: tf.fill(p, 1.0),
    "reshape": lambda p: tf.reshape([1.0], p),
    "spread": lambda p: tf.broadcast_to(1.0, p),
    "normal": lambda p: tf.random_normal(p),
    "gamma": lambda p: tf.random_gamma(p, 1.0),
    "stateless": lambda p: tf.random.stateless_uniform(p, [1, 2]),
    "scattered": lambda p: tf.scatter_nd([[0]], [1.0], p),
    "gradient of a slice": lambda p: raw.StridedSliceGrad(
        shape=p, begin=[0], end=[1], strides=[1], dy=[1.0]
    ),
}


@pytest.mark.parametrize("count", [255, 1_000_000])
@pytest.mark.parametrize("name", WIDE_SHAPES)
def test_shapes_of_too_many_dimensions(name: str, count: int) -> None:
    given = tf.placeholder(tf.int32)
    made = WIDE_SHAPES[name](given)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Too many dimensions"):
        run(made.op, {given: np.full(count, 3)})


def test_coordinates_in_arrays_of_many_dimensions() -> None:
    given = tf.placeholder(tf.int32, [None])
    made = tf.unravel_index([0], given)
    assert run(made, {given: np.ones(300)}).shape == (300, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="integer overflow"):
        run(made, {given: np.full(500_000, 3)})


@pytest.mark.parametrize("indices", [None, np.array([2**31 - 1], np.int32)])
def test_lists_longer_than_memory_are_refused(indices: Any) -> None:
    """Of rows without elements there may be as many as one likes, but not of arrays."""
    count = 2**40 if indices is None else 1
    rows = tf.placeholder(tf.bool)
    if indices is None:
        made = raw.TensorListFromTensor(tensor=rows, element_shape=[0])
    else:
        made = raw.TensorListScatterV2(
            tensor=rows, indices=indices, element_shape=[0], num_elements=-1
        )
    length = raw.TensorListLength(input_handle=made)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        run(length, {rows: np.empty([count, 0], bool)})
