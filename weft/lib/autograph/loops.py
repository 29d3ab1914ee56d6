"""while and for statements: as Python runs them, or traced where they depend on tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft.lib.autograph.conditionals import Values, if_stmt
from weft.lib.autograph.loop_sources import handler_of
from weft.lib.autograph.traced_loops import Options, State, trace
from weft.lib.autograph.values import is_symbolic
from weft.ops.functions.traced_graph import TracedGraph
from weft.ops.kit.eager import executing_eagerly

_MOST_GUARDED = 1000


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Callable[[], Values],
    set_state: Callable[[Values], None],
    names: Sequence[str],
    options: Options,
) -> None:
    more = _first_test(test, get_state, set_state)
    while not is_symbolic(more):
        if not more:
            return
        body()
        more = test()

    # From here on, what is left of the loop depends on tensors.
    def turn(own: Any) -> Any:
        body()
        return own

    trace(lambda _: test(), turn, (), State(get_state, set_state, names), options)


def _first_test(
    test: Callable[[], Any], get_state: Callable[[], Values], set_state: Callable[[Values], None]
) -> Any:
    """The test's first value, traced beside the graph: in the graph, it belongs to the loop."""
    if executing_eagerly():
        return test()
    before, aside = get_state(), TracedGraph("first_test")
    found = aside.trace(test)
    if is_symbolic(found):
        set_state(before)
        return found
    return test() if aside.get_operations() else found


def for_stmt(
    values: Any,
    extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None],
    get_state: Callable[[], Values],
    set_state: Callable[[Values], None],
    names: Sequence[str],
    options: Options,
) -> None:
    handler = handler_of(values)
    if handler is not None:
        state = State(get_state, set_state, names)
        handler(values, extra_test, body, state, options)
        return
    goes_on = extra_test or _always
    more, guarded = goes_on(), 0
    if not (is_symbolic(more) or more):
        return
    for item in values:
        if is_symbolic(more):
            # The items are Python's: what is left of them is gone through under conditions.
            guarded += 1
            if guarded > _MOST_GUARDED:
                raise NotImplementedError(
                    "A `for` loop over something of Python that can end because of a tensor has too"
                    " many turns. Loop over a tensor (tf.range, tf.constant) instead."
                )
            turn = functools.partial(body, item)
            if_stmt(more, turn, _nothing, get_state, set_state, names)
        else:
            body(item)
        # Before the next item is taken: a loop that is left leaves the rest to the iterator.
        more = goes_on()
        if not (is_symbolic(more) or more):
            break


def _always() -> bool:
    return True


def _nothing() -> None:
    pass
