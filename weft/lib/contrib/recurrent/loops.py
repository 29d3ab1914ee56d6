"""A loop over a function of one step, with the gradient of steps computed or given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.autodiff.custom_gradient import custom_gradient
from weft.core import dtypes, nest
from weft.core.shapes import dimension_value
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.ops.array import array, fill, gather
from weft.ops.array.join import concat
from weft.ops.array.pad import pad
from weft.ops.control.while_loop import while_loop
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts

Step = Callable[[Any, Any, Any], tuple[Any, Any]]


class _Rows:
    """The rows of time that are computed: the first ones, or the last ones."""

    def __init__(self, inputs: Any, length: Any, aligned_end: bool) -> None:
        size = array.shape(nest.flatten(inputs)[0])[0]
        self.count = size if length is None else casts.cast(length, dtypes.int32)
        left = size - self.count
        self.start: Any = left if aligned_end else 0
        self._after: Any = 0 if aligned_end else left
        self._is_all = length is None

    def padded(self, values: Tensor) -> Tensor:
        """The rows with zeros where none were computed."""
        if self._is_all:
            return values
        shape = values.shape
        ends = [[self.start, self._after], *([0, 0] for _ in range(shape.ndims - 1))]  # type: ignore[operator]
        return pad(values, array.stack([array.stack(each) for each in ends]))


def _arrays(template: Any, count: Tensor) -> list[TensorArray]:
    return [TensorArray(each.dtype, count, element_shape=each.shape) for each in template]


def _written(arrays: list[TensorArray], i: Tensor, values: list[Tensor]) -> list[TensorArray]:
    return [each.write(i, value) for each, value in zip(arrays, values, strict=True)]


def _row(structure: Any, i: Tensor) -> Any:
    return nest.map_structure(lambda x: gather.gather(x, i), structure)


def _like(values: Any, template: Any) -> list[Tensor]:
    """Flat values with the static shapes of a template, which the loop wants to be unchanged."""
    found = [convert_to_tensor(each) for each in nest.flatten(values)]
    for value, other in zip(found, nest.flatten(template), strict=True):
        value.set_shape(other.shape)
    return found


def _forward(
    step: Step, theta: Any, state0: Any, inputs: Any, rows: _Rows, extras: Any
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """States of every step, the last one, and the extras of every step."""
    first, others = nest.flatten(state0), nest.flatten(extras)
    # Arrays and not `gather`, so that the gradients of inputs are dense.
    sources = [
        TensorArray(each.dtype, array.shape(each)[0], element_shape=each.shape[1:]).unstack(each)
        for each in nest.flatten(inputs)
    ]

    def body(i: Tensor, state: Any, states: Any, kept: Any) -> tuple[Any, ...]:
        row = nest.pack_sequence_as(inputs, [each.read(i + rows.start) for each in sources])
        state, extra = step(theta, nest.pack_sequence_as(state0, state), row)
        flat = _like(state, state0)
        more = _like(extra, extras) if others else []
        return i + 1, flat, _written(states, i, flat), _written(kept, i, more)

    start = (0, first, _arrays(first, rows.count), _arrays(others, rows.count))
    _, last, states, kept = while_loop(lambda i, *_: i < rows.count, body, start)
    return [each.stack() for each in states], last, [each.stack() for each in kept]


def _zeros_for_none(gradients: Any, values: list[Tensor]) -> list[Tensor]:
    return [
        fill.zeros_like(value) if gradient is None else gradient
        for gradient, value in zip(gradients, values, strict=True)
    ]


class _Backward:
    """The loop from the last step to the first, with the gradient of a step as it is given."""

    def __init__(self, gradient: Any, structures: tuple[Any, Any, Any, Any], rows: _Rows) -> None:
        self._gradient, self._structures, self._rows = gradient, structures, rows

    def run(
        self, states: list[Tensor], extras: list[Tensor], of_states: list[Tensor],
        of_last: list[Tensor],
    ) -> list[Tensor]:  # fmt: skip
        """The gradients of theta, of the first state, and of the inputs."""
        theta, state0, inputs, extra_like = self._structures
        flat = [nest.flatten(each) for each in (theta, state0, inputs)]
        before = [
            concat([array.expand_dims(first, 0), later[:-1]], 0)
            for first, later in zip(flat[1], states, strict=True)
        ]

        def body(i: Tensor, sums: Any, carried: Any, made: Any) -> tuple[Any, ...]:
            of_state = [a[i] + b for a, b in zip(of_states, carried, strict=True)]
            found = self._gradient(
                theta,
                nest.pack_sequence_as(state0, _row(before, i)),
                _row(inputs, i + self._rows.start),
                nest.pack_sequence_as(extra_like, _row(extras, i)),
                nest.pack_sequence_as(state0, of_state),
            )
            rows = (flat[0], flat[1], _row(flat[2], i))
            pairs = zip(found, rows, strict=True)
            of_theta, of_before, of_row = (
                _zeros_for_none(_leaves(gradient, like), like) for gradient, like in pairs
            )
            totals = [a + b for a, b in zip(sums, of_theta, strict=True)]
            made = _written(made, i, of_row)
            return i - 1, _like(totals, flat[0]), _like(of_before, flat[1]), made

        start = (
            self._rows.count - 1,
            [fill.zeros_like(each) for each in flat[0]],
            of_last,
            [TensorArray(each.dtype, self._rows.count) for each in flat[2]],
        )
        _, sums, first, made = while_loop(lambda i, *_: i >= 0, body, start)
        of_inputs = []
        for array_, like in zip(made, flat[2], strict=True):
            value = array_.stack()
            value.set_shape([None, *like.shape[1:]])
            of_inputs.append(self._rows.padded(value))
        return [*sums, *first, *of_inputs]


def _leaves(gradients: Any, like: list[Tensor]) -> list[Any]:
    return [None] * len(like) if gradients is None else nest.flatten(gradients)


def _with_gradient(
    step: Step, gradient: Any, theta: Any, state0: Any, inputs: Any, rows: _Rows, extras: Any
) -> tuple[list[Tensor], list[Tensor]]:
    groups = [nest.flatten(each) for each in (theta, state0, inputs)]
    ends = [len(groups[0]), len(groups[0]) + len(groups[1])]

    @custom_gradient
    def computed(*flat: Tensor) -> Any:
        parts = [
            nest.pack_sequence_as(like, list(part))
            for like, part in zip(
                (theta, state0, inputs),
                (flat[: ends[0]], flat[ends[0] : ends[1]], flat[ends[1] :]),
                strict=True,
            )
        ]
        states, last, kept = _forward(step, parts[0], parts[1], parts[2], rows, extras)

        def differentiate(*upstream: Tensor) -> list[Tensor]:
            given = _zeros_for_none(upstream, [*states, *last])
            back = _Backward(gradient, (parts[0], parts[1], parts[2], extras), rows)
            return back.run(states, kept, given[: len(states)], given[len(states) :])

        return [*states, *last], differentiate

    found = computed(*groups[0], *groups[1], *groups[2])
    half = len(groups[1])
    return found[:half], found[half:]


def _is_single(inputs: Any, length: Any) -> bool:
    """Whether it is known that there is one step."""
    if not isinstance(length, Tensor):
        return length == 1
    shapes = [each.shape for each in nest.flatten(inputs)]
    return all(shape.dims is not None and dimension_value(shape[0]) == 1 for shape in shapes)


def Recurrent(
    theta: Any,
    state0: Any,
    inputs: Any,
    cell_fn: Step,
    cell_grad: Any = None,
    extras: Any = None,
    max_input_length: Any = None,
    use_tpu: bool = False,
    aligned_end: bool = False,
) -> tuple[Any, Any]:
    """The states of every step and the last one, of `state, extras = cell_fn(theta, state, row)`.

    All are structures of tensors; rows are along the first dimension of the inputs, of which the
    first `max_input_length`, or with `aligned_end` the last, are taken. `cell_grad(theta, state,
    row, extras, gradient)` returns the gradients of theta, the state and the row; without it they
    are derived from `cell_fn`.
    """
    del use_tpu  # loops are one on every device
    if cell_grad is None and _is_single(inputs, max_input_length):
        row = nest.map_structure(lambda x: array.squeeze(x, axis=0), inputs)
        state, _ = cell_fn(theta, state0, row)
        return nest.map_structure(lambda x: array.expand_dims(x, axis=0), state), state
    rows = _Rows(inputs, max_input_length, aligned_end)
    if cell_grad is None:
        # Nothing takes the extras, which only a given gradient would see.
        plain: Step = lambda *given: (cell_fn(*given)[0], [])  # noqa: E731
        states, last, _ = _forward(plain, theta, state0, inputs, rows, [])
    else:
        if extras is None:
            _, found = cell_fn(theta, state0, _row(inputs, convert_to_tensor(0)))
            extras = nest.map_structure(fill.zeros_like, found)
        states, last = _with_gradient(cell_fn, cell_grad, theta, state0, inputs, rows, extras)
    padded = [rows.padded(each) for each in states]
    return nest.pack_sequence_as(state0, padded), nest.pack_sequence_as(state0, last)
