"""Grouping by a key: windows of each group as datasets, or one result for each group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.ops.dataset.declare import INPUT, STRUCTURE, dataset_op
from weft.ops.dataset.functions import Bound, Captured, captured
from weft.ops.dataset.objects import UNKNOWN, Dataset, Element, Iterator, Over, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.window import Listing
from weft.ops.kit.shared import invalid


def _number(result: Element, what: str) -> int:
    if len(result) != 1 or np.ndim(result[0]) or np.asarray(result[0]).dtype != np.int64:
        raise invalid(f"{what} must return a scalar int64.")
    return int(result[0])


class Grouping(Unary):
    """A dataset that calls several functions."""

    def __init__(self, input: Dataset, functions: Sequence[Captured], waits: bool) -> None:
        super().__init__(input)
        self.functions = functions
        self.waits = waits or input.waits or any(each.may_wait for each in functions)

    def cardinality(self) -> int:
        return UNKNOWN


# ---- windows -------------------------------------------------------------------------------------


class GroupByWindow(Grouping):
    """Elements with equal keys, collected; each full window goes through a function of datasets."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        functions = [each.bind(scope) for each in self.functions]
        return GroupedWindows(self.input.open(scope.at("grouped")), functions, scope)


class GroupedWindows(Over):
    state = ("groups", "sizes", "ended", "key", "window")

    def __init__(self, input: Iterator, functions: Sequence[Bound], scope: Scope) -> None:
        super().__init__(input)
        self.key_of, self.reduce, self.size_of = functions
        self.scope = scope
        self.groups: dict[int, list[Element]] = {}
        self.sizes: dict[int, int] = {}
        self.ended = False
        self.key: int | None = None
        self.window: list[Element] = []
        self.current: Iterator | None = None

    def parts(self) -> Sequence[Iterator | None]:
        return self.input, self.current

    def restore_parts(self, saved: Sequence[Any]) -> None:
        self.input.restore(saved[0])
        self.groups = {key: list(group) for key, group in self.groups.items()}
        self.current = None
        if saved[1] is not None:
            self._start(self.window)
            assert self.current is not None
            self.current.restore(saved[1])

    def next(self) -> Any:
        while True:
            if self.current is not None:
                found = self.current.next()
                if found is not None:
                    return found
                self.current.close()
                self.current = None
            if not self._next_window():
                return None

    def _next_window(self) -> bool:
        """Collects until a window is full; at the end, what is left makes windows too."""
        while not self.ended:
            element = self.input.next()
            if element is None:
                self.ended = True
                break
            self.key = key = _number(self.key_of(element), "`key_func`")
            if key not in self.sizes:
                self.sizes[key] = self._window_size(key)
            group = self.groups.setdefault(key, [])
            group.append(element)
            if len(group) == self.sizes[key]:
                del self.groups[key], self.sizes[key]
                self._start(group)
                return True
        if not self.groups:
            return False
        self.key = min(self.groups)
        self._start(self.groups.pop(self.key))
        return True

    def _window_size(self, key: int) -> int:
        size = _number(self.size_of((np.int64(key),)), "`window_size_func`")
        if size <= 0:
            raise invalid(f"Window size must be greater than zero, but got {size}.")
        return size

    def _start(self, window: list[Element]) -> None:
        assert self.key is not None
        self.window = window
        found = self.reduce((np.int64(self.key), Listing(window)))
        if len(found) != 1 or not isinstance(found[0], Dataset):
            raise invalid("`reduce_func` must return a single element of type DT_VARIANT.")
        self.current = found[0].open(self.scope.at("reduced"))


def _captured_list(*names: str) -> tuple[str, str, str]:
    """The arguments of several functions, the functions, and the types of the arguments."""
    inputs = ", ".join(f"{n}_other_arguments: list(T{n}_other_arguments)" for n in names)
    functions = ", ".join(f"{n}: func" for n in names)
    types = ", ".join(f"T{n}_other_arguments: list(type) >= 0" for n in names)
    return inputs, functions, types


_INPUTS, _FUNCS, _TYPES = _captured_list("key_func", "reduce_func", "window_size_func")


@dataset_op(
    "GroupByWindowDataset", f"{INPUT}, {_INPUTS}", f"{_FUNCS}, {_TYPES}, {STRUCTURE}",
    experimental=True,
)  # fmt: skip
def group_by_window_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, key_func_other_arguments: list[Any],
    reduce_func_other_arguments: list[Any], window_size_func_other_arguments: list[Any], *,
    key_func: Any, reduce_func: Any, window_size_func: Any,
) -> Dataset:  # fmt: skip
    functions = [
        captured(ctx, key_func, key_func_other_arguments),
        captured(ctx, reduce_func, reduce_func_other_arguments),
        captured(ctx, window_size_func, window_size_func_other_arguments),
    ]
    return GroupByWindow(input_dataset, functions, not functions[1].opens_quickly)


# ---- reductions ----------------------------------------------------------------------------------


class GroupByReducer(Grouping):
    """All elements of a group reduced to one, the groups in the order of their keys."""

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Reductions(self.input.open(scope), [each.bind(scope) for each in self.functions])


class Reductions(Over):
    state = ("states", "keys")

    def __init__(self, input: Iterator, functions: Sequence[Bound]) -> None:
        super().__init__(input)
        self.key_of, self.begin, self.reduce, self.finish = functions
        self.states: dict[int, Element] = {}
        self.keys: list[int] | None = None

    def next(self) -> Any:
        if self.keys is None:
            self._reduce_all()
        assert self.keys is not None
        if not self.keys:
            return None
        return self.finish(self.states.pop(self.keys.pop(0)))

    def _reduce_all(self) -> None:
        while (element := self.input.next()) is not None:
            key = _number(self.key_of(element), "`key_func`")
            if key not in self.states:
                self.states[key] = self.begin((np.int64(key),))
            self.states[key] = self.reduce((*self.states[key], *element))
        self.keys = sorted(self.states)


_R_INPUTS, _R_FUNCS, _R_TYPES = _captured_list(
    "key_func", "init_func", "reduce_func", "finalize_func"
)


@dataset_op(
    "GroupByReducerDataset", f"{INPUT}, {_R_INPUTS}", f"{_R_FUNCS}, {_R_TYPES}, {STRUCTURE}",
    stateful=True, experimental=True,
)  # fmt: skip
def group_by_reducer_dataset(
    xp: Any, ctx: Any, input_dataset: Dataset, key_func_other_arguments: list[Any],
    init_func_other_arguments: list[Any], reduce_func_other_arguments: list[Any],
    finalize_func_other_arguments: list[Any], *, key_func: Any, init_func: Any, reduce_func: Any,
    finalize_func: Any,
) -> Dataset:  # fmt: skip
    functions = [
        captured(ctx, key_func, key_func_other_arguments),
        captured(ctx, init_func, init_func_other_arguments),
        captured(ctx, reduce_func, reduce_func_other_arguments),
        captured(ctx, finalize_func, finalize_func_other_arguments),
    ]
    return GroupByReducer(input_dataset, functions, False)
