"""Sources of `for` loops in converted functions, besides Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.constant_value import folded_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import get_default_graph
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.autograph.builtin_functions import len_
from weft.lib.autograph.conditionals import Values, choose
from weft.lib.autograph.traced_loops import Options, State, Variables, complete, trace
from weft.lib.autograph.values import is_symbolic
from weft.ops.control.cond import cond as tf_cond
from weft.ops.lists.tensor_array import TensorArray


def handler_of(values: Any) -> Callable[..., None] | None:
    if is_symbolic(values):
        values = convert_to_tensor(values)
        return _over_range if values.op.type == "Range" else _over_tensor
    if isinstance(values, TensorArray):
        return _over_array
    kinds = {base.__name__: base.__module__ for base in type(values).__mro__}
    if kinds.get("RaggedTensor", "").startswith("weft.lib.ragged"):
        return _over_rows
    for kind, handler in (("Dataset", _over_dataset), ("Iterator", _over_iterator)):
        if kinds.get(kind, "").startswith("weft.lib.data"):
            return handler
    return None


def _and_more(test: Any, extra_test: Callable[[], Any] | None) -> Any:
    if extra_test is None:
        return test
    return tf_cond(test, lambda: convert_to_tensor(extra_test()), lambda: convert_to_tensor(False))


def _counting(
    count: Any, item: Callable[[Tensor], Any], extra_test: Callable[[], Any] | None,
    body: Callable[[Any], None], state: State, options: Options,
) -> None:  # fmt: skip
    """A loop over `item(0)`, `item(1)`, ..."""

    def turn(i: Tensor) -> Tensor:
        body(item(i))
        return i + 1

    start = convert_to_tensor(0, count.dtype)
    trace(lambda i: _and_more(i < count, extra_test), turn, start, state, options)


def _over_tensor(values: Any, extra_test: Any, body: Any, state: State, options: Options) -> None:
    values = convert_to_tensor(values)
    count = convert_to_tensor(len_(values))
    rows = TensorArray(values.dtype, size=count, infer_shape=True).unstack(values)
    _counting(count, rows.read, extra_test, body, state, options)


def _over_array(
    values: TensorArray, extra_test: Any, body: Any, state: State, options: Options
) -> None:
    _counting(values.size(), values.read, extra_test, body, state, options)


def _over_rows(values: Any, extra_test: Any, body: Any, state: State, options: Options) -> None:
    _counting(values.nrows(), lambda i: values[i], extra_test, body, state, options)


def _over_range(values: Any, extra_test: Any, body: Any, state: State, options: Options) -> None:
    """Counts without making the range."""
    start, limit, delta = values.op.inputs
    step = folded_value(delta)

    def test(i: Tensor) -> Any:
        if step is not None:
            more = i < limit if step >= 0 else i > limit
        else:
            up, down = raw.LogicalAnd(delta >= 0, i < limit), raw.LogicalAnd(delta < 0, i > limit)
            more = raw.LogicalOr(up, down)
        return _and_more(more, extra_test)

    def turn(i: Tensor) -> Tensor:
        body(i)
        return i + delta

    trace(test, turn, start, state, options)


def _over_dataset(values: Any, extra_test: Any, body: Any, state: State, options: Options) -> None:
    if getattr(get_default_graph(), "ordered", False):
        _over_iterator(iterate(values), extra_test, body, state, options)
        return
    init = complete(lambda _: None, lambda own: own, (), state)
    variables = Variables(init, state.names)
    # A dataset is reduced to something in any case.
    start = (convert_to_tensor(0), *variables.tensors)

    def enter(tensors: Any) -> None:
        state.set(variables.values(list(tensors)[1:]))

    def turn(tensors: Any, item: Any) -> tuple[Any, ...]:
        enter(tensors)
        body(item)
        return (tensors[0], *variables.after(state.get()))

    def test(tensors: Any) -> Any:
        enter(tensors)
        return extra_test()

    try:
        found = values.reduce(start, turn) if extra_test is None else _up_to(
            values, start, test, turn
        )  # fmt: skip
    finally:
        state.set(init)
    enter(found)


def _up_to(values: Any, start: Any, test: Callable[..., Any], turn: Callable[..., Any]) -> Any:
    """As `values.reduce(start, turn)`, but ends where `test` of the state does not hold.

    No element is taken after that, since there may be no end to them.
    """
    from weft.lib.data.experimental_calls import scan, take_while

    def step(state: Any, item: Any) -> Any:
        more = convert_to_tensor(test(state))
        following = tf_cond(
            more, lambda: list(turn(state, item)), lambda: [raw.Identity(x) for x in state], True
        )
        return tuple(following), (tuple(following), more)

    states = values.apply(scan(start, step)).apply(take_while(lambda _, more: more))
    return states.reduce(start, lambda _, found: found[0])


def iterate(dataset: Any) -> Any:
    """An iterator that lives as long as a step."""
    from weft.lib.data.iterator import Iterator
    from weft.lib.data.structure import flat_tensor_shapes, flat_tensor_types

    spec = dataset.element_spec
    handle, _ = raw.AnonymousIteratorV2(
        output_types=flat_tensor_types(spec), output_shapes=flat_tensor_shapes(spec)
    )
    start = raw.MakeIterator(dataset._apply_options()._variant_tensor, handle)
    made = Iterator.__new__(Iterator)
    made._iterator_resource, made._element_spec = handle, spec
    made._initializer = start
    return made


def _over_iterator(values: Any, extra_test: Any, body: Any, state: State, options: Options) -> None:
    """Takes an element in every turn; the last turn finds that there is none."""
    from weft.lib.data.iterator import get_next_as_optional

    def turn(more: Tensor) -> Any:
        found = get_next_as_optional(values)
        there = found.has_value()
        before = state.get()

        def run() -> Values:
            body(found.get_value())
            return state.get()

        def skip() -> Values:
            state.set(before)
            return before

        state.set(choose(there, run, skip, state.names))
        return there

    trace(lambda more: _and_more(more, extra_test), turn, convert_to_tensor(True), state, options)
