"""Variables of converted functions: undefined ones, and which values can be tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from weft.core import dtypes, nest
from weft.graph.constant import to_array
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.ops.kit.eager import EagerTensor
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.state.variables import Variable


class Undefined:
    """Stands for the value of a variable that has none."""

    def __init__(self, name: str) -> None:
        self.symbol_name = name

    def read(self) -> NoReturn:
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self) -> str:
        return f"<undefined {self.symbol_name}>"


def _refuse(self: Undefined, *args: Any) -> NoReturn:
    self.read()


for (
    _method
) in "add radd iadd sub isub mul imul truediv itruediv bool call getitem iter len".split():
    setattr(Undefined, f"__{_method}__", _refuse)


class NothingReturned(Undefined):
    """Stands for the result of a function that has not returned."""

    def __init__(self) -> None:
        super().__init__("return value")


NOTHING_RETURNED = NothingReturned()


def ld(value: Any) -> Any:
    """The value of a variable, which must be defined."""
    missing = isinstance(value, Undefined) and value is not NOTHING_RETURNED
    return value.read() if missing else value


def returned(value: Any, has_returned: Any) -> Any:
    """The return value of a function that ends with this result."""
    if isinstance(value, NothingReturned):
        return None
    if is_symbolic(has_returned) and any(map(is_traceable, leaves(value))):
        raise ValueError(
            "A value must also be returned from the FALSE branch. If a value is returned from one"
            " branch of a conditional a value must be returned from all branches."
        )
    return value


def variable(get: Callable[[], Any], name: str) -> Any:
    """A variable of the module or of a function around, which may not be there yet."""
    try:
        return get()
    except NameError:
        return Undefined(name)


Place = tuple[Any, str | None, Any]
"""An object, and the attribute of it that is meant or else the key."""


def part(place: Callable[[], Place], name: str) -> Any:
    """An attribute or item that may not be there yet."""
    try:
        owner, attribute, key = place()
        if attribute is not None:
            return getattr(owner, attribute)
        absent = isinstance(owner, Mapping) and key not in owner
        return Undefined(name) if absent else owner[key]
    except (AttributeError, LookupError, UnboundLocalError, NameError):
        return Undefined(name)


def set_part(place: Place, value: Any) -> None:
    """Puts a value back; if there was none, takes away what has come since."""
    owner, attribute, key = place
    if isinstance(value, Undefined):
        with suppress(AttributeError, LookupError):
            if attribute is not None:
                delattr(owner, attribute)
            else:
                del owner[key]
    elif attribute is not None:
        setattr(owner, attribute, value)
    else:
        owner[key] = value


# ---- tensors ------------------------------------------------------------------------------------


def is_symbolic(value: Any) -> bool:
    """Whether a value is known only when a step runs."""
    if isinstance(value, Tensor):
        return not isinstance(value, EagerTensor)
    return isinstance(value, Variable) and not hasattr(value, "_eager_value")


def is_traceable(leaf: Any) -> bool:
    """Whether a leaf of a structure can pass out of a branch or around a loop as a tensor."""
    return isinstance(
        leaf,
        (Tensor, Variable, TensorArray, bool, int, float, complex, str, bytes, np.ndarray,
         np.generic),
    )  # fmt: skip


def leaves(value: Any) -> list[Any]:
    return nest.flatten(value, expand_composites=True)


def as_tensor(leaf: Any) -> Any:
    """A leaf as what loops and conditionals take: a tensor, or a TensorArray."""
    return leaf if isinstance(leaf, TensorArray) else convert_to_tensor(leaf)


def dtype_of(leaf: Any) -> Any:
    if isinstance(leaf, TensorArray):
        return leaf.dtype
    if isinstance(leaf, (Tensor, Variable)):
        return leaf.dtype.base_dtype
    return dtypes.string if isinstance(leaf, (str, bytes)) else _of_array(to_array(leaf))


def _of_array(array: np.ndarray) -> Any:
    return dtypes.string if array.dtype == object else dtypes.as_dtype(array.dtype)


def is_same(a: Any, b: Any) -> bool:
    """Whether two values are one: the same object, or equal numbers or strings of Python."""
    if a is b:
        return True
    plain = (bool, int, float, str, bytes)
    return type(a) is type(b) and isinstance(a, plain) and a == b


def can_be_one(a: Any, b: Any) -> bool:
    """Whether two leaves can be the same variable: both as tensors, or as one object."""
    return is_traceable(a) == is_traceable(b) and (is_traceable(a) or is_same(a, b))


def check_structure(name: str, a: Any, b: Any, where: str) -> None:
    """TypeError unless the two values of a variable have the same structure."""
    try:
        nest.assert_same_structure(a, b, expand_composites=True)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f'"{name}" does not have the same nested structure {where}.\n\n{error}'
        ) from None
