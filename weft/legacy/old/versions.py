"""The version of a library as text in order: programs compare `tf.__version__` with "1.4"."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from weft.legacy.old import notices, table

_NUMBERS = re.compile(r"r?(\d+(?:\.\d+)*)")
_ORDER = table.Row(
    "the order of versions as text",
    "wrong since TensorFlow 1.10",
    "the order of their numbers",
    "name",
)


def _numbers(text: str) -> list[int] | None:
    found = _NUMBERS.match(text)
    return None if found is None else [int(part) for part in found[1].split(".")]


def _ordering(compare: Callable[[Any, Any], bool], as_text: Any) -> Callable[[Any, Any], Any]:
    def holds(self: str, other: Any) -> Any:
        own, others = _numbers(self), _numbers(other) if isinstance(other, str) else None
        said = as_text(self, other)
        if own is None or others is None or compare(own, others) == said:
            return said
        notices.tell(_ORDER)
        return compare(own, others)

    return holds


class VersionText(str):
    """Text such as "1.15.5": after "1.4", which as text alone it is not."""

    __slots__ = ()
    __lt__ = _ordering(operator.lt, str.__lt__)  # type: ignore[assignment]
    __le__ = _ordering(operator.le, str.__le__)  # type: ignore[assignment]
    __gt__ = _ordering(operator.gt, str.__gt__)  # type: ignore[assignment]
    __ge__ = _ordering(operator.ge, str.__ge__)  # type: ignore[assignment]
