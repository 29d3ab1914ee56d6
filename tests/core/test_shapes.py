import operator
import pickle

import numpy as np
import pytest

from weft.core import dtypes, shapes
from weft.core.shapes import Dimension, TensorShape, dims_of

UNKNOWN = Dimension(None)


def test_dimension_values():
    assert Dimension(7).value == 7 and int(Dimension(7)) == 7 and UNKNOWN.value is None
    assert Dimension("12").value == 12 and Dimension(3.0).value == 3
    assert Dimension(Dimension(4)).value == 4 and Dimension(np.int64(5)).value == 5
    assert list(range(10))[Dimension(3)] == 3 and np.zeros(Dimension(2)).shape == (2,)
    assert repr(Dimension(7)) == "Dimension(7)" and repr(UNKNOWN) == "Dimension(None)"
    assert str(Dimension(7)) == "7" and str(UNKNOWN) == "?"
    assert pickle.loads(pickle.dumps(Dimension(5))).value == 5


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (-1, ValueError, "Dimension -1 must be >= 0"),
        (3.5, ValueError, "Ambiguous dimension: 3.5"),
        (dtypes.float32, TypeError, "Cannot convert <dtype: 'float32'> to Dimension"),
        ([1, 2], TypeError, "list"),
    ],
)
def test_not_a_dimension(value, error, message):
    with pytest.raises(error, match=message):
        Dimension(value)


def test_unknown_dimension_is_no_int():
    with pytest.raises(TypeError):
        int(UNKNOWN)
    with pytest.raises(TypeError):
        range(UNKNOWN)


@pytest.mark.parametrize(
    "operation", [operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod]
)
def test_dimension_arithmetic(operation):
    for left, right in ((Dimension(9), Dimension(4)), (9, Dimension(4)), (Dimension(9), 4)):
        result = operation(left, right)
        assert isinstance(result, Dimension) and result.value == operation(9, 4)
    for left, right in ((UNKNOWN, 4), (4, UNKNOWN), (Dimension(4), None), (UNKNOWN, UNKNOWN)):
        assert operation(left, right).value is None


def test_dimension_arithmetic_refuses():
    with pytest.raises(ValueError, match="must be >= 0"):
        Dimension(3) - 4
    with pytest.raises(TypeError, match=r"for /: 'Dimension' and 'int', please use // instead"):
        Dimension(6) / 2
    with pytest.raises(TypeError, match=r"for /: 'int' and 'Dimension', please use // instead"):
        6 / Dimension(2)
    with pytest.raises(TypeError):
        operator.add(Dimension(6), [])
    assert [4] * Dimension(3) == [4, 4, 4] == Dimension(3) * [4]


def test_dimension_comparisons():
    assert Dimension(12) == 12 and Dimension(12) == "12" and Dimension(12) == 12.0
    assert Dimension(12) != 13 and not Dimension(12) == 12.5 and Dimension(12) != "_"
    assert (Dimension(12) == (12,)) is False
    assert Dimension(3) < 4 and Dimension(3) <= 3 and Dimension(4) > 3 and Dimension(4) >= 4
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        assert compare(UNKNOWN, 3) is None
        assert compare(Dimension(3), None) is None
        assert compare(UNKNOWN, UNKNOWN) is None
    with pytest.raises(TypeError):
        _ = Dimension(3) < []
    assert {Dimension(3): "x"}[Dimension(3)] == "x"


def test_dimension_merge():
    assert Dimension(3).merge_with(None).value == 3 and UNKNOWN.merge_with(3).value == 3
    assert UNKNOWN.merge_with(UNKNOWN).value is None
    assert UNKNOWN.is_compatible_with(3) and Dimension(3).is_compatible_with(3)
    with pytest.raises(ValueError, match="Dimensions 3 and 4 are not compatible"):
        Dimension(3).merge_with(4)


def test_conversions():
    proto = TensorShape([None, 3]).as_proto()
    assert [d.size for d in proto.dim] == [-1, 3] and not proto.unknown_rank
    assert TensorShape(None).as_proto().unknown_rank
    for given, dims in [
        (None, None),
        ([], ()),
        (3, (3,)),
        (Dimension(3), (3,)),
        ([2, Dimension(None), None, "4"], (2, None, None, 4)),
        (np.array([2, 3]), (2, 3)),
        ((np.int32(2), True), (2, 1)),
        (TensorShape([None, 3]), (None, 3)),
        (proto, (None, 3)),
        (TensorShape(None).as_proto(), None),
        ((d for d in (1, 2)), (1, 2)),
    ]:
        assert dims_of(given) == dims
    assert all(type(d) is int for d in dims_of(np.array([2, 3])))
    with pytest.raises(TypeError, match="A string has ambiguous TensorShape"):
        TensorShape("347")
    with pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        TensorShape([2, -1])
    with pytest.raises(TypeError):
        TensorShape(dtypes.float32)
    shape = TensorShape([1])
    assert shapes.as_shape(shape) is shape and shapes.as_shape([1]) == shape


def test_known_shape():
    shape = TensorShape([3, 4, 7])
    assert shape.rank == shape.ndims == len(shape) == 3 and shape
    assert shape.as_list() == [3, 4, 7] and shape.num_elements() == 84
    assert all(isinstance(d, Dimension) for d in shape) and isinstance(shape[0], Dimension)
    assert [d.value for d in shape.dims] == [3, 4, 7]
    assert shape[-1] == 7 and shape[1:].as_list() == [4, 7] and shape[::2].as_list() == [3, 7]
    assert TensorShape([]).num_elements() == 1 and TensorShape([2, 0]).num_elements() == 0
    shape.assert_is_fully_defined()


def test_partly_known_shape():
    shape = TensorShape([3, None])
    assert not shape.is_fully_defined() and shape.num_elements() is None
    assert shape.as_list() == [3, None] and shape[1].value is None
    with pytest.raises(ValueError, match=r"Shape \(3, \?\) is not fully defined"):
        shape.assert_is_fully_defined()


def test_unknown_rank():
    shape = TensorShape(None)
    assert shape.rank is None and shape.dims is None and not shape
    assert not shape.is_fully_defined() and shape.num_elements() is None
    assert isinstance(shape[3], Dimension) and shape[3].value is None
    assert shape[2:].rank is None and shape[-2:5].rank is None and shape[1:4].rank == 3
    for use, message in [
        (len, "Cannot take the length of shape with unknown rank."),
        (list, "Cannot iterate over a shape with unknown rank."),
        (TensorShape.as_list, r"as_list\(\) is not defined on an unknown TensorShape."),
        (lambda s: s[1:4:2], "Steps are not yet handled"),
    ]:
        with pytest.raises(ValueError, match=message):
            use(shape)


def test_text_forms():
    assert str(TensorShape(None)) == "<unknown>" and str(TensorShape([])) == "()"
    assert str(TensorShape([7])) == "(7,)" and str(TensorShape([None])) == "(?,)"
    assert str(TensorShape([None, 3])) == "(?, 3)"
    assert repr(TensorShape([None, 3])) == "TensorShape([Dimension(None), Dimension(3)])"
    assert repr(TensorShape(None)) == "TensorShape(None)"


def test_equality():
    assert TensorShape([3, 4]) == TensorShape([3, 4]) == [3, 4] == TensorShape(("3", 4))
    assert TensorShape([3, 4]) != [3, 5] and TensorShape([3]) != TensorShape([3, 4])
    assert not TensorShape([3]) == "a string" and TensorShape([3]) != "a string"
    assert TensorShape(None) == TensorShape(None) and not TensorShape(None) == [3]
    assert hash(TensorShape([3])) == hash(TensorShape([3]))


def test_unknown_sizes_are_not_equal():
    shape = TensorShape([None, 3])
    assert shape == shape and not shape != shape
    assert not shape == TensorShape([None, 3]) and shape != TensorShape([None, 3])
    for left, right in ((TensorShape(None), [3]), (TensorShape([3]), TensorShape(None))):
        with pytest.raises(ValueError, match="inequality of unknown TensorShapes is undefined"):
            _ = left != right


def test_compatibility():
    assert TensorShape([None, 3]).is_compatible_with([2, 3])
    assert TensorShape(None).is_compatible_with([2]) and TensorShape([2]).is_compatible_with(None)
    assert not TensorShape([2, 3]).is_compatible_with([2, 4])
    assert not TensorShape([2]).is_compatible_with([2, 3])
    with pytest.raises(ValueError, match=r"Shapes \(2, \?\) and \(3, 3\) are incompatible"):
        TensorShape([2, None]).assert_is_compatible_with([3, 3])


def test_merge():
    assert TensorShape([None, 3]).merge_with([2, None]) == [2, 3]
    assert TensorShape(None).merge_with([2]) == [2] == TensorShape([2]).merge_with(None)
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(3,\) are not compatible"):
        TensorShape([2]).merge_with([3])
    with pytest.raises(ValueError, match=r"Shapes \(2,\) and \(2, 3\) are not compatible"):
        TensorShape([2]).merge_with([2, 3])


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([1, 2], None, None),
        ([2, 1], [5, 1], (None, 1)),
        ([1, None], [1, None], (1, None)),
        ([1, 2], [1], None),
        ([], [], ()),
    ],
)
def test_most_specific_compatible_shape(left, right, expected):
    assert dims_of(TensorShape(left).most_specific_compatible_shape(right)) == expected


def test_concatenate():
    assert TensorShape([1]).concatenate([2, 3]) == [1, 2, 3]
    for left, right in (
        (TensorShape([1]), (2,)),
        ([1], TensorShape([2])),
        (TensorShape([1]), Dimension(2)),
    ):
        assert operator.add(left, right) == [1, 2]
    for left, right in ((TensorShape([1]), None), (TensorShape(None), [1])):
        assert operator.add(left, right).rank is None


def test_ranks():
    shape = TensorShape([None, 3])
    assert shape.with_rank(2) is shape and dims_of(TensorShape(None).with_rank(2)) == (None, None)
    assert shape.with_rank_at_least(1) is shape and shape.with_rank_at_most(3) is shape
    shape.assert_has_rank(2)
    shape.assert_same_rank([1, 1])
    for check, message in [
        (lambda: shape.with_rank(3), r"Shape \(\?, 3\) must have rank 3"),
        (lambda: shape.assert_has_rank(1), r"Shape \(\?, 3\) must have rank 1"),
        (lambda: shape.with_rank_at_least(3), r"Shape \(\?, 3\) must have rank at least 3"),
        (lambda: shape.with_rank_at_most(1), r"Shape \(\?, 3\) must have rank at most 1"),
        (
            lambda: shape.assert_same_rank([1]),
            r"Shapes \(\?, 3\) and \(1,\) must have the same rank",
        ),
    ]:
        with pytest.raises(ValueError, match=message):
            check()


def test_makers():
    assert dims_of(shapes.unknown_shape()) is None
    assert dims_of(shapes.unknown_shape(2)) == dims_of(shapes.unknown_shape(ndims=2)) == (None,) * 2
    assert shapes.scalar() == [] and shapes.vector(3) == [3] and shapes.matrix(2, 3) == [2, 3]
    assert dims_of(TensorShape.from_dims((None, 2))) == (None, 2)
    assert shapes.dimension_value(Dimension(3)) == 3 and shapes.dimension_value(None) is None
    assert shapes.dimension_at_index(TensorShape([4, 5]), 1) == 5
    assert shapes.dimension_at_index(TensorShape(None), 1).value is None


def test_pickle():
    for dims in (None, (), (None, 3)):
        assert dims_of(pickle.loads(pickle.dumps(TensorShape(dims)))) == dims
