"""Python and NumPy values as constants of the graph: `to_array`, the `Const` op, `constant`."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.bytes_memory import FEW, all_bytes
from weft.core.dtypes import DType
from weft.core.shapes import Dimension, TensorShape, dims_of
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor
from weft.graph.traits import CONSTANT, NO_GRADIENT


@op(
    "Const",
    outputs="output: dtype",
    attrs="value: tensor, dtype: type",
    shape=lambda c: c.attr("value").shape,
    traits=CONSTANT | NO_GRADIENT,
)
def const(xp: Any, *, value: np.ndarray) -> Any:
    return value


def _is_real(v: Any) -> bool:
    return isinstance(v, (numbers.Real, np.integer, np.floating, np.bool_))


def _is_integral(v: Any) -> bool:
    # `[-1, x.shape[1]]` is a usual way to write a shape.
    return isinstance(v, (numbers.Integral, np.integer, np.bool_, Dimension))


def _fits(value: Any, dtype: DType) -> bool:
    """Whether a Python scalar may become an element of `dtype` without losing its kind."""
    if dtype.is_floating:
        return _is_real(value)
    if dtype.is_integer:
        return _is_integral(value)
    if dtype.is_complex:
        return _is_real(value) or isinstance(value, (numbers.Complex, np.complexfloating))
    if dtype is dtypes.bool:
        return isinstance(value, (bool, np.bool_))
    if dtype is dtypes.string:
        return isinstance(value, (str, bytes))
    return not dtype.is_quantized  # whose elements are tuples, each of one integer


def _misfit(values: Any, dtype: DType) -> Any:
    """The first element that does not fit `dtype`, in a one-element tuple; None if all fit."""
    if dtype.is_quantized and isinstance(values, tuple):
        return _misfit(list(values), dtypes.int32)
    if isinstance(values, (list, tuple)):
        for value in values:
            if (found := _misfit(value, dtype)) is not None:
                return found
        return None
    if isinstance(values, np.ndarray):
        return None
    return None if _fits(values, dtype) else (values,)


_INT32 = 1 << 31
_KINDS = {"f": "fiub", "i": "iub", "u": "iub", "c": "cfiub", "b": "b"}


def _surely_fits(values: Any, dtype: DType) -> bool:
    """A quick yes for plain nested lists of numbers; no means "look closer"."""
    if not isinstance(values, (list, tuple)) or dtype.is_quantized:
        return False
    try:
        found = np.array(values)
    except (ValueError, OverflowError, NotImplementedError):  # the last of symbolic tensors
        return False
    kinds = _KINDS.get(np.dtype(dtype.np_storage).kind, "")
    # An integer array may hide booleans, which only the bool type itself refuses to mix with.
    return found.dtype.kind in kinds and found.size > 0


def _to_bytes(array: np.ndarray) -> np.ndarray:
    """An object array of bytes from any array of strings."""
    if array.dtype.kind == "S":
        # NumPy cuts trailing NULs from S arrays; nothing can bring them back here.
        return array.astype(object)
    if array.dtype == object and array.size > FEW:
        array = array.copy()  # first: another thread may change what it is a copy of
        if all_bytes(array):
            return array
    flat = array.ravel().tolist()
    try:
        flat = list(map(str.encode, flat))  # most often it is all text
    except TypeError:
        flat = [v if type(v) is bytes else _one_to_bytes(v) for v in flat]
    return np.fromiter(flat, object, len(flat)).reshape(array.shape)


def _one_to_bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise TypeError(f"Expected binary or unicode string, got {value!r}")


def to_array(values: Any, dtype: Any = None, strict: bool = True) -> np.ndarray:
    """`values` as the array TensorFlow would make of it.

    Python floats become float32 and ints int32 (int64 when they need it) unless `dtype` says
    otherwise; NumPy values keep their type. `strict` refuses elements of another kind.
    """
    wanted = dtypes.as_dtype(dtype).base_dtype if dtype is not None else None
    if isinstance(values, (np.ndarray, np.generic)):
        return _from_numpy(np.asarray(values), wanted)
    if not isinstance(values, (list, tuple, str, bytes, int, float, complex)) and hasattr(
        values, "__array__"
    ):
        return _from_numpy(np.asarray(values), wanted)
    if values is None:
        raise ValueError("None values not supported.")
    if wanted is not None and strict:
        misfit = None if _surely_fits(values, wanted) else _misfit(values, wanted)
        if misfit is not None:
            raise TypeError(
                f"Expected {wanted.name}, got {misfit[0]!r} of type"
                f" '{type(misfit[0]).__name__}' instead."
            )
    return _from_python(values, wanted)


def _from_numpy(array: np.ndarray, wanted: DType | None) -> np.ndarray:
    if array.dtype.kind in "SU" or (array.dtype.kind == "O" and wanted in (None, dtypes.string)):
        if wanted not in (None, dtypes.string):
            raise TypeError(f"Expected {wanted.name}, got strings instead.")
        return _to_bytes(array)
    if wanted is None:
        dtypes.as_dtype(array.dtype)  # raises for types TensorFlow does not have
        if array.dtype.names:  # a quantized structure
            return array
        return array
    if wanted is dtypes.string and array.size:
        raise TypeError(f"Expected string, got an array of {array.dtype} instead.")
    if array.dtype.names:
        array = array.view(wanted.np_storage)
    return array.astype(wanted.np_storage, copy=False)


def _from_python(values: Any, wanted: DType | None) -> np.ndarray:
    if wanted is None and type(values) is int and -_INT32 <= values < _INT32:
        return np.array(values, np.int32)
    try:
        if wanted is None or wanted is dtypes.string:
            array = _plain(values)
            if array.dtype.kind in "SUO" or (wanted is not None and not array.size):
                array = _strings(values)
        else:
            array = _of_type(values, wanted)
    except ValueError as error:
        got, wanted_shape = _common_shape(values), _first_shape(values)
        if wanted not in (None, dtypes.string):
            raise ValueError(str(error).split(" The requested")[0]) from None
        if got == wanted_shape:
            raise _inconvertible(values) from None
        raise ValueError(
            f"Argument must be a dense tensor: {values} - got shape {got}, but wanted"
            f" {wanted_shape}."
        ) from None
    if wanted is None:
        if array.dtype == np.float64:
            return array.astype(np.float32)
        if array.dtype == np.int64:
            small = array.astype(np.int32)
            return small if (small == array).all() else array
    elif wanted is dtypes.string and array.dtype != object:
        raise TypeError(f"Expected string, got {values!r} instead.")
    return array


def _first_shape(values: Any) -> list[int]:
    """The shape of nested lists, if all of them were as long as the first."""
    if not isinstance(values, list | tuple):
        return []
    return [len(values), *_first_shape(values[0])] if values else [0]


def _common_shape(values: Any) -> list[int]:
    """How far nested lists are of one length."""
    if not isinstance(values, list | tuple):
        return []
    parts = [_common_shape(value) for value in values]
    shape = [len(values)]
    for sizes in zip(*parts, strict=False):
        if len(set(sizes)) > 1:
            break
        shape.append(sizes[0])
    return shape


def _plain(values: Any) -> np.ndarray:
    try:
        return np.array(values)
    except UnicodeDecodeError:  # text beside bytes that are no ASCII text
        return np.array(values, dtype=object)
    except NotImplementedError:  # a symbolic tensor is no array
        raise TypeError("List of Tensors when single Tensor expected") from None


def _strings(values: Any) -> np.ndarray:
    try:
        return _to_bytes(np.array(values, dtype=object))
    except TypeError:
        raise _inconvertible(values) from None


def _inconvertible(values: Any) -> TypeError:
    return TypeError(
        f"Failed to convert object of type {type(values)} to Tensor. Contents: {values}."
        " Consider casting elements to a supported type."
    )


def _of_type(values: Any, wanted: DType) -> np.ndarray:
    if wanted.is_quantized:
        return np.array(values, dtype=wanted.as_numpy_dtype).view(wanted.np_storage)
    try:
        return np.array(values, dtype=wanted.np_storage)
    except OverflowError:
        # Integers that do not fit wrap around, as they always did.
        return np.array(values).astype(wanted.np_storage)


def sized_array(value: Any, dtype: Any, shape: Any) -> np.ndarray:
    """`value` as an array that is to have `shape`: where that is empty, no element is looked at."""
    if isinstance(value, Tensor):
        raise TypeError("List of Tensors when single Tensor expected")
    if shape is None or value is None or hasattr(value, "__array__") or s.size(dims_of(shape)):
        return to_array(value, dtype)
    kind = dtypes.as_dtype(dtype).base_dtype if dtype is not None else dtypes.float32
    return np.empty(_sizes(shape), dtype=kind.np_storage)


def check_has_values(dtype: Any, value: Any) -> None:
    """Raises the TypeError about a type, such as that of handles, that no value is of."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is not None and not wanted.is_numpy_compatible:
        found = np.array(value).dtype
        raise TypeError(f"Incompatible types: {wanted} vs. {found}. Value is {value}")


def shaped(array: np.ndarray, shape: Any) -> np.ndarray:
    """`array` in `shape`; with fewer elements, the last one is repeated. Not to be written to."""
    dims = _sizes(shape)
    wanted = int(np.prod(dims, dtype=np.int64))
    if array.size == wanted:
        return array.reshape(dims)
    if array.size > wanted:
        raise ValueError(
            f"Too many elements provided. Needed at most {wanted}, but received {array.size}"
        )
    if array.size <= 1:
        element = array if array.size else filler(array.dtype)
        return np.broadcast_to(element.reshape(()), dims)  # one element in memory, too
    flat = array.ravel()
    filled = np.empty(wanted, dtype=array.dtype)
    filled[: flat.size] = flat
    filled[flat.size :] = flat[-1]
    return filled.reshape(dims)


def check_shape(array: np.ndarray, shape: Any) -> None:
    """Raises the TypeError about an array of another shape."""
    if array.shape != _sizes(shape):
        raise TypeError(f"Expected Tensor's shape: {_sizes(shape)}, got {array.shape}.")


def _sizes(shape: Any) -> tuple[int, ...]:
    sizes: list[Any] = list(dims_of(shape) or ())
    return tuple(map(int, sizes))


def filler(storage: np.dtype) -> np.ndarray:
    """The element of a tensor without a value of its own: zero, or the empty string."""
    made = np.zeros((), storage)
    if storage.kind == "O":
        made[()] = b""
    return made


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A constant tensor. `shape` reshapes `value` or fills up with its last element.

    Args:
        value: a number, string, list or array.
        dtype: the type of the elements; None: what the value suggests (float32, int32, ...).
        shape: the shape of the result; None: that of the value.
        name: of the operation.
        verify_shape: whether a value of another shape than `shape` is an error.

    Returns:
        A tensor.

    Raises:
        TypeError: the value does not have the type, or is no constant.
        ValueError: it has too many elements for the shape.

    Example:
        >>> session.run(tf.constant(7, shape=[2, 2]))
        array([[7, 7],
               [7, 7]], dtype=int32)
    """
    check_has_values(dtype, value)
    return make_constant(value, dtype, shape, name, verify_shape)


def _read(message: Any) -> tuple[np.ndarray, Any, None]:
    """The value of a TensorProto and its type, which hold whatever else is asked for."""
    from weft.graph.tensor_proto import proto_to_array

    return proto_to_array(message), message.dtype, None


def make_constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str | None = "Const",
    verify_shape: bool = False,
) -> Tensor:
    if hasattr(value, "tensor_content"):
        value, dtype, shape = _read(value)
    array = sized_array(value, dtype, shape)
    if shape is not None:
        if verify_shape:
            check_shape(array, shape)
        array = shaped(array, shape)
    kind = dtypes.as_dtype(dtype).base_dtype if dtype is not None else dtypes.as_dtype(array.dtype)
    if array.dtype.names:
        array = array.view(kind.np_storage)
    elif array is value or array.base is value:
        array = array.copy()  # the caller may write to its own array later
    array.setflags(write=False)
    graph = get_default_graph()
    node = graph.add_op(const, (), [kind], {"value": array, "dtype": kind}, name or "Const")
    return node.outputs[0]


def _shape_constant(value: TensorShape, dtype: Any, name: str | None) -> Tensor:
    if not value.is_fully_defined():
        raise ValueError(f"Cannot convert a partially known TensorShape to a Tensor: {value}")
    items = value.as_list()
    large = next((d for d in items if d is not None and d >= 2**31), None)
    kind = dtypes.as_dtype(dtype or (dtypes.int32 if large is None else dtypes.int64))
    if kind not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"Cannot convert a TensorShape to dtype: {kind}")
    if kind == dtypes.int32 and large is not None:
        raise ValueError(
            f"Cannot convert a TensorShape to dtype int32; a dimension is too large ({large})"
        )
    array = np.array(items, dtype=kind.np_storage)
    return make_constant(array, name=name or "shape_as_tensor")
