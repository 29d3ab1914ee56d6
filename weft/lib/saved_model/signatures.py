"""`SignatureDef`: named inputs and outputs, and what a server may do with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto import types_pb2
from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

from weft.core import errors
from weft.graph.tensor import Tensor
from weft.lib.saved_model import signature_constants as names
from weft.lib.saved_model.tensor_info import (
    build_tensor_info,
    build_tensor_info_from_op,
    get_element_from_tensor_info,
)


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
) -> Any:
    """A signature of `TensorInfo` messages by key."""
    signature = SignatureDef()
    for key, info in (inputs or {}).items():
        signature.inputs[key].CopyFrom(info)
    for key, info in (outputs or {}).items():
        signature.outputs[key].CopyFrom(info)
    if method_name is not None:
        signature.method_name = method_name
    return signature


def _infos(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {key: build_tensor_info(tensor) for key, tensor in tensors.items()}


def _info_of(tensor: Any, wanted: int, message: str) -> Any:
    info = build_tensor_info(tensor)
    if info.dtype != wanted:
        raise ValueError(message)
    return info


def _examples_info(examples: Any, kind: str) -> Any:
    if examples is None:
        raise ValueError(f"{kind} examples cannot be None.")
    message = f"{kind} examples must be a string Tensor."
    if not isinstance(examples, Tensor):
        raise ValueError(message)
    return _info_of(examples, types_pb2.DT_STRING, message)


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """Serialized examples in, floats out."""
    inputs = {names.REGRESS_INPUTS: _examples_info(examples, "Regression")}
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    message = "Regression output must be a float Tensor."
    outputs = {names.REGRESS_OUTPUTS: _info_of(predictions, types_pb2.DT_FLOAT, message)}
    return build_signature_def(inputs, outputs, names.REGRESS_METHOD_NAME)


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """Serialized examples in; names of classes, their scores, or both out."""
    inputs = {names.CLASSIFY_INPUTS: _examples_info(examples, "Classification")}
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    outputs = {}
    if classes is not None:
        message = "Classification classes must be a string Tensor."
        info = _info_of(classes, types_pb2.DT_STRING, message)
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = info
    if scores is not None:
        message = "Classification scores must be a float Tensor."
        info = _info_of(scores, types_pb2.DT_FLOAT, message)
        outputs[names.CLASSIFY_OUTPUT_SCORES] = info
    return build_signature_def(inputs, outputs, names.CLASSIFY_METHOD_NAME)


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """Any tensors in, any tensors out."""
    if not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), names.PREDICT_METHOD_NAME)


def supervised_train_signature_def(
    inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None
) -> Any:
    """The signature of a training graph."""
    method = names.SUPERVISED_TRAIN_METHOD_NAME
    return _supervised_signature_def(method, inputs, loss, predictions, metrics)


def supervised_eval_signature_def(
    inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None
) -> Any:
    """The signature of an evaluation graph."""
    method = names.SUPERVISED_EVAL_METHOD_NAME
    return _supervised_signature_def(method, inputs, loss, predictions, metrics)


def _supervised_signature_def(method: str, inputs: Any, *outputs: Any) -> Any:
    if not inputs:
        raise ValueError(f"{method} inputs cannot be None or empty.")
    found: dict[str, Any] = {}
    for tensors in outputs:
        found |= _infos(tensors or {})
    return build_signature_def(_infos(inputs), found, method)


# ---- which can be served ------------------------------------------------------------------------


def is_valid_signature(signature_def: Any) -> bool:
    """Whether TensorFlow Serving could serve it."""
    check = None if signature_def is None else _CHECKS.get(signature_def.method_name)
    return check is not None and check(signature_def)


def _has(infos: Any, allowed: dict[str, int]) -> bool:
    """Whether there are some, each under an allowed key with the type for it."""
    return bool(infos) and all(allowed.get(key) == info.dtype for key, info in infos.items())


def _is_predict(signature: Any) -> bool:
    return bool(signature.inputs) and bool(signature.outputs)


def _is_regress(signature: Any) -> bool:
    return _has(signature.inputs, {names.REGRESS_INPUTS: types_pb2.DT_STRING}) and _has(
        signature.outputs, {names.REGRESS_OUTPUTS: types_pb2.DT_FLOAT}
    )


def _is_classify(signature: Any) -> bool:
    outputs = {
        names.CLASSIFY_OUTPUT_CLASSES: types_pb2.DT_STRING,
        names.CLASSIFY_OUTPUT_SCORES: types_pb2.DT_FLOAT,
    }
    examples = {names.CLASSIFY_INPUTS: types_pb2.DT_STRING}
    return _has(signature.inputs, examples) and _has(signature.outputs, outputs)


_CHECKS = {
    names.PREDICT_METHOD_NAME: _is_predict,
    names.REGRESS_METHOD_NAME: _is_regress,
    names.CLASSIFY_METHOD_NAME: _is_classify,
}


# ---- operations as signatures -------------------------------------------------------------------


def op_signature_def(op: Any, key: str) -> Any:
    """A signature whose one output stands for an operation."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


def load_op_from_signature_def(signature_def: Any, key: str, import_scope: str | None) -> Any:
    """The operation (or tensor) of the default graph that `op_signature_def` wrote down."""
    try:
        return get_element_from_tensor_info(signature_def.outputs[key], import_scope=import_scope)
    except KeyError:
        raise errors.NotFoundError(
            None,
            None,
            f"The {key} could not be found in the graph. Please make sure the SavedModel was "
            "created by the internal _SavedModelBuilder. If you are using the public API, please "
            "make sure the SignatureDef in the SavedModel does not contain the key "
            f'"{key}".',
        ) from None
