"""`tf.nn.dynamic_rnn` and `tf.nn.bidirectional_dynamic_rnn` over `Recurrent`."""

from __future__ import annotations

from typing import Any

from weft.core import nest
from weft.graph.tensor import Tensor
from weft.lib.contrib.recurrent.loops import Recurrent
from weft.ops.array import array, fill
from weft.ops.array.one_hot_search import one_hot, sequence_mask
from weft.ops.array.reverse import reverse as reversed_along
from weft.ops.array.reverse import reverse_sequence
from weft.ops.math import reduce
from weft.ops.state.variable_scope import variable_scope


def _swapped(tensor: Tensor) -> Tensor:
    """Batch before time instead of time before batch, or the other way round."""
    return array.transpose(tensor, [1, 0, 2])


def _at_lengths(history: Tensor, lengths: Any) -> Tensor:
    """The row of each example at the end of its sequence."""
    chosen = one_hot(lengths - 1, array.shape(history)[0], axis=0, dtype=history.dtype)
    return reduce.reduce_sum(array.expand_dims(chosen, -1) * history, 0)


def functional_rnn(
    cell: Any,
    inputs: Any,
    sequence_length: Any = None,
    initial_state: Any = None,
    dtype: Any = None,
    time_major: bool = False,
    scope: Any = None,
    use_tpu: bool = False,
    reverse: bool = False,
) -> tuple[Tensor, Any]:
    """The outputs of a cell for every row of time, and its last state.

    After the end of a sequence outputs are zero, and its state stays what it was. With `reverse`
    time runs backward over the inputs.
    """
    with variable_scope(scope or "rnn"):
        if not time_major:
            inputs = nest.map_structure(_swapped, inputs)
        first = nest.flatten(inputs)[0]
        if initial_state is None:
            initial_state = cell.zero_state(array.shape(first)[1], dtype)
        if reverse:
            inputs = reversed_along(inputs, [0])
        outputs, history, last = _run(
            cell, inputs, initial_state, sequence_length, use_tpu, reverse
        )
    if sequence_length is not None and not reverse:
        last = nest.map_structure(lambda each: _at_lengths(each, sequence_length), history)
    outputs = _swapped(reversed_along(outputs, [0]) if reverse else outputs)
    if sequence_length is not None:
        mask = sequence_mask(sequence_length, array.shape(outputs)[1], outputs.dtype)
        outputs *= array.expand_dims(mask, -1)
    return _swapped(outputs) if time_major else outputs, _shaped(last, initial_state)


def _run(
    cell: Any, inputs: Any, state: Any, lengths: Any, use_tpu: bool, aligned_end: bool
) -> tuple[Tensor, Any, Any]:
    """The outputs, the states, and the last state of a cell."""
    batch = array.shape(nest.flatten(inputs)[0])[1]
    output = fill.zeros([batch, cell.output_size], nest.flatten(state)[0].dtype)

    def step(_: Any, before: Any, row: Any) -> tuple[Any, Any]:
        return cell(row, before[1]), []

    longest = None if lengths is None else reduce.reduce_max(lengths)
    history, last = Recurrent(
        [], (output, state), inputs, step, max_input_length=longest, use_tpu=use_tpu,
        aligned_end=aligned_end,
    )  # fmt: skip
    return history[0], history[1], last[1]


def _shaped(state: Any, like: Any) -> Any:
    for each, template in zip(nest.flatten(state), nest.flatten(like), strict=True):
        each.set_shape(template.shape)
    return state


def bidirectional_functional_rnn(
    cell_fw: Any,
    cell_bw: Any,
    inputs: Any,
    initial_state_fw: Any = None,
    initial_state_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    time_major: bool = False,
    use_tpu: bool = False,
    fast_reverse: bool = False,
    scope: Any = None,
) -> tuple[tuple[Tensor, Tensor], tuple[Any, Any]]:
    """The outputs and the last states of a cell forward in time, and of another backward.

    `fast_reverse` takes whole inputs backward, padding first, and not each sequence.
    """
    along: dict[str, Any] = {"seq_dim": 0 if time_major else 1, "batch_dim": 1 if time_major else 0}

    def turned(values: Tensor) -> Tensor:
        if sequence_length is not None:
            return reverse_sequence(values, sequence_length, **along)
        assert not use_tpu, "Bidirectional with variable sequence lengths unsupported on TPU"
        return reversed_along(values, axis=[along["seq_dim"]])

    rows = (
        ("fw", cell_fw, initial_state_fw, False),
        ("bw", cell_bw, initial_state_bw, fast_reverse),
    )
    found = []
    with variable_scope(scope or "bidirectional_rnn"):
        for name, cell, state, reverse in rows:
            with variable_scope(name) as inner:
                is_turned = name == "bw" and not fast_reverse
                outputs, last = functional_rnn(
                    cell, turned(inputs) if is_turned else inputs, sequence_length, state, dtype,
                    time_major, inner, use_tpu, reverse,
                )  # fmt: skip
            found.append((turned(outputs) if is_turned else outputs, last))
    (forward, first), (backward, second) = found
    return (forward, backward), (first, second)
