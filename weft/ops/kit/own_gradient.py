"""Results whose gradient is a function of Python's, not that of the nodes they come from."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from weft.graph.op_def import raw
from weft.graph.stacks import get_default_graph
from weft.graph.tensor import Tensor

_numbers = itertools.count()


def with_gradient(
    outputs: Sequence[Tensor], inputs: Sequence[Any], differentiate: Callable[..., list[Any]]
) -> list[Tensor]:
    """`outputs` passed on by a node that is differentiated by `differentiate(op, *grads)`.

    It gives a gradient for each of the outputs, None, and then for each of the inputs.
    """
    for output in outputs:
        raw.Identity(output)  # nodes of TensorFlow's that nothing reads
    kind = f"CustomGradient-{next(_numbers)}"
    with get_default_graph().gradient_override_map({"IdentityN": kind}):
        passed = raw.IdentityN([*outputs, *inputs])
    # On the node, not in the table of gradients, which would keep the graph alive for ever.
    passed[0].op._gradient_function = differentiate
    found: list[Tensor] = passed[: len(outputs)]
    return found
