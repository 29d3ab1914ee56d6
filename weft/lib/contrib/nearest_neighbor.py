"""tf.contrib.nearest_neighbor: where to look for points that are near."""

from __future__ import annotations

from typing import Any

from weft.graph.op_def import raw


def hyperplane_lsh_probes(
    point_hyperplane_product: Any,
    num_tables: Any,
    num_hyperplanes_per_table: Any,
    num_probes: Any,
    name: str | None = None,
) -> Any:
    """(probes, tables): the buckets of hash tables to look in, the likeliest of each table first.

    A bucket is the signs of a point's products with the hyperplanes of a table; the next to look
    in are those on the other side of the hyperplanes that the point is nearest to.
    """
    return raw.HyperplaneLSHProbes(
        point_hyperplane_product, num_tables, num_hyperplanes_per_table, num_probes, name=name
    )
