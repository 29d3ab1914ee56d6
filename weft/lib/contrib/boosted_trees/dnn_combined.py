"""Estimators of a network, and of trees that are grown after it to mend what it lacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core.signatures import with_parameters_of
from weft.graph.constant import constant
from weft.graph.graph import name_scope
from weft.graph.tensor import Tensor
from weft.lib.contrib.boosted_trees.distillation_loss import (
    create_dnn_to_tree_cross_entropy_loss_fn,
)
from weft.lib.contrib.boosted_trees.model import Trees, counted, stop_hook
from weft.lib.contrib.boosted_trees.network import SCOPE, Network
from weft.lib.contrib.boosted_trees.trainer_hooks import SwitchTrainOp
from weft.lib.contrib.layers.feature_column import real_valued_column
from weft.lib.contrib.learn.estimator import Estimator
from weft.lib.estimator import estimator as core
from weft.lib.estimator.heads.canned import classification_head, regression_head
from weft.lib.estimator.heads.shapes import weights_of
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.feature_column.numeric import numeric_column
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import summary
from weft.ops.array.placeholders import identity, stop_gradient
from weft.ops.control.cond import cond
from weft.ops.control.control import no_op
from weft.ops.nn.activations import relu
from weft.ops.scores.losses import Reduction
from weft.ops.state.global_step import get_global_step
from weft.ops.state.partitioners import min_max_variable_partitioner
from weft.ops.state.variable_scope import variable_scope

INPUT = "dnn_input_layer"


def _network_logits(
    network: Network, net: Tensor, width: int, mode: Any, tree_only: bool, steps: int
) -> Tensor:
    """Logits of the network; those of trees alone need them only while it is trained."""

    def logits() -> Tensor:
        return network.logits(net, width, mode == ModeKeys.TRAIN)

    if not tree_only or mode == ModeKeys.TRAIN:
        return logits()
    if mode == ModeKeys.PREDICT:
        return constant(0.0)
    return cond(get_global_step() > steps, lambda: constant(0.0), logits)


def _together(dnn: Tensor, tree: Tensor, mode: Any, tree_only: bool, steps: int) -> Tensor:
    if not tree_only:
        return dnn + tree
    if mode != ModeKeys.EVAL:
        return tree
    return cond(get_global_step() > steps, lambda: identity(tree), lambda: identity(dnn))


def _distilled(head: Any, features: Any, how: Any, dnn: Tensor, tree: Tensor) -> Tensor:
    """What is added to the loss of trees, so that they learn from the network."""
    weight, loss_fn = how
    if loss_fn is None:
        classes = 2 if head.logits_dimension == 1 else head.logits_dimension
        loss_fn = create_dnn_to_tree_cross_entropy_loss_fn(classes)
    column = getattr(head, "_weight_column", None)
    weights = None if column is None else weights_of(features, column, tree)
    loss = weight * loss_fn(stop_gradient(dnn), tree, weights)
    summary.scalar("dnn_to_tree_distillation_loss", loss)
    return loss


def _tree_features(features: Any, net: Tensor, columns: Any, to_tree: bool, core: bool) -> Any:
    """(features, columns) of the trees: with the network's input, if that is wanted."""
    if not to_tree:
        return features, columns
    width = int(net.shape[1])
    own = numeric_column(INPUT, [width]) if core else real_valued_column(INPUT, width)
    return {**features, INPUT: net}, [*(columns or ()), own]


def model_fn_of(
    head: Any,
    dnn_hidden_units: Any,
    dnn_feature_columns: Any,
    tree_learner_config: Any,
    num_trees: int,
    tree_examples_per_layer: Any,
    dnn_optimizer: Any = "Adagrad",
    dnn_activation_fn: Any = relu,
    dnn_dropout: float | None = None,
    dnn_input_layer_partitioner: Any = None,
    dnn_input_layer_to_tree: bool = True,
    dnn_steps_to_train: int = 10000,
    predict_with_tree_only: bool = False,
    tree_feature_columns: Any = None,
    tree_center_bias: bool = False,
    dnn_to_tree_distillation_param: Any = None,
    use_core_versions: bool = False,
    override_global_step_value: int | None = None,
) -> Callable[..., EstimatorSpec]:
    """The model function of both parts."""
    network = Network(
        dnn_hidden_units, dnn_feature_columns, dnn_optimizer, dnn_activation_fn, dnn_dropout,
        dnn_input_layer_partitioner, use_core_versions,
    )  # fmt: skip
    tree_only = predict_with_tree_only
    if dnn_to_tree_distillation_param and not tree_only:
        logging.warning("update predict_with_tree_only to True since distillationis specified.")
        tree_only = True

    def trees_on(features: Any, net: Tensor) -> tuple[Any, Any]:
        given, columns = _tree_features(
            features, net, tree_feature_columns, dnn_input_layer_to_tree, use_core_versions
        )
        params = {
            "head": head,
            "learner_config": tree_learner_config,
            "center_bias": tree_center_bias,
            "feature_columns": columns,
            "use_core_libs": use_core_versions,
            "examples_per_layer": tree_examples_per_layer,
            "num_quantiles": 100,
        }
        return Trees(params).on(given), given

    def model_fn(features: Any, labels: Any, mode: Any, config: Any) -> EstimatorSpec:
        if not isinstance(features, dict):
            raise ValueError(
                f"features should be a dictionary of `Tensor`s. Given type: {type(features)}"
            )
        if not dnn_feature_columns:
            raise ValueError("dnn_feature_columns must be specified")
        cut = network.partitioner or min_max_variable_partitioner(
            max_partitions=config.num_ps_replicas, min_slice_size=64 << 20
        )
        when = (mode, tree_only, dnn_steps_to_train)
        with variable_scope(SCOPE, values=tuple(features.values()), partitioner=cut):
            net = network.read(features, cut)
            dnn = _network_logits(network, net, head.logits_dimension, *when)
        trees, tree_features = trees_on(features, net)
        with name_scope("gbdt"):
            tree, _ = trees.predict(mode)

        def train_trees(loss: Any) -> Any:
            if dnn_to_tree_distillation_param:
                how = dnn_to_tree_distillation_param
                loss += _distilled(head, features, how, dnn, tree)
            return counted(trees.train(loss, tree))

        def spec_of(features: Any, logits: Tensor, train: Callable[[Any], Any]) -> EstimatorSpec:
            return head.create_estimator_spec(features, mode, logits, labels, train_op_fn=train)

        together = _together(dnn, tree, *when)
        spec = spec_of(features, together, lambda loss: no_op())
        if mode != ModeKeys.TRAIN:
            return spec
        first = spec_of(features, dnn, network.train).train_op
        second = spec_of(tree_features, together, train_trees).train_op
        hooks = [
            SwitchTrainOp(first, dnn_steps_to_train, second),
            stop_hook(trees, num_trees, override_global_step_value),
        ]
        return spec._replace(training_hooks=[*hooks, *(spec.training_hooks or ())])

    return model_fn


# ---- Estimators --------------------------------------------------------------------------------


class DNNBoostedTreeCombinedEstimator(Estimator):
    """A network and trees under a head of the program's choice.

    Args:
        dnn_hidden_units: the sizes of the network's hidden layers.
        dnn_feature_columns: its input.
        tree_learner_config: the settings of the trees.
        num_trees: how many trees are grown.
        tree_examples_per_layer: how many examples a layer of a tree is grown by.
        head: from logits to predictions and losses.
        model_dir: the folder of the model.
        config: a configuration of the run.
        feature_engineering_fn: changes features and labels first.
        dnn_optimizer, dnn_activation_fn, dnn_dropout, dnn_input_layer_partitioner: of the network.
        dnn_input_layer_to_tree: whether trees read what the network reads, too.
        dnn_steps_to_train: after how many steps trees begin.
        predict_with_tree_only: whether logits are those of the trees alone.
        tree_feature_columns: the input of the trees.
        tree_center_bias: whether a first tree is a bias.
        dnn_to_tree_distillation_param: (weight, loss function) by which trees learn from the
            network, or None.
        use_core_versions: whether columns are those of `tf.feature_column`.
        override_global_step_value: the step to end with.
    """

    def __init__(
        self, dnn_hidden_units: Any, dnn_feature_columns: Any, tree_learner_config: Any,
        num_trees: int, tree_examples_per_layer: Any, head: Any, model_dir: Any = None,
        config: Any = None, feature_engineering_fn: Any = None, dnn_optimizer: Any = "Adagrad",
        dnn_activation_fn: Any = relu, dnn_dropout: float | None = None,
        dnn_input_layer_partitioner: Any = None, dnn_input_layer_to_tree: bool = True,
        dnn_steps_to_train: int = 10000, predict_with_tree_only: bool = False,
        tree_feature_columns: Any = None, tree_center_bias: bool = False,
        dnn_to_tree_distillation_param: Any = None, use_core_versions: bool = False,
        override_global_step_value: int | None = None,
    ) -> None:  # fmt: skip
        given = dict(locals())
        for name in ("self", "head", "__class__", "model_dir", "config", "feature_engineering_fn"):
            del given[name]
        model_fn = model_fn_of(head, **given)
        super().__init__(model_fn, model_dir, config, None, feature_engineering_fn)


_of_estimator = DNNBoostedTreeCombinedEstimator.__init__


class DNNBoostedTreeCombinedClassifier(DNNBoostedTreeCombinedEstimator):
    """A network and trees that tell classes apart."""

    @with_parameters_of(
        _of_estimator,
        without=("head",),
        extra={
            "label_keys": ("config", None),
            "label_name": ("config", None),
            "weight_column_name": ("tree_examples_per_layer", None),
            "n_classes": ("tree_examples_per_layer", 2),
        },
    )
    def __init__(
        self, n_classes: int, weight_column_name: Any, label_name: Any, label_keys: Any,
        **given: Any,
    ) -> None:  # fmt: skip
        head = classification_head(n_classes, weight_column_name, label_keys, Reduction.MEAN)
        super().__init__(head=head, **given)


class DNNBoostedTreeCombinedRegressor(DNNBoostedTreeCombinedEstimator):
    """A network and trees that predict numbers."""

    @with_parameters_of(
        _of_estimator,
        without=("head",),
        extra={
            "label_dimension": ("config", 1),
            "label_name": ("config", None),
            "weight_column_name": ("tree_examples_per_layer", None),
        },
    )
    def __init__(
        self, weight_column_name: Any, label_name: Any, label_dimension: int, **given: Any
    ) -> None:
        given["tree_learner_config"].num_classes = max(label_dimension, 2)
        head = regression_head(label_dimension, weight_column_name, Reduction.MEAN)
        super().__init__(head=head, **given)


class CoreDNNBoostedTreeCombinedEstimator(core.Estimator):
    """A network and trees, as an Estimator of `tf.estimator`."""

    @with_parameters_of(
        _of_estimator,
        without=("feature_engineering_fn", "use_core_versions", "override_global_step_value"),
    )
    def __init__(self, head: Any, model_dir: Any, config: Any, **given: Any) -> None:
        super().__init__(model_fn_of(head, use_core_versions=True, **given), model_dir, config)
