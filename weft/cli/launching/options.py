"""Options of `weft launch` that only some engines understand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Option:
    """An option. Without a word from the user its value is None, and the engine's own default
    counts; so an option of another engine is noticed."""

    name: str
    help: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    short: str = ""

    @property
    def destination(self) -> str:
        return self.name.lstrip("-").replace("-", "_")

    def add_to(self, group: Any) -> None:
        names = [self.short, self.name] if self.short else [self.name]
        group.add_argument(*names, help=self.help, default=None, **self.settings)


RESOURCES = (
    Option("--cpus", "cores of each task (1)", {"metavar": "N", "type": float}),
    Option(
        "--gpus", "GPUs of each worker, chief and evaluator (0)", {"metavar": "N", "type": float}
    ),
)
