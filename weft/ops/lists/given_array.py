"""TensorArrays that are there before a program is called, which reads and writes them.

The program is given all elements as one array with room for more, a byte for each that says what
became of it, and how many there are: so it serves arrays of all lengths that fit. What the host's
array refuses, it notes as a condition that does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.shape_fn import Dims
from weft.ops.kit.row_updates import put_row, take_row
from weft.ops.kit.value_checks import must_hold
from weft.ops.lists.tensor_array_nodes import TensorArrayValue

HELD, READ = np.uint8(1), np.uint8(2)  # what became of an element


class ArrayForm(NamedTuple):
    """What a program must know of an array: `dims` are those of all its elements, None if unknown.

    `blank`: whether an element that is not there reads as zeros. `gradients`: the forms of the
    arrays of its gradients, by source; of an array that serves only to find these nothing else is
    used, and `room` is 0.
    """

    dtype: DType
    wanted: Dims
    dims: tuple[int, ...] | None
    blank: bool
    accumulates: bool
    clears: bool
    grows: bool
    room: int
    gradients: tuple[tuple[str, ArrayForm], ...]

    @property
    def arrays(self) -> int:
        """How many arrays a program is given of it: elements, marks, how many; and gradients'."""
        return (3 if self.room else 0) + sum(form.arrays for _, form in self.gradients)

    def enter(self, xp: Any, ctx: Any, arrays: Sequence[Any]) -> GivenArray:
        own = 3 if self.room else 0
        gradients, at = {}, own
        for source, form in self.gradients:
            gradients[source] = form.enter(xp, ctx, arrays[at : at + form.arrays])
            at += form.arrays
        return GivenArray(xp, ctx, self, arrays[:own], gradients)


def form_of(
    array: TensorArrayValue, room: int, is_used: bool, sources: Sequence[str]
) -> ArrayForm | None:
    """The form of an array for a program, None if there is none for what it holds."""
    if array.closed:
        return None
    gradients = [(source, form_of(array.gradient(source), room, True, ())) for source in sources]
    found = tuple((source, form) for source, form in gradients if form is not None)
    shapes = _shapes(array) if is_used else set()
    if len(found) < len(gradients) or len(shapes) > 1:
        return None
    wanted = array.element_dims
    dims: Any = next(iter(shapes), wanted if s.known(wanted) else None)
    blank = dims is not None and (s.known(wanted) or len(array.blanks) == len(array.items))
    return ArrayForm(
        array.dtype, wanted, dims, blank, array.accumulates, array.clear_after_read,
        array.dynamic_size, room if is_used else 0, found,
    )  # fmt: skip


def _shapes(array: TensorArrayValue) -> set[Any]:
    """The shapes of what an array holds, and of what stands where it holds nothing."""
    if array.rows is not None:
        return {array.rows.shape[1:]}
    return {np.shape(item) for item in array.items if item is not None} | {*array.blanks.values()}


def arrays_of(array: TensorArrayValue, form: ArrayForm) -> list[Any]:
    """What a program is given of an array that has this form."""
    own = [_rows(array, form), _marks(array, form.room), np.int32(len(array.items))]
    found = own if form.room else []
    for source, inner in form.gradients:
        found += arrays_of(array.gradients[source], inner)
    return found


def _rows(array: TensorArrayValue, form: ArrayForm) -> np.ndarray | None:
    if form.dims is None:
        return None
    rows = np.zeros((form.room, *form.dims), form.dtype.np_storage)
    if array.rows is not None:
        rows[: len(array.rows)] = array.rows
        return rows
    for i, item in enumerate(array.items if form.room else ()):
        if item is not None:
            rows[i] = item
    return rows


def _marks(array: TensorArrayValue, room: int) -> np.ndarray:
    marks = np.zeros(room, np.uint8)
    held = [item is not None for item in array.items] if room else []
    marks[: len(held)] = held
    marks[[i for i in array.was_read if i < room]] |= READ
    return marks


class GivenArray:
    """An array of the host inside a program."""

    def __init__(
        self, xp: Any, ctx: Any, form: ArrayForm, arrays: Sequence[Any],
        gradients: Mapping[str, GivenArray],
    ) -> None:  # fmt: skip
        self.xp, self.ctx, self.form, self.gradients = xp, ctx, form, gradients
        rows, marks, count = arrays or (None, None, None)
        if form.grows and arrays:
            rows, marks = self._with_room(rows), self._with_room(marks)
        self.given = rows, marks, count
        self.rows, self.marks, self.count = ctx.cell(rows), ctx.cell(marks), ctx.cell(count)

    @property
    def room(self) -> int:
        return self.form.room * (self.ctx.factor if self.form.grows else 1)

    def _with_room(self, rows: Any) -> Any:
        if rows is None:
            return None
        missing = self.room - rows.shape[0]
        return self.xp.pad(rows, [(0, missing)] + [(0, 0)] * (rows.ndim - 1))

    @property
    def state(self) -> Any:
        """What the program has changed, of this array and of its gradients."""
        cells = zip((self.rows, self.marks, self.count), self.given, strict=True)
        own = [None if cell.state is given else cell.state for cell, given in cells]
        return own, [gradient.state for gradient in self.gradients.values()]

    def check_dtype(self, dtype: DType, verb: str) -> None:
        if dtype != self.form.dtype:
            raise NotImplementedError("an array is used with another type than its own")

    def write(self, index: Any, value: Any) -> None:
        xp, value = self.xp, self.xp.asarray(value)
        index = self._looked_up(index)
        self._make_room(value.shape)
        rows, mark = xp.asarray(self.rows.state), take_row(self.marks.state, index)
        self._must_hold(index, (mark & READ) == 0 if self.form.accumulates else mark == 0)
        if self.form.accumulates:
            value = take_row(rows, index) + value
        self.rows.state = put_row(rows, index, value)
        self.marks.state = put_row(self.marks.state, index, xp.asarray(HELD))

    def _make_room(self, dims: tuple[int, ...]) -> None:
        if self.rows.state is None:
            self.rows.state = self.xp.zeros((self.room, *dims), self.form.dtype.np_storage)
        if s.merge(self.form.wanted, dims) != tuple(self.rows.state.shape[1:]):
            raise NotImplementedError("the elements of an array differ in shape")

    def _looked_up(self, index: Any) -> Any:
        """An index to write at, of an array that grows if it may."""
        index, count = self.xp.asarray(index, np.int32), self.count.state
        if not self.form.grows:
            must_hold((index >= 0) & (index < count))
            return index
        must_hold(index >= 0)
        self.ctx.watch(index, self.room)
        self.count.state = self.xp.maximum(count, index + np.int32(1))
        return index

    def read(self, index: Any) -> Any:
        xp = self.xp
        if self.rows.state is None:
            raise NotImplementedError("an array is read before its element shape is known")
        index = xp.asarray(index, np.int32)
        must_hold((index >= 0) & (index < self.count.state))
        mark = take_row(xp.asarray(self.marks.state), index)
        needed = mark & (READ if self.form.clears else np.uint8(0))
        self._must_hold(index, needed == 0)
        if not self.form.blank:
            self._must_hold(index, (mark & HELD) != 0)
        mark = xp.asarray(READ) if self.form.clears else mark | READ
        self.marks.state = put_row(xp.asarray(self.marks.state), index, mark)
        return take_row(xp.asarray(self.rows.state), index)

    def _must_hold(self, index: Any, condition: Any) -> None:
        """Notes what must hold of an element, unless the program needs more room to tell."""
        must_hold(condition | (index >= self.room) if self.form.grows else condition)

    def size(self) -> Any:
        return self.count.state

    def gather(self, indices: Any, element_dims: Dims) -> Any:
        raise NotImplementedError("elements are gathered from an array of the host")

    def scatter(self, indices: Any, value: Any) -> None:
        raise NotImplementedError("rows are scattered into an array of the host")

    def close(self) -> None:
        raise NotImplementedError("an array of the host is closed")

    def gradient(self, source: str) -> GivenArray:
        if source not in self.gradients:
            raise NotImplementedError("an array is not known to have this gradient")
        return self.gradients[source]

    def put_back(self, array: TensorArrayValue, state: Any, trips: int) -> None:
        """Makes the array of the host what it is after the program, given what that has changed."""
        (rows, marks, count), gradients = state
        if marks is not None:
            marks = np.asarray(marks)[: len(array.items) if count is None else int(count)]
            rows = None if rows is None else np.asarray(rows)[: len(marks)]
            array.take(rows, (marks & HELD) != 0, (marks & READ) != 0)
        pairs = zip(self.gradients.items(), gradients, strict=True)
        for (source, gradient), inner in pairs:
            gradient.put_back(array.gradients[source], inner, trips)
