"""Requests as messages: each method of the services, from its request to its response.

A method takes the bytes of its request, and until when the answer is wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.cluster.transport import wire
from weft.protos.serving import message
from weft.serve import inference, tensors
from weft.serve.config import from_message
from weft.serve.errors import invalid
from weft.serve.models import Models, Spec, read_spec
from weft.serve.predict_requests import Heading, Headings, Parsed
from weft.serve.servable import Servable
from weft.serve.session_run import session_run
from weft.serve.signatures import DEFAULT

SIGNATURE_DEF = "signature_def"
_SIGNATURE_MAP = "type.googleapis.com/tensorflow.serving.SignatureDefMap"
Deadline = float | None
Seen = Callable[[str, str, int], None]
"""Is told of each request: its model, its signature, and how many examples it has."""


class Requests:
    """The methods. `as_content`: tensors of answers as bytes rather than in fields by type."""

    def __init__(self, models: Models, as_content: bool = False, reload: Any = None) -> None:
        self.models, self._as_content = models, as_content
        self._reload = reload or (lambda configs: models.configure(configs))
        self._headings = Headings()

    # ---- PredictionService ----

    def predict(self, data: bytes, deadline: Deadline = None, seen: Seen | None = None) -> bytes:
        request = self._headings.read(data)
        with self.models.using(request.spec) as servable:
            return self._predict(servable, request, data, deadline, seen)

    def predict_with(self, servable: Servable, request: Any) -> bytes:
        """The same for a version that is known."""
        return self._predict(servable, Parsed(request))

    def _predict(
        self,
        servable: Servable,
        request: Heading | Parsed,
        data: bytes = b"",
        deadline: Deadline = None,
        seen: Seen | None = None,
    ) -> bytes:
        inputs, key = request.inputs(data), request.spec.signature
        if seen is not None:
            first = next(iter(inputs.values()), None)
            rows = len(first) if first is not None and first.ndim else 1
            seen(servable.name, key, rows)
        key, answer = inference.predict(servable, key, inputs, request.wanted, deadline)
        return self._response(_spec_bytes(servable, 2, request.spec.name, key), answer)

    def _response(self, spec: bytes, answer: inference.Answer) -> bytes:
        """The outputs of a Predict or a SessionRun, after the spec of the model."""
        as_content = self._as_content
        return b"".join([spec, *[tensors.entry(*each, as_content) for each in answer]])

    def classify(self, data: bytes, deadline: Deadline = None, seen: Seen | None = None) -> bytes:
        request = message("ClassificationRequest").FromString(data)
        with self.models.using(read_spec(request.model_spec)) as servable:
            return bytes(self.classify_with(servable, request, deadline, seen).SerializeToString())

    def classify_with(
        self, servable: Servable, request: Any, deadline: Deadline = None, seen: Seen | None = None
    ) -> Any:
        """The same for a version that is known; the response."""
        examples, key = examples_of(request.input), request.model_spec.signature_name
        if seen is not None:
            seen(servable.name, key, len(examples))
        found = inference.classify(servable, key, examples, deadline)
        response = message("ClassificationResponse")(
            model_spec=_spec(servable, request.model_spec.name, key)
        )
        _fill_classes(response.result, found)
        return response

    def regress(self, data: bytes, deadline: Deadline = None, seen: Seen | None = None) -> bytes:
        request = message("RegressionRequest").FromString(data)
        with self.models.using(read_spec(request.model_spec)) as servable:
            return bytes(self.regress_with(servable, request, deadline, seen).SerializeToString())

    def regress_with(
        self, servable: Servable, request: Any, deadline: Deadline = None, seen: Seen | None = None
    ) -> Any:
        """The same for a version that is known; the response."""
        examples, key = examples_of(request.input), request.model_spec.signature_name
        if seen is not None:
            seen(servable.name, key, len(examples))
        found = inference.regress(servable, key, examples, deadline)
        response = message("RegressionResponse")(
            model_spec=_spec(servable, request.model_spec.name, key)
        )
        _fill_numbers(response.result, found)
        return response

    def multi_inference(
        self, data: bytes, deadline: Deadline = None, seen: Seen | None = None
    ) -> bytes:
        request = message("MultiInferenceRequest").FromString(data)
        with self.models.using(_one_spec(request.tasks)) as servable:
            made = self.multi_inference_with(servable, request, deadline, seen)
            return bytes(made.SerializeToString())

    def multi_inference_with(
        self, servable: Servable, request: Any, deadline: Deadline = None, seen: Seen | None = None
    ) -> Any:
        """The same for a version that is known; the response."""
        examples = examples_of(request.input)
        tasks = [(task.model_spec.signature_name, task.method_name) for task in request.tasks]
        if seen is not None:
            seen(servable.name, "", len(examples))
        response = message("MultiInferenceResponse")()
        results = inference.multi_inference(servable, tasks, examples, deadline)
        for task, result in zip(request.tasks, results, strict=True):
            made = response.results.add()
            spec = _spec(servable, task.model_spec.name, task.model_spec.signature_name)
            made.model_spec.CopyFrom(spec)
            if isinstance(result, inference.Classes):
                _fill_classes(made.classification_result, result)
            else:
                _fill_numbers(made.regression_result, result)
        return response

    def get_model_metadata(
        self, data: bytes, deadline: Deadline = None, seen: Seen | None = None
    ) -> bytes:
        request = message("GetModelMetadataRequest").FromString(data)
        if not request.HasField("model_spec"):
            raise invalid("Missing ModelSpec")
        if not request.metadata_field:
            raise invalid("GetModelMetadataRequest must specify at least one metadata_field")
        for name in request.metadata_field:
            if name != SIGNATURE_DEF:
                raise invalid(f"Metadata field {name} is not supported")
        with self.models.using(read_spec(request.model_spec)) as servable:
            found = message("SignatureDefMap")()
            for key, signature in servable.signatures.items():
                found.signature_def[key] = signature.info.SerializeToString()
            response = message("GetModelMetadataResponse")()
            response.model_spec.name = servable.name
            response.model_spec.version.value = servable.version
            made = response.metadata[SIGNATURE_DEF]
            made.type_url, made.value = _SIGNATURE_MAP, found.SerializeToString()
            return bytes(response.SerializeToString())

    # ---- SessionService ----

    def session_run(
        self, data: bytes, deadline: Deadline = None, seen: Seen | None = None
    ) -> bytes:
        request = message("SessionRunRequest").FromString(data)
        with self.models.using(read_spec(request.model_spec)) as servable:
            return self.session_run_with(servable, request, deadline, seen)

    def session_run_with(
        self, servable: Servable, request: Any, deadline: Deadline = None, seen: Seen | None = None
    ) -> bytes:
        """The same for a version that is known."""
        if seen is not None:
            seen(servable.name, request.model_spec.signature_name, 1)
        answer = session_run(servable, request, deadline)
        spec = request.model_spec
        return self._response(_spec_bytes(servable, 3, spec.name, spec.signature_name), answer)

    # ---- ModelService ----

    def get_model_status(
        self, data: bytes, deadline: Deadline = None, seen: Seen | None = None
    ) -> bytes:
        request = message("GetModelStatusRequest").FromString(data)
        if not request.HasField("model_spec"):
            raise invalid("Missing ModelSpec")
        response = message("GetModelStatusResponse")()
        for version, status in self.models.statuses(read_spec(request.model_spec)):
            made = response.model_version_status.add(version=version, state=int(status.state))
            made.status.error_code, made.status.error_message = status.code, status.message
            made.status.SetInParent()
        return bytes(response.SerializeToString())

    def handle_reload_config_request(
        self, data: bytes, deadline: Deadline = None, seen: Seen | None = None
    ) -> bytes:
        request = message("ReloadConfigRequest").FromString(data)
        if request.config.WhichOneof("config") != "model_config_list":
            raise invalid(
                "ServerModelConfig type not supported by HandleReloadConfigRequest. Only"
                " ModelConfigList is currently supported"
            )
        self._reload(from_message(request.config))
        response = message("ReloadConfigResponse")()
        response.status.SetInParent()
        for name in request.metric_names:
            response.metric.add(name=name, int64_value_increase=0)
        return bytes(response.SerializeToString())


# ---- parts of messages --------------------------------------------------------------------------


def _spec(servable: Servable, name: str, key: str) -> Any:
    made = message("ModelSpec")(name=name, signature_name=key or DEFAULT)
    made.version.value = servable.version
    return made


def _spec_bytes(servable: Servable, field: int, name: str, key: str) -> bytes:
    """The same as a field of a response, serialized and kept with the version."""
    found = servable.spec_bytes.get((field, name, key))
    if found is None:
        found = wire.as_field(field, _spec(servable, name, key).SerializeToString())
        if len(servable.spec_bytes) < 2 * len(servable.signatures) + 1:
            servable.spec_bytes[field, name, key] = found
    return found


def examples_of(given: Any) -> np.ndarray:
    """The serialized tf.Examples of an Input, each with the context before it."""
    kind = given.WhichOneof("kind")
    if kind is None:
        raise invalid("Input is empty.")
    listed = getattr(given, kind)
    if not listed.examples:
        raise invalid("Input is empty.")
    context = listed.context if kind == "example_list_with_context" else b""
    found = np.empty(len(listed.examples), object)
    found[:] = [context + example for example in listed.examples]
    return found


def _fill_classes(result: Any, found: inference.Classes) -> None:
    for row in found.rows():
        classes = result.classifications.add().classes
        for label, score in row:
            classes.add(label=label, score=score)


def _fill_numbers(result: Any, found: np.ndarray) -> None:
    for value in found.tolist():
        result.regressions.add(value=value)


def _one_spec(tasks: Sequence[Any]) -> Spec:
    """The model that all tasks of a request mean."""
    if not tasks:
        raise invalid("ModelSpec has no name specified.")
    for task in tasks:
        if not task.model_spec.name:
            raise invalid("Found ModelSpec with an empty model name.")
        if task.model_spec.name != tasks[0].model_spec.name:
            raise invalid(
                "All ModelSpecs in a MultiInferenceRequest must access the same model name."
            )
    return read_spec(tasks[0].model_spec)
