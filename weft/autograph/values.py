"""Variables of converted functions: undefined ones, and which values can be tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from weft.core import dtypes, nest
from weft.graph.constant import to_array
from weft.graph.convert import convert_to_tensor
from weft.graph.tensor import Tensor
from weft.ops.eager import EagerTensor
from weft.ops.tensor_array import TensorArray
from weft.ops.variables import Variable


class Undefined:
    """Stands for the value of a variable that has none."""

    def __init__(self, name: str) -> None:
        self.symbol_name = name

    def read(self) -> NoReturn:
        raise UnboundLocalError(
            f"'{self.symbol_name}' is used undefined: it may be assigned in a branch or loop that"
            " did not run, or nowhere."
        )

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
    """What a function that ends with this result returns."""
    if isinstance(value, NothingReturned):
        return None
    if is_symbolic(has_returned) and any(map(is_traceable, leaves(value))):
        raise ValueError(
            "A value must also be returned from the FALSE branch. If a value is returned from one"
            " branch of a conditional a value must be returned from all branches."
        )
    return value


def attribute(get: Callable[[], Any], name: str) -> Any:
    """An attribute that may not be there yet."""
    try:
        return get()
    except (AttributeError, UnboundLocalError, NameError):
        return Undefined(name)


def set_attribute(owner: Any, name: str, value: Any) -> None:
    if not isinstance(value, Undefined):
        setattr(owner, name, value)


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
