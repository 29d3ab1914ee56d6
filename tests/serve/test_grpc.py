"""The services over gRPC: answers, and the status of what is refused."""

from __future__ import annotations

from typing import Any

import grpc
import numpy as np
import pytest
from tensorboard.compat.proto.meta_graph_pb2 import SignatureDef

from tests.serve.serving import (
    PREDICTION,
    Client,
    Start,
    models,
    predict_request,
    read_tensor,
)
from weft.graph.tensor_proto import array_to_proto
from weft.protos.serving import message
from weft.serve.config import Batching

MODEL = "/tensorflow.serving.ModelService/"
SESSION = "/tensorflow.serving.SessionService/SessionRun"
INVALID = grpc.StatusCode.INVALID_ARGUMENT


def refused(client: Client, path: str, request: Any) -> tuple[Any, str]:
    with pytest.raises(grpc.RpcError) as caught:
        client.call(path, request)
    return caught.value.code(), caught.value.details()


def test_elements_are_in_the_fields_of_their_types(client: Client) -> None:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    request = predict_request("half_plus_two", x=np.float32([1, 2]))
    found = message("PredictResponse").FromString(client.call(f"{PREDICTION}Predict", request))
    tensor = TensorProto.FromString(found.outputs["y"])
    assert list(tensor.float_val) == [2.5, 3.0] and not tensor.tensor_content


def test_elements_as_bytes_where_that_is_asked_for(start: Start) -> None:
    client = start(models=models("half_plus_two"), as_content=True)
    assert client.predict("half_plus_two", x=np.float32([1, 2]))["y"].tolist() == [2.5, 3.0]


def test_metadata(client: Client) -> None:
    request = message("GetModelMetadataRequest")(metadata_field=["signature_def"])
    request.model_spec.name = "half_plus_two"
    data = client.call(f"{PREDICTION}GetModelMetadata", request)
    found = message("GetModelMetadataResponse").FromString(data)
    assert found.model_spec.version.value == 1
    packed = found.metadata["signature_def"]
    assert packed.type_url == "type.googleapis.com/tensorflow.serving.SignatureDefMap"
    signatures = message("SignatureDefMap").FromString(packed.value).signature_def
    default = SignatureDef.FromString(signatures["serving_default"])
    assert default.inputs["x"].name == "x:0"
    bare = message("GetModelMetadataRequest")(model_spec=request.model_spec)
    assert refused(client, f"{PREDICTION}GetModelMetadata", bare) == (
        INVALID, "GetModelMetadataRequest must specify at least one metadata_field"
    )  # fmt: skip


def test_status(client: Client) -> None:
    request = message("GetModelStatusRequest")()
    assert refused(client, f"{MODEL}GetModelStatus", request) == (INVALID, "Missing ModelSpec")
    request.model_spec.name = "half_plus_two"
    data = client.call(f"{MODEL}GetModelStatus", request)
    (found,) = message("GetModelStatusResponse").FromString(data).model_version_status
    assert (found.version, found.state, found.status.error_code) == (1, 30, 0)
    request.model_spec.name = "other"
    assert refused(client, f"{MODEL}GetModelStatus", request)[0] is grpc.StatusCode.NOT_FOUND


def _changed(**fields: Any) -> Any:
    request = predict_request("half_plus_two", x=np.float32([1.0]))
    for name, value in fields.items():
        if name == "inputs":
            request.inputs.clear()
            for alias, array in value.items():
                request.inputs[alias] = array_to_proto(np.asarray(array)).SerializeToString()
        elif name == "output_filter":
            request.output_filter.extend(value)
        elif name == "version":
            request.model_spec.version.value = value
        else:
            setattr(request.model_spec, name, value)
    return request


WRONG = [
    (_changed(name="no"), "NOT_FOUND", "Servable not found for request: Latest(no)"),
    (_changed(name=""), "INVALID_ARGUMENT", "ModelSpec has no name specified."),
    (_changed(version=9), "NOT_FOUND",
     "Servable not found for request: Specific(half_plus_two, 9)"),
    (_changed(version_label="stable"), "INVALID_ARGUMENT",
     "Unrecognized servable version label: stable"),
    (_changed(signature_name="other"), "FAILED_PRECONDITION",
     'Serving signature key "other" not found.'),
    (_changed(inputs={}), "INVALID_ARGUMENT", "input size does not match signature: 0!=1 len({}) !="
     " len({x}). Sent extra: {}. Missing but required: {x}."),
    (_changed(inputs={"z": np.float32([1])}), "INVALID_ARGUMENT", "input tensor alias not found in"
     " signature: z. Inputs expected to be in the set {x}."),
    (_changed(inputs={"x": np.int32([1])}), "INVALID_ARGUMENT",
     "Expects arg[0] to be float but int32 is provided"),
    (_changed(output_filter=["q"]), "INVALID_ARGUMENT",
     "output tensor alias not found in signature: q Outputs expected to be in the set {y}."),
    (_changed(output_filter=["y", "y"]), "INVALID_ARGUMENT", "duplicate output tensor alias: y"),
]  # fmt: skip


def test_what_is_wrong_is_told(client: Client) -> None:
    for request, code, text in WRONG:
        assert refused(client, f"{PREDICTION}Predict", request) == (grpc.StatusCode[code], text)
    assert refused(client, f"{PREDICTION}Predict", b"\xff")[0] is INVALID
    unknown = refused(client, f"{PREDICTION}PredictStreamed", b"")
    assert unknown[0] is grpc.StatusCode.UNIMPLEMENTED


def test_examples_that_are_wrong(client: Client) -> None:
    request = message("ClassificationRequest")()
    request.model_spec.name, request.model_spec.signature_name = "half_plus_two", "classify"
    path = f"{PREDICTION}Classify"
    assert refused(client, path, request) == (INVALID, "Input is empty.")
    request.input.example_list.examples.append(b"no example")
    assert refused(client, path, request)[0] is INVALID
    request.model_spec.signature_name = "none"
    assert refused(client, path, request) == (INVALID, "No signature was found with the name: none")
    several = message("MultiInferenceRequest")(input=request.input)
    several.tasks.add(method_name="other").model_spec.name = "half_plus_two"
    assert refused(client, f"{PREDICTION}MultiInference", several) == (
        grpc.StatusCode.UNIMPLEMENTED, "Unsupported signature method_name: other"
    )  # fmt: skip


def _session_run(fetch: list[str], **feeds: Any) -> Any:
    request = message("SessionRunRequest")(fetch=fetch)
    request.model_spec.name = "half_plus_two"
    for name, value in feeds.items():
        request.feed.add(name=f"{name}:0", tensor=array_to_proto(value).SerializeToString())
    return request


def test_any_tensor_of_the_graph(client: Client) -> None:
    data = client.call(SESSION, _session_run(["y:0", "b"], x=np.float32([2.0])))
    found = message("SessionRunResponse").FromString(data)
    assert [each.name for each in found.tensor] == ["y:0", "b"]
    assert [read_tensor(each.tensor).tolist() for each in found.tensor] == [[3.0], 2.0]
    request = _session_run(["y"])
    request.tensor_name_is_alias = True
    request.feed.add(name="x", tensor=array_to_proto(np.float32([4.0])).SerializeToString())
    found = message("SessionRunResponse").FromString(client.call(SESSION, request))
    assert read_tensor(found.tensor[0].tensor).tolist() == [4.0]


def test_no_request_changes_the_model(client: Client) -> None:
    request = _session_run(["a:0"])
    request.target.append("save/restore_all")
    assert refused(client, SESSION, request)[0] is grpc.StatusCode.PERMISSION_DENIED
    for name in ("a/Assign", "save/control_dependency:0"):
        code, text = refused(client, SESSION, _session_run([name]))
        assert code is grpc.StatusCode.PERMISSION_DENIED, text
        assert "must leave the model as it is" in text
    assert client.predict("half_plus_two", x=np.float32([2.0]))["y"].tolist() == [3.0]


def test_health(client: Client) -> None:
    path = "/grpc.health.v1.Health/"
    check = message("HealthCheckRequest")()
    answer = message("HealthCheckResponse")
    assert answer.FromString(client.call(f"{path}Check", check)).status == 1
    watched = client.channel.unary_stream(f"{path}Watch")(check.SerializeToString())
    assert answer.FromString(next(watched)).status == 1
    watched.cancel()
    check.service = "other"
    assert refused(client, f"{path}Check", check)[0] is grpc.StatusCode.NOT_FOUND


def test_a_deadline_that_is_over(start: Start) -> None:
    client = start(models=models("half_plus_two"), batching=Batching(num_batch_threads=1))
    batcher = client.server.models.available("half_plus_two")[1].batcher
    with batcher._places, pytest.raises(grpc.RpcError) as caught:
        client.predict("half_plus_two", seconds=0.3, x=np.float32([1.0]))
    assert caught.value.code() is grpc.StatusCode.DEADLINE_EXCEEDED
    assert client.predict("half_plus_two", x=np.float32([2.0]))["y"].tolist() == [3.0]


def test_messages_beyond_the_limit(start: Start) -> None:
    client = start(models=models("half_plus_two"), message_limit=1000)
    request = predict_request("half_plus_two", x=np.zeros(1000, np.float32))
    code, _ = refused(client, f"{PREDICTION}Predict", request)
    assert code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert client.predict("half_plus_two", x=np.float32([2.0]))["y"].tolist() == [3.0]
