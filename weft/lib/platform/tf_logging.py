"""tf.logging: messages through the standard library's logger named "tensorflow".

The logger and its handler are made when first needed, so that a program which configures logging
itself before that gets its messages once, in its own form.
"""

from __future__ import annotations

import collections
import logging
import sys
import threading
from logging import DEBUG, ERROR, FATAL, INFO, WARN
from types import FrameType
from typing import Any

_lock = threading.Lock()
_made: logging.Logger | None = None
_calls: collections.Counter[tuple[str, int]] = collections.Counter()


class _Logger(logging.Logger):
    """Names the caller of this module as the origin of a message, not this module."""

    def findCaller(
        self, stack_info: bool = False, stacklevel: int = 1
    ) -> tuple[str, int, str, str | None]:
        frame = _caller()
        if frame is None:
            return super().findCaller(stack_info, stacklevel)
        stack = None
        if stack_info:
            import traceback

            stack = "Stack (most recent call last):\n" + "".join(traceback.format_stack(frame))
            stack = stack.rstrip("\n")
        return frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name, stack


def _caller() -> FrameType | None:
    """The innermost frame that is neither here nor in the `logging` package."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in (__file__, logging.__file__):
        frame = frame.f_back
    return frame


def get_logger() -> logging.Logger:
    """The logger behind `tf.logging`."""
    global _made
    if _made is None:
        with _lock:
            if _made is None:
                _made = _make_logger()
    return _made


def _make_logger() -> logging.Logger:
    logger = logging.getLogger("tensorflow")
    logger.__class__ = _Logger
    if logging.getLogger().handlers:
        return logger
    stream = sys.stderr
    # A person at a prompt sees more, and on the same stream as their own output.
    if hasattr(sys, "ps1") or sys.flags.interactive:
        stream = sys.stdout
        logger.setLevel(INFO)
    shown = logging.StreamHandler(stream)
    shown.setFormatter(logging.Formatter(logging.BASIC_FORMAT))
    logger.addHandler(shown)
    return logger


def log(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs `msg % args` at `level`."""
    get_logger().log(level, msg, *args, **kwargs)


def vlog(level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Another name for `log`."""
    get_logger().log(level, msg, *args, **kwargs)


def debug(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs a message for debugging.

    Args:
        msg: a text with places for `args`, as `%d`.
        *args, **kwargs: as for Python's `logging`.

    Example:
        >>> tf.logging.debug("batch %d", 3)
    """
    get_logger().debug(msg, *args, **kwargs)


def info(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs how the program gets on; shown if the verbosity is INFO or below.

    Args:
        msg: a text with places for `args`, as `%d`.
        *args, **kwargs: as for Python's `logging`.

    Example:
        >>> tf.logging.info("step %d: loss %.2f", 10, 0.25)
    """
    get_logger().info(msg, *args, **kwargs)


def warning(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs what may be a mistake; the program goes on.

    Args:
        msg: a text with places for `args`, as `%d`.
        *args, **kwargs: as for Python's `logging`.

    Example:
        >>> tf.logging.set_verbosity(tf.logging.ERROR)
        >>> tf.logging.warning("not shown: %s", "below the verbosity")
        >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    get_logger().warning(msg, *args, **kwargs)


def warn(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Another name for `warning`.

    Args:
        msg: a text with places for `args`, as `%d`.
        *args, **kwargs: as for Python's `logging`.

    Example:
        >>> tf.logging.set_verbosity(tf.logging.ERROR)
        >>> tf.logging.warn("not shown")
        >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    get_logger().warning(msg, *args, **kwargs)


def error(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs that something failed; the program goes on.

    Args:
        msg: a text with places for `args`, as `%d`.
        *args, **kwargs: as for Python's `logging`.

    Example:
        >>> tf.logging.set_verbosity(tf.logging.FATAL)
        >>> tf.logging.error("not shown: %s", "below the verbosity")
        >>> tf.logging.set_verbosity(tf.logging.WARN)
    """
    get_logger().error(msg, *args, **kwargs)


def fatal(msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs at the highest level. The program goes on.

    Args:
        msg: a text with places for `args`, as `%d`.
        *args, **kwargs: as for Python's `logging`.

    Example:
        >>> tf.logging.FATAL > tf.logging.ERROR > tf.logging.WARN > tf.logging.INFO
        True
    """
    get_logger().critical(msg, *args, **kwargs)


def TaskLevelStatusMessage(msg: Any) -> None:
    """Another name for `error`, without arguments."""
    get_logger().error(msg)


def log_if(level: int, msg: Any, condition: Any, *args: Any) -> None:
    """Logs only when `condition` is true."""
    if condition:
        get_logger().log(level, msg, *args)


def log_every_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first of every `n` calls from the same line."""
    log_if(level, msg, _earlier_calls() % n == 0, *args)


def log_first_n(level: int, msg: Any, n: int, *args: Any) -> None:
    """Logs the first `n` calls from the same line."""
    log_if(level, msg, _earlier_calls() < n, *args)


def _earlier_calls() -> int:
    """How often the current line has been here before."""
    frame = _caller()
    place = (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)
    with _lock:
        _calls[place] += 1
        return _calls[place] - 1


def flush() -> None:
    """Writes out what handlers still hold."""
    for handler in get_logger().handlers:
        handler.flush()


def get_verbosity() -> int:
    """The level from which on messages are shown: WARN unless it was set."""
    return get_logger().getEffectiveLevel()


def set_verbosity(v: int | str) -> None:
    """Shows messages of level `v` (`tf.logging.INFO`, ...) and above.

    Args:
        v: a level: DEBUG, INFO, WARN, ERROR or FATAL.

    Example:
        >>> before = tf.logging.get_verbosity()
        >>> tf.logging.set_verbosity(tf.logging.ERROR)
        >>> tf.logging.get_verbosity() == tf.logging.ERROR
        True
        >>> tf.logging.set_verbosity(before)
    """
    get_logger().setLevel(v)


__all__ = ["DEBUG", "ERROR", "FATAL", "INFO", "WARN", "get_logger", "get_verbosity", "log"]
