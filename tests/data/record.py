"""Runs the programs in TensorFlow and keeps what comes out, and the graphs.

.venv-tf/bin/python -m tests.data.record

`recorded/values.json` has the elements, types and shapes; `recorded/<name>.pb` the GraphDefs.
"""

from __future__ import annotations

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

import json
import tempfile
import warnings
from pathlib import Path
from typing import Any

import tensorflow.compat.v1 as tf

from tests.data.elements import drain, plain, shown
from tests.data.programs import LOCAL, NEWER, PROGRAMS, write_files

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.ERROR)
FOLDER = Path(__file__).parent / "recorded"


def record(name: str, folder: str) -> dict[str, Any]:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        dataset = PROGRAMS[name](tf, folder)
        iterator = tf.data.make_initializable_iterator(dataset)
        element = iterator.get_next()
        flat = tf.nest.flatten(element, expand_composites=True)
        fetches = [tensor.name for tensor in flat]
        session.run(iterator.initializer)
        found = {
            "types": shown(tf.data.get_output_types(dataset)),
            "shapes": shown(tf.data.get_output_shapes(dataset)),
            "elements": [plain(each) for each in drain(tf, session, element)],
            "initializer": iterator.initializer.name,
            "fetches": fetches,
        }
        if name not in LOCAL | NEWER and not _reads_files(graph):
            stripped = tf.train.export_meta_graph(graph=graph, strip_default_attrs=True).graph_def
            (FOLDER / f"{name}.pb").write_bytes(stripped.SerializeToString(deterministic=True))
    return found


def _reads_files(graph: Any) -> bool:
    functions = graph.as_graph_def().library.function
    kinds = {op.type for op in graph.get_operations()}
    kinds |= {node.op for function in functions for node in function.node_def}
    return any("File" in kind or "Record" in kind or "TextLine" in kind for kind in kinds)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        write_files(tf, folder)
        values = {name: record(name, folder) for name in PROGRAMS}
    text = json.dumps(values, indent=1, sort_keys=True)
    (FOLDER / "values.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
