"""Samples of weft/ops/random/binomial.py."""

from tests.ops.sample import skip

SAMPLES = [
    skip(
        "StatefulRandomBinomial", "its distribution is in tests/ops/random/test_random_binomial.py"
    ),
]
