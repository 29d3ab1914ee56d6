"""Generators draw what TensorFlow's draw from the same state, and move on as far.

The draws below are those of TensorFlow 2.21, twice each, from a state of [5, -1, 77].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.client.eager import EagerExecution
from weft.core import errors

DRAWS: dict[tuple[str, Any], list[list[float]]] = {
    ("StatefulUniform", tf.float32): [
        [0.17203557, 0.13503945, 0.51845336], [0.64739406, 0.31124222, 0.50911593]
    ],
    ("StatefulStandardNormalV2", tf.float32): [
        [-0.43262804, -0.69094735, 2.0977776], [1.872758, 0.2995323, -0.79197264]
    ],
    ("StatefulTruncatedNormal", tf.float64): [
        [-0.42789911, -0.65270679, -0.82416656], [-1.03669262, -0.82392748, -0.41882974]
    ],
    ("StatefulUniformFullInt", tf.uint64): [
        [12769553896499027093, 9420928470318449841, 3459937378069120038],
        [5518774588687228286, 1981376838197527673, 10837915784982237536],
    ],
    ("StatefulUniformFullInt", tf.int32): [
        [1454315470, 1549383732, 22530308], [-1188253185, -1907908502, 1763364732]
    ],
}  # fmt: skip


def test_draws_are_tensorflows() -> None:
    state = tf.Variable([5, -1, 77], dtype=tf.int64, use_resource=True)
    ops = [getattr(tf.raw_ops, name)(state.handle, 1, [3], dtype=dtype) for name, dtype in DRAWS]
    low, high = tf.constant(-3, tf.int64), tf.constant(100, tf.int64)
    whole = tf.raw_ops.StatefulUniformInt(state.handle, 1, [3], low, high)
    skip = tf.raw_ops.RngSkip(state.handle, 1, tf.constant(10, tf.int64))
    with tf.Session() as session:
        session.run(state.initializer)
        for op, expected in zip(ops, DRAWS.values(), strict=True):
            for row in expected:
                np.testing.assert_allclose(session.run(op), row, rtol=1e-5)
        assert session.run([whole, whole])[0].tolist() == [13, 10, 40]
        assert session.run(whole).tolist() == [46, 19, 62]
        assert session.run(state).tolist() == [9221, -1, 77]
        session.run(skip)
        assert session.run(state).tolist() == [9221 + 2560, -1, 77]


def test_a_generator() -> None:
    made = tf.random.experimental.Generator.from_seed(2**64 + 7)
    again = tf.random.experimental.Generator(copy_from=made)
    normal, other = made.normal([4], mean=3.0), again.normal([4], mean=3.0)
    whole = made.uniform([1000], 2, 5, dtype=tf.int32)
    unit = made.uniform([], dtype=tf.float64)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(made.state).tolist() == [7, 1, 0]
        first, second = session.run([normal, other])
        assert first.tolist() == second.tolist()
        assert session.run(normal).tolist() != first.tolist()
        assert set(session.run(whole)) == {2, 3, 4}
        assert 0 <= session.run(unit) < 1
        session.run(made.reset_from_key_counter(9, [1, 2]))
        assert session.run([made.state, made.key])[0].tolist() == [1, 2, 9]
        assert session.run(made.make_seeds(3)).shape == (2, 3)


def test_what_a_generator_cannot_do() -> None:
    made = tf.random.experimental.Generator.from_state([0, 0, 5], 1)
    with pytest.raises(NotImplementedError, match="needs eager execution"):
        made.split(2)
    with pytest.raises(ValueError, match="Unsupported algorithm id: 7"):
        tf.random.experimental.Generator.from_state([0, 0, 5], 7)
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype"):
        made.uniform([2], dtype=tf.int32)


def test_a_generator_can_be_split_where_there_are_values() -> None:
    with EagerExecution().as_default():
        made = tf.random.experimental.Generator.from_seed(3)
        first, second = made.split(2)
        keys = [int(each.key) for each in (made, first, second)]
        assert len(set(keys)) == 3 and first.state.numpy()[:2].tolist() == [0, 0]
        assert first.normal([2]).numpy().tolist() != second.normal([2]).numpy().tolist()


def test_a_state_that_is_too_short() -> None:
    state = tf.Variable([5], dtype=tf.int64, use_resource=True)
    drawn = tf.raw_ops.StatefulUniform(state.handle, 1, [3])
    with tf.Session() as session:
        session.run(state.initializer)
        with pytest.raises(errors.InvalidArgumentError, match="size of state must be at least 3"):
            session.run(drawn)
