"""Matrix products in loops: sums of them as one product after the loop, parts of them alone.

The gradient of a matrix that a loop multiplies by is such a sum: each iteration adds x^T g to it.
Small factors, kept, and one large product at the end take a fraction of the time. And where a cell
multiplies [input, state] by its matrix, often only the gradient of the state is wanted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.kernel_call import bind
from weft.ops.kit.row_updates import put_row
from weft.passes.client_graph import ClientGraph, Edge, Loop, Node, needed

# Bytes of factors that are kept for one sum.
_MOST = 1 << 26


class Product:
    """A loop variable that is a sum of products a^T b; `save` keeps the factors of an iteration."""

    def __init__(self, variable: int, matmul: Node, rows: int) -> None:
        self.variable, self.matmul, self.rows = variable, matmul, rows
        self.shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())

    def save(self, kept: Any, a: Any, b: Any) -> Any:
        self.shapes = a.shape, b.shape
        if kept is None:
            return None  # this only asks for shapes
        kept_a, kept_b, count = kept
        return put_row(kept_a, count, a), put_row(kept_b, count, b), count + np.int32(1)

    def is_worth_it(self) -> bool:
        """Whether factors are smaller than products, and few enough to be kept."""
        (k, m), (_, n) = self.shapes
        size = k * (m + n)
        return size <= m * n and size * self.rows * self._dtype().itemsize <= _MOST

    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(self.matmul.dtypes[0].np_storage)

    def nothing(self) -> Any:
        """The empty buffers before the first iteration."""
        import jax.numpy as jnp

        kept = [jnp.zeros((self.rows, *shape), self._dtype()) for shape in self.shapes]
        return *kept, jnp.asarray(0, np.int32)

    def total(self, start: Any, kept: Any) -> Any:
        """The loop variable after the loop. Rows that no iteration has written are zero."""
        import jax.numpy as jnp

        call = bind(self.matmul.definition, self.matmul.attrs, traced=True)
        flat = [v.reshape(math.prod(v.shape[:2]), v.shape[2]) for v in kept[:2]]
        return start + call(jnp, flat)[0]


def sums_of_products(loop: Loop, bound: int | None) -> list[Product]:
    """The variables of a loop to which each iteration does nothing but add a product."""
    if not bound:
        return []
    body = loop.body
    uses = _uses(body)
    in_condition = _uses(loop.condition)
    found = []
    for i in range(loop.variables):
        own = body.feeds[i]
        matmul = _added_product(body.fetches[i], own, uses)
        if matmul is not None and uses[own] == 1 and not in_condition[loop.condition.feeds[i]]:
            found.append(Product(i, matmul, bound))
    return found


def _uses(graph: ClientGraph) -> Counter[Edge]:
    return Counter([*graph.fetches, *(edge for node in graph.nodes for edge in node.inputs)])


def _added_product(edge: Edge, own: Edge, uses: Counter[Edge]) -> Node | None:
    """The MatMul(a, b, transpose_a=True) that `edge` is the sum of, with `own`."""
    add = edge[0]
    if add.definition.infix != "+" or own not in add.inputs or uses[edge] != 1:
        return None
    other = add.inputs[1 - add.inputs.index(own)]
    while other[0].definition.is_identity and uses[other] == 1:
        other = other[0].inputs[0]
    product = other[0]
    if product.type != "MatMul" or uses[other] != 1:
        return None
    fits = product.attrs["transpose_a"] and not product.attrs["transpose_b"]
    return product if fits and product.dtypes[0] in (dtypes.float32, dtypes.float64) else None


def factors_only(body: ClientGraph, products: Sequence[Product]) -> ClientGraph:
    """`body` with the first factor in place of each sum, the second ones at the end."""
    if not products:
        return body
    fetches = list(body.fetches)
    for product in products:
        fetches[product.variable] = product.matmul.inputs[0]
    fetches += [product.matmul.inputs[1] for product in products]
    kept = needed([n for n, _ in fetches] + body.targets)
    nodes = [n for n in body.nodes if n in kept or n.definition.is_argument]
    return ClientGraph(nodes, body.feeds, fetches, body.targets)


class Parts:
    """Remembers the factors of products, so that a slice of one multiplies only what it needs.

    XLA leaves out products that are not used as a whole.
    """

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Node, Sequence[Any]]] = {}

    def note(self, node: Node, inputs: Sequence[Any], product: Any) -> None:
        if node.type == "MatMul" and hasattr(product, "aval"):
            self._made[id(product)] = product, node, inputs

    def part(self, node: Node, inputs: Sequence[Any]) -> Any:
        """The output of a Slice of a product; None if it is anything else."""
        import jax.numpy as jnp

        if node.type != "Slice" or id(inputs[0]) not in self._made:
            return None
        whole, matmul, (a, b) = self._made[id(inputs[0])]
        bounds = _bounds(whole.shape, *inputs[1:])
        if bounds is None:
            return None
        rows, columns = bounds
        a = a[:, rows] if matmul.attrs["transpose_a"] else a[rows]
        b = b[columns] if matmul.attrs["transpose_b"] else b[:, columns]
        return bind(matmul.definition, matmul.attrs, traced=True)(jnp, [a, b])[0]


def _bounds(shape: tuple[int, ...], begin: Any, size: Any) -> list[slice] | None:
    """The slices that begin and size mean, where they are known and fit."""
    if not all(isinstance(v, np.ndarray) and v.shape == (2,) for v in (begin, size)):
        return None
    found = []
    for length, start, count in zip(shape, begin.tolist(), size.tolist(), strict=True):
        end = length if count == -1 else start + count
        if not 0 <= start <= end <= length:
            return None
        found.append(slice(start, end))
    return found
