"""tf.contrib.keras: tf.keras under its older name."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any


def _public() -> ModuleType:
    return importlib.import_module("weft.api.keras")


def __getattr__(name: str) -> Any:
    return getattr(_public(), name)


def __dir__() -> list[str]:
    return dir(_public())
