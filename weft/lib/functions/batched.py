"""Functions whose concurrent calls become one (see weft/ops/queues/batching.py)."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

from weft.graph.conversion_status import control_status_ctx
from weft.graph.convert import convert_to_tensor
from weft.graph.function import LibraryFunction, add_function
from weft.graph.function_def import function_def
from weft.graph.graph import get_default_graph, name_scope
from weft.graph.op_def import FuncRef
from weft.graph.tensor import Tensor
from weft.lib.autograph.api import tf_convert
from weft.ops.functions.func_graph import FuncGraph, func_graph_from_py_func, share_functions
from weft.ops.queues.batching import batch_function_

_serial = itertools.count(1)


def nondifferentiable_batch_function(
    num_batch_threads: int, max_batch_size: int, batch_timeout_micros: int,
    allowed_batch_sizes: Any = None, max_enqueued_batches: int = 10, autograph: bool = True,
) -> Any:  # fmt: skip
    """Decorator: concurrent calls become one call, of the rows of all of them.

    The function must give as many rows as it is given. `allowed_batch_sizes`: rows are repeated
    until there are as many as one of these, the last of which is `max_batch_size`.
    """
    attrs: dict[str, Any] = dict(
        num_batch_threads=num_batch_threads, max_batch_size=max_batch_size,
        batch_timeout_micros=batch_timeout_micros, max_enqueued_batches=max_enqueued_batches,
        allowed_batch_sizes=list(allowed_batch_sizes or []),
    )  # fmt: skip

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def decorated(*args: Any) -> list[Tensor]:
            tensors = [convert_to_tensor(arg) for arg in args]
            with name_scope("batch") as name:
                graph = _library_function(
                    tf_convert(fn, control_status_ctx()) if autograph else fn, tensors
                )
                found: list[Tensor] = batch_function_(
                    tensors, graph.extra_inputs, f=FuncRef(graph.name), shared_name=name,
                    Tout=[out.dtype for out in graph.outputs], **attrs,
                )  # fmt: skip
                return found

        return decorated

    return decorator


def _library_function(fn: Callable[..., Any], like: list[Tensor]) -> FuncGraph:
    """Adds a function to the library, which takes batches of tensors like these."""
    outer, name = get_default_graph(), f"batch_function_{next(_serial)}"
    shapes = [None if t.dims is None else [None, *t.dims[1:]] for t in like]
    graph = func_graph_from_py_func(
        fn, [f"arg{i}" for i in range(len(like))], [t.dtype for t in like], name,
        arg_shapes=shapes, capture_resource_var_by_value=False,
    )  # fmt: skip
    message = function_def(name, name, graph.get_operations(), graph.inputs, graph.outputs)
    share_functions(outer, graph)
    add_function(outer, LibraryFunction(message, built=graph.body()))
    graph.name = name
    return graph
