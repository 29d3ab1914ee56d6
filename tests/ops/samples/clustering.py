"""Samples of weft/ops/trees/clustering.py."""

import numpy as np

from tests.ops.sample import Sample, f32, i64

POINTS = np.random.RandomState(2).uniform(-5, 5, (12, 3)).astype(np.float32)

SAMPLES = [
    *(Sample("NearestNeighbors", POINTS, POINTS[:5] + f32(0.3), i64(k)) for k in (1, 3, 9, 0)),
    Sample("NearestNeighbors", POINTS, POINTS[:, :2], i64(1)),
    Sample("NearestNeighbors", POINTS[:0], POINTS, i64(1)),
    *(
        Sample("KmeansPlusPlusInitialization", POINTS, i64(n), i64(seed), i64(retries))
        for n, seed, retries in ((1, 0, 0), (4, 7, 0), (12, 7, 2), (5, -3, -1), (13, 1, 0))
    ),
    *(Sample("KMC2ChainInitialization", np.abs(POINTS[:, 0]), i64(seed)) for seed in (0, 1, 2**40)),
    Sample("KMC2ChainInitialization", f32([]), i64(1)),
]
