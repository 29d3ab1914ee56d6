"""Reads an export, or a SavedModel, with signatures as a SavedModel has them."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import meta_graph_pb2

from weft.client.session import Session
from weft.lib.contrib.session_bundle import constants, session_bundle
from weft.lib.platform import tf_logging as logging
from weft.lib.saved_model import files, loader, signature_constants
from weft.protos import manifest

# Kind of a signature -> the method, and the names of its inputs and outputs by their fields.
_METHODS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    constants.REGRESSION_SIGNATURE: (
        signature_constants.REGRESS_METHOD_NAME,
        {"input": signature_constants.REGRESS_INPUTS},
        {"output": signature_constants.REGRESS_OUTPUTS},
    ),
    constants.CLASSIFICATION_SIGNATURE: (
        signature_constants.CLASSIFY_METHOD_NAME,
        {"input": signature_constants.CLASSIFY_INPUTS},
        {
            "classes": signature_constants.CLASSIFY_OUTPUT_CLASSES,
            "scores": signature_constants.CLASSIFY_OUTPUT_SCORES,
        },
    ),
}


def _definition(method: str, inputs: dict[str, str], outputs: dict[str, str]) -> Any:
    definition = meta_graph_pb2.SignatureDef(method_name=method)
    for target, names in ((definition.inputs, inputs), (definition.outputs, outputs)):
        for key, name in names.items():
            target[key].CopyFrom(meta_graph_pb2.TensorInfo(name=name))
    return definition


def _default(signatures: Any) -> Any:
    """The default signature as SavedModels have it; None where they have none such."""
    signature = signatures.default_signature
    kind = signature.WhichOneof("type")
    if kind not in _METHODS:
        said = "Only classification and regression default signatures are supported"
        logging.error("%s for up-conversion. %s is not supported", said, kind)
        return None
    body = getattr(signature, kind)
    method, *fields = _METHODS[kind]
    inputs, outputs = (
        {key: getattr(body, field).tensor_name for field, key in names.items()} for names in fields
    )
    return _definition(method, inputs, outputs)


def _named(signatures: Any) -> Any:
    """The signatures named inputs and outputs as the one of a prediction."""
    named = [
        signatures.named_signatures[name]
        for name in (signature_constants.PREDICT_INPUTS, signature_constants.PREDICT_OUTPUTS)
    ]
    kinds = [each.WhichOneof("type") for each in named]
    if kinds != [constants.GENERIC_SIGNATURE] * 2:
        raise RuntimeError(
            "Named input and output signatures can only be up-converted if they are generic "
            f"signature. Input signature type is {kinds[0]}, output signature type is {kinds[1]}"
        )
    maps = [
        {key: value.tensor_name for key, value in each.generic_signature.map.items()}
        for each in named
    ]
    return _definition(signature_constants.PREDICT_METHOD_NAME, *maps)


def _add_signatures(meta_graph: Any) -> None:
    if meta_graph.signature_def:
        raise RuntimeError("Legacy graph contains signature def, unable to up-convert.")
    packed = meta_graph.collection_def[constants.SIGNATURES_KEY].any_list.value[0]
    signatures = manifest.Signatures.FromString(packed.value)
    key = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    default = _default(signatures) if signatures.HasField("default_signature") else None
    if default is not None:
        meta_graph.signature_def[key].CopyFrom(default)
        key += "_from_named"
    if len(signatures.named_signatures) > 1:
        meta_graph.signature_def[key].CopyFrom(_named(signatures))


def load_session_bundle_or_saved_model_bundle_from_path(
    export_dir: str, tags: Any = None, target: str = "", config: Any = None
) -> tuple[Session, Any]:
    """A session with the graph and the variables of a directory, and the graph's description."""
    if files.maybe_saved_model_directory(export_dir):
        session = Session(target, graph=None, config=config)
        return session, loader.load(session, tags, export_dir)
    if not session_bundle.maybe_session_bundle_dir(export_dir):
        said = "SessionBundle or SavedModelBundle not found at specified export location"
        raise RuntimeError(f"{said}: {export_dir}")
    meta_graph = session_bundle.read_meta_graph(export_dir)
    _add_signatures(meta_graph)
    return session_bundle.load_session_bundle_from_path(export_dir, target, config, meta_graph)
