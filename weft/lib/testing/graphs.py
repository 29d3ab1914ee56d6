"""tf.test.assert_equal_graph_def: whether two GraphDefs describe the same graph."""

from __future__ import annotations

import re
from typing import Any

_RANDOM_SHARD = re.compile(rb"_temp_[0-9a-z]{32}/part")
_RANDOM_TABLE = re.compile(rb"hash_table_[0-9a-z\-]+")


def assert_equal_graph_def(
    actual: Any, expected: Any, checkpoint_v2: bool = False, hash_table_shared_name: bool = False
) -> None:
    """Raises AssertionError unless both have the same nodes.

    The order of nodes, attributes and control inputs does not count, nor do versions. The two
    options ignore names that a saver or a table makes up anew each time.
    """
    from tensorboard.compat.proto.graph_pb2 import GraphDef

    for name, graph_def in (("actual", actual), ("expected", expected)):
        if not isinstance(graph_def, GraphDef):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(graph_def).__name__}")
    found = _nodes(actual, checkpoint_v2, hash_table_shared_name)
    wanted = _nodes(expected, checkpoint_v2, hash_table_shared_name)
    for name, node in wanted.items():
        if name not in found:
            raise AssertionError(f"Did not find expected node '{name}'. Expected:\n{_text(node)}")
        if difference := _difference(found[name], node):
            raise AssertionError(f"{difference}\nActual:\n{_text(found[name])}\n"
                                 f"Expected:\n{_text(node)}")  # fmt: skip
    for name, node in found.items():
        if name not in wanted:
            raise AssertionError(f"Found unexpected node '{name}':\n{_text(node)}")


def _text(node: Any) -> str:
    return str(node).rstrip()


def _nodes(graph_def: Any, any_shard: bool, any_table: bool) -> dict[str, Any]:
    found = {}
    for original in graph_def.node:
        node = type(original)()
        node.CopyFrom(original)
        if any_shard:
            for key in [key for key, attr in node.attr.items() if _is_random_shard(attr)]:
                del node.attr[key]
        if any_table and node.op == "HashTableV2":
            if _RANDOM_TABLE.match(node.attr["shared_name"].s):
                del node.attr["shared_name"]
        found[node.name] = node
    return found


def _is_random_shard(attr: Any) -> bool:
    strings = attr.tensor.string_val
    return len(strings) == 1 and _RANDOM_SHARD.match(strings[0]) is not None


def _difference(actual: Any, expected: Any) -> str:
    """The first way in which two nodes of one name differ, or ""."""
    where = f"Node named '{actual.name}'"
    for field in ("op", "device"):
        found, wanted = getattr(actual, field), getattr(expected, field)
        if found != wanted:
            return f"{where} has {field} '{found}' that is not expected '{wanted}'"
    for what, keep in (("inputs", False), ("control inputs", True)):
        found = [name for name in actual.input if name.startswith("^") == keep]
        wanted = [name for name in expected.input if name.startswith("^") == keep]
        if keep:
            found, wanted = sorted(found), sorted(wanted)
        # The first output may be written with or without its number.
        if [_plain(n) for n in found] != [_plain(n) for n in wanted]:
            return f"{where} has {what} {found} that do not match expected {wanted}"
    # Attributes that start with an underscore are notes to the runtime.
    names = {key for node in (actual, expected) for key in node.attr if not key.startswith("_")}
    for key in sorted(names):
        if key not in actual.attr:
            return f"{where} missing expected attr '{key}'"
        if key not in expected.attr:
            return f"{where} has unexpected attr '{key}'"
        if not _same_attr(actual.attr[key], expected.attr[key]):
            return f"{where} has attr '{key}' with value that does not match expected"
    return ""


def _plain(name: str) -> str:
    return name[:-2] if name.endswith(":0") else name


def _same_attr(actual: Any, expected: Any) -> bool:
    if actual == expected:
        return True
    if actual.WhichOneof("value") != "tensor" or expected.WhichOneof("value") != "tensor":
        return False
    # The same array can be written in more than one way.
    import numpy as np

    from weft.graph.tensor_proto import proto_to_array

    a, b = proto_to_array(actual.tensor), proto_to_array(expected.tensor)
    same = a == b if a.dtype.kind in "OSU" else (a == b) | ((a != a) & (b != b))
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.all(same))
