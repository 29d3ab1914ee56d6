"""The commands of a prompt: their names and handlers, the words that Tab offers, the history."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from weft.graph.importer import TENSORFLOW_VERSION
from weft.lib.debug.text import RichTextLines

HELP_INDENT = "  "
EXPLICIT_USER_EXIT = "explicit_user_exit"
Handler = Callable[..., Any]


class CommandLineExit(Exception):
    """Raised by a handler that ends the prompt; `exit_token` is what the prompt gives back."""

    def __init__(self, exit_token: Any = None) -> None:
        super().__init__()
        self.exit_token = exit_token


def get_tensorflow_version_lines(include_dependency_versions: bool = False) -> RichTextLines:
    """The version, and maybe NumPy's."""
    lines = [f"TensorFlow version: {TENSORFLOW_VERSION}", ""]
    if include_dependency_versions:
        lines += ["Dependency version(s):", f"  numpy: {np.__version__}", ""]
    return RichTextLines(lines)


class CommandHandlerRegistry:
    """Handlers by the word that a command line begins with."""

    HELP_COMMAND = "help"
    HELP_COMMAND_ALIASES: ClassVar = ["h"]
    VERSION_COMMAND = "version"
    VERSION_COMMAND_ALIASES: ClassVar = ["ver"]

    def __init__(self) -> None:
        self._commands: dict[str, tuple[Handler, str, list[str]]] = {}
        self._names: dict[str, str] = {}  # names and aliases -> names
        self._intro: RichTextLines | None = None
        add = self.register_command_handler
        add(
            self.HELP_COMMAND,
            self._help,
            "Print this help message.",
            prefix_aliases=self.HELP_COMMAND_ALIASES,
        )
        add(
            self.VERSION_COMMAND,
            lambda args, screen_info=None: get_tensorflow_version_lines(True),
            "Print the versions of TensorFlow and its key dependencies.",
            prefix_aliases=self.VERSION_COMMAND_ALIASES,
        )

    def register_command_handler(
        self, prefix: str, handler: Handler, help_info: str,
        prefix_aliases: list[str] | None = None,
    ) -> None:  # fmt: skip
        """`handler(args, screen_info=None)` gives RichTextLines, or None."""
        wrong = [
            (not prefix, "Empty command prefix"),
            (
                prefix in self._commands,
                f'A handler is already registered for command prefix "{prefix}"',
            ),
            (not callable(handler), "handler is not callable"),
            (not isinstance(help_info, str), "help_info is not a str"),
        ]
        for alias in prefix_aliases or ():
            clash = f'The prefix alias "{alias}" clashes with existing prefixes or aliases.'
            wrong.append((alias in self._names, clash))
        for is_wrong, message in wrong:
            if is_wrong:
                raise ValueError(message)
        self._commands[prefix] = handler, help_info, prefix_aliases or []
        self._names |= dict.fromkeys([prefix, *(prefix_aliases or ())], prefix)

    def is_registered(self, prefix: str) -> bool:
        return prefix in self._names

    def dispatch_command(self, prefix: str, argv: Sequence[str], screen_info: Any = None) -> Any:
        """Runs a command. A slip of the user's, or an error in a handler, is an answer too."""
        if not prefix:
            raise ValueError("Prefix is empty")
        if prefix not in self._names:
            raise ValueError(f'No handler is registered for command prefix "{prefix}"')
        name = self._names[prefix]
        handler = self._commands[name][0]
        try:
            output = handler(argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:  # argparse's
            output = RichTextLines(
                [f"Syntax error for command: {prefix}", f'For help, do "help {prefix}"']
            )
        except Exception as error:
            output = _failure(f"{name} {' '.join(argv)}", error)
        if output is not None and not isinstance(output, RichTextLines):
            raise ValueError(
                f"Return value from command handler {handler} is not None or a RichTextLines"
                " instance"
            )
        return output

    # ---- help ----

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        """Text that comes before the list of commands."""
        self._intro = help_intro

    def get_help(self, cmd_prefix: str | None = None) -> RichTextLines:
        if cmd_prefix:
            return RichTextLines(self._help_lines(cmd_prefix))
        found = RichTextLines([])
        if self._intro is not None:
            found.extend(self._intro)
        for name in sorted(self._commands):
            found.extend(RichTextLines([*self._help_lines(name), "", ""]))
        return found

    def _help_lines(self, prefix: str) -> list[str]:
        if prefix not in self._names:
            return [f'Invalid command prefix: "{prefix}"']
        name = self._names[prefix]
        _, text, aliases = self._commands[name]
        named = [f"{HELP_INDENT}Aliases: {', '.join(aliases)}"] if aliases else []
        return [name, *named, "", *(HELP_INDENT + line for line in text.split("\n"))]

    def _help(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        if len(args) > 1:
            return RichTextLines(["ERROR: help takes only 0 or 1 input argument."])
        return self.get_help(*args)


def _failure(command: str, error: Exception) -> RichTextLines:
    head = f"Error occurred during handling of command: {command}:"
    return RichTextLines([head, f"{type(error)}: {error}", "", *traceback.format_exc().split("\n")])


class TabCompletionRegistry:
    """The words that Tab offers, by the command that the line begins with."""

    def __init__(self) -> None:
        self._words: dict[str, list[str]] = {}

    def register_tab_comp_context(self, context_words: list[str], comp_items: list[str]) -> None:
        """Offers `comp_items` after any of `context_words`; "" is the beginning of a line."""
        for what, given in (("context_list", context_words), ("comp_items", comp_items)):
            if not isinstance(given, list):
                raise TypeError(f"Incorrect type in {what}: Expected list, got {type(given)}")
        offered = sorted(comp_items)
        self._words |= dict.fromkeys(context_words, offered)

    def deregister_context(self, context_words: list[str]) -> None:
        for word in context_words:
            if word not in self._words:
                raise KeyError(f'Cannot deregister unregistered context word "{word}"')
        for word in context_words:
            del self._words[word]

    def _offered(self, context_word: str) -> list[str]:
        if context_word not in self._words:
            raise KeyError(f'Context word "{context_word}" has not been registered')
        return self._words[context_word]

    def extend_comp_items(self, context_word: str, new_comp_items: list[str]) -> None:
        # In place: other words of the context share the list.
        offered = self._offered(context_word)
        offered[:] = sorted([*offered, *new_comp_items])

    def remove_comp_items(self, context_word: str, comp_items: list[str]) -> None:
        for item in comp_items:
            self._offered(context_word).remove(item)

    def get_completions(
        self, context_word: str, prefix: str
    ) -> tuple[list[str] | None, str | None]:
        """The words that begin with `prefix`, and all that they begin with."""
        if context_word not in self._words:
            return None, None
        found = [item for item in self._words[context_word] if item.startswith(prefix)]
        return found, os.path.commonprefix(found)  # noqa: RUF071 (of words, not of paths)


class CommandHistory:
    """The last commands, kept in a file."""

    _HISTORY_FILE_NAME = ".tfdbg_history"

    def __init__(self, limit: int = 100, history_file_path: str | None = None) -> None:
        self._limit = limit
        self._path = history_file_path or self._get_default_history_file_path()
        self._commands: list[str] = []
        self._load()

    @classmethod
    def _get_default_history_file_path(cls) -> str:
        return os.path.join(os.path.expanduser("~"), cls._HISTORY_FILE_NAME)

    def _load(self) -> None:
        if not os.path.isfile(self._path):
            return
        try:
            with open(self._path) as file:
                kept = [line.strip() for line in file if line.strip()]
            self._commands = kept[-self._limit :]
            if len(kept) > self._limit:
                with open(self._path, "w") as file:
                    file.writelines(command + "\n" for command in self._commands)
        except OSError:
            print("WARNING: the history of commands cannot be read.", file=sys.stderr)  # noqa: T201

    def add_command(self, command: str) -> None:
        """Remembers a command, unless it was the last one already."""
        if self._commands[-1:] == [command]:
            return
        if not isinstance(command, str):
            raise TypeError("Attempt to enter non-str entry to command history")
        self._commands = [*self._commands, command][-self._limit :]
        try:
            with open(self._path, "a") as file:
                file.write(command + "\n")
        except OSError:  # a home that cannot be written to is no reason to stop
            pass

    def most_recent_n(self, n: int) -> list[str]:
        return self._commands[-n:]

    def lookup_prefix(self, prefix: str, n: int) -> list[str]:
        return [command for command in self._commands if command.startswith(prefix)][-n:]
