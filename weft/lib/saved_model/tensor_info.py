"""A tensor of a graph as a `TensorInfo` message, and back (tf.saved_model.utils)."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import types_pb2
from tensorboard.compat.proto.meta_graph_pb2 import TensorInfo

from weft.core import dtypes
from weft.core.shapes import unknown_shape
from weft.graph.collection_def import prepend_name_scope
from weft.graph.graph import Graph, get_default_graph
from weft.graph.slices import SparseTensor
from weft.lib.ragged.tensor import RaggedTensor
from weft.lib.saved_model.structure import decode_spec, encode_spec


def build_tensor_info(tensor: Any) -> Any:
    """Name, type and shape of a tensor; of what consists of several tensors, those of each.

    Args:
        tensor: a tensor, SparseTensor or other object that consists of tensors.

    Returns:
        A `TensorInfo` message.

    Raises:
        RuntimeError: eager execution is on.

    Example:
        >>> tf.saved_model.utils.build_tensor_info(tf.constant([1.0], name="x")).name
        'x:0'
    """
    if isinstance(tensor, RaggedTensor):
        return _of_parts(tensor)
    info = TensorInfo(
        dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum,
        tensor_shape=tensor.get_shape().as_proto(),
    )
    if isinstance(tensor, SparseTensor):
        sparse = info.coo_sparse
        sparse.values_tensor_name = tensor.values.name
        sparse.indices_tensor_name = tensor.indices.name
        sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def _of_parts(tensor: Any) -> Any:
    info = TensorInfo()
    info.composite_tensor.type_spec.CopyFrom(encode_spec(tensor._type_spec))
    parts = tensor._composite_components()
    info.composite_tensor.components.extend(map(build_tensor_info, parts))
    return info


def build_tensor_info_from_op(op: Any) -> Any:
    """An operation in the clothes of a tensor: its name, and no type."""
    return TensorInfo(
        dtype=types_pb2.DT_INVALID, tensor_shape=unknown_shape().as_proto(), name=op.name
    )


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The tensor of `graph` that a message describes, below `import_scope` if there is one."""
    graph = graph or get_default_graph()

    def tensor(name: str) -> Any:
        return graph.get_tensor_by_name(prepend_name_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(
            tensor(sparse.indices_tensor_name),
            tensor(sparse.values_tensor_name),
            tensor(sparse.dense_shape_tensor_name),
        )
    if encoding == "composite_tensor":
        spec = decode_spec(tensor_info.composite_tensor.type_spec)
        parts = tensor_info.composite_tensor.components
        return spec._from_components([tensor(part.name) for part in parts])
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}")


def get_element_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The operation or tensor that a message names."""
    name = prepend_name_scope(tensor_info.name, import_scope)
    return (graph or get_default_graph()).as_graph_element(name)
