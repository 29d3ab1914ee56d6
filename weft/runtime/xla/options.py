"""Options of XLA's compiler, of which not every release knows all."""

from __future__ import annotations

import re
import threading
from typing import Any

Options = dict[str, str | bool | int]

# What comes closest to an option where it is not known. Programs are not fused where a fusion would
# have to go through the compiler that is to be left out.
_INSTEAD: dict[str, Options] = {
    "xla_cpu_use_fusion_emitters": {"xla_disable_hlo_passes": "fusion,fusion-wrapper"},
}
_NOT_KNOWN = re.compile(r"No such compile option: '(\w+)'")
_unknown: set[str] = set()
_lock = threading.Lock()


def compile_with(lowered: Any, options: Options | None = None) -> Any:
    """The executable of a lowered program, by those of the options that this release knows."""
    while True:
        known = _known(options or {})
        try:
            return lowered.compile(compiler_options=known or None)
        except Exception as error:
            name = _NOT_KNOWN.search(str(error))
            if name is None or name[1] not in known:
                raise
            with _lock:
                _unknown.add(name[1])


def _known(options: Options) -> Options:
    with _lock:
        found: Options = {}
        for name, value in options.items():
            found |= {name: value} if name not in _unknown else _INSTEAD.get(name, {})
        return {name: value for name, value in found.items() if name not in _unknown}
