"""The whole step of a plan that is a few host nodes, as one generated Python function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core.quiet import restore, silence
from weft.runtime.host.codegen import NodeEmitter
from weft.runtime.host.program_call import DirectStep


def direct_tiny_step(
    region: Any,
    entry: Any,
    key: Any,
    values: Sequence[Any],
    feed_slots: Sequence[int],
    fetch_slots: Sequence[int],
) -> DirectStep:
    """As `direct_step`, of a signature whose nodes take less time than a program would.

    `values`: the slots of a step, for what is neither fed nor made.
    """
    source = NodeEmitter(region.store, hold_lock=bool(region.cells))
    source.names |= {"ndarray": np.ndarray, "silence": silence, "restore": restore}
    source.names["numbers"] = (np.ndarray, np.generic)
    source.aliases = {slot: f"f[{i}]" for i, slot in enumerate(feed_slots)}
    inputs = [source.slot(slot) for slot in region.moving_slots]
    shapes = () if region.is_constant else key[1]
    other = [
        f"type({i}) is not ndarray or {i}.shape != {shape}"
        if shape
        else f"not isinstance({i}, numbers) or {i}.shape"
        for i, shape in zip(inputs, shapes, strict=True)
    ]
    _open(source, region, entry, other)
    for item in region.nodes:
        for slot in item.ins:
            if slot not in source.made and slot not in source.aliases:
                source.aliases[slot] = source.bind(values[slot])
        source.add(3, source.line(item), item.node)
        source.made.update(item.outs)
    source.add(1, "finally: restore(token)")
    source.add(1, f"return [{', '.join(map(source.slot, fetch_slots))}]")
    return source.guarded_function("step")


def _open(source: NodeEmitter, region: Any, entry: Any, other: Sequence[str]) -> None:
    """The head of the function, which returns None if it is for another signature."""
    source.add(0, "def step(f):")
    source.add(1, f"if {' or '.join(other) or False}: return None")
    source.add(1, "token = silence()")
    source.add(1, "try:")
    source.add(2, "with lock:" if region.cells else "if True:")
    if region.cells:
        # Compared under the lock: another step may give a variable another shape at any time.
        store, looked = source.bind(region.store), source.bind(region)
        changed = f"{store}.shape_epoch != {looked}.looked or {looked}.since != {entry.epoch}"
        source.add(3, f"if {changed}: return None")
    source.add(3, "pass")
