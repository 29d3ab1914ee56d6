"""ImageConnectedComponents (tf.contrib.image): regions of equal pixels that touch."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST, NO_GRADIENT


@op(
    "ImageConnectedComponents", inputs="image: dtype", outputs="components: int64",
    attrs="dtype: {int64, int32, uint16, int16, uint8, int8, half, float, double, bool, string}",
    shape=s.unchanged, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def connected_components_(xp: Any, image: Any) -> Any:
    """A number for each region, in the order of their first pixels; 0 where pixels are zero."""
    image = np.asarray(image)
    nothing = b"" if image.dtype == object else image.dtype.type(0)
    roots = _roots(image)
    region = np.zeros(image.size, np.int64)
    drawn = (image != nothing).ravel()
    region[drawn] = np.unique(roots[drawn], return_inverse=True)[1] + 1
    return region.reshape(image.shape)


def _roots(image: Any) -> Any:
    """For each pixel, the first one of its region: neighbours are joined until none differ."""
    places = np.arange(image.size).reshape(image.shape)
    pairs = [
        np.stack([places[one], places[other]], -1)[image[one] == image[other]]
        for one, other in (
            (np.s_[:, :, 1:], np.s_[:, :, :-1]),
            (np.s_[:, 1:, :], np.s_[:, :-1, :]),
        )
    ]
    edges = np.concatenate(pairs)
    roots = places.ravel().copy()
    while True:
        ends = np.sort(roots[edges], axis=1)
        if (ends[:, 0] == ends[:, 1]).all():
            return roots
        np.minimum.at(roots, ends[:, 1], ends[:, 0])
        while not np.array_equal(roots, roots[roots]):
            roots = roots[roots]
