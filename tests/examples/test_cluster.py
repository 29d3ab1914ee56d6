"""The examples that need a cluster, run by `weft launch` as a user runs them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.examples.test_examples import number

ROOT = Path(__file__).parent.parent.parent
pytestmark = [pytest.mark.cluster, pytest.mark.timeout(90)]


def launch(ps: int, workers: int, example: str, *args: str, until: str = "workers") -> str:
    options = [f"--ps={ps}", f"--workers={workers}", f"--until={until}", "--no-restart"]
    launcher = subprocess.Popen(
        [sys.executable, "-m", "weft", "launch", *options, f"examples/{example}.py", *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"},
    )  # fmt: skip
    try:
        out, err = launcher.communicate(timeout=60)
    finally:
        launcher.kill()  # and with it those it has started
    assert launcher.returncode == 0, err
    return out


def test_asynchronous() -> None:
    printed = launch(2, 2, "cluster_async", "--steps", "400")
    updates = [int(n) for n in re.findall(r"Updates: (\d+)", printed)]
    # A worker stops by the step it read before its update: each may do one more.
    assert len(updates) == 2 and 400 <= sum(updates) <= 402
    assert number(r"worker/0 \| Updates: \d+; loss ([0-9.]+)", printed) < 0.3
    places = re.findall(r"(\w+/\w+):0 +on /job:ps/task:(\d)", printed)
    assert [task for _, task in places] == ["0", "1", "0", "1"]


def test_synchronous() -> None:
    printed = launch(1, 3, "cluster_sync", "--steps", "30")
    ends = re.findall(r"worker/\d \| Step (\d+); differs .* at most ([0-9.e-]+)", printed)
    assert [step for step, _ in ends] == ["30"] * 3
    assert all(float(difference) < 1e-5 for _, difference in ends)


def test_backup_workers() -> None:
    slowed = launch(1, 3, "cluster_backup_workers", "--backups", "0", "--steps", "20")
    assert number(r"([0-9.]+) ms a step", slowed) > 190
    assert re.findall(r"(\d+) gradients", slowed) == ["20"] * 3
    printed = launch(1, 3, "cluster_backup_workers", "--backups", "1", "--steps", "20")
    assert number(r"([0-9.]+) ms a step", printed) < 100
    assert number(r"worker/2 \| (\d+) gradients", printed) < 20


def test_in_graph() -> None:
    printed = launch(1, 2, "cluster_in_graph", "--steps", "50", until="chief")
    tasks = ["/job:ps/replica:0/task:0", *(f"/job:worker/replica:0/task:{i}" for i in range(2))]
    assert f"A step ran on {', '.join(tasks)}" in printed
    assert number(r"Loss: ([0-9.]+)", printed) < 0.5


def test_model_parallel() -> None:
    printed = launch(0, 3, "cluster_model_parallel", "--steps", "100", until="chief")
    where = dict(re.findall(r"(\w+)/kernel:0 +on /job:worker/task:(\d)", printed))
    assert where == {"layer_0": "0", "layer_1": "1", "scores": "2"}
    sent = set(re.findall(r"task:(\d) -> task:(\d): \d+", printed))
    assert {("0", "1"), ("1", "2"), ("2", "1"), ("1", "0")} <= sent
    assert number(r"new points: ([0-9.]+)", printed) > 0.8


def test_embeddings() -> None:
    printed = launch(2, 1, "cluster_embeddings", "--rows", "5000", "--steps", "60")
    found = re.findall(r"worker/0 \| (\w+) +on (\w+/\d)", printed)
    assert ("GatherV2", "ps/0") in found and ("GatherV2", "ps/1") in found
    assert ("ParallelDynamicStitch", "worker/0") in found
    first, last = re.search(r"Loss ([0-9.]+) at first, ([0-9.]+) at last", printed).groups()
    assert float(last) < 0.5 * float(first)


def test_queue() -> None:
    printed = launch(1, 3, "cluster_queue", "--numbers", "20")
    for index in (1, 2):
        assert f"From worker {index}: 20 numbers, in order: True" in printed
    total = 2 * sum(i * i for i in range(20))
    assert f"Sum of squares {total}; left in the queue: 0" in printed
