"""`distutils.log`: messages, by Python's logging."""

from __future__ import annotations

import logging

DEBUG, INFO, WARN, ERROR, FATAL = 1, 2, 3, 4, 5
_log = logging.getLogger("distutils")
debug, info, warn, error, fatal = _log.debug, _log.info, _log.warning, _log.error, _log.critical


def set_verbosity(level: int) -> None:
    """0: warnings; 1: information; more: everything."""
    _log.setLevel({0: logging.WARNING, 1: logging.INFO}.get(level, logging.DEBUG))


def set_threshold(level: int) -> int:
    """The least level that is shown, from 1 to 5."""
    _log.setLevel(level * 10)
    return level
