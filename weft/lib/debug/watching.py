"""RunOptions that ask for tensors to be dumped."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def add_debug_tensor_watch(
    run_options: Any, node_name: str, output_slot: int = 0, debug_ops: Any = "DebugIdentity",
    debug_urls: Any = None, tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:  # fmt: skip
    """Watches one output of a node: `debug_ops` of it go to `debug_urls`."""
    run_options.debug_options.global_step = global_step
    run_options.debug_options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        debug_ops=_as_list(debug_ops),
        debug_urls=_as_list(debug_urls),
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def watch_graph(
    run_options: Any, graph: Any, debug_ops: Any = "DebugIdentity", debug_urls: Any = None,
    node_name_regex_whitelist: str | None = None, op_type_regex_whitelist: str | None = None,
    tensor_dtype_regex_whitelist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False, global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:  # fmt: skip
    """Watches all outputs that the patterns match; without patterns also what a step adds."""
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    patterns = node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist
    common = dict(
        debug_ops=debug_ops, debug_urls=debug_urls, global_step=global_step,
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )  # fmt: skip

    def wanted(pattern: str | None, text: str) -> bool:
        return not pattern or re.match(pattern, text) is not None

    _watch_each(run_options, graph, patterns, wanted, common)
    if not any(patterns):
        add_debug_tensor_watch(run_options, "*", output_slot=-1, **common)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_graph_with_blacklists(
    run_options: Any, graph: Any, debug_ops: Any = "DebugIdentity", debug_urls: Any = None,
    node_name_regex_blacklist: str | None = None, op_type_regex_blacklist: str | None = None,
    tensor_dtype_regex_blacklist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False, global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:  # fmt: skip
    """Watches all outputs that none of the patterns matches."""
    patterns = node_name_regex_blacklist, op_type_regex_blacklist, tensor_dtype_regex_blacklist
    common = dict(
        debug_ops=debug_ops, debug_urls=debug_urls, global_step=global_step,
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )  # fmt: skip

    def wanted(pattern: str | None, text: str) -> bool:
        return not pattern or re.match(pattern, text) is None

    _watch_each(run_options, graph, patterns, wanted, common)
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def _watch_each(
    run_options: Any, graph: Any, patterns: tuple[str | None, ...],
    wanted: Callable[[str | None, str], bool], common: dict[str, Any],
) -> None:  # fmt: skip
    """`wanted(pattern, text)` of the node's name, its type and the output's dtype."""
    for op in graph.get_operations():
        for slot, tensor in enumerate(op.outputs):
            texts = op.name, op.type, tensor.dtype.name
            if all(wanted(p, text) for p, text in zip(patterns, texts, strict=True)):
                add_debug_tensor_watch(run_options, op.name, output_slot=slot, **common)
