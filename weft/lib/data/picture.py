"""A dataset as HTML for notebooks: the types of its elements, and the first of them."""

from __future__ import annotations

import itertools
from typing import Any

from weft.client.session import Session
from weft.core.html import card, escape, table
from weft.graph.graph import Graph
from weft.graph.graph_util import extract_sub_graph
from weft.graph.importer import import_graph_def
from weft.lib.data import nest
from weft.ops.kit.eager import executing_eagerly

FIRST = 3
_LONGEST = 300  # characters of one component


def dataset_table(dataset: Any) -> str:
    """What a dataset holds. Its elements are computed apart: the graph of the program stays."""
    about = card(type(dataset).__name__, [("element", dataset.element_spec)])
    try:
        elements = _first_eagerly(dataset) if executing_eagerly() else _first(dataset)
    except Exception as error:  # a picture is no place for errors: the program will meet them
        reason = str(error).partition("\n")[0]
        return about + f"<i>its elements cannot be shown: {escape(reason)}</i>"
    rows = [(i, *map(_text, nest.flatten(element))) for i, element in enumerate(elements)]
    names = [f"component {i}" for i in range(len(rows[0]) - 1)] if rows else []
    return about + table(("", *names), rows) + ("" if rows else "<i>no elements</i>")


def _first_eagerly(dataset: Any) -> list[Any]:
    elements = itertools.islice(iter(dataset), FIRST)
    return [nest.map_structure(lambda tensor: tensor.numpy(), element) for element in elements]


def _first(dataset: Any) -> list[Any]:
    """The first elements of a copy of the dataset in a graph of its own."""
    from weft.core.errors import OutOfRangeError
    from weft.lib.data.dataset import DatasetV1Adapter

    variant = dataset._variant_tensor
    needed = extract_sub_graph(variant.graph.as_graph_def(), [variant.op.name])
    found: list[Any] = []
    with Graph().as_default() as graph:
        import_graph_def(needed, name="")
        copy = graph.get_tensor_by_name(variant.name)
        iterator = DatasetV1Adapter(copy, dataset.element_spec).make_initializable_iterator()
        element = iterator.get_next()
        with Session(graph=graph) as session:
            session.run(iterator.initializer)
            while len(found) < FIRST:
                try:
                    found.append(session.run(element))
                except OutOfRangeError:
                    break
    return found


def _text(value: Any) -> str:
    text = str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
