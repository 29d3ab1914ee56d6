"""A frozen signature as an ONNX model, where ONNX has its operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.walk import reached
from weft.graph.graph import Graph
from weft.graph.importer import import_graph_def
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.tools import onnx_images as onnx_images  # it registers rules
from weft.lib.tools.onnx_ops import RULES, OnnxGraph, Unsupported
from weft.lib.tools.signature_graph import SignatureGraph

_OPSET, _IR = 17, 8


def export_onnx(given: SignatureGraph) -> bytes:
    """The bytes of the model; ValueError with a list of what ONNX lacks."""
    try:
        import onnx
    except ImportError as error:
        raise ValueError(f"{error}: pip install 'weft[onnx]'") from error
    with Graph().as_default() as graph:
        import_graph_def(given.graph_def, name="")
        inputs = {key: graph.get_tensor_by_name(info.name) for key, info in given.inputs.items()}
        outputs = {key: graph.get_tensor_by_name(info.name) for key, info in given.outputs.items()}
    made = OnnxGraph(onnx)
    for key, tensor in inputs.items():
        made.names[tensor] = key
    _convert(made, _in_order(list(outputs.values()), set(inputs.values())))
    for key, tensor in outputs.items():
        made.nodes.append(onnx.helper.make_node("Identity", [made.name_of(tensor)], [key]))
    _check_keys(inputs, outputs)
    model = onnx.helper.make_model(
        onnx.helper.make_graph(
            made.nodes, "signature",
            [_described(onnx, key, tensor) for key, tensor in inputs.items()],
            [_described(onnx, key, tensor) for key, tensor in outputs.items()],
            made.constants,
        ),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)], ir_version=_IR, producer_name="weft",
    )  # fmt: skip
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())


def _check_keys(inputs: dict[str, Tensor], outputs: dict[str, Tensor]) -> None:
    both = sorted(set(inputs) & set(outputs))
    if both:
        raise ValueError(f"an input and an output have the same key in ONNX: {', '.join(both)}")


def _in_order(fetches: Sequence[Tensor], fed: set[Tensor]) -> list[Operation]:
    """The operations that compute `fetches`, each after those it needs."""
    needed = reached(
        [tensor.op for tensor in fetches if tensor not in fed],
        lambda op: [tensor.op for tensor in op.inputs if tensor not in fed],
    )
    waiting, order, done = list(needed), list[Operation](), {tensor.op for tensor in fed}
    while waiting:
        ready = [op for op in waiting if all(t in fed or t.op in done for t in op.inputs)]
        if not ready:
            raise ValueError("loops of TensorFlow 1's form have no equivalent in ONNX")
        order += ready
        done |= set(ready)
        waiting = [op for op in waiting if op not in done]
    return order


def _convert(made: OnnxGraph, order: Sequence[Operation]) -> None:
    lacking = {op.type for op in order if op.type not in RULES}
    if lacking:
        raise ValueError(f"operations without an equivalent in ONNX: {', '.join(sorted(lacking))}")
    refused = dict[str, None]()
    for op in order:
        try:
            RULES[op.type](made, op)
        except Unsupported as error:
            refused[f"{op.type} ({error})"] = None
            for tensor in op.outputs:
                made.names[tensor] = tensor.name
    if refused:
        raise ValueError(f"operations without an equivalent in ONNX: {', '.join(refused)}")


def _described(onnx: Any, key: str, tensor: Tensor) -> Any:
    dims = None
    if tensor.shape.ndims is not None:
        sizes = tensor.shape.as_list()
        dims = [f"{key}_{i}" if n is None else n for i, n in enumerate(sizes)]
        if dims and sizes[0] is None:
            dims[0] = "batch"
    return onnx.helper.make_tensor_value_info(key, onnx_type(onnx, tensor.dtype), dims)


def onnx_type(onnx: Any, dtype: Any) -> int:
    """ONNX's number for a type."""
    if dtype.base_dtype is dtypes.string:
        return int(onnx.TensorProto.STRING)
    return int(onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype.as_numpy_dtype)))


def run_onnx(content: bytes, values: dict[str, Any], keys: Sequence[str]) -> dict[str, np.ndarray]:
    """The outputs of a model by onnxruntime."""
    try:
        import onnxruntime
    except ImportError as error:
        raise ValueError(f"{error}: pip install 'weft[onnx]'") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return dict(zip(keys, session.run(list(keys), values), strict=True))
