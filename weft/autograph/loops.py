"""while and for statements: as Python runs them, or traced where they depend on tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from weft.autograph.conditionals import Values, if_stmt
from weft.autograph.loop_sources import handler_of
from weft.autograph.traced_loops import Options, State, trace
from weft.autograph.values import is_symbolic

_MOST_GUARDED = 1000


def while_stmt(
    test: Callable[[], Any],
    body: Callable[[], None],
    get_state: Callable[[], Values],
    set_state: Callable[[Values], None],
    names: Sequence[str],
    options: Options,
) -> None:
    first = test()
    while not is_symbolic(first):
        if not first:
            return
        body()
        first = test()

    # From here on, what is left of the loop depends on tensors.
    def turn(own: Any) -> Any:
        body()
        return own

    trace(lambda _: test(), turn, (), State(get_state, set_state, names), options)


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
    guarded = 0
    for item in values:
        more = True if extra_test is None else extra_test()
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
        elif more:
            body(item)
        else:
            break


def _nothing() -> None:
    pass
