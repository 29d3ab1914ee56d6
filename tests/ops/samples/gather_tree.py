"""GatherTree: part of tf.contrib, so today's TensorFlow cannot replay it."""

from tests.ops.sample import skip

skip("GatherTree", "no longer in TensorFlow; checked in tests/rnn/test_seq2seq.py")
SAMPLES = []
