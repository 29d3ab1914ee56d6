"""jax and XLA without a word: what they log is about them, and weft says what concerns the user.

Whoever wants to hear them sets `WEFT_DEBUG=3`, or their own `TF_CPP_MIN_LOG_LEVEL` and
`JAX_LOGGING_LEVEL`.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.core import flags
from weft.runtime.debug import report

_HEARD = 3  # the level of WEFT_DEBUG
_ONLY_FATAL = "3"


def import_hushed() -> Any:
    """The jax module. XLA reads its level when it is loaded, so that is set before."""
    is_heard = flags.DEBUG.value >= _HEARD
    if not is_heard:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", _ONLY_FATAL)
        _silence("jax._src")
    hidden = _hide_what_fails("cloudpickle")
    with _numbers_apart():
        import jax

    if hidden:
        del sys.modules["cloudpickle"]
    if not is_heard:
        _silence("jax")  # which jax takes for the user's wish if it finds it so
    return jax


@contextlib.contextmanager
def _numbers_apart() -> Iterator[None]:
    """Inside, `np.random.rand` of this thread leaves NumPy's own generator as it is.

    jax draws from it when it is imported, for pauses between two looks for a cluster. All that
    a seeded program draws afterwards would be other numbers. Other threads are the program's.
    """
    of_program, own = np.random.rand, np.random.RandomState().rand
    importing = threading.get_ident()

    def rand(*shape: int) -> Any:
        return (own if threading.get_ident() == importing else of_program)(*shape)

    np.random.rand = rand
    try:
        yield
    finally:
        np.random.rand = of_program


def _hide_what_fails(package: str) -> bool:
    """Hides a package that jax does without, where it is too old for this Python.

    TensorFlow Probability 0.8 asks for a cloudpickle that Python 3.8 can no longer import.
    """
    try:
        importlib.import_module(package)
    except ImportError:
        return False
    except Exception:  # whatever an old package stumbles over
        sys.modules[package] = None  # type: ignore[assignment]
        return True
    return False


def _silence(name: str) -> None:
    logger = logging.getLogger(name)
    if logger.level == logging.NOTSET and not os.environ.get("JAX_LOGGING_LEVEL"):
        logger.setLevel(logging.CRITICAL + 1)
    # Processes of weft's own may be forked: `interrupts.py` and others see to it.
    warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called", category=RuntimeWarning)


def report_cache(jax: Any) -> None:
    """Reports, if WEFT_DEBUG asks for it, whether a program was found on disk."""
    if flags.DEBUG.value < _HEARD:
        return
    told = {
        "/jax/compilation_cache/cache_hits": "cache hit: the program was on disk",
        "/jax/compilation_cache/cache_misses": "cache miss: the program is kept for the next run",
    }

    def tell(event: str, **_: Any) -> None:
        if event in told:
            report.say(_HEARD, told[event].__str__)

    jax.monitoring.register_event_listener(tell)
