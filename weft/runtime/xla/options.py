"""Options of XLA's compiler, of which not every release knows all."""

from __future__ import annotations

import re
import threading
from typing import Any

Options = dict[str, str | bool | int]

# What comes close to an option in releases that do not know it: where no operation is made a
# fusion, none goes through the compiler of fusions. Some operations they can only do in fusions.
_INSTEAD: dict[str, Options] = {
    "xla_cpu_use_fusion_emitters": {"xla_disable_hlo_passes": "fusion,fusion-wrapper"},
}
_CANNOT = "UNIMPLEMENTED: HLO opcode"
_NOT_KNOWN = re.compile(r"No such compile option: '(\w+)'")
_unknown: set[str] = set()
_lock = threading.Lock()


def compile_with(lowered: Any, options: Options | None = None) -> Any:
    """The executable of a lowered program, by those of the options that this release knows."""
    may_replace = True
    while True:
        known = _known(options or {}, may_replace)
        try:
            return lowered.compile(compiler_options=known or None)
        except Exception as error:
            name = _NOT_KNOWN.search(str(error))
            if name is not None and name[1] in known:
                with _lock:
                    _unknown.add(name[1])
            elif may_replace and _CANNOT in str(error):
                may_replace = False
            else:
                raise


def _known(options: Options, may_replace: bool) -> Options:
    found: Options = {}
    with _lock:
        for name, value in options.items():
            if name not in _unknown:
                found[name] = value
            elif may_replace:
                found |= _INSTEAD.get(name, {})
        return {name: value for name, value in found.items() if name not in _unknown}
