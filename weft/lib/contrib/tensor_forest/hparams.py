"""How a forest is to be grown."""

from __future__ import annotations

import math
import random
from typing import Any

from weft.ops.trees.forest_objects import TreeParams

_MODELS = ("all_dense", "all_sparse", "sparse_then_dense")  # ways to store the same counts


class ForestHParams:
    """Settings of a forest. `num_classes` and `num_features` must be given; `fill` does the rest.

    In regression, `num_classes` is the number of outputs.
    """

    num_classes: int
    num_features: int

    def __init__(
        self, num_trees: int = 100, max_nodes: int = 10000, bagging_fraction: float = 1.0,
        num_splits_to_consider: int = 0, feature_bagging_fraction: float = 1.0,
        max_fertile_nodes: int = 0, split_after_samples: Any = 250, valid_leaf_threshold: int = 1,
        dominate_method: str = "bootstrap", dominate_fraction: float = 0.99,
        model_name: str = "all_dense", split_finish_name: str = "basic",
        split_pruning_name: str = "none", prune_every_samples: int = 0,
        early_finish_check_every_samples: int = 0, collate_examples: bool = False,
        checkpoint_stats: bool = False, use_running_stats_method: bool = False,
        initialize_average_splits: bool = False, inference_tree_paths: bool = False,
        param_file: str | None = None, split_name: str = "less_or_equal", **kwargs: Any,
    ) -> None:  # fmt: skip
        given = dict(locals())
        del given["self"], given["kwargs"]
        self.__dict__.update(given | kwargs)

    def values(self) -> dict[str, Any]:
        return self.__dict__

    def fill(self) -> ForestHParams:
        """Sets what follows from the rest."""
        given: Any = self
        self._check()
        features, share = self.num_features, given.feature_bagging_fraction
        self.bagged_num_features = int(share * features)
        self.bagged_features: list[list[int]] | None = None
        if share < 1.0:
            self.bagged_features = [
                random.sample(range(features), self.bagged_num_features)
                for _ in range(given.num_trees)
            ]
        self.regression = getattr(self, "regression", False)
        self.num_outputs = self.num_classes if self.regression else 1
        self.num_output_columns = self.num_classes + 1
        if not given.num_splits_to_consider:
            root = math.floor(math.sqrt(features))
            self.num_splits_to_consider = min(max(10, root), 1000)
        self.base_random_seed = getattr(self, "base_random_seed", 0)
        return self

    def _check(self) -> None:
        given: Any = self
        for name in ("num_classes", "num_features"):
            if not hasattr(self, name):
                raise AttributeError(f"ForestHParams needs {name}")
        if given.model_name not in _MODELS:
            raise KeyError(given.model_name)
        unknown = {"split_finish_name": "basic", "split_pruning_name": "none", "param_file": None}
        for name, only in unknown.items():
            if getattr(self, name) != only:
                raise NotImplementedError(f"{name}={getattr(self, name)!r}: only {only!r} is there")

    def tree_params(self) -> TreeParams:
        """The parameters of each tree."""
        given: Any = self
        features = self.bagged_num_features if self.bagged_features else self.num_features
        return TreeParams(
            num_outputs=int(self.num_classes), num_features=int(features),
            regression=bool(self.regression), max_nodes=int(given.max_nodes),
            num_splits=int(self.num_splits_to_consider),
            split_after_samples=float(given.split_after_samples),
            strict={"less_or_equal": False, "less": True}[given.split_name],
        )  # fmt: skip
