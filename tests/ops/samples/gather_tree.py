"""GatherTree: an op of tf.contrib."""

from tests.ops.sample import skip

SAMPLES = [
    skip("GatherTree", "no longer in TensorFlow; checked in tests/rnn/test_seq2seq.py"),
]
