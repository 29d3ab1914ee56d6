"""The settings of the debugger's prompt, kept in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any, ClassVar

from weft.lib.debug.text import RichLine, RichTextLines, rich_text_lines_from_rich_line_list

_WORDS = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True)
_WORDS |= dict.fromkeys(("0", "false", "f", "no", "n", "off"), False)


class CLIConfig:
    """Settings by name; `set` keeps them for the next program, too."""

    _CONFIG_FILE_NAME = ".tfdbg_config"
    _DEFAULTS: ClassVar = {"graph_recursion_depth": 20, "mouse_mode": True}

    def __init__(self, config_file_path: str | None = None) -> None:
        home = os.path.expanduser("~")
        self._config_file_path = config_file_path or os.path.join(home, self._CONFIG_FILE_NAME)
        self._values: dict[str, Any] = self._DEFAULTS | self._loaded()
        self._callbacks: dict[str, Callable[[Any], object]] = {}
        self._save()

    def _loaded(self) -> dict[str, Any]:
        try:
            with open(self._config_file_path) as file:
                return dict(sorted(json.load(file).items()))
        except (OSError, ValueError, AttributeError):  # a broken file is as good as none
            return {}

    def _save(self) -> None:
        try:
            with open(self._config_file_path, "w") as file:
                json.dump(self._values, file)
        except OSError:  # a home that cannot be written to is no reason to stop
            pass

    def _check(self, name: str) -> None:
        if name not in self._values:
            raise KeyError(f"{name} is not a valid property name.")

    def get(self, property_name: str) -> Any:
        self._check(property_name)
        return self._values[property_name]

    def set(self, property_name: str, property_val: Any) -> None:
        """Changes a setting; its new value becomes of the type of the old one."""
        self._check(property_name)
        kind = type(self._values[property_name])
        if kind not in (bool, int, str):
            raise TypeError(f"Unsupported property type: {kind}")
        self._values[property_name] = (_truth if kind is bool else kind)(property_val)
        self._save()
        if property_name in self._callbacks:
            self._callbacks[property_name](self)

    def set_callback(self, property_name: str, callback: Callable[[Any], object]) -> None:
        """`callback(config)` is called whenever a setting has been changed."""
        self._check(property_name)
        if not callable(callback):
            raise TypeError("The callback object provided is not callable.")
        self._callbacks[property_name] = callback

    def summarize(self, highlight: str | None = None) -> RichTextLines:
        """All settings, one of them in bold."""
        lines = [RichLine("Command-line configuration:", "bold"), RichLine("")]
        for name, value in self._values.items():
            bold = "bold" if name == highlight else None
            named = RichLine("  ") + RichLine(name, ["underline", bold]) + ": "
            lines.append(named + RichLine(str(value), bold))
        return rich_text_lines_from_rich_line_list(lines)


def _truth(value: Any) -> bool:
    if not isinstance(value, str):
        return bool(value)
    if value.lower() not in _WORDS:
        raise ValueError(f"Invalid string value for bool type: {value}")
    return _WORDS[value.lower()]
