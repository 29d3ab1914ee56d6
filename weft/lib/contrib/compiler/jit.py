"""tf.contrib.compiler.jit: marks for operations that XLA is to compile together."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from tensorboard.compat.proto.attr_value_pb2 import AttrValue

from weft.graph.graph import get_default_graph
from weft.ops.kit.eager import executing_eagerly

_scopes = itertools.count()


@contextlib.contextmanager
def experimental_jit_scope(
    compile_ops: bool | Callable[[Any], bool] = True, separate_compiled_gradients: bool = False
) -> Iterator[None]:
    """Marks the operations made inside as TensorFlow does.

    The marks travel with the graph. They change nothing here: a step is compiled whole anyway.
    """
    if executing_eagerly():
        raise RuntimeError(
            "xla.experimental_jit_scope is not supported when eager execution is enabled. Try use"
            " it inside tf.function."
        )
    marks = {
        "_XlaCompile": AttrValue(b=compile_ops if isinstance(compile_ops, bool) else True),
        "_XlaSeparateCompiledGradients": AttrValue(b=bool(separate_compiled_gradients)),
        "_XlaScope": AttrValue(s=f"jit_scope_{next(_scopes)}".encode()),
    }
    with get_default_graph()._attr_scope(marks):
        yield
