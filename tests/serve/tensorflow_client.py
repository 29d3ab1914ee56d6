"""The real client, unchanged, against `weft serve`; every answer beside TensorFlow's own session.

With weft, in one terminal:

    weft serve --port 8500 --rest-port 8501 $(for m in tests/serve/data/*/; do
        echo --model $(basename $m)=$m; done)

With TensorFlow 2.21 and `tensorflow-serving-api` 2.21 installed, in another:

    python tests/serve/tensorflow_client.py localhost:8500 localhost:8501 tests/serve/data

Prints a line for each comparison; ends with an error at the first that does not hold.
"""

from __future__ import annotations

import base64
import json
import sys
import urllib.request
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import record
import tensorflow.compat.v1 as tf
from google.protobuf import text_format
from tensorflow_serving.apis import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    model_service_pb2_grpc,
    predict_pb2,
    prediction_service_pb2_grpc,
    regression_pb2,
)

KINDS = {
    "Predict": (predict_pb2.PredictRequest, predict_pb2.PredictResponse),
    "Classify": (
        classification_pb2.ClassificationRequest, classification_pb2.ClassificationResponse
    ),
    "Regress": (regression_pb2.RegressionRequest, regression_pb2.RegressionResponse),
    "MultiInference": (inference_pb2.MultiInferenceRequest, inference_pb2.MultiInferenceResponse),
}  # fmt: skip


def same(found: Any, expected: Any) -> None:
    """AssertionError if two responses differ by more than rounding."""
    if not isinstance(expected, predict_pb2.PredictResponse):
        one, other = _numbers(found), _numbers(expected)
        np.testing.assert_allclose(one[0], other[0], rtol=1e-5)
        assert one[1] == other[1], (one[1], other[1])
        return
    assert found.model_spec == expected.model_spec, (found.model_spec, expected.model_spec)
    assert set(found.outputs) == set(expected.outputs)
    for alias, tensor in expected.outputs.items():
        value, wanted = tf.make_ndarray(found.outputs[alias]), tf.make_ndarray(tensor)
        assert value.dtype == wanted.dtype and value.shape == wanted.shape, alias
        if value.dtype == object:
            assert value.tolist() == wanted.tolist(), alias
        else:
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


def _numbers(part: Any) -> tuple[list[float], list[Any]]:
    """The floats of a message, and everything else in it."""
    floats, rest = [], []
    for field, value in part.ListFields():
        for each in value if field.is_repeated else [value]:
            if hasattr(each, "ListFields"):
                inner = _numbers(each)
                floats += inner[0]
                rest += inner[1]
            elif isinstance(each, float):
                floats.append(each)
            else:
                rest.append((field.name, each))
    return floats, rest


def by_grpc(channel: Any, data: Path) -> int:
    stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
    count = 0
    for name, cases in json.loads((data / "recorded.json").read_text()).items():
        answers = record.Answers(str(data / name / "1"))  # TensorFlow's session, now
        again = [record._predicted(name, answers, case) for case in record.PREDICT.get(name, ())]
        again += [record._inferred(name, answers, *case) for case in record.EXAMPLES.get(name, ())]
        for case in again + [c for c in cases if c["method"] == "MultiInference"]:
            request, response = KINDS[case["method"]]
            asked = request.FromString(base64.b64decode(case["request"]))
            expected = response.FromString(base64.b64decode(case["response"]))
            same(getattr(stub, case["method"])(asked, 60.0), expected)
            print(f"{name}: {case['method']} by the real client is as TensorFlow has it")
            count += 1
        request = get_model_metadata_pb2.GetModelMetadataRequest(metadata_field=["signature_def"])
        request.model_spec.name = name
        found = stub.GetModelMetadata(request, 60.0)
        signatures = get_model_metadata_pb2.SignatureDefMap()
        assert found.metadata["signature_def"].Unpack(signatures)
        for key, signature in signatures.signature_def.items():
            known = answers.meta.signature_def[key]
            assert text_format.MessageToString(signature) == text_format.MessageToString(known)
        print(f"{name}: GetModelMetadata is as TensorFlow has it")
        count += 1
    return count


def by_model_service(channel: Any, data: Path) -> None:
    stub = model_service_pb2_grpc.ModelServiceStub(channel)
    request = get_model_status_pb2.GetModelStatusRequest()
    request.model_spec.name = "keras"
    (status,) = stub.GetModelStatus(request, 60.0).model_version_status
    assert status.state == get_model_status_pb2.ModelVersionStatus.AVAILABLE
    reload = model_management_pb2.ReloadConfigRequest()
    for name in sorted({*record.PREDICT, *record.EXAMPLES}):
        config = reload.config.model_config_list.config.add(
            name=name, base_path=str((data / name).resolve()), model_platform="tensorflow"
        )
        if name == "half_plus_two":
            config.version_labels["stable"] = 1
    assert stub.HandleReloadConfigRequest(reload, 60.0).status.error_code == 0
    asked = predict_pb2.PredictRequest()
    asked.model_spec.name, asked.model_spec.version_label = "half_plus_two", "stable"
    asked.inputs["x"].CopyFrom(tf.make_tensor_proto([4.0], tf.float32))
    predict = prediction_service_pb2_grpc.PredictionServiceStub(channel).Predict
    assert list(predict(asked, 60.0).outputs["y"].float_val) == [4.0]
    asked.model_spec.version_label = "none"
    try:
        predict(asked, 60.0)
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    else:
        raise AssertionError("a label that there is not was accepted")
    print("ModelService: status, a config by RPC, a label")


def by_rest(address: str, data: Path) -> None:
    def post(name: str, verb: str, body: Any) -> Any:
        url = f"http://{address}/v1/models/{name}:{verb}"
        with urllib.request.urlopen(url, json.dumps(body).encode()) as response:
            return json.loads(response.read())

    assert post("half_plus_two", "predict", {"instances": [1.0, 2.0, 5.0]}) == {
        "predictions": [2.5, 3.0, 4.5]
    }
    for name, rows in (("keras", record.KERAS),):
        answers = record.Answers(str(data / name / "1"))
        (expected,) = answers.run("serving_default", {"": rows}, []).values()
        found = post(name, "predict", {"instances": rows.tolist()})["predictions"]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        found = post(name, "predict", {"inputs": rows.tolist()})["outputs"]
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    answers = record.Answers(str(data / "classifier" / "1"))
    serialized = np.array([e.SerializeToString() for e in record.FLOWERS], object)
    outputs = answers.run("serving_default", {"": serialized}, [])
    given = [{"x": list(e.features.feature["x"].float_list.value)} for e in record.FLOWERS]
    found = post("classifier", "classify", {"examples": given})["results"]
    np.testing.assert_allclose(
        [[score for _, score in row] for row in found], outputs["scores"], rtol=1e-5
    )
    assert [[label.encode() for label, _ in row] for row in found] == outputs["classes"].tolist()
    answers = record.Answers(str(data / "regressor" / "1"))
    expected = answers.run("serving_default", {"": serialized}, [])["outputs"].reshape(-1)
    found = post("regressor", "regress", {"examples": given})["results"]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    print("REST: rows, columns, classify and regress are as TensorFlow has them")


if __name__ == "__main__":
    tf.disable_v2_behavior()
    _, _grpc, _rest, _data = sys.argv
    with grpc.insecure_channel(_grpc) as _channel:
        print(by_grpc(_channel, Path(_data)), "comparisons by gRPC")
        by_model_service(_channel, Path(_data))
    by_rest(_rest, Path(_data))
