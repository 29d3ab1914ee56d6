"""`raw_rnn`: a loop over time in which a function of the program decides about each next step."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import Dimension, TensorShape
from weft.graph.constant import constant
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor
from weft.lib.rnn.cells import assert_like_rnncell, concat_shape
from weft.lib.rnn.step import cache_variables, check_alike, copy_through, static_shape
from weft.ops.array import fill as array_fill
from weft.ops.array import shape as array_shape
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import elementwise, reduce, unary
from weft.ops.state import variable_scope as vs


def raw_rnn(
    cell: Any,
    loop_fn: Callable[..., Any],
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: Any = None,
) -> tuple[Any, Any, Any]:
    """A loop in which `loop_fn(time, output, state, loop_state)` decides about each next step.

    It returns (finished, next_input, next_state, emit, next_loop_state); first it is called with
    time 0 and nothing else. Returns the arrays of what was emitted, the last state and the last
    loop state.
    """
    assert_like_rnncell("cell", cell)
    if not callable(loop_fn):
        raise TypeError("loop_fn must be a callable")
    with vs.variable_scope(scope or "rnn") as opened:
        cache_variables(opened)
        time = constant(0, dtype=dtypes.int32)
        finished, next_input, state, emit, first_loop_state = loop_fn(time, None, None, None)
        loop_state = (
            constant(0, dtype=dtypes.int32) if first_loop_state is None else first_loop_state
        )
        nest.assert_same_structure(state, cell.state_size)
        state = nest.map_structure(convert_to_tensor, state)
        sizes = _batch_sizes(nest.flatten(next_input))
        emit_ta, zero_emit = _emitted(cell, emit, nest.flatten(state)[0].dtype, *sizes)
        returned = while_loop(
            lambda _, finished, *__: unary.logical_not(reduce.reduce_all(finished)),
            _Step(cell, loop_fn, zero_emit),
            loop_vars=[time, finished, next_input, emit_ta, state, loop_state],
            parallel_iterations=parallel_iterations or 32,
            swap_memory=swap_memory,
        )
        emit_ta, final_state, final_loop_state = returned[-3:]
        return emit_ta, final_state, None if first_loop_state is None else final_loop_state


def _batch_sizes(flat_input: list[Any]) -> tuple[Any, int | None]:
    """The batch size of the inputs, as a tensor if need be, and as far as it is known."""
    known = Dimension(None)
    for each in flat_input:
        dims = each.shape.dims
        known = known.merge_with(Dimension(None) if dims is None else dims[0])
    return known.value or array_shape.shape(flat_input[0])[0], known.value


@dataclasses.dataclass(frozen=True)
class _Step:
    """One step of the cell, and what `loop_fn` makes of it for those that are not finished."""

    cell: Any
    loop_fn: Callable[..., Any]
    zero_emit: Any

    def __call__(
        self, time: Tensor, finished: Tensor, inputs: Any, arrays: Any, state: Any, loop_state: Any
    ) -> Any:
        output, cell_state = self.cell(inputs, state)
        check_alike((state, cell_state), (self.cell.output_size, output))
        later = time + 1
        ended, following, new_state, emitted, new_loop_state = self.loop_fn(
            later, output, cell_state, loop_state
        )
        check_alike((state, new_state), (inputs, following), (arrays, emitted))
        keep_old = functools.partial(copy_through, finished)
        emitted = nest.map_structure(keep_old, self.zero_emit, emitted)
        new_state = nest.map_structure(keep_old, state, new_state)
        arrays = nest.map_structure(lambda array, each: array.write(time, each), arrays, emitted)
        ended = elementwise.logical_or(finished, ended)
        if new_loop_state is None:
            new_loop_state = loop_state
        return later, ended, following, arrays, new_state, new_loop_state


def _emitted(
    cell: Any, emit: Any, state_dtype: Any, batch_size: Any, known_batch: int | None
) -> tuple[Any, Any]:
    """Arrays for what `raw_rnn` emits, and the zeros that stand for nothing."""
    if emit is None:
        sizes = cell.output_size
        types = nest.map_structure(lambda _: state_dtype, sizes)
    else:
        sizes = nest.map_structure(
            lambda e: e.shape if e.shape.is_fully_defined() else array_shape.shape(e), emit
        )
        types = nest.map_structure(lambda e: e.dtype, emit)
    numbers = itertools.count()

    def array(size: Any, dtype: Any) -> TensorArray:
        shape = TensorShape([known_batch]).concatenate(static_shape(size))
        name = f"rnn_output_{next(numbers)}"
        return TensorArray(dtype, size=0, dynamic_size=True, element_shape=shape, name=name)

    def zeros(size: Any, dtype: Any) -> Tensor:
        return array_fill.zeros(concat_shape(batch_size, size), dtype)

    return nest.map_structure(array, sizes, types), nest.map_structure(zeros, sizes, types)
