"""Callbacks driven by a loop that only says what happened."""

from __future__ import annotations

import http.server
import json
import os
import re
import threading
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.keras import backend as K
from weft.lib.keras.callbacks import base
from weft.lib.keras.callbacks.base import SLOW_SECONDS, Callback, CallbackList
from weft.lib.keras.callbacks.configure import configure_callbacks, make_logs
from weft.lib.keras.callbacks.logs import CSVLogger, LambdaCallback, RemoteMonitor
from weft.lib.keras.callbacks.model_checkpoint import ModelCheckpoint, most_recent_file
from weft.lib.keras.callbacks.monitoring import (
    EarlyStopping,
    LearningRateScheduler,
    ReduceLROnPlateau,
)
from weft.lib.keras.callbacks.reporting import BaseLogger, ProgbarLogger, TerminateOnNaN


class Optimizer:
    def __init__(self, lr: Any) -> None:
        self.lr = lr


class Sequential:
    """What callbacks need of a model."""

    metrics_names = ("loss", "acc")

    def __init__(self, lr: Any = None) -> None:
        self.stop_training = False
        self.optimizer = Optimizer(lr)
        self.weights = 0
        self.saved: list[Any] = []

    def get_weights(self) -> int:
        return self.weights

    def set_weights(self, weights: int) -> None:
        self.weights = weights

    def save(self, path: str, overwrite: bool) -> None:
        self.saved.append(("model", os.path.basename(path)))

    def save_weights(self, path: str, overwrite: bool) -> None:
        self.saved.append(("weights", os.path.basename(path)))

    def load_weights(self, path: str) -> None:
        self.saved.append(("loaded", os.path.basename(path)))


def run(callbacks: list[Any], epochs: list[dict[str, Any]], model: Any = None) -> Any:
    """Trains a model for epochs of one batch each, which gave the values of `epochs`."""
    model = model or Sequential()
    told = configure_callbacks(callbacks, model, epochs=len(epochs), samples=4, verbose=0)
    told.on_train_begin()
    for epoch, values in enumerate(epochs):
        told.on_epoch_begin(epoch)
        told.on_batch_begin(0, {"batch": 0, "size": 4})
        told.on_batch_end(0, {"batch": 0, "size": 4, **values})
        model.weights = epoch + 1
        told.on_epoch_end(epoch, dict(values))
        if model.stop_training:
            break
    told.on_train_end()
    return model


def losses(*values: float) -> list[dict[str, float]]:
    return [{"val_loss": value} for value in values]


# ---- the list ----


def test_all_are_told_of_everything() -> None:
    heard: list[str] = []

    class Listener(Callback):
        def __getattribute__(self, name: str) -> Any:
            if name.startswith("on_"):
                heard.append(name)
            return super().__getattribute__(name)

    told = CallbackList([Listener()])
    told.set_params({"epochs": 2})
    for mode in ("train", "test", "predict"):
        told._call_begin_hook(mode)
        getattr(told, f"on_{mode}_batch_begin")(0)
        getattr(told, f"on_{mode}_batch_end")(0)
        told._call_end_hook(mode)
    assert heard == [
        *["on_train_begin", "on_train_batch_begin", "on_batch_begin"],
        *["on_train_batch_end", "on_batch_end", "on_train_end"],
        *["on_test_begin", "on_test_batch_begin", "on_test_batch_end", "on_test_end"],
        *["on_predict_begin", "on_predict_batch_begin", "on_predict_batch_end", "on_predict_end"],
    ]
    assert next(iter(told)).params == {"epochs": 2}


def test_a_slow_callback_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    monkeypatch.setattr(base.logging, "warning", lambda text, *args: warned.append(text % args))
    now = [0.0]

    def wait(*_: Any) -> None:
        now[0] += 2 * SLOW_SECONDS

    monkeypatch.setattr(base.time, "time", lambda: now[0])
    told = CallbackList([LambdaCallback(on_batch_end=lambda batch, logs: wait())])
    told.on_batch_begin(0)
    now[0] += SLOW_SECONDS
    told.on_batch_end(0)
    (message,) = warned
    assert message.startswith("Method (on_train_batch_end) is slow compared to the batch update")


def test_what_a_run_is_told_about() -> None:
    model = Sequential()
    mine = Callback()
    told = configure_callbacks(
        [mine], model, True, batch_size=2, epochs=3, samples=6, count_mode="samples"
    )
    kinds = [type(each).__name__ for each in told]
    assert kinds == ["BaseLogger", "Callback", "History", "ProgbarLogger"]
    assert mine.params == {
        "batch_size": 2,
        "epochs": 3,
        "steps": None,
        "samples": 6,
        "verbose": 1,
        "do_validation": True,
        "metrics": ["loss", "acc", "val_loss", "val_acc"],
    }
    assert told.callbacks[0].stateful_metrics == {"acc"}
    assert configure_callbacks(told, model) is told
    assert list(configure_callbacks([mine], model, mode="predict")) == [mine]
    assert make_logs(model, {}, [1, 2], "test", "val_") == {"val_loss": 1, "val_acc": 2}
    assert make_logs(model, {}, [1], "predict") == {"outputs": [1]}


# ---- those that every run has ----


def test_the_loss_is_averaged_and_metrics_are_not() -> None:
    logger = BaseLogger(["acc"])
    logger.set_params({"metrics": ["loss", "acc"]})
    logger.on_epoch_begin(0)
    logger.on_batch_end(0, {"size": 1, "loss": 1.0, "acc": 0.1})
    logger.on_batch_end(1, {"size": 3, "loss": 5.0, "acc": 0.2})
    logs: dict[str, Any] = {}
    logger.on_epoch_end(0, logs)
    assert logs == {"loss": 4.0, "acc": 0.2}


def test_history_has_every_epoch() -> None:
    history = run([], [{"loss": 2.0}, {"loss": 1.0}]).history
    assert history.epoch == [0, 1]
    assert history.history == {"loss": [2.0, 1.0]}


def test_progress_in_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="Unknown `count_mode`"):
        ProgbarLogger("other")
    bar = ProgbarLogger("samples")
    bar.set_params({"verbose": 2, "epochs": 2, "samples": 4, "metrics": ["loss", "val_loss"]})
    bar.on_train_begin()
    for epoch in range(2):
        bar.on_epoch_begin(epoch)
        for batch in range(2):
            bar.on_batch_begin(batch)
            bar.on_batch_end(batch, {"size": 2, "loss": 1.0})
        bar.on_epoch_end(epoch, {"val_loss": 0.5})
    out = capsys.readouterr().out
    assert re.sub(r"\d+s ", "Ns ", out) == (
        "Epoch 1/2\n4/4 - Ns - loss: 1.0000 - val_loss: 0.5000\n"
        "Epoch 2/2\n4/4 - Ns - loss: 1.0000 - val_loss: 0.5000\n"
    )


# ---- those that watch ----


def test_a_loss_that_is_no_number_ends_the_training() -> None:
    model = run([TerminateOnNaN()], [{"loss": 1.0}, {"loss": float("inf")}, {"loss": 1.0}])
    assert model.history.epoch == [0, 1]


@pytest.mark.parametrize(
    ("settings", "values", "epochs"),
    [
        ({}, [3, 2, 2.5, 1], 3),
        ({"patience": 2}, [3, 2, 2.5, 2.5, 1], 4),
        ({"patience": 2}, [3, 2, 2.5, 1, 2, 2], 6),
        ({"min_delta": 0.5}, [3, 2.8, 1], 2),
        ({"mode": "max"}, [1, 2, 2], 3),
        ({"baseline": 1.0}, [3, 2, 1], 1),
        ({"monitor": "other"}, [1, 2, 3], 3),
        ({"mode": "unknown"}, [1, 2, 3], 2),
    ],
)
def test_early_stopping(settings: dict, values: list[float], epochs: int) -> None:
    model = run([EarlyStopping(**settings)], losses(*values))
    assert len(model.history.epoch) == epochs


def test_the_best_weights_come_back() -> None:
    stopping = EarlyStopping(patience=2, restore_best_weights=True, verbose=1)
    model = run([stopping], losses(3, 1, 2, 2, 2))
    assert stopping.stopped_epoch == 3
    assert model.weights == 2
    assert EarlyStopping("val_acc").monitor_op is np.greater


def test_learning_rates_follow_a_schedule(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.Session():
        model = Sequential(K.variable(1.0))
        seen = run(
            [LearningRateScheduler(lambda epoch, lr: lr / 2, verbose=1)], losses(1, 1), model
        )
        assert [float(lr) for lr in seen.history.history["lr"]] == [0.5, 0.25]
        run([LearningRateScheduler(lambda epoch: 0.1 * (epoch + 1))], losses(1, 1), model)
        assert K.get_value(model.optimizer.lr) == pytest.approx(0.2)
        with pytest.raises(ValueError, match="should be float"):
            run([LearningRateScheduler(lambda epoch: 1)], losses(1), model)
    assert "Epoch 00002: LearningRateScheduler reducing learning rate to 0.25." in (
        capsys.readouterr().out
    )
    del model.optimizer.lr
    with pytest.raises(ValueError, match='must have a "lr" attribute'):
        run([LearningRateScheduler(lambda epoch: 1.0)], losses(1), model)


def test_learning_slows_down_on_a_plateau() -> None:
    with tf.Session():
        model = Sequential(K.variable(1.0))
        slower = ReduceLROnPlateau(factor=0.1, patience=2, cooldown=2, min_lr=0.05)
        run([slower], losses(1, 1, 1, 1, 1, 1, 1, 1, 1), model)
        rates = [round(float(lr), 3) for lr in model.history.history["lr"]]
        # Two epochs of patience, two of cooldown (the second of them counts again), and so on.
        assert rates == [1, 1, 1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05]
    with pytest.raises(ValueError, match="factor >= 1"):
        ReduceLROnPlateau(factor=1.0)


# ---- those that write ----


def test_models_are_saved() -> None:
    model = run([ModelCheckpoint("/d/w.{epoch:02d}-{val_loss:.1f}.h5")], losses(3, 2))
    assert model.saved == [("model", "w.01-3.0.h5"), ("model", "w.02-2.0.h5")]
    best = ModelCheckpoint("/d/{epoch}", save_best_only=True, save_weights_only=True)
    assert run([best], losses(3, 4, 2)).saved == [("weights", "1"), ("weights", "3")]
    often = ModelCheckpoint("/d/{epoch}", save_freq=8)
    assert run([often], losses(1, 1, 1, 1)).saved == [("model", "2"), ("model", "4")]
    second = ModelCheckpoint("/d/{epoch}", period=2)
    assert run([second], losses(1, 1, 1, 1)).saved == [("model", "2"), ("model", "4")]
    missing = ModelCheckpoint("/d/x", monitor="val_acc", save_best_only=True)
    assert missing.monitor_op is np.greater
    assert run([missing], losses(1)).saved == []
    with pytest.raises(ValueError, match="Unrecognized save_freq: often"):
        ModelCheckpoint("x", save_freq="often")


def test_the_last_file_is_loaded_again(tmp_path: Path) -> None:
    for i, name in enumerate(["w.01.h5", "w.03.h5", "w.02.h5", "other.h5"]):
        (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (i // 2, i // 2))  # two and two at the same time
    pattern = str(tmp_path / "w.{epoch:02d}.h5")
    assert most_recent_file(pattern) == str(tmp_path / "w.02.h5")
    model = run([ModelCheckpoint(pattern, load_weights_on_restart=True)], [])
    assert model.saved == [("loaded", "w.02.h5")]
    assert most_recent_file(str(tmp_path / "none" / "x")) is None
    for number, time in ((1, 20), (2, 20), (3, 10)):  # two are the latest: the last by name
        (tmp_path / f"w.{number:02}.h5").touch()
        os.utime(tmp_path / f"w.{number:02}.h5", (time, time))
    assert most_recent_file(pattern) == str(tmp_path / "w.03.h5")


def test_a_table_of_epochs(tmp_path: Path) -> None:
    path = str(tmp_path / "log.csv")
    run([CSVLogger(path)], [{"loss": 2.0, "acc": np.array(0.5)}, {"loss": 1.0, "acc": 0.75}])
    lines = Path(path).read_text().splitlines()
    assert lines == ["epoch,acc,loss", "0,0.5,2.0", "1,0.75,1.0"]
    run([CSVLogger(path, separator=";", append=True)], [{"loss": 0.5, "acc": [1, 2]}])
    assert Path(path).read_text().splitlines()[3:] == ['0;"""[1, 2]""";0.5']


@pytest.fixture
def server() -> Iterator[tuple[str, list[Any]]]:
    received: list[Any] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            received.append((self.path, self.headers["Content-Type"], body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None: ...

    listening = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}", received
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_epochs_are_posted(server: tuple[str, list[Any]]) -> None:
    root, received = server
    run([RemoteMonitor(root)], [{"loss": np.float32(0.5)}])
    run([RemoteMonitor(root, path="/p", send_as_json=True)], [{"loss": 1.0}])
    (path, kind, body), (path_2, kind_2, body_2) = received
    assert (path, kind) == ("/publish/epoch/end/", "application/x-www-form-urlencoded")
    assert json.loads(urllib.parse.parse_qs(body)["data"][0]) == {"epoch": 0, "loss": 0.5}
    assert (path_2, kind_2) == ("/p", "application/json")
    assert json.loads(body_2) == {"epoch": 0, "loss": 1.0}


def test_functions_are_called() -> None:
    called: list[Any] = []
    run(
        [
            LambdaCallback(
                on_epoch_begin=lambda epoch, logs: called.append(("begin", epoch)),
                on_batch_end=lambda batch, logs: called.append(("batch", logs["loss"])),
                on_train_end=lambda logs: called.append("end"),
            )
        ],
        [{"loss": 2.0}],
    )
    assert called == [("begin", 0), ("batch", 2.0), "end"]
