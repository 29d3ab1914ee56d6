"""tf.estimator.BoostedTreesClassifier and its relatives: gradient boosted trees, layer by layer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.graph.op_def import raw
from weft.lib.estimator.canned import boosted_trees_features as by_column
from weft.lib.estimator.canned.boosted_trees_model import TreeHParams, explanations_fn, model_fn
from weft.lib.estimator.estimator import Estimator
from weft.lib.estimator.heads.binary import BinaryClassHead
from weft.lib.estimator.heads.canned import classification_head, regression_head
from weft.lib.train.checkpoint.inspection import load_checkpoint
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.scores.losses import Reduction
from weft.protos.boosted_trees import DebugOutput, TreeEnsemble

_DEFAULT: Any = object()
_DEBUG_KEY = "_serialized_debug_outputs_proto"


class BoostedTreesBase(Estimator):
    """The base of all Estimators of boosted trees."""

    def __init__(
        self, head: Any, closed_form: Any, feature_columns: Any, n_batches_per_layer: int,
        model_dir: Any, hparams: TreeHParams, config: Any, weight_column: Any,
        train_in_memory: bool, is_classification: bool,
    ) -> None:  # fmt: skip
        if n_batches_per_layer < 1:
            raise ValueError(f"n_batches_per_layer must be positive: {n_batches_per_layer}")
        if train_in_memory and n_batches_per_layer != 1:
            raise ValueError(
                "When train_in_memory is enabled, input_fn should return the entire dataset as a"
                " single batch, and n_batches_per_layer should be set as 1."
            )
        hparams.checked_pruning()
        self._sorted_feature_columns = sorted(feature_columns, key=lambda column: column.name)
        self._names = by_column.names(self._sorted_feature_columns)
        self._head, self._hparams, self._is_classification = head, hparams, is_classification

        def call(features: Any, labels: Any, mode: str, config: Any) -> Any:
            return model_fn(
                features, labels, mode, head, feature_columns, hparams, n_batches_per_layer,
                config, closed_form, weight_column,
            )  # fmt: skip

        super().__init__(call, model_dir, config)

    def experimental_feature_importances(self, normalize: bool = False) -> OrderedDict[str, float]:
        """The gains of splits by each column, the most important first."""
        reader = load_checkpoint(self._model_dir)
        key = "boosted_trees:0_serialized"
        text = _bytes(reader.get_tensor(key)) if reader.has_tensor(key) else b""
        if not text:
            raise ValueError(
                "Found empty serialized string for TreeEnsemble.You should only call this method"
                " after training."
            )
        trees = TreeEnsemble()
        trees.ParseFromString(text)
        found = np.zeros(len(self._names))
        for tree, weight in zip(trees.trees, trees.tree_weights, strict=False):
            for node in tree.nodes:
                if node.WhichOneof("node") == "bucketized_split":
                    found[node.bucketized_split.feature_id] += node.metadata.gain * weight
        if normalize:
            assert (found >= 0).all(), "feature_importances must be non-negative."
            assert found.sum() > 0, "Trees are all empty or contain only a root node."
            found /= found.sum()
        return self._by_column(found)

    def _by_column(self, values: Any) -> OrderedDict[str, float]:
        """Sums over the feature ids of each column, the largest first."""
        sums = dict.fromkeys(self._names, 0.0)
        for name, value in zip(self._names, values, strict=True):
            sums[name] += value
        return OrderedDict(sorted(sums.items(), key=lambda item: -abs(item[1])))

    def experimental_predict_with_explanations(
        self, input_fn: Any, predict_keys: Any = None, hooks: Any = None,
        checkpoint_path: str | None = None,
    ) -> Iterator[dict[str, Any]]:  # fmt: skip
        """Predictions with `bias`, and `dfc`: what each column adds to it, by its name."""
        if not self._hparams.center_bias:
            raise ValueError(
                "center_bias must be enabled during estimator instantiation when using "
                "experimental_predict_with_explanations."
            )
        explained = Estimator(self._explanations_fn, self.model_dir, self.config)
        keys = None if predict_keys is None else {*predict_keys, _DEBUG_KEY}
        for found in explained.predict(input_fn, keys, hooks, checkpoint_path):
            way = DebugOutput()
            way.ParseFromString(_bytes(found.pop(_DEBUG_KEY)))
            path = np.array(way.logits_path)
            path = 1 / (1 + np.exp(-path)) if self._is_classification else path
            steps = np.bincount(
                np.array(way.feature_ids, int), weights=np.diff(path), minlength=len(self._names)
            )
            yield {**found, "bias": path[0], "dfc": self._by_column(steps)}

    def _explanations_fn(self, features: Any, mode: str) -> Any:
        return explanations_fn(
            features, mode, self._head, self._sorted_feature_columns, self._hparams, _DEBUG_KEY
        )


def _bytes(value: Any) -> bytes:
    found: bytes = value.item() if hasattr(value, "item") else value
    return found


def _logistic(logits: Any, labels: Any) -> tuple[Any, Any]:
    """First and second derivatives of the mean logistic loss."""
    likely = raw.Reciprocal(raw.Exp(-logits) + 1.0)
    share = raw.Reciprocal(math.cast(array.size(likely), dtypes.float32))
    wanted = array.reshape(math.cast(labels, dtypes.float32), array.shape(logits))
    return (likely - wanted) * share, likely * (1.0 - likely) * share


class BoostedTreesClassifier(BoostedTreesBase):
    """A classifier of two classes."""

    def __init__(
        self, feature_columns: Any, n_batches_per_layer: int, model_dir: Any = None,
        n_classes: Any = _DEFAULT, weight_column: Any = None, label_vocabulary: Any = None,
        n_trees: int = 100, max_depth: int = 6, learning_rate: float = 0.1,
        l1_regularization: float = 0.0, l2_regularization: float = 0.0,
        tree_complexity: float = 0.0, min_node_weight: float = 0.0, config: Any = None,
        center_bias: bool = False, pruning_mode: str = "none",
        quantile_sketch_epsilon: float = 0.01, train_in_memory: bool = False,
    ) -> None:  # fmt: skip
        n_classes = 2 if n_classes is _DEFAULT else n_classes
        if n_classes != 2:
            raise ValueError(
                f"For now only binary classification is supported.n_classes given as {n_classes}"
            )
        head = classification_head(
            2, weight_column, label_vocabulary, Reduction.SUM_OVER_BATCH_SIZE
        )
        plain = weight_column is None and label_vocabulary is None
        hparams = TreeHParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization,
            tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            head, _logistic if plain else None, feature_columns, n_batches_per_layer, model_dir,
            hparams, config, weight_column, train_in_memory, True,
        )  # fmt: skip


class BoostedTreesRegressor(BoostedTreesBase):
    """A regressor of one number."""

    def __init__(
        self, feature_columns: Any, n_batches_per_layer: int, model_dir: Any = None,
        label_dimension: Any = _DEFAULT, weight_column: Any = None, n_trees: int = 100,
        max_depth: int = 6, learning_rate: float = 0.1, l1_regularization: float = 0.0,
        l2_regularization: float = 0.0, tree_complexity: float = 0.0,
        min_node_weight: float = 0.0, config: Any = None, center_bias: bool = False,
        pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01,
        train_in_memory: bool = False,
    ) -> None:  # fmt: skip
        label_dimension = 1 if label_dimension is _DEFAULT else label_dimension
        if label_dimension != 1:
            raise ValueError(
                "For now only 1 dimension regression is supported.label_dimension given as"
                f" {label_dimension}"
            )
        head = regression_head(1, weight_column, Reduction.SUM_OVER_BATCH_SIZE)
        hparams = TreeHParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization,
            tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            head, None, feature_columns, n_batches_per_layer, model_dir, hparams, config,
            weight_column, train_in_memory, False,
        )  # fmt: skip


class BoostedTreesEstimator(BoostedTreesBase):
    """Boosted trees for any head with one logit."""

    def __init__(
        self, feature_columns: Any, n_batches_per_layer: int, head: Any, model_dir: Any = None,
        weight_column: Any = None, n_trees: int = 100, max_depth: int = 6,
        learning_rate: float = 0.1, l1_regularization: float = 0.0,
        l2_regularization: float = 0.0, tree_complexity: float = 0.0,
        min_node_weight: float = 0.0, config: Any = None, center_bias: bool = False,
        pruning_mode: str = "none", quantile_sketch_epsilon: float = 0.01,
    ) -> None:  # fmt: skip
        if head.logits_dimension != 1:
            raise ValueError("Only heads with one logit are supported")
        hparams = TreeHParams(
            n_trees, max_depth, learning_rate, l1_regularization, l2_regularization,
            tree_complexity, min_node_weight, center_bias, pruning_mode, quantile_sketch_epsilon,
        )  # fmt: skip
        super().__init__(
            head, None, feature_columns, n_batches_per_layer, model_dir, hparams, config,
            weight_column, False, isinstance(head, BinaryClassHead),
        )  # fmt: skip
