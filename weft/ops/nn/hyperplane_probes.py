"""Buckets of hashes by hyperplanes, in the order in which neighbours are to be sought there."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid

Probe = tuple[int, int]


def _shape(c: ShapeContext) -> list[Dims]:
    points, count = s.with_rank(c.dims(0), 2), c.value(3)
    found = (points[0] if points is not None else None, None if count is None else int(count))
    return [found, found]


def _probes(products: np.ndarray) -> Iterator[Probe]:
    """(bucket, table) for the products [tables, hyperplanes] of one point.

    First the bucket of the point in each table; then those across some hyperplanes, by the sum of
    the squares of what is crossed. A set of crossed hyperplanes leads to two more: with its last
    replaced by the next one, and with the next one added.
    """
    planes = products.shape[1]
    bits = 1 << np.arange(planes - 1, -1, -1)
    main = [int(bits[row >= 0].sum()) for row in products]
    yield from ((bucket, table) for table, bucket in enumerate(main))
    nearest = [sorted(range(planes), key=lambda i, row=row: abs(row[i])) for row in products]
    waiting: list[Any] = []
    for table, order in enumerate(nearest):
        cost = float(products[table, order[0]] ** 2)
        heapq.heappush(waiting, (cost, table, 0, int(bits[order[0]])))
    while waiting:
        cost, table, last, mask = heapq.heappop(waiting)
        yield main[table] ^ mask, table
        if last + 1 < planes:
            old, new = nearest[table][last : last + 2]
            more = float(products[table, new] ** 2)
            less = float(products[table, old] ** 2)
            swapped = mask ^ int(bits[old]) ^ int(bits[new])
            heapq.heappush(waiting, (cost - less + more, table, last + 1, swapped))
            heapq.heappush(waiting, (cost + more, table, last + 1, mask ^ int(bits[new])))


@op(
    "HyperplaneLSHProbes",
    inputs="point_hyperplane_product: CoordinateType, num_tables: int32, "
    "num_hyperplanes_per_table: int32, num_probes: int32",
    outputs="probes: int32, table_ids: int32",
    attrs="CoordinateType: {float, double}", shape=_shape,
    traits=HOST | NO_GRADIENT,
)  # fmt: skip
def hyperplane_lsh_probes_(
    xp: Any, point_hyperplane_product: Any, num_tables: Any, num_hyperplanes_per_table: Any,
    num_probes: Any,
) -> Any:  # fmt: skip
    points = np.asarray(point_hyperplane_product)
    tables, planes, count = int(num_tables), int(num_hyperplanes_per_table), int(num_probes)
    for name, value in (("num_tables", tables), ("num_probes", count)):
        if value < 1:
            raise invalid(f"{name} must be at least 1.")
    if not 1 <= planes <= 30:
        raise invalid("num_hyperplanes_per_table must be between 1 and 30.")
    if points.shape[1] != tables * planes:
        raise invalid(
            "The second dimension of the point_hyperplane_product must be equal to "
            "num_tables * num_hyperplanes_per_table."
        )
    if count > tables * 2**planes:
        raise invalid("num_probes is more than there are buckets.")
    found = [list(islice(_probes(row.reshape(tables, planes)), count)) for row in points]
    both = np.array(found, np.int32).reshape(len(points), count, 2)
    return both[:, :, 0], both[:, :, 1]
