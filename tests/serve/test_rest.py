"""The REST interface: bodies, layouts, codes and words."""

from __future__ import annotations

import base64
import json
import socket
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.serve.serving import Client, Start, add_version, models
from weft.core import dtypes
from weft.serve.config import ModelConfig
from weft.serve.http_front import METRICS_PATH
from weft.serve.json_text import tokens

HALF = "/v1/models/half_plus_two"


def test_rows_and_columns(client: Client) -> None:
    assert client.post(f"{HALF}:predict", {"instances": [1.0, 2, 5]}) == (
        200,
        '{\n    "predictions": [2.5, 3.0, 4.5\n    ]\n}',
    )
    assert client.post(f"{HALF}:predict", '{"inputs": [1.0, 2e0, 5]} and the rest is not read') == (
        200,
        '{\n    "outputs": [\n        2.5,\n        3.0,\n        4.5\n    ]\n}',
    )
    named = {"instances": [{"x": 1.0}, {"x": -4}], "signature_name": "serving_default"}
    assert json.loads(client.post(f"{HALF}/versions/1:predict", named)[1]) == {
        "predictions": [2.5, 0.0]
    }
    assert json.loads(client.post(f"{HALF}:predict", {"inputs": {"x": [1.0]}})[1]) == {
        "outputs": [2.5]
    }


NUMBERS = [
    (np.float32(0.2), "0.2"), (np.float32(1) / 3, "0.333333343"), (np.float32(2), "2.0"),
    (np.float32(1e30), "1e+30"), (np.float32(16777220), "16777220.0"), (np.float64(1) / 3,
    "0.33333333333333331"), (np.float64(-1e-7), "-1e-07"), (np.float32("nan"), "NaN"),
    (np.float64("-inf"), "-Infinity"), (np.int64(-5), "-5"), (np.uint8(7), "7"),
    (np.bool_(True), "true"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "text"), NUMBERS)
def test_numbers_have_as_many_digits_as_they_need(number: Any, text: str) -> None:
    assert tokens(np.array([number]), dtypes.as_dtype(number.dtype), False) == [text]


def test_classify_and_regress(client: Client) -> None:
    body = {"signature_name": "classify", "examples": [{"x": 1.0}, {"x": [2.0]}]}
    assert client.post(f"{HALF}:classify", body) == (
        200,
        '{\n    "results": [[["", 2.5]], [["", 3.0]]\n    ]\n}',
    )
    body = {"signature_name": "regress", "context": {"x": 4.0}, "examples": [{}, {"x": 2.0}]}
    assert client.post(f"{HALF}:regress", body) == (200, '{\n    "results": [4.0, 3.0]\n}')


def test_status_and_metadata(client: Client) -> None:
    status = {"error_code": "OK", "error_message": ""}
    expected = {"model_version_status": [{"version": "1", "state": "AVAILABLE", "status": status}]}
    for path in (HALF, f"{HALF}/versions/1", f"{HALF}/labels/any", HALF.upper()[:3] + HALF[3:]):
        code, text = client.get(path)
        assert (code, json.loads(text)) == (200, expected)
    code, text = client.get(f"{HALF}/metadata")
    found = json.loads(text)
    assert code == 200
    assert found["model_spec"] == {"name": "half_plus_two", "signature_name": "", "version": "1"}
    signatures = found["metadata"]["signature_def"]["signature_def"]
    assert set(signatures) == {"serving_default", "classify", "regress"}
    assert signatures["serving_default"]["inputs"]["x"] == {
        "name": "x:0",
        "dtype": "DT_FLOAT",
        "tensor_shape": {"dim": [{"size": "-1", "name": ""}], "unknown_rank": False},
    }


def test_strings_and_bytes(start: Start) -> None:
    client = start(models=models("strings"))
    coded = base64.b64encode(b"\xff\x00").decode()
    rows = [{"words": "grüß", "times": 1}, {"words": {"b64": coded}, "times": -2}]
    code, text = client.post("/v1/models/strings:predict", {"instances": rows})
    first, second = json.loads(text)["predictions"]
    assert code == 200
    assert first["upper"] == "GRüß" and first["even"] is False and first["long"] == 3
    assert base64.b64decode(second["image_bytes"]["b64"]) == b"\xff\x00"
    assert second["third"] == -2 / 3
    assert '\n        {\n            "even": false,\n' in text


# (request body, code, error)
WRONG: list[tuple[Any, int, str]] = [
    ("", 400, "JSON Parse error: The document is empty"),
    ("{", 400, "JSON Parse error: Missing a name for object member. at offset: 1"),
    ('{"inputs": "\\ud800"}', 400,
     "JSON Parse error: The surrogate pair in string is invalid."),
    ("[1]", 400, "JSON Value: [1] Is not object"),
    ({}, 400, "Missing 'inputs' or 'instances' key"),
    ({"instances": 3}, 400, 'JSON Value: {\n    "instances": 3\n} Expecting \'instances\' to be an'
     " list/array"),
    ({"instances": []}, 400, 'JSON Value: {\n    "instances": []\n} No values in \'instances\''
     " array"),
    ({"instances": [1], "inputs": 1}, 400, 'JSON Value: {\n    "instances": [1],\n    "inputs": 1\n'
     "} Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist "),
    ({"instances": ["a"]}, 400, "Failed to process element: 0 of 'instances' list. Error:"
     ' INVALID_ARGUMENT: JSON Value: "a" Type: String is not of expected type: float'),
    ({"instances": [1.0, [2.0]]}, 400, "Failed to process element: 1 of 'instances' list. Error:"
     " INVALID_ARGUMENT: Expecting shape [] but got: [1]"),
    ({"instances": [{"y": 1.0}]}, 400, "Failed to process element: 0 key: y of 'instances' list."
     " Error: INVALID_ARGUMENT: JSON object: does not have named input: y"),
    ({"instances": [1.0, {"x": 1}]}, 400, "Expecting value/list but got object at item 1 of input"
     " list"),
    ({"inputs": {"z": 1}}, 400, "Missing named input: x in 'inputs' object."),
    ({"inputs": [[1.0], 2.0]}, 400, "JSON Value: 2.0 found at incorrect level: 2 in the JSON DOM."
     " Expected at level: 2"),
    ({"inputs": [[1.0], [2.0, 3.0]]}, 400, "Encountered list at unexpected size: 2 at level: 1"
     " expected size: 1"),
    ({"inputs": [1.0], "signature_name": 3}, 400, 'JSON Value: {\n    "inputs": [1.0],\n'
     '    "signature_name": 3\n} not formatted correctly. \'signature_name\' key must be a string'
     " value."),
    ({"inputs": [1.0], "signature_name": "s"}, 400, 'Serving signature name: "s" not found in'
     " signature def"),
    ({"inputs": [True]}, 400, "JSON Value: true Type: True is not of expected type: float"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(0, len(WRONG), 6))
def test_what_is_wrong_is_told(case: int, client: Client) -> None:
    for body, code, text in WRONG[case : case + 6]:
        found, answer = client.post(f"{HALF}:predict", body)
        assert (found, json.loads(answer)) == (code, {"error": text})


def test_paths(client: Client) -> None:
    def told(method: str, path: str, body: str | None = None) -> tuple[int, str]:
        code, text = client.rest(method, path, body)
        return code, json.loads(text)["error"]

    assert told("GET", "/v1/models") == (400, "Missing model name in request.")
    assert told("GET", "/v1/nothing") == (400, "Malformed request: GET /v1/nothing")
    assert told("POST", HALF, "{}") == (400, f"Malformed request: POST {HALF}")
    assert told("DELETE", HALF) == (400, f"Malformed request: DELETE {HALF}")
    assert told("GET", "/v1/models/no") == (404, "Could not find any versions of model no")
    assert told("POST", "/v1/models/no:predict", "{}") == (
        404, "Servable not found for request: Latest(no)"
    )  # fmt: skip
    assert told("POST", f"{HALF}/versions/7:predict", "{}") == (
        404, "Servable not found for request: Specific(half_plus_two, 7)"
    )  # fmt: skip
    assert told("GET", f"{HALF}/versions/7") == (
        404, "Could not find version 7 of model half_plus_two"
    )  # fmt: skip
    assert told("POST", f"{HALF}/labels/x:predict", "{}") == (
        400, "Unrecognized servable version label: x"
    )  # fmt: skip
    assert told("GET", f"{HALF}/versions/99999999999999999999") == (
        400, "Failed to convert version: 99999999999999999999 to numeric."
    )  # fmt: skip
    assert client.get("/elsewhere")[0] == 404


def test_names_may_be_escaped(start: Start, tmp_path: Path) -> None:
    add_version(tmp_path, 1)
    client = start(models=(ModelConfig("a b", str(tmp_path)),))
    assert client.post("/v1/models/a%20b:predict", {"instances": [2]})[0] == 200


def test_pages_of_other_sites(start: Start) -> None:
    client = start(models=models("half_plus_two"), cors=True)
    code, _ = client.rest("OPTIONS", f"{HALF}:predict", Origin="http://elsewhere")
    assert code == 200
    assert client.rest("OPTIONS", f"{HALF}:predict")[0] == 400


def test_a_body_beyond_the_limit(start: Start) -> None:
    client = start(models=models("half_plus_two"), message_limit=1000)
    code, text = client.post(f"{HALF}:predict", {"instances": [1.0] * 1000})
    assert code == 413 and "larger than the 1000 bytes" in text
    assert client.post(f"{HALF}:predict", {"instances": [1.0]})[0] == 200


_HEAD = f"POST {HALF}:predict HTTP/1.1\r\nHost: here\r\n"
_CHUNKS = _HEAD + "Transfer-Encoding: chunked\r\n\r\n"


def _chunks(*parts: str) -> list[str]:
    return [f"{len(part):x}\r\n{part}\r\n" for part in parts]


@pytest.mark.parametrize(
    ("parts", "code"),
    [
        ([_CHUNKS, *_chunks('{"instan', 'ces": [1', ".0]}"), "0\r\n\r\n"], 200),
        ([_CHUNKS, *_chunks(*["[" * 400] * 3)], 413),
        ([f"{_HEAD}Content-Length: 1001\r\n\r\n", "{"], 413),
        ([f"{_HEAD}Content-Length: 20\r\n\r\n", '{"insta', 'nces"', ": [1.0]}"], 200),
    ],
)
def test_bodies_in_parts(parts: list[str], code: int, start: Start) -> None:
    client = start(models=models("half_plus_two"), message_limit=1000)
    with socket.create_connection(("127.0.0.1", client.server.rest_port), 60) as connection:
        for part in parts:
            connection.sendall(part.encode())
            time.sleep(0.02)  # so that they come one by one
        assert connection.recv(1 << 16).startswith(f"HTTP/1.1 {code} ".encode())


def test_a_body_that_breaks_off_is_not_answered(client: Client) -> None:
    for head in (f"{_HEAD}Content-Length: 20\r\n\r\n", _CHUNKS + _chunks('{"instances":')[0]):
        with socket.create_connection(("127.0.0.1", client.server.rest_port), 60) as connection:
            connection.sendall(head.encode())
            time.sleep(0.05)
    assert client.post(f"{HALF}:predict", {"instances": [1.0]})[0] == 200
    counted = [
        line for line in client.get(METRICS_PATH)[1].splitlines() if "request_count{" in line
    ]
    assert len(counted) == 1 and counted[0].endswith(" 1.0")
