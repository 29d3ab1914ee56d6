"""Stacks of networks that run both ways: each layer sees both directions of the one below."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.signatures import with_parameters_of
from weft.lib.rnn.dynamic import bidirectional_dynamic_rnn
from weft.lib.rnn.static import static_bidirectional_rnn
from weft.ops.array import join as array_join
from weft.ops.state import variable_scope as vs


def _check(cells_fw: Any, cells_bw: Any, states_fw: Any, states_bw: Any) -> None:
    for way, cells in (("fw", cells_fw), ("bw", cells_bw)):
        if not cells:
            raise ValueError(f"Must specify at least one {way} cell for BidirectionalRNN.")
        if not isinstance(cells, list):
            raise ValueError(f"cells_{way} must be a list of RNNCells (one per layer).")
    if len(cells_fw) != len(cells_bw):
        raise ValueError("Forward and Backward cells must have the same depth.")
    for way, states in (("fw", states_fw), ("bw", states_bw)):
        if states is not None and (not isinstance(states, list) or len(states) != len(cells_fw)):
            raise ValueError(
                f"initial_states_{way} must be a list of state tensors (one per layer)."
            )


def _stack(
    run: Callable[..., tuple[Any, Any, Any]],
    cells_fw: list[Any],
    cells_bw: list[Any],
    inputs: Any,
    initial_states_fw: list[Any] | None,
    initial_states_bw: list[Any] | None,
    scope: Any,
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    _check(cells_fw, cells_bw, initial_states_fw, initial_states_bw)
    finals_fw, finals_bw = [], []
    with vs.variable_scope(scope or "stack_bidirectional_rnn"):
        for i, (fw, bw) in enumerate(zip(cells_fw, cells_bw, strict=True)):
            start_fw = initial_states_fw[i] if initial_states_fw else None
            start_bw = initial_states_bw[i] if initial_states_bw else None
            with vs.variable_scope(f"cell_{i}") as opened:
                inputs, final_fw, final_bw = run(fw, bw, inputs, start_fw, start_bw, opened)
            finals_fw.append(final_fw)
            finals_bw.append(final_bw)
    return inputs, tuple(finals_fw), tuple(finals_bw)


def stack_bidirectional_dynamic_rnn(
    cells_fw: Any,
    cells_bw: Any,
    inputs: Any,
    initial_states_fw: Any = None,
    initial_states_bw: Any = None,
    dtype: Any = None,
    sequence_length: Any = None,
    parallel_iterations: int | None = None,
    time_major: bool = False,
    scope: Any = None,
    swap_memory: bool = False,
) -> tuple[Any, Any, Any]:
    """Layers of `bidirectional_dynamic_rnn`: (outputs, states_fw, states_bw)."""

    def run(fw: Any, bw: Any, below: Any, start_fw: Any, start_bw: Any, _: Any) -> Any:
        outputs, (state_fw, state_bw) = bidirectional_dynamic_rnn(
            fw,
            bw,
            below,
            initial_state_fw=start_fw,
            initial_state_bw=start_bw,
            sequence_length=sequence_length,
            parallel_iterations=parallel_iterations,
            dtype=dtype,
            swap_memory=swap_memory,
            time_major=time_major,
        )
        return array_join.concat(outputs, 2), state_fw, state_bw

    return _stack(run, cells_fw, cells_bw, inputs, initial_states_fw, initial_states_bw, scope)


@with_parameters_of(
    stack_bidirectional_dynamic_rnn, without=("parallel_iterations", "time_major", "swap_memory")
)
def stack_bidirectional_rnn(dtype: Any, sequence_length: Any, **stack: Any) -> tuple[Any, Any, Any]:
    """Layers of `static_bidirectional_rnn`: (outputs, states_fw, states_bw)."""

    def run(fw: Any, bw: Any, below: Any, start_fw: Any, start_bw: Any, opened: Any) -> Any:
        return static_bidirectional_rnn(
            fw, bw, below, start_fw, start_bw, dtype, sequence_length, scope=opened
        )

    return _stack(run, **stack)
