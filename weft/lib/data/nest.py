"""Structures of elements: tuples, named tuples and dicts. Lists are leaves: they become tensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from weft.graph.slices import SparseTensorValue


def is_nested(value: Any) -> bool:
    """Whether a value is a structure of others."""
    if isinstance(value, SparseTensorValue):
        return False
    return isinstance(value, (tuple, Mapping)) or _is_attrs(value)


def _is_attrs(value: Any) -> bool:
    return hasattr(type(value), "__attrs_attrs__")


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [value[key] for key in _keys(value)]
    if _is_attrs(value):
        return [getattr(value, field.name) for field in type(value).__attrs_attrs__]
    return list(value)


def _keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _like(structure: Any, children: list[Any]) -> Any:
    if isinstance(structure, Mapping):
        values = dict(zip(_keys(structure), children, strict=True))
        pairs = [(key, values[key]) for key in structure]
        kind: Any = type(structure)
        return (
            kind(structure.default_factory, pairs)
            if hasattr(structure, "default_factory")
            else kind(pairs)
        )
    if _is_attrs(structure) or hasattr(structure, "_fields"):
        return type(structure)(*children)
    return tuple(children)


def flatten(structure: Any) -> list[Any]:
    """The leaves, those of dicts in the order of the sorted keys."""
    if not is_nested(structure):
        return [structure]
    return [leaf for child in _children(structure) for leaf in flatten(child)]


def pack_sequence_as(structure: Any, flat_sequence: Any) -> Any:
    """The leaves of `flat_sequence` in the form of `structure`."""
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    if not is_nested(structure):
        if len(flat_sequence) != 1:
            raise ValueError(
                f"Structure is a scalar but len(flat_sequence) == {len(flat_sequence)} > 1"
            )
        return flat_sequence[0]
    wanted = len(flatten(structure))
    if wanted != len(flat_sequence):
        raise ValueError(
            f"Could not pack sequence. Structure had {wanted} elements, but flat_sequence had"
            f" {len(flat_sequence)} elements.  Structure: {structure}, flat_sequence:"
            f" {flat_sequence}."
        )
    return _packed(structure, iter(flat_sequence))


def _packed(structure: Any, leaves: Iterator[Any]) -> Any:
    if not is_nested(structure):
        return next(leaves)
    return _like(structure, [_packed(child, leaves) for child in _children(structure)])


def map_structure(func: Callable[..., Any], *structures: Any, **kwargs: Any) -> Any:
    """`func` of corresponding leaves, in the form of the first structure."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other, kwargs.get("check_types", True))
    columns = zip(*map(flatten, structures), strict=True)
    return pack_sequence_as(structures[0], [func(*leaves) for leaves in columns])


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True) -> None:
    """Raises ValueError or TypeError if the structures differ."""
    try:
        _assert_same(nest1, nest2, check_types)
    except (ValueError, TypeError) as error:
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_described(nest1)}\n\nSecond structure: {_described(nest2)}\n\n"
            f"More specifically: {error}"
        ) from None


def _described(value: Any) -> str:
    return f"type={type(value).__name__} str={value}"


def _assert_same(a: Any, b: Any, check_types: bool) -> None:
    if is_nested(a) != is_nested(b):
        nested, leaf = (a, b) if is_nested(a) else (b, a)
        raise ValueError(
            f'Substructure "{_described(nested)}" is a sequence, while substructure'
            f' "{_described(leaf)}" is not'
        )
    if not is_nested(a):
        return
    if len(_children(a)) != len(_children(b)):
        raise ValueError(
            "The two structures don't have the same number of elements. First structure:"
            f" {_described(a)}. Second structure: {_described(b)}"
        )
    if check_types:
        both_dicts = isinstance(a, Mapping) and isinstance(b, Mapping)
        if type(a) is not type(b) and not both_dicts:
            raise TypeError(
                "The two structures don't have the same sequence type. First structure has type"
                f" {type(a)}, while second structure has type {type(b)}."
            )
        if both_dicts and set(a) != set(b):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys"
                f" {list(a)}, while second structure has keys {list(b)}."
            )
    for x, y in zip(_children(a), _children(b), strict=False):
        _assert_same(x, y, check_types)


def assert_shallow_structure(shallow: Any, deep: Any, check_types: bool = True) -> None:
    """Raises if `deep` does not begin as `shallow` does."""
    if not is_nested(shallow):
        return
    if not is_nested(deep) and not isinstance(deep, list):
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. Input has type:"
            f" {type(deep).__name__!r}."
        )
    both_dicts = isinstance(shallow, Mapping) and isinstance(deep, Mapping)
    if check_types and not both_dicts and not isinstance(deep, type(shallow)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type"
            f" {type(deep).__name__!r}, while shallow structure has type"
            f" {type(shallow).__name__!r}."
        )
    if len(flat_level(deep)) != len(_children(shallow)):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length"
            f" {len(flat_level(deep))}, while shallow structure has length"
            f" {len(_children(shallow))}."
        )
    if check_types and both_dicts and set(shallow) != set(deep):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys"
            f" {list(deep)}, while shallow structure has keys {list(shallow)}."
        )
    for x, y in zip(_children(shallow), flat_level(deep), strict=True):
        assert_shallow_structure(x, y, check_types)


def flat_level(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else _children(value)


def flatten_up_to(shallow: Any, deep: Any) -> list[Any]:
    """The parts of `deep` where `shallow` has leaves."""
    assert_shallow_structure(shallow, deep)
    return _parts_up_to(shallow, deep)


def _parts_up_to(shallow: Any, deep: Any) -> list[Any]:
    if not is_nested(shallow):
        return [deep]
    pairs = zip(_children(shallow), flat_level(deep), strict=True)
    return [part for x, y in pairs for part in _parts_up_to(x, y)]


def map_structure_up_to(shallow: Any, func: Callable[..., Any], *structures: Any) -> Any:
    """`func` of the parts where `shallow` has leaves, in the form of `shallow`."""
    columns = zip(*[flatten_up_to(shallow, each) for each in structures], strict=True)
    return pack_sequence_as(shallow, [func(*parts) for parts in columns])
