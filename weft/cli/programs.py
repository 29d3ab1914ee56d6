"""`weft run`: a program written for TensorFlow, run as `python` would run it, on weft.

The program (a file, a module, a notebook, an installed command) becomes `__main__` of this process,
with its own `sys.argv` and `sys.path`, and its exceptions leave through the interpreter: exit
codes, signals and tracebacks are Python's.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import json
import os
import shutil
import sys
import traceback
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from weft.core import flags, tracebacks
from weft.legacy import old, old_world
from weft.ops.kit import process_group

# Has a `sitecustomize` that does for other processes what `install` does for this one.
CHILD_PATH = Path(__file__).parent / "child_path"
_OWN_FRAMES = (str(Path(old.__file__).parent), str(importlib.__file__), "<frozen importlib")


class CannotRun(Exception):
    """The program could not be started; the message is for the user."""


def be_strict() -> None:
    """Makes the use of old names an error, here and in the processes that the program starts."""
    os.environ[flags.STRICT.name] = "1"
    flags.STRICT.value = True


def run_script(script: str, args: Sequence[str]) -> None:
    """Runs the file `script` (`-`: standard input), as `python script args` does."""
    file = "<stdin>" if script == "-" else _found(script)
    if script == "-":
        source, folder = sys.stdin.buffer.read(), ""
    else:
        source, folder = _read(file), os.path.dirname(os.path.realpath(file))
    main = _new_main()
    is_notebook = file.endswith(".ipynb")
    if script != "-" and not is_notebook:
        main.__file__ = file
    _prepare([script if script == "-" else file, *args], folder)
    if is_notebook:
        _run_notebook(source, file, main)
    else:
        _execute(source, file, main)


def _found(script: str) -> str:
    """The file that a name means: the file itself, or a command installed with a package."""
    if os.path.exists(script) or os.path.dirname(script):
        return script
    import importlib.metadata

    commands = importlib.metadata.entry_points(group="console_scripts", name=script)
    beside = os.path.dirname(sys.executable)
    return (shutil.which(script, path=beside) if commands else None) or script


def run_notebook(file: str, target: Path, goes_on: bool) -> int:
    """Runs a notebook and writes it to `target` with what its cells show.

    Returns the exit code; where it does not go on after a cell that fails, that error is raised.
    """
    from weft.legacy.notebook_outputs import Outputs, upgraded

    source = _read(file)
    try:
        outputs = Outputs(upgraded(json.loads(source)), goes_on)
    except (ValueError, AttributeError, TypeError) as error:
        raise CannotRun(f"{file!r} is not a notebook: {error}") from error
    main = _new_main()
    folder = os.path.dirname(os.path.realpath(file))
    _prepare([file], folder)
    os.chdir(folder)  # as Jupyter has it
    try:
        _run_notebook(source, file, main, outputs)
    finally:
        target.write_text(outputs.text())
    return int(outputs.failed)


def _run_notebook(source: bytes, file: str, main: ModuleType, recorder: Any = None) -> None:
    from weft.legacy import notebooks

    # Python's own display reads lines from files; cells are in memory.
    sys.excepthook = tracebacks.shortening(traceback.print_exception)
    _hide_own_frames(sys._getframe(), also=str(notebooks.__file__))
    notebooks.run(source, file, main, recorder)


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
    from weft.legacy.tensorflow_import import Finder

    get_code = getattr(spec.loader, "get_code", None)
    is_package = spec.submodule_search_locations is not None
    if is_package and not isinstance(spec.loader, Finder):
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
    old_world.install()


def _execute(source: bytes | CodeType, name: str, main: ModuleType) -> None:
    _hide_own_frames(sys._getframe())
    code = old_world.compile_program(source, name) if isinstance(source, bytes) else source
    try:
        exec(code, main.__dict__)
    except SystemExit as error:
        if error.code not in (None, 0):
            process_group.fail()  # others that compute with this process must not wait for it
        raise


def _hide_own_frames(last: FrameType, also: str = "") -> None:
    """Makes tracebacks the program's: without all up to the frame `last`, and what loads files."""
    show = sys.excepthook
    hidden = (*_OWN_FRAMES, also) if also else _OWN_FRAMES

    def show_programs_part(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        entry = trace
        while entry is not None and entry.tb_frame is not last:
            entry = entry.tb_next
        trace = trace if entry is None else entry.tb_next
        trace = _without(hidden, trace)
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = show_programs_part


def _without(hidden: tuple[str, ...], trace: TracebackType | None) -> TracebackType | None:
    """A traceback without the entries of some files."""
    if trace is None:
        return None
    rest = _without(hidden, trace.tb_next)
    if trace.tb_frame.f_code.co_filename.startswith(hidden):
        return rest
    return TracebackType(rest, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
