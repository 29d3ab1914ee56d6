"""A step that may have to wait, as one generated Python function that hopes it need not.

Where an operation must wait after all, or a region meets more than it could run on the host, the
function says at which unit it stopped; what was computed until then is in the slots of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from weft.core.deferred import Deferred
from weft.runtime.host.codegen_units import UnitEmitter, needed_after
from weft.runtime.xla.region import Region

if TYPE_CHECKING:
    from weft.runtime.prepared import Prepared


# The unit that the step stopped at, and what it waits for if it waits; None at the end of the step.
Stop = tuple[int, Deferred | None]
WaitingStep = Callable[[list[Any]], Stop | None]


def waiting_step(plan: Prepared) -> WaitingStep | None:
    """The units of a plan in order; None if one of them is not small enough for the host."""
    if not all(unit.tiny for unit in plan.units if isinstance(unit, Region)):
        return None
    source = UnitEmitter(plan.store, on_host=not plan.nested)
    source.open_step()
    settled = {slot for slot, value in enumerate(plan.template) if value is not None}
    for slot in settled:
        source.names[source.slot(slot)] = plan.template[slot]
    for i, (unit, needed) in enumerate(zip(plan.units, needed_after(plan), strict=True)):
        _add_unit(source, i, unit, needed)
    source.close_step(plan.fetch_slots, settled)
    return source.guarded_function("step")


def _add_unit(source: UnitEmitter, i: int, unit: Any, needed: Collection[int]) -> None:
    def leave(waited_for: str) -> str:
        return f"{source.stores(needed)}; return {i}, {waited_for}"

    if isinstance(unit, Region):
        source.region(2, unit, unit.nodes, leave)
    else:
        source.nodes(2, unit.nodes, leave)
