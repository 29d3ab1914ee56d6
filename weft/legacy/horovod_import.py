"""`import horovod` means weft's, under `weft run`: Horovod itself is built against TensorFlow."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_PLACES = {
    "horovod": "weft.lib.horovod",
    "horovod.tensorflow": "weft.lib.horovod.tensorflow",
    "horovod.tensorflow.compression": "weft.lib.horovod.ops",
    "horovod.tensorflow.mpi_ops": "weft.lib.horovod.tensorflow",
    "horovod.tensorflow.elastic": "weft.lib.horovod.elastic",
    "horovod.tensorflow.keras": "weft.lib.horovod.keras",
    "horovod.tensorflow.keras.callbacks": "weft.lib.horovod.callbacks",
    "horovod.tensorflow.keras.elastic": "weft.lib.horovod.elastic",
    "horovod.keras": "weft.lib.horovod.keras",
    "horovod.keras.callbacks": "weft.lib.horovod.callbacks",
    "horovod.keras.elastic": "weft.lib.horovod.elastic",
}


class Finder(MetaPathFinder, Loader):
    """Finds Horovod's modules in weft."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(name, self, is_package=True) if name in _PLACES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        names: dict[str, Any] = vars(importlib.import_module(_PLACES[module.__name__]))
        module.__dict__.update({k: v for k, v in names.items() if not k.startswith("__")})


def install() -> None:
    """Puts weft's in Horovod's place, once."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
