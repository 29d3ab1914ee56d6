"""Operations on the ensembles of tf.contrib.boosted_trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.errors import NotFoundError
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST_STATE, NO_GRADIENT
from weft.ops.kit.resource_names import named_or_node
from weft.ops.trees.gradient_ensemble import Columns, Ensemble, parse
from weft.protos.contrib_trees import LearnerConfig

Array = np.ndarray
_HANDLE = "tree_ensemble_handle: resource"
_STATE: Any = {"traits": HOST_STATE | NO_GRADIENT}
_COUNTS = (
    "num_dense_float_features: int >= 0, num_sparse_float_features: int >= 0, "
    "num_sparse_int_features: int >= 0"
)
_FEATURES = """
dense_float_features: num_dense_float_features * float,
sparse_float_feature_indices: num_sparse_float_features * int64,
sparse_float_feature_values: num_sparse_float_features * float,
sparse_float_feature_shapes: num_sparse_float_features * int64,
sparse_int_feature_indices: num_sparse_int_features * int64,
sparse_int_feature_values: num_sparse_int_features * int64,
sparse_int_feature_shapes: num_sparse_int_features * int64
"""
_PREDICTION = (
    f"learner_config: string, {_COUNTS}, use_locking: bool = false, apply_dropout: bool, "
    "apply_averaging: bool, center_bias: bool, reduce_dim: bool"
)


@op(
    "DecisionTreeEnsembleResourceHandleOp", outputs="resource: resource",
    attrs='container: string = "", shared_name: string = ""', shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def ensemble_handle(xp: Any, ctx: Any) -> Ensemble:
    attrs = ctx.node.attrs
    name = attrs["shared_name"] or ctx.node.name
    return named_or_node(
        ctx, "tree ensemble", attrs["container"], attrs["shared_name"], lambda: Ensemble(name)
    )


def _made(ensemble: Ensemble) -> Ensemble:
    if ensemble.message is None:
        raise NotFoundError(
            None, None, f"Resource of tree ensemble {ensemble.name} does not exist."
        )
    return ensemble


@op(
    "TreeEnsembleIsInitializedOp",
    inputs=_HANDLE,
    outputs="is_initialized: bool",
    shape=s.scalar,
    traits=HOST_STATE,
)
def ensemble_is_initialized(xp: Any, tree_ensemble_handle: Ensemble) -> Array:
    return np.array(tree_ensemble_handle.message is not None)


def _loading(name: str) -> None:
    @op(
        name,
        inputs=f"{_HANDLE}, stamp_token: int64, tree_ensemble_config: string",
        shape=s.none,
        **_STATE,
    )
    def load(
        xp: Any, tree_ensemble_handle: Ensemble, stamp_token: Array, tree_ensemble_config: Any
    ) -> None:
        with tree_ensemble_handle.lock:
            content = np.asarray(tree_ensemble_config).item()
            tree_ensemble_handle.load(int(stamp_token), content)


_loading("CreateTreeEnsembleVariable")
_loading("TreeEnsembleDeserialize")


@op(
    "TreeEnsembleStampToken", inputs=_HANDLE, outputs="stamp_token: int64", shape=s.scalar, **_STATE
)
def ensemble_stamp(xp: Any, tree_ensemble_handle: Ensemble) -> Array:
    return np.array(_made(tree_ensemble_handle).stamp, np.int64)


@op(
    "TreeEnsembleSerialize",
    inputs=_HANDLE,
    outputs="stamp_token: int64, tree_ensemble_config: string",
    shape=lambda c: [(), ()],
    **_STATE,
)
def ensemble_serialize(xp: Any, tree_ensemble_handle: Ensemble) -> Any:
    with _made(tree_ensemble_handle).lock:
        content = tree_ensemble_handle.message.SerializeToString()
        return np.array(tree_ensemble_handle.stamp, np.int64), np.array(content, object)


_STATS = ("num_trees", "num_layers", "active_tree", "active_layer", "attempted_trees",
          "attempted_layers")  # fmt: skip


@op(
    "TreeEnsembleStats",
    inputs=f"{_HANDLE}, stamp_token: int64",
    outputs=", ".join(f"{name}: int64" for name in _STATS),
    shape=lambda c: [() for _ in _STATS],
    **_STATE,
)
def ensemble_stats(xp: Any, tree_ensemble_handle: Ensemble, stamp_token: Array) -> Any:
    with _made(tree_ensemble_handle).lock:
        found = tree_ensemble_handle.stats()
    return tuple(np.array(found[name], np.int64) for name in _STATS)


def _width(config: Any, reduce_dim: bool) -> int:
    return config.num_classes - 1 if reduce_dim else config.num_classes


def _columns(features: tuple[Any, ...]) -> Columns:
    dense, *rest = features
    return Columns(dense, list(zip(*rest[:3], strict=True)), list(zip(*rest[3:], strict=True)))


def _predicted_shape(c: ShapeContext) -> list[Dims]:
    config = parse(LearnerConfig, _encoded(c.attr("learner_config")), "learner config")
    shapes: list[Dims] = [(None, _width(config, c.attr("reduce_dim"))), (2, None)]
    return [*shapes, (None, None)][: c.num_outputs]


def _encoded(text: Any) -> bytes:
    return text if isinstance(text, bytes) else text.encode("latin-1")


def _averaged(config: Any, weights: Array) -> Array:
    """Weights such that the sum is the average of the last ensembles, each a tree longer."""
    setting = config.averaging_config
    match setting.WhichOneof("config"):
        case "average_last_n_trees":
            count = int(setting.average_last_n_trees)
        case "average_last_percent_trees":
            count = int(np.ceil(len(weights) * setting.average_last_percent_trees))
        case _:
            return weights
    count = min(max(count, 1), len(weights))
    share = np.ones(len(weights))
    share[len(weights) - count :] = (count - np.arange(count)) / max(count, 1)
    return weights * share


def _predict(
    ensemble: Ensemble, seed: Array, features: tuple[Any, ...], settings: dict[str, Any]
) -> tuple[Array, Array, Array]:
    config = parse(LearnerConfig, _encoded(settings["learner_config"]), "learner config")
    columns = _columns(features)
    with _made(ensemble).lock:
        message = ensemble.message
        weights = np.array(message.tree_weights)
        dropped: list[int] = []
        if settings["apply_dropout"] and config.learning_rate_tuner.HasField("dropout"):
            dropped = ensemble.dropped(config, int(seed), settings["center_bias"])
        told = np.array([dropped, weights[dropped]], np.float32).reshape(2, -1)
        weights[dropped] = 0
        if settings["apply_averaging"]:
            weights = _averaged(config, weights)
        if config.growing_mode == LearnerConfig.WHOLE_TREE and not ensemble.last_is_final():
            weights[-1] = 0
        logits, leaves = ensemble.predict(columns, _width(config, settings["reduce_dim"]), weights)
    return logits, told, leaves


def _prediction(name: str, outputs: str) -> None:
    count = outputs.count(":")

    @op(
        name,
        inputs=f"{_HANDLE}, seed: int64, {_FEATURES}",
        outputs=outputs,
        attrs=_PREDICTION,
        shape=_predicted_shape,
        **_STATE,
    )
    def predict(
        xp: Any, tree_ensemble_handle: Ensemble, seed: Array, dense_float_features: Any,
        sparse_float_feature_indices: Any, sparse_float_feature_values: Any,
        sparse_float_feature_shapes: Any, sparse_int_feature_indices: Any,
        sparse_int_feature_values: Any, sparse_int_feature_shapes: Any, *, learner_config: str,
        apply_dropout: bool, apply_averaging: bool, center_bias: bool, reduce_dim: bool,
    ) -> Any:  # fmt: skip
        features = (
            dense_float_features, sparse_float_feature_indices, sparse_float_feature_values,
            sparse_float_feature_shapes, sparse_int_feature_indices, sparse_int_feature_values,
            sparse_int_feature_shapes,
        )  # fmt: skip
        settings = {
            "learner_config": learner_config, "apply_dropout": apply_dropout,
            "apply_averaging": apply_averaging, "center_bias": center_bias,
            "reduce_dim": reduce_dim,
        }  # fmt: skip
        return _predict(tree_ensemble_handle, seed, features, settings)[:count]


_prediction("GradientTreesPrediction", "predictions: float, drop_out_tree_indices_weights: float")
_prediction(
    "GradientTreesPredictionVerbose",
    "predictions: float, drop_out_tree_indices_weights: float, leaf_index: int32",
)


@op(
    "UpdateTreeEnsemble",
    inputs=f"{_HANDLE}, gradients: float, hessians: float, examples_per_layer: int64, {_FEATURES}",
    attrs=f"learner_config: string, {_COUNTS}, center_bias: bool, num_quantiles: int = 100",
    shape=s.none,
    **_STATE,
)
def update_ensemble(
    xp: Any, tree_ensemble_handle: Ensemble, gradients: Array, hessians: Array,
    examples_per_layer: Array, dense_float_features: Any, sparse_float_feature_indices: Any,
    sparse_float_feature_values: Any, sparse_float_feature_shapes: Any,
    sparse_int_feature_indices: Any, sparse_int_feature_values: Any,
    sparse_int_feature_shapes: Any, *, learner_config: str, center_bias: bool, num_quantiles: int,
) -> None:  # fmt: skip
    """Keeps the gradients of a batch; when there are enough of them, a layer grows."""
    config = parse(LearnerConfig, _encoded(learner_config), "learner config")
    columns = _columns((
        dense_float_features, sparse_float_feature_indices, sparse_float_feature_values,
        sparse_float_feature_shapes, sparse_int_feature_indices, sparse_int_feature_values,
        sparse_int_feature_shapes,
    ))  # fmt: skip
    with _made(tree_ensemble_handle).lock:
        ensemble = tree_ensemble_handle
        class_id = -1
        if config.multi_class_strategy == LearnerConfig.TREE_PER_CLASS and gradients.shape[1] > 1:
            class_id = ensemble.stats()["attempted_trees"] % gradients.shape[1]
            chosen = slice(class_id, class_id + 1)
            gradients, hessians = gradients[:, chosen], hessians[:, chosen]
        waiting = ensemble.add(columns, gradients.astype(np.float64), hessians.astype(np.float64))
        if waiting < int(examples_per_layer):
            return
        if center_bias and ensemble.is_centering():
            ensemble.center()
        else:
            ensemble.grow(config, columns, class_id, num_quantiles)
