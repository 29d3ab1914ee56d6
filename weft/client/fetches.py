"""Fetches of `run` -> tensors and operations, and results back in the caller's structure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from weft.client.tensor_handle import handle_positions
from weft.core import nest
from weft.graph.graph import Graph
from weft.graph.operation import Operation
from weft.graph.slices import IndexedSlices, IndexedSlicesValue, SparseTensor, SparseTensorValue
from weft.graph.tensor import Tensor

Rebuild = Callable[[Sequence[Any]], Any]  # values of the unique tensors -> the caller's structure

_expansions: list[tuple[type, Callable[[Any], Any], Callable[[Any, Any], Any] | None]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], Any],
    feed_function: Callable[[Any, Any], Any] | None = None,
    feed_function_for_partial_run: Callable[[Any], Any] | None = None,
) -> None:
    """Lets `run` fetch and feed objects of `tensor_type`.

    `fetch_function(x)` gives (list of fetches, function from their values to the result);
    `feed_function(x, value)` gives a list of (tensor, value).
    """
    if any(issubclass(tensor_type, known) for known, _, _ in _expansions):
        raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _expansions.insert(0, (tensor_type, fetch_function, feed_function))


class Fetches:
    """The fetch argument of `run`, analysed once.

    `tensors` are unique, `targets` are operations to run; `rebuild` makes the result. `fetched` are
    the tensors again, as a set.
    """

    def __init__(self, graph: Graph, fetches: Any) -> None:
        self.graph = graph
        self.tensors: list[Tensor] = []
        self.targets: list[Operation] = []
        self._positions: dict[Tensor, int] = {}
        self.fetched = self._positions.keys()
        self.rebuild: Rebuild = self._analyse(fetches)
        if type(fetches) is list and [*map(id, fetches)] == [*map(id, self.tensors)]:
            self.rebuild = list  # they are the values, in their order
        self.handles = handle_positions(self.tensors)

    def _analyse(self, fetch: Any) -> Rebuild:
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)}")
        if isinstance(fetch, (list, tuple)) and not isinstance(fetch, SparseTensorValue):
            return self._sequence(fetch)
        if hasattr(fetch, "keys") and hasattr(fetch, "__getitem__"):
            return self._mapping(fetch)
        if dataclasses.is_dataclass(fetch) and not isinstance(fetch, type):
            return self._fields(fetch, [f.name for f in dataclasses.fields(fetch)])
        if hasattr(type(fetch), "__attrs_attrs__"):
            return self._fields(fetch, [a.name for a in type(fetch).__attrs_attrs__])
        return self._element(fetch)

    def _sequence(self, fetch: Any) -> Rebuild:
        parts = [self._analyse(item) for item in fetch]
        if hasattr(fetch, "_fields"):
            return lambda values: type(fetch)(*(p(values) for p in parts))
        if type(fetch) is list:
            return lambda values: [p(values) for p in parts]
        kind = type(fetch)
        return lambda values: kind([p(values) for p in parts])

    def _mapping(self, fetch: Any) -> Rebuild:
        keys = list(fetch.keys())
        parts = [self._analyse(fetch[key]) for key in keys]
        kind = type(fetch)

        def rebuild(values: Sequence[Any]) -> Any:
            pairs = [(k, p(values)) for k, p in zip(keys, parts, strict=True)]
            return dict(pairs) if kind is dict else kind(pairs)

        return rebuild

    def _fields(self, fetch: Any, names: list[str]) -> Rebuild:
        parts = [self._analyse(getattr(fetch, name)) for name in names]
        return lambda values: type(fetch)(*(p(values) for p in parts))

    def _element(self, fetch: Any) -> Rebuild:
        for kind, expand, _ in _expansions:
            if isinstance(fetch, kind):
                items, contract = expand(fetch)
                parts = [self._element(item) for item in items]
                return lambda values: contract([p(values) for p in parts])
        try:
            found = self.graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or"
                f" Tensor. ({error})"
            ) from None
        except ValueError as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        except KeyError as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
        if not self.graph.is_fetchable(found):
            raise ValueError(f"Operation {found.name!r} has been marked as not fetchable.")
        if isinstance(found, Operation):
            self.targets.append(found)
            return lambda values: None
        position = self._positions.setdefault(found, len(self.tensors))
        if position == len(self.tensors):
            self.tensors.append(found)
        return lambda values: values[position]


def structure_key(fetches: Any) -> Any:
    """A hashable stand-in for a fetch structure, so that its analysis can be kept."""
    kind = type(fetches)
    if kind is Tensor or kind is Operation or kind is str:
        return fetches
    if kind is list or kind is tuple:
        return (kind, *map(structure_key, fetches))
    if kind is dict:
        return (dict, *((k, structure_key(v)) for k, v in fetches.items()))
    if isinstance(fetches, tuple):
        return (kind, *map(structure_key, fetches))
    hash(fetches)
    return kind, fetches


def feed_items(key: Any, value: Any) -> list[tuple[Any, Any]]:
    """A feed of a composite as feeds of its tensors."""
    for kind, _, expand in _expansions:
        if isinstance(key, kind) and expand is not None:
            return expand(key, value)
    if isinstance(key, tuple):
        pairs = nest.flatten_dict_items({key: value}).items()
        return [pair for inner, item in pairs for pair in feed_items(inner, item)]
    return [(key, value)]


def _fetch_sparse(fetch: SparseTensor) -> Any:
    return [fetch.indices, fetch.values, fetch.dense_shape], lambda v: SparseTensorValue(*v)


def _feed_sparse(fetch: SparseTensor, value: Any) -> Any:
    parts = [fetch.indices, fetch.values, fetch.dense_shape]
    # A shape that is a constant need not be fed.
    return list(zip(parts, value, strict=False))


def _fetch_slices(fetch: IndexedSlices) -> Any:
    parts = fetch._composite_components()
    return parts, lambda v: IndexedSlicesValue(v[0], v[1], v[2] if len(v) > 2 else None)


def _feed_slices(fetch: IndexedSlices, value: Any) -> Any:
    return list(zip(fetch._composite_components(), value, strict=False))


register_session_run_conversion_functions(SparseTensor, _fetch_sparse, _feed_sparse)
register_session_run_conversion_functions(IndexedSlices, _fetch_slices, _feed_slices)
