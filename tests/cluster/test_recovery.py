"""Training that goes on, whoever is lost: `MonitoredTrainingSession` on a cluster."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import weft as tf
from tests.cluster import kill_the_cluster, links, namespaces, training_task
from tests.cluster.conftest import cluster_of
from tests.cluster.kill_the_cluster import Task, Training
from weft.cluster.server import Server

# ---- servers in this process: a server that stops, and another at its address --------------------


def restarted(server: Server) -> Server:
    definition = server.server_def
    server.stop()
    return Server(definition)


@pytest.fixture
def parts() -> Iterator[dict[str, Server]]:
    """A cluster of 2 parameter servers and 2 workers, by the names of its tasks."""
    spec = cluster_of(ps=2, worker=2)
    made = {f"{job}/{i}": Server(spec, job, i) for job, n in spec.items() for i in range(len(n))}
    yield made
    tf.summary.FileWriterCache.clear()
    for each in made.values():
        each.stop()


def model(index: int, parts: dict[str, Server]) -> tuple[tf.Tensor, tf.ConfigProto]:
    here = f"/job:worker/task:{index}"
    spec = tf.train.ClusterSpec(parts["ps/0"].server_def.cluster)
    done, _ = training_task.model(spec, here)
    return done, tf.ConfigProto(device_filters=["/job:ps", here])


@pytest.mark.timeout(60)
@pytest.mark.parametrize("lost", ["ps/0", "ps/1"])
def test_the_chief_restores_what_a_parameter_server_has_lost(
    parts: dict[str, Server], tmp_path: Path, lost: str
) -> None:
    done, config = model(0, parts)
    with tf.train.MonitoredTrainingSession(
        parts["worker/0"].target, checkpoint_dir=str(tmp_path), save_checkpoint_steps=4,
        save_summaries_steps=None, log_step_count_steps=None, config=config,
    ) as session:  # fmt: skip
        steps = [int(session.run(done)) for _ in range(10)]
        parts[lost] = restarted(parts[lost])
        steps += [int(session.run(done)) for _ in range(3)]
    assert steps[:10] == list(range(1, 11))
    # The checkpoints were of steps 0, 4 and 8 (hooks count from what they see before a step).
    assert steps[10] in (9, 10) and steps[11:] == [steps[10] + 1, steps[10] + 2]


@pytest.mark.timeout(60)
def test_a_worker_waits_for_the_chief_and_joins_late(
    parts: dict[str, Server], tmp_path: Path
) -> None:
    done, config = model(0, parts)
    seen: list[int] = []

    def join_in() -> None:
        with tf.Graph().as_default():
            mine, filters = model(1, parts)
            with tf.train.MonitoredTrainingSession(
                parts["worker/1"].target, is_chief=False, config=filters, max_wait_secs=30
            ) as session:
                seen.append(int(session.run(mine)))

    early = threading.Thread(target=join_in)
    early.start()
    with tf.train.MonitoredTrainingSession(
        parts["worker/0"].target, checkpoint_dir=str(tmp_path), config=config
    ) as session:
        while not seen:
            session.run(done)
        late = threading.Thread(target=join_in)
        late.start()
        late.join(30)
        early.join(30)
        assert seen[1] > seen[0] and int(session.run(done)) > seen[1]


@pytest.mark.timeout(60)
def test_a_worker_gives_up_in_time_without_a_chief(parts: dict[str, Server]) -> None:
    done, config = model(1, parts)
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready after waiting 1 secs"):
        tf.train.MonitoredTrainingSession(
            parts["worker/1"].target, is_chief=False, config=config, max_wait_secs=1
        )
    assert done.op.type == "Identity"


# ---- processes that are killed -------------------------------------------------------------------


def lost(task: Task) -> Callable[[Training], None]:
    """Kills a task once all workers train, and waits until all of them train again."""

    def disturb(training: Training) -> None:
        wait_for_steps(training, 5)
        assert training.kill(task)
        wait_for_steps(training, 5)

    return disturb


def wait_for_steps(training: Training, more: int) -> None:
    """Until every worker has made so many steps more."""
    names = [f"worker/{i}" for i in range(kill_the_cluster.WORKERS)]
    goals = {name: training.steps_of(name) + more for name in names}
    while any(training.steps_of(name) < goal for name, goal in goals.items()):
        kill_the_cluster.nap(training, 0.05)


def run(folder: Path, disturb: Callable[[Training], None], *options: str) -> Training:
    # The pauses are such that training ends only when there are none any more.
    training = Training(folder, 1200, 0.25, 60.0, 150.0, options=list(options))
    found = training.run(disturb)
    wrong = training.check(found)
    assert not wrong, (wrong, found, (folder / "log").read_text()[-5000:])
    return training


@pytest.mark.cluster
@pytest.mark.timeout(170)
@pytest.mark.parametrize(
    "task",
    [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1)],
    ids=["ps", "ps1", "chief", "worker"],
)
def test_training_goes_on_when_one_is_killed(tmp_path: Path, task: Task) -> None:
    training = run(tmp_path / "run", lost(task))
    assert training.launcher.starts[task] == 2


@pytest.mark.cluster
@pytest.mark.timeout(170)
def test_a_worker_that_is_started_late_joins_in(tmp_path: Path) -> None:
    def disturb(training: Training) -> None:
        while min(training.steps_of("worker/0"), training.steps_of("worker/1")) < 10:
            kill_the_cluster.nap(training, 0.05)
        assert training.steps_of("worker/2") == 0
        (training.folder / "join").touch()
        wait_for_steps(training, 5)

    run(tmp_path / "run", disturb, "--late", "2")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_cluster_outlives_random_kills(tmp_path: Path) -> None:
    _outlives_random_kills(tmp_path, "--interval", "1", "3")


@pytest.mark.slow
@pytest.mark.timeout(500)
def test_a_cluster_on_ray_outlives_random_kills(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="the extra weft[ray] is not installed")
    _outlives_random_kills(tmp_path, "--engine", "ray", "--wait", "120")


def _outlives_random_kills(folder: Path, *options: str) -> None:
    """In a process of its own, since it starts others, which jax warns of where it is loaded."""
    command = [sys.executable, "-m", "tests.cluster.kill_the_cluster", *options]
    command += ["--kills", "4", "--seed", "5", "--folder", str(folder)]
    done = subprocess.run(
        command, cwd=kill_the_cluster.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_cluster_outlives_cut_cables(tmp_path: Path) -> None:
    if why := namespaces.why_not():
        pytest.skip(f"no network namespaces: {why}")
    found = links.survive(tmp_path / "run", 3, seed=4, wait=60.0, seconds=(4.0, 12.0))
    assert not found["wrong"], found
    assert found["frames_dropped"] > 0
