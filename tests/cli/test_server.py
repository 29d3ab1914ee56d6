"""`weft server`: what it serves, and what it says of mistakes."""

from __future__ import annotations

import json

import pytest

from weft.cli.commands import server
from weft.cli.main import main, parser

CLUSTER = {"ps": ["localhost:1"], "worker": ["localhost:2", "localhost:3"]}
TF_CONFIG = json.dumps({"cluster": CLUSTER, "task": {"type": "worker", "index": "1"}})


def task(*args: str) -> tuple[object, str | None, int | None]:
    return server._task(parser().parse_args(["server", *args]))


def test_the_task_is_what_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", TF_CONFIG)
    assert task("--cluster", "a=localhost:4", "--job", "a") == ({"a": ["localhost:4"]}, "a", None)
    spec = json.dumps({"a": {"3": "localhost:4"}})
    assert task("--cluster", spec, "--task", "3") == ({"a": {"3": "localhost:4"}}, None, 3)


def test_or_what_tf_config_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", TF_CONFIG)
    assert task() == (CLUSTER, "worker", 1)
    assert task("--task", "0") == (CLUSTER, "worker", 0)
    assert task("--job", "ps", "--task", "0") == (CLUSTER, "ps", 0)


@pytest.mark.parametrize(
    ("tf_config", "args", "message"),
    [
        ("", [], "no cluster: it takes --cluster, or TF_CONFIG"),
        ("{", [], "TF_CONFIG is not JSON"),
        ("", ["--cluster", "ps"], "'ps' is not of the form"),
        ("", ["--cluster", "ps=localhost:1", "--task", "7"], "task:7 is not in the cluster"),
    ],
)
def test_mistakes(
    tf_config: str,
    args: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("TF_CONFIG", tf_config)
    assert main(["server", *args]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("args", [["--max-sessions", "0"], ["--max-message", "-1"]])
def test_limits_that_would_let_nobody_in(
    args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["server", "--cluster", "a=localhost:0", *args])
    assert f"argument {args[0]}: " in capsys.readouterr().err
