"""Nested structures: lists, tuples, named tuples, dicts and attrs objects, with leaves of any type.

Dicts are walked in the order of their sorted keys, whatever order they were filled in, so that
flattening one and packing into another with the same keys is safe. Strings, NumPy arrays and
tensors are leaves. A *composite* (such as a sparse tensor) is a leaf too, unless
`expand_composites` is asked for; an object is one when its class has `_composite_components()`,
which returns the parts as a list, and `_from_components(parts)`, which makes a like object of
other parts, or has a `_type_spec` that does both. Such a spec stands for its values: it is taken
apart into the specs of their parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.nest.compare import assert_same_structure, assert_shallow_structure
from weft.core.nest.flat import (
    flatten,
    flatten_dict_items,
    is_nested,
    list_to_tuple,
    pack_sequence_as,
)
from weft.core.nest.levels import Kind, kind_of
from weft.core.nest.paths import (
    flatten_up_to,
    flatten_with_joined_string_paths,
    flatten_with_tuple_paths,
    flatten_with_tuple_paths_up_to,
    get_traverse_shallow_structure,
    map_structure_up_to,
    map_structure_with_paths,
    map_structure_with_tuple_paths,
    map_structure_with_tuple_paths_up_to,
    yield_flat_paths,
)

__all__ = [
    "assert_same_structure",
    "assert_shallow_structure",
    "flatten",
    "flatten_dict_items",
    "flatten_up_to",
    "flatten_with_joined_string_paths",
    "flatten_with_tuple_paths",
    "flatten_with_tuple_paths_up_to",
    "get_traverse_shallow_structure",
    "is_nested",
    "is_sequence",
    "is_sequence_or_composite",
    "list_to_tuple",
    "map_structure",
    "map_structure_up_to",
    "map_structure_with_paths",
    "map_structure_with_tuple_paths",
    "map_structure_with_tuple_paths_up_to",
    "pack_sequence_as",
    "yield_flat_paths",
]

is_sequence = is_nested


def is_sequence_or_composite(seq: Any) -> bool:
    """Whether `seq` is a structure once composites count as structures."""
    return kind_of(seq, True) is not Kind.LEAF


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies `func` to corresponding leaves and packs the results like the first structure.

    Keyword arguments: `check_types` (default True: the structures' types must agree too) and
    `expand_composites` (default False).

    Args:
        func: a function of as many values as there are structures.
        *structure: lists, tuples, dicts and the like of one form, or single values.
        **kwargs: see above.

    Returns:
        A structure of results.

    Raises:
        TypeError: `func` cannot be called, or the types of the structures differ.
        ValueError: there is no structure, or their forms differ.

    Example:
        >>> tf.contrib.framework.nest.map_structure(lambda x, y: x + y, {"a": 1}, {"a": 10})
        {'a': 11}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    if kwargs:
        names = "`, `".join(kwargs)
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, "
            f"not: `{names}`"
        )
    first, *others = structure
    for other in others:
        assert_same_structure(first, other, check_types=check_types, expand_composites=expand)
    leaves = [flatten(s, expand) for s in structure]
    results = [func(*arguments) for arguments in zip(*leaves, strict=True)]
    return pack_sequence_as(first, results, expand_composites=expand)
