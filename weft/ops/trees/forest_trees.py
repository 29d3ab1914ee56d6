"""One tree of a forest as an object that is given, not grown: a message of splits and leaves."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from weft.core import errors
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE
from weft.ops.kit.resource_names import named_or_node
from weft.ops.kit.shared import invalid
from weft.ops.kit.string_arrays import scalar, string
from weft.protos.boosted_trees import Tree

_HANDLE = "tree_handle: resource"
_STATE: dict[str, Any] = dict(traits=HOST_STATE)


class ForestTree:
    """A tree, once it is made of a message."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.Lock()
        self._tree: Any = None

    @property
    def is_made(self) -> bool:
        return self._tree is not None

    def read(self, content: Any) -> None:
        tree = Tree()
        try:
            tree.ParseFromString(string(content))
        except DecodeError:
            raise invalid("Unable to parse tree config.") from None
        self._tree = tree

    def tree(self) -> Any:
        if self._tree is None:
            kind = "N10tensorflow24TensorForestTreeResourceE"
            message = f"Resource localhost/{self.name}/{kind} does not exist."
            raise errors.NotFoundError(None, None, message)
        return self._tree

    def leaf(self, features: np.ndarray) -> Any:
        """The leaf that an example comes to."""
        nodes = self.tree().nodes
        node = nodes[0]
        while node.WhichOneof("node") != "leaf":
            split = node.dense_split
            goes_left = features[split.feature_id] <= split.threshold
            node = nodes[split.left_id if goes_left else split.right_id]
        return node.leaf.vector.value


@op(
    "TensorForestTreeResourceHandleOp", outputs="resource: resource",
    attrs='container: string = "", shared_name: string = ""', shape=s.scalar, **_STATE,
)  # fmt: skip
def tree_handle_(xp: Any, ctx: Any, *, container: str, shared_name: str) -> ForestTree:
    name = shared_name or ctx.node.name
    return named_or_node(ctx, "forest tree", container, shared_name, lambda: ForestTree(name))


@op(
    "TensorForestTreeIsInitializedOp", inputs=_HANDLE, outputs="is_initialized: bool",
    shape=s.scalar, **_STATE,
)  # fmt: skip
def is_initialized_(xp: Any, tree_handle: ForestTree) -> Any:
    return np.array(tree_handle.is_made)


def _checked_config(c: s.ShapeContext) -> list[s.Dims]:
    for i in (0, 1):
        s.with_rank(c.dims(i), 0)
    return []


@op(
    "TensorForestCreateTreeVariable", inputs=f"{_HANDLE}, tree_config: string",
    shape=_checked_config, **_STATE,
)  # fmt: skip
def create_tree_(xp: Any, tree_handle: ForestTree, tree_config: Any) -> None:
    """Makes the tree, unless there is one."""
    with tree_handle.lock:
        made = ForestTree(tree_handle.name)
        made.read(tree_config)
        if not tree_handle.is_made:
            tree_handle.read(tree_config)


@op(
    "TensorForestTreeDeserialize", inputs=f"{_HANDLE}, tree_config: string", shape=_checked_config,
    **_STATE,
)  # fmt: skip
def deserialize_tree_(xp: Any, tree_handle: ForestTree, tree_config: Any) -> None:
    with tree_handle.lock:
        tree_handle.tree()
        tree_handle.read(tree_config)


@op(
    "TensorForestTreeSerialize", inputs=_HANDLE, outputs="tree_config: string", shape=s.scalar,
    **_STATE,
)  # fmt: skip
def serialize_tree_(xp: Any, tree_handle: ForestTree) -> Any:
    return scalar(tree_handle.tree().SerializeToString())


@op("TensorForestTreeSize", inputs=_HANDLE, outputs="tree_size: int32", shape=s.scalar, **_STATE)
def tree_size_(xp: Any, tree_handle: ForestTree) -> Any:
    return np.array(len(tree_handle.tree().nodes), np.int32)


def _predicted(c: s.ShapeContext) -> s.Dims:
    return (s.with_rank(c.dims(1), 2)[0], c.attr("logits_dimension"))


@op(
    "TensorForestTreePredict", inputs=f"{_HANDLE}, dense_features: float", outputs="logits: float",
    attrs="logits_dimension: int", shape=_predicted, **_STATE,
)  # fmt: skip
def predict_(
    xp: Any, tree_handle: ForestTree, dense_features: Any, *, logits_dimension: int
) -> Any:
    found = np.zeros((len(dense_features), logits_dimension), np.float32)
    with tree_handle.lock:
        if tree_handle.tree().nodes:
            for i, features in enumerate(dense_features):
                found[i] = tree_handle.leaf(features)[:logits_dimension]
    return found
