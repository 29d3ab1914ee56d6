"""tf.contrib.boosted_trees.estimator_batch: the Estimators, and the hooks they use."""

from weft.lib.contrib.boosted_trees import estimators as estimator
from weft.lib.contrib.boosted_trees import model as model
from weft.lib.contrib.boosted_trees import model as trainer_hooks

__all__ = ["estimator", "model", "trainer_hooks"]
