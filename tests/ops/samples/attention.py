"""Attention as one op is no op of TensorFlow's."""

from tests.ops.sample import skip

_WHY = "weft's own: compared to the ops it replaces in tests/passes/test_attention.py"

SAMPLES = [skip("_FusedAttention", _WHY), skip("_FusedAttentionGrad", _WHY)]
