"""tf.contrib.compiler.xla: a computation as one that XLA compiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.graph.convert import convert_to_tensor
from weft.graph.graph import control_dependencies
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.contrib.compiler.jit import experimental_jit_scope
from weft.ops.array.placeholders import identity


def compile(computation: Callable[..., Any], inputs: Any = None) -> Any:
    """The results of `computation(*inputs)`; operations among them are waited for.

    A list is returned for several values, the tensor for one, and an operation for none.
    """
    given = [convert_to_tensor(each) for each in inputs or ()]
    with experimental_jit_scope():
        found = computation(*given)
        flat = list(found) if isinstance(found, (list, tuple)) else [found]
        flat = [each for each in flat if each is not None]
        done = [each for each in flat if isinstance(each, Operation)]
        values = [each for each in flat if not isinstance(each, Operation)]
        with control_dependencies(done):
            kept: list[Tensor] = [identity(convert_to_tensor(each)) for each in values]
            if not kept:
                from weft.ops.control.control import no_op

                return no_op(name="output")
    return kept if isinstance(found, (list, tuple)) else kept[0]
