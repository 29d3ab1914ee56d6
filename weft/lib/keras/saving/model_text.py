"""Configurations as text, JSON or YAML, read with a bound on what they may become."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

# A few lines of YAML may say that a part occurs again and again, in parts that do themselves.
_MOST_NODES = 1_000_000


def not_too_deep(read: Callable[[], T]) -> T:
    """The result of `read`; ValueError if a configuration is nested deeper than Python goes."""
    try:
        return read()
    except Exception as error:
        if not _is_too_deep(error):
            raise
        raise ValueError("The configuration of a model is nested too deeply to be read") from None


def _is_too_deep(error: BaseException | None) -> bool:
    """Whether it is a RecursionError, or what a library has made of one."""
    while error is not None and not isinstance(error, RecursionError):
        error = error.__cause__ or error.__context__
    return error is not None


def parse_json(text: Any) -> Any:
    """The value that JSON text describes."""
    return not_too_deep(lambda: json.loads(text))


def parse_yaml(text: str) -> Any:
    """The value that YAML text describes, if it is not too large with its aliases written out."""
    try:
        import yaml  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError("Requires yaml module installed (`pip install pyyaml`).") from error

    def read() -> Any:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            return None
        _check_size(node)
        return yaml.safe_load(text)

    return not_too_deep(read)


def _check_size(top: Any) -> None:
    """ValueError if a tree of YAML nodes is too large, or in itself."""
    sizes: dict[int, int | None] = {}

    def size_of(node: Any) -> int:
        if id(node) in sizes:
            known = sizes[id(node)]
            if known is None:
                raise ValueError("A part of the YAML of a model is inside itself")
            return known
        sizes[id(node)] = None
        size = sizes[id(node)] = 1 + sum(map(size_of, _children(node)))
        return size

    size = size_of(top)
    if size > _MOST_NODES:
        raise ValueError(
            f"The YAML of a model has {size} parts with its aliases written out: more than the"
            f" {_MOST_NODES} that are read"
        )


def _children(node: Any) -> list[Any]:
    if isinstance(node.value, str):
        return []
    return [each for item in node.value for each in (item if isinstance(item, tuple) else (item,))]
