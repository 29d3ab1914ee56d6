"""Cells with linear layers or an embedding around them."""

from __future__ import annotations

import math as _math
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.graph.convert import constant
from weft.graph.graph import Tensor, device
from weft.lib.platform import tf_logging as logging
from weft.lib.rnn.cells import BIAS, KERNEL, CellAround, assert_like_rnncell
from weft.ops.array import join as array_join
from weft.ops.array import shape as array_shape
from weft.ops.math import matmul
from weft.ops.nn import activations as nn_impl
from weft.ops.nn import embedding
from weft.ops.state import variable_scope as vs
from weft.ops.state.initializers import constant_initializer, random_uniform_initializer


class Linear:
    """`concat(args) @ kernel + bias` with variables of the current scope."""

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:
        if args is None or (nest.is_nested(args) and not args):
            raise ValueError("`args` must be specified")
        args = args if nest.is_nested(args) else [args]
        depth = _total_depth(args)
        dtype = args[0].dtype
        with vs.variable_scope(vs.get_variable_scope()) as outer:
            self._weights = vs.get_variable(
                KERNEL, [depth, output_size], dtype=dtype, initializer=kernel_initializer
            )
            self._biases = None
            if build_bias:
                with vs.variable_scope(outer) as inner:
                    inner.set_partitioner(None)
                    if bias_initializer is None:
                        bias_initializer = constant_initializer(0.0, dtype=dtype)
                    self._biases = vs.get_variable(
                        BIAS, [output_size], dtype=dtype, initializer=bias_initializer
                    )

    def __call__(self, args: Any) -> Tensor:
        args = args if nest.is_nested(args) else [args]
        joined = args[0] if len(args) == 1 else array_join.concat(args, constant(1, dtypes.int32))
        result = matmul.matmul(joined, self._weights)
        return result if self._biases is None else nn_impl.bias_add(result, self._biases)


def linear(
    args: Any,
    output_size: int,
    bias: bool,
    bias_initializer: Any = None,
    kernel_initializer: Any = None,
) -> Tensor:
    """`Linear`, made and applied at once."""
    return Linear(args, output_size, bias, bias_initializer, kernel_initializer)(args)


def _total_depth(args: Any) -> int:
    shapes = [arg.shape for arg in args]
    total = 0
    for shape in shapes:
        if shape.ndims != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        depth = shape.as_list()[1]
        if depth is None:
            raise ValueError(
                f"linear expects shape[1] to be provided for shape {shape}, but saw {shape[1]}"
            )
        total += depth
    return total


class _CellInScope(CellAround):
    """A cell with another inside; variables of both are in its scope."""

    def __init__(self, cell: Any, reuse: Any) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        self._cell = cell

    @property
    def _cell_inside(self) -> Any:
        return self._cell


class _Projecting(_CellInScope):
    """A cell with a projection before or after it."""

    def __init__(self, cell: Any, activation: Callable[..., Any] | None, reuse: Any) -> None:
        super().__init__(cell, reuse)
        self._activation = activation
        self._linear: Linear | None = None

    def _projected(self, x: Any, size: int) -> Tensor:
        self._linear = self._linear or Linear(x, size, True)
        result = self._linear(x)
        return self._activation(result) if self._activation else result


class EmbeddingWrapper(_CellInScope):
    """Looks up integer inputs in a table before the cell gets them."""

    def __init__(
        self,
        cell: Any,
        embedding_classes: int,
        embedding_size: int,
        initializer: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, reuse)
        self._table_shape = [embedding_classes, embedding_size]
        if min(self._table_shape) <= 0:
            raise ValueError(
                "Both embedding_classes and embedding_size must be > 0: "
                f"{embedding_classes}, {embedding_size}."
            )
        self._initializer = initializer

    def call(self, inputs: Any, state: Any) -> Any:
        with device("/cpu:0"):
            initializer = self._initializer or vs.get_variable_scope().initializer
            if not initializer:
                # Uniform with variance 1.
                initializer = random_uniform_initializer(-_math.sqrt(3), _math.sqrt(3))
            table = vs.get_variable(
                "embedding",
                self._table_shape,
                initializer=initializer,
                dtype=(state[0] if isinstance(state, tuple) else state).dtype,
            )
            embedded = embedding.embedding_lookup(table, array_shape.reshape(inputs, [-1]))
            return self._cell(embedded, state)


class InputProjectionWrapper(_Projecting):
    """Projects the inputs to `num_proj` numbers before the cell gets them."""

    def __init__(
        self,
        cell: Any,
        num_proj: int,
        activation: Callable[..., Any] | None = None,
        input_size: Any = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, activation, reuse)
        if input_size is not None:
            logging.warn("%s: The input_size parameter is deprecated.", self)
        self._num_proj = num_proj

    def call(self, inputs: Any, state: Any) -> Any:
        return self._cell(self._projected(inputs, self._num_proj), state)


class OutputProjectionWrapper(_Projecting):
    """Projects the outputs of a cell to `output_size` numbers."""

    def __init__(
        self,
        cell: Any,
        output_size: int,
        activation: Callable[..., Any] | None = None,
        reuse: Any = None,
    ) -> None:
        super().__init__(cell, activation, reuse)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._output_size = output_size

    @property
    def output_size(self) -> int:
        return self._output_size

    def call(self, inputs: Any, state: Any) -> tuple[Tensor, Any]:
        output, new_state = self._cell(inputs, state)
        return self._projected(output, self._output_size), new_state
