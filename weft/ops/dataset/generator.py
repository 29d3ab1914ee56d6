"""A dataset whose elements a function makes: what `from_generator` is built on."""

from __future__ import annotations

from typing import Any

from weft.core.errors import OutOfRangeError
from weft.ops.dataset.declare import STRUCTURE, dataset_op
from weft.ops.dataset.functions import Bound, Captured, captured
from weft.ops.dataset.objects import Dataset, Element, Iterator, cannot_save
from weft.ops.dataset.scope import Scope


class Generator(Dataset):
    """`begin` gives a state; `follow` of it gives an element, or ends; `finish` lets it go."""

    waits = True

    def __init__(self, begin: Captured, follow: Captured, finish: Captured) -> None:
        self.begin, self.follow, self.finish = begin, follow, finish

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        functions = [each.bind(scope) for each in (self.begin, self.follow, self.finish)]
        return Generated(*functions)


class Generated(Iterator):
    def __init__(self, begin: Bound, follow: Bound, finish: Bound) -> None:
        self.begin, self.follow, self.finish = begin, follow, finish
        self.kept: Element | None = None
        self.over = False

    def next(self) -> Any:
        if self.over:
            return None
        if self.kept is None:
            self.kept = self.begin(())
        try:
            return self.follow(self.kept)
        except OutOfRangeError:
            self._end()
            return None

    def _end(self) -> None:
        self.over, kept, self.kept = True, self.kept, None
        if kept is not None and not self.finish.instance.is_closed:
            self.finish(kept)

    def close(self) -> None:
        self._end()

    def save(self) -> Any:
        raise cannot_save("GeneratorDataset")


@dataset_op(
    "GeneratorDataset",
    "init_func_other_args: list(Tinit_func_args), next_func_other_args: list(Tnext_func_args),"
    " finalize_func_other_args: list(Tfinalize_func_args)",
    "init_func: func, next_func: func, finalize_func: func, Tinit_func_args: list(type) >= 0,"
    f" Tnext_func_args: list(type) >= 0, Tfinalize_func_args: list(type) >= 0, {STRUCTURE}",
    stateful=True,
)
def generator_dataset(
    xp: Any, ctx: Any, init_func_other_args: list[Any], next_func_other_args: list[Any],
    finalize_func_other_args: list[Any], *, init_func: Any, next_func: Any, finalize_func: Any,
) -> Dataset:  # fmt: skip
    return Generator(
        captured(ctx, init_func, init_func_other_args),
        captured(ctx, next_func, next_func_other_args),
        captured(ctx, finalize_func, finalize_func_other_args),
    )
