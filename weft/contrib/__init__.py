"""tf.contrib: the parts of it that weft has, each imported when it is first used."""

from __future__ import annotations

import importlib
from types import ModuleType

PARTS = (
    "cluster_resolver",
    "framework",
    "image",
    "layers",
    "legacy_seq2seq",
    "lookup",
    "losses",
    "metrics",
    "mixed_precision",
    "opt",
    "rnn",
    "seq2seq",
    "slim",
    "summary",
    "training",
    "util",
)


def __getattr__(name: str) -> ModuleType:
    if name in PARTS:
        return importlib.import_module(f"weft.contrib.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(PARTS)
