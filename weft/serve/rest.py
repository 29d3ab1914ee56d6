"""TensorFlow Serving's REST interface: a request's path and body in, a status and a text out."""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np
from google.protobuf import json_format

from weft.cluster.transport.methods import status_of
from weft.core import errors
from weft.serve import inference, json_requests, json_text
from weft.serve.errors import CODE_NAMES, invalid
from weft.serve.models import Models, Spec
from weft.serve.observe import Observer, Seen
from weft.serve.plain_rows import learn
from weft.serve.servable import Servable
from weft.serve.signatures import DEFAULT, Signature

_MODEL = r"([^/:]+)(?:/versions/(\d+)|/labels/([^/:]+))?"
_ASKING = re.compile(rf"/v1/models/{_MODEL}:(?-i:(classify|regress|predict))", re.IGNORECASE)
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
Inputs = dict[str, np.ndarray]


def http_status(code: int) -> int:
    """The status of HTTP for one of TensorFlow's codes."""
    return _HTTP.get(code, 500) if code else 200


class RestRequest(NamedTuple):
    """`deadline`: until when the answer is wanted; `at_once`: only if it takes next to no time."""

    method: str
    path: str
    body: bytes
    deadline: float | None = None
    at_once: bool = False


class TakesTime(Exception):
    """The answer might take a while."""


class Rest:
    """Answers requests; each is seen by the observer."""

    def __init__(self, models: Models, observer: Observer) -> None:
        self._models, self._observer = models, observer
        self._asking: dict[str, Callable[[Spec, RestRequest, Seen], str]] = {
            "predict": self._predict, "classify": self._classify, "regress": self._regress,
        }  # fmt: skip

    def answer(self, request: RestRequest) -> Answered:
        """The status and the body of the response. TakesTime if it is wanted at once or never."""
        seen = Seen(self._observer, "", "REST", len(request.body))
        try:
            text = self._text(request, seen)
        except TakesTime:
            raise
        except Exception as error:
            code, message = status_of(f"{request.method} {request.path[:200]}", error)
            self._observer.finish(seen, code)
            return http_status(code), json_text.error(message)
        self._observer.finish(seen, 0)
        return 200, text

    def _text(self, request: RestRequest, seen: Seen) -> str:
        if request.method == "POST":
            seen.api, spec = _asked(request.path)
            return self._asking[seen.api](spec, request, seen)
        looked = _LOOKING.fullmatch(request.path) if request.method == "GET" else None
        if looked is None:
            raise invalid(f"Malformed request: {request.method} {request.path}")
        spec = _spec(*looked.groups()[:3])
        if not spec.name:
            raise invalid("Missing model name in request.")
        _check_patience(request)
        seen.about(spec.name, "", 0)
        return self._metadata(spec) if looked[4] else self._status(spec)

    # ---- asking ----

    def _predict(self, spec: Spec, request: RestRequest, seen: Seen) -> str:
        with self._models.using(spec) as servable:
            document = json_requests.parse(request.body)
            key = json_requests.signature_of(document)
            seen.about(servable.name, key, 0)
            plain: Any = servable.plain_rows.get(key)
            inputs: Any = plain.read(document) if plain is not None else None
            if inputs is not None:
                shapes, ask = (inputs.shape,), plain.answer
            else:
                inputs, shapes, ask = _question(servable, key, document)
            seen.rows = shapes[0][0] if shapes[0] else 1
            step = key, shapes
            if servable.batcher is not None or not servable.pace.is_short(step):
                _check_patience(request)
            text = ask(inputs, request.deadline)
            servable.pace.note(step, time.perf_counter() - seen.began)
        return text

    def _classify(self, spec: Spec, request: RestRequest, seen: Seen) -> str:
        _check_patience(request)
        with self._models.using(spec) as servable:
            document = json_requests.parse(request.body)
            key, examples = (
                json_requests.signature_of(document),
                json_requests.examples_of(document),
            )
            seen.about(servable.name, key, len(examples))
            found = inference.classify(servable, key, examples, request.deadline)
            return json_text.classes(found.rows())

    def _regress(self, spec: Spec, request: RestRequest, seen: Seen) -> str:
        _check_patience(request)
        with self._models.using(spec) as servable:
            document = json_requests.parse(request.body)
            key, examples = (
                json_requests.signature_of(document),
                json_requests.examples_of(document),
            )
            seen.about(servable.name, key, len(examples))
            return json_text.numbers(inference.regress(servable, key, examples, request.deadline))

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


def _question(
    servable: Servable, key: str, document: dict[str, Any]
) -> tuple[Inputs, tuple[Any, ...], Callable[[Inputs, float | None], str]]:
    """The inputs, their shapes, and a function of inputs and deadline that gives the response."""
    signature = _signature(servable.signatures, key)
    learn(servable, key, signature)
    given, by_row = json_requests.inputs_of(document, signature.inputs)
    write = json_text.rows if by_row else json_text.columns

    def ask(inputs: Inputs, deadline: float | None) -> str:
        return write(inference.predict(servable, key, inputs, (), deadline)[1])

    return given, tuple(array.shape for array in given.values()), ask


def _check_patience(request: RestRequest) -> None:
    """TakesTime, if there is none for what comes now."""
    if request.at_once:
        raise TakesTime


@functools.lru_cache(1024)
def _asked(path: str) -> tuple[str, Spec]:
    """What is asked by a path, and of which model."""
    found = _ASKING.fullmatch(path)
    if found is None:
        raise invalid(f"Malformed request: POST {path}")
    return found[4], _spec(*found.groups()[:3])


def _spec(name: str | None, version: str | None, label: str | None) -> Spec:
    """The spec of what stands in a path."""
    number = int(version) if version else None
    if number is not None and number > _LARGEST:
        raise invalid(f"Failed to convert version: {version} to numeric.")
    return Spec(unquote(name or ""), number, unquote(label) if label else None)


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
