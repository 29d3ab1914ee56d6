"""Operations on ensembles of trees: their handles, their state, and how they grow."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST_STATE
from weft.ops.kit.resource_names import named_or_node
from weft.ops.trees.ensemble_objects import DEFAULT_LEFT, EQUALITY, Ensemble, Split
from weft.ops.trees.ensemble_objects import DEFAULT_RIGHT as _RIGHT
from weft.ops.trees.gains import gains_are_equal, is_larger, weights_and_gains

Array = np.ndarray
_HANDLE = "tree_ensemble_handle: resource"


@op(
    "BoostedTreesEnsembleResourceHandleOp", outputs="resource: resource",
    attrs='container: string = "", shared_name: string = ""', shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def ensemble_handle(xp: Any, ctx: Any) -> Ensemble:
    attrs = ctx.node.attrs
    name = attrs["shared_name"] or ctx.node.name
    return named_or_node(
        ctx, "tree ensemble", attrs["container"], attrs["shared_name"], lambda: Ensemble(name)
    )


@op(
    "IsBoostedTreesEnsembleInitialized", inputs=_HANDLE, outputs="is_initialized: bool",
    shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def is_ensemble_initialized(xp: Any, tree_ensemble_handle: Ensemble) -> Any:
    return np.array(tree_ensemble_handle.initialized)


def _scalars_after_handle(c: ShapeContext) -> Any:
    for i in range(c.num_inputs):
        s.with_rank(c.dims(i), 0)
    return []


_SERIALIZED: dict[str, Any] = dict(
    inputs=f"{_HANDLE}, stamp_token: int64, tree_ensemble_serialized: string",
    shape=_scalars_after_handle,
    traits=HOST_STATE,
)


@op("BoostedTreesCreateEnsemble", **_SERIALIZED)
def create_ensemble(
    xp: Any, tree_ensemble_handle: Ensemble, stamp_token: Any, tree_ensemble_serialized: Any
) -> None:
    """Gives a handle its ensemble, unless it has one."""
    with tree_ensemble_handle.lock:
        if not tree_ensemble_handle.initialized:
            tree_ensemble_handle.load(_bytes(tree_ensemble_serialized), int(stamp_token))


@op("BoostedTreesDeserializeEnsemble", **_SERIALIZED)
def deserialize_ensemble(
    xp: Any, tree_ensemble_handle: Ensemble, stamp_token: Any, tree_ensemble_serialized: Any
) -> None:
    with tree_ensemble_handle.lock:
        assert tree_ensemble_handle.message is not None
        tree_ensemble_handle.load(_bytes(tree_ensemble_serialized), int(stamp_token))


def _bytes(value: Any) -> bytes:
    return np.asarray(value, object).item()


@op(
    "BoostedTreesSerializeEnsemble", inputs=_HANDLE,
    outputs="stamp_token: int64, tree_ensemble_serialized: string",
    shape=lambda c: [(), ()], traits=HOST_STATE,
)  # fmt: skip
def serialize_ensemble(xp: Any, tree_ensemble_handle: Ensemble) -> tuple[Array, Array]:
    with tree_ensemble_handle.lock:
        text = tree_ensemble_handle.message.SerializeToString()
        return np.array(tree_ensemble_handle.stamp, np.int64), np.array(text, object)


@op(
    "BoostedTreesGetEnsembleStates", inputs=_HANDLE,
    outputs="stamp_token: int64, num_trees: int32, num_finalized_trees: int32,"
    " num_attempted_layers: int32, last_layer_nodes_range: int32",
    shape=lambda c: [(), (), (), (), (2,)], traits=HOST_STATE,
)  # fmt: skip
def ensemble_states(xp: Any, tree_ensemble_handle: Ensemble) -> tuple[Array, ...]:
    with tree_ensemble_handle.lock:
        message = tree_ensemble_handle.message
        count, growing = len(message.trees), message.growing_metadata
        open_trees = int(count > 0 and not message.tree_metadata[-1].is_finalized)
        last = [growing.last_layer_node_start, max(1, growing.last_layer_node_end)]
        numbers = (count, count - open_trees, growing.num_layers_attempted, last)
        return (
            np.array(tree_ensemble_handle.stamp, np.int64),
            *(np.array(number, np.int32) for number in numbers),
        )


# ---- growing -------------------------------------------------------------------------------------


def _update_shapes(lists: int) -> Any:
    """A rule for `lists` groups of inputs, one vector or matrix for each feature."""

    def rule(c: ShapeContext) -> Any:
        count = c.attr("num_features")
        s.merge(s.with_rank(c.dims(1), 1), (count,))
        matrices = (lists - 3, lists - 2) if lists == 7 else (lists - 2, lists - 1)
        for group in range(lists):
            for i in range(count):
                s.with_rank(c.dims(2 + group * count + i), 2 if group in matrices else 1)
        for i in range(2 + lists * count, c.num_inputs):
            s.with_rank(c.dims(i), 0)
        return []

    return rule


def best_splits(feature_ids: Array, learning_rate: Any, columns: list[list[Any]]) -> Any:
    """The best split of each node over all features; equal ones go to the lower feature."""
    best: dict[int, Split] = {}
    rate = np.float32(learning_rate)
    for feature, *rows in zip(feature_ids.tolist(), *columns, strict=True):
        for node, gain, threshold, dimension, left, right, kind in zip(*rows, strict=True):
            found = Split(
                feature, int(dimension), int(threshold), float(gain),
                rate * left[0], rate * right[0], _text(kind),
            )  # fmt: skip
            known = best.get(int(node))
            if known is None or _is_better(found, known):
                best[int(node)] = found
    return best


def _text(kind: Any) -> str:
    text = kind.decode() if isinstance(kind, bytes) else kind
    if text not in (DEFAULT_LEFT, _RIGHT, EQUALITY):
        raise errors.InternalError(None, None, "Parse failed")
    return text


def _is_better(found: Split, known: Split) -> bool:
    if gains_are_equal(found.gain, known.gain):
        return found.feature_id < known.feature_id
    return is_larger(found.gain, known.gain)


def _grow(ensemble: Ensemble, splits: Any, max_depth: Any, pruning_mode: Any) -> None:
    with ensemble.lock:
        assert ensemble.message is not None
        ensemble.stamp += 1
        ensemble.grow(splits, int(max_depth), int(pruning_mode))


@op(
    "BoostedTreesUpdateEnsemble",
    inputs=f"{_HANDLE}, feature_ids: int32, node_ids: num_features * int32,"
    " gains: num_features * float, thresholds: num_features * int32,"
    " left_node_contribs: num_features * float, right_node_contribs: num_features * float,"
    " max_depth: int32, learning_rate: float",
    attrs="pruning_mode: int >= 0, num_features: int >= 0",
    shape=_update_shapes(5), traits=HOST_STATE,
)  # fmt: skip
def update_ensemble(
    xp: Any, tree_ensemble_handle: Ensemble, feature_ids: Array, node_ids: Any, gains: Any,
    thresholds: Any, left_node_contribs: Any, right_node_contribs: Any, max_depth: Any,
    learning_rate: Any, *, pruning_mode: int,
) -> None:  # fmt: skip
    zeros = [np.zeros_like(each) for each in node_ids]
    kinds = [[DEFAULT_LEFT] * len(each) for each in node_ids]
    columns = [node_ids, gains, thresholds, zeros, left_node_contribs, right_node_contribs, kinds]
    splits = best_splits(feature_ids, learning_rate, columns)
    _grow(tree_ensemble_handle, splits, max_depth, pruning_mode)


@op(
    "BoostedTreesUpdateEnsembleV2",
    inputs=f"{_HANDLE}, feature_ids: int32, dimension_ids: num_features * int32,"
    " node_ids: num_features * int32, gains: num_features * float,"
    " thresholds: num_features * int32, left_node_contribs: num_features * float,"
    " right_node_contribs: num_features * float, split_types: num_features * string,"
    " max_depth: int32, learning_rate: float, pruning_mode: int32",
    attrs="num_features: int >= 0",
    shape=_update_shapes(7), traits=HOST_STATE,
)  # fmt: skip
def update_ensemble_v2(
    xp: Any, tree_ensemble_handle: Ensemble, feature_ids: Array, dimension_ids: Any, node_ids: Any,
    gains: Any, thresholds: Any, left_node_contribs: Any, right_node_contribs: Any,
    split_types: Any, max_depth: Any, learning_rate: Any, pruning_mode: Any,
) -> None:  # fmt: skip
    columns = [
        node_ids, gains, thresholds, dimension_ids, left_node_contribs, right_node_contribs,
        split_types,
    ]  # fmt: skip
    splits = best_splits(feature_ids, learning_rate, columns)
    _grow(tree_ensemble_handle, splits, max_depth, pruning_mode)


def _bias_shapes(c: ShapeContext) -> Dims:
    s.merge(s.with_rank(c.dims(1), 2), s.with_rank(c.dims(2), 2))
    s.with_rank(c.dims(3), 0)
    s.with_rank(c.dims(4), 0)
    return ()


@op(
    "BoostedTreesCenterBias",
    inputs=f"{_HANDLE}, mean_gradients: float, mean_hessians: float, l1: float, l2: float",
    outputs="continue_centering: bool", shape=_bias_shapes, traits=HOST_STATE,
)  # fmt: skip
def center_bias(
    xp: Any, tree_ensemble_handle: Ensemble, mean_gradients: Array, mean_hessians: Array,
    l1: Any, l2: Any,
) -> Array:  # fmt: skip
    """Moves the root of the first tree; whether it is worth another step."""
    if mean_gradients.shape[1] != 1:
        raise errors.InternalError(
            None, None, f"Expected logits_dim == 1, got {mean_gradients.shape[1]}"
        )
    with tree_ensemble_handle.lock:
        message = tree_ensemble_handle.message
        tree_ensemble_handle.stamp += 1
        weights, _ = weights_and_gains(mean_gradients[:1], mean_hessians[:1], l1, l2)
        logits = weights[0, 0]
        if not message.trees:
            tree_ensemble_handle.add_tree(logits)
            return np.array(True)
        leaf = message.trees[0].nodes[0].leaf
        before = np.float32(leaf.scalar)
        leaf.scalar = before + logits
        with np.errstate(all="ignore"):
            return np.array(bool(np.abs(logits / before) > np.float32(0.01)))
