"""tf.contrib.framework.py_func: a Python function of nested structures, by name and position."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.ops.functions import py_func as plain


def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Any = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Calls a Python function when the graph runs, with structures of arrays in and out.

    Args:
        func: takes `args` and `kwargs` with arrays in the place of their tensors.
        args, kwargs: structures of tensors.
        output_types: a structure of dtypes, or a function that makes one of the arguments.
        output_shapes: None, or a structure of shapes, or a function that makes one.
        stateful: whether two calls with the same arguments may differ.
        name: of the operation.

    Returns:
        Tensors, in the structure of `output_types`.

    Raises:
        TypeError: `args` is no list or tuple, or `kwargs` is no dict.
    """
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    types = output_types(*args, **kwargs) if callable(output_types) else output_types
    shapes = output_shapes(*args, **kwargs) if callable(output_shapes) else output_shapes
    given = (args, kwargs)

    def call(*flat: Any) -> list[Any]:
        positional, named = nest.pack_sequence_as(given, flat)
        result = func(*positional, **named)
        nest.assert_shallow_structure(types, result)
        return nest.flatten(result)

    values = plain.py_func(call, nest.flatten(given), nest.flatten(types), stateful, name)
    if shapes is not None:
        for value, shape in zip(values, nest.flatten_up_to(types, shapes), strict=True):
            value.set_shape(TensorShape(shape))
    return nest.pack_sequence_as(types, values)
