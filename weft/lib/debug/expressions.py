"""Expressions of NumPy over dumped tensors, whose names stand between backticks."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from weft.lib.debug.dump import WatchKeyDoesNotExistInDebugDumpDirError

_QUOTED = re.compile(r"`(.*?)`")
_NAME = re.compile(
    r"(?:(?P<device>/job:\w+/replica:\d+/task:\d+/\w+:\d+):)?"
    r"(?P<node>[^:]+):(?P<slot>\d+)(?::(?P<op>[^:\[]+))?(?:\[(?P<number>\d+)\])?"
)


def _parse_debug_tensor_name(debug_tensor_name: str) -> tuple[str | None, str, int, str, int]:
    """`/job:a/...:x/y:0:DebugNanCount[2]` -> (device, node, slot, debug operation, which dump)."""
    found = _NAME.fullmatch(debug_tensor_name)
    if found is None:
        raise ValueError(
            "The debug tensor name in the to-be-evaluated expression is malformed:"
            f" '{debug_tensor_name}'"
        )
    slot, number = int(found["slot"]), int(found["number"] or 0)
    return found["device"], found["node"], slot, found["op"] or "DebugIdentity", number


class ExpressionEvaluator:
    """Computes expressions over the tensors of a dump."""

    def __init__(self, dump: Any) -> None:
        self._dump = dump
        self._values: dict[str, Any] = {}

    def evaluate(self, expression: str) -> Any:
        """The value of an expression, in which NumPy is `np`."""
        names: dict[str, str] = {}

        def replaced(found: re.Match[str]) -> str:
            name = found[1].strip()
            return names.setdefault(name, f"_tensor_{len(names)}")

        code = _QUOTED.sub(replaced, expression)
        values = {variable: self._value(name) for name, variable in names.items()}
        # The user's own line, typed at the user's own prompt.
        return eval(code, {"np": np, "numpy": np, **values})

    def _value(self, name: str) -> Any:
        if name not in self._values:
            device, node, slot, op, number = _parse_debug_tensor_name(name)
            try:
                found = self._dump.get_tensors(node, slot, op, device_name=device)
            except WatchKeyDoesNotExistInDebugDumpDirError:
                raise ValueError(
                    f"Eval failed due to the value of {node}:{slot}:DebugIdentity being unavailable"
                ) from None
            self._values[name] = found[number]
        return self._values[name]
