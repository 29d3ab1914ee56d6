"""The prompt by lines, and the choice between it and the one that fills the terminal."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from typing import Any

from weft.lib.debug.prompt import BaseUI
from weft.lib.debug.text import RichTextLines

SUPPORTED_UI_TYPES = ["curses", "readline"]


class ReadlineUI(BaseUI):
    """A prompt by lines, with Python's readline where there is one."""

    def __init__(self, on_ui_exit: Callable[[], object] | None = None, config: Any = None) -> None:
        super().__init__(on_ui_exit, config)
        self._input: Callable[[str], str] = input
        self._init_input()

    def _init_input(self) -> None:
        if importlib.util.find_spec("readline") is None:
            return
        import readline

        readline.parse_and_bind("set editing-mode emacs")
        readline.parse_and_bind("tab: complete")
        readline.set_completer_delims("\n")
        readline.set_completer(self._readline_complete)

    def _readline_complete(self, text: str, state: int) -> str | None:
        return dict(enumerate(self.completions(text))).get(state)

    def run_ui(
        self, init_command: str | None = None, title: str | None = None,
        title_color: str | None = None, enable_mouse_on_start: bool = True,
    ) -> Any:  # fmt: skip
        """Asks for commands until one ends the prompt; the end of the input goes on without it."""
        print(title)  # noqa: T201
        token = None if init_command is None else self._dispatch_command(init_command)
        while token is None:
            try:
                command = self._get_user_command()
            except EOFError:
                command = "run -n"
                if not self._command_handler_registry.is_registered("run"):
                    break
            token = self._dispatch_command(command)
        if self._on_ui_exit is not None:
            self._on_ui_exit()
        return token

    def _get_user_command(self) -> str:
        print()  # noqa: T201
        return self._input(self.CLI_PROMPT).strip()

    def _dispatch_command(self, command: str) -> Any:
        token, output = self.answer(command)
        if output is not None:
            self._display_output(output)
        return token

    def _display_output(self, screen_output: RichTextLines) -> None:
        for line in screen_output.lines:
            print(line)  # noqa: T201


def get_ui(
    ui_type: str | None, on_ui_exit: Callable[[], object] | None = None,
    available_ui_types: list[str] | None = None, config: Any = None,
) -> BaseUI:  # fmt: skip
    """The prompt of a kind: "curses" fills the terminal, "readline" goes by lines.

    The former needs textual (the extra `weft[debug]`) and a terminal, and is the latter without.
    """
    if ui_type and ui_type not in (available_ui_types or SUPPORTED_UI_TYPES):
        raise ValueError(f"Invalid ui_type: '{ui_type}'")
    if ui_type != "readline" and _fills_terminal():
        from weft.lib.debug.screen import ScreenUI

        return ScreenUI(on_ui_exit, config)
    return ReadlineUI(on_ui_exit, config)


def _fills_terminal() -> bool:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    return importlib.util.find_spec("textual") is not None
