"""`weft run`: a program written for TensorFlow, run as `python` would run it, on weft.

The program becomes `__main__` of this process, with its own `sys.argv` and `sys.path`, and its
exceptions leave through the interpreter: exit codes, signals and tracebacks are Python's.
"""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType

from weft.legacy import tensorflow_import

# Has a `tensorflow` package that does for other processes what `install` does for this one.
CHILD_PATH = Path(__file__).parent / "child_path"


class CannotRun(Exception):
    """The program could not be started; the message is for the user."""


def run_script(script: str, args: Sequence[str]) -> None:
    """Runs the file `script` (`-`: standard input), as `python script args` does."""
    if script == "-":
        source, folder = sys.stdin.buffer.read(), ""
    else:
        source, folder = _read(script), os.path.dirname(os.path.realpath(script))
    main = _new_main()
    if script != "-":
        main.__file__ = script
    _prepare([script, *args], folder)
    _execute(source, "<stdin>" if script == "-" else script, main)


def run_module(module: str, args: Sequence[str]) -> None:
    """Runs `module` from the path, as `python -m module args` does."""
    _prepare(["-m", *args], os.getcwd())
    spec, code = _module_code(module)
    main = _new_main()
    main.__spec__, main.__loader__, main.__package__ = spec, spec.loader, spec.parent
    main.__file__ = sys.argv[0] = spec.origin or module
    _execute(code, sys.argv[0], main)


def _read(script: str) -> bytes:
    path = Path(script)
    if path.is_dir():
        path = path / "__main__.py"
    try:
        return path.read_bytes()
    except OSError as error:
        raise CannotRun(f"cannot open {str(path)!r}: {error.strerror}") from error


def _module_code(module: str) -> tuple[ModuleSpec, CodeType]:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError as error:
        raise CannotRun(f"cannot run {module!r}: {error}") from error
    if spec is None:
        raise CannotRun(f"no module named {module!r}")
    get_code = getattr(spec.loader, "get_code", None)
    is_package = spec.submodule_search_locations is not None
    if is_package and not isinstance(spec.loader, tensorflow_import.Finder):
        return _module_code(f"{module}.__main__")
    code = get_code(spec.name) if get_code is not None else None
    if code is None:
        raise CannotRun(f"module {module!r} has no Python code to run")
    return spec, code


def _new_main() -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = main
    return main


def _prepare(argv: list[str], folder: str) -> None:
    sys.argv = argv
    # Installed scripts and `python -m` leave a folder of their own at the front of the path.
    if not sys.flags.safe_path:
        sys.path[0:1] = [folder]
    inherited = os.environ.get("PYTHONPATH")
    paths = [str(CHILD_PATH), *(inherited.split(os.pathsep) if inherited else ())]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    tensorflow_import.install()


def _execute(source: bytes | CodeType, name: str, main: ModuleType) -> None:
    _hide_own_frames(sys._getframe())
    code = compile(source, name, "exec", dont_inherit=True) if isinstance(source, bytes) else source
    exec(code, main.__dict__)


def _hide_own_frames(last: FrameType) -> None:
    """Makes tracebacks begin at the program: everything up to the frame `last` is ours."""
    show = sys.excepthook

    def show_programs_part(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        entry = trace
        while entry is not None and entry.tb_frame is not last:
            entry = entry.tb_next
        trace = trace if entry is None else entry.tb_next
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = show_programs_part
