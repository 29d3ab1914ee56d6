"""Loops over tensors: a `tf.while_loop` whose variables are those of the converted function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.lib.autograph.conditionals import Values, zeros_like_structure
from weft.lib.autograph.values import (
    NothingReturned,
    Undefined,
    as_tensor,
    can_be_one,
    check_structure,
    dtype_of,
    is_traceable,
    leaves,
)
from weft.ops.control.loop_shapes import is_at_most
from weft.ops.control.while_loop import while_loop
from weft.ops.functions.traced_graph import TracedGraph
from weft.ops.lists.tensor_array import TensorArray, flow_of, with_flows

Options = dict[str, Any]
_PLAIN = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


@dataclass
class State:
    """The variables of a loop, as converted code lets us reach them."""

    get: Callable[[], Values]
    set: Callable[[Values], None]
    names: Sequence[str]


def trace(
    test: Callable[[Any], Any],
    body: Callable[[Any], Any],
    own: Any,
    state: State,
    options: Options,
) -> None:
    """Builds a loop over `own`, variables of its kind, and the state.

    `body` gets the former, changes the latter, and returns the former.
    """
    init = complete(test, body, own, state)
    variables = Variables(init, state.names, "shape_invariants" in options)
    if not (nest.flatten(own) or variables.tensors):
        own = as_tensor(0)  # a loop has to be over something

    def enter(tensors: list[Any]) -> None:
        state.set(variables.values(tensors))

    def loop_test(own: Any, tensors: list[Any]) -> Any:
        enter(tensors)
        return test(own)

    def loop_body(own: Any, tensors: list[Any]) -> Any:
        enter(tensors)
        own = body(own)
        return own, variables.after(state.get())

    try:
        _, found = while_loop(
            loop_test, loop_body, (own, variables.tensors), return_same_structure=True,
            **_loop_options(options, own, variables.tensors, init, state.names),
        )  # fmt: skip
    finally:
        state.set(init)
    state.set(variables.values(found))


def _loop_options(
    options: Options, own: Any, tensors: list[Any], init: Values, names: Sequence[str]
) -> Options:
    known = {key: value for key, value in options.items() if key != "shape_invariants"}
    given = options.get("shape_invariants")
    if given is None:
        return known
    shapes = {id(value): shape for value, shape in given}
    wanted = [TensorShape(shapes[id(v)]) if id(v) in shapes else None for v in init]
    flat = [shape for value, shape in zip(init, wanted, strict=True) for _ in leaves(value)]
    mine = [shape or x.shape for shape, x in zip(flat, tensors, strict=True)]
    known["shape_invariants"] = (nest.map_structure(lambda x: as_tensor(x).shape, own), mine)
    return known


def complete(
    test: Callable[[Any], Any], body: Callable[[Any], Any], own: Any, state: State
) -> Values:
    """The state as the loop begins; a result that is returned from inside of it has to be there."""
    init = state.get()
    pairs = list(zip(state.names, init, strict=True))
    absent = [(name, value) for name, value in pairs if isinstance(value, Undefined)]
    missing = tuple(name for name, value in absent if not isinstance(value, NothingReturned))
    if missing:
        raise ValueError(
            "TensorFlow requires that the following symbols must be defined before the loop:"
            f" {missing}"
        )
    if not any(isinstance(value, NothingReturned) for value in init):
        return init
    if not get_default_graph().functional_control_flow:
        raise ValueError("return statements are not supported within a TensorFlow loop.")
    # Once over the body, to see what it returns.
    variables = Variables(init, state.names)

    def turn() -> None:
        flows = [raw.Identity(flow_of(each)) for each in variables.tensors]
        state.set(variables.values(with_flows(variables.tensors, flows)))
        body(own)

    TracedGraph("what_is_returned").trace(turn)
    after = state.get()
    init = tuple(
        zeros_like_structure(new) if isinstance(old, NothingReturned) else old
        for old, new in zip(init, after, strict=True)
    )
    state.set(init)
    return init


class Variables:
    """The state of a loop as a list of tensors; what cannot be one has to stay as it is."""

    def __init__(self, init: Values, names: Sequence[str], shapes_may_vary: bool = False) -> None:
        self.init, self.names, self.shapes_may_vary = init, names, shapes_may_vary
        self.tensors = [as_tensor(leaf) for leaf in leaves(init) if is_traceable(leaf)]

    def values(self, tensors: list[Any]) -> Values:
        left = iter(tensors)
        flat = [next(left) if is_traceable(leaf) else leaf for leaf in leaves(self.init)]
        return tuple(nest.pack_sequence_as(self.init, flat, expand_composites=True))

    def after(self, values: Values) -> list[Any]:
        """The state at the end of a turn, checked against how it began."""
        for name, old, new in zip(self.names, self.init, values, strict=True):
            check_structure(name, old, new, "after one iteration")
            for x, y in zip(leaves(old), leaves(new), strict=True):
                _check_leaf(name, x, y, self.shapes_may_vary)
        return [as_tensor(leaf) for leaf in leaves(values) if is_traceable(leaf)]


def _check_leaf(name: str, old: Any, new: Any, shapes_may_vary: bool) -> None:
    if not can_be_one(old, new):
        raise TypeError(
            f'"{name}" is {type(old).__name__} before the loop, but {type(new).__name__} after one'
            " iteration. TensorFlow control flow requires that both can be tensors, or are the"
            " same object."
        )
    if not is_traceable(old) or isinstance(old, TensorArray):
        return
    if dtype_of(old) != dtype_of(new):
        raise TypeError(
            f'"{name}" has dtype {dtype_of(old).name} before the loop, but dtype'
            f" {dtype_of(new).name} after one iteration. TensorFlow control flow requires it stays"
            " the same."
        )
    before, after = (TensorShape(np.shape(x)) if isinstance(x, _PLAIN) else x.shape
                     for x in (old, new))  # fmt: skip
    if not (shapes_may_vary or is_at_most(after, before)):
        raise ValueError(
            f'"{name}" has shape {before} before the loop, but shape {after} after one'
            " iteration. TensorFlow control flow requires it stays the same or be more specific."
        )
