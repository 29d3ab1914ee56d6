"""The call of a compiled program, as one generated Python function.

Between two steps of a small model the host has a few microseconds; loops over variables and slots
would take most of them. What they would find is known once the program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Step = Callable[[list[Any]], None]


class Writer:
    """Collects the source of a function of a step's slots, `v`, and the objects it names."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"ndarray": np.ndarray}
        self.lines: list[str] = []

    def name(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def function(self) -> Step:
        source = "\n".join(["def step(v):", *("    " + line for line in self.lines or ["pass"])])
        exec(compile(source, "<weft call>", "exec"), self.names)
        step: Step = self.names["step"]
        return step


def call_site(region: Any, entry: Any) -> Step:
    """A function that runs the program of `entry`, a signature of `region`, over a step's slots."""
    writer = Writer()
    written = [writer.name(cell) for cell in region.written]
    kept = [writer.name(cell) for cell in region.kept]
    random = bool(region.random_nodes or region.inner_random)
    inputs = [f"v[{i}]" for i in region.moving_slots]
    inputs += [writer.name(value) for value in region.constants_on_device or []]
    settled = writer.name(region.settled)
    read = [f"{k}.value if type({k}.value) is not ndarray else {settled}({k})" for k in kept]
    arguments = [
        "[" + ", ".join(f"{cell}.value" for cell in written) + "]",
        "[" + ", ".join(read) + "]",
        "[" + ", ".join(inputs) + "]",
        writer.name(region.rngs) + "()" if random else "None",
    ]
    call = _call(writer, region, entry) + ", ".join(arguments) + ")"
    lines = [f"outputs, new, rest = {call}"]
    if written:
        lines.append("".join(f"{cell}.value, " for cell in written) + "= new")
    if random or entry.program.reshapes:
        lines.append(f"{writer.name(region.after)}({writer.name(entry)}, rest)")
    if written or kept or random:
        lines = [f"with {writer.name(region.store.lock)}:", *("    " + line for line in lines)]
    writer.lines = lines + _results(writer, region, entry)
    return writer.function()


def _call(writer: Writer, region: Any, entry: Any) -> str:
    if entry.program.factor:  # the program may have to be compiled anew, with more room
        return f"{writer.name(region.call_with_room)}({writer.name(entry)}, v, "
    return f"{writer.name(entry.program.call)}("


def _results(writer: Writer, region: Any, entry: Any) -> list[str]:
    """Lines that put what the program gives into its slots."""
    lines = []
    if region.out_slots:
        lines.append("".join(f"v[{i}], " for i in region.out_slots) + "= outputs")
    elif entry.program.waits:
        lines.append("outputs[0].block_until_ready()")
    if region.leaving_slots:
        lines.append(f"{writer.name(region.leave)}({writer.name(entry)}, rest, v)")
    return lines
