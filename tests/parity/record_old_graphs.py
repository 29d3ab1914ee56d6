"""Records what TensorFlow gives for operations that were removed: in graphs of their own time.

.venv-tf/bin/python -m tests.parity.record_old_graphs
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "ops" / "data" / "old_graphs.npz"
IMAGES = (np.arange(24).reshape(2, 2, 3, 2) * 10).astype(np.uint8)
MATRICES = np.arange(24, dtype=np.float32).reshape(2, 3, 4) - 5
STATE, SHAPE = np.array([1, 5, 6, 7]), np.array([4])
# name: (operation, version of graphs that have it, inputs, types of attributes)
CALLS: dict[str, tuple[str, int, list[Any], dict[str, str]]] = {
    "contrast": (
        "AdjustContrast", 1, [IMAGES, np.float32(2), np.float32(10), np.float32(200)],
        {"T": "uint8"},
    ),
    "diag": ("BatchMatrixDiag", 10, [MATRICES], {"T": "float32"}),
    "part": ("BatchMatrixDiagPart", 10, [MATRICES], {"T": "float32"}),
    "set": ("BatchMatrixSetDiag", 10, [MATRICES, MATRICES[:, :, 0]], {"T": "float32"}),
    "band": ("BatchMatrixBandPart", 10, [MATRICES, np.int64(1), np.int64(0)], {"T": "float32"}),
}  # fmt: skip


def arrays(version: str) -> list[tuple[str, str, tuple[str, ...], dict[str, Any]]]:
    """Nodes (name, operation, inputs, attributes) that fill an array and read it again."""

    def op(name: str) -> str:
        return f"TensorArray{name}{version}"

    kind = {"dtype": "float32"}
    nodes: list[tuple[str, str, tuple[str, ...], dict[str, Any]]] = [
        ("array", op(""), ("size",), {**kind, "clear_after_read": False}),
        ("w0", op("Write"), ("array", "zero", "row", "flow"), {"T": "float32"}),
        ("w1", op("Write"), ("array", "one", "row2", "w0"), {"T": "float32"}),
        ("read", op("Read"), ("array", "one", "w1"), kind),
        ("gather", op("Gather"), ("array", "both", "w1"), kind),
        ("concat", op("Concat"), ("array", "w1"), kind),
        ("size_of", op("Size"), ("array", "w1"), {}),
        ("other", op(""), ("size",), {**kind, "clear_after_read": False}),
        ("scatter", op("Scatter"), ("other", "both", "rows", "flow"), {"T": "float32"}),
        ("scattered", op("Read"), ("other", "zero", "scatter"), kind),
        ("third", op(""), ("size",), {**kind, "clear_after_read": False}),
        ("split", op("Split"), ("third", "row", "lengths", "flow"), {"T": "float32"}),
        ("part", op("Read"), ("third", "one", "split"), kind),
    ]
    if not version:
        nodes += [
            ("pack", op("Pack"), ("array", "w1"), kind),
            ("fourth", op(""), ("size",), kind),
            ("unpack", op("Unpack"), ("fourth", "rows", "flow"), {"T": "float32"}),
            ("unpacked", op("Read"), ("fourth", "one", "unpack"), kind),
        ]
    return nodes


FETCHES = ["read", "gather", "concat", "concat:1", "size_of", "scattered", "part"]
MORE = {"": ["pack", "unpacked"], "V2": []}
CONSTANTS: dict[str, Any] = {
    "size": np.int32(2), "zero": np.int32(0), "one": np.int32(1), "flow": np.float32(0),
    "row": np.float32([1, 2, 3]), "row2": np.float32([4, 5, 6]), "both": np.int32([1, 0]),
    "rows": np.float32([[7, 8], [9, 10]]), "lengths": np.int64([1, 2]),
}  # fmt: skip


def graph_def(tf: Any, producer: int, constants: dict[str, Any], nodes: Any) -> Any:
    """A graph of an older version."""
    graph = tf.GraphDef()
    graph.versions.producer = producer
    for name, value in constants.items():
        node = graph.node.add(name=name, op="Const")
        node.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
    for name, op, inputs, attrs in nodes:
        node = graph.node.add(name=name, op=op, input=inputs)
        for key, value in attrs.items():
            if isinstance(value, bool):
                node.attr[key].b = value
            elif isinstance(value, tuple):
                node.attr[key].shape.dim.add(size=value[0])
            elif value.startswith("'"):
                node.attr[key].s = value[1:].encode()
            else:
                node.attr[key].type = tf.as_dtype(value).as_datatype_enum
    return graph


def answers(tf: Any) -> dict[str, np.ndarray]:
    """What either library gives."""
    found = {}
    for name, (op, producer, inputs, attrs) in CALLS.items():
        constants = {f"in{i}": value for i, value in enumerate(inputs)}
        graph = graph_def(tf, producer, constants, [("node", op, tuple(constants), attrs)])
        found[name] = _run(tf, graph, [], ["node"])[0]
    for version, more in MORE.items():
        graph = graph_def(tf, 10, CONSTANTS, arrays(version))
        names = FETCHES + more
        for name, value in zip(names, _run(tf, graph, [], names), strict=True):
            found[f"array{version} {name}"] = value
    generator = [
        ("state", "VarHandleOp", (), {"dtype": "int64", "shape": (4,), "shared_name": "'state"}),
        ("assign", "AssignVariableOp", ("state", "value"), {"dtype": "int64"}),
        ("draw", "StatefulStandardNormal", ("state", "shape"), {}),
        ("after", "ReadVariableOp", ("state", "^draw"), {"dtype": "int64"}),
    ]
    graph = graph_def(tf, 28, {"value": STATE, "shape": SHAPE}, generator)
    found["drawn"], found["state"] = _run(tf, graph, ["assign"], ["draw", "after"])
    return found


def _run(tf: Any, graph: Any, before: list[str], names: list[str]) -> list[np.ndarray]:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph, name="")
        session.run(before)
        fetched = [name if ":" in name else f"{name}:0" for name in names]
        return [np.asarray(value) for value in session.run(fetched)]


def main() -> None:
    """Asks, and keeps the answers."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    np.savez_compressed(DATA, **answers(tf))


if __name__ == "__main__":
    main()
