"""Writes `data/`: SavedModels, requests as the real client makes them, and TensorFlow's answers.

Runs where TensorFlow 2.21 and `tensorflow-serving-api` are installed, after weft has exported the
Estimators (which TensorFlow no longer has):

    python -m tests.serve.exported_estimators tests/serve/data      # with weft
    python tests/serve/record.py tests/serve/data                   # with TensorFlow
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow_serving.apis import (
    classification_pb2,
    inference_pb2,
    predict_pb2,
    regression_pb2,
)

CLASSIFY, REGRESS = "tensorflow/serving/classify", "tensorflow/serving/regress"


# ---- models -------------------------------------------------------------------------------------


def half_plus_two(folder: str) -> None:
    """A Predict, a Classify and a Regress signature around x/2 + 2."""
    with tf.Graph().as_default(), tf.Session() as session:
        a = tf.get_variable("a", initializer=0.5, use_resource=False)
        b = tf.get_variable("b", initializer=2.0, use_resource=False)
        examples = tf.placeholder(tf.string, [None], name="examples")
        # tf.parse_example adds an op that TensorFlow 1.15 does not have.
        parsed = tf.raw_ops.ParseExample(
            serialized=examples, names=[], sparse_keys=[], dense_keys=["x"],
            dense_defaults=[tf.zeros([0])], sparse_types=[], dense_shapes=[[1]],
        )  # fmt: skip
        y_examples = a * parsed[-1][0] + b
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.add(a * x, b, name="y")
        session.run(tf.global_variables_initializer())
        made = tf.saved_model.signature_def_utils
        signatures = {
            "serving_default": made.predict_signature_def({"x": x}, {"y": y}),
            "regress": made.regression_signature_def(examples, y_examples),
            "classify": made.classification_signature_def(examples, None, y_examples),
        }
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()


def strings(folder: str) -> None:
    """Strings in and out, numbers of every kind, two inputs, a batch of bytes."""
    with tf.Graph().as_default(), tf.Session() as session:
        words = tf.placeholder(tf.string, [None], name="words")
        times = tf.placeholder(tf.int64, [None], name="times")
        outputs = {
            "upper": tf.strings.upper(words),
            "joined": tf.strings.join([words, tf.as_string(times)], separator="*"),
            "length": tf.strings.length(words),
            "image_bytes": words,
            "long": times * 3,
            "even": tf.equal(times % 2, 0),
            "third": tf.cast(times, tf.float64) / 3.0,
        }
        tf.saved_model.simple_save(session, folder, {"words": words, "times": times}, outputs)


def vocabulary(folder: str) -> None:
    """A table filled from a file that travels with the model."""
    source = Path(folder).parent / "words.txt"
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text("emerson\nlake\npalmer\n")
    with tf.Graph().as_default(), tf.Session() as session:
        file = tf.constant(str(source), name="vocabulary")
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, file)
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                file, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )  # fmt: skip
        names = tf.placeholder(tf.string, [None], name="names")
        numbers = table.lookup(names)
        session.run(tf.tables_initializer())
        signature = tf.saved_model.signature_def_utils.predict_signature_def(
            {"names": names}, {"numbers": numbers}
        )
        builder = tf.saved_model.builder.SavedModelBuilder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, main_op=tf.tables_initializer(),
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
        )  # fmt: skip
        builder.save()
    source.unlink()


OBJECTS = """
import sys
import numpy as np
import tensorflow as tf

kind, folder = sys.argv[1:]
if kind == "keras":
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([
        tf.keras.layers.Input([4]),
        tf.keras.layers.Dense(8, activation="relu"),
        tf.keras.layers.Dense(3, activation="softmax"),
    ])
    model.export(folder)
else:
    class Scaled(tf.Module):
        def __init__(self):
            self.scale = tf.Variable([2.0, 3.0])

        @tf.function(input_signature=[
            tf.TensorSpec([None, 2], tf.float32, "x"), tf.TensorSpec([], tf.float32, "power"),
        ])
        def serve(self, x, power):
            total = tf.zeros([tf.shape(x)[0]])
            for column in range(2):
                total += self.scale[column] * x[:, column] ** power
            return {"total": total, "largest": tf.reduce_max(x, 1)}

    module = Scaled()
    tf.saved_model.save(module, folder, signatures=module.serve)
"""


# ---- requests -----------------------------------------------------------------------------------


def _example(**features: Any) -> Any:
    made = tf.train.Example()
    for name, values in features.items():
        feature = made.features.feature[name]
        if isinstance(values[0], bytes):
            feature.bytes_list.value.extend(values)
        elif isinstance(values[0], float):
            feature.float_list.value.extend(values)
        else:
            feature.int64_list.value.extend(values)
    return made


HALVES = [_example(x=[value]) for value in (1.0, 2.0, 5.0, -3.25)]
FLOWERS = [_example(x=[0.5, -1.0]), _example(x=[2.0, 3.0]), _example(x=[-0.25, 0.125])]
KERAS = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
ROWS = np.array([[1.0, 2.0], [3.0, -0.5]], np.float32)
WORDS = np.array([b"spam", "gr\u00fc\u00df".encode(), b"\xff\x00"], object)
PREDICT: dict[str, list[tuple[str, str, dict[str, Any], list[str]]]] = {
    "half_plus_two": [
        ("", "serving_default", {"x": np.array([1.0, 2.0, 5.0], np.float32)}, []),
        ("", "serving_default", {"x": np.zeros([0], np.float32)}, []),
    ],
    "strings": [
        ("", "serving_default", {"words": WORDS, "times": np.array([1, 2, -7])}, []),
        ("", "serving_default", {"words": WORDS, "times": np.array([4, 5, 6])}, ["long", "upper"]),
    ],
    "vocabulary": [
        ("", "serving_default", {"names": np.array([b"lake", b"nobody", b"emerson"], object)}, [])
    ],
    "keras": [("", "serving_default", {"": KERAS}, [])],
    "objects": [("", "serving_default", {"x": ROWS, "power": np.float32(2.0)}, [])],
    "classifier": [
        ("predict", "predict", {"": np.array([e.SerializeToString() for e in FLOWERS], object)}, [])
    ],
}
EXAMPLES: dict[str, list[tuple[str, str, list[Any]]]] = {
    "half_plus_two": [(CLASSIFY, "classify", HALVES), (REGRESS, "regress", HALVES)],
    "classifier": [(CLASSIFY, "serving_default", FLOWERS), (CLASSIFY, "classification", FLOWERS)],
    "regressor": [(REGRESS, "serving_default", FLOWERS), (REGRESS, "regression", FLOWERS)],
}


class Answers:
    """A SavedModel in a session of TensorFlow's own."""

    def __init__(self, folder: str) -> None:
        self.session = tf.Session(graph=tf.Graph())
        self.meta = tf.saved_model.loader.load(self.session, ["serve"], folder)

    def run(self, key: str, inputs: dict[str, Any], wanted: list[str]) -> dict[str, Any]:
        signature = self.meta.signature_def[key]
        if "" in inputs:
            inputs = {next(iter(signature.inputs)): inputs[""]}
        feeds = {signature.inputs[alias].name: value for alias, value in inputs.items()}
        names = {alias: info.name for alias, info in signature.outputs.items()}
        fetches = {alias: name for alias, name in names.items() if not wanted or alias in wanted}
        return self.session.run(fetches, feeds)


def _text(message: Any) -> str:
    return base64.b64encode(message.SerializeToString()).decode()


def _predicted(name: str, answers: Answers, case: Any) -> dict[str, Any]:
    said, key, inputs, wanted = case
    if "" in inputs:
        inputs = {next(iter(answers.meta.signature_def[key].inputs)): inputs[""]}
    request = predict_pb2.PredictRequest(output_filter=wanted)
    request.model_spec.name, request.model_spec.signature_name = name, said
    for alias, value in inputs.items():
        request.inputs[alias].CopyFrom(tf.make_tensor_proto(value))
    response = predict_pb2.PredictResponse()
    response.model_spec.name, response.model_spec.signature_name = name, key
    response.model_spec.version.value = 1
    for alias, value in answers.run(key, inputs, wanted).items():
        response.outputs[alias].CopyFrom(tf.make_tensor_proto(value))
    return {"method": "Predict", "request": _text(request), "response": _text(response)}


def _fill(result: Any, method: str, outputs: dict[str, Any]) -> None:
    if method == REGRESS:
        for value in outputs["outputs"].reshape(-1):
            result.regressions.add(value=value)
        return
    labels, scores = outputs.get("classes"), outputs.get("scores")
    for i in range(len(labels if labels is not None else scores)):
        classes = result.classifications.add().classes
        for c in range((labels if labels is not None else scores).shape[1]):
            classes.add(
                label=labels[i, c] if labels is not None else "",
                score=scores[i, c] if scores is not None else 0.0,
            )


def _inferred(name: str, answers: Answers, method: str, key: str, examples: Any) -> dict[str, Any]:
    kind = "Classify" if method == CLASSIFY else "Regress"
    request, response = {
        CLASSIFY: (
            classification_pb2.ClassificationRequest, classification_pb2.ClassificationResponse
        ),
        REGRESS: (regression_pb2.RegressionRequest, regression_pb2.RegressionResponse),
    }[method]  # fmt: skip
    request, response = request(), response()
    for spec in (request.model_spec, response.model_spec):
        spec.name, spec.signature_name = name, key
    response.model_spec.version.value = 1
    request.input.example_list.examples.extend(examples)
    serialized = np.array([each.SerializeToString() for each in examples], object)
    _fill(response.result, method, answers.run(key, {"": serialized}, []))
    return {"method": kind, "request": _text(request), "response": _text(response)}


def _several(name: str, answers: Answers) -> dict[str, Any]:
    """A MultiInference with a context that all examples share."""
    request = inference_pb2.MultiInferenceRequest()
    response = inference_pb2.MultiInferenceResponse()
    request.input.example_list_with_context.context.CopyFrom(HALVES[0])
    request.input.example_list_with_context.examples.extend([tf.train.Example()] * 2)
    serialized = np.array([HALVES[0].SerializeToString()] * 2, object)
    for key, method in (("classify", CLASSIFY), ("regress", REGRESS)):
        task, result = request.tasks.add(method_name=method), response.results.add()
        for spec in (task.model_spec, result.model_spec):
            spec.name, spec.signature_name = name, key
        result.model_spec.version.value = 1
        filled = result.regression_result if method == REGRESS else result.classification_result
        _fill(filled, method, answers.run(key, {"": serialized}, []))
    return {"method": "MultiInference", "request": _text(request), "response": _text(response)}


def main(data: Path) -> None:
    import subprocess

    makers = {"half_plus_two": half_plus_two, "strings": strings, "vocabulary": vocabulary}
    for name, make in makers.items():
        shutil.rmtree(data / name, ignore_errors=True)
        make(str(data / name / "1"))
    for name in ("keras", "objects"):
        shutil.rmtree(data / name, ignore_errors=True)
        subprocess.run([sys.executable, "-c", OBJECTS, name, str(data / name / "1")], check=True)
    recorded: dict[str, list[Any]] = {}
    for name in sorted({*PREDICT, *EXAMPLES}):
        answers = Answers(str(data / name / "1"))
        found = [_predicted(name, answers, case) for case in PREDICT.get(name, ())]
        found += [_inferred(name, answers, *case) for case in EXAMPLES.get(name, ())]
        if name == "half_plus_two":
            found.append(_several(name, answers))
        recorded[name] = found
    (data / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    tf2.get_logger().setLevel("ERROR")
    tf.disable_v2_behavior()
    main(Path(sys.argv[1]))
