"""Functions of NumPy that made arrays of objects of rows of unequal length."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.legacy.old import notices

JOINING = ("vstack", "hstack", "dstack", "column_stack", "stack", "concatenate")
FUNCTIONS = (
    *("any", "append", "argsort", "array_split", "copy", "delete", "expand_dims", "flip"),
    *("flipud", "full", "insert", "ndim", "nonzero", "ravel", "repeat", "roll", "savez"),
    *("savez_compressed", "shape", "size", "sort", "split", "squeeze", "swapaxes", "take", "tile"),
    *("transpose", "unique", "where", "zeros_like"),
)


def of_objects(function: Callable[..., Any], rows: Any, args: Any, options: Any) -> Any:
    """What `np.array`, or one like it, made of such rows."""
    try:
        return function(rows, np.object_, *args, **options)
    except ValueError:  # arrays that agree in their first sizes but not in the others
        found = np.empty(len(rows), object)
        found[:] = list(rows)
        return found


def of_rows(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """`function`, also of rows of unequal length."""

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except ValueError as error:
            if "inhomogeneous" not in str(error):
                raise
        notices.tell_of(name, "of rows of unequal length", "dtype=object")
        if function.__name__ in JOINING:
            args = ([_as_array(each) for each in args[0]], *args[1:])
        given = {key: _as_array(value) for key, value in options.items()}
        return function(*map(_as_array, args), **given)

    return call


def _as_array(value: Any) -> Any:
    """An array of objects of rows of unequal length; anything else as it is."""
    try:
        np.asarray(value)
    except ValueError:
        return of_objects(np.asarray, value, (), {})
    return value


globals().update({name: of_rows(getattr(np, name), f"numpy.{name}") for name in FUNCTIONS})
permutation = of_rows(np.random.permutation, "numpy.random.permutation")
choice = of_rows(np.random.choice, "numpy.random.choice")


def array_equal(a1: Any, a2: Any) -> bool:
    """`np.array_equal`, also of rows of unequal length."""
    return np.array_equal(_as_array(a1), _as_array(a2))
