"""The command lines of the tools: flags as a table, as TensorFlow's tools take them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

Flag = tuple[str, Any, str]  # name, default (whose type is the flag's), help


def _truth(text: str) -> bool:
    return text.lower() == "true"


def parse(flags: Sequence[Flag], arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The flags that were given; others are left to the program."""
    parser = argparse.ArgumentParser()
    for name, default, text in flags:
        if isinstance(default, bool):
            settings: dict[str, Any] = {"nargs": "?", "const": True, "type": _truth}
        else:
            settings = {"type": type(default)}
        parser.add_argument(f"--{name}", default=default, help=text, **settings)
    found, _ = parser.parse_known_args(arguments)
    return found
