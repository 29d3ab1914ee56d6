"""tf.contrib.boosted_trees: trees that are grown one after the other, layer by layer."""

from weft.lib.contrib.boosted_trees import estimator_batch as estimator_batch
from weft.lib.contrib.boosted_trees import proto as proto
