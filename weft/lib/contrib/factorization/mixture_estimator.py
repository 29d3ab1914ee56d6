"""tf.contrib.factorization.GMM: a mixture of Gaussians as an Estimator of tf.contrib.learn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.graph.constant import constant
from weft.lib.contrib.factorization.mixtures import GmmAlgorithm, gmm
from weft.lib.contrib.framework.variables import local_variable
from weft.lib.contrib.learn.estimator import Estimator
from weft.lib.contrib.learn.model_fn import ModelFnOps
from weft.lib.estimator.canned.kmeans import InitializeClustersHook
from weft.ops.array.join import concat
from weft.ops.control.control import with_dependencies
from weft.ops.state.global_step import get_global_step
from weft.ops.state.updates import assign_add


class GMM(Estimator):
    """A mixture of `num_clusters` Gaussians.

    Args:
        num_clusters: how many Gaussians there are.
        model_dir: the folder of the model.
        random_seed: for the first means.
        params: what is trained, of "w" (weights), "m" (means) and "c" (covariances).
        initial_clusters: the first means, or "random".
        covariance_type: "full" or "diag".
        config: a configuration of the run.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: Any = None,
        random_seed: int | None = 0,
        params: str = "wmc",
        initial_clusters: Any = "random",
        covariance_type: str = "full",
        config: Any = None,
    ) -> None:
        how = (initial_clusters, num_clusters, random_seed, covariance_type, params)

        def model_fn(features: Any, labels: Any, mode: str, config: Any) -> ModelFnOps:
            assert labels is None, labels
            return _model(_points(features), how, mode, config)

        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

    def predict_assignments(
        self, input_fn: Any = None, batch_size: int | None = None, outputs: Any = None
    ) -> Iterator[Any]:
        """The most likely class of each point."""
        for each in self.predict(input_fn=input_fn, batch_size=batch_size, outputs=outputs):
            yield each[GMM.ASSIGNMENTS]

    def score(
        self, input_fn: Any = None, batch_size: int | None = None, steps: int | None = None
    ) -> Any:
        """The logarithm of the sum of all likelihoods."""
        results = self.evaluate(input_fn=input_fn, batch_size=batch_size, steps=steps)
        return np.log(np.sum(np.exp(results[GMM.SCORES])))

    def weights(self) -> np.ndarray:
        """The weights of the classes."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> np.ndarray:
        """The means, a row for each class."""
        return np.squeeze(self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1)

    def covariances(self) -> np.ndarray:
        """The covariances, or variances, of the classes."""
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)


def _points(features: Any) -> Any:
    if not isinstance(features, dict):
        return features
    return concat([features[key] for key in sorted(features)], 1)


def _model(points: Any, how: tuple[Any, ...], mode: str, config: Any) -> ModelFnOps:
    loss, scores, (classes,), train, initialize, is_initialized = gmm(points, *how)
    counted = assign_add(get_global_step(), 1)
    summed = local_variable(constant(0.0))
    return ModelFnOps(
        mode=mode,
        predictions={GMM.ASSIGNMENTS: classes[0]},
        eval_metric_ops={
            GMM.SCORES: scores,
            GMM.LOG_LIKELIHOOD: (summed, summed.assign_add(loss)),
        },
        loss=loss,
        train_op=with_dependencies([train, counted], loss),
        training_hooks=[InitializeClustersHook(initialize, is_initialized, config.is_chief)],
    )
