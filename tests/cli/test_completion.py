"""`weft completion`: the words that a shell offers."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from weft.cli.commands import completion
from weft.cli.main import main, parser


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["sa"], ["saved-model"]),
        (["completion", ""], ["bash", "zsh", "fish", "-h", "--help"]),
        (["checkpoint", "s"], ["show"]),
        (["checkpoint", "show", "--v"], ["--values"]),
        (["run", "--s"], ["--strict"]),
        (["server", "--max-s"], ["--max-sessions"]),
    ],
)
def test_bash(typed: list[str], offered: list[str]) -> None:
    words = " ".join(repr(word) for word in ["weft", *typed])
    ask = f"COMP_WORDS=({words}); COMP_CWORD={len(typed)}; _weft; printf '%s\\n' ${{COMPREPLY[@]}}"
    program = completion.script("bash", parser()) + ask
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == offered


def test_bash_offers_files_where_no_word_fits(tmp_path) -> None:
    (tmp_path / "train.py").touch()
    ask = "COMP_WORDS=(weft run tr); COMP_CWORD=2; _weft; echo ${COMPREPLY[@]}"
    program = completion.script("bash", parser()) + ask
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.split() == ["train.py"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_read_theirs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    text = completion.script(shell, parser())
    subprocess.run([shell, "-n"], input=text, text=True, check=True)


def test_every_command_is_in_every_script(capsys: pytest.CaptureFixture[str]) -> None:
    for shell in completion.SHELLS:
        assert main(["completion", shell]) == 0
        text = capsys.readouterr().out
        for command in ("run", "devices", "check", "upgrade", "server", "launch", "completion"):
            assert command in text


def test_quotes_in_fish() -> None:
    assert completion._quoted("a model's \\ file") == "'a model\\'s \\\\ file'"
