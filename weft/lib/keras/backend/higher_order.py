"""Functions of functions, gradients, and printing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from weft.autodiff import gradients as autodiff
from weft.graph.graph import control_dependencies
from weft.graph.tensor_util import is_tensor
from weft.ops.array import array
from weft.ops.control import printing
from weft.ops.functions import functional


def gradients(loss: Any, variables: Any) -> list[Any]:
    """The gradients of `loss` by each of `variables`."""
    return autodiff.gradients(loss, variables, colocate_gradients_with_ops=True)


def stop_gradient(variables: Any) -> Any:
    """The same values, as constants to differentiation."""
    if isinstance(variables, (list, tuple)):
        return map(array.stop_gradient, variables)
    return array.stop_gradient(variables)


def map_fn(fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """`fn` of each element along the first axis."""
    from weft.lib.ragged import map_rows

    return map_rows.map_fn(fn, elems, name=name, dtype=dtype)


def foldl(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """`fn` of what came before and each element, from the first to the last."""
    return functional.foldl(fn, elems, initializer=initializer, name=name)


def foldr(
    fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None
) -> Any:
    """`fn` of what came before and each element, from the last to the first."""
    return functional.foldr(fn, elems, initializer=initializer, name=name)


def print_tensor(x: Any, message: str = "") -> Any:
    """`x`, which is printed whenever it is computed."""
    printed = printing.print_v2(message, x, output_stream=sys.stdout)
    if not is_tensor(x):
        return x
    with control_dependencies([printed]):
        return array.identity(x)
