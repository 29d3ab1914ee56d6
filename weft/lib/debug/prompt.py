"""What all prompts share: commands by name, completion, settings, and the answer to a line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from weft.lib.debug import words
from weft.lib.debug.commands import (
    EXPLICIT_USER_EXIT,
    CommandHandlerRegistry,
    CommandLineExit,
    TabCompletionRegistry,
)
from weft.lib.debug.configuration import CLIConfig
from weft.lib.debug.text import RichTextLines


class BaseUI:
    """Commands by name, completion, settings; `run_ui` is up to the kind of prompt."""

    CLI_PROMPT = "tfdbg> "
    CLI_EXIT_COMMANDS: ClassVar = ["exit", "quit"]
    ERROR_MESSAGE_PREFIX = "ERROR: "
    INFO_MESSAGE_PREFIX = "INFO: "

    def __init__(self, on_ui_exit: Callable[[], object] | None = None, config: Any = None) -> None:
        self._on_ui_exit = on_ui_exit
        self._command_handler_registry = CommandHandlerRegistry()
        self._tab_completion_registry = TabCompletionRegistry()
        registry = CommandHandlerRegistry
        first = [*self.CLI_EXIT_COMMANDS, registry.HELP_COMMAND, *registry.HELP_COMMAND_ALIASES]
        self.register_tab_comp_context([""], first)
        self._config = config or CLIConfig()
        self._config_parser = _config_parser()
        self.register_command_handler(
            "config", self._configure, self._config_parser.format_help(), prefix_aliases=["cfg"]
        )

    @property
    def config(self) -> Any:
        return self._config

    def set_help_intro(self, help_intro: RichTextLines) -> None:
        self._command_handler_registry.set_help_intro(help_intro)

    def register_command_handler(
        self, prefix: str, handler: Callable[..., Any], help_info: str,
        prefix_aliases: list[str] | None = None,
    ) -> None:  # fmt: skip
        """Adds a command, which Tab then offers."""
        registry = self._command_handler_registry
        registry.register_command_handler(prefix, handler, help_info, prefix_aliases)
        self._tab_completion_registry.extend_comp_items("", [prefix, *(prefix_aliases or ())])

    def register_tab_comp_context(self, *args: Any, **kwargs: Any) -> None:
        self._tab_completion_registry.register_tab_comp_context(*args, **kwargs)

    def run_ui(
        self, init_command: str | None = None, title: str | None = None,
        title_color: str | None = None, enable_mouse_on_start: bool = True,
    ) -> Any:  # fmt: skip
        raise NotImplementedError("run_ui() is not implemented in BaseUI")

    def _configure(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        parsed = self._config_parser.parse_args(args)
        name = getattr(parsed, "property_name", None)
        if name is not None:
            self._config.set(name, parsed.property_value)
        return self._config.summarize(highlight=name)  # type: ignore[no-any-return]

    # ---- one line ----

    def _parse_command(self, command: str) -> tuple[str, list[str], str | None]:
        """(the command, its words, the file its answer goes to)."""
        if not command.strip():
            return "", [], None
        first, path = words.extract_output_file_path(words.parse_command(command))
        return first[0], first[1:], path

    def _analyze_tab_complete_input(self, text: str) -> tuple[str, str, str]:
        """(the command that a line is of, the word that is being typed, all before that word)."""
        line = text.lstrip()
        before, space, last = line.rpartition(" ")
        return (before.split(" ")[0], last, before + space) if space else ("", line, "")

    def completions(self, text: str) -> list[str]:
        """The lines that a line may become."""
        context, prefix, before = self._analyze_tab_complete_input(text)
        found, _ = self._tab_completion_registry.get_completions(context, prefix)
        return [before + each for each in found or ()]

    def answer(self, command: str, screen_info: Any = None) -> tuple[Any, RichTextLines | None]:
        """Obeys a line: (what the prompt ends with, or None; what to show)."""
        if command.strip() in self.CLI_EXIT_COMMANDS:
            return EXPLICIT_USER_EXIT, None
        try:
            prefix, args, path = self._parse_command(command)
        except SyntaxError as error:
            return None, RichTextLines([str(error)])
        if not self._command_handler_registry.is_registered(prefix):
            wrong = f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"'
            return None, RichTextLines([wrong])
        try:
            output = self._command_handler_registry.dispatch_command(prefix, args, screen_info)
        except CommandLineExit as leaving:
            return leaving.exit_token, None
        if path and output is not None:
            self._tell(_written(output, path))
        return None, output

    def _tell(self, message: str) -> None:
        print(message)  # noqa: T201


def _config_parser() -> argparse.ArgumentParser:
    parser = words.new_parser("config command")
    below = parser.add_subparsers()
    change = below.add_parser("set")
    change.add_argument("property_name")
    change.add_argument("property_value")
    below.add_parser("show")
    return parser


def _written(output: RichTextLines, path: str) -> str:
    try:
        output.write_to_file(path)
    except OSError:
        return f"Failed to write output to {path}"
    return f"Wrote output to {path}"
