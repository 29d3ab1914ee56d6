"""Commands are found by walking a folder: a new one is one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from weft.cli import commands
from weft.cli.main import find_commands, main, parser

_HELLO = '''
"""`weft hello`: a command of one file."""

import sys

EXAMPLES = """\\
  weft hello Ada                        a greeting
"""


def add_parser(commands):
    hello = commands.add_parser("hello", help="greet")
    hello.add_argument("name")
    return hello


def run(arguments):
    sys.stdout.write(f"hello {arguments.name}\\n")
    return 3
'''


def test_all_commands() -> None:
    names = [module.__name__.rpartition(".")[2] for module in find_commands()]
    assert names == [
        *("cache", "check", "checkpoint", "completion", "debug", "devices", "launch", "notebook"),
        *("profile", "run", "saved_model", "serve", "server", "trace", "upgrade"),
    ]
    shown = parser().format_help()
    assert all(f"weft {name.replace('_', '-')} " in shown for name in names)


def test_a_command_of_one_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hello.py").write_text(_HELLO)
    monkeypatch.setattr(commands, "__path__", [*commands.__path__, str(tmp_path)])
    assert main(["hello", "Ada"]) == 3
    assert capsys.readouterr().out == "hello Ada\n"
    assert "a greeting" in parser().format_help()
    sys.modules.pop(f"{commands.__name__}.hello")


def test_without_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: weft" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("weft ")


def test_a_named_command_is_imported_alone() -> None:
    """`weft run` must start as fast as Python does."""
    program = (
        "import sys; from weft.cli.main import parser; parser('run');"
        "print([m for m in sys.modules if m.startswith('weft.cli.commands.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['weft.cli.commands.run']\n"
    assert [m.__name__ for m in find_commands("saved-model")] == ["weft.cli.commands.saved_model"]
    assert find_commands("nothing") == find_commands()
