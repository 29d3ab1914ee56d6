"""Where the operations of one session are: decided once for the whole graph, kept from then on."""

from __future__ import annotations

import os
import threading
from typing import Any

from weft.core import flags
from weft.graph.graph import Graph
from weft.passes.client_graph import ClientGraph
from weft.passes.devices import DeviceSet
from weft.passes.place.cost import CostModel
from weft.passes.place.place import PlaceOptions, check_devices, place
from weft.passes.prune import prune
from weft.runtime.debug import report


def _kept_costs() -> CostModel:
    path = flags.COSTS.value
    return CostModel.load(path) if path and os.path.exists(path) else CostModel()


class Placer:
    """Places graphs of steps. Safe to call from many threads.

    The whole graph is placed when a step first needs new operations, so that a variable is where
    its training wants it and not where its initializer alone would put it.
    """

    def __init__(
        self, graph: Graph, devices: DeviceSet, config: Any = None, one_task: bool = False
    ) -> None:
        self.graph, self.devices = graph, devices
        soft = bool(config is not None and config.allow_soft_placement)
        self.options = PlaceOptions(soft=soft, one_task=one_task, calls_go=not one_task)
        self.log = bool(config is not None and config.log_device_placement)
        self.pruned_only = bool(config is not None and config.graph_options.place_pruned_graph)
        self.costs = _kept_costs()
        self._measured = False
        self.placed: dict[str, str] = {}
        self._version, self._checked = -1, 0
        self._lock = threading.Lock()

    def __call__(self, graph: ClientGraph) -> None:
        """Sets the device of every node of a step's graph."""
        with self._lock:
            if not self.pruned_only:
                self._place_all()
            place(graph, self.devices, self.options, self.costs, self.placed)
            fresh = [n for n in graph.nodes if n.op is not None and n.name not in self.placed]
            if len(self.devices) > 1 or self.log or flags.DEBUG:
                self.placed.update(
                    (n.name, n.device) for n in fresh if not n.definition.is_argument
                )
                self._tell([(n.name, n.type, n.device) for n in fresh])

    def _place_all(self) -> None:
        version = self.graph.version
        if version == self._version:
            return
        if len(self.devices) == 1:
            check_devices(self.graph.get_operations()[self._checked :], self.devices, self.options)
            self._checked, self._version = len(self.graph.get_operations()), version
            return
        everything = prune([], [], self.graph.get_operations(), checked=False)
        place(everything, self.devices, self.options, self.costs, self.placed)
        fresh = [n for n in everything.nodes if n.name not in self.placed]
        self.placed.update((n.name, n.device) for n in fresh)
        self._tell([(n.name, n.type, n.device) for n in fresh])
        self._version = version

    def _tell(self, placements: list[tuple[str, str, str]]) -> None:
        for name, kind, device in placements:
            line = f"{name}: ({kind}): {device}"
            if self.log:
                report.log(line)
            else:
                report.say(1, line.__str__)

    def learn(self, step_stats: Any) -> None:
        """Takes in what a traced step measured, for whatever is placed from now on."""
        with self._lock:
            self.costs.add_step(step_stats)
            self._measured = True

    def keep(self) -> None:
        """Writes what was measured to the file that WEFT_COSTS names."""
        if flags.COSTS.value and self._measured:
            self.costs.save(flags.COSTS.value)

    def rethink(self) -> None:
        """Forgets placements of what holds no state, for costs that have been measured since."""
        with self._lock:
            kept = {op.name for op in self.graph.get_operations() if op.definition.stateful}
            self.placed = {name: d for name, d in self.placed.items() if name in kept}
            self._version = -1
