"""Loops and conditionals inside a trace: `_While` and `_If` become XLA's own.

What a body changes besides its results (variables, arrays, stacks) is carried along: a first,
abstract trace finds out which objects it changes and how large they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.core.errors import InternalError
from weft.ops.lists.tensor_list_traced import TracedList
from weft.passes.client_graph import Branches, Loop, Node
from weft.runtime.xla.loop_bounds import counter_ranges, one_more_loop, trip_bound
from weft.runtime.xla.loop_lists import LoopLists, alike, either, in_form
from weft.runtime.xla.loop_matmuls import factors_only, sums_of_products
from weft.runtime.xla.traced_state import Objects

if TYPE_CHECKING:
    from weft.runtime.xla.tracer import Tracer


# A loop that needs this many times the room it was given is taken to be endless.
_ENDLESS = 1 << 12


class NotCompilable(Exception):
    """This node cannot be part of a compiled program; it must run outside of it.

    Or what it was given is wrong: then it fails outside of a program too, and says how.
    """

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(f"{node.name}: {reason}")
        self.node = node


def lower(tracer: Tracer, node: Node, inputs: list[Any]) -> list[Any]:
    """The outputs of a structured node, as tracers."""
    try:
        with tracer.objects.inside():
            if node.loop is not None:
                return _lower_while(tracer, node.loop, inputs)
            assert node.branches is not None
            return _lower_if(tracer, node.branches, inputs)
    except (NotCompilable, InternalError):
        raise
    except Exception as error:
        raise NotCompilable(node, f"{type(error).__name__}: {error}") from error


# ---- loops ------------------------------------------------------------------------------------


def _lower_while(tracer: Tracer, held: Loop, inputs: list[Any]) -> list[Any]:
    bound = trip_bound(held, inputs, tracer.objects)
    with one_more_loop(tracer.objects, held, bound):
        loop = _TracedLoop(tracer, held, inputs, bound)
        final = loop.run()
    # A loop that counts down from here, as that of a gradient does, has a bound too.
    for i, values in loop.ranges.items():
        tracer.objects.ranges[id(final[i])] = final[i], range(values.start, values.stop + 1)
    return final


class _TracedLoop:
    """A loop on its way into the program: state is (loop variables, what objects hold)."""

    def __init__(self, tracer: Tracer, held: Loop, inputs: list[Any], bound: int | None) -> None:
        count = held.variables
        self.tracer, self.objects, self.held = tracer, tracer.objects, held
        self.start, self.fixed = [_plain(v) for v in inputs[:count]], inputs[count:]
        self.bound, self.ranges = bound, counter_ranges(held, inputs, bound)
        self.is_long, self.time = self.objects.may_run_long(bound), 0.0
        self.lists = LoopLists(self.start, bound, self.objects)
        self.products = sums_of_products(held, bound)
        self.body = factors_only(held.body, self.products)
        self.condition_is_checked = False

    def run(self) -> list[Any]:
        """The loop variables after the loop; objects hold what it left in them."""
        from jax import lax

        objects, time = self.objects, self.objects.time
        shapes = self.look()
        if self.lists.settle(self.start, shapes):
            self.look()
        if not self.is_long and objects.may_run_long(self.bound, self.time):
            self.is_long = True
            self.look()
        self.products = [p for p in self.products if p.is_worth_it()]
        self.body = factors_only(self.held.body, self.products)
        first = list(self.start)
        for product in self.products:
            first[product.variable] = product.nothing()
        before, known = objects.states(), len(objects.items)
        start = first, [before[i] for i in self.changed]
        final, states = lax.while_loop(self.goes_on, self.step, start)
        del objects.items[known:]
        objects.restore(before)
        _put(objects, self.changed, states)
        if self.condition_is_checked:
            # What it noted in the loop has stayed there; it ends where the condition failed.
            tracer_inputs = [*self.lists.enter(final), *self.fixed]
            self.tracer.run_graph(self.held.condition, tracer_inputs)
        objects.time = time + self.time
        if self.is_long:
            objects.stopped.state = objects.stopped.state | ~objects.may_go_on()
        for product in self.products:
            i = product.variable
            final[i] = product.total(self.start[i], final[i])
        return self.lists.exit(final)

    def look(self) -> Any:
        """Finds out what one iteration changes, and what it gives, in shapes and types."""
        blank: list[Any] = list(self.start)
        for product in self.products:
            blank[product.variable] = None
        self.changed, shapes = _find_changed(self.tracer, lambda: self.iterate(blank))
        return shapes

    def iterate(self, variables: Sequence[Any]) -> list[Any]:
        """The loop variables after one iteration."""
        objects = self.objects
        known = {id(variables[i]): (variables[i], values) for i, values in self.ranges.items()}
        before, objects.ranges = objects.ranges, objects.ranges | known
        time = objects.time
        trips = objects.trips if len(objects.bounds) == 1 else None
        if trips is not None:
            trips.begin()
        if self.is_long:
            objects.look()
        try:
            entered = self.lists.enter(variables)
            results = self.tracer.run_graph(self.body, [*entered, *self.fixed])
        finally:
            objects.ranges = before
        self.time = objects.time - time
        if trips is not None:
            trips.end()
        results = [_plain(v) for v in results]
        self.lists.leave(results)
        following = results[: len(self.start)]
        for product, factor in zip(self.products, results[len(self.start) :], strict=True):
            i = product.variable
            following[i] = product.save(variables[i], following[i], factor)
        return following

    def goes_on(self, carry: Any) -> Any:
        variables, states = carry
        _put(self.objects, self.changed, states)
        given = [*self.lists.enter(variables), *self.fixed]
        more = self._unless_failed(lambda: self.tracer.run_graph(self.held.condition, given)[0])
        if self.objects.guesses:
            # What was read beyond a buffer could keep a loop running for good.
            endless = min(_ENDLESS * self.objects.factor, np.iinfo(np.int32).max)
            more = more & (self.objects.excess.state < np.int32(endless))
        return more & self.objects.may_go_on() if self.is_long else more

    def _unless_failed(self, condition: Callable[[], Any]) -> Any:
        """The condition of a loop, which also ends if it might run on for good with bad values."""
        failed = self.objects.failed
        if failed is None:
            return condition()
        before = failed.state
        more = condition()
        bad, failed.state = failed.state, before
        self.condition_is_checked = bad is not before
        ends = self.condition_is_checked or (self.bound is None and failed.noted)
        return more & ~bad if ends else more

    def step(self, carry: Any) -> Any:
        variables, states = carry
        _put(self.objects, self.changed, states)
        following = self.iterate(variables)
        return following, [self.objects.items[i].state for i in self.changed]


def _plain(value: Any) -> Any:
    """Loop state must be arrays of a fixed type: scalars lose their Python or NumPy form."""
    import jax.numpy as jnp

    return value if value is None or isinstance(value, TracedList) else jnp.asarray(value)


def _put(objects: Objects, changed: Sequence[int], states: Sequence[Any]) -> None:
    for i, state in zip(changed, states, strict=True):
        objects.items[i].state = state


def _find_changed(tracer: Tracer, run: Callable[[], Any]) -> tuple[list[int], Any]:
    """Which objects `run` changes, found by abstract tracing; gives empty ones their buffers.

    Also what `run` returns, in shapes and types.
    """
    import jax
    import jax.numpy as jnp

    objects = tracer.objects
    while True:
        before = objects.states()
        known = len(objects.items)

        def probe(known: int = known) -> Any:
            results = run()
            return [item.state for item in objects.items[:known]], results

        shapes, results = jax.eval_shape(probe)
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
            return changed, results


def _has_grown(before: Any, after: Any) -> bool:
    """Whether the buffer of an array that grows has more rows after a loop or branch."""
    return isinstance(after, tuple) and np.shape(before[0]) != np.shape(after[0])


def _outlives(item: Any, known: Sequence[Any]) -> bool:
    """Whether an object made inside a loop belongs to one from outside: a gradient array does."""
    return any(item in getattr(o, "gradients", {}).values() for o in known)


# ---- conditionals -----------------------------------------------------------------------------


def _lower_if(tracer: Tracer, held: Branches, inputs: list[Any]) -> list[Any]:
    import jax.numpy as jnp
    from jax import lax

    predicate, args = inputs[0], inputs[1:]
    graphs, sides, joined = held.graphs, held.sides, held.joined
    objects = tracer.objects

    known: list[list[Any]] = [[], []]  # of what each side hands on, that which shapes tell
    facts: list[list[Any]] = [[], []]  # what is known of the lists among the results

    def run(side: int) -> tuple[list[Any], list[Any]]:
        results = tracer.run_graph(graphs[side], args)
        known[side] = [v if _is_known(v) else None for v in results[joined:]]
        facts[side] = [getattr(v, "facts", None) for v in results[:joined]]
        results = [_plain(v) for v in results]
        return results[:joined], results[joined:]

    if _is_known(predicate):
        side = int(bool(predicate))
        shared, own = run(side)
        if any(value is None for value in shared):
            _, (other, _) = _find_changed(tracer, partial(run, 1 - side))
            pairs = zip(shared, other, strict=True)
            shared = [in_form(v, shape) if v is None else v for v, shape in pairs]
        mine = iter(own)
        return shared + [next(mine) if s == side else None for s in sides]
    found = [_find_changed(tracer, partial(run, s)) for s in (0, 1)] if _is_probed(held) else []
    changed = sorted({i for indices, _ in found for i in indices})
    if not found and objects.failed is not None:
        changed = [objects.items.index(objects.failed)]  # a branch may have checks, probed or not
    exported = [own for _, (_, own) in found] or [[], []]
    shapes = [shared for _, (shared, _) in found] or [[None] * joined] * 2
    forms = [alike(*both) for both in zip(*shapes, strict=True)]
    before = objects.states()

    def branch(side: int) -> Callable[[], Any]:
        def call() -> Any:
            objects.restore(before)
            shared, own = run(side)
            mine, other = iter(own), iter(exported[1 - side])
            whole = [next(mine) if s == side else _zeros(jnp, next(other)) for s in sides]
            states = [objects.items[i].state for i in changed]
            shared = [in_form(v, form) for v, form in zip(shared, forms, strict=True)]
            return shared + whole, states

        return call

    count = len(objects.items)
    results, states = lax.cond(predicate, branch(1), branch(0))
    del objects.items[count:]
    objects.restore(before)
    _put(objects, changed, states)
    for i, result in enumerate(results[:joined]):
        if isinstance(result, TracedList):
            results[i] = result.knowing(either(facts[0][i], facts[1][i]))
    told = [iter(known[0]), iter(known[1])]
    handed_on = [next(told[side]) for side in sides]
    handed_on = [
        value if fixed is None else fixed
        for value, fixed in zip(results[joined:], handed_on, strict=True)
    ]
    return [*results[:joined], *handed_on]


def _is_probed(held: Branches) -> bool:
    """Whether a first look at the branches could tell anything: each look traces all inside."""
    inside = [inner for graph in held.graphs for inner in graph.nodes]
    return bool(held.sides) or any(
        n.definition.stateful
        or n.definition.takes_ctx
        or n.definition.takes_rng
        or n.definition.has_ref_input
        or n.definition.traced_kernel is not None
        or n.loop is not None
        or (n.branches is not None and _is_probed(n.branches))
        for n in inside
    )


def _is_known(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _zeros(jnp: Any, shape: Any) -> Any:
    return jnp.zeros(shape.shape, shape.dtype)
