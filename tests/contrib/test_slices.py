"""tf.contrib.reduce_slice_ops, periodic_resample, input_pipeline and memory_stats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

DATA = np.array([[1, 2, 3], [40, 50, 60], [700, 800, 900], [1000, 2000, 3000]], np.int32)
LEAST = np.iinfo(np.int32).min


def _run(fetch: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetch)


@pytest.mark.parametrize(
    ("kind", "indices", "axis", "expected"),
    [
        ("sum", [[0, 1], [1, 1], [0, 2]], 0, [[1, 2, 3], [0, 0, 0], [41, 52, 63]]),
        ("sum", [0, 2, 9], 0, [[41, 52, 63], [1700, 2800, 3900]]),
        ("sum", [[0, 2]], 1, [[3], [90], [1500], [3000]]),
        ("prod", [[0, 1], [1, 1], [0, 2]], 0, [[1, 2, 3], [1, 1, 1], [40, 100, 180]]),
        ("max", [[0, 3], [3, 1]], 0, [[700, 800, 900], [LEAST] * 3]),
        ("min", [[1, 99]], 0, [[40, 50, 60]]),
    ],
)
def test_ranges_of_rows(kind: str, indices: Any, axis: int, expected: Any) -> None:
    function = getattr(tf.contrib.reduce_slice_ops, f"reduce_slice_{kind}")
    found = function(DATA, indices, axis)
    assert found.shape.is_compatible_with(np.shape(expected))
    np.testing.assert_array_equal(_run(found), expected)


def test_resampled_elements_and_their_gradient() -> None:
    values = tf.constant(np.arange(16.0).reshape(2, 2, 4))
    found = tf.contrib.periodic_resample.periodic_resample(values, [4, 4, None])
    assert found.shape.as_list() == [4, 4, 1]
    weights = np.arange(16.0).reshape(4, 4, 1)
    (gradient,) = tf.gradients(tf.reduce_sum(found * weights), values)
    result, back = _run([found, gradient])
    assert result[..., 0].tolist() == [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]
    for place in np.ndindex(2, 2, 4):
        origin = np.argwhere(result[..., 0] == place[0] * 8 + place[1] * 4 + place[2])[0]
        assert back[place] == weights[(*origin, 0)]


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ([None, None], "only one index to be marked as adjustable"),
        ([3, 4], "at least one index"),
        ([1, None], "Dimension 0 input tensor has size 3, desired shape has size 1"),
        (
            [None, 6],
            r"the result, of shape \[2, 6\], to have a place in the input, of shape \[3, 4\]",
        ),
        ([4, 4, None], "to be the same as the length of the desired shape, 3"),
    ],
)
def test_what_cannot_be_resampled(shape: Any, said: str) -> None:
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match=said):
        _run(tf.contrib.periodic_resample.periodic_resample(tf.zeros([3, 4]), shape))


def test_elements_in_turn() -> None:
    element = tf.contrib.input_pipeline.seek_next(["a", "b"], num_epochs=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(element) for _ in range(4)] == [b"a", b"b", b"a", b"b"]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


def test_memory_of_the_device() -> None:
    stats = tf.contrib.memory_stats
    used, most, limit = _run([stats.BytesInUse(), stats.MaxBytesInUse(), stats.BytesLimit()])
    assert 0 <= used <= most
    assert limit == -1 or limit > 0


def test_reads_without_copies_are_all_reads() -> None:
    variable = tf.get_variable("v", initializer=3.0, use_resource=True)
    with tf.control_dependencies([tf.raw_ops.DisableCopyOnRead(resource=variable.handle)]):
        value = variable.read_value()
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(value) == 3.0
