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
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.saver_saveable import SaveableObject, SaveSpec
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
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


class StopAfterNTrees(SessionRunHook):
    """Stops when there are enough trees, or after twice as many attempts."""

    def __init__(
        self,
        n: int,
        num_attempted_trees_tensor: Any,
        num_finalized_trees_tensor: Any,
        override_global_step_value: int | None = None,
    ) -> None:
        self._count, self._override = n, override_global_step_value
        self._asked = [num_attempted_trees_tensor, num_finalized_trees_tensor]

    def begin(self) -> None:
        step = get_global_step()
        if step is None:
            raise RuntimeError("Global step should be created.")
        wanted = [] if self._override is None else [self._override]
        self._at_the_end = [updates.assign(step, value) for value in wanted]

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(self._asked)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        attempted, finished = run_values.results
        if finished < self._count and attempted <= 2 * self._count:
            return
        logging.info("Requesting stop since we have reached %d trees.", finished)
        for update in self._at_the_end:
            run_context.session.run(update)
        run_context.request_stop()


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


def model_builder(
    features: Any, labels: Any, mode: Any, params: dict[str, Any], config: Any = None
) -> EstimatorSpec:
    """The model function; `params` are those of the Estimators."""
    head, center_bias = params["head"], params["center_bias"]
    if features is None:
        raise ValueError("At least one feature must be specified.")
    features = features if isinstance(features, dict) else {features.name: features}
    kept = {name: each for name, each in features.items() if name != params["weight_column_name"]}
    learner = completed(params["learner_config"], head.logits_dimension, center_bias)
    ensemble = TreeEnsemble(_start(learner), "ensemble_model")
    columns = extract_features(kept, params["feature_columns"], params["use_core_libs"])
    options = {name: params[name] for name in ("examples_per_layer", "num_quantiles")}
    model = Model(ensemble, learner, columns, center_bias=center_bias, **options)
    with name_scope("gbdt", "gbdt_optimizer"):
        logits, leaves = model.predict(mode)
        change: Callable[..., Any] | None = params["logits_modifier_function"]
        seen = change(logits, features, mode) if change else logits

        def train_op_fn(loss: Tensor) -> Any:
            with control_dependencies([model.train(loss, logits)]):
                return updates.assign_add(get_global_step(), 1).op

    spec = head.create_estimator_spec(features, mode, seen, labels, train_op_fn=train_op_fn)
    if params["output_leaf_index"] and mode == ModeKeys.PREDICT:
        spec.predictions["leaf_index"] = leaves
    wanted = params["num_trees"]
    if not wanted or mode != ModeKeys.TRAIN:
        return spec
    with control_dependencies([spec.train_op]):
        stats = model.stats()
    stop = StopAfterNTrees(
        wanted + int(center_bias),
        stats.attempted_trees,
        stats.num_trees,
        params["override_global_step_value"],
    )
    return spec._replace(training_hooks=[stop, *(spec.training_hooks or ())])
