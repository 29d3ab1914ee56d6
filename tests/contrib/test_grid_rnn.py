"""tf.contrib.grid_rnn: steps along several dimensions."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import weft as tf

GRID = tf.contrib.grid_rnn


def _step(cell, inputs, state):
    with tf.variable_scope("root", initializer=tf.constant_initializer(0.5)):
        output = cell(tf.constant(inputs), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(output)


def test_one_dimension_projects_its_input_over_the_state() -> None:
    cell = GRID.Grid1BasicRNNCell(2)
    (output,), (state,) = _step(cell, [[1.0, 1.0]], (tf.fill([1, 2], 9.0),))
    # Each unit gets 1 from the projection, then tanh of half of both.
    np.testing.assert_allclose(output, np.full([1, 2], math.tanh(1.0)), rtol=1e-6)
    np.testing.assert_allclose(state, output)
    assert [v.op.name for v in tf.trainable_variables()] == [
        "root/Grid1BasicRNNCell/project_m_0",
        "root/Grid1BasicRNNCell/recurrent/cell_0/basic_rnn_cell/kernel",
        "root/Grid1BasicRNNCell/recurrent/cell_0/basic_rnn_cell/bias",
    ]


def test_the_dimension_of_priority_sees_new_outputs() -> None:
    cell = GRID.Grid2BasicRNNCell(1, tied=True)
    state = (tf.zeros([1, 1]), tf.fill([1, 1], 2.0))
    (output,), states = _step(cell, [[4.0]], state)
    second = math.tanh(0.5 * 2 + 0.5 * 2)  # the projected input, and the old state
    first = math.tanh(0.5 * 2 + 0.5 * second)
    np.testing.assert_allclose(output, [[first]], rtol=1e-6)
    np.testing.assert_allclose(np.ravel(states), [first, second], rtol=1e-6)
    assert len(tf.trainable_variables()) == 3


@pytest.mark.parametrize(
    ("kind", "dimensions", "state"),
    [("Grid2LSTMCell", 2, 12), ("Grid3LSTMCell", 3, 18), ("Grid2GRUCell", 2, 6)],
)
def test_sizes_of_joined_and_of_separate_states(kind: str, dimensions: int, state: int) -> None:
    joined = getattr(GRID, kind)(3, state_is_tuple=False, output_is_tuple=False)
    assert (joined.output_size, joined.state_size) == (3, state)
    assert len(getattr(GRID, kind)(3).state_size) == dimensions
    flat = getattr(GRID, kind)(3, non_recurrent_fn=tf.nn.relu)
    assert len(flat.state_size) == dimensions - 1


def test_parameters_and_refusals() -> None:
    assert [*inspect.signature(GRID.Grid2LSTMCell).parameters] == [
        "num_units", "tied", "non_recurrent_fn", "use_peepholes", "forget_bias",
        "state_is_tuple", "output_is_tuple",
    ]  # fmt: skip
    with pytest.raises(ValueError, match=r"Invalid dims: \[2\]. Must be in \[0, 2\)"):
        GRID.GridRNNCell(2, 2, input_dims=2)
    with pytest.raises(TypeError, match="cell_fn must return an RNNCell instance"):
        GRID.GridRNNCell(2, cell_fn=lambda units: units)
