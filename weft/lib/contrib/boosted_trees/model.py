"""The model function of gradient boosted trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.autodiff.gradients import gradients
from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import add_to_collection, control_dependencies, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.op_def import raw
from weft.graph.tensor import Tensor
from weft.lib.contrib.boosted_trees.features import extract_features
from weft.lib.contrib.boosted_trees.trainer_hooks import StopAfterNTrees
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.ops.array import array
from weft.ops.math import casts
from weft.ops.state import updates
from weft.ops.state.global_step import get_global_step
from weft.protos.contrib_trees import DecisionTreeEnsembleConfig, LearnerConfig


class _EnsembleSaveable(SaveableObject):
    """An ensemble, as a checkpoint holds it."""

    def __init__(self, ensemble: TreeEnsemble, name: str) -> None:
        stamp, content = raw.TreeEnsembleSerialize(ensemble.handle)
        specs = [
            SaveSpec(stamp, "", f"{name}-stamp"),
            SaveSpec(content, "", f"{name}-config"),
        ]
        super().__init__(ensemble.handle, specs, name)
        self._create = ensemble.create

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        with control_dependencies([self._create]):
            return raw.TreeEnsembleDeserialize(self.op, *restored_tensors)


class TreeEnsemble:
    """The variable of an ensemble: its handle, and the operation that makes it."""

    def __init__(self, content: bytes, name: str) -> None:
        self.handle = raw.DecisionTreeEnsembleResourceHandleOp(shared_name=name, name=name)
        self.create = raw.CreateTreeEnsembleVariable(self.handle, 0, content)
        self.is_initialized = raw.TreeEnsembleIsInitializedOp(self.handle)
        add_to_collection(GraphKeys.RESOURCES, self)
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _EnsembleSaveable(self, name))


def completed(given: Any, logits_dimension: int, center_bias: bool) -> Any:
    """A learner's settings with those that were left open."""
    config = given
    if config.num_classes < 2:
        raise ValueError("Number of classes must be >=2")
    several = logits_dimension > 1
    if not config.multi_class_strategy:
        kind = LearnerConfig.DIAGONAL_HESSIAN if several else LearnerConfig.TREE_PER_CLASS
        config.multi_class_strategy = kind
    if several and center_bias and config.multi_class_strategy != LearnerConfig.TREE_PER_CLASS:
        raise ValueError("Center bias should be False for multiclass.")
    if config.weak_learner_type == LearnerConfig.OBLIVIOUS_DECISION_TREE:
        raise ValueError("Oblivious decision trees are not supported.")
    config.growing_mode = config.growing_mode or LearnerConfig.LAYER_BY_LAYER
    config.pruning_mode = config.pruning_mode or LearnerConfig.POST_PRUNE
    config.constraints.max_tree_depth = config.constraints.max_tree_depth or 6
    match config.learning_rate_tuner.WhichOneof("tuner"):
        case None:
            config.learning_rate_tuner.fixed.learning_rate = 0.1
        case "line_search":
            raise ValueError("Line search learning rate is not yet supported.")
    return config


def _start(config: Any) -> bytes:
    """The ensemble to begin with: none, or a tree that is given."""
    made = DecisionTreeEnsembleConfig()
    if config.each_tree_start.nodes:
        layers = config.each_tree_start_num_layers
        if layers <= 0:
            raise ValueError("You must provide each_tree_start_num_layers.")
        made.trees.add().CopyFrom(config.each_tree_start)
        made.tree_weights.append(0.1)
        made.tree_metadata.add(num_tree_weight_updates=1, num_layers_grown=layers)
    return made.SerializeToString()


def _hessians(slopes: Tensor, logits: Tensor, width: int, full: bool) -> Tensor:
    """Second derivatives of the loss of each example: of each logit, or of all pairs."""
    rows: list[Any] = [gradients(slopes[:, i], logits)[0] for i in range(width)]
    if full:
        return array.stack(rows, axis=1)
    return array.stack([row[:, i] for i, row in enumerate(rows)], axis=1)


class Model:
    """The nodes of a graph that ask an ensemble, and make it grow."""

    def __init__(self, ensemble: TreeEnsemble, config: Any, features: Any, **options: Any) -> None:
        self.ensemble, self.config, self.features = ensemble, config, features
        self.options = options
        per_class = config.multi_class_strategy == LearnerConfig.TREE_PER_CLASS
        self.reduce_dim = per_class and config.num_classes == 2
        self.stamp = raw.TreeEnsembleStampToken(ensemble.handle)

    def stats(self) -> Any:
        """The numbers of trees and layers."""
        return raw.TreeEnsembleStats(self.ensemble.handle, self.stamp)

    def predict(self, mode: Any) -> tuple[Tensor, Tensor]:
        """(logits, the leaf of each example in each tree)"""
        training = mode == ModeKeys.TRAIN
        tried = self.stats().attempted_trees
        found = raw.GradientTreesPredictionVerbose(
            self.ensemble.handle,
            tried if training else convert_to_tensor(-1, dtypes.int64),
            **self.features.inputs(),
            learner_config=self.config.SerializeToString(),
            apply_dropout=training,
            apply_averaging=not training,
            center_bias=self.options["center_bias"],
            reduce_dim=self.reduce_dim,
        )
        return found.predictions, found.leaf_index

    def train(self, loss: Tensor, logits: Tensor) -> Any:
        """An operation that learns from a batch."""
        width = self.config.num_classes - 1 if self.reduce_dim else self.config.num_classes
        slopes: Any = gradients(loss, logits)[0]
        full = self.config.multi_class_strategy == LearnerConfig.FULL_HESSIAN
        per_layer = self.options["examples_per_layer"]
        if callable(per_layer):
            per_layer = per_layer(self.stats().active_layer)
        return raw.UpdateTreeEnsemble(
            self.ensemble.handle,
            slopes,
            _hessians(slopes, logits, width, full),
            casts.cast(per_layer, dtypes.int64),
            **self.features.inputs(),
            learner_config=self.config.SerializeToString(),
            center_bias=self.options["center_bias"],
            num_quantiles=self.options["num_quantiles"],
        )


def named(features: Any, weight_column_name: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """(features by name, those that are not weights)"""
    if features is None:
        raise ValueError("At least one feature must be specified.")
    features = features if isinstance(features, dict) else {features.name: features}
    return features, {name: v for name, v in features.items() if name != weight_column_name}


def counted(update: Any) -> Any:
    """An operation that counts a step once an update is done."""
    with control_dependencies([update]):
        return updates.assign_add(get_global_step(), 1).op


def stop_hook(model: Model, num_trees: int, override: int | None, after: Any = None) -> Any:
    """A hook that ends training at so many trees, counted after an operation if there is one."""
    with control_dependencies([] if after is None else [after]):
        stats = model.stats()
    wanted = num_trees + int(model.options["center_bias"])
    return StopAfterNTrees(wanted, stats.attempted_trees, stats.num_trees, override)


def completed_spec(
    spec: EstimatorSpec, model: Model, leaves: Tensor, mode: Any, params: dict[str, Any]
) -> EstimatorSpec:
    """What a head made, with leaves if they are wanted, and the end of training."""
    if params["output_leaf_index"] and mode == ModeKeys.PREDICT:
        spec.predictions["leaf_index"] = leaves
    if not params["num_trees"] or mode != ModeKeys.TRAIN:
        return spec
    override = params["override_global_step_value"]
    stop = stop_hook(model, params["num_trees"], override, spec.train_op)
    return spec._replace(training_hooks=[stop, *(spec.training_hooks or ())])


def model_builder(
    features: Any, labels: Any, mode: Any, params: dict[str, Any], config: Any = None
) -> EstimatorSpec:
    """The model function; `params` are those of the Estimators."""
    head = params["head"]
    features, kept = named(features, params["weight_column_name"])
    model = Trees(params, start=True).on(kept)
    with name_scope("gbdt", "gbdt_optimizer"):
        logits, leaves = model.predict(mode)
        change: Callable[..., Any] | None = params["logits_modifier_function"]
        seen = change(logits, features, mode) if change else logits

        def train_op_fn(loss: Tensor) -> Any:
            return counted(model.train(loss, logits))

    spec = head.create_estimator_spec(features, mode, seen, labels, train_op_fn=train_op_fn)
    return completed_spec(spec, model, leaves, mode, params)


class Trees:
    """An ensemble in a graph, with the settings of its learner."""

    def __init__(self, params: dict[str, Any], start: bool = False) -> None:
        self._params, dimension = params, params["head"].logits_dimension
        given, center_bias = params["learner_config"], params["center_bias"]
        self._learner = completed(given, dimension, center_bias)
        first = _start(self._learner) if start else b""
        self._ensemble = TreeEnsemble(first, "ensemble_model")

    def on(self, features: dict[str, Any]) -> Model:
        """The nodes that ask the ensemble about some features, and make it grow by them."""
        params = self._params
        columns = extract_features(features, params["feature_columns"], params["use_core_libs"])
        names = ("center_bias", "examples_per_layer", "num_quantiles")
        options = {name: params[name] for name in names}
        return Model(self._ensemble, self._learner, columns, **options)


def ranking_model_builder(
    features: Any, labels: Any, mode: Any, params: dict[str, Any], config: Any = None
) -> EstimatorSpec:
    """The model function of pairs: the logit is how much more the trees say of the left one."""
    features, kept = named(features, params["weight_column_name"])
    trees = Trees(params)
    pair = [kept] if mode == ModeKeys.PREDICT else _pair(kept, params["ranking_model_pair_keys"])
    models = [trees.on(each) for each in pair]
    change: Callable[..., Any] | None = params["logits_modifier_function"]
    with name_scope("gbdt", "gbdt_optimizer"):
        (logits, leaves), *other = (model.predict(mode) for model in models)
        for right, _ in other:
            logits = logits - right
        logits = change(logits, features, mode) if change else logits

        def train_op_fn(loss: Tensor) -> Any:
            return counted(models[0].train(loss, logits))

    spec = params["head"].create_estimator_spec(
        features, mode, logits, labels, train_op_fn=train_op_fn
    )
    return completed_spec(spec, models[0], leaves, mode, params)


def _pair(features: dict[str, Any], keys: Any) -> list[dict[str, Any]]:
    """The features of both sides of pairs, whose names begin with their keys and a dot."""
    if len(keys) != 2:
        raise ValueError("You must provide keys for ranking.")
    if None in keys:
        raise ValueError("Both pair keys should be provided for ranking.")
    sides: list[dict[str, Any]] = [{}, {}]
    for name, feature in features.items():
        side, _, own = name.partition(".")
        assert side in keys, f"{name} begins with neither of {keys}"
        sides[list(keys).index(side)][own] = feature
    if not all(sides):
        raise ValueError("Features for ranking must be specified.")
    return sides
