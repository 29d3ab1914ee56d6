"""Versions that come, break, are rolled back and go, while requests go on."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from tests.serve.serving import Client, Start, add_broken, add_version, predict_request
from weft.core import errors
from weft.protos.serving import message
from weft.serve.config import ALL, ModelConfig, Policy, read_config
from weft.serve.loading import WARM_UP
from weft.serve.versions import Actions, State, Status, decide
from weft.storage.tf_record import TFRecordWriter

MODEL = "/tensorflow.serving.ModelService/"
GOOD, BAD, GONE = Status(State.AVAILABLE), Status(State.END, 3, "bad"), Status(State.END)


def asked(client: Client, **spec: Any) -> float:
    """What half_plus_two makes of 0: the b of the version that answers."""
    request = predict_request("m", x=np.float32([0.0]))
    for name, value in spec.items():
        if name == "version":
            request.model_spec.version.value = value
        else:
            setattr(request.model_spec, name, value)
    data = client.call("/tensorflow.serving.PredictionService/Predict", request)
    from tests.serve.serving import read_tensor

    return float(read_tensor(message("PredictResponse").FromString(data).outputs["y"])[0])


def drained(client: Client) -> None:
    """Waits until what was let go is freed."""
    while client.server.models._unloading:
        threading.Event().wait(0.01)


DECISIONS: list[tuple[set[int], dict[int, Status], set[int], Actions]] = [
    ({1}, {}, set(), Actions((1,))),
    ({1, 2}, {}, set(), Actions((2, 1))),
    ({2}, {1: GOOD}, set(), Actions((2,))),
    ({2}, {1: GOOD, 2: GOOD}, set(), Actions((), (1,))),
    ({2}, {1: GOOD, 2: BAD}, set(), Actions()),
    ({2}, {1: GOOD, 2: BAD}, {2}, Actions((2,))),
    ({1}, {1: GONE, 2: GOOD}, set(), Actions((1,))),
    (set(), {1: GOOD}, set(), Actions((), (1,))),
    ({1}, {1: Status(State.UNLOADING)}, set(), Actions()),
]


@pytest.mark.parametrize(("wanted", "statuses", "changed", "actions"), DECISIONS)
def test_decisions(
    wanted: set[int], statuses: dict[int, Status], changed: set[int], actions: Actions
) -> None:
    assert decide(wanted, statuses, changed) == actions


def test_policies() -> None:
    there = {1, 2, 10}
    assert Policy().choose(there) == {10}
    assert Policy(latest=2).choose(there) == {2, 10}
    assert ALL.choose(there) == there
    assert Policy(specific=(1, 7)).choose(there) == {1}


def test_a_new_version_takes_over(start: Start, tmp_path: Path) -> None:
    add_version(tmp_path, 1, 2.0)
    client = start(models=(ModelConfig("m", str(tmp_path)),))
    assert asked(client) == 2.0
    add_version(tmp_path, 3, 30.0)
    client.server.models.look_again()
    assert asked(client) == 30.0
    drained(client)
    assert client.status("m") == {3: "AVAILABLE", 1: "END"}
    with pytest.raises(grpc.RpcError):
        asked(client, version=1)


def test_a_broken_version_never_replaces_a_good_one(start: Start, tmp_path: Path) -> None:
    add_version(tmp_path, 1, 2.0)
    client = start(models=(ModelConfig("m", str(tmp_path)),))
    add_broken(tmp_path, 2)
    (tmp_path / "3").mkdir()
    for _ in range(3):
        client.server.models.look_again()
        assert asked(client) == 2.0
    assert client.server.is_ready
    status = json.loads(client.get("/v1/models/m/versions/3")[1])["model_version_status"][0]
    assert status["state"] == "END" and status["status"]["error_code"] == "NOT_FOUND"
    # Mended, it is tried again; removed, the one before is back.
    shutil.rmtree(tmp_path / "3")
    shutil.rmtree(tmp_path / "2")
    add_version(tmp_path, 2, 20.0)
    client.server.models.look_again()
    assert asked(client) == 20.0
    shutil.rmtree(tmp_path / "2")
    client.server.models.look_again()
    assert asked(client) == 2.0


def test_a_folder_that_cannot_be_read_changes_nothing(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    add_version(folder, 1)
    client = start(models=(ModelConfig("m", str(folder)),))
    folder.rename(tmp_path / "away")
    client.server.models.look_again()
    assert asked(client) == 2.0


def test_a_saved_model_itself_is_a_version(start: Start, tmp_path: Path) -> None:
    add_version(tmp_path, 7)
    client = start(models=(ModelConfig("m", str(tmp_path / "7")),))
    assert asked(client, version=7) == 2.0


def test_requests_finish_on_the_version_they_began_with(start: Start, tmp_path: Path) -> None:
    add_version(tmp_path, 1, 2.0)
    client = start(models=(ModelConfig("m", str(tmp_path)),))
    found = client.server.models.available("m")[1]
    assert found.enter()
    add_version(tmp_path, 2, 20.0)
    client.server.models.look_again()
    assert client.status("m") == {2: "AVAILABLE", 1: "UNLOADING"}
    feeds = {"x:0": np.float32([0.0])}
    assert found.run(feeds, ["y:0"], None)[0].tolist() == [2.0]
    found.leave()
    drained(client)
    assert client.status("m") == {2: "AVAILABLE", 1: "END"}


CONFIG = """
model_config_list {{
  config {{
    name: "m" base_path: "{path}" model_platform: "tensorflow"
    model_version_policy {{ specific {{ versions: 1 versions: 2 }} }}
    version_labels {{ key: "stable" value: 1 }}
    version_labels {{ key: "canary" value: {canary} }}
  }}
}}
"""


def test_labels_and_a_config_that_changes(start: Start, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    for version in (1, 2):
        add_version(folder, version, version * 10.0)
    file = tmp_path / "models.config"
    file.write_text(CONFIG.format(path=folder, canary=2))
    client = start(config_file=str(file))
    assert asked(client, version_label="stable") == 10.0
    assert asked(client, version_label="canary") == 20.0
    assert client.post("/v1/models/m/labels/stable:predict", {"instances": [0]})[0] == 200
    file.write_text(CONFIG.format(path=folder, canary=1))
    client.server.reload_or_complain(if_changed=True)
    assert asked(client, version_label="canary") == 10.0
    # A label for a version that there is not is refused, and what was stays.
    file.write_text(CONFIG.format(path=folder, canary=3))
    with pytest.raises(errors.FailedPreconditionError, match="not currently available"):
        client.server.reload()
    file.write_text("model_config_list {")
    client.server.reload_or_complain()
    assert asked(client, version_label="canary") == 10.0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "models.config; No such file"), ("hello {", "models.config: .*no field named"),
        ('model_config_list { config { name: "m" } }', "models.config: .*model name is m"),
    ],
)  # fmt: skip
def test_a_server_needs_a_config_that_is_one(
    text: str | None, problem: str, start: Start, tmp_path: Path
) -> None:
    file = tmp_path / "models.config"
    if text is not None:
        file.write_text(text)
    with pytest.raises(errors.OpError, match=problem):
        start(config_file=str(file))


def test_a_config_and_folders_that_are_looked_at_again_by_a_timer(
    start: Start, tmp_path: Path
) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    for version in (1, 2):
        add_version(folder, version, version * 10.0)
    file = tmp_path / "models.config"
    file.write_text(CONFIG.format(path=folder, canary=2))
    client = start(config_file=str(file), poll_seconds=0.05, config_poll_seconds=0.05)
    assert asked(client, version_label="canary") == 20.0
    file.write_text(CONFIG.format(path=folder, canary=1))
    until(lambda: asked(client, version_label="canary") == 10.0)
    # A label for a version that is not there yet: it is given when the version has come.
    every = CONFIG.replace("specific {{ versions: 1 versions: 2 }}", "all {{ }}")
    file.write_text(every.format(path=folder, canary=3))
    with pytest.raises(errors.FailedPreconditionError, match="not currently available"):
        client.server.reload()
    assert asked(client, version_label="canary") == 10.0
    add_version(folder, 3, 30.0)
    until(lambda: asked(client, version_label="canary") == 30.0)


def test_a_config_file_that_is_being_written(start: Start, tmp_path: Path) -> None:
    """Whoever reads it while it is empty must not take it for a server without models."""
    (tmp_path / "m").mkdir()
    add_version(tmp_path / "m", 1, 10.0)
    add_version(tmp_path / "m", 2, 20.0)
    file = tmp_path / "models.config"
    file.write_text(CONFIG.format(path=tmp_path / "m", canary=2))
    client = start(config_file=str(file))
    file.write_text("")
    with pytest.raises(errors.FailedPreconditionError, match="has no model_config_list"):
        client.server.reload()
    assert asked(client, version_label="canary") == 20.0
    file.write_text("model_config_list {}")
    client.server.reload()
    with pytest.raises(grpc.RpcError, match="Servable not found"):
        asked(client)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_config_by_rpc(start: Start, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        add_version(tmp_path / name, 1)
    client = start(models=(ModelConfig("one", str(tmp_path / "one")),))
    request = message("ReloadConfigRequest")()
    model = request.config.model_config_list.config.add(name="two", model_platform="tensorflow")
    model.base_path = str(tmp_path / "two")
    path = f"{MODEL}HandleReloadConfigRequest"
    response = message("ReloadConfigResponse").FromString(client.call(path, request))
    assert response.status.error_code == 0
    assert client.predict("two", x=np.float32([2.0]))["y"].tolist() == [3.0]
    with pytest.raises(grpc.RpcError, match="Servable not found"):
        client.predict("one", x=np.float32([2.0]))
    model.base_path = str(tmp_path / "nowhere")
    model.name = "three"
    with pytest.raises(grpc.RpcError, match="did not become available"):
        client.call(path, request)
    with pytest.raises(grpc.RpcError, match="Only ModelConfigList"):
        client.call(path, message("ReloadConfigRequest")())


REFUSED = [
    ('model_config_list { config { name: "a" base_path: "/a" } }', "Illegal setting neither"),
    ('model_config_list { config { name: "a" base_path: "a" model_platform: "tensorflow" } }',
     "absolute path"),
    ('model_config_list { config { name: "a" base_path: "/a" model_platform: "other" } }',
     "unsupported platform other"),
    ('model_config_list { config { name: "a" base_path: "/a" model_type: TENSORFLOW }'
     ' config { name: "a" base_path: "/b" model_type: TENSORFLOW } }', "multiple times"),
    ("model_config_list { what: 1 }", "Cannot read the model config"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED)
def test_configs_that_make_no_sense(text: str, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=message):
        read_config(text)


def test_what_does_not_fit_is_refused(start: Start, tmp_path: Path) -> None:
    add_version(tmp_path, 1)
    size = sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file())
    client = start(models=(ModelConfig("m", str(tmp_path)),), memory=int(size * 1.5))
    add_version(tmp_path, 2, 20.0)
    client.server.models.look_again()
    assert asked(client) == 2.0
    _, text = client.get("/v1/models/m/versions/2")
    status = json.loads(text)["model_version_status"][0]["status"]
    assert status["error_code"] == "RESOURCE_EXHAUSTED" and "--memory" in status["error_message"]


def _log(**inputs: Any) -> bytes:
    log = message("PredictionLog")()
    log.predict_log.request.CopyFrom(predict_request("m", **inputs))
    return bytes(log.SerializeToString())


def test_warming_up(start: Start, tmp_path: Path) -> None:
    """A version that cannot answer its own requests is not served."""
    for version, array in ((1, np.float32([1.0, 2.0])), (2, np.int64([1]))):
        add_version(tmp_path, version)
        file = tmp_path / str(version) / WARM_UP
        file.parent.mkdir()
        with TFRecordWriter(str(file)) as writer:
            writer.write(_log(x=array))
    client = start(models=(ModelConfig("m", str(tmp_path), ALL),))
    assert client.status("m") == {2: "END", 1: "AVAILABLE"}
    assert asked(client) == 2.0


def test_the_folder_is_watched(start: Start, tmp_path: Path) -> None:
    add_version(tmp_path, 1, 2.0)
    client = start(models=(ModelConfig("m", str(tmp_path)),), poll_seconds=0.05)
    add_version(tmp_path, 2, 20.0)
    while asked(client) != 20.0:
        threading.Event().wait(0.02)


def test_no_model_yet(start: Start, tmp_path: Path) -> None:
    """A server whose model is not there waits for it."""
    client = start(models=(ModelConfig("m", str(tmp_path / "later")),))
    assert client.get("/readyz")[0] == 503 and client.get("/healthz")[0] == 200
    (tmp_path / "later").mkdir()
    add_version(tmp_path / "later", 1)
    client.server.models.look_again()
    assert client.get("/readyz")[0] == 200
    assert asked(client) == 2.0
