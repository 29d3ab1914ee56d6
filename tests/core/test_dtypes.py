import copy
import pickle

import ml_dtypes
import numpy as np
import pytest

from weft.core import dtypes
from weft.core.dtypes import as_dtype

# The numbers TensorFlow writes into protocol buffers.
ENUM = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "string": 7,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "qint8": 11,
    "quint8": 12,
    "qint32": 13,
    "bfloat16": 14,
    "qint16": 15,
    "quint16": 16,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "resource": 20,
    "variant": 21,
    "uint32": 22,
    "uint64": 23,
}


@pytest.mark.parametrize(("name", "number"), ENUM.items())
def test_names_and_numbers(name, number):
    value, ref = getattr(dtypes, name), getattr(dtypes, name + "_ref")
    assert value.name == name and ref.name == name + "_ref"
    assert value.as_datatype_enum == number and ref.as_datatype_enum == number + 100
    for given in (name, number, value):
        assert as_dtype(given) is value
    for given in (name + "_ref", number + 100, ref):
        assert as_dtype(given) is ref
    assert dtypes.DType(number) is value and dtypes.DType(number + 100) is ref
    assert value._as_ref is ref and ref._as_ref is ref
    assert ref.base_dtype is value and value.base_dtype is value
    assert ref._is_ref_dtype and not value._is_ref_dtype


def test_proto_enum_agrees():
    types_pb2 = pytest.importorskip("tensorboard.compat.proto.types_pb2")
    names = {"float32": "float", "float64": "double", "float16": "half"}
    for name, number in ENUM.items():
        assert types_pb2.DataType.Value("DT_" + names.get(name, name).upper()) == number


def test_text_forms():
    assert repr(dtypes.float32) == "tf.float32"
    assert str(dtypes.float32) == "<dtype: 'float32'>"
    assert str(dtypes.float32_ref) == "<dtype: 'float32_ref'>"


@pytest.mark.parametrize("number", [0, 24, 99, 100, 200])
def test_unknown_number(number):
    with pytest.raises(TypeError, match=f"not a valid types_pb2.DataType: {number}"):
        dtypes.DType(number)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        ("double_ref", "float64_ref"),
        (float, "float32"),
        (int, "int32"),
        (bool, "bool"),
        (complex, "complex128"),
        (str, "string"),
        (bytes, "string"),
        (object, "string"),
        (np.int64, "int64"),
        (np.intc, "int32"),
        (np.longlong, "int64"),
        (np.ulonglong, "uint64"),
        (np.float16, "float16"),
        (np.str_, "string"),
        (np.object_, "string"),
        (np.dtype("S3"), "string"),
        (np.dtype("U3"), "string"),
        (np.dtype(">f4"), "float32"),
        (np.dtype(object), "string"),
        (np.dtype(ml_dtypes.bfloat16), "bfloat16"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.dtype([("qint8", np.int8)]), "qint8"),
        (np.dtype([("quint16", np.uint16)]), "quint16"),
    ],
)
def test_as_dtype(given, expected):
    assert as_dtype(given).name == expected


@pytest.mark.parametrize(
    "given", [None, "int", "<f4", [1], {}, np.dtype("M8[s]"), np.dtype([("f0", np.int8)]), -1]
)
def test_as_dtype_refuses(given):
    with pytest.raises(TypeError, match=r"Cannot convert value .* to a TensorFlow DType"):
        as_dtype(given)


def test_equality_and_hash():
    assert dtypes.float32 == "float32" and "float32" == dtypes.float32
    assert dtypes.float32 == np.float32 and dtypes.float32 == np.dtype(np.float32)
    assert dtypes.float32 != dtypes.float32_ref and dtypes.float32 != np.float64
    assert dtypes.float32 != None and not dtypes.float32 == None  # noqa: E711
    assert dtypes.float32 != "nonsense" and dtypes.float32 != [1, 2]
    assert {dtypes.float32: 1}[as_dtype("float")] == 1
    assert np.float32 in (dtypes.int32, dtypes.float32)


def test_copies_are_the_same_object():
    for dtype in (dtypes.bfloat16, dtypes.string_ref):
        assert pickle.loads(pickle.dumps(dtype)) is dtype
        assert copy.copy(dtype) is dtype and copy.deepcopy([dtype])[0] is dtype


def names(predicate):
    return {name for name in ENUM if getattr(getattr(dtypes, name), predicate)}


def test_classification():
    integers = {f"{u}int{b}" for u in ("", "u") for b in (8, 16, 32, 64)}
    assert names("is_integer") == integers
    assert names("is_unsigned") == {n for n in integers if n.startswith("u")}
    assert names("is_floating") == {"float16", "float32", "float64", "bfloat16"}
    assert names("is_complex") == {"complex64", "complex128"}
    assert names("is_quantized") == {"qint8", "quint8", "qint16", "quint16", "qint32"}
    assert names("is_bool") == {"bool"}
    assert set(ENUM) - names("is_numpy_compatible") == {"resource", "variant"}
    assert dtypes.int32_ref.is_integer and dtypes.float32_ref.is_floating
    assert {d.name for d in dtypes.QUANTIZED_DTYPES} == {
        n + suffix for n in names("is_quantized") for suffix in ("", "_ref")
    }


def test_real_dtype():
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128_ref.real_dtype is dtypes.float64
    assert dtypes.int32.real_dtype is dtypes.int32
    assert dtypes.float32_ref.real_dtype is dtypes.float32_ref


def test_numpy_types():
    assert dtypes.float32.as_numpy_dtype is np.float32
    assert dtypes.float32_ref.as_numpy_dtype is np.float32
    assert dtypes.bool.as_numpy_dtype is np.bool_
    assert dtypes.string.as_numpy_dtype is object
    assert dtypes.qint8.as_numpy_dtype == np.dtype([("qint8", np.int8)])
    assert dtypes.qint8.np_storage == np.int8 and dtypes.quint16.np_storage == np.uint16
    assert dtypes.resource.np_storage == np.dtype(object)
    assert dtypes.bfloat16.np_storage == np.dtype(ml_dtypes.bfloat16)
    for dtype in dtypes.ALL_DTYPES:
        if dtype.is_numpy_compatible:
            assert as_dtype(dtype.as_numpy_dtype) is dtype


def test_size():
    sizes = {d.name: d.size for d in dtypes.ALL_DTYPES}
    assert sizes["float64"] == 8 and sizes["complex128"] == 16 and sizes["bfloat16"] == 2
    assert sizes["qint32"] == 4 and sizes["bool"] == 1
    assert sizes["resource"] == sizes["variant"] == 1


def test_limits():
    assert dtypes.int8.min == -128 and dtypes.uint64.max == 2**64 - 1
    assert dtypes.float16.max == 65504 and dtypes.float32_ref.min == np.finfo(np.float32).min
    assert float(dtypes.bfloat16.max) == float.fromhex("0x1.FEp127")
    assert dtypes.float32.limits == (0, 1) and dtypes.uint8.limits == (0, 255)
    assert dtypes.bool.limits == (0, True)
    with pytest.raises(KeyError):
        _ = dtypes.float16.limits


@pytest.mark.parametrize("name", ["bool", "string", "complex64", "qint8", "resource", "variant"])
def test_no_min_or_max(name):
    dtype = getattr(dtypes, name)
    with pytest.raises(TypeError, match=f"Cannot find minimum value of <dtype: '{name}'>"):
        _ = dtype.min
    with pytest.raises(TypeError, match=f"Cannot find maximum value of <dtype: '{name}'>"):
        _ = dtype.max


def test_compatibility():
    assert dtypes.float32.is_compatible_with(dtypes.float32_ref)
    assert not dtypes.float32_ref.is_compatible_with(dtypes.float32)
    assert dtypes.float32_ref.is_compatible_with(dtypes.float32_ref)
    assert dtypes.float32.is_compatible_with(np.float32)
    assert not dtypes.float32.is_compatible_with("int32")


def test_types_of_python_that_tensorflow_does_not_know_equal_none() -> None:
    assert dtypes.float32 == float and dtypes.bool == bool  # noqa: E721
    for kind in (int, str, bytes, complex, 2.1):
        assert all(dtype != kind for dtype in dtypes.ALL_DTYPES)
    assert dtypes.as_dtype(int) is dtypes.int32
