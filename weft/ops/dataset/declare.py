"""How dataset operations are declared: what they all have in common, said once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.kernel_call import flat_arg_names
from weft.graph.op_def import OpDef, op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, HOST_STATE
from weft.ops.kit.shared import invalid

STRUCTURE = "output_types: list(type) >= 1, output_shapes: list(shape) >= 1"
INPUT = "input_dataset: variant"
DETERMINISTIC = 'deterministic: string = "default"'  # of newer clients, for `sloppy`
# The types of operations whose datasets give elements without waiting, if their inputs do.
QUICK: set[str] = set()


_SCALARS = frozenset(
    "count buffer_size seed seed2 num_shards index batch_size drop_remainder size shift stride"
    " start stop step cycle_length block_length num_parallel_calls compression_type tag".split()
)


def _checked(c: ShapeContext) -> Dims:
    """A dataset is a scalar, and so are most of its parameters."""
    for i, name in enumerate(flat_arg_names(c.op.definition, c.op.attrs)):
        if name in _SCALARS:
            s.with_rank(c.dims(i), 0)
    return ()


def dataset_op(
    name: str, inputs: str, attrs: str = STRUCTURE, stateful: bool = False,
    experimental: bool = False, output: str = "handle", waits: bool = False,
) -> Callable[[Callable[..., Any]], OpDef]:  # fmt: skip
    """Declares an op whose kernel makes a dataset; `experimental`: under its old name too.

    `waits`: an element may take long, whatever the inputs do.
    """

    def declare(kernel: Callable[..., Any]) -> OpDef:
        common: dict[str, Any] = dict(
            inputs=inputs, outputs=f"{output}: variant", attrs=attrs, shape=_checked,
            traits=HOST_STATE if stateful else HOST,
        )  # fmt: skip
        if not waits and "func" not in attrs:
            QUICK.update({name, f"Experimental{name}"})
        if experimental:
            op(f"Experimental{name}", **common)(kernel)
        return op(name, **common)(kernel)

    return declare


def scalar(value: Any, name: str) -> int:
    """A scalar argument of a kernel."""
    if np.ndim(value):
        raise invalid(f"{name} must be a scalar")
    return int(value)


def output_shapes(c: ShapeContext) -> Any:
    return list(c.attr("output_shapes"))
