"""Order as Python 2 had it: things of unlike kinds have one, too."""

from __future__ import annotations

import functools
import numbers
from collections.abc import Callable, Iterator
from typing import Any


def cmp(one: Any, other: Any) -> int:
    """-1, 0 or 1 by order."""
    try:
        return (one > other) - (one < other)
    except TypeError:
        return _unlike(one, other)


def _unlike(one: Any, other: Any) -> int:
    """The order of things that Python 3 does not compare."""
    if type(one) is type(other) and isinstance(one, list | tuple):
        different = ((a, b) for a, b in zip(one, other, strict=False) if a != b)
        a, b = next(different, (len(one), len(other)))
        return cmp(a, b)
    if isinstance(one, dict) and isinstance(other, dict):
        return cmp(_listed(one), _listed(other))
    first, second = _rank(one), _rank(other)
    if first == second:
        first, second = (id(one),), (id(other),)  # type: ignore[assignment]
    return (first > second) - (first < second)


def _listed(mapping: dict[Any, Any]) -> tuple[int, list[Any]]:
    return len(mapping), sorted_(mapping.items())


def _rank(value: Any) -> tuple[int, str]:
    """None, then numbers, then others by the names of their kinds."""
    if value is None:
        return 0, ""
    return (1, "") if isinstance(value, numbers.Number) else (2, type(value).__name__)


def sorted_(values: Any, cmp: Any = None, key: Any = None, reverse: bool = False) -> list[Any]:
    """A sorted list, by a function that compares or one that gives keys."""
    found = list(values)
    sort(found, cmp, key, reverse)
    return found


def sort(values: Any, cmp: Any = None, *args: Any, **options: Any) -> Any:
    """`values.sort(compare)` of a list; what other objects have under that name is theirs."""
    if not isinstance(values, list):
        given = (cmp, *args) if cmp is not None else args
        return values.sort(*given, **options)
    cmp = options.get("cmp", cmp)
    key, reverse = (*args, None, None)[:2]
    key, reverse = options.get("key", key), bool(options.get("reverse", reverse))
    try:
        return values.sort(key=_sort_key(cmp, key), reverse=reverse)
    except TypeError:
        return values.sort(key=_sort_key(cmp or _compare, key), reverse=reverse)


def _sort_key(compare: Any, key: Any) -> Any:
    if compare is None:
        return key
    ordered = functools.cmp_to_key(compare)
    return ordered if key is None else lambda each: ordered(key(each))


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """`max` or `min`, also of unlike things."""

    def call(*args: Any, **options: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], Iterator):
            args = (list(args[0]),)
        try:
            return function(*args, **options)
        except TypeError:
            options["key"] = _sort_key(_compare, options.get("key"))
            return function(*args, **options)

    return call


_compare = cmp
max_, min_ = _extreme(max), _extreme(min)


@functools.total_ordering
class _Least:
    """None, in comparisons: less than everything else."""

    def __eq__(self, other: object) -> bool:
        return other is None

    def __lt__(self, other: Any) -> bool:
        return other is not None

    __hash__ = None  # type: ignore[assignment]


_LEAST = _Least()


def least() -> _Least:
    """What None is in `x > None`."""
    return _LEAST
