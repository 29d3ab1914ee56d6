"""Engines of `weft launch`: what they share, and tasks in actors of Ray."""

from __future__ import annotations

import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from weft.cli.launching.launcher import Launcher
from weft.cli.launching.plan import Cluster, Plan, Task, free_addresses
from weft.cli.launching.processes import Output
from weft.cli.launching.request import LaunchError, Request, variables
from weft.cli.launching.task_host import PYTHON, TaskHost
from weft.cli.main import main

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
ROOT = Path(__file__).parent.parent.parent

# ---- requests ------------------------------------------------------------------------------------


def test_a_request_knows_its_tasks_and_their_command() -> None:
    request = Request("a.py", ["-x"], counts={"chief": 1, "worker": 1, "ps": 1}, evaluator=True)
    assert request.tasks == [("ps", 0), ("chief", 0), ("worker", 0), ("evaluator", 0)]
    plan = request.plan("python", {"worker": ["h:1"], "ps": ["h:2"], "chief": ["h:3"]})
    assert plan.command_of(("ps", 0)) == ["python", "-m", "weft", "run", "a.py", "-x"]
    assert plan.chief == ("chief", 0)


def test_parameter_servers_get_no_gpu() -> None:
    request = Request("a.py", gpus=2.0)
    assert [request.gpus_of(job) for job in ("ps", "worker", "chief")] == [0.0, 2.0, 2.0]


def test_variables_of_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HERE", "1")
    monkeypatch.delenv("MISSING", raising=False)
    assert variables(["A=b=c", "EMPTY=", "HERE"]) == {"A": "b=c", "EMPTY": "", "HERE": "1"}
    with pytest.raises(LaunchError, match="--env MISSING: no such variable is set here"):
        variables(["MISSING"])


def test_options_of_other_engines_are_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["launch", "--address", "auto", __file__]) == 2
    assert "--address is for --engine ray\n" in capsys.readouterr().err


# ---- a task that comes back at another address ---------------------------------------------------


class FakeTask:
    """Ends at once; one that has moved says so."""

    def __init__(self, name: str, code: int | None, has_moved: bool) -> None:
        self.name, self.has_moved, self._code = name, has_moved, code

    def poll(self) -> int | None:
        return self._code

    def send(self, number: signal.Signals) -> None:
        self._code = -number


class MovingStarter:
    """Tasks run for ever, until worker 1 is found to have moved; then they end well."""

    python = "python"

    def __init__(self) -> None:
        self.rooms = 0
        self.started: list[tuple[Task, str]] = []

    def make_room(self, tasks: Sequence[Task]) -> Cluster:
        self.rooms += 1
        return {"worker": [f"host{self.rooms}:{i}" for i in range(2)]}

    def start(self, task: Task, plan: Plan, output: Output) -> FakeTask:
        self.started.append((task, plan.cluster["worker"][task[1]]))
        moved = self.rooms == 1 and task == ("worker", 1)
        return FakeTask(f"worker/{task[1]}", -9 if moved else None if self.rooms == 1 else 0, moved)

    def close(self) -> None:
        pass


def test_all_start_again_when_one_has_another_address(capfd: pytest.CaptureFixture[str]) -> None:
    starter = MovingStarter()
    tasks = [("worker", 0), ("worker", 1)]
    plan = Plan(["x"], starter.make_room(tasks), tasks, grace=0.2)
    assert Launcher(plan, Output(["worker/0", "worker/1"]), starter).run() == 0
    assert starter.started[:2] == [(tasks[0], "host1:0"), (tasks[1], "host1:1")]
    assert starter.started[2:] == [(tasks[0], "host2:0"), (tasks[1], "host2:1")]
    said = "worker/1 | * has another address; the whole cluster starts again\n"
    assert capfd.readouterr().err == said


# ---- the actor, without Ray ----------------------------------------------------------------------


def lines_of(host: TaskHost) -> tuple[list[tuple[str, bool]], int]:
    """All that a task says until it ends, and how it ends."""
    found: list[tuple[str, bool]] = []
    code = None
    while code is None:
        lines, code = host.follow()
        found += [(line.decode().strip(), is_error) for line, is_error in lines]
    return found, code


def start(host: TaskHost, code: str, where: str | None = "here", folder: Path = ROOT) -> bool:
    program = [PYTHON, "-S", "-c", "import os, sys, time\n" + code]
    return host.start("worker/0", program, {"MINE": "1"}, where, str(folder))


def test_an_actor_runs_a_program(tmp_path: Path) -> None:
    host = TaskHost("here")
    assert re.fullmatch(r"here:\d+", host.reserve())
    says = "print(os.environ['MINE'], os.getcwd(), flush=True)\nprint('no', file=sys.stderr)"
    assert start(host, says, folder=tmp_path)
    lines, code = lines_of(host)
    assert (sorted(lines), code) == ([(f"1 {tmp_path}", False), ("no", True)], 0)
    assert start(host, "sys.exit(3)")
    assert lines_of(host) == ([], 3)


def test_an_actor_passes_signals_on() -> None:
    host = TaskHost("here")
    assert start(host, "print('up', flush=True)\ntime.sleep(60)")
    while not host.follow()[0]:
        continue
    host.send(signal.SIGKILL)
    assert lines_of(host) == ([], -signal.SIGKILL)


def test_an_actor_at_another_address_starts_nothing() -> None:
    assert not start(TaskHost("here"), "", where="there")


def test_what_an_actor_needs_is_sent_along() -> None:
    """Nodes get the two modules as they are: they must not import others of weft."""
    folder = ROOT / "weft" / "cli" / "launching"
    for name in ("task_host.py", "processes.py"):
        imports = re.findall(r"^from (weft[\w.]*) import (\w+)", (folder / name).read_text(), re.M)
        assert imports in ([], [("weft.cli.launching", "processes")])


# ---- Ray -----------------------------------------------------------------------------------------


def test_without_ray_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["launch", "--engine", "ray", __file__]) == 2
    assert "--engine ray needs Ray: pip install 'weft[ray]'" in capsys.readouterr().err


def weft_launch(
    folder: Path, code: str, *options: str, program: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs code in every task; it gets the folder it was written to as an argument."""
    pytest.importorskip("ray", reason="the extra weft[ray] is not installed")
    path = folder / "program.py"
    path.write_text("import json, os, sys, time\n" + code)
    command = [sys.executable, "-m", "weft", "launch", "--engine", "ray", *options]
    return subprocess.run(
        [*command, program or str(path), str(folder)], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False, timeout=160,
    )  # fmt: skip


def said(done: subprocess.CompletedProcess[str]) -> set[str]:
    """The lines of tasks; Ray may have others."""
    return {line for line in done.stdout.splitlines() if re.match(r"\w+/\d+ +\|", line)}


@pytest.fixture
def ray_address(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A cluster of Ray that exists: a head, with room for four tasks and a token of its own."""
    pytest.importorskip("ray", reason="the extra weft[ray] is not installed")
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN", secrets.token_hex(32))
    port = free_addresses(1)[0].rpartition(":")[2]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"]
    command += ["--port", port, "--num-cpus", "4", "--include-dashboard", "false"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "RAY_USAGE_STATS_ENABLED": "0"},
    ) as head:  # fmt: skip
        assert head.stdout is not None
        for line in head.stdout:
            if "Ray runtime started" in line:
                break
        yield f"127.0.0.1:{port}"
        head.terminate()
        head.communicate(timeout=60)


DIES_ONCE = """
task = json.loads(os.environ["TF_CONFIG"])["task"]
if task["type"] == "ps": time.sleep(600)
if task["index"] == 1 and not os.path.exists("died"):
    open("died", "w").close()
    os.kill({who}, 9)
    time.sleep(600)
print("done", task["index"], os.environ["MINE"])
"""


@pytest.mark.cluster
@pytest.mark.timeout(170)
@pytest.mark.parametrize("who", ["os.getpid()", "os.getppid()"])
def test_a_task_on_ray_comes_back(tmp_path: Path, who: str) -> None:
    """Whether its program is killed, or the actor that has started it."""
    code = DIES_ONCE.replace("{who}", who)
    done = weft_launch(tmp_path, code, "--ps", "1", "--workers", "2", "--env", "MINE=7")
    assert done.returncode == 0, done.stderr
    assert said(done) == {"worker/0 | done 0 7", "worker/1 | done 1 7"}
    assert "worker/1 | * killed by SIGKILL; starting again (3 left)" in done.stderr


@pytest.mark.cluster
@pytest.mark.timeout(170)
def test_the_exit_code_on_ray_is_the_chiefs(tmp_path: Path) -> None:
    done = weft_launch(tmp_path, "sys.exit(5)", "--ps", "0", "--workers", "1", "--no-restart")
    assert done.returncode == 5
    assert "worker/0 | * ended with exit code 5; everything is stopped" in done.stderr


@pytest.mark.cluster
@pytest.mark.timeout(170)
def test_a_cluster_of_ray_that_exists(tmp_path: Path, ray_address: str) -> None:
    """Tasks run in a copy of a folder, at the address of their node, and leave the cluster up."""
    (tmp_path / "beside.py").write_text("here = 'beside'\n")
    code = "import beside\nprint(beside.here, os.getcwd() == sys.argv[1])"
    options = ["--address", ray_address, "--working-dir", str(tmp_path), "--ps", "0"]
    done = weft_launch(tmp_path, code, *options, "--workers", "2", program="program.py")
    assert done.returncode == 0, done.stderr
    assert said(done) == {f"worker/{i} | beside False" for i in range(2)}


@pytest.mark.cluster
@pytest.mark.timeout(170)
def test_no_room_on_ray_is_said(tmp_path: Path) -> None:
    options = ("--ps", "0", "--workers", "1", "--gpus", "64", "--room-timeout", "1")
    done = weft_launch(tmp_path, "", *options)
    assert done.returncode == 2
    assert "the cluster of Ray has no room for {'CPU': 1.0, 'GPU': 64.0} in 1 tasks" in done.stderr
