"""Models as drawings: layers are boxes, and lead to each other."""

from __future__ import annotations

import os
from typing import Any

from weft.core import nest
from weft.lib.keras.layers.wrappers import Wrapper


def import_pydot() -> Any:
    """The pydot package, or an error that says what is needed."""
    try:
        import pydot
    except ImportError as error:
        raise ImportError(
            "Failed to import pydot. You must install pydot and graphviz for `pydotprint` to work."
        ) from error
    return pydot


def model_to_dot(
    model: Any,
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
    subgraph: bool = False,
) -> Any:
    """A graph of pydot's; with `expand_nested`, models in the model are drawn as frames."""
    drawing = _Drawing(import_pydot(), show_shapes, show_layer_names, expand_nested)
    if subgraph:
        return drawing.cluster(model)
    dot = drawing.pydot.Dot()
    for key, value in {"rankdir": rankdir, "concentrate": True, "dpi": dpi}.items():
        dot.set(key, value)
    dot.set_node_defaults(shape="record")
    drawing.fill(dot, model)
    return dot


class _Drawing:
    def __init__(self, pydot: Any, shapes: bool, names: bool, expand: bool) -> None:
        self.pydot, self.shapes, self.names, self.expand = pydot, shapes, names, expand

    def cluster(self, model: Any) -> Any:
        frame = self.pydot.Cluster(style="dashed", graph_name=model.name)
        for key, value in (("label", model.name), ("labeljust", "l")):
            frame.set(key, value)
        self.fill(frame, model)
        return frame

    def fill(self, dot: Any, model: Any) -> None:
        """The boxes of a model's layers, and the lines between them."""
        if type(model).__name__ == "Sequential" and not model.built:
            model.build()
        if not model._is_graph_network:
            dot.add_node(self.pydot.Node(str(id(model)), label=model.name))
            return
        for layer in model._layers:
            inner = self._inner_model(layer)
            if inner is not None:
                dot.add_subgraph(self.cluster(inner))
            if inner is not layer:
                dot.add_node(self.pydot.Node(str(id(layer)), label=self._label(layer)))
            if inner is not None and inner is not layer:
                self._connect(dot, str(id(layer)), self._end(inner, 0))
        for layer in model._layers:
            for below in _inputs_within(model, layer):
                self._connect(dot, self._end(below, -1), self._end(layer, 0))

    def _inner_model(self, layer: Any) -> Any:
        """The model that is drawn as a frame: the layer itself, or what it wraps."""
        if not self.expand:
            return None
        return next((each for each in (layer, _wrapped(layer)) if _is_model(each)), None)

    def _end(self, layer: Any, which: int) -> str:
        """The box that a line to (0) or from (-1) a layer goes to."""
        inner = self._inner_model(layer)
        if inner is None or (which == 0 and inner is not layer):
            return str(id(layer))
        return self._end(inner._layers[which], which)

    def _connect(self, dot: Any, source: str, target: str) -> None:
        if not dot.get_edge(source, target):
            dot.add_edge(self.pydot.Edge(source, target))

    def _label(self, layer: Any) -> str:
        name, kind = layer.name, type(layer).__name__
        wrapped = _wrapped(layer)
        if wrapped is not None and not (self.expand and _is_model(wrapped)):
            name, kind = f"{name}({wrapped.name})", f"{kind}({type(wrapped).__name__})"
        label = f"{name}: {kind}" if self.names else kind
        if not self.shapes:
            return label
        shapes = (_shape_text(layer, "input_shape"), _shape_text(layer, "output_shape"))
        return "{}\n|{{input:|output:}}|{{{{{}}}|{{{}}}}}".format(label, *shapes)


def _wrapped(layer: Any) -> Any:
    return layer.layer if isinstance(layer, Wrapper) else None


def _is_model(layer: Any) -> bool:
    return bool(getattr(layer, "_is_graph_network", False))


def _shape_text(layer: Any, which: str) -> str:
    try:
        return str(getattr(layer, which)).replace("None", "?")
    except (AttributeError, RuntimeError):
        return "?"


def _inputs_within(model: Any, layer: Any) -> list[Any]:
    used = {id(node) for nodes in model._nodes_by_depth.values() for node in nodes}
    return [
        below
        for node in layer._inbound_nodes
        if id(node) in used
        for below in nest.flatten(node.inbound_layers)
    ]


def plot_model(
    model: Any,
    to_file: Any = "model.png",
    show_shapes: bool = False,
    show_layer_names: bool = True,
    rankdir: str = "TB",
    expand_nested: bool = False,
    dpi: int = 96,
) -> Any:
    """Draws a model into a file, in the format that its ending says (png without one)."""
    dot = model_to_dot(model, show_shapes, show_layer_names, rankdir, expand_nested, dpi)
    ending = os.path.splitext(os.fspath(to_file))[1][1:]
    dot.write(os.fspath(to_file), format="raw" if ending == "dot" else ending or "png")
    try:
        from IPython import display
    except ImportError:
        return None
    return display.Image(filename=to_file)
