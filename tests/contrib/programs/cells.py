"""Cells of recurrent networks, each run for some steps, and networks made of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

# What a cell is called with; names of tf.nn.rnn_cell start with "nn.".
_CELLS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "lstm": ("nn.LSTMCell", (5,), {}),
    "lstm_peepholes": ("nn.LSTMCell", (5,), {"use_peepholes": True}),
    "lstm_projected": (
        "nn.LSTMCell",
        (5,),
        {"num_proj": 4, "use_peepholes": True, "cell_clip": 0.5, "proj_clip": 0.3},
    ),
    "lstm_joined": ("nn.LSTMCell", (5,), {"state_is_tuple": False}),
    "basic_lstm": ("nn.BasicLSTMCell", (5,), {}),
    "gru": ("nn.GRUCell", (5,), {}),
    "basic_rnn": ("nn.BasicRNNCell", (5,), {}),
    "coupled": ("CoupledInputForgetGateLSTMCell", (5,), {}),
    "coupled_peepholes": (
        "CoupledInputForgetGateLSTMCell",
        (5,),
        {"use_peepholes": True, "num_proj": 4, "proj_clip": 0.3, "layer_norm": True},
    ),
    "normalised": ("LayerNormBasicLSTMCell", (5,), {"norm_gain": 0.5, "norm_shift": 0.2}),
    "block_lstm": ("LSTMBlockCell", (5,), {"use_peephole": True}),
    "block_gru": ("GRUBlockCellV2", (5,), {}),
    "ugrnn": ("UGRNNCell", (5,), {}),
    "intersection": ("IntersectionRNNCell", (4,), {}),
    "intersection_projected": ("IntersectionRNNCell", (5,), {"num_in_proj": 5}),
    "nas": ("NASCell", (5,), {"num_proj": 3, "use_biases": True}),
    "groups": ("GLSTMCell", (4,), {"num_proj": 2, "number_of_groups": 2}),
    "one_group": ("GLSTMCell", (4,), {"number_of_groups": 1}),
    "sru": ("SRUCell", (4,), {}),
    "independent": ("IndRNNCell", (5,), {}),
    "independent_gru": ("IndyGRUCell", (5,), {}),
    "independent_lstm": ("IndyLSTMCell", (5,), {}),
    "grid_time": (
        "TimeFreqLSTMCell",
        (5,),
        {"use_peepholes": True, "feature_size": 4, "cell_clip": 1.0},
    ),
    "grid": ("GridLSTMCell", (5,), {"feature_size": 2, "num_frequency_blocks": [3]}),
    "grid_shared": (
        "GridLSTMCell",
        (5,),
        {
            "use_peepholes": True,
            "share_time_frequency_weights": True,
            "feature_size": 2,
            "num_frequency_blocks": [3],
        },
    ),
    "grid_blocks": (
        "GridLSTMCell",
        (5,),
        {
            "feature_size": 2,
            "num_frequency_blocks": [2, 1],
            "start_freqindex_list": [0, 2],
            "end_freqindex_list": [3, 4],
            "cell_clip": 0.5,
            "num_unit_shards": 2,
            "state_is_tuple": False,
        },
    ),
    "grid_both_ways": (
        "BidirectionalGridLSTMCell",
        (5,),
        {"use_peepholes": True, "feature_size": 2, "num_frequency_blocks": [3]},
    ),
    "grid_shifted": (
        "BidirectionalGridLSTMCell",
        (5,),
        {"feature_size": 2, "num_frequency_blocks": [3], "backward_slice_offset": 1},
    ),
}


def _inputs(tf: Any, *shape: int) -> Any:
    return tf.constant(np.random.randn(*shape).astype(np.float32))


def _cell(tf: Any, kind: str, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    given = dict(given)
    if "feature_size" in given:
        given["frequency_skip"] = 1
    if kind == "NASCell":
        given["use_bias"] = given.pop("use_biases")
    module = tf.nn.rnn_cell if kind.startswith("nn.") else tf.contrib.rnn
    return getattr(module, kind.split(".")[-1])(*args, **given)


def _static(tf: Any, cell: Any, steps: list[Any]) -> tuple[Any, Any]:
    outputs, state = tf.nn.static_rnn(cell, steps, dtype=tf.float32)
    return [outputs, state], None


def _of_kind(tf: Any, kind: str, args: tuple[Any, ...], given: dict[str, Any]) -> Any:
    return _static(tf, _cell(tf, kind, args, given), tf.unstack(_inputs(tf, 2, 2, 4), axis=1))


def _wrapped(tf: Any, wrap: Callable[[Any], Any]) -> Any:
    return _static(tf, wrap(tf), tf.unstack(_inputs(tf, 2, 2, 4), axis=1))


def _convolved(tf: Any, kind: str, shape: list[int], kernel: list[int]) -> Any:
    cell = getattr(tf.contrib.rnn, kind)(input_shape=shape, output_channels=3, kernel_shape=kernel)
    return _static(tf, cell, [_inputs(tf, 2, *shape) for _ in range(2)])


def _phased(tf: Any) -> Any:
    times = tf.constant(np.random.rand(2, 1).astype(np.float32))
    steps = [(times + i, _inputs(tf, 2, 3)) for i in range(2)]
    return _static(tf, tf.contrib.rnn.PhasedLSTMCell(5, use_peepholes=True), steps)


def _embedded(tf: Any) -> Any:
    steps = [tf.constant(np.random.randint(0, 7, (2, 1))) for _ in range(2)]
    cell = tf.contrib.rnn.EmbeddingWrapper(tf.nn.rnn_cell.GRUCell(5), 7, 3)
    return _static(tf, cell, steps)


def _dynamic(tf: Any) -> Any:
    cell = tf.nn.rnn_cell.LSTMCell(5, use_peepholes=True)
    outputs, state = tf.nn.dynamic_rnn(
        cell, _inputs(tf, 2, 4, 3), [2, 3], dtype=tf.float32, parallel_iterations=1
    )
    return [outputs, state], tf.reduce_sum(outputs**2)


def _unknown_batch(tf: Any) -> Any:
    x = tf.placeholder_with_default(np.random.randn(2, 4, 3).astype(np.float32), [None, None, 3])
    cells = [tf.nn.rnn_cell.LSTMCell(5), tf.nn.rnn_cell.GRUCell(4)]
    cell = tf.nn.rnn_cell.MultiRNNCell(cells)
    start = cell.zero_state(tf.shape(x)[0], tf.float32)
    return tf.nn.dynamic_rnn(cell, x, initial_state=start), None


def _fused(tf: Any) -> Any:
    cell = tf.contrib.rnn.LSTMBlockFusedCell(5, use_peephole=True)
    outputs, state = cell(_inputs(tf, 4, 2, 3), dtype=tf.float32, sequence_length=[2, 3])
    return [outputs, state], tf.reduce_sum(outputs**2)


def _grids(tf: Any) -> Any:
    grid = tf.contrib.grid_rnn
    cells = (
        lambda: grid.Grid1LSTMCell(4),
        lambda: grid.Grid2LSTMCell(4, use_peepholes=True),
        lambda: grid.Grid2GRUCell(4),
        lambda: grid.Grid3LSTMCell(4),
    )
    found = []
    for number, cell in enumerate(cells):
        with tf.variable_scope(f"grid{number}"):
            steps = tf.unstack(_inputs(tf, 2, 2, 4), axis=1)
            found.append(tf.nn.static_rnn(cell(), steps, dtype=tf.float32))
    return found, None


def _dropping(tf: Any) -> Any:
    return tf.nn.rnn_cell.DropoutWrapper(
        tf.nn.rnn_cell.LSTMCell(5), 0.8, 0.7, 0.6, True, input_size=4, dtype=tf.float32
    )


def _attending(tf: Any, joined: bool) -> Any:
    cell = tf.nn.rnn_cell.LSTMCell(5, state_is_tuple=not joined)
    return tf.contrib.rnn.AttentionCellWrapper(cell, 3, state_is_tuple=not joined)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    **{name: partial(_of_kind, kind=k, args=a, given=g) for name, (k, a, g) in _CELLS.items()},
    "dropping": partial(_wrapped, wrap=_dropping),
    "attending": partial(_wrapped, wrap=partial(_attending, joined=False)),
    "attending_joined": partial(_wrapped, wrap=partial(_attending, joined=True)),
    "convolved_1d": partial(_convolved, kind="Conv1DLSTMCell", shape=[5, 3], kernel=[3]),
    "convolved_2d": partial(_convolved, kind="Conv2DLSTMCell", shape=[5, 4, 3], kernel=[3, 2]),
    "phased": _phased,
    "embedded": _embedded,
    "dynamic": _dynamic,
    "unknown_batch": _unknown_batch,
    "fused": _fused,
    "grids": _grids,
}
