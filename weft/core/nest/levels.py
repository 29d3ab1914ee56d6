"""One level of a nested structure: what kind it is, its parts, and a like one of other parts."""

from __future__ import annotations

import collections
import enum
import functools
from collections.abc import Mapping, MappingView, Sequence
from typing import Any


class Kind(enum.Enum):
    LEAF = enum.auto()
    SEQUENCE = enum.auto()
    NAMEDTUPLE = enum.auto()
    MAPPING = enum.auto()
    VIEW = enum.auto()
    ATTRS = enum.auto()
    COMPOSITE = enum.auto()
    SPEC = enum.auto()


EXPANDED = (Kind.COMPOSITE, Kind.SPEC)


@functools.lru_cache(4096)
def _kind_of_class(cls: type, expand_composites: bool) -> Kind:
    """How objects of a class are taken apart. Only the class matters, so this is asked once."""
    if issubclass(cls, (str, bytes)):
        return Kind.LEAF
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return Kind.NAMEDTUPLE
    if issubclass(cls, Mapping):
        return Kind.MAPPING
    if issubclass(cls, MappingView):
        return Kind.VIEW
    if hasattr(cls, "__attrs_attrs__"):
        return Kind.ATTRS
    if issubclass(cls, Sequence):
        return Kind.SEQUENCE
    if not expand_composites or getattr(cls, "_is_leaf", False):
        return Kind.LEAF
    if hasattr(cls, "_component_specs"):
        return Kind.SPEC
    if hasattr(cls, "_composite_components") or hasattr(cls, "_type_spec"):
        return Kind.COMPOSITE
    return Kind.LEAF


def kind_of(structure: Any, expand_composites: bool) -> Kind:
    cls: Any = type(structure)
    return _kind_of_class(cls, expand_composites)


def sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def children_of(structure: Any, kind: Kind) -> Any:
    """The values one level down, in order."""
    if kind is Kind.MAPPING:
        return [structure[key] for key in sorted_keys(structure)]
    if kind is Kind.ATTRS:
        return [getattr(structure, a.name) for a in type(structure).__attrs_attrs__]
    if kind is Kind.COMPOSITE:
        return [_parts(structure)]
    if kind is Kind.SPEC:
        return [structure._component_specs]
    return structure


def _parts(composite: Any) -> Any:
    if hasattr(composite, "_composite_components"):
        return composite._composite_components()
    return composite._type_spec._to_components(composite)


def items_of(structure: Any, expand_composites: bool) -> list[tuple[Any, Any]]:
    """The (key, value) pairs one level down, in order."""
    kind = kind_of(structure, expand_composites)
    if kind is Kind.MAPPING:
        keys: Any = sorted_keys(structure)
    elif kind is Kind.ATTRS:
        keys = [a.name for a in type(structure).__attrs_attrs__]
    elif kind is Kind.NAMEDTUPLE:
        keys = structure._fields
    elif kind is Kind.COMPOSITE:
        keys = [type(structure).__name__]
    elif kind is Kind.SPEC:
        keys = [structure.value_type.__name__]  # as the path of a value has it
    else:
        keys = range(len(structure))
    return list(zip(keys, children_of(structure, kind), strict=True))


def like(structure: Any, children: list[Any], expand_composites: bool = True) -> Any:
    """An object like `structure` with these values one level down."""
    kind = kind_of(structure, expand_composites)
    cls: Any = type(structure)
    if kind is Kind.MAPPING:
        return _mapping_like(structure, dict(zip(sorted_keys(structure), children, strict=True)))
    if kind in (Kind.NAMEDTUPLE, Kind.ATTRS):
        return cls(*children)
    if kind in EXPANDED:
        maker = structure if hasattr(cls, "_from_components") else structure._type_spec
        return maker._from_components(children[0])
    if kind is Kind.VIEW or cls is range:  # neither can hold arbitrary values
        return list(children)
    return cls(children)


def _mapping_like(structure: Any, values: dict[Any, Any]) -> Any:
    in_order = [(key, values[key]) for key in structure]
    if isinstance(structure, collections.defaultdict):
        return type(structure)(structure.default_factory, in_order)
    return type(structure)(in_order)
