"""A step function applied along the time axis: one loop of the graph, or one copy per step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.constant import constant
from weft.graph.graph import Tensor
from weft.ops.array import (
    fill as array_fill,
)
from weft.ops.array import (
    join as array_join,
)
from weft.ops.array import (
    one_hot_search as select,
)
from weft.ops.array import (
    repeat as array_repeat,
)
from weft.ops.array import (
    reverse as array_reverse,
)
from weft.ops.array import (
    shape as array_shape,
)
from weft.ops.array import (
    split as array_split,
)
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts

Step = Callable[[Any, tuple[Any, ...]], tuple[Any, Any]]


def rnn(
    step_function: Step,
    inputs: Any,
    initial_states: Any,
    go_backwards: bool = False,
    mask: Any = None,
    constants: Any = None,
    unroll: bool = False,
    input_length: Any = None,
    time_major: bool = False,
    zero_output_for_mask: bool = False,
) -> tuple[Any, Any, Any]:
    """Calls `output, states = step_function(input, states)` for every step in time.

    Where `mask` is False the states stay as they were, and the output is that of the step
    before, or zero when `zero_output_for_mask`. Returns (last output, outputs, last states).
    """
    if not time_major:
        inputs = nest.map_structure(_batch_and_time_swapped, inputs)
    flat_inputs = nest.flatten(inputs)
    for each in flat_inputs:
        each.shape.with_rank_at_least(3)
    # How many steps there are; a node also where the steps are unrolled.
    steps = array_shape.shape(flat_inputs[0])[0]
    if mask is not None:
        mask = _along_time(mask, time_major)
    step = _with_constants(step_function, tuple(constants or ()))
    run = _unrolled if unroll else _Loop(steps, input_length)
    last, outputs, states = run(
        step, inputs, initial_states, mask, go_backwards, zero_output_for_mask
    )
    known = flat_inputs[0].shape.as_list()[:2]
    for each in nest.flatten(outputs):
        each.set_shape(TensorShape(known).concatenate(each.shape[2:]))
    if not time_major:
        outputs = nest.map_structure(_batch_and_time_swapped, outputs)
    return last, outputs, states


# ---- inputs -------------------------------------------------------------------------------------


def _batch_and_time_swapped(x: Tensor) -> Tensor:
    return array_shape.transpose(x, [1, 0, *range(2, len(x.shape))])


def _along_time(mask: Any, time_major: bool) -> Tensor:
    """The mask as booleans, time first, with an axis for the features."""
    kept = mask if mask.dtype == dtypes.bool else casts.cast(mask, dtypes.bool)
    columns = array_shape.expand_dims(kept, -1) if len(kept.shape) == 2 else kept
    return columns if time_major else _batch_and_time_swapped(columns)


def _with_constants(step_function: Step, constants: tuple[Any, ...]) -> Step:
    def step(now: Any, states: tuple[Any, ...]) -> tuple[Any, Any]:
        return step_function(now, (*states, *constants))

    return step


# ---- masks --------------------------------------------------------------------------------------


def _like(mask: Tensor, x: Tensor, rows: int = 1) -> Tensor:
    """The mask of a step (or of all, with two axes of `rows`) in the shape of `x`."""
    for _ in range(len(x.shape) - len(mask.shape)):
        mask = array_shape.expand_dims(mask, -1)
    sizes: list[Any] = x.shape.as_list()[rows:]
    if None in sizes:
        now = array_shape.shape(x)
        sizes = [now[rows + i] if size is None else size for i, size in enumerate(sizes)]
    return array_repeat.tile(mask, [1] * rows + sizes)


def _chosen(mask: Tensor | None, new: Tensor, old: Tensor | None, rows: int = 1) -> Tensor:
    """`new` where the mask is True, `old` (or zeros) elsewhere."""
    if mask is None:
        return new
    mask = _like(mask, new, rows)
    return select.where(mask, new, array_fill.zeros_like(new) if old is None else old)


def _all_chosen(mask: Tensor | None, new: list[Any], old: list[Any]) -> list[Any]:
    """Each of `new` where the mask is True, that of `old` elsewhere; the masks are made first."""
    if mask is None:
        return new
    masks = [_like(mask, x) for x in new]
    return [select.where(*each) for each in zip(masks, new, old, strict=True)]


# ---- one copy of the step for each point in time -----------------------------------------------


def _unrolled(
    step: Step, inputs: Any, initial_states: Any, mask: Any, backwards: bool, zero_masked: bool
) -> tuple[Any, Any, Any]:
    steps = nest.flatten(inputs)[0].shape.as_list()[0]
    if not steps:
        raise ValueError("Unrolling requires a fixed number of timesteps.")

    def in_order(x: Tensor) -> list[Tensor]:
        slices = array_split.unstack(x)
        return slices[::-1] if backwards else slices

    flat_inputs = [in_order(x) for x in nest.flatten(inputs)]
    masks = [None] * steps if mask is None else in_order(mask)
    states: Any = tuple(initial_states)
    emitted: list[list[Any]] = []
    for *now, mask_now in zip(*flat_inputs, masks, strict=True):
        output, new_states = step(nest.pack_sequence_as(inputs, now), states)
        flat = nest.flatten(output)
        before = emitted[-1] if emitted else [None] * len(flat)
        emitted.append([_chosen(mask_now, *pair) for pair in zip(flat, before, strict=True)])
        pairs = zip(nest.flatten(new_states), nest.flatten(states), strict=True)
        kept = [_chosen(mask_now, *pair) for pair in pairs]
        states = nest.pack_sequence_as(new_states, kept)
    last = emitted[-1]
    stacked = [array_join.stack(list(each)) for each in zip(*emitted, strict=True)]
    if zero_masked:
        last = [_chosen(masks[-1], each, None) for each in last]
        # As in TensorFlow by the mask of the inputs, even if the steps went backwards.
        stacked = [_chosen(mask, each, None, rows=2) for each in stacked]
    return nest.pack_sequence_as(output, last), nest.pack_sequence_as(output, stacked), states


# ---- a loop -------------------------------------------------------------------------------------


class _Loop:
    """The step in the body of a `while_loop`."""

    def __init__(self, steps: Tensor, input_length: Any) -> None:
        self.steps, self.input_length = steps, input_length

    def __call__(
        self,
        step: Step,
        inputs: Any,
        initial_states: Any,
        mask: Any,
        backwards: bool,
        zero_masked: bool,
    ) -> tuple[Any, Any, Any]:
        if mask is not None and not tuple(initial_states):
            raise ValueError(
                "No initial states provided! When using masking in an RNN, you should provide "
                "initial states (and your step function should return as its first state at time "
                "`t` the output at time `t-1`)."
            )
        self.step, self.inputs, self.first_states = step, inputs, initial_states
        self.zero_masked = zero_masked
        flat_inputs = nest.flatten(inputs)
        empty = [
            TensorArray(x.dtype, size=self.steps, tensor_array_name=f"input_ta_{i}")
            for i, x in enumerate(flat_inputs)
        ]
        self.read_from = [
            array.unstack(_in_order(x, backwards))
            for array, x in zip(empty, flat_inputs, strict=True)
        ]
        # A step outside of the loop tells what outputs look like; it is also where cells make
        # what all steps share, such as the noise of dropout. Nothing else depends on it.
        first = nest.pack_sequence_as(inputs, [x[0] for x in flat_inputs])
        like, _ = step(first, tuple(initial_states))
        arrays, states = self._run(nest.flatten(like), mask, backwards)
        stacked = [a.stack() for a in arrays]
        last = nest.pack_sequence_as(like, [each[-1] for each in stacked])
        return (
            last,
            nest.pack_sequence_as(like, stacked),
            tuple(nest.pack_sequence_as(initial_states, states)),
        )

    def _run(self, like: list[Any], mask: Any, backwards: bool) -> tuple[list[Any], list[Any]]:
        """Arrays of outputs, which look like `like`, and the last states."""
        arrays = [
            TensorArray(
                each.dtype,
                size=self.steps,
                element_shape=each.shape,
                tensor_array_name=f"output_ta_{i}",
            )
            for i, each in enumerate(like)
        ]
        first = constant(0, dtype=dtypes.int32, name="time")
        self._prepare_masks(mask, backwards, like)
        start = (first, arrays, self.zeros, nest.flatten(self.first_states))
        _, arrays, _, states = while_loop(
            lambda time, *_: time < self.steps,
            self._body,
            loop_vars=start,
            parallel_iterations=32,
            swap_memory=True,
            maximum_iterations=self.input_length,
        )
        return arrays, states

    def _prepare_masks(self, mask: Any, backwards: bool, like: list[Any]) -> None:
        self.masks, self.zeros = None, []
        if mask is not None:
            mask = _in_order(mask, backwards)
            masks = TensorArray(dtypes.bool, size=self.steps, tensor_array_name="mask_ta")
            self.masks = masks.unstack(mask)
            self.zeros = [array_fill.zeros_like(each) for each in like]

    masks: Any
    zeros: list[Any]

    def _body(self, time: Tensor, arrays: list[Any], before: list[Any], states: list[Any]) -> Any:
        """One step; `before` is its predecessor's output, where masked steps repeat it."""
        now = nest.pack_sequence_as(self.inputs, [a.read(time) for a in self.read_from])
        mask = None if self.masks is None else self.masks.read(time)
        packed = tuple(nest.pack_sequence_as(self.first_states, states))
        output, new_states = self.step(now, packed)
        instead = self.zeros if self.zero_masked else before
        flat = _all_chosen(mask, nest.flatten(output), instead)
        new = nest.flatten(new_states)
        for one, known in zip(new, states, strict=True):
            one.set_shape(known.shape)
        new = _all_chosen(mask, new, states)
        arrays = [a.write(time, each) for a, each in zip(arrays, flat, strict=True)]
        return time + 1, arrays, flat if before else [], new


def _in_order(x: Tensor, backwards: bool) -> Tensor:
    """The steps of `x`, in the order in which they are taken."""
    return array_reverse.reverse(x, [0]) if backwards else x
