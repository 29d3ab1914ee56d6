"""The call of a compiled program, as one generated Python function.

Between two steps of a small model the host has a few microseconds; loops over variables and slots
would take most of them. What they would find is known once the program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.runtime.host.emitter import Emitter
from weft.runtime.xla.checks import finder_of_outside
from weft.runtime.xla.compile import load

# Gives a true value if a check of the program has failed, or it is not for these shapes.
Step = Callable[[list[Any]], Any]
# What is fed -> what is fetched; None if the program is for other shapes, or a check has failed.
DirectStep = Callable[[Sequence[Any]], list[Any] | None]


def call_site(region: Any, entry: Any) -> Step:
    """A function that runs the program of `entry`, a signature of `region`, over a step's slots."""
    source = Emitter(ndarray=np.ndarray)
    inputs = [f"v[{i}]" for i in region.moving_slots]
    lines = _call(source, region, entry, inputs, failed="True")
    if region.out_slots:
        lines.append("".join(f"v[{i}], " for i in region.out_slots) + "= outputs")
    if region.leaving_slots:
        lines.append(f"{source.bind(region.leave)}({source.bind(entry)}, rest, v)")
    return _function(source, "v", lines)


def direct_step(
    region: Any, entry: Any, key: Any, feed_slots: Sequence[int], fetch_slots: Sequence[int]
) -> DirectStep:
    """The whole step of a plan that is one program: no slots, no looking for the signature.

    `key` is the signature that `entry` is for.
    """
    source = Emitter(ndarray=np.ndarray)
    fed = {slot: f"f[{i}]" for i, slot in enumerate(feed_slots)}
    inputs = [fed[slot] for slot in region.moving_slots]
    shapes = () if region.is_constant else key[1]
    other = [f"{i}.shape != {shape}" for i, shape in zip(inputs, shapes, strict=True)]
    found = [f"outputs[{region.out_slots.index(slot)}]" for slot in fetch_slots]
    lines = _call(source, region, entry, inputs, failed="None")
    if other:
        lines.insert(0, f"if {' or '.join(other)}: return None")
    return _function(source, "f", [*lines, f"return [{', '.join(found)}]"])


def _function(source: Emitter, argument: str, lines: Sequence[str]) -> Callable[[Any], Any]:
    source.add(0, f"def step({argument}):")
    for line in lines:
        source.add(1, line)
    return source.function("step")


def _looks_beforehand(
    source: Emitter, region: Any, entry: Any, inputs: Sequence[str], failed: str
) -> list[str]:
    """Lines that look at ids and labels."""
    lines = []
    for i, limit in entry.program.beforehand:
        node, output = region.unit.inputs[i]
        has_outside = finder_of_outside(node.dtypes[output].np_storage, limit)
        if has_outside is not None:
            lines.append(f"if {source.bind(has_outside)}({inputs[i]}): return {failed}")
    return lines


def _failed(region: Any) -> str:
    """Whether a check has failed: in memory, if it is the host's.

    That is ready when the program is, and jax takes ten times as long for `bool`. In eager
    execution programs run on jax's default device, which may be another.
    """
    if region.store.device is None and load().default_backend() != "cpu":
        return "rest[4]"
    return "memoryview(rest[4])[()]"


def _staged(source: Emitter, entry: Any, inputs: Sequence[str]) -> tuple[list[str], list[str]]:
    """Lines that put some of the inputs into memory that the program reads, and all inputs then."""
    found = list(inputs)
    if entry.staging is None:
        return [], found
    fed = []
    for number, i in enumerate(entry.staging.inputs):
        fed.append(found[i])
        found[i] = f"piece.arrays[{number}]"
    return [f"piece = {source.bind(entry.staging.filled)}(({', '.join(fed)},))"], found


def _call(
    source: Emitter, region: Any, entry: Any, inputs: Sequence[str], failed: str
) -> list[str]:
    """Lines that call the program and put the new values into the variables.

    If a check has failed, or the program is for other shapes, they return what `failed` says.
    """
    staged, arrays = _staged(source, entry, inputs)
    written = [source.bind(cell) for cell in region.written]
    kept = [source.bind(cell) for cell in region.kept]
    random = bool(region.random_nodes or region.inner_random)
    constants = [source.bind(value) for value in region.constants_on_device or []]
    settled = source.bind(region.settled)
    read = [f"{k}.value if type({k}.value) is not ndarray else {settled}({k})" for k in kept]
    arguments = [
        "[" + ", ".join(f"{cell}.value" for cell in written) + "]",
        "[" + ", ".join(read) + "]",
        "[" + ", ".join([*arrays, *constants, *(f"v[{i}]" for i in region.given_slots)]) + "]",
        source.bind(region.rngs) + "()" if random else "None",
        source.bind(region.idle_switch) if region.can_be_stopped else "None",
    ]
    call = f"{source.bind(entry.program.call)}("
    if entry.program.factor or entry.program.watched:
        # It may have to be compiled anew, with more room, or to be stopped.
        call = f"{source.bind(region.call_with_room)}({source.bind(entry)}, v, "
        arguments.pop()
    lines = [f"new, outputs, rest = {call}{', '.join(arguments)})"]
    if region.cells:
        # Compared under the lock: another step may give a variable another shape at any time.
        store, looked = source.bind(region.store), source.bind(region)
        changed = f"{store}.shape_epoch != {looked}.looked or {looked}.since != {entry.epoch}"
        lines.insert(0, f"if {changed}: return {failed}")
    look = [f"if {_failed(region)}: return {failed}"] if entry.program.checked else []
    put = ["".join(f"{cell}.value, " for cell in written) + "= new"] if written else []
    # If a check has failed, `new` is what was there before, unless shapes differ. To look is to
    # wait; others need not wait with us, unless there is more that must not be done then.
    if random or entry.program.reshapes:
        lines += look + put if entry.program.reshapes else put + look
        lines.append(f"{source.bind(region.after)}({source.bind(entry)}, rest)")
        look = []
    else:
        lines += put
    if written or kept or random:
        lines = [f"with {source.bind(region.store.lock)}:", *("    " + line for line in lines)]
    lines = _looks_beforehand(source, region, entry, inputs, failed) + staged + lines + look
    if staged:
        done = "rest[5]" if entry.program.done_by is None else f"outputs[{entry.program.done_by}]"
        lines.append(f"{source.bind(entry.staging.give_back)}(piece, {done})")
    if not region.out_slots and entry.program.waits and not entry.program.checked:
        lines.append("outputs[0].block_until_ready()")
    return lines
