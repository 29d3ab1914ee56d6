"""tf.contrib.boosted_trees.estimator_batch: the Estimators, and the hooks they use."""

from weft.lib.contrib.boosted_trees import distillation_loss as distillation_loss
from weft.lib.contrib.boosted_trees import dnn_combined as dnn_tree_combined_estimator
from weft.lib.contrib.boosted_trees import estimators as estimator
from weft.lib.contrib.boosted_trees import model as model
from weft.lib.contrib.boosted_trees import trainer_hooks as trainer_hooks

__all__ = [
    "distillation_loss",
    "dnn_tree_combined_estimator",
    "estimator",
    "model",
    "trainer_hooks",
]
