"""`_SumRepeated` exists in weft only."""

from tests.ops.sample import skip

SAMPLES = [skip("_SumRepeated", "weft's own; checked in tests/passes/test_repeats.py")]
