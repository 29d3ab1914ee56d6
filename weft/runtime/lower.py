"""Loops and conditionals inside a trace: `_While` and `_If` become XLA's own.

What a body changes besides its results (variables, arrays, stacks) is carried along: a first,
abstract trace finds out which objects it changes and how large they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.passes.client_graph import ClientGraph, Edge, Node

if TYPE_CHECKING:
    from weft.runtime.compile import Tracer


# Iterations that a loop of unknown length is at first given room for, less one.
_SHORTEST = 15
# A loop that needs this many times the room it was given is taken to be endless.
_ENDLESS = 1 << 12


class CannotLower(Exception):
    """This node cannot be part of a compiled program; it must run outside of it."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(f"{node.name}: {reason}")
        self.node = node


class Cell:
    """A value that a program changes on its way."""

    __slots__ = ("state",)

    def __init__(self, state: Any) -> None:
        self.state = state


class Objects:
    """The mutable objects of a trace, and how often the loops around a point may run.

    Each object has a `state`: arrays, or None before it holds any. Where nothing tells how often a
    loop runs, buffers get room for a guess, times `factor`; `excess` is how many times the guess
    the program needed. If that is more than `factor`, its results are void.
    """

    def __init__(self, factor: int = 1) -> None:
        self.items: list[Any] = []
        self.bounds: list[int] = []
        self.guesses = 0  # how many of `bounds` are only guesses
        self.factor = factor
        self.guessed = False
        self.excess = self.add(Cell(np.int32(0)))
        self.limits: dict[int, tuple[Any, int]] = {}

    def add(self, item: Any) -> Any:
        if hasattr(item, "registry"):
            item.registry = self
        self.items.append(item)
        return item

    def rows(self) -> int:
        """How many values may be saved here in all."""
        return math.prod(self.bounds) * (self.factor if self.guesses else 1)

    def watch(self, index: Any, rows: int) -> None:
        """Called where one of `rows` rows is written, if `rows` is only a guess."""
        import jax.numpy as jnp

        self.guessed = True
        needed = jnp.asarray(index, np.int32) // np.int32(max(1, rows // self.factor))
        self.excess.state = jnp.maximum(self.excess.state, needed + np.int32(1))

    def rows_for(self, index: Any) -> int:
        """How many rows a buffer needs that is written at `index`."""
        if isinstance(index, (np.ndarray, np.generic)):
            return int(index) + 1
        if id(index) in self.limits:
            return self.limits[id(index)][1]
        rows = max(1, math.prod(self.bounds)) * self.factor
        self.watch(index, rows)
        return rows

    def states(self) -> list[Any]:
        return [item.state for item in self.items]

    def restore(self, states: Sequence[Any]) -> None:
        for item, state in zip(self.items, states, strict=False):
            item.state = state


def lower(tracer: Tracer, node: Node, inputs: list[Any]) -> list[Any]:
    """The outputs of a structured node, as tracers."""
    try:
        return (_lower_while if node.type == "_While" else _lower_if)(tracer, node, inputs)
    except CannotLower:
        raise
    except Exception as error:
        if _is_user_error(error):
            raise
        raise CannotLower(node, f"{type(error).__name__}: {error}") from error


def _is_user_error(error: Exception) -> bool:
    from weft.core.errors import OpError, UnimplementedError

    return isinstance(error, OpError) and not isinstance(error, UnimplementedError)


# ---- loops ------------------------------------------------------------------------------------


def _lower_while(tracer: Tracer, node: Node, inputs: list[Any]) -> list[Any]:
    from jax import lax

    count = node.attrs["vars"]
    fixed, objects = inputs[count:], tracer.objects
    state = [_plain(v) for v in inputs[:count]]
    condition, body = node.attrs["cond"], node.attrs["body"]
    with _around(objects, node, inputs) as limits:

        def run_body(loop: Sequence[Any]) -> list[Any]:
            known = {id(loop[i]): (loop[i], limit) for i, limit in limits.items()}
            before, objects.limits = objects.limits, objects.limits | known
            try:
                return [_plain(v) for v in tracer.run_graph(body, [*loop, *fixed])]
            finally:
                objects.limits = before

        changed = _find_changed(tracer, lambda: run_body(state))

        def cond_fun(carry: Any) -> Any:
            loop, states = carry
            _put(objects, changed, states)
            goes_on = tracer.run_graph(condition, [*loop, *fixed])[0]
            # What was read beyond a buffer could keep a loop running for good.
            return goes_on & (objects.excess.state < _ENDLESS) if objects.guesses else goes_on

        def body_fun(carry: Any) -> Any:
            loop, states = carry
            _put(objects, changed, states)
            following = run_body(loop)
            return following, [objects.items[i].state for i in changed]

        before = objects.states()
        start = state, [before[i] for i in changed]
        known = len(objects.items)
        final, states = lax.while_loop(cond_fun, body_fun, start)
        del objects.items[known:]
        objects.restore(before)
        _put(objects, changed, states)
        return list(final)


@contextmanager
def _around(objects: Objects, node: Node, inputs: list[Any]) -> Iterator[dict[int, int]]:
    """Inside, `objects` knows of one more loop; gives the limits of its counters."""
    bound = trip_bound(node, inputs)
    guess = 1 << max(_SHORTEST, node.attrs.get("longest", 0) - 1).bit_length()
    objects.bounds.append(guess if bound is None else bound)
    objects.guesses += bound is None
    try:
        yield {} if bound is None else _counter_limits(node, inputs, bound)
    finally:
        objects.bounds.pop()
        objects.guesses -= bound is None


def _counter_limits(node: Node, inputs: list[Any], bound: int) -> dict[int, int]:
    """Loop variables that count iterations from a known number on -> what they stay below."""
    starts = {i: _concrete_input(inputs[i]) for i in range(node.attrs["vars"]) if _counts(node, i)}
    return {i: int(start) + bound for i, start in starts.items() if start is not None}


def _plain(value: Any) -> Any:
    """Loop state must be arrays of a fixed type: scalars lose their Python or NumPy form."""
    import jax.numpy as jnp

    return jnp.asarray(value)


def _put(objects: Objects, changed: Sequence[int], states: Sequence[Any]) -> None:
    for i, state in zip(changed, states, strict=True):
        objects.items[i].state = state


def _find_changed(tracer: Tracer, run: Callable[[], Any]) -> list[int]:
    """Which objects `run` changes, found by abstract tracing; gives empty ones their buffers."""
    import jax
    import jax.numpy as jnp

    objects = tracer.objects
    while True:
        before = objects.states()
        known = len(objects.items)

        def probe(known: int = known) -> Any:
            run()
            return [item.state for item in objects.items[:known]]

        shapes = jax.eval_shape(probe)
        made = [o for o in objects.items[known:] if _outlives(o, objects.items[:known])]
        del objects.items[known:]
        after = objects.states()
        changed = [i for i in range(known) if after[i] is not before[i]]
        objects.restore(before)
        for item in made:
            item.state = None
            objects.items.append(item)
        grew = bool(made)
        for i in changed:
            if before[i] is None and shapes[i] is not None:
                objects.items[i].state = jax.tree.map(
                    lambda s: jnp.zeros(s.shape, s.dtype), shapes[i]
                )
                grew = True
            elif _has_grown(before[i], shapes[i]):
                objects.items[i].state = objects.items[i].grown(before[i], len(shapes[i][0]), None)
                grew = True
        if not grew:
            return changed


def _has_grown(before: Any, after: Any) -> bool:
    """Whether the buffer of an array that grows has more rows after a loop or branch."""
    return isinstance(after, tuple) and np.shape(before[0]) != np.shape(after[0])


def _outlives(item: Any, known: Sequence[Any]) -> bool:
    """Whether an object made inside a loop belongs to one from outside: a gradient array does."""
    return any(item in getattr(o, "gradients", {}).values() for o in known)


def trip_bound(node: Node, inputs: list[Any]) -> int | None:
    """How often the loop can run at most, if a counter with a known limit tells."""
    condition: ClientGraph = node.attrs["cond"]
    stack = [condition.fetches[0]]
    while stack:
        edge = stack.pop()
        kind = edge[0].type
        if kind in ("LogicalAnd", "Identity"):
            stack.extend(edge[0].inputs)
        elif kind in ("Less", "LessEqual"):
            right = _concrete(edge[0].inputs[1], condition, inputs)
            counter = _counter(edge[0].inputs[0], node)
            if counter is not None and right is not None:
                start = _concrete_input(inputs[counter])
                if start is not None:
                    extra = 1 if kind == "LessEqual" else 0
                    return max(0, int(right) - int(start) + extra)
    return None


def _concrete(edge: Edge, graph: ClientGraph, inputs: list[Any]) -> Any:
    node = edge[0]
    if node.type == "Const":
        return node.attrs["value"]
    for i, (arg, _) in enumerate(graph.feeds):
        if arg is node:
            return _concrete_input(inputs[i])
    return None


def _concrete_input(value: Any) -> Any:
    return value if isinstance(value, (np.ndarray, np.generic)) and value.size == 1 else None


def _counter(edge: Edge, node: Node) -> int | None:
    """The loop variable that `edge` of the condition reads, if the body adds one to it."""
    feeds = [arg for arg, _ in node.attrs["cond"].feeds]
    if edge[0] not in feeds or feeds.index(edge[0]) >= node.attrs["vars"]:
        return None
    index = feeds.index(edge[0])
    return index if _counts(node, index) else None


def _counts(node: Node, index: int) -> bool:
    """Whether the body adds one to this loop variable."""
    body: ClientGraph = node.attrs["body"]
    step = body.fetches[index][0]
    if step.type not in ("Add", "AddV2"):
        return False
    sides = [e[0] for e in step.inputs]
    own = body.feeds[index][0]
    ones = [n for n in sides if n.type == "Const" and n.attrs["value"].size == 1]
    return own in sides and any(n.attrs["value"].item() == 1 for n in ones)


# ---- conditionals -----------------------------------------------------------------------------


def _lower_if(tracer: Tracer, node: Node, inputs: list[Any]) -> list[Any]:
    import jax
    import jax.numpy as jnp
    from jax import lax

    predicate, args = inputs[0], inputs[1:]
    graphs = (node.attrs["else"], node.attrs["then"])
    sides, joined = node.attrs["export_sides"], node.attrs["joined"]
    objects = tracer.objects

    def run(side: int) -> tuple[list[Any], list[Any]]:
        results = [_plain(v) for v in tracer.run_graph(graphs[side], args)]
        return results[:joined], results[joined:]

    if isinstance(predicate, (np.ndarray, np.generic)):
        side = int(bool(predicate))
        shared, own = run(side)
        mine = iter(own)
        return shared + [next(mine) if s == side else None for s in sides]
    changed = sorted({i for s in (0, 1) for i in _find_changed(tracer, partial(run, s))})
    before = objects.states()
    exported = [jax.eval_shape(partial(run, side))[1] for side in (0, 1)]
    objects.restore(before)

    def branch(side: int) -> Callable[[], Any]:
        def call() -> Any:
            objects.restore(before)
            shared, own = run(side)
            mine, other = iter(own), iter(exported[1 - side])
            whole = [next(mine) if s == side else _zeros(jnp, next(other)) for s in sides]
            states = [objects.items[i].state for i in changed]
            return shared + whole, states

        return call

    known = len(objects.items)
    results, states = lax.cond(predicate, branch(1), branch(0))
    del objects.items[known:]
    objects.restore(before)
    _put(objects, changed, states)
    return list(results)


def _zeros(jnp: Any, shape: Any) -> Any:
    return jnp.zeros(shape.shape, shape.dtype)
