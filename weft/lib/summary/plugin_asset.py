"""Files that TensorBoard's plugins want next to the events of a graph."""

from __future__ import annotations

import abc
from typing import Any

from weft.graph.graph import get_default_graph

_PREFIX = "__tensorboard_plugin_asset__"


class PluginAsset(abc.ABC):
    """Holds files for one plugin; a graph has at most one of each."""

    plugin_name: str | None = None

    @abc.abstractmethod
    def assets(self) -> dict[str, str]:
        """File name to content."""


def get_plugin_asset(plugin_asset_cls: Any, graph: Any = None) -> Any:
    """The asset of this class in the graph, made at the first call."""
    graph = graph or get_default_graph()
    if not plugin_asset_cls.plugin_name:
        raise ValueError(f"Class {plugin_asset_cls.__name__} has no plugin_name")
    key = _PREFIX + plugin_asset_cls.plugin_name
    if not graph.get_collection(key):
        graph.add_to_collection(key, plugin_asset_cls())
        graph.add_to_collection(_PREFIX, plugin_asset_cls.plugin_name)
    asset = _only(graph, key)
    if not isinstance(asset, plugin_asset_cls):
        raise ValueError(
            f"Plugin name collision between classes {plugin_asset_cls.__name__} and "
            f"{type(asset).__name__}"
        )
    return asset


def get_all_plugin_assets(graph: Any = None) -> list[Any]:
    """All assets of a graph."""
    graph = graph or get_default_graph()
    return [_only(graph, _PREFIX + name) for name in graph.get_collection(_PREFIX)]


def _only(graph: Any, key: str) -> Any:
    found = graph.get_collection(key)
    if len(found) != 1:
        raise ValueError(f"Collection for {key} had {len(found)} items, expected 1")
    return found[0]
