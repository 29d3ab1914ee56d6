"""Dumps of a run, loaded: its tensors by name and device, and its graphs."""

from __future__ import annotations

import glob
import itertools
import logging
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from weft.lib.debug import graphs
from weft.lib.debug.causality import check_causality
from weft.lib.debug.datum import (
    CORE_METADATA_TAG as CORE_METADATA_TAG,
)
from weft.lib.debug.datum import (
    DEVICE_TAG as DEVICE_TAG,
)
from weft.lib.debug.datum import (
    FEED_KEYS_INFO_FILE_TAG as FEED_KEYS_INFO_FILE_TAG,
)
from weft.lib.debug.datum import (
    FETCHES_INFO_FILE_TAG as FETCHES_INFO_FILE_TAG,
)
from weft.lib.debug.datum import (
    GRAPH_FILE_TAG as GRAPH_FILE_TAG,
)
from weft.lib.debug.datum import (
    HASH_TAG as HASH_TAG,
)
from weft.lib.debug.datum import (
    METADATA_FILE_PREFIX as METADATA_FILE_PREFIX,
)
from weft.lib.debug.datum import (
    DebugTensorDatum as DebugTensorDatum,
)
from weft.lib.debug.datum import (
    device_name_to_device_path as device_name_to_device_path,
)
from weft.lib.debug.datum import (
    device_path_to_device_name as device_path_to_device_name,
)
from weft.lib.debug.datum import (
    extract_core_metadata_from_event_proto as extract_core_metadata_from_event_proto,
)
from weft.lib.debug.datum import (
    has_inf_or_nan as has_inf_or_nan,
)
from weft.lib.debug.datum import (
    load_tensor_from_event as load_tensor_from_event,
)
from weft.lib.debug.datum import (
    load_tensor_from_event_file as load_tensor_from_event_file,
)
from weft.lib.debug.datum import (
    read_event,
    read_graph,
)
from weft.lib.debug.inconvertible import InconvertibleTensorProto as InconvertibleTensorProto
from weft.lib.debug.names import get_node_name

Predicate = Callable[[DebugTensorDatum, Any], bool]
_log = logging.getLogger("weft")


class WatchKeyDoesNotExistInDebugDumpDirError(ValueError):
    """Nothing was dumped under this name."""


class _DeviceDump:
    """The dump of one device."""

    def __init__(self, root: str, folder: str) -> None:
        self.name = device_path_to_device_name(folder)
        self.data: list[DebugTensorDatum] = []
        self.graph_path: str | None = None
        for place, _, files in os.walk(folder):
            for file in files:
                path = os.path.join(place, file)
                if file.startswith(METADATA_FILE_PREFIX + GRAPH_FILE_TAG):
                    self.graph_path = path
                else:
                    self.data.append(DebugTensorDatum(root, os.path.relpath(path, root)))
        self.data.sort(key=lambda datum: datum.extended_timestamp)
        self.by_key: dict[str, list[DebugTensorDatum]] = defaultdict(list)
        self.keys_of: dict[str, dict[str, None]] = defaultdict(dict)
        for datum in self.data:
            self.by_key[datum.watch_key].append(datum)
            self.keys_of[datum.node_name][datum.watch_key] = None


class DebugDumpDir:
    """A dump that was written: tensors, graphs, and what was fed and fetched."""

    def __init__(self, dump_root: str, partition_graphs: Any = None, validate: bool = True) -> None:
        if not os.path.isdir(dump_root):
            raise OSError(f"Dump root directory {dump_root} does not exist")
        self._root = dump_root
        self._metadata = [
            extract_core_metadata_from_event_proto(read_event(path))
            for path in self._files(CORE_METADATA_TAG)
        ]
        folders = self._files(DEVICE_TAG)
        self._devices = {d.name: d for d in (_DeviceDump(dump_root, f) for f in folders)}
        self._graphs = dict(self._loaded_graphs(partition_graphs))
        self._homes: dict[str, set[str]] = defaultdict(set)
        for graph in self._graphs.values():
            for name, places in graph.node_devices.items():
                self._homes[name] |= places
        if validate:
            for name in self._graphs.keys() & self._devices.keys():
                check_causality(self._devices[name].data, self._graphs[name], name)
        self._python_graph: Any = None
        self._tracebacks: dict[str, Any] = {}

    def _files(self, tag: str) -> list[str]:
        return sorted(glob.glob(os.path.join(self._root, f"{METADATA_FILE_PREFIX}{tag}*")))

    def _messages(self, tag: str) -> Any:
        told = [read_event(path).log_message.message for path in self._files(tag)]
        return told[0] if len(told) == 1 else told

    def _loaded_graphs(self, given: Any) -> Iterator[tuple[str, graphs.DebugGraph]]:
        for name, device in self._devices.items():
            graph = read_graph(device.graph_path) if device.graph_path else None
            if graph is None:
                _log.warning(
                    "Failed to load partition graphs for device %s from disk. As a fallback, the"
                    " client graphs will be used. This may cause mismatches in device names.", name,
                )  # fmt: skip
                here = (g for g in given or () if any(n.device == name for n in g.node))
                graph = next(here, None)
            if graph is not None:
                yield name, graphs.DebugGraph(graph, device_name=name)

    # ---- the run ----

    @property
    def core_metadata(self) -> Any:
        return self._metadata[0] if len(self._metadata) == 1 else self._metadata

    @property
    def run_fetches_info(self) -> Any:
        return self._messages(FETCHES_INFO_FILE_TAG)

    @property
    def run_feed_keys_info(self) -> Any:
        return self._messages(FEED_KEYS_INFO_FILE_TAG)

    @property
    def python_graph(self) -> Any:
        return self._python_graph

    def set_python_graph(self, python_graph: Any) -> None:
        """The graph whose operations know the lines that made them."""
        self._python_graph = python_graph
        operations = python_graph.get_operations() if python_graph else ()
        self._tracebacks = {op.name: op for op in operations}

    def node_traceback(self, element_name: str) -> Any:
        """(file, line, function, text) of each frame that made a node."""
        if self._python_graph is None:
            raise LookupError("Python graph is not available for traceback lookup")
        name = get_node_name(element_name)
        if name not in self._tracebacks:
            raise KeyError(f'Cannot find node "{name}" in Python graph')
        return tuple(self._tracebacks[name].traceback)

    # ---- tensors ----

    def devices(self) -> list[str]:
        return list(self._devices)

    @property
    def dumped_tensor_data(self) -> list[DebugTensorDatum]:
        """All tensors, in the order they were dumped."""
        data = [datum for device in self._devices.values() for datum in device.data]
        return sorted(data, key=lambda datum: datum.extended_timestamp)

    @property
    def size(self) -> int:
        return sum(len(device.data) for device in self._devices.values())

    @property
    def t0(self) -> int | None:
        """When the first tensor was dumped."""
        return min((d.data[0].timestamp for d in self._devices.values() if d.data), default=None)

    def debug_watch_keys(self, node_name: str, device_name: str | None = None) -> list[str]:
        try:
            place = self._place(device_name, node_name)
        except ValueError:
            return []
        return (
            list(self._devices[place].keys_of.get(node_name, ())) if place in self._devices else []
        )

    def watch_key_to_data(
        self, debug_watch_key: str, device_name: str | None = None
    ) -> list[DebugTensorDatum]:
        if device_name is not None:
            if device_name not in self._devices:
                raise ValueError(
                    f"There is no device named '{device_name}' consisting of debug watch keys."
                )
            return self._devices[device_name].by_key.get(debug_watch_key, [])
        found = [d for d in self._devices.values() if debug_watch_key in d.by_key]
        if len(found) > 1:
            raise ValueError(
                f"The debug watch key '{debug_watch_key}' exists on multiple ({len(found)})"
                " devices, but device name is not specified."
            )
        return found[0].by_key[debug_watch_key] if found else []

    def find(
        self, predicate: Predicate, first_n: int = 0, device_name: str | None = None,
        exclude_node_names: str | None = None,
    ) -> list[DebugTensorDatum]:  # fmt: skip
        """The tensors for which `predicate(datum, value)` holds, at most `first_n` of them."""
        places = [device_name] if device_name is not None else list(self._devices)
        data = (datum for place in places for datum in self._devices[place].data)
        skipped = exclude_node_names
        kept = (d for d in data if not (skipped and re.match(skipped, d.node_name)))
        matched = (datum for datum in kept if predicate(datum, datum.get_tensor()))
        return list(itertools.islice(matched, first_n if first_n > 0 else None))

    def _of(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None
    ) -> list[DebugTensorDatum]:
        key = f"{node_name}:{output_slot}:{debug_op}"
        try:
            place = self._place(device_name, node_name)
            return list(self._devices[place].by_key.get(key, ())) or self._missing(key, place)
        except KeyError:
            return self._missing(key, device_name)

    @staticmethod
    def _missing(key: str, device_name: str | None) -> Any:
        raise WatchKeyDoesNotExistInDebugDumpDirError(
            f'Watch key "{key}" does not exist in the debug dump of device {device_name}'
        )

    def get_tensors(
        self, node_name: str, output_slot: int, debug_op: str = "DebugIdentity",
        device_name: str | None = None,
    ) -> list[Any]:  # fmt: skip
        """All values of a tensor, in the order they were dumped."""
        try:
            found = self._of(node_name, output_slot, debug_op, device_name)
        except WatchKeyDoesNotExistInDebugDumpDirError:
            raise
        except ValueError:  # no such node, or one on several devices
            self._missing(f"{node_name}:{output_slot}:{debug_op}", device_name)
        return [datum.get_tensor() for datum in found]

    def get_tensor_file_paths(
        self, node_name: str, output_slot: int, debug_op: str = "DebugIdentity",
        device_name: str | None = None,
    ) -> list[str]:  # fmt: skip
        return [d.file_path for d in self._of(node_name, output_slot, debug_op, device_name)]

    def get_rel_timestamps(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int]:
        """Microseconds since the first tensor."""
        found = self._of(node_name, output_slot, debug_op, device_name)
        return [datum.timestamp - (self.t0 or 0) for datum in found]

    def get_dump_sizes_bytes(
        self, node_name: str, output_slot: int, debug_op: str, device_name: str | None = None
    ) -> list[int | None]:
        found = self._of(node_name, output_slot, debug_op, device_name)
        return [datum.dump_size_bytes for datum in found]

    # ---- graphs ----

    def loaded_partition_graphs(self) -> bool:
        return bool(self._graphs)

    def partition_graphs(self) -> list[Any]:
        self._need_graphs("No partition graphs have been loaded.")
        return [graph.debug_graph_def for graph in self._graphs.values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, Any]:
        return {name: graph.non_debug_graph_def for name, graph in self._graphs.items()}

    def _need_graphs(self, message: str) -> None:
        if not self._graphs:
            raise LookupError(message)

    def _place(self, device_name: str | None, node_name: str) -> str:
        """The device of a node."""
        if device_name is not None:
            return device_name
        homes = self._homes.get(node_name, set())
        if not homes and not self._graphs:  # the tensors alone tell
            homes = {n for n, d in self._devices.items() if node_name in d.keys_of}
        if not homes:
            raise ValueError(
                f"None of the {len(self._devices)} device(s) has a node named '{node_name}'."
            )
        if len(homes) > 1:
            raise ValueError(
                f"There are multiple ({len(homes)}) devices with nodes named '{node_name}' but"
                " device_name is not specified."
            )
        return next(iter(homes))

    def _graph_of(self, what: str, node_name: str, device_name: str | None) -> graphs.DebugGraph:
        self._need_graphs(f"{what} are not loaded from partition graphs yet.")
        return self._graphs[self._place(device_name, node_name)]

    def nodes(self, device_name: str | None = None) -> list[str]:
        self._need_graphs("No partition graphs have been loaded.")
        if device_name is not None and device_name not in self._graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        places = self._graphs if device_name is None else [device_name]
        return [name for place in places for name in self._graphs[place].node_inputs]

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        self._need_graphs("Nodes have not been loaded from partition graphs yet.")
        if device_name is not None and device_name not in self._graphs:
            raise ValueError(f"The specified device_name '{device_name}' cannot be found.")
        return any(node_name in graph.node_inputs for graph in self._graphs.values())

    def node_device(self, node_name: str) -> Any:
        self._need_graphs("Node devices are not loaded from partition graphs yet.")
        match list(self._homes.get(node_name, ())):
            case []:
                raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
            case [home]:
                return home
            case homes:
                return homes

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        return self._graph_of("Node op types", node_name, device_name).node_op_types[node_name]

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Any:
        self._need_graphs("No partition graphs have been loaded.")
        return self._graphs[self._place(device_name, node_name)].node_attributes[node_name]

    def node_inputs(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        graph = self._graph_of("Node inputs", node_name, device_name)
        return (graph.node_ctrl_inputs if is_control else graph.node_inputs)[node_name]

    def node_recipients(
        self, node_name: str, is_control: bool = False, device_name: str | None = None
    ) -> list[str]:
        graph = self._graph_of("Node recipients", node_name, device_name)
        return (graph.node_ctrl_recipients if is_control else graph.node_recipients)[node_name]

    def transitive_inputs(
        self, node_name: str, include_control: bool = True, include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:  # fmt: skip
        """All that a node needs, depth first; loops are not gone around."""
        graph = self._graph_of("Node inputs", node_name, device_name)
        tracer = _tracer(graph, include_control, include_reversed_ref)
        tracer.trace(node_name)
        return tracer.inputs()

    def find_some_path(
        self, src_node_name: str, dst_node_name: str, include_control: bool = True,
        include_reversed_ref: bool = False, device_name: str | None = None,
    ) -> list[str] | None:  # fmt: skip
        """A way from one node to another, if there is one."""
        source, goal = (self._place(device_name, n) for n in (src_node_name, dst_node_name))
        if source != goal:
            raise ValueError(
                f"Source ({src_node_name}) and destination ({dst_node_name}) are not on the same"
                f" device: {source} vs. {goal}"
            )
        tracer = _tracer(self._graphs[goal], include_control, include_reversed_ref, src_node_name)
        try:
            tracer.trace(dst_node_name)
        except graphs.GraphTracingReachedDestination:
            met = zip(tracer.inputs(), tracer.depth_list(), strict=True)
            last = {0: dst_node_name} | {depth: name for name, depth in met}
            ends = tracer.depth_list()[-1:] or [0]
            return [last[depth] for depth in range(ends[0], -1, -1)]
        return None


def _tracer(
    graph: graphs.DebugGraph, control: bool, reversed_ref: bool, goal: str | None = None
) -> graphs.DFSGraphTracer:
    lists = [graph.node_inputs]
    lists += [graph.node_ctrl_inputs] if control else []
    lists += [graph.node_reversed_ref_inputs] if reversed_ref else []
    merges = [name for name, kind in graph.node_op_types.items() if kind == "Merge"]
    return graphs.DFSGraphTracer(lists, merges, goal)
