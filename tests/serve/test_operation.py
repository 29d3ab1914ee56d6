"""Who may ask, what is counted and logged, sockets, and how a server ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from tests.cluster.test_security import certificates as certificates
from tests.serve.serving import DATA, PREDICTION, Client, Start, models, predict_request
from weft.cli.commands.serve import options_of
from weft.cli.main import parser
from weft.cluster.guard.security import Credentials
from weft.core import errors
from weft.protos.serving import message
from weft.serve.config import ModelConfig

HALF = "/v1/models/half_plus_two"
BODY = '{"instances": [2.0]}'


def _predict(channel: Any, **options: Any) -> list[float]:
    request = predict_request("half_plus_two", x=np.float32([2.0])).SerializeToString()
    data = channel.unary_unary(f"{PREDICTION}Predict")(request, timeout=30, **options)
    from tests.serve.serving import read_tensor

    found = read_tensor(message("PredictResponse").FromString(data).outputs["y"])
    return [float(each) for each in found]


def test_tokens(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "tokens"
    file.write_text("secret\n")
    file.chmod(0o600)
    credentials = Credentials(token_file=str(file))
    client = start(models=models("half_plus_two"), credentials=credentials)
    with pytest.raises(grpc.RpcError) as caught:
        _predict(client.channel)
    assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
    shown = (("authorization", "Bearer secret"),)
    assert _predict(client.channel, metadata=shown) == [3.0]
    for path in (HALF, "/monitoring/prometheus/metrics", "/page/state"):
        assert client.get(path)[0] == 401
        assert client.get(path, Authorization="Bearer other")[0] == 401
        assert client.get(path, Authorization="Bearer secret")[0] == 200
    # What looks after processes has no token, and the page asks for one itself.
    assert [client.get(path)[0] for path in ("/healthz", "/readyz", "/")] == [200] * 3


def test_tls_and_certificates_of_clients(start: Start, certificates: Path) -> None:
    files = {
        name: str(certificates / file)
        for name, file in (("cert", "task.pem"), ("key", "task.key"), ("ca", "ca.pem"))
    }
    credentials = Credentials(**files, require_client_cert=True)
    client = start(models=models("half_plus_two"), credentials=credentials)
    pem = {name: Path(file).read_bytes() for name, file in files.items()}
    known = grpc.ssl_channel_credentials(pem["ca"], pem["key"], pem["cert"])
    address = f"localhost:{client.server.grpc_port}"
    with grpc.secure_channel(address, known) as channel:
        assert _predict(channel) == [3.0]
    with (
        pytest.raises(grpc.RpcError),
        grpc.secure_channel(address, grpc.ssl_channel_credentials(pem["ca"])) as channel,
    ):
        _predict(channel)
    context = ssl.create_default_context(cafile=files["ca"])
    with pytest.raises(OSError):
        _https(client, context)
    context.load_cert_chain(files["cert"], files["key"])
    assert _https(client, context) == 200


def _https(client: Client, context: ssl.SSLContext) -> int:
    connection = http.client.HTTPSConnection(
        "localhost", client.server.rest_port, context=context, timeout=30
    )
    try:
        connection.request("POST", f"{HALF}:predict", BODY)
        return connection.getresponse().status
    finally:
        connection.close()


def test_sockets_of_the_file_system(start: Start, tmp_path: Path) -> None:
    grpc_path, rest_path = str(tmp_path / "g"), str(tmp_path / "r")
    start(
        models=models("half_plus_two"), grpc_port=None, rest_port=None, grpc_socket=grpc_path,
        rest_socket=rest_path,
    )  # fmt: skip
    with grpc.insecure_channel(f"unix:{grpc_path}") as channel:
        assert _predict(channel) == [3.0]
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(rest_path)
        plain.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert plain.makefile("rb").readline() == b"HTTP/1.1 200 OK\r\n"


def test_metrics(client: Client) -> None:
    client.post(f"{HALF}:predict", BODY)
    client.post(f"{HALF}:predict", "{}")
    client.post("/v1/models/made-up:predict", "{}")
    _predict(client.channel)
    _, text = client.get("/monitoring/prometheus/metrics")
    lines = text.splitlines()
    count = ":tensorflow:serving:request_count"
    assert f'{count}{{model_name="half_plus_two",status="OK"}} 2.0' in lines
    assert f'{count}{{model_name="half_plus_two",status="INVALID_ARGUMENT"}} 1.0' in lines
    assert "made-up" not in text  # a name that anyone may make up takes no memory
    latency = ":tensorflow:serving:request_latency_count"
    for api, entry in (("predict", "REST"), ("Predict", "GRPC")):
        labels = f'API="{api}",entrypoint="{entry}",model_name="half_plus_two"'
        assert f"{latency}{{{labels}}} 1.0" in lines
    state = 'model_name="half_plus_two",state="AVAILABLE",version="1"'
    assert f":tensorflow:serving:models{{{state}}} 1.0" in lines


def test_the_request_log(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "requests.jsonl"
    silent = ModelConfig("silent", str(DATA / "half_plus_two"), sampling=0.0)
    client = start(models=(*models("half_plus_two"), silent), request_log=str(file))
    client.post(f"{HALF}:predict", '{"instances": [2.0, 3.0]}')
    client.post(f"{HALF}:predict", "no")
    client.post("/v1/models/silent:predict", BODY)
    first, second = map(json.loads, file.read_text().splitlines())
    expected = {"model": "half_plus_two", "api": "predict", "entry": "REST", "status": "OK"}
    assert expected.items() <= first.items() and first["examples"] == 2
    assert second["status"] == "INVALID_ARGUMENT"


def test_the_page(client: Client) -> None:
    client.post(f"{HALF}:predict", BODY)
    code, text = client.get("/")
    assert code == 200 and "weft serve" in text
    state = json.loads(client.get("/page/state")[1])
    (model,) = state["models"]
    assert model["name"] == "half_plus_two"
    assert model["versions"] == [{"version": 1, "state": "AVAILABLE", "error": ""}]
    assert [each["key"] for each in model["signatures"]] == [
        "classify", "regress", "serving_default"
    ]  # fmt: skip
    assert sum(model["requests"]) > 0 and any(model["p50"])


def test_a_port_that_is_taken(client: Client, start: Start) -> None:
    taken = client.server.rest_port
    for options in ({"rest_port": taken}, {"grpc_port": client.server.grpc_port}):
        with pytest.raises(errors.UnavailableError, match="another process is using the port"):
            start(models=models("half_plus_two"), **options)


def test_a_server_that_ends_lets_requests_finish(start: Start) -> None:
    client = start(models=models("half_plus_two"))
    (servable,) = client.server.models.available("half_plus_two").values()
    begun, go_on = threading.Event(), threading.Event()
    original = servable.run

    def slowly(*args: Any) -> Any:
        begun.set()
        go_on.wait()
        return original(*args)

    servable.run = slowly
    found: list[Any] = []
    asking = threading.Thread(target=lambda: found.append(_predict(client.channel)))
    asking.start()
    begun.wait()
    ending = threading.Thread(target=lambda: client.server.stop(30.0))
    ending.start()
    while client.server.is_ready:
        threading.Event().wait(0.01)
    go_on.set()
    asking.join()
    ending.join()
    assert found == [[3.0]]


# ---- the command --------------------------------------------------------------------------------


def options(*words: str) -> Any:
    return options_of(parser().parse_args(["serve", *words]))


@pytest.mark.parametrize("option", ["grpc_socket", "rest_socket"])
def test_a_socket_that_is_taken(option: str, start: Start, tmp_path: Path) -> None:
    given: dict[str, Any] = {"models": models("half_plus_two"), option: str(tmp_path / "s")}
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(given[option])
    first = start(**given)
    with pytest.raises(errors.UnavailableError, match="another process is using the socket"):
        start(**given)
    if option == "rest_socket":
        assert b" 200 " in _asked(given[option], "/v1/models/half_plus_two")
    first.server.stop(5.0)
    for path, problem in (
        (tmp_path / "file", "file of that name"),
        (tmp_path / "a" / "b", "folder"),
    ):
        (tmp_path / "file").write_text("kept")
        with pytest.raises(errors.UnavailableError, match=problem):
            start(**given | {option: str(path)})
    assert (tmp_path / "file").read_text() == "kept"


def test_options(tmp_path: Path) -> None:
    made = options("--model", "a=/m/a", "--model", "b=gs://m/b", "--memory", "10", "--batch")
    assert [(each.name, each.path) for each in made.models] == [("a", "/m/a"), ("b", "gs://m/b")]
    assert made.memory == 10 << 20 and made.batching is not None
    theirs = options(
        "--port=9000", "--rest_api_port=9001", "--model_name=m", "--model_base_path=/m",
        "--enable_batching=true", "--file_system_poll_wait_seconds=5",
        "--rest_api_timeout_in_ms=10",
    )  # fmt: skip
    assert (theirs.grpc_port, theirs.rest_port, theirs.poll_seconds) == (9000, 9001, 5.0)
    assert theirs.models[0].name == "m" and theirs.rest_seconds == 0.01
    file = tmp_path / "monitoring"
    file.write_text('prometheus_config { enable: true path: "/metrics" }')
    theirs = options("--model=a=/b", f"--monitoring_config_file={file}")
    assert theirs.metrics_path == "/metrics"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((), "it takes --model NAME=PATH"),
        (("--model", "a"), "not of the form NAME=PATH"),
        (("--model", "a=/b", "--model", "a=/c"), "given twice"),
        (("--model", "a=/b", "--host", "0.0.0.0"), "Without a token or TLS"),
        (("--model", "a=/b", "--batching", "/nowhere"), "/nowhere"),
        (("--model", "a=/b", "--port", "0", "--rest-port", "0"), "nowhere to listen"),
    ],
)
def test_options_that_make_no_sense(words: tuple[str, ...], text: str) -> None:
    with pytest.raises((ValueError, errors.OpError), match=text):
        options(*words)


@pytest.mark.parametrize("option", ["--port", "--rest-port"])
def test_ports_that_there_are_not(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        options("--model", "a=/b", option, "70000")
    assert "70000 is no port" in capsys.readouterr().err


def test_the_command_and_its_signals(tmp_path: Path) -> None:
    config = tmp_path / "config"
    entry = 'config {{ name: "{}" base_path: "{}" model_platform: "tensorflow" }}'
    one = entry.format("half_plus_two", DATA / "half_plus_two")
    config.write_text(f"model_config_list {{ {one} }}")
    command = [sys.executable, "-m", "weft", "serve", "--config", str(config), "--rest-port", "0",
               "--port", "0", "--rest-socket", str(tmp_path / "r")]  # fmt: skip
    errors_file = (tmp_path / "errors").open("w+")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors_file, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == f"REST at unix:{tmp_path / 'r'}\n"
        two = entry.format("keras", DATA / "keras")
        config.write_text(f"model_config_list {{ {one} {two} }}")
        os.kill(process.pid, signal.SIGHUP)
        while b" 200 " not in _asked(str(tmp_path / "r"), "/v1/models/keras"):
            threading.Event().wait(0.05)
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        errors_file.close()


def _asked(path: str, what: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(path)
        plain.sendall(f"GET {what} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        return plain.makefile("rb").readline()


def test_a_client_that_asks_without_pause_is_sent_away(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weft.serve.http_front._FAREWELL", 60.0)
    connection = http.client.HTTPConnection("127.0.0.1", client.server.rest_port, timeout=60)

    def ask() -> http.client.HTTPResponse:
        connection.request("POST", "/v1/models/half_plus_two:predict", '{"instances": [1.0]}')
        answer = connection.getresponse()
        assert answer.status == 200 and answer.read()
        return answer

    assert ask().getheader("connection") is None
    stopping = threading.Thread(target=client.server.stop, args=(60.0,))
    stopping.start()
    while client.server.is_ready:
        threading.Event().wait(0.01)
    while ask().getheader("connection") is None:
        pass
    stopping.join(60)  # the connection is closed: nothing is waited for
    assert not stopping.is_alive()
    with pytest.raises(ConnectionRefusedError):
        ask()
    connection.close()
