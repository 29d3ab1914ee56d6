"""Samples of weft/ops/random/stateful.py."""

from tests.ops.sample import skip

SAMPLES = [
    skip(name, "checked against recorded draws in tests/ops/random/test_random_stateful.py")
    for name in (
        "StatefulUniform StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniformFullInt"
        " StatefulUniformInt RngSkip NonDeterministicInts"
    ).split()
]
