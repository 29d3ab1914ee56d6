"""Samples of weft/ops/nn/fractional_pool.py."""

import numpy as np

from tests.ops.sample import Sample, f32, f64, i32, i64

IMAGE = np.random.RandomState(3).permutation(2 * 7 * 9 * 2).reshape(2, 7, 9, 2)
FIXED = {"pooling_ratio": [1.0, 1.44, 1.73, 1.0], "deterministic": True, "seed": 12, "seed2": 34}
ROWS, COLUMNS = i64([0, 1, 3, 4, 7]), i64([0, 2, 3, 5, 7, 9])
BACK = np.arange(2 * 4 * 5 * 2).reshape(2, 4, 5, 2)


def _largest(image, over):
    rows, columns = (list(zip(x[:-1], x[1:] + over, strict=True)) for x in (ROWS, COLUMNS))
    cells = [[image[:, a:b, c:d].max(axis=(1, 2)) for c, d in columns] for a, b in rows]
    return np.moveaxis(np.array(cells), 2, 0)


SAMPLES = [
    *(
        Sample(f"Fractional{kind}Pool", f32(IMAGE), pseudo_random=even, overlapping=over, **FIXED)
        for kind in ("Max", "Avg")
        for even in (False, True)
        for over in (False, True)
    ),
    Sample("FractionalMaxPool", f64(-IMAGE), **FIXED),
    Sample("FractionalAvgPool", i32(-IMAGE), **FIXED),
    Sample("FractionalAvgPool", f32(IMAGE), **(FIXED | {"pooling_ratio": [1.0, 2.5, 9.0, 1.0]})),
    Sample("FractionalAvgPool", f32(IMAGE), **(FIXED | {"pooling_ratio": [1.0, 8.0, 2.0, 1.0]})),
    Sample("FractionalMaxPool", f32(IMAGE), **(FIXED | {"deterministic": False})),
    *(
        Sample("FractionalAvgPoolGrad", i64([2, 7, 9, 2]), BACK.astype(t), ROWS, COLUMNS, **over)
        for t, over in (("f4", {}), ("f8", {"overlapping": True}), ("i4", {}))
    ),
    Sample("FractionalAvgPoolGrad", i64([2, 7, 9, 2]), f32(BACK), -ROWS, COLUMNS),
    *(
        Sample(
            "FractionalMaxPoolGrad",
            f32(IMAGE % 5),
            f32(_largest(IMAGE % 5, over)),
            f32(BACK),
            ROWS,
            COLUMNS,
            overlapping=over,
        )
        for over in (False, True)
    ),
]
