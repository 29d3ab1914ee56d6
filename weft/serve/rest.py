"""TensorFlow Serving's REST interface: a request's path and body in, a status and a text out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from google.protobuf import json_format

from weft.cluster.transport.methods import status_of
from weft.core import errors
from weft.serve import inference, json_requests, json_text
from weft.serve.errors import CODE_NAMES, invalid
from weft.serve.models import Models, Spec
from weft.serve.observe import Observer, Seen
from weft.serve.signatures import DEFAULT, Signature

_MODEL = r"([^/:]+)(?:/versions/(\d+)|/labels/([^/:]+))?"
_ASKING = re.compile(rf"/v1/models/{_MODEL}:(classify|regress|predict)", re.IGNORECASE)
_LOOKING = re.compile(
    r"/v1/models(?:/([^/:]+))?(?:/versions/(\d+)|/labels/([^/:]+))?(?:/(metadata))?", re.IGNORECASE
)
_LARGEST = (1 << 63) - 1
_HTTP = {
    errors.CANCELLED: 499, errors.UNKNOWN: 500, errors.INVALID_ARGUMENT: 400,
    errors.DEADLINE_EXCEEDED: 504, errors.NOT_FOUND: 404, errors.ALREADY_EXISTS: 409,
    errors.PERMISSION_DENIED: 403, errors.RESOURCE_EXHAUSTED: 429, errors.FAILED_PRECONDITION: 400,
    errors.ABORTED: 409, errors.OUT_OF_RANGE: 400, errors.UNIMPLEMENTED: 501,
    errors.INTERNAL: 500, errors.UNAVAILABLE: 503, errors.DATA_LOSS: 500,
    errors.UNAUTHENTICATED: 401,
}  # fmt: skip
Answered = tuple[int, str]


def http_status(code: int) -> int:
    """The status of HTTP for one of TensorFlow's codes."""
    return _HTTP.get(code, 500) if code else 200


class Rest:
    """Answers requests; each is seen by the observer."""

    def __init__(self, models: Models, observer: Observer) -> None:
        self._models, self._observer = models, observer
        self._asking: dict[str, Callable[..., str]] = {
            "predict": self._predict, "classify": self._classify, "regress": self._regress,
        }  # fmt: skip

    def answer(
        self, method: str, path: str, body: bytes, deadline: float | None = None
    ) -> Answered:
        """The status and the body of the response."""
        asked = _ASKING.fullmatch(path) if method == "POST" else None
        api = asked[4] if asked else ""
        seen = Seen(self._observer, api, "REST", len(body))
        try:
            text = self._text(method, path, body, asked, seen, deadline)
        except Exception as error:
            code, message = status_of(f"{method} {path[:200]}", error)
            seen.end(code)
            return http_status(code), json_text.error(message)
        seen.end(0)
        return 200, text

    def _text(
        self, method: str, path: str, body: bytes, asked: Any, seen: Seen, deadline: float | None
    ) -> str:
        if asked and asked[4] in self._asking:
            return self._asking[asked[4]](_spec(asked), body, seen, deadline)
        looked = _LOOKING.fullmatch(path) if method == "GET" else None
        if looked is None:
            raise invalid(f"Malformed request: {method} {path}")
        spec = _spec(looked)
        if not spec.name:
            raise invalid("Missing model name in request.")
        seen.about(spec.name, "", 0)
        return self._metadata(spec) if looked[4] else self._status(spec)

    # ---- asking ----

    def _predict(self, spec: Spec, body: bytes, seen: Seen, deadline: float | None) -> str:
        with self._models.using(spec) as servable:
            document = json_requests.parse(body)
            key = json_requests.signature_of(document)
            seen.about(servable.name, key, 0)
            signature = _signature(servable.signatures, key)
            inputs, by_row = json_requests.inputs_of(document, signature.inputs)
            first = next(iter(inputs.values()))
            seen.about(servable.name, key, len(first) if first.ndim else 1)
            _, answer = inference.predict(servable, key, inputs, (), deadline)
        return json_text.rows(answer) if by_row else json_text.columns(answer)

    def _classify(self, spec: Spec, body: bytes, seen: Seen, deadline: float | None) -> str:
        with self._models.using(spec) as servable:
            document = json_requests.parse(body)
            key, examples = (
                json_requests.signature_of(document),
                json_requests.examples_of(document),
            )
            seen.about(servable.name, key, len(examples))
            return json_text.classes(inference.classify(servable, key, examples, deadline).rows())

    def _regress(self, spec: Spec, body: bytes, seen: Seen, deadline: float | None) -> str:
        with self._models.using(spec) as servable:
            document = json_requests.parse(body)
            key, examples = (
                json_requests.signature_of(document),
                json_requests.examples_of(document),
            )
            seen.about(servable.name, key, len(examples))
            return json_text.numbers(inference.regress(servable, key, examples, deadline))

    # ---- looking ----

    def _status(self, spec: Spec) -> str:
        return json.dumps({"model_version_status": [
            {
                "version": str(version),
                "state": status.state.name,
                "status": {
                    "error_code": CODE_NAMES[status.code], "error_message": status.message,
                },
            }
            for version, status in self._models.statuses(spec)
        ]}, indent=1, ensure_ascii=False) + "\n"  # fmt: skip

    def _metadata(self, spec: Spec) -> str:
        with self._models.using(spec) as servable:
            model = {"name": servable.name, "signature_name": "", "version": str(servable.version)}
            found = {key: _as_json(each.info) for key, each in servable.signatures.items()}
        first = json.dumps(model, indent=1)
        second = json.dumps({"signature_def": found}, indent=1, ensure_ascii=False)
        return f'{{\n"model_spec":{first}\n,\n"metadata": {{"signature_def": {second}\n}}\n}}\n'


def _spec(match: re.Match[str]) -> Spec:
    name, version, label = (unquote(part) if part else None for part in match.groups()[:3])
    if version is not None and int(version) > _LARGEST:
        raise invalid(f"Failed to convert version: {version} to numeric.")
    return Spec(name or "", None if version is None else int(version), label)


def _signature(signatures: dict[str, Signature], key: str) -> Signature:
    found = signatures.get(key or DEFAULT)
    if found is None:
        raise invalid(f'Serving signature name: "{key or DEFAULT}" not found in signature def')
    if not found.inputs:
        raise invalid(f"Failed to get input map for signature: {key or 'DEFAULT'}")
    return found


def _as_json(info: Any) -> Any:
    """A SignatureDef as JSON has it: every field, also those that are not set."""
    return json_format.MessageToDict(
        info, preserving_proto_field_name=True, always_print_fields_with_no_presence=True
    )
