"""Samples of random and candidate sampling ops: those whose result follows from their inputs."""

from __future__ import annotations

import numpy as np

from tests.ops.sample import Sample, bf16, f16, f32, f64, i32, i64, skip

DRAWS = "checked against recorded draws in tests/ops/random/test_random.py"

STATEFUL = """
    RandomUniform RandomUniformInt RandomStandardNormal TruncatedNormal
    ParameterizedTruncatedNormal RandomShuffle RandomGamma RandomPoisson RandomPoissonV2
    Multinomial RandomCrop UniformCandidateSampler LogUniformCandidateSampler
    LearnedUnigramCandidateSampler ThreadUnsafeUnigramCandidateSampler
    FixedUnigramCandidateSampler AllCandidateSampler
"""

# Of the seed [3, 7].
KEY = np.array([9222191355702222625], np.uint64)
COUNTER = np.array([0, 8674681144361816581], np.uint64)

SAMPLES = [
    skip("_StatelessCategories", "weft's own; checked in tests/data/test_lift.py"),
    *(skip(op, DRAWS) for op in STATEFUL.split()),
    Sample("StatelessRandomUniform", i32([2, 3]), i32([1, 2]), dtype="float32"),
    Sample("StatelessRandomUniform", i64([5]), i64([-1, 2**40]), dtype="float64"),
    Sample("StatelessRandomUniform", i32([0, 3]), i32([1, 2]), dtype="float16"),
    Sample("StatelessRandomUniform", i32([]), i32([1, 2]), dtype="bfloat16"),
    Sample("StatelessRandomUniform", i32([3]), i32([1, 2, 3]), dtype="float32"),
    Sample("StatelessRandomNormal", i32([2, 3]), i32([1, 2]), dtype="float32"),
    Sample("StatelessRandomNormal", i32([5]), i64([3, 4]), dtype="float64"),
    Sample("StatelessTruncatedNormal", i32([2, 3]), i32([1, 2]), dtype="float32"),
    Sample("StatelessTruncatedNormal", i32([5]), i64([3, 4]), dtype="float64"),
    Sample("StatelessRandomUniformInt", i32([2, 3]), i32([1, 2]), i32(-3), i32(9)),
    Sample("StatelessRandomUniformInt", i32([5]), i32([1, 2]), i64(-(2**62)), i64(2**62)),
    Sample("StatelessRandomUniformInt", i32([5]), i32([1, 2]), i32(3), i32(3)),
    Sample("StatelessRandomUniformInt", i32([0]), i32([1, 2]), i32(3), i32(3)),
    Sample("StatelessRandomGetKeyCounter", i64([3, 7])),
    Sample("StatelessRandomGetKeyCounterAlg", i32([3, 7])),
    Sample("StatelessRandomGetKeyCounterAlg", i32([3, 7, 1])),
    Sample("StatelessRandomGetAlg"),
    *(
        Sample(f"Stateless{op}V2", i32([2, 3]), KEY, COUNTER, i32(1), dtype=dtype)
        for op in ("RandomUniform", "RandomNormal", "TruncatedNormal")
        for dtype in ("float16", "float32", "float64")
    ),
    Sample("StatelessRandomUniformV2", i32([2]), KEY, COUNTER, i32(2), dtype="float32"),
    Sample("StatelessRandomUniformV2", i32([2]), COUNTER, COUNTER, i32(1), dtype="float32"),
    *(
        Sample("StatelessRandomUniformFullIntV2", i32([5]), KEY, COUNTER, i32(3), dtype=dtype)
        for dtype in ("int32", "int64", "uint32", "uint64")
    ),
    *(
        Sample("StatelessRandomUniformIntV2", i32([5]), KEY, COUNTER, i32(1), low, high)
        for low, high in ((i32(-3), i32(9)), (i64(-(2**62)), i64(2**62)), (i32(3), i32(3)))
    ),
    Sample("StatelessMultinomial", f32([[0, 1, 2], [2, 1, 0]]), i32(4), i32([1, 2])),
    Sample("StatelessMultinomial", f64([[0, -9]]), i32(0), i32([1, 2]), output_dtype="int32"),
    Sample("StatelessMultinomial", f16([[0, 1], [1, 0]]), i32(3), i64([5, 6])),
    Sample("StatelessMultinomial", bf16([[0, 1], [1, 0]]), i32(3), i64([5, 6])),
    Sample(
        "RandomGammaGrad",
        f32([0.1, 0.5, 1.0, 3.0, 20.0]),
        f32([0.01, 0.7, 1.5, 2.0, 25.0]),
        grad=False,
        rtol=1e-4,
    ),
    Sample("RandomGammaGrad", f64([[0.3], [4.0]]), f64([0.2, 1.0, 6.0]), grad=False, rtol=1e-9),
    Sample("ComputeAccidentalHits", i64([[1, 2], [3, 1], [9, 9]]), i64([3, 1, 4, 1]), num_true=2),
    Sample("ComputeAccidentalHits", i64([[1]]), i64([3]), num_true=1),
]
