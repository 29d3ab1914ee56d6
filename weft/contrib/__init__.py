"""tf.contrib: the parts of it that weft has, each imported when it is first used."""

from __future__ import annotations

import importlib
from types import ModuleType

PARTS = (
    "cluster_resolver",
    "crf",
    "data",
    "distributions",
    "estimator",
    "factorization",
    "feature_column",
    "framework",
    "image",
    "layers",
    "learn",
    "legacy_seq2seq",
    "lookup",
    "losses",
    "metrics",
    "mixed_precision",
    "nn",
    "opt",
    "predictor",
    "rnn",
    "seq2seq",
    "signal",
    "slim",
    "sparsemax",
    "staging",
    "summary",
    "tpu",
    "training",
    "util",
)


def __getattr__(name: str) -> ModuleType:
    if name in PARTS:
        return importlib.import_module(f"weft.contrib.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(PARTS)
