import collections

import numpy as np
import pytest

from weft.core import nest

Pair = collections.namedtuple("Pair", "a b")
Other = collections.namedtuple("Other", "a b")


class Sparse:
    """Stands for a composite tensor."""

    def __init__(self, *parts):
        self.parts = list(parts)

    def _composite_components(self):
        return self.parts

    def _from_components(self, parts):
        return Sparse(*parts)


class Attribute(collections.namedtuple("Attribute", "name")):
    pass


class WithAttrs:
    """What the attrs library makes of a class with fields b and a."""

    __attrs_attrs__ = (Attribute("b"), Attribute("a"))

    def __init__(self, b, a):
        self.b, self.a = b, a


def test_is_nested():
    for structure in ([], (), {}, Pair(1, 2), {}.values(), range(3), WithAttrs(1, 2)):
        assert nest.is_nested(structure) and nest.is_sequence(structure)
    for leaf in ("ab", b"ab", 3, None, np.zeros(3), set(), iter([]), Sparse(1)):
        assert not nest.is_nested(leaf)
    assert nest.is_sequence_or_composite(Sparse(1))


@pytest.mark.parametrize(
    ("structure", "leaves"),
    [
        (3, [3]),
        (None, [None]),
        ("abc", ["abc"]),
        ([], []),
        ([1, (2, [3, []]), "x"], [1, 2, 3, "x"]),
        (Pair([1], {"z": 3, "y": 2}), [1, 2, 3]),
        (collections.OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
        ({"b": 1, "a": 2}.values(), [1, 2]),
        (WithAttrs(1, [2, 3]), [1, 2, 3]),
        (range(3), [0, 1, 2]),
    ],
)
def test_flatten(structure, leaves):
    assert nest.flatten(structure) == leaves


def test_flatten_needs_sortable_keys():
    with pytest.raises(TypeError, match="nest only supports dicts with sortable keys"):
        nest.flatten({1: 2, "a": 3})


def test_arrays_are_leaves():
    array = np.zeros((2, 2))
    assert nest.flatten([array])[0] is array


@pytest.mark.parametrize(
    "structure",
    [
        [1, (2, [3, []])],
        Pair([1], {"z": 3, "y": 2}),
        collections.OrderedDict([("b", 1), ("a", [2])]),
        collections.defaultdict(list, {"b": 1, "a": 2}),
        [],
    ],
)
def test_pack_inverts_flatten(structure):
    packed = nest.pack_sequence_as(structure, nest.flatten(structure))
    assert packed == structure and type(packed) is type(structure)
    if isinstance(structure, dict):
        assert list(packed) == list(structure)


def test_pack_special_cases():
    assert nest.pack_sequence_as(None, ["x"]) == "x"
    assert nest.pack_sequence_as(range(2), [5, 6]) == [5, 6]
    assert nest.pack_sequence_as({"a": 1}.values(), (5,)) == [5]
    assert nest.pack_sequence_as(collections.defaultdict(int, a=1), [2]).default_factory is int
    packed = nest.pack_sequence_as(WithAttrs(1, [2]), [7, 8])
    assert (packed.b, packed.a) == (7, [8])


@pytest.mark.parametrize(
    ("structure", "flat", "error", "message"),
    [
        ([1], 5, TypeError, "flat_sequence must be a sequence"),
        ([1], "a", TypeError, "flat_sequence must be a sequence"),
        (1, [1, 2], ValueError, r"Structure is a scalar but len\(flat_sequence\) == 2 > 1"),
        ([1, 2], [1], ValueError, "Structure had 2 elements, but flat_sequence had 1 elements"),
        ([1, [2]], (4, 5, 6), ValueError, "Structure had 2 elements, but flat_sequence had 3"),
        ([], [1], ValueError, "Structure had 0 elements, but flat_sequence had 1 elements"),
    ],
)
def test_pack_mismatch(structure, flat, error, message):
    with pytest.raises(error, match=message):
        nest.pack_sequence_as(structure, flat)


def test_map_structure():
    assert nest.map_structure(lambda x: x + 1, {"a": [1], "b": Pair(2, (3,))}) == {
        "a": [2],
        "b": Pair(3, (4,)),
    }
    assert nest.map_structure(lambda x, y: x - y, [5, (6,)], [1, (2,)]) == [4, (4,)]
    assert nest.map_structure(lambda x, y: x - y, (5,), [1], check_types=False) == (4,)
    assert nest.map_structure(lambda x: x, 3) == 3


def test_map_structure_refuses():
    with pytest.raises(TypeError, match="func must be callable, got: 5"):
        nest.map_structure(5, [1])
    with pytest.raises(ValueError, match="Must provide at least one structure"):
        nest.map_structure(len)
    with pytest.raises(ValueError, match=r"Only valid keyword arguments are .*, not: `x`"):
        nest.map_structure(len, [1], x=3)
    with pytest.raises(TypeError, match="don't have the same nested structure"):
        nest.map_structure(lambda x, y: x, [1], (2,))


def test_same_structure():
    class Special(list):
        pass

    twin = collections.namedtuple("Pair", "a b")
    for left, right in [
        (1, "abc"),
        ([], []),
        ([1, (2,)], ["a", ("b",)]),
        ([1], Special([1])),
        (Pair(1, 2), twin(3, 4)),
        ({"a": 1}, collections.OrderedDict(a=2)),
    ]:
        nest.assert_same_structure(left, right)
    for left, right in [([1], (1,)), (Pair(1, 2), (3, 4)), ({"a": 1}, {"b": 1}), ({"a": 1}, [1])]:
        nest.assert_same_structure(left, right, check_types=False)


@pytest.mark.parametrize(
    ("left", "right", "error", "message"),
    [
        ([1, 2], [1], ValueError, "don't have the same number of elements"),
        ([1, [2, 3]], [1, [2]], ValueError, r"First structure: type=list str=\[2, 3\]\."),
        (0, [0], ValueError, r'"type=list str=\[0\]" is a sequence, while .*"type=int str=0"'),
        ([0], 0, ValueError, r'"type=list str=\[0\]" is a sequence, while .*"type=int str=0"'),
        ([1], (1,), TypeError, "has type list, while second structure .* has type tuple"),
        (Pair(1, 2), Other(1, 2), TypeError, "don't have the same sequence type"),
        (Pair(1, 2), (1, 2), TypeError, "don't have the same sequence type"),
        ({"a": 1}, {"b": 1}, ValueError, r"keys type=list str=\['a'\], while second"),
        ({"a": 1, "b": 1}, {"a": 1}, ValueError, "don't have the same set of keys"),
    ],
)
def test_different_structures(left, right, error, message):
    with pytest.raises(error, match=message):
        nest.assert_same_structure(left, right)


def test_different_structures_are_shown_whole():
    with pytest.raises(ValueError) as caught:
        nest.assert_same_structure([[1], 2], [1, [2]])
    assert str(caught.value).endswith(
        "Entire first structure:\n[[.], .]\nEntire second structure:\n[., [.]]"
    )


def test_flatten_up_to():
    assert nest.flatten_up_to([0, 0], [[1, 2], {"a": 3}]) == [[1, 2], {"a": 3}]
    assert nest.flatten_up_to(0, [1, 2]) == [[1, 2]]
    assert nest.flatten_up_to({"a": 1}, collections.OrderedDict(a=[1, 2])) == [[1, 2]]
    assert nest.flatten_up_to([0], [1, 2], check_subtrees_length=False) == [1]
    assert nest.flatten_up_to({"b": 0}, {"a": 1, "b": [2]}, check_subtrees_length=False) == [[2]]
    assert nest.flatten_with_tuple_paths_up_to([0, (0,)], [[1], ([2],)]) == [
        ((0,), [1]),
        ((1, 0), [2]),
    ]


@pytest.mark.parametrize(
    ("shallow", "deep", "error", "message"),
    [
        ([0, 1], 0, TypeError, "input must also be a sequence. Input has type: <class 'int'>"),
        ([0, 1], (0, 1), TypeError, "Input structure has type <class 'tuple'>, while shallow"),
        ([0, 1], [0, 1, 2], ValueError, "has length 3, while shallow structure has length 2"),
        ({"a": 1}, {"b": 2}, ValueError, r"keys that are not in the input_tree: \['a'\]"),
        (Pair(1, 2), Other(1, 2), TypeError, "don't have the same sequence type"),
    ],
)
def test_not_shallow(shallow, deep, error, message):
    with pytest.raises(error, match=message):
        nest.assert_shallow_structure(shallow, deep)


def test_fewer_elements_than_shallow():
    with pytest.raises(ValueError, match="input_tree has fewer elements than the shallow_tree"):
        nest.assert_shallow_structure([0, 1], [0], check_subtrees_length=False)


def test_map_structure_up_to():
    names, data = ["evens", ["odds"]], [[2, 4], [[1, 3, 5]]]
    mapped = nest.map_structure_up_to(names, lambda n, d: f"{n}{len(d)}", names, data)
    assert mapped == ["evens2", ["odds3"]]
    with pytest.raises(ValueError, match="Cannot map over no sequences"):
        nest.map_structure_up_to([], len)


def test_paths():
    structure = {"a": [1, 2], "b": Pair(3, 4)}
    paths = [("a", 0), ("a", 1), ("b", "a"), ("b", "b")]
    assert list(nest.yield_flat_paths(structure)) == paths
    assert nest.flatten_with_tuple_paths(structure) == list(zip(paths, [1, 2, 3, 4], strict=True))
    assert nest.flatten_with_joined_string_paths(structure, "-")[2] == ("b-a", 3)
    assert nest.map_structure_with_paths(lambda p, x: f"{p}={x}", structure) == {
        "a": ["a/0=1", "a/1=2"],
        "b": Pair("b/a=3", "b/b=4"),
    }
    assert nest.map_structure_with_tuple_paths(lambda p, x: p, [5]) == [(0,)]
    assert list(nest.yield_flat_paths(3)) == [()]


def test_flatten_dict_items():
    assert nest.flatten_dict_items({(4, (5, 6)): ("a", ("b", "c")), 7: [8]}) == {
        4: "a",
        5: "b",
        6: "c",
        7: [8],
    }
    with pytest.raises(TypeError, match="input must be a dictionary"):
        nest.flatten_dict_items([1])
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1 elements"):
        nest.flatten_dict_items({(1, 2): 3})
    with pytest.raises(ValueError, match="key 1 is not unique"):
        nest.flatten_dict_items({(1, 2): (3, 4), 1: 5})


def test_traverse():
    def only_lists(s):
        return isinstance(s, list)

    assert nest.get_traverse_shallow_structure(only_lists, [1, (2,), [3]]) == [
        False,
        False,
        [False],
    ]
    choose = nest.get_traverse_shallow_structure(
        lambda s: (True, False) if isinstance(s, tuple) else True, ([1], [2])
    )
    assert choose == ([True], False)
    for answer, structure, message in [
        (1, 3, "for non-structure: 3"),
        (1, [1], "non-bool scalar: 1 for input"),
        ([1], [1], "depth=1 structure of bools"),
    ]:
        with pytest.raises(TypeError, match=message):
            nest.get_traverse_shallow_structure(lambda _, answer=answer: answer, structure)


def test_list_to_tuple():
    assert nest.list_to_tuple([1, [2], {"a": [3]}, Pair([4], 5)]) == (
        1,
        (2,),
        {"a": (3,)},
        Pair((4,), 5),
    )


def test_composites():
    sparse = Sparse(1, [2, 3])
    assert nest.flatten([sparse]) == [sparse]
    assert nest.flatten([sparse, 4], expand_composites=True) == [1, 2, 3, 4]
    packed = nest.pack_sequence_as([sparse, 0], [5, 6, 7, 8], expand_composites=True)
    assert packed[0].parts == [5, [6, 7]] and packed[1] == 8
    mapped = nest.map_structure(lambda x: -x, sparse, expand_composites=True)
    assert isinstance(mapped, Sparse) and mapped.parts == [-1, [-2, -3]]
    assert list(nest.yield_flat_paths(sparse, expand_composites=True)) == [
        ("Sparse", 0),
        ("Sparse", 1, 0),
        ("Sparse", 1, 1),
    ]
    with pytest.raises(ValueError, match="is a sequence, while substructure"):
        nest.assert_same_structure(sparse, 1, expand_composites=True)


class _Spec:
    """A type spec as far as nest is concerned."""

    def __init__(self, parts, kind):
        self.parts, self.kind = parts, kind

    value_type = property(lambda self: _Pair)
    _component_specs = property(lambda self: self.parts)

    def _to_components(self, value):
        return value.parts

    def _from_components(self, parts):
        return _Pair(parts, self.kind)

    def most_specific_compatible_type(self, other):
        if self.kind != other.kind:
            raise ValueError(f"{self.kind} is not {other.kind}")


class _Pair:
    def __init__(self, parts, kind="a"):
        self.parts, self.kind = parts, kind

    @property
    def _type_spec(self):
        return _Spec(nest.map_structure(type, self.parts), self.kind)


def test_composites_by_their_spec():
    pair = _Pair([1, {"x": 2}])
    assert nest.flatten([pair, 3]) == [pair, 3]
    assert nest.flatten([pair, 3], expand_composites=True) == [1, 2, 3]
    packed = nest.map_structure(lambda x: x * 10, pair, expand_composites=True)
    assert isinstance(packed, _Pair) and packed.parts == [10, {"x": 20}]
    assert nest.flatten(pair._type_spec, expand_composites=True) == [int, int]
    paths = [p for p, _ in nest.flatten_with_tuple_paths(pair, expand_composites=True)]
    assert paths == [("_Pair", 0), ("_Pair", 1, "x")]


def test_composites_must_be_compatible():
    a, other = _Pair([1]), _Pair([1], "b")
    nest.assert_same_structure(a, other)
    nest.assert_same_structure(a, a._type_spec, expand_composites=True)
    with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs"):
        nest.assert_same_structure(a, other, expand_composites=True)
    with pytest.raises(TypeError, match="same sequence type"):
        nest.assert_shallow_structure(a, [1], expand_composites=True)
