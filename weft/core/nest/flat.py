"""Flattening a structure, and packing values into one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weft.core.nest.levels import Kind, children_of, kind_of, like


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure (a list, tuple, dict, ...) rather than a leaf."""
    return kind_of(seq, False) is not Kind.LEAF


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure` as a list; `[structure]` when it is itself a leaf."""
    leaves: list[Any] = []
    _collect(structure, expand_composites, leaves)
    return leaves


def _collect(structure: Any, expand_composites: bool, leaves: list[Any]) -> None:
    children = structure
    if type(structure) not in (list, tuple):  # by far the most common: no need to ask
        kind = kind_of(structure, expand_composites)
        if kind is Kind.LEAF:
            leaves.append(structure)
            return
        children = children_of(structure, kind)
    for child in children:
        _collect(child, expand_composites, leaves)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """An object nested like `structure` whose leaves are those of `flat_sequence`, in order."""
    if not is_nested(flat_sequence):
        raise TypeError(
            f"flat_sequence must be a sequence. Received {flat_sequence!r} "
            f"of type {type(flat_sequence).__name__}."
        )
    flat = list(flat_sequence)
    if kind_of(structure, expand_composites) is Kind.LEAF:
        if len(flat) != 1:
            raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(flat)} > 1")
        return flat[0]
    leaves = iter(flat)
    try:
        packed = _pack(structure, leaves, expand_composites)
        complete = next(leaves, _END) is _END
    except StopIteration:
        complete = False
    if not complete:
        raise ValueError(
            "Could not pack sequence. Structure had "
            f"{len(flatten(structure, expand_composites))} elements, but flat_sequence had "
            f"{len(flat)} elements.  Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return packed


_END = object()


def _pack(structure: Any, leaves: Iterator[Any], expand_composites: bool) -> Any:
    kind = kind_of(structure, expand_composites)
    if kind is Kind.LEAF:
        return next(leaves)
    # A list, not a generator: inside a generator a missing leaf would become a RuntimeError.
    children = [_pack(child, leaves, expand_composites) for child in children_of(structure, kind)]
    return like(structure, children, expand_composites)


def list_to_tuple(structure: Any) -> Any:
    """`structure` with every list in it, at any depth, replaced by a tuple."""
    kind = kind_of(structure, False)
    if kind is Kind.LEAF:
        return structure
    children = [list_to_tuple(child) for child in children_of(structure, kind)]
    return tuple(children) if isinstance(structure, list) else like(structure, children, False)


def flatten_dict_items(dictionary: Any) -> dict[Any, Any]:
    """Takes structured keys and values apart: `{(1, 2): ("a", "b")}` gives `{1: "a", 2: "b"}`."""
    if not isinstance(dictionary, Mapping):
        raise TypeError("input must be a dictionary")
    flat: dict[Any, Any] = {}
    for key, value in dictionary.items():
        keys, values = (flatten(key), flatten(value)) if is_nested(key) else ([key], [value])
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had "
                f"{len(values)} elements. Key: {keys}, value: {values}."
            )
        for flat_key, flat_value in zip(keys, values, strict=True):
            if flat_key in flat:
                raise ValueError(f"Could not flatten dictionary: key {flat_key} is not unique.")
            flat[flat_key] = flat_value
    return flat
