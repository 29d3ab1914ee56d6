"""Operations on the trees of random forests, which tf.contrib.tensor_forest builds graphs of."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core.errors import NotFoundError
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST_STATE, NO_GRADIENT
from weft.ops.kit.resource_names import named_or_node
from weft.ops.trees.forest_objects import Tree, TreeParams

Array = np.ndarray
_HANDLE = "tree_handle: resource"


@op(
    "DecisionTreeResourceHandleOp", outputs="resource: resource",
    attrs='container: string = "", shared_name: string = ""', shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def tree_handle(xp: Any, ctx: Any) -> Tree:
    attrs = ctx.node.attrs
    name = attrs["shared_name"] or ctx.node.name
    return named_or_node(
        ctx, "decision tree", attrs["container"], attrs["shared_name"], lambda: Tree(name)
    )


def _made(tree: Tree) -> Tree:
    if not tree.initialized:
        raise NotFoundError(None, None, f"Resource of decision tree {tree.name} does not exist.")
    return tree


@op(
    "TreeIsInitializedOp",
    inputs=_HANDLE,
    outputs="is_initialized: bool",
    shape=s.scalar,
    traits=HOST_STATE,
)
def tree_is_initialized(xp: Any, tree_handle: Tree) -> Array:
    return np.array(tree_handle.initialized)


@op(
    "CreateTreeVariable", inputs=f"{_HANDLE}, tree_config: string", attrs="params: string",
    shape=s.none, traits=HOST_STATE,
)  # fmt: skip
def create_tree(xp: Any, tree_handle: Tree, tree_config: Any, *, params: str) -> None:
    with tree_handle.lock:
        tree_handle.create(TreeParams.parse(params), np.asarray(tree_config).item())


@op(
    "TreeSerialize",
    inputs=_HANDLE,
    outputs="tree_config: string",
    shape=s.scalar,
    traits=HOST_STATE | NO_GRADIENT,
)
def tree_serialize(xp: Any, tree_handle: Tree) -> Array:
    with _made(tree_handle).lock:
        return np.array(tree_handle.dumps(), object)


@op(
    "TreeDeserialize", inputs=f"{_HANDLE}, tree_config: string", attrs="params: string",
    shape=s.none, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def tree_deserialize(xp: Any, tree_handle: Tree, tree_config: Any, *, params: str) -> None:
    with tree_handle.lock:
        tree_handle.create(TreeParams.parse(params), b"")
        tree_handle.load(np.asarray(tree_config).item())


@op(
    "TreeSize",
    inputs=_HANDLE,
    outputs="tree_size: int32",
    shape=s.scalar,
    traits=HOST_STATE | NO_GRADIENT,
)
def tree_size(xp: Any, tree_handle: Tree) -> Array:
    return np.array(len(_made(tree_handle).feature), np.int32)


@op(
    "FeatureUsageCounts", inputs=_HANDLE, outputs="feature_counts: int32", attrs="params: string",
    shape=lambda c: (None,), traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def feature_usage_counts(xp: Any, tree_handle: Tree) -> Array:
    with _made(tree_handle).lock:
        return tree_handle.feature_counts()


def _predicted(c: ShapeContext) -> list[Dims]:
    rows = s.with_rank(c.dims(1), 2)
    count = rows[0] if rows is not None else None
    return [(count, TreeParams.parse(c.attr("params")).num_outputs), (count,)]


@op(
    "TreePredictionsV4", inputs=f"{_HANDLE}, input_data: float",
    outputs="predictions: float, tree_paths: string", attrs="params: string", shape=_predicted,
    traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def tree_predictions(xp: Any, tree_handle: Tree, input_data: Array) -> Any:
    with _made(tree_handle).lock:
        found = tree_handle.predict(input_data)
    paths = np.full(len(input_data), b"", object)
    return found, paths


@op(
    "GrowTreeV4", inputs=f"{_HANDLE}, input_data: float, input_labels: float, input_weights: float",
    attrs="random_seed: int = 0, params: string", shape=s.none, traits=HOST_STATE | NO_GRADIENT,
)  # fmt: skip
def grow_tree(
    xp: Any, tree_handle: Tree, input_data: Array, input_labels: Array, input_weights: Array, *,
    random_seed: int,
) -> None:  # fmt: skip
    """Examples arrive at the leaves of a tree, some of which split."""
    with _made(tree_handle).lock:
        tree_handle.train(input_data, input_labels, input_weights, random_seed)
