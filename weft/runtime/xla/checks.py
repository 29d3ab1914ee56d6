"""Whether what kernels check of values held while a program ran, and what becomes of variables.

A program whose kernels noted conditions (ops/kit/value_checks.py) returns one bit more: whether
one of them did not hold. Then its results are void, and the variables it was given come back as
they were: they may have been donated, so the old values leave the program as the new ones do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.ops.kit.value_checks import are_within
from weft.passes.client_graph import Node
from weft.runtime.resources import Variable

_ALWAYS = object()


class Failed:
    """Whether a condition has failed so far in a program: `state` is a bit that loops carry.

    Conditions wait until the bit is asked for, so that all of them take one reduction. What can be
    looked at before the program is called, as ids and labels that are fed, is in `beforehand`:
    (which input, limit of its elements). That costs less, and nothing has happened yet.
    """

    def __init__(self, range_of: Callable[[Any], range | None]) -> None:
        self._range_of = range_of  # what loops know of their counters
        self._state: Any = np.bool_(False)
        self._waiting: list[Any] = []
        self.noted = False
        self.beforehand: set[tuple[int, int]] = set()
        self.depth = 0  # how many loops and conditionals there are around this point
        # By identity, indices and what they are within, unless the program fails.
        self._within: dict[int, tuple[Any, range]] = {}
        # By identity, what holds an input's elements: which input, and what fits all the types
        # that they were cast to. Larger numbers have become other ones.
        self._inputs: dict[int, tuple[Any, int, int]] = {}
        self._stored: dict[int, Any] = {}  # by identity, what no part of the program computes

    @property
    def state(self) -> Any:
        import jax.numpy as jnp
        from jax import lax

        if self._waiting:
            bad = jnp.concatenate([~jnp.ravel(condition) for condition in self._waiting])
            # Without the barrier, XLA would make a reduction for each condition again.
            bad = lax.optimization_barrier(bad)  # type: ignore[no-untyped-call]
            self._state, self._waiting = self._state | jnp.any(bad), []
        return self._state

    @state.setter
    def state(self, value: Any) -> None:
        # What was noted in another branch, or on trial, says nothing here.
        self._state, self._waiting, self._within = value, [], {}

    def know_inputs(self, inputs: Sequence[Any]) -> None:
        """Called once, with what the caller of the program can look at too."""
        self._inputs = {id(x): (x, i, _most(x)) for i, x in enumerate(inputs) if _are_integers(x)}

    def know_stored(self, arrays: Sequence[Any]) -> None:
        """Called once, with all that the program is given."""
        self._stored = {id(x): x for x in arrays}

    def is_stored(self, array: Any) -> bool:
        return id(array) in self._stored

    def must_hold(self, condition: Any) -> None:
        if isinstance(condition, (bool, np.bool_, np.ndarray)) and np.all(condition):
            return
        self.noted = True
        self._waiting.append(condition)

    def must_be_within(self, indices: Any, limit: int, least: int) -> None:
        if id(indices) in self._inputs and not least:
            _, i, most = self._inputs[id(indices)]
            known = i, min(limit, most)
            if not self.depth:
                self.beforehand.add(known)
            if known in self.beforehand:
                return
        if not self.are_known(indices, limit, least):
            self.is_within(indices, limit, least)
            self.must_hold(are_within(indices, limit, least))

    def is_within(self, indices: Any, limit: int, least: int = 0) -> None:
        self._within[id(indices)] = indices, range(least, limit)

    def are_known(self, indices: Any, limit: int, least: int = 0) -> bool:
        """Whether indices are in [least, limit), unless the program fails."""
        _, noted = self._within.get(id(indices), (None, None))
        known = noted, self._range_of(indices)
        return any(r is not None and r.start >= least and r.stop <= limit for r in known)

    def follow(self, node: Node, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Called for each node of a program: where elements only move, what is known moves too."""
        kind = node.definition
        if not (kind.moves or kind.keeps_places) or kind.has_list_input:
            return
        if not _are_integers(inputs[0], outputs[0]):
            return
        source, made, most = id(inputs[0]), outputs[0], _most(outputs[0])
        if kind.keeps_places and source in self._inputs:
            _, i, before = self._inputs[source]
            self._inputs[id(made)] = made, i, min(before, most)
        if source in self._within and self._within[source][1].stop <= most:
            self._within[id(made)] = made, self._within[source][1]


def _are_integers(*values: Any) -> bool:
    kinds = [getattr(getattr(x, "dtype", None), "kind", "O") for x in values]
    return all(kind in "iu" for kind in kinds)


def _most(integers: Any) -> int:
    """The least number that is too large for an array's type."""
    return int(np.iinfo(integers.dtype).max) + 1


def finder_of_outside(dtype: Any, limit: int) -> Callable[[Any], bool] | None:
    """A function that says whether any index of an array of `dtype` is not in [0, limit).

    None if each number of the type is.
    """
    info = np.iinfo(dtype)
    if limit > info.max and info.min == 0:
        return None
    unsigned, most = np.dtype(f"u{info.dtype.itemsize}"), min(limit - 1, int(info.max))

    def has_outside(indices: Any) -> bool:
        # As unsigned numbers, negative ones are large. This finds the largest in the least time.
        numbers = np.asarray(indices).view(unsigned)
        return numbers.size > 0 and numbers.item(numbers.argmax()) > most

    return has_outside


class TracedCell:
    """A variable inside a trace: `state` is what it holds at this point of the program.

    `guard` is a bit of the program: where it is set, `state` is the value from before the program.
    It is None if there is no such bit, and _ALWAYS while nothing was written.
    """

    def __init__(self, cell: Variable, state: Any, failed: Failed | None) -> None:
        self.cell, self.before, self.failed = cell, state, failed
        self._state, self.guard = state, _ALWAYS
        self._later: Callable[[], None] | None = None
        self._guards: dict[int, tuple[Any, Any]] = {id(state): (state, _ALWAYS)}

    @property
    def state(self) -> Any:
        if self._later is not None:
            self._later()
        return self._state

    @state.setter
    def state(self, value: Any) -> None:
        self._later, self._state = None, value
        self.guard = self._guards.get(id(value), (value, None))[1]

    @property
    def initialized(self) -> bool:
        return self.state is not None

    def read(self) -> Any:
        state = self.state
        if state is None:
            raise self.cell.uninitialized()
        return state

    def write(self, value: Any) -> None:
        if self.failed is None or not self._can_keep(value):
            self.state = value
        else:
            self.write_later([self], lambda void: [self._kept(void, value)], whole=True)

    update = write

    def write_later(
        self,
        cells: Sequence[TracedCell],
        update: Callable[[Any], Sequence[Any]],
        whole: bool = False,
    ) -> None:
        """Writes `update(whether the program has failed)` to `cells`, when one is looked at.

        `whole`: where it has failed, that is what was there before the program, not just now.
        """

        def settle() -> None:
            guard = self.failed.state if self.failed is not None and self.failed.noted else None
            values = update(False if guard is None else guard)
            for cell, value in zip(cells, values, strict=True):
                cell._settle(value, guard, whole)

        for cell in cells:
            _ = cell.state  # earlier writes come first
            cell._later = settle

    def _settle(self, value: Any, guard: Any, whole: bool) -> None:
        # A bit, once set, stays so: the first one that a value hangs on is the one that counts.
        first = whole or self.guard is _ALWAYS
        self._later, self._state, self.guard = None, value, guard if first else self.guard
        self._guards[id(value)] = value, self.guard

    def result(self) -> Any:
        """The value of a variable after the program: the one before if a check has failed."""
        value, failed = self.state, self.failed
        if failed is None or not failed.noted or not self._can_keep(value):
            return value
        is_kept = self.guard is _ALWAYS or self.guard is failed.state
        return value if is_kept else self._kept(failed.state, value)

    def _can_keep(self, value: Any) -> bool:
        return self.before is not None and np.shape(self.before) == np.shape(value)

    def _kept(self, void: Any, value: Any) -> Any:
        import jax.numpy as jnp

        return value if void is False else jnp.where(void, self.before, value)
