"""Trainings in processes of their own: a whole cluster, and one that is killed and goes on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from tests.cluster.conftest import ROOT, cluster_of
from weft.lib.estimator.early_stopping import read_eval_metrics

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(110)]


def start(folder: Path, name: str, steps: int, pause: float, tf_config: Any) -> subprocess.Popen:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CONFIG": json.dumps(tf_config)}
    with (folder / f"{name}.log").open("a") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.estimator.training_program",
             str(folder / "model"), str(steps), str(pause)],
            cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT,
        )  # fmt: skip


def log_of(folder: Path, name: str) -> str:
    return (folder / f"{name}.log").read_text()


def test_chief_worker_server_and_evaluator(tmp_path: Path) -> None:
    cluster = cluster_of(chief=1, ps=1, worker=1)
    tasks = [("ps", 0), ("chief", 0), ("worker", 0), ("evaluator", 0)]
    running = {
        kind: start(
            tmp_path, kind, 40, 0.05, {"cluster": cluster, "task": {"type": kind, "index": index}}
        )
        for kind, index in tasks
    }
    try:
        for kind in ("chief", "worker", "evaluator"):
            assert running[kind].wait(90) == 0, log_of(tmp_path, kind)
        assert running["ps"].poll() is None  # it serves for good
    finally:
        for process in running.values():
            process.kill()
            process.wait()
    model = str(tmp_path / "model")
    # Both count the same steps; the one that is not the last may find a step more done.
    step = tf.train.load_variable(model, "global_step")
    assert 40 <= step <= 41
    assert "Start Tensorflow server." in log_of(tmp_path, "worker")
    assert "Saving checkpoints for" not in log_of(tmp_path, "worker")
    assert "Loss for final step" in log_of(tmp_path, "worker")
    found = read_eval_metrics(model + "/eval")
    assert max(found) == step and "mae" in found[max(found)]
    assert list((tmp_path / "model" / "export" / "final").glob("*/saved_model.pb"))


def test_a_killed_training_goes_on(tmp_path: Path) -> None:
    model = tmp_path / "model"
    process = start(tmp_path, "alone", 60, 0.1, {})
    try:
        until = time.monotonic() + 60
        # The file that names the latest checkpoint is written last.
        while not (tf.train.latest_checkpoint(str(model)) or "").endswith("-20"):
            assert time.monotonic() < until and process.poll() is None, log_of(tmp_path, "alone")
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    finally:
        process.kill()
        process.wait()
    saved = tf.train.load_variable(str(model), "global_step")
    assert 20 <= saved < 60
    again = start(tmp_path, "again", 60, 0.0, {})
    assert again.wait(60) == 0, log_of(tmp_path, "again")
    assert f"Restoring parameters from {model}/model.ckpt-{saved}" in log_of(tmp_path, "again")
    assert tf.train.load_variable(str(model), "global_step") == 60
    losses = {step: each["loss"] for step, each in read_eval_metrics(f"{model}/eval").items()}
    assert list(losses) == sorted(losses) and losses[60] < losses[10]
