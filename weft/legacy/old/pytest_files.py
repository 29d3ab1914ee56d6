"""pytest's test files, which it loads by itself to show more of a failed `assert`."""

from __future__ import annotations

import importlib.util
import inspect
import os
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from weft.legacy.old import loading, users_code


class PytestLoader(SourceFileLoader):
    """Loads pytest's module that loads test files, and has it see old names."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _adapt(module)


def _adapt(module: Any) -> None:
    plain = module._rewrite_test
    # What it keeps in `__pycache__` must not be met by a pytest without weft.
    module.PYC_TAIL = f".weft-{module.PYTEST_TAG}{module.PYC_EXT}"
    # By which it knows whether a file has changed: its hash, or its time in older versions.
    takes_hash = "source_hash" in inspect.signature(module._write_pyc).parameters

    def rewrite_test(file: Path, config: Any) -> tuple[bytes | os.stat_result, CodeType]:
        name = str(file)
        if not users_code.is_users(name):
            found: tuple[bytes | os.stat_result, CodeType] = plain(file, config)
            return found
        source = Path(file).read_bytes()
        tree, _ = loading.tree_of(source, name)
        module.rewrite_asserts(tree, source, name, config)
        mark = importlib.util.source_hash(source) if takes_hash else os.stat(file)
        return mark, compile(tree, name, "exec", dont_inherit=True)

    module._rewrite_test = rewrite_test
