"""`weft completion`: what a shell needs to complete weft's commands and options, as a script.

The script holds a table, from the commands typed so far to the words that may follow; it is written
from the parser itself. Where nothing in the table fits, names of files are offered.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from weft.cli.terminal import print_while_read

EXAMPLES = """\
  weft completion bash                  a script that completes these in a shell
"""

SHELLS = ("bash", "zsh", "fish")


class Words(NamedTuple):
    """The words that may follow a command: subcommands and options, each with its help."""

    path: tuple[str, ...]
    commands: dict[str, str]
    options: dict[str, str]


def add_parser(commands: Any) -> Any:
    completion = commands.add_parser(
        "completion",
        help="print a script that makes a shell complete weft's commands",
        description='Prints a script for the shell. For bash: eval "$(weft completion bash)" in'
        " ~/.bashrc; for zsh the same in ~/.zshrc, after compinit; for fish: weft completion fish >"
        " ~/.config/fish/completions/weft.fish",
    )
    completion.add_argument("shell", choices=SHELLS, help="the shell")
    return completion


@print_while_read
def run(arguments: argparse.Namespace) -> int:
    from weft.cli.main import parser

    sys.stdout.write(script(arguments.shell, parser()))
    return 0


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The completion of `parser`, in the language of `shell`."""
    table = list(_tables((), parser))
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](table)


def _tables(path: tuple[str, ...], parser: argparse.ArgumentParser) -> Iterator[Words]:
    options, commands, below = {}, {}, []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            commands = {choice.dest: choice.help or "" for choice in action._choices_actions}
            below = list(action.choices.items())
        elif action.option_strings:
            options.update(dict.fromkeys(action.option_strings, action.help or ""))
        elif action.choices:
            commands = dict.fromkeys(map(str, action.choices), action.help or "")
    yield Words(path, commands, options)
    for name, child in below:
        yield from _tables((*path, name), child)


# ---- bash and zsh: walk along the commands typed so far, then offer what the table says ----------

_BASH = """\
_weft() {{
    local current="${{COMP_WORDS[COMP_CWORD]}}" path="" word
    for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
        case "$path $word" in
            {paths}) path="$path $word" ;;
        esac
    done
    local words=""
    case "$path" in
{table}
    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [ ${{#COMPREPLY[@]}} -eq 0 ]; then
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}}
complete -o filenames -F _weft weft
"""

_ZSH = """\
_weft() {{
    local path_="" word words_
    for word in "${{(@)words[2,CURRENT-1]}}"; do
        case "$path_ $word" in
            {paths}) path_="$path_ $word" ;;
        esac
    done
    case "$path_" in
{table}
    esac
    compadd -- ${{=words_}}
    _files
}}
compdef _weft weft
"""


def _bash(table: list[Words]) -> str:
    return _BASH.format(paths=_paths(table), table=_cases(table, "words"))


def _zsh(table: list[Words]) -> str:
    return _ZSH.format(paths=_paths(table), table=_cases(table, "words_"))


def _paths(table: list[Words]) -> str:
    return "|".join(f'"{_typed(words.path)}"' for words in table if words.path)


def _cases(table: list[Words], variable: str) -> str:
    lines = []
    for words in table:
        follow = " ".join((*words.commands, *words.options))
        lines.append(f'        "{_typed(words.path)}") {variable}="{follow}" ;;')
    return "\n".join(lines)


def _typed(path: tuple[str, ...]) -> str:
    return "".join(f" {part}" for part in path)


# ---- fish: one line for each word ----------------------------------------------------------------


def _fish(table: list[Words]) -> str:
    return "".join(line for words in table for line in _fish_lines(words))


def _fish_lines(words: Words) -> Iterator[str]:
    seen = [f"__fish_seen_subcommand_from {part}" for part in words.path]
    when = "; and ".join(seen) or "__fish_use_subcommand"
    for command, text in words.commands.items():
        yield f"complete -c weft -n {_quoted(when)} -a {command} -d {_quoted(text)}\n"
    for option, text in words.options.items():
        kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
        yield f"complete -c weft -n {_quoted(when)} {kind} -d {_quoted(text)}\n"


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
