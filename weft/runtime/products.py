"""Sums of matrix products over the iterations of a loop, as one product after it.

The gradient of a matrix that a loop multiplies by is such a sum: each iteration adds x^T g to it.
Small factors, kept, and one large product at the end take a fraction of the time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.kernel_call import bind
from weft.passes.client_graph import ClientGraph, Edge, Node

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
        return kept_a.at[count].set(a), kept_b.at[count].set(b), count + np.int32(1)

    def is_worth_it(self) -> bool:
        """Whether factors are smaller than products, and few enough to be kept."""
        (k, m), (_, n) = self.shapes
        size = k * (m + n)
        return size <= m * n and size * self.rows * self._dtype().itemsize <= _MOST

    def _dtype(self) -> np.dtype[Any]:
        return np.dtype(self.matmul.dtypes[0].np_storage)

    def nothing(self) -> Any:
        """What is kept before the first iteration."""
        import jax.numpy as jnp

        kept = [jnp.zeros((self.rows, *shape), self._dtype()) for shape in self.shapes]
        return *kept, jnp.asarray(0, np.int32)

    def total(self, start: Any, kept: Any) -> Any:
        """The loop variable after the loop. Rows that no iteration has written are zero."""
        import jax.numpy as jnp

        call = bind(self.matmul.definition, self.matmul.attrs, traced=True)
        flat = [v.reshape(math.prod(v.shape[:2]), v.shape[2]) for v in kept[:2]]
        return start + call(jnp, flat)[0]


def sums_of_products(node: Node, bound: int | None) -> list[Product]:
    """The variables of a loop to which each iteration does nothing but add a product."""
    if not bound:
        return []
    body: ClientGraph = node.attrs["body"]
    uses = _uses(body)
    in_condition = _uses(node.attrs["cond"])
    found = []
    for i in range(node.attrs["vars"]):
        own = body.feeds[i]
        matmul = _added_product(body.fetches[i], own, uses)
        if matmul is not None and uses[own] == 1 and not in_condition[node.attrs["cond"].feeds[i]]:
            found.append(Product(i, matmul, bound))
    return found


def _uses(graph: ClientGraph) -> Counter[Edge]:
    return Counter([*graph.fetches, *(edge for node in graph.nodes for edge in node.inputs)])


def _added_product(edge: Edge, own: Edge, uses: Counter[Edge]) -> Node | None:
    """The MatMul(a, b, transpose_a=True) that `edge` is the sum of, with `own`."""
    add = edge[0]
    if add.type not in ("Add", "AddV2") or own not in add.inputs or uses[edge] != 1:
        return None
    other = add.inputs[1 - add.inputs.index(own)]
    while other[0].type == "Identity" and uses[other] == 1:
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
    kept = _needed([n for n, _ in fetches] + body.targets)
    nodes = [n for n in body.nodes if n in kept or n.type == "_Arg"]
    return ClientGraph(nodes, body.feeds, fetches, body.targets)


def _needed(roots: list[Node]) -> set[Node]:
    needed: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in needed:
            needed.add(node)
            stack += [n for n, _ in node.inputs] + node.controls
    return needed
