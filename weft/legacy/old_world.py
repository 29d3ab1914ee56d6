"""Everything that programs of TensorFlow 1's time find in this process, put in place."""

from __future__ import annotations

import os
import runpy
import sys
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from weft.core import flags
from weft.legacy import horovod_import, tensorflow_import
from weft.legacy.old import loading, users_code
from weft.lib.platform import flags as program_flags

_run_path = runpy.run_path


def install() -> None:
    """Puts weft in TensorFlow's place, and the old names in reach of the user's code."""
    loading.install()
    tensorflow_import.install()
    tensorflow_import.install("tensorflow_estimator")
    horovod_import.install()
    program_flags.define_unknown = None if flags.STRICT else _define_flag
    program_flags.old_attribute = None if flags.STRICT else _flags_attribute
    runpy.run_path = run_path  # type: ignore[assignment]
    # A number in a list is printed as a number, not as `np.float64(1.5)`.
    np.set_printoptions(legacy="1.25")


def _define_flag(name: str, value: Any) -> None:
    from weft.legacy.old import tensorflow_behaviour

    tensorflow_behaviour.define_flag(name, value)


def _flags_attribute(name: str) -> Any:
    from weft.legacy.old import tensorflow_behaviour

    return tensorflow_behaviour.flags_attribute(name)


def compile_program(source: bytes, file: str) -> CodeType:
    """The code of a program's main file."""
    if os.path.exists(file) and not users_code.is_users(file):
        return compile(source, file, "exec", dont_inherit=True)
    return loading.compile_main(source, file)


def run_path(
    path_name: str, init_globals: dict[str, Any] | None = None, run_name: str | None = None
) -> dict[str, Any]:
    """`runpy.run_path`, which would not see old names: `multiprocessing` calls it in children."""
    if not (os.path.isfile(path_name) and str(path_name).endswith(".py")):
        return _run_path(path_name, init_globals, run_name)  # type: ignore[arg-type]
    with open(path_name, "rb") as file:
        code = compile_program(file.read(), os.fspath(path_name))
    name = run_name or "<run_path>"
    module = ModuleType(name)
    module.__dict__.update(init_globals or {}, __file__=path_name, __package__="", __spec__=None)
    before, program = sys.modules.get(name), sys.argv[0]
    sys.modules[name], sys.argv[0] = module, path_name
    try:
        exec(code, module.__dict__)
        return dict(module.__dict__)
    finally:
        sys.argv[0] = program
        if before is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = before
