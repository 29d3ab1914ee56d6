"""Element types of tensors: one `DType` object per TensorFlow data type, and `as_dtype`.

Enum numbers and names are TensorFlow's, so they can be written to protocol buffers as they are.
A *reference* type (what a ref variable's output has) is its base type's number plus 100.
Every `DType` is a singleton: comparing with `is` is always right between two of them.
"""

from __future__ import annotations

import builtins
from typing import Any

import ml_dtypes
import numpy as np

_REF_OFFSET = 100


def _quantized(name: str, storage: type[np.generic]) -> np.dtype[Any]:
    # TensorFlow marks quantized arrays in NumPy by a one-field structure named after the type.
    return np.dtype([(name, storage)])


# enum number, name, what users see as `as_numpy_dtype`, what weft holds values in
_TYPES: tuple[tuple[int, str, Any, Any], ...] = (
    (1, "float32", np.float32, np.float32),
    (2, "float64", np.float64, np.float64),
    (3, "int32", np.int32, np.int32),
    (4, "uint8", np.uint8, np.uint8),
    (5, "int16", np.int16, np.int16),
    (6, "int8", np.int8, np.int8),
    (7, "string", object, np.object_),
    (8, "complex64", np.complex64, np.complex64),
    (9, "int64", np.int64, np.int64),
    (10, "bool", np.bool_, np.bool_),
    (11, "qint8", _quantized("qint8", np.int8), np.int8),
    (12, "quint8", _quantized("quint8", np.uint8), np.uint8),
    (13, "qint32", _quantized("qint32", np.int32), np.int32),
    (14, "bfloat16", ml_dtypes.bfloat16, ml_dtypes.bfloat16),
    (15, "qint16", _quantized("qint16", np.int16), np.int16),
    (16, "quint16", _quantized("quint16", np.uint16), np.uint16),
    (17, "uint16", np.uint16, np.uint16),
    (18, "complex128", np.complex128, np.complex128),
    (19, "float16", np.float16, np.float16),
    (20, "resource", object, np.object_),
    (21, "variant", object, np.object_),
    (22, "uint32", np.uint32, np.uint32),
    (23, "uint64", np.uint64, np.uint64),
)

_FLOATING = frozenset({"float16", "float32", "float64", "bfloat16"})
_INTEGER = frozenset(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
_COMPLEX = frozenset({"complex64", "complex128"})
_QUANTIZED = frozenset({"qint8", "quint8", "qint16", "quint16", "qint32"})
_OPAQUE = frozenset({"resource", "variant"})  # handles: no NumPy array can be fed for them

_BY_ENUM: dict[int, DType] = {}


class DType:
    """The type of a tensor's elements, such as `tf.float32` or `tf.string`.

    Attributes:
        name: canonical name, `"float32"`, or `"float32_ref"` for the reference type.
        as_datatype_enum: the number protocol buffers use for it.
        as_numpy_dtype: the NumPy type users see; a structured dtype for quantized types.
        np_storage: the NumPy dtype weft holds values in.
        base_dtype: the type without "reference"; `self` for most.
        real_dtype: the type of the real part; `self` unless complex.

    The types are float16, bfloat16, float32 and float64 (also called half and double); int8, int16,
    int32, int64 and their unsigned forms uint8, uint16, uint32, uint64; bool; string; complex64 and
    complex128; qint8, quint8, qint16, quint16 and qint32; resource and variant.

    Example:
        >>> tf.float32.as_numpy_dtype, tf.float32.size, tf.int8.max
        (<class 'numpy.float32'>, 4, 127)
    """

    __slots__ = (
        "_as_ref",
        "_is_ref_dtype",
        "as_datatype_enum",
        "as_numpy_dtype",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numpy_compatible",
        "is_quantized",
        "name",
        "np_storage",
        "real_dtype",
        "size",
    )

    _as_ref: DType
    _is_ref_dtype: builtins.bool
    as_datatype_enum: int
    as_numpy_dtype: Any
    base_dtype: DType
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_numpy_compatible: builtins.bool
    is_quantized: builtins.bool
    name: str
    np_storage: np.dtype[Any]
    real_dtype: DType
    size: int

    def __new__(cls, type_enum: int) -> DType:
        number = int(type_enum)
        try:
            return _BY_ENUM[number]
        except KeyError:
            raise TypeError(f"type_enum is not a valid types_pb2.DataType: {number}") from None

    @property
    def _type_enum(self) -> int:
        return self.as_datatype_enum

    @property
    def is_unsigned(self) -> builtins.bool:
        """Whether this is an unsigned, non-quantized integer type."""
        return self.is_integer and self.base_dtype.name.startswith("u")

    @property
    def min(self) -> Any:
        """The smallest finite value; TypeError for types that are not ordered numbers."""
        return self._limit("minimum", "min")

    @property
    def max(self) -> Any:
        """The largest finite value; TypeError for types that are not ordered numbers."""
        return self._limit("maximum", "max")

    def _limit(self, what: str, attribute: str) -> Any:
        if self.is_floating:
            finfo: Any = ml_dtypes.finfo  # NumPy's own does not know bfloat16
            return getattr(finfo(self.np_storage), attribute)
        if self.is_integer:
            return getattr(np.iinfo(self.np_storage), attribute)
        raise TypeError(f"Cannot find {what} value of {self}.")

    @property
    def limits(self) -> tuple[Any, Any]:
        """(0, largest intensity) when values of this type are taken as image pixels."""
        if self.base_dtype in (float32, float64):
            return 0, 1
        if self.is_bool:
            return 0, True
        if self.is_integer:
            return 0, int(self.max)
        raise KeyError(self.as_numpy_dtype)

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a tensor of type `other` can be used where this type is wanted."""
        other = as_dtype(other)
        return self is other or self is other.base_dtype

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or isinstance(other, DType):
            return False
        try:
            return as_dtype(other) is self and other not in _LENIENT
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self.as_datatype_enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    def __copy__(self) -> DType:
        return self

    def __deepcopy__(self, memo: Any) -> DType:
        return self


def _intern(number: int, name: str, as_numpy: Any, storage: Any) -> DType:
    """Makes and registers the value type and its reference type."""
    value, ref = object.__new__(DType), object.__new__(DType)
    for dtype in (value, ref):
        dtype._is_ref_dtype = dtype is ref
        dtype.name = name + "_ref" if dtype is ref else name
        dtype.as_datatype_enum = number + _REF_OFFSET if dtype is ref else number
        dtype.base_dtype, dtype._as_ref, dtype.real_dtype = value, ref, dtype
        dtype.as_numpy_dtype, dtype.np_storage = as_numpy, np.dtype(storage)
        dtype.is_bool, dtype.is_complex = name == "bool", name in _COMPLEX
        dtype.is_floating, dtype.is_integer = name in _FLOATING, name in _INTEGER
        dtype.is_quantized = name in _QUANTIZED
        dtype.is_numpy_compatible = name not in _OPAQUE
        dtype.size = 1 if name in _OPAQUE else dtype.np_storage.itemsize
        _BY_ENUM[dtype.as_datatype_enum] = dtype
    return value


for _row in _TYPES:
    _intern(*_row)

float32 = _BY_ENUM[1]
float64 = double = _BY_ENUM[2]
int32 = _BY_ENUM[3]
uint8 = _BY_ENUM[4]
int16 = _BY_ENUM[5]
int8 = _BY_ENUM[6]
string = _BY_ENUM[7]
complex64 = _BY_ENUM[8]
int64 = _BY_ENUM[9]
bool = _BY_ENUM[10]
qint8 = _BY_ENUM[11]
quint8 = _BY_ENUM[12]
qint32 = _BY_ENUM[13]
bfloat16 = _BY_ENUM[14]
qint16 = _BY_ENUM[15]
quint16 = _BY_ENUM[16]
uint16 = _BY_ENUM[17]
complex128 = _BY_ENUM[18]
float16 = half = _BY_ENUM[19]
resource = _BY_ENUM[20]
variant = _BY_ENUM[21]
uint32 = _BY_ENUM[22]
uint64 = _BY_ENUM[23]

float32_ref = float32._as_ref
float64_ref = double_ref = float64._as_ref
int32_ref = int32._as_ref
uint8_ref = uint8._as_ref
int16_ref = int16._as_ref
int8_ref = int8._as_ref
string_ref = string._as_ref
complex64_ref = complex64._as_ref
int64_ref = int64._as_ref
bool_ref = bool._as_ref
qint8_ref = qint8._as_ref
quint8_ref = quint8._as_ref
qint32_ref = qint32._as_ref
bfloat16_ref = bfloat16._as_ref
qint16_ref = qint16._as_ref
quint16_ref = quint16._as_ref
uint16_ref = uint16._as_ref
complex128_ref = complex128._as_ref
float16_ref = half_ref = float16._as_ref
resource_ref = resource._as_ref
variant_ref = variant._as_ref
uint32_ref = uint32._as_ref
uint64_ref = uint64._as_ref

for _complex, _real in ((complex64, float32), (complex128, float64)):
    _complex.real_dtype = _complex._as_ref.real_dtype = _real

QUANTIZED_DTYPES = frozenset(d for d in _BY_ENUM.values() if d.is_quantized)
ALL_DTYPES = tuple(d for d in _BY_ENUM.values() if not d._is_ref_dtype)

# Everything `as_dtype` accepts apart from `np.dtype` instances: enum numbers, names, NumPy scalar
# types and a few Python types.
_FROM: dict[Any, DType] = dict(_BY_ENUM)
_FROM.update((d.name, d) for d in _BY_ENUM.values())
_FROM.update({"half": half, "half_ref": half_ref, "float": float32, "float_ref": float32_ref})
_FROM.update({"double": float64, "double_ref": float64_ref})
_FROM.update((d.as_numpy_dtype, d) for d in ALL_DTYPES if d.is_numpy_compatible and d is not string)
_FROM.update({np.object_: string, np.bytes_: string, np.str_: string})
_FROM.update({builtins.float: float32, builtins.bool: bool, object: string})
# Types that TensorFlow does not take, and that therefore equal none of these.
_LENIENT: dict[Any, DType] = {int: int32, complex: complex128, str: string, bytes: string}
_FROM.update(_LENIENT)
# On some platforms `long` and `long long` are distinct scalar types of one width.
for _alias in (np.intc, np.uintc, np.int_, np.uint, np.longlong, np.ulonglong):
    _FROM.setdefault(_alias, _FROM[np.dtype(np.dtype(_alias).str).type])


def as_dtype(type_value: Any) -> DType:
    """The `DType` meant by a `DType`, enum number, name, Python type, or NumPy type or dtype."""
    if isinstance(type_value, DType):
        return type_value
    try:
        if isinstance(type_value, np.dtype) and type_value.names is None:
            return _FROM[type_value.type]
        return _FROM[type_value]
    except (KeyError, TypeError):
        raise TypeError(f"Cannot convert value {type_value!r} to a TensorFlow DType.") from None
