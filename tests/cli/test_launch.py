"""`weft launch`: processes that are started, named, started again and stopped."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import weft as tf
from weft.cli.launching.launcher import Launcher
from weft.cli.launching.local import LocalStarter
from weft.cli.launching.plan import Plan, filled_in, make_cluster, tasks_of, tf_config
from weft.cli.launching.processes import Output, exit_code
from weft.cli.main import main

# Other tests of this process may have loaded jax, which warns of any fork; the launcher does not.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

ROOT = Path(__file__).parent.parent.parent
CLUSTER = {"worker": ["localhost:3", "localhost:4"], "ps": ["localhost:1", "localhost:2"]}


def launch(code: str, *args: str, cluster: dict[str, list[str]] = CLUSTER, **plan: object) -> int:
    """Runs `code` in every task, without weft."""
    tasks = tasks_of(cluster, False)
    command = [sys.executable, "-S", "-c", "import os, sys, json, time\n" + code, *args]
    made = Plan(command, cluster, tasks, **plan)
    return Launcher(made, Output([f"{job}/{i}" for job, i in tasks]), LocalStarter()).run()


SERVE = "job, task = sys.argv[1:3]\nif job == 'ps': time.sleep(60)\n"


def test_a_cluster_has_an_address_for_every_task() -> None:
    cluster = make_cluster(2, 3, chief=True)
    assert {job: len(tasks) for job, tasks in cluster.items()} == {"chief": 1, "worker": 3, "ps": 2}
    addresses = [address for tasks in cluster.values() for address in tasks]
    assert len(set(addresses)) == 6 and all(re.fullmatch(r"localhost:\d+", a) for a in addresses)
    assert "ps" not in make_cluster(0, 1, chief=False)


def test_parameter_servers_start_first() -> None:
    tasks = [("ps", 0), ("ps", 1), ("worker", 0), ("worker", 1), ("evaluator", 0)]
    assert tasks_of(CLUSTER, evaluator=True) == tasks


def test_what_a_task_is_told() -> None:
    args = ["--job={job}", "{task}", "{ps_hosts}", "{worker_hosts}", "{chief_hosts}", "{x}{}"]
    filled = filled_in(args, CLUSTER, "worker", 1)
    assert filled[:3] == ["--job=worker", "1", "localhost:1,localhost:2"]
    assert filled[3:] == ["localhost:3,localhost:4", "", "{x}{}"]
    told = json.loads(tf_config(CLUSTER, "worker", 1))
    assert told == {"cluster": CLUSTER, "task": {"type": "worker", "index": 1}}


def test_an_evaluator_is_told_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    told = tf_config(CLUSTER, "evaluator", 0)
    cluster = json.loads(told)["cluster"]
    assert len(cluster.pop("evaluator")) == 1 and cluster == CLUSTER
    monkeypatch.setenv("TF_CONFIG", told)
    strategy = tf.distribute.experimental.ParameterServerStrategy()
    assert strategy.extended.worker_devices[0].startswith("/job:evaluator/")


def test_lines_have_names(capfd: pytest.CaptureFixture[str]) -> None:
    code = SERVE + "print(job, task)\nprint('no end', end='', file=sys.stderr)"
    assert launch(code, "{job}", "{task}") == 0
    out, err = capfd.readouterr()
    assert sorted(out.splitlines()) == ["worker/0 | worker 0", "worker/1 | worker 1"]
    assert sorted(err.splitlines()) == ["worker/0 | no end", "worker/1 | no end"]


def test_tf_config_reaches_the_processes(capfd: pytest.CaptureFixture[str]) -> None:
    code = SERVE + "print(json.loads(os.environ['TF_CONFIG'])['task']['index'])"
    assert launch(code, "{job}", "{task}") == 0
    assert sorted(capfd.readouterr().out.splitlines()) == ["worker/0 | 0", "worker/1 | 1"]


DIES = (
    SERVE
    + """
marks = sys.argv[3] + "/" + task
count = len(os.listdir(sys.argv[3]))
if task == "1" and count < 2:
    open(f"{marks}.{count}", "w").close()
    os.kill(os.getpid(), 9) if count else sys.exit(3)
print("done", task)
"""
)


def test_who_dies_is_started_again(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert launch(DIES, "{job}", "{task}", str(tmp_path), restarts=2) == 0
    out, err = capfd.readouterr()
    assert "worker/1 | done 1" in out and len(os.listdir(tmp_path)) == 2
    assert "worker/1 | * ended with exit code 3; starting again (2 left)" in err
    assert "worker/1 | * killed by SIGKILL; starting again (1 left)" in err


def test_who_dies_too_often_ends_everything(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert launch(DIES, "{job}", "{task}", str(tmp_path), restarts=1) == 128 + signal.SIGKILL
    assert "worker/1 | * killed by SIGKILL; everything is stopped" in capfd.readouterr().err


def test_deaths_long_ago_do_not_count(tmp_path: Path) -> None:
    assert launch(DIES, "{job}", "{task}", str(tmp_path), restarts=1, well=0.0) == 0


def test_the_exit_code_is_the_chiefs() -> None:
    start = time.monotonic()
    code = SERVE + "sys.exit(7) if task == '0' else time.sleep(60)"
    assert launch(code, "{job}", "{task}", restarts=0) == 7
    assert time.monotonic() - start < 50  # nobody waited for those who sleep


def test_until_the_chief_has_ended() -> None:
    start = time.monotonic()
    code = SERVE + "time.sleep(60 if task == '1' else 0)"
    assert launch(code, "{job}", "{task}", until_chief=True) == 0
    assert time.monotonic() - start < 50  # nobody waited for those who sleep


STUBBORN = (
    SERVE
    + """
import signal
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda *_: print("not yet"))
ready = os.path.join(sys.argv[3], "ready")
if task == "1": open(ready, "w").close()
while task == "1": time.sleep(60)
while not os.path.exists(ready): time.sleep(0.01)
"""
)


def test_who_does_not_listen_is_killed(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    start = time.monotonic()
    assert launch(STUBBORN, "{job}", "{task}", str(tmp_path), until_chief=True, grace=0.3) == 0
    assert time.monotonic() - start < 50  # nobody waited for those who sleep
    assert capfd.readouterr().out == "worker/1 | not yet\n"


def test_exit_codes_as_a_shell_has_them() -> None:
    assert [exit_code(0), exit_code(3), exit_code(-9)] == [0, 3, 137]


def test_mistakes_are_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "no_such_program.py"]) == 2
    assert "cannot open 'no_such_program.py'" in capsys.readouterr().err
    assert main(["launch", "--workers", "0", __file__]) == 2
    assert "needs a worker or a chief" in capsys.readouterr().err
    for args, message in (
        (["--ps", "-1", __file__], "argument --ps: '-1' is not a number from 0 on"),
        ([], "the following arguments are required: PROGRAM\n"),
    ):
        with pytest.raises(SystemExit):
            main(["launch", *args])
        assert message in capsys.readouterr().err


PROGRAM = """
import argparse, time
import tensorflow as tf
parser = argparse.ArgumentParser()
for name in ("ps_hosts", "worker_hosts", "job_name"):
    parser.add_argument("--" + name)
parser.add_argument("--task_index", type=int)
parser.add_argument("--forever", action="store_true")
args = parser.parse_args()
cluster = tf.train.ClusterSpec(
    {"ps": args.ps_hosts.split(","), "worker": args.worker_hosts.split(",")})
server = tf.train.Server(cluster, args.job_name, args.task_index)
if args.job_name == "ps":
    server.join()
with tf.device(tf.train.replica_device_setter(cluster=cluster)):
    count = tf.Variable(0)
    step = count.assign_add(1, use_locking=True)
chief = args.task_index == 0
needed = ["/job:ps", "/job:worker/task:%d" % args.task_index]  # workers need not wait for others
config = tf.ConfigProto(device_filters=needed)
with tf.train.MonitoredTrainingSession(server.target, chief, config=config) as session:
    while session.run(step) < 20 or args.forever:
        time.sleep(0.01)
    print("counted to", session.run(count))
"""


@contextlib.contextmanager
def started(tmp_path: Path, *args: str) -> Iterator[subprocess.Popen[str]]:
    program = tmp_path / "count.py"
    program.write_text(PROGRAM)
    options = ["--flags", "--ps", "1", "--workers", "2"]
    launcher = subprocess.Popen(
        [sys.executable, "-m", "weft", "launch", *options, str(program), *args],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    try:
        yield launcher
    finally:
        launcher.kill()  # and so those it has started
        launcher.communicate()


@pytest.mark.cluster
def test_a_program_as_users_write_them(tmp_path: Path) -> None:
    with started(tmp_path) as launcher:
        out, err = launcher.communicate(timeout=60)
    counts = dict(re.findall(r"^(worker/\d) \| counted to (\d+)$", out, re.M))
    assert counts.keys() == {"worker/0", "worker/1"}, err
    assert all(int(count) >= 20 for count in counts.values())


def wait_for(condition: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.cluster
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_everything(tmp_path: Path, number: signal.Signals) -> None:
    with started(tmp_path, "--forever") as launcher:
        wait_for(lambda: len(children_of(launcher.pid)) == 3, 20)
        children = children_of(launcher.pid)
        launcher.send_signal(number)
        launcher.communicate(timeout=40)
        assert launcher.returncode == 128 + number
    assert not [pid for pid in children if is_alive(pid)]


@pytest.mark.cluster
def test_nobody_outlives_the_launcher(tmp_path: Path) -> None:
    with started(tmp_path, "--forever") as launcher:
        wait_for(lambda: len(children_of(launcher.pid)) == 3, 20)
        children = children_of(launcher.pid)
    wait_for(lambda: not any(map(is_alive, children)), 5)


def children_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(each) for each in f.read().split()]


def is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_without_parameter_servers_are_told_their_ranks() -> None:
    cluster = {"chief": ["one:5"], "worker": ["one:6", "two:5"]}
    plan = Plan([], cluster, tasks_of(cluster, evaluator=True))
    told = [plan.environment_of(task) for task in plan.tasks]
    assert [each.get("WEFT_RANK") for each in told] == ["0", "1", "2", None]
    assert [each.get("WEFT_LOCAL_RANK") for each in told] == ["0", "1", "0", None]
    assert told[2]["WEFT_COORDINATOR"] == "one:1005" and "TF_CONFIG" in told[2]
    assert [each.get("MALLOC_ARENA_MAX") for each in told] == ["1", "1", "1", None]
    assert "WEFT_RANK" not in Plan([], CLUSTER, tasks_of(CLUSTER, False)).environment_of(
        ("worker", 0)
    )


def test_processes_that_are_alike_know_no_cluster(capfd: pytest.CaptureFixture[str]) -> None:
    code = "print(os.environ['WEFT_RANK'], os.environ['WEFT_SIZE'], 'TF_CONFIG' in os.environ)"
    assert launch(code, cluster={"worker": ["one:5", "one:6"]}, alike=True) == 0
    shown = sorted(line.partition("| ")[2] for line in capfd.readouterr().out.splitlines())
    assert shown == ["0 2 False", "1 2 False"]
