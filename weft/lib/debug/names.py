"""Names of nodes, tensors, runs and their parts."""

from __future__ import annotations

import json
from typing import Any

GRPC_URL_PREFIX = "grpc://"


def parse_node_or_tensor_name(name: str) -> tuple[str, int | None]:
    """`a/b:1` -> (`a/b`, 1); the name of a node has no slot."""
    node, colon, slot = name.rpartition(":")
    return (node, int(slot)) if colon and slot else (name, None)


def get_node_name(element_name: str) -> str:
    return parse_node_or_tensor_name(element_name)[0]


def get_output_slot(element_name: str) -> int:
    return parse_node_or_tensor_name(element_name)[1] or 0


def get_graph_element_name(elem: Any) -> str:
    return elem.name if hasattr(elem, "name") else str(elem)


def get_flattened_names(feeds_or_fetches: Any) -> list[str]:
    """The names of all elements of a structure."""
    if isinstance(feeds_or_fetches, dict):
        feeds_or_fetches = list(feeds_or_fetches.values())
    if isinstance(feeds_or_fetches, (list, tuple)):
        return [name for each in feeds_or_fetches for name in get_flattened_names(each)]
    return [get_graph_element_name(feeds_or_fetches)]


def get_run_key(feed_dict: Any, fetches: Any) -> str:
    """What a call of `run` is known by on a debug server."""
    return json.dumps([get_flattened_names(feed_dict), get_flattened_names(fetches)])
