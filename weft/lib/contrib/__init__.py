"""tf.contrib: the parts of it that weft has, each imported when it is first used."""

from __future__ import annotations

import importlib
from types import ModuleType

PARTS = (
    "autograph",
    "batching",
    "bayesflow",
    "boosted_trees",
    "checkpoint",
    "cluster_resolver",
    "compiler",
    "constrained_optimization",
    "copy_graph",
    "crf",
    "cudnn_rnn",
    "data",
    "deprecated",
    "distribute",
    "distributions",
    "eager",
    "estimator",
    "factorization",
    "feature_column",
    "framework",
    "gan",
    "graph_editor",
    "grid_rnn",
    "hooks",
    "image",
    "input_pipeline",
    "integrate",
    "keras",
    "kernel_methods",
    "layers",
    "learn",
    "legacy_seq2seq",
    "linear_optimizer",
    "lookup",
    "losses",
    "memory_stats",
    "metrics",
    "mixed_precision",
    "model_pruning",
    "nccl",
    "nn",
    "opt",
    "periodic_resample",
    "predictor",
    "proto",
    "quantization",
    "quantize",
    "recurrent",
    "reduce_slice_ops",
    "resampler",
    "rnn",
    "saved_model",
    "seq2seq",
    "session_bundle",
    "signal",
    "slim",
    "solvers",
    "sparsemax",
    "staging",
    "stateless",
    "summary",
    "tensor_forest",
    "tensorboard",
    "tensorrt",
    "testing",
    "tfprof",
    "tpu",
    "training",
    "util",
)


def __getattr__(name: str) -> ModuleType:
    if name in PARTS:
        return importlib.import_module(f"weft.lib.contrib.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(PARTS)
