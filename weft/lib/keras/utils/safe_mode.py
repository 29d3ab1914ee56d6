"""Whether the Python code that model files hold may run: not unless the program says so.

A `Lambda` layer is written as the bytecode of its function. To read it back is to run what the
file's author wrote. Code that this process wrote itself (a model is cloned, or saved and loaded
again) is its own and always runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections.abc import Iterator

from weft.core import flags

_own: set[bytes] = set()  # digests of the code that this process has written


class _Choice(threading.local):
    safe: bool | None = None


_choice = _Choice()


@contextlib.contextmanager
def safe_mode_scope(safe_mode: bool | None) -> Iterator[None]:
    """Models that are read inside run no code of their files, or do; None leaves it as it was."""
    before = _choice.safe
    _choice.safe = before if safe_mode is None else safe_mode
    try:
        yield
    finally:
        _choice.safe = before


def enable_unsafe_deserialization() -> None:
    """From now on the code in model files runs, in all threads of this process."""
    flags.MODEL_CODE.value = True


def in_safe_mode() -> bool:
    """Whether code of files is refused here."""
    return not flags.MODEL_CODE.value if _choice.safe is None else _choice.safe


def remember_own(code: bytes) -> None:
    """Notes code that this process writes."""
    _own.add(hashlib.sha256(code).digest())


def check_code(code: bytes) -> None:
    """ValueError if code that was read may not run."""
    if not in_safe_mode() or hashlib.sha256(code).digest() in _own:
        return
    raise ValueError(
        "The model holds a Lambda layer with Python code of its own, which would run here with all"
        " your rights. Loading it is disallowed by default. If you trust where the model comes"
        " from, pass `safe_mode=False` to the function that loads it (`tf.keras.models.load_model`,"
        " `model_from_json`, ...), load it inside"
        " `weft.lib.keras.utils.safe_mode.safe_mode_scope(False)`, or set the environment variable"
        f" {flags.MODEL_CODE.name}=1. Otherwise pass a class of your own for it:"
        " `custom_objects={'Lambda': ...}`."
    )
