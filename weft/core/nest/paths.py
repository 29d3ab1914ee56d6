"""Flattening part of the way, as far as another structure goes; and the paths to leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from weft.core.nest.compare import assert_shallow_structure
from weft.core.nest.flat import pack_sequence_as
from weft.core.nest.levels import Kind, children_of, items_of, kind_of, like

Path = tuple[Any, ...]


def _walk(shallow: Any, deep: Any, expand_composites: bool, path: Path = ()) -> Iterator[Any]:
    """(path, part of `deep`) for every leaf of `shallow`."""
    if kind_of(shallow, expand_composites) is Kind.LEAF:
        yield path, deep
        return
    parts = dict(items_of(deep, expand_composites))
    for key, branch in items_of(shallow, expand_composites):
        yield from _walk(branch, parts[key], expand_composites, (*path, key))


def flatten_with_tuple_paths_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[tuple[Path, Any]]:
    """The parts of `input_tree` at the leaves of `shallow_tree`, each with its path."""
    assert_shallow_structure(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return list(_walk(shallow_tree, input_tree, expand_composites))


def flatten_up_to(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> list[Any]:
    """The parts of `input_tree` at the leaves of `shallow_tree`."""
    pairs = flatten_with_tuple_paths_up_to(
        shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length
    )
    return [value for _, value in pairs]


def map_structure_with_tuple_paths_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`func(path, *parts)` at every leaf of `shallow_tree`, packed like `shallow_tree`.

    `check_types`, `expand_composites` and `check_subtrees_length` are taken out of `kwargs`;
    what is left goes to `func`.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    check_types = kwargs.pop("check_types", True)
    expand = kwargs.pop("expand_composites", False)
    same_length = kwargs.pop("check_subtrees_length", True)
    flat = [
        flatten_with_tuple_paths_up_to(shallow_tree, tree, check_types, expand, same_length)
        for tree in inputs
    ]
    results = []
    for pairs in zip(*flat, strict=True):
        path = pairs[0][0]
        results.append(func(path, *[value for _, value in pairs], **kwargs))
    return pack_sequence_as(shallow_tree, results, expand_composites=expand)


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, **kwargs: Any
) -> Any:
    """`func(*parts)` at every leaf of `shallow_tree`, packed like `shallow_tree`."""
    return map_structure_with_tuple_paths_up_to(
        shallow_tree, lambda _, *values, **rest: func(*values, **rest), *inputs, **kwargs
    )


def map_structure_with_tuple_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` for a `func` that takes the path to the leaf, a tuple of keys, first."""
    return map_structure_with_tuple_paths_up_to(structure[0], func, *structure, **kwargs)


def map_structure_with_paths(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """`map_structure` for a `func` that takes the path to the leaf, `"a/0"`, first."""

    def with_joined_path(path: Path, *values: Any, **rest: Any) -> Any:
        return func("/".join(map(str, path)), *values, **rest)

    return map_structure_with_tuple_paths_up_to(
        structure[0], with_joined_path, *structure, **kwargs
    )


def yield_flat_paths(nest: Any, expand_composites: bool = False) -> Iterator[Path]:
    """The path, a tuple of keys and indices, to each leaf in turn."""
    for path, _ in _walk(nest, nest, expand_composites):
        yield path


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[Path, Any]]:
    """(path, leaf) for each leaf."""
    return list(_walk(structure, structure, expand_composites))


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """(path, leaf) for each leaf, with the path as one string."""
    pairs = _walk(structure, structure, expand_composites)
    return [(separator.join(map(str, path)), leaf) for path, leaf in pairs]


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The shallow structure of bools that `traverse_fn` describes.

    For each substructure `traverse_fn` returns a bool (go into it or not) or a structure one level
    deep of bools, one per branch.
    """
    choice = traverse_fn(structure)
    kind = kind_of(structure, expand_composites)
    if kind is Kind.LEAF:
        if not isinstance(choice, bool):
            raise TypeError(
                f"traverse_fn returned structure: {choice} for non-structure: {structure}"
            )
        return choice
    if choice is False:
        return False
    branches = list(children_of(structure, kind))
    choices = _branch_choices(choice, structure, len(branches), expand_composites)
    children = [
        get_traverse_shallow_structure(traverse_fn, branch, expand_composites) if enter else False
        for enter, branch in zip(choices, branches, strict=True)
    ]
    return like(structure, children, expand_composites)


def _branch_choices(choice: Any, structure: Any, count: int, expand_composites: bool) -> list[bool]:
    if choice is True:
        return [True] * count
    kind = kind_of(choice, expand_composites)
    if kind is Kind.LEAF:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {choice} for input: {structure}")
    assert_shallow_structure(choice, structure, expand_composites=expand_composites)
    choices = list(children_of(choice, kind))
    if not all(isinstance(c, bool) for c in choices):
        raise TypeError(
            f"traverse_fn didn't return a depth=1 structure of bools.  saw: {choice} "
            f" for structure: {structure}"
        )
    return choices
