"""Whether two structures are nested alike, or one begins like the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Never

from weft.core.nest.levels import EXPANDED, Kind, children_of, kind_of, like, sorted_keys


class _Dot:
    """The placeholder of a leaf when a structure is printed."""

    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


def _dots(structure: Any) -> Any:
    """The structure without its values, for messages."""
    kind = kind_of(structure, False)
    if kind is Kind.LEAF:
        return _DOT
    return like(structure, [_dots(child) for child in children_of(structure, kind)], False)


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raises unless both are nested alike.

    ValueError when the nesting or the dict keys differ; TypeError when only the types of two
    corresponding sequences do and `check_types` is set. Two lists, two mappings, and two named
    tuples with the same name and fields count as the same type.
    """
    try:
        _assert_same(nest1, nest2, check_types, expand_composites)
    except (ValueError, TypeError) as error:
        dots1 = _dots(nest1)
        dots2 = _dots(nest2)
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_describe(nest1)}\n\nSecond structure: {_describe(nest2)}\n\n"
            f"More specifically: {error}\n"
            f"Entire first structure:\n{dots1}\nEntire second structure:\n{dots2}"
        ) from None


def _assert_same(a: Any, b: Any, check_types: bool, expand_composites: bool) -> None:
    kind_a, kind_b = (kind_of(x, expand_composites) for x in (a, b))
    if (kind_a is Kind.LEAF) != (kind_b is Kind.LEAF):
        nested, leaf = (a, b) if kind_b is Kind.LEAF else (b, a)
        raise ValueError(
            f'Substructure "{_describe(nested)}" is a sequence, while substructure '
            f'"{_describe(leaf)}" is not'
        )
    if kind_a is Kind.LEAF:
        return
    if kind_a in EXPANDED or kind_b in EXPANDED:
        _assert_compatible(a, b, kind_a, kind_b)
    elif check_types:
        _assert_same_type(a, b, kind_a, kind_b)
    children_a, children_b = list(children_of(a, kind_a)), list(children_of(b, kind_b))
    for child_a, child_b in zip(children_a, children_b, strict=False):
        _assert_same(child_a, child_b, check_types, expand_composites)
    if len(children_a) != len(children_b):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: {_describe(a)}. Second structure: {_describe(b)}"
        )


def _assert_same_type(a: Any, b: Any, kind_a: Kind, kind_b: Kind) -> None:
    if kind_a is kind_b is Kind.MAPPING:
        if set(a) != set(b):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_describe(list(a))}, while second structure has keys {_describe(list(b))}"
            )
        return
    if type(a) is type(b) or (isinstance(a, list) and isinstance(b, list)):
        return
    if kind_a is kind_b is Kind.NAMEDTUPLE and _same_namedtuples(a, b):
        return
    raise TypeError(
        "The two namedtuples don't have the same sequence type. "
        f"First structure {_describe(a)} has type {type(a).__name__}, "
        f"while second structure {_describe(b)} has type {type(b).__name__}"
    )


def _assert_compatible(a: Any, b: Any, kind_a: Kind, kind_b: Kind) -> None:
    """Composites, and specs of them: what the one says must not contradict the other."""
    if kind_a not in EXPANDED or kind_b not in EXPANDED:
        _mismatching_types(a, b)
    if kind_a is kind_b and type(a) is not type(b):
        _mismatching_types(a, b)
    own = [x if kind is Kind.SPEC else _spec_of(x) for x, kind in ((a, kind_a), (b, kind_b))]
    if None in own:
        return
    try:
        own[0].most_specific_compatible_type(own[1])
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"Incompatible CompositeTensor TypeSpecs: {own[0]} vs. {own[1]} -- {error}"
        ) from None


def _spec_of(composite: Any) -> Any:
    return getattr(composite, "_type_spec", None)


def _same_namedtuples(a: Any, b: Any) -> bool:
    return type(a).__name__ == type(b).__name__ and a._fields == b._fields


def _describe(structure: Any) -> str:
    return f"type={type(structure).__name__} str={structure!s}"


def assert_shallow_structure(
    shallow_tree: Any,
    input_tree: Any,
    check_types: bool = True,
    expand_composites: bool = False,
    check_subtrees_length: bool = True,
) -> None:
    """Raises unless `input_tree` is `shallow_tree` with deeper structures at its leaves."""
    kind = kind_of(shallow_tree, expand_composites)
    if kind is Kind.LEAF:
        return
    input_kind = kind_of(input_tree, expand_composites)
    if input_kind is Kind.LEAF:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. "
            f"Input has type: {type(input_tree)}."
        )
    if kind in EXPANDED or input_kind in EXPANDED:
        _assert_compatible(shallow_tree, input_tree, kind, input_kind)
    elif check_types and not _is_alike(shallow_tree, input_tree, kind, input_kind):
        _mismatching_types(shallow_tree, input_tree)
    if kind not in EXPANDED:
        _check_lengths(len(shallow_tree), len(input_tree), check_subtrees_length)
    if kind is input_kind is Kind.MAPPING:
        _check_keys(shallow_tree, input_tree)
        pairs = [(shallow_tree[key], input_tree[key]) for key in sorted_keys(shallow_tree)]
    else:
        branches = children_of(input_tree, input_kind)
        pairs = list(zip(children_of(shallow_tree, kind), branches, strict=False))
    for shallow_branch, input_branch in pairs:
        assert_shallow_structure(
            shallow_branch, input_branch, check_types, expand_composites, check_subtrees_length
        )


def _is_alike(shallow: Any, deep: Any, kind: Kind, deep_kind: Kind) -> bool:
    if isinstance(deep, type(shallow)) or kind is deep_kind is Kind.MAPPING:
        return True
    return kind is deep_kind is Kind.NAMEDTUPLE and _same_namedtuples(shallow, deep)


def _mismatching_types(shallow: Any, deep: Any) -> Never:
    raise TypeError(
        "The two structures don't have the same sequence type. Input structure has type "
        f"{type(deep)}, while shallow structure has type {type(shallow)}."
    )


def _check_lengths(shallow_length: int, input_length: int, same_length: bool) -> None:
    if same_length and input_length != shallow_length:
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{input_length}, while shallow structure has length {shallow_length}."
        )
    if input_length < shallow_length:
        raise ValueError(
            "The input_tree has fewer elements than the shallow_tree. Input structure has length "
            f"{input_length}, while shallow structure has length {shallow_length}."
        )


def _check_keys(shallow: Mapping[Any, Any], deep: Mapping[Any, Any]) -> None:
    absent = set(shallow) - set(deep)
    if absent:
        raise ValueError(
            "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree "
            f"has the following keys that are not in the input_tree: {sorted(absent)}."
        )
