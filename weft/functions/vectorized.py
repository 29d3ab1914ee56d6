"""tf.vectorized_map: a function applied to every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import name_scope
from weft.ops.functional import map_fn
from weft.ops.traced_graph import TracedGraph


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """`fn` of each row of `elems`, the results stacked, in the structure that `fn` returns.

    It is a loop whose turns are compiled as one program, not a batch of a changed function.
    """
    with name_scope("vectorized_map"):
        elems = nest.map_structure(convert_to_tensor, elems)

        def first() -> Any:
            return fn(nest.map_structure(lambda rows: rows[0], elems))

        # Called once aside, to see what it returns.
        result = TracedGraph("vectorized_map").trace(first)
        types = nest.map_structure(lambda x: convert_to_tensor(x).dtype.base_dtype, result)
        return map_fn(fn, elems, dtype=types)
