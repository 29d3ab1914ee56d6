"""The call of a compiled program, as one generated Python function.

Between two steps of a small model the host has a few microseconds; loops over variables and slots
would take most of them. What they would find is known once the program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.runtime.xla.checks import has_outside, limit_of

# Gives a true value if a check of the program has failed, or it is not for these shapes.
Step = Callable[[list[Any]], Any]
# What is fed -> what is fetched; None if the program is for other shapes, or a check has failed.
DirectStep = Callable[[Sequence[Any]], list[Any] | None]


class Writer:
    """Collects the source of a function of one argument and the objects it names."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"ndarray": np.ndarray}
        self.lines: list[str] = []

    def name(self, value: Any) -> str:
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def function(self, argument: str) -> Any:
        source = [f"def step({argument}):", *("    " + line for line in self.lines or ["pass"])]
        exec(compile("\n".join(source), "<weft call>", "exec"), self.names)
        return self.names.pop("step")  # left there, it would be a cycle


def call_site(region: Any, entry: Any) -> Step:
    """A function that runs the program of `entry`, a signature of `region`, over a step's slots."""
    writer = Writer()
    inputs = [f"v[{i}]" for i in region.moving_slots]
    writer.lines = _call(writer, region, entry, inputs, failed="True")
    if region.out_slots:
        writer.lines.append("".join(f"v[{i}], " for i in region.out_slots) + "= outputs")
    if region.leaving_slots:
        writer.lines.append(f"{writer.name(region.leave)}({writer.name(entry)}, rest, v)")
    step: Step = writer.function("v")
    return step


def direct_step(
    region: Any, entry: Any, key: Any, feed_slots: Sequence[int], fetch_slots: Sequence[int]
) -> DirectStep:
    """The whole step of a plan that is one program: no slots, no looking for the signature.

    `key` is the signature that `entry` is for.
    """
    writer = Writer()
    fed = {slot: f"f[{i}]" for i, slot in enumerate(feed_slots)}
    inputs = [fed[slot] for slot in region.moving_slots]
    shapes = () if region.is_constant else key[1]
    other = [f"{i}.shape != {shape}" for i, shape in zip(inputs, shapes, strict=True)]
    found = [f"outputs[{region.out_slots.index(slot)}]" for slot in fetch_slots]
    writer.lines = [
        f"if {' or '.join(other)}: return None" if other else "pass",
        *_call(writer, region, entry, inputs, failed="None"),
        f"return [{', '.join(found)}]",
    ]
    step: DirectStep = writer.function("f")
    return step


def _looks_beforehand(
    writer: Writer, region: Any, entry: Any, inputs: Sequence[str], failed: str
) -> list[str]:
    """Lines that look at ids and labels."""
    lines = []
    for i, limit in entry.program.beforehand:
        node, output = region.unit.inputs[i]
        below = limit_of(node.dtypes[output].np_storage, limit)
        if below is not None:
            call = f"{writer.name(has_outside)}({inputs[i]}, {writer.name(below)})"
            lines.append(f"if {call}: return {failed}")
    return lines


def _call(writer: Writer, region: Any, entry: Any, inputs: Sequence[str], failed: str) -> list[str]:
    """Lines that call the program and put the new values into the variables.

    If a check has failed, or the program is for other shapes, they return what `failed` says.
    """
    written = [writer.name(cell) for cell in region.written]
    kept = [writer.name(cell) for cell in region.kept]
    random = bool(region.random_nodes or region.inner_random)
    constants = [writer.name(value) for value in region.constants_on_device or []]
    settled = writer.name(region.settled)
    read = [f"{k}.value if type({k}.value) is not ndarray else {settled}({k})" for k in kept]
    arguments = [
        "[" + ", ".join(f"{cell}.value" for cell in written) + "]",
        "[" + ", ".join(read) + "]",
        "[" + ", ".join([*inputs, *constants]) + "]",
        writer.name(region.rngs) + "()" if random else "None",
        writer.name(region.idle_switch) if region.can_be_stopped else "None",
    ]
    call = f"{writer.name(entry.program.call)}("
    if entry.program.factor or entry.program.watched:
        # It may have to be compiled anew, with more room, or to be stopped.
        call = f"{writer.name(region.call_with_room)}({writer.name(entry)}, v, "
        arguments.pop()
    lines = [f"outputs, new, rest = {call}{', '.join(arguments)})"]
    if region.cells:
        # Compared under the lock: another step may give a variable another shape at any time.
        epoch = f"{writer.name(region.store)}.shape_epoch != {entry.epoch}"
        lines.insert(0, f"if {epoch}: return {failed}")
    # By its memory, which is ready when the program is: jax takes ten times as long for `bool`.
    look = [f"if memoryview(rest[4])[()]: return {failed}"] if entry.program.checked else []
    put = ["".join(f"{cell}.value, " for cell in written) + "= new"] if written else []
    # If a check has failed, `new` is what was there before, unless shapes differ. To look is to
    # wait; others need not wait with us, unless there is more that must not be done then.
    if random or entry.program.reshapes:
        lines += look + put if entry.program.reshapes else put + look
        lines.append(f"{writer.name(region.after)}({writer.name(entry)}, rest)")
        look = []
    else:
        lines += put
    if written or kept or random:
        lines = [f"with {writer.name(region.store.lock)}:", *("    " + line for line in lines)]
    lines = _looks_beforehand(writer, region, entry, inputs, failed) + lines + look
    if not region.out_slots and entry.program.waits and not entry.program.checked:
        lines.append("outputs[0].block_until_ready()")
    return lines
