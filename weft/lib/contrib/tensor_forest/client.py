"""tf.contrib.tensor_forest.client: forests as Estimators, and how they are measured."""

import weft.lib.contrib.tensor_forest.estimator as random_forest  # noqa: F401
from weft.lib.contrib.tensor_forest import eval_metrics as eval_metrics
