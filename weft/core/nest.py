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

import collections
import enum
import functools
from collections.abc import Callable, Iterator, Mapping, MappingView, Sequence
from typing import Any, Never

Path = tuple[Any, ...]


class _Kind(enum.Enum):
    LEAF = enum.auto()
    SEQUENCE = enum.auto()
    NAMEDTUPLE = enum.auto()
    MAPPING = enum.auto()
    VIEW = enum.auto()
    ATTRS = enum.auto()
    COMPOSITE = enum.auto()
    SPEC = enum.auto()


_EXPANDED = (_Kind.COMPOSITE, _Kind.SPEC)


@functools.lru_cache(4096)
def _kind_of(cls: type, expand_composites: bool) -> _Kind:
    """How objects of a class are taken apart. Only the class matters, so this is asked once."""
    if issubclass(cls, (str, bytes)):
        return _Kind.LEAF
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _Kind.NAMEDTUPLE
    if issubclass(cls, Mapping):
        return _Kind.MAPPING
    if issubclass(cls, MappingView):
        return _Kind.VIEW
    if hasattr(cls, "__attrs_attrs__"):
        return _Kind.ATTRS
    if issubclass(cls, Sequence):
        return _Kind.SEQUENCE
    if not expand_composites or getattr(cls, "_is_leaf", False):
        return _Kind.LEAF
    if hasattr(cls, "_component_specs"):
        return _Kind.SPEC
    if hasattr(cls, "_composite_components") or hasattr(cls, "_type_spec"):
        return _Kind.COMPOSITE
    return _Kind.LEAF


def _kind(structure: Any, expand_composites: bool) -> _Kind:
    cls: Any = type(structure)
    return _kind_of(cls, expand_composites)


def is_nested(seq: Any) -> bool:
    """Whether `seq` is a structure (a list, tuple, dict, ...) rather than a leaf."""
    return _kind(seq, False) is not _Kind.LEAF


is_sequence = is_nested


def is_sequence_or_composite(seq: Any) -> bool:
    """Whether `seq` is a structure once composites count as structures."""
    return _kind(seq, True) is not _Kind.LEAF


# Taking one level apart and putting it together.


def _sorted_keys(mapping: Mapping[Any, Any]) -> list[Any]:
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


def _children(structure: Any, kind: _Kind) -> Any:
    """The values one level down, in order."""
    if kind is _Kind.MAPPING:
        return [structure[key] for key in _sorted_keys(structure)]
    if kind is _Kind.ATTRS:
        return [getattr(structure, a.name) for a in type(structure).__attrs_attrs__]
    if kind is _Kind.COMPOSITE:
        return [_parts(structure)]
    if kind is _Kind.SPEC:
        return [structure._component_specs]
    return structure


def _parts(composite: Any) -> Any:
    if hasattr(composite, "_composite_components"):
        return composite._composite_components()
    return composite._type_spec._to_components(composite)


def _items(structure: Any, expand_composites: bool) -> list[tuple[Any, Any]]:
    """The (key, value) pairs one level down, in order."""
    kind = _kind(structure, expand_composites)
    if kind is _Kind.MAPPING:
        keys: Any = _sorted_keys(structure)
    elif kind is _Kind.ATTRS:
        keys = [a.name for a in type(structure).__attrs_attrs__]
    elif kind is _Kind.NAMEDTUPLE:
        keys = structure._fields
    elif kind is _Kind.COMPOSITE:
        keys = [type(structure).__name__]
    elif kind is _Kind.SPEC:
        keys = [structure.value_type.__name__]  # as the path of a value has it
    else:
        keys = range(len(structure))
    return list(zip(keys, _children(structure, kind), strict=True))


def _like(structure: Any, children: list[Any], expand_composites: bool = True) -> Any:
    """An object like `structure` with these values one level down."""
    kind = _kind(structure, expand_composites)
    cls: Any = type(structure)
    if kind is _Kind.MAPPING:
        return _mapping_like(structure, dict(zip(_sorted_keys(structure), children, strict=True)))
    if kind in (_Kind.NAMEDTUPLE, _Kind.ATTRS):
        return cls(*children)
    if kind in _EXPANDED:
        maker = structure if hasattr(cls, "_from_components") else structure._type_spec
        return maker._from_components(children[0])
    if kind is _Kind.VIEW or cls is range:  # neither can hold arbitrary values
        return list(children)
    return cls(children)


def _mapping_like(structure: Any, values: dict[Any, Any]) -> Any:
    in_order = [(key, values[key]) for key in structure]
    if isinstance(structure, collections.defaultdict):
        return type(structure)(structure.default_factory, in_order)
    return type(structure)(in_order)


# Flattening and packing.


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of `structure` as a list; `[structure]` when it is itself a leaf."""
    leaves: list[Any] = []
    _collect(structure, expand_composites, leaves)
    return leaves


def _collect(structure: Any, expand_composites: bool, leaves: list[Any]) -> None:
    children = structure
    if type(structure) not in (list, tuple):  # by far the most common: no need to ask
        kind = _kind(structure, expand_composites)
        if kind is _Kind.LEAF:
            leaves.append(structure)
            return
        children = _children(structure, kind)
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
    if _kind(structure, expand_composites) is _Kind.LEAF:
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
    kind = _kind(structure, expand_composites)
    if kind is _Kind.LEAF:
        return next(leaves)
    # A list, not a generator: inside a generator a missing leaf would become a RuntimeError.
    children = [_pack(child, leaves, expand_composites) for child in _children(structure, kind)]
    return _like(structure, children, expand_composites)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Applies `func` to corresponding leaves and packs the results like the first structure.

    Keyword arguments: `check_types` (default True: the structures' types must agree too) and
    `expand_composites` (default False).
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


def list_to_tuple(structure: Any) -> Any:
    """`structure` with every list in it, at any depth, replaced by a tuple."""
    kind = _kind(structure, False)
    if kind is _Kind.LEAF:
        return structure
    children = [list_to_tuple(child) for child in _children(structure, kind)]
    return tuple(children) if isinstance(structure, list) else _like(structure, children, False)


# Comparing structures.


class _Dot:
    """What stands for a leaf when a structure is printed."""

    def __repr__(self) -> str:
        return "."


_DOT = _Dot()


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
        dots1 = map_structure(lambda _: _DOT, nest1)
        dots2 = map_structure(lambda _: _DOT, nest2)
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: {_describe(nest1)}\n\nSecond structure: {_describe(nest2)}\n\n"
            f"More specifically: {error}\n"
            f"Entire first structure:\n{dots1}\nEntire second structure:\n{dots2}"
        ) from None


def _assert_same(a: Any, b: Any, check_types: bool, expand_composites: bool) -> None:
    kind_a, kind_b = (_kind(x, expand_composites) for x in (a, b))
    if (kind_a is _Kind.LEAF) != (kind_b is _Kind.LEAF):
        nested, leaf = (a, b) if kind_b is _Kind.LEAF else (b, a)
        raise ValueError(
            f'Substructure "{_describe(nested)}" is a sequence, while substructure '
            f'"{_describe(leaf)}" is not'
        )
    if kind_a is _Kind.LEAF:
        return
    if kind_a in _EXPANDED or kind_b in _EXPANDED:
        _assert_compatible(a, b, kind_a, kind_b)
    elif check_types:
        _assert_same_type(a, b, kind_a, kind_b)
    children_a, children_b = list(_children(a, kind_a)), list(_children(b, kind_b))
    for child_a, child_b in zip(children_a, children_b, strict=False):
        _assert_same(child_a, child_b, check_types, expand_composites)
    if len(children_a) != len(children_b):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: {_describe(a)}. Second structure: {_describe(b)}"
        )


def _assert_same_type(a: Any, b: Any, kind_a: _Kind, kind_b: _Kind) -> None:
    if kind_a is kind_b is _Kind.MAPPING:
        if set(a) != set(b):
            raise ValueError(
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_describe(list(a))}, while second structure has keys {_describe(list(b))}"
            )
        return
    if type(a) is type(b) or (isinstance(a, list) and isinstance(b, list)):
        return
    if kind_a is kind_b is _Kind.NAMEDTUPLE and _same_namedtuples(a, b):
        return
    raise TypeError(
        "The two namedtuples don't have the same sequence type. "
        f"First structure {_describe(a)} has type {type(a).__name__}, "
        f"while second structure {_describe(b)} has type {type(b).__name__}"
    )


def _assert_compatible(a: Any, b: Any, kind_a: _Kind, kind_b: _Kind) -> None:
    """Composites, and specs of them: what the one says must not contradict the other."""
    if kind_a not in _EXPANDED or kind_b not in _EXPANDED:
        _mismatching_types(a, b)
    if kind_a is kind_b and type(a) is not type(b):
        _mismatching_types(a, b)
    own = [x if kind is _Kind.SPEC else _spec_of(x) for x, kind in ((a, kind_a), (b, kind_b))]
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
    kind = _kind(shallow_tree, expand_composites)
    if kind is _Kind.LEAF:
        return
    input_kind = _kind(input_tree, expand_composites)
    if input_kind is _Kind.LEAF:
        raise TypeError(
            "If shallow structure is a sequence, input must also be a sequence. "
            f"Input has type: {type(input_tree)}."
        )
    if kind in _EXPANDED or input_kind in _EXPANDED:
        _assert_compatible(shallow_tree, input_tree, kind, input_kind)
    elif check_types and not _is_alike(shallow_tree, input_tree, kind, input_kind):
        _mismatching_types(shallow_tree, input_tree)
    if kind not in _EXPANDED:
        _check_lengths(len(shallow_tree), len(input_tree), check_subtrees_length)
    if kind is input_kind is _Kind.MAPPING:
        _check_keys(shallow_tree, input_tree)
        pairs = [(shallow_tree[key], input_tree[key]) for key in _sorted_keys(shallow_tree)]
    else:
        branches = _children(input_tree, input_kind)
        pairs = list(zip(_children(shallow_tree, kind), branches, strict=False))
    for shallow_branch, input_branch in pairs:
        assert_shallow_structure(
            shallow_branch, input_branch, check_types, expand_composites, check_subtrees_length
        )


def _is_alike(shallow: Any, deep: Any, kind: _Kind, deep_kind: _Kind) -> bool:
    if isinstance(deep, type(shallow)) or kind is deep_kind is _Kind.MAPPING:
        return True
    return kind is deep_kind is _Kind.NAMEDTUPLE and _same_namedtuples(shallow, deep)


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


# Flattening part of the way, and paths.


def _walk(shallow: Any, deep: Any, expand_composites: bool, path: Path = ()) -> Iterator[Any]:
    """(path, part of `deep`) for every leaf of `shallow`."""
    if _kind(shallow, expand_composites) is _Kind.LEAF:
        yield path, deep
        return
    parts = dict(_items(deep, expand_composites))
    for key, branch in _items(shallow, expand_composites):
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


def get_traverse_shallow_structure(
    traverse_fn: Callable[[Any], Any], structure: Any, expand_composites: bool = False
) -> Any:
    """The shallow structure of bools that `traverse_fn` describes.

    For each substructure `traverse_fn` returns a bool (go into it or not) or a structure one level
    deep of bools, one per branch.
    """
    choice = traverse_fn(structure)
    kind = _kind(structure, expand_composites)
    if kind is _Kind.LEAF:
        if not isinstance(choice, bool):
            raise TypeError(
                f"traverse_fn returned structure: {choice} for non-structure: {structure}"
            )
        return choice
    if choice is False:
        return False
    branches = list(_children(structure, kind))
    choices = _branch_choices(choice, structure, len(branches), expand_composites)
    children = [
        get_traverse_shallow_structure(traverse_fn, branch, expand_composites) if enter else False
        for enter, branch in zip(choices, branches, strict=True)
    ]
    return _like(structure, children, expand_composites)


def _branch_choices(choice: Any, structure: Any, count: int, expand_composites: bool) -> list[bool]:
    if choice is True:
        return [True] * count
    kind = _kind(choice, expand_composites)
    if kind is _Kind.LEAF:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {choice} for input: {structure}")
    assert_shallow_structure(choice, structure, expand_composites=expand_composites)
    choices = list(_children(choice, kind))
    if not all(isinstance(c, bool) for c in choices):
        raise TypeError(
            f"traverse_fn didn't return a depth=1 structure of bools.  saw: {choice} "
            f" for structure: {structure}"
        )
    return choices
