"""Graphs that grow a forest and ask it."""

from __future__ import annotations

from typing import Any

from weft.core import dtypes
from weft.graph.graph import GraphKeys, add_to_collection, control_dependencies, device
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.contrib.tensor_forest import data_ops
from weft.lib.contrib.tensor_forest.hparams import ForestHParams
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.ops.array import array, gather
from weft.ops.array.one_hot_search import one_hot, where
from weft.ops.control.control import group
from weft.ops.math import math
from weft.ops.random.random import random_uniform
from weft.ops.scores.losses import log_loss, mean_squared_error


class TreeSaveable(SaveableObject):
    """A tree, as a checkpoint holds it."""

    def __init__(self, tree: TreeVariables, name: str) -> None:
        super().__init__(tree.tree, [SaveSpec(raw.TreeSerialize(tree.tree), "", name)], name)
        self._params, self._create = tree.params, tree.create

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with control_dependencies([self._create]):
            return raw.TreeDeserialize(self.op, restored_tensors[0], params=self._params)


class TreeVariables:
    """One tree: its handle, and the operation that makes it."""

    def __init__(
        self, params: ForestHParams, tree_num: int, training: bool, tree_config: str = "",
        tree_stat: str = "",
    ) -> None:  # fmt: skip
        name = self.get_tree_name("tree", tree_num)
        self.params = params.tree_params().dumps()
        self.tree = self.handle = raw.DecisionTreeResourceHandleOp(shared_name=name, name=name)
        self.stats = self.tree  # what leaves consider lives in the tree
        self.create = raw.CreateTreeVariable(self.tree, tree_config, params=self.params)
        self.is_initialized = raw.TreeIsInitializedOp(self.tree)
        add_to_collection(GraphKeys.RESOURCES, self)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, TreeSaveable(self, name))

    def get_tree_name(self, name: str, num: int) -> str:
        return f"{name}-{num}"


class ForestVariables:
    """The trees of a forest."""

    def __init__(
        self, params: ForestHParams, device_assigner: Any, training: bool = True,
        tree_variables_class: Any = TreeVariables, tree_configs: Any = None, tree_stats: Any = None,
    ) -> None:  # fmt: skip
        given: Any = params
        with device(device_assigner):
            self.variables = [
                tree_variables_class(params, i, training, tree_configs[i] if tree_configs else "")
                for i in range(given.num_trees)
            ]

    def __setitem__(self, t: int, val: Any) -> None:
        self.variables[t] = val

    def __getitem__(self, t: int) -> Any:
        return self.variables[t]


class RandomTreeGraphs:
    """The operations on one tree."""

    def __init__(self, variables: Any, params: Any, tree_num: int) -> None:
        self.variables, self.params, self.tree_num = variables, params, tree_num

    def training_graph(
        self, input_data: Any, input_labels: Any, random_seed: int, data_spec: Any,
        sparse_features: Any = None, input_weights: Any = None,
    ) -> Any:  # fmt: skip
        """An operation that shows examples to the tree."""
        weights = array.zeros([0]) if input_weights is None else input_weights
        return raw.GrowTreeV4(
            self.variables.tree, input_data, input_labels, math.cast(weights, dtypes.float32),
            random_seed=random_seed, params=self.variables.params,
        )  # fmt: skip

    def inference_graph(self, input_data: Any, data_spec: Any, sparse_features: Any = None) -> Any:
        """(what the tree predicts, the paths to the leaves)"""
        return raw.TreePredictionsV4(self.variables.tree, input_data, params=self.variables.params)

    def size(self) -> Tensor:
        """The number of nodes."""
        made: Tensor = raw.TreeSize(self.variables.tree)
        return made

    def feature_usage_counts(self) -> Tensor:
        """How many nodes split by each feature."""
        made: Tensor = raw.FeatureUsageCounts(self.variables.tree, params=self.variables.params)
        return made


class RandomForestGraphs:
    """The operations on a forest. Its trees are resources, to be initialized with the variables."""

    def __init__(
        self, params: Any, tree_configs: Any = None, tree_stats: Any = None,
        device_assigner: Any = None, variables: Any = None,
        tree_variables_class: Any = TreeVariables, tree_graphs: Any = None, training: bool = True,
    ) -> None:  # fmt: skip
        self.params, self.device_assigner = params, device_assigner
        self.variables = variables or ForestVariables(
            params, device_assigner, training, tree_variables_class, tree_configs, tree_stats
        )
        make = tree_graphs or RandomTreeGraphs
        self.trees = [make(self.variables[i], params, i) for i in range(params.num_trees)]

    def _bag_features(self, tree_num: int, input_data: Any) -> Tensor:
        return gather.gather(input_data, self.params.bagged_features[tree_num], axis=1)

    def get_all_resource_handles(self) -> list[Any]:
        return [self.variables[i].tree for i in range(len(self.trees))]

    def training_graph(
        self, input_data: Any, input_labels: Any, num_trainers: int = 1, trainer_id: int = 0,
        **tree_kwargs: Any,
    ) -> Any:  # fmt: skip
        """An operation that shows a batch to the trees of this trainer."""
        data, _, spec = data_ops.ParseDataTensorOrDict(input_data)
        labels = data_ops.ParseLabelTensorOrDict(input_labels)
        each = self.params.num_trees / num_trainers
        updates = [
            self._training(i, data, labels, spec, tree_kwargs)
            for i in range(int(trainer_id * each), int((trainer_id + 1) * each))
        ]
        return group(*updates, name="train")

    def _training(self, i: int, data: Any, labels: Any, spec: Any, tree_kwargs: Any) -> Any:
        seed = self.params.base_random_seed
        seed = seed + i if seed else 0
        if self.params.bagging_fraction < 1.0:
            drawn = random_uniform(array.shape(data)[:1], seed=seed or None)
            rows = where(drawn < self.params.bagging_fraction)[:, 0]
            data, labels = gather.gather(data, rows), gather.gather(labels, rows)
        if self.params.bagged_features:
            data = self._bag_features(i, data)
        return self.trees[i].training_graph(data, labels, seed, data_spec=spec, **tree_kwargs)

    def inference_graph(self, input_data: Any, **inference_args: Any) -> tuple[Tensor, Any, Any]:
        """(the average of what the trees predict, paths in the trees, the variance over them)"""
        data, _, spec = data_ops.ParseDataTensorOrDict(input_data)
        found = []
        for i, tree in enumerate(self.trees):
            own = self._bag_features(i, data) if self.params.bagged_features else data
            found.append(tree.inference_graph(own, spec, **inference_args))
        every = array.stack([predictions for predictions, _ in found], axis=1)
        count = self.params.num_trees
        average = math.div(math.reduce_sum(every, 1), count, name="probabilities")
        squares = math.div(math.reduce_sum(every * every, 1), count)
        paths = array.stack([path for _, path in found], axis=1)
        return average, paths, raw.Maximum(0.0, squares - average * average)

    def average_size(self) -> Tensor:
        """The average number of nodes of the trees."""
        sizes = array.stack([tree.size() for tree in self.trees])
        found: Tensor = math.reduce_mean(math.cast(sizes, dtypes.float32))
        return found

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Tensor:
        """Smaller the more the trees have grown."""
        found: Tensor = raw.Neg(self.average_size(), name=name)
        return found

    def validation_loss(self, features: Any, labels: Any) -> Tensor:
        """As `training_loss`."""
        found: Tensor = raw.Neg(self.average_size())
        return found

    def feature_importances(self) -> Tensor:
        """The share of nodes that split by each feature."""
        counts = array.stack([tree.feature_usage_counts() for tree in self.trees], 0)
        total = math.reduce_sum(counts, 0)
        found: Tensor = total / math.reduce_sum(total)
        return found


class TrainingLossForest(RandomForestGraphs):
    """A forest whose loss is that of what it predicts."""

    def __init__(self, params: Any, loss_fn: Any = None, **kwargs: Any) -> None:
        self.loss_fn = loss_fn or (mean_squared_error if params.regression else log_loss)
        super().__init__(params, **kwargs)

    def training_loss(self, features: Any, labels: Any, name: str = "training_loss") -> Tensor:
        predictions, _, _ = self.inference_graph(features)
        labels = data_ops.ParseLabelTensorOrDict(labels)
        if not self.params.regression:
            classes = math.cast(array.reshape(labels, [-1]), dtypes.int32)
            labels = one_hot(classes, self.params.num_classes)
        found: Tensor = raw.Identity(self.loss_fn(labels, predictions), name=name)
        return found
