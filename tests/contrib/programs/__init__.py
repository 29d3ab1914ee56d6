"""Small programs of `tf.contrib`, run by weft and by TensorFlow 1.15: nodes and seeded values.

`tests/contrib/record_programs.py` writes down what TensorFlow 1.15.5 makes of them.
"""

from __future__ import annotations

import gzip
import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.parity import calls

HERE = Path(__file__).parent
RECORDED = HERE.parent / "recorded_programs"
FAMILIES = (
    "cells",
    "images",
    "layers",
    "learn",
    "losses",
    "seq2seq",
    "distributions",
    "optimizers",
)

# Nodes that only training needs; they are compared where gradients are.
_OF_TRAINING = ("gradients", "GradientDescent", "/f_count", "StackPush")


def programs_of(family: str) -> dict[str, Any]:
    """The programs of a family: functions of a module, or texts between empty lines."""
    texts = HERE / (family + ".txt")
    if texts.exists():
        return {text: text for text in texts.read_text().strip().split("\n\n")}
    module = importlib.import_module("tests.contrib.programs." + family)
    programs: dict[str, Any] = module.PROGRAMS
    return programs


def outcome(tf: Any, program: Any) -> dict[str, Any]:
    """What `program` makes: its nodes in order, the variables at first, what it fetches.

    A text is played as those of `tests/parity/calls` are. A function returns what to fetch, and a
    loss or None; with a loss, it is trained for three steps and fetched once more.
    """
    if isinstance(program, str):
        return calls.play(tf, program)
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(7)
        np.random.seed(3)
        fetches, loss = program(tf)
        train = None if loss is None else tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        nodes = [f"{op.type} {op.name}" for op in graph.get_operations()]
        with tf.Session() as sess:
            for name in ("global_variables", "local_variables"):
                sess.run(getattr(tf, name + "_initializer")())
            sess.run(tf.tables_initializer())
            values = sess.run([tf.global_variables(), fetches])
            if train is not None:
                for _ in range(3):
                    sess.run(train)
                values.append(sess.run(fetches))
    init = ("init", "init_1", "init_all_tables")
    kept = [
        node
        for node in nodes
        if not any(part in node for part in _OF_TRAINING) and node.split()[1] not in init
    ]
    return {"nodes": kept, "values": calls._plain(values)}


def write(family: str, outcomes: dict[str, Any]) -> None:
    RECORDED.mkdir(exist_ok=True)
    text = json.dumps(outcomes, sort_keys=True)
    with open(RECORDED / (family + ".json.gz"), "wb") as file:
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0, filename="") as packed:
            packed.write(text.encode())


def read(family: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        gzip.decompress((RECORDED / (family + ".json.gz")).read_bytes())
    )
    return found
