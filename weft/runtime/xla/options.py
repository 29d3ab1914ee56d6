"""Options of XLA's compiler, of which not every release knows all."""

from __future__ import annotations

import re
import threading
from typing import Any

Options = dict[str, str | bool | int]

_NOT_KNOWN = re.compile(r"No such compile option: '(\w+)'")
_unknown: set[str] = set()
_lock = threading.Lock()


def compile_with(lowered: Any, options: Options | None = None) -> Any:
    """The executable of a lowered program, by those of the options that this release knows."""
    while True:
        with _lock:
            known = {k: v for k, v in (options or {}).items() if k not in _unknown}
        try:
            return lowered.compile(compiler_options=known or None)
        except Exception as error:
            name = _NOT_KNOWN.search(str(error))
            if name is None or name[1] not in known:
                raise
            with _lock:
                _unknown.add(name[1])
