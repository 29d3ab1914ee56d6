"""The engines by name: each carries out a request, with options of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from weft.cli.launching import kubernetes, local, on_ray
from weft.cli.launching.options import Option
from weft.cli.launching.request import LaunchError, Request


class Engine(Protocol):
    """A module with two names. `LaunchError` if it cannot be done."""

    OPTIONS: tuple[Option, ...]

    def launch(self, request: Request, options: Mapping[str, Any]) -> int:
        """Carries the request out, with the values of the options that were given by their
        destinations. Returns the exit code."""


ENGINES: Mapping[str, Engine] = {"local": local, "ray": on_ray, "kubernetes": kubernetes}


def all_options() -> dict[Option, list[str]]:
    """Every option once, with the engines that understand it."""
    found: dict[Option, list[str]] = {}
    for name, engine in ENGINES.items():
        for option in engine.OPTIONS:
            found.setdefault(option, []).append(name)
    return found


def given_options(arguments: Any) -> dict[str, Any]:
    """The values of the options that were given; all must be those of the chosen engine."""
    given = {}
    for option, engines in all_options().items():
        value = getattr(arguments, option.destination)
        if value is None:
            continue
        if arguments.engine not in engines:
            raise LaunchError(f"{option.name} is for --engine {' or '.join(engines)}")
        given[option.destination] = value
    return given
