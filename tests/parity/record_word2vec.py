"""Records what TensorFlow's word2vec operations give: pairs of a text, and vectors trained by them.

    .venv-tf/bin/python -m tests.parity.record_word2vec

Graphs of today cannot have them: they are asked for in one that says it is of 2016.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "ops" / "data" / "word2vec.npz"
PRODUCER = 18
RUNS = 3
# No two words are as frequent: TensorFlow orders such as its hash table does.
WORDS = [word for i in range(1, 25) for word in [f"w{i:02}"] * (i + 3)]
TEXT = " ".join(WORDS[(i * 127) % len(WORDS)] for i in range(len(WORDS)))
TEXTS: dict[str, dict[str, Any]] = {
    "plain": dict(batch_size=40, window_size=3, min_count=6, subsample=0.0),
    "thinned": dict(batch_size=1700, window_size=4, min_count=0, subsample=0.01),
}
# TensorFlow draws words from a seed of the system's: only one can be drawn here.
VOCABULARY = [0, 0, 0, 0, 7]
VECTORS = np.sin(np.arange(5 * 4)).reshape(5, 4).astype(np.float32)
EXAMPLES, LABELS = np.array([0, 1, 2, 0], np.int32), np.array([1, 0, 4, 3], np.int32)
SAMPLES, RATE = 6, 0.2


def _node(graph: Any, name: str, op: str, inputs: tuple[str, ...] = (), **attrs: Any) -> None:
    node = graph.node.add(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        attr = node.attr[key]
        if isinstance(value, bytes):
            attr.s = value
        elif isinstance(value, float):
            attr.f = value
        elif isinstance(value, list):
            attr.list.i.extend(value)
        else:
            attr.i = value


def main() -> None:
    """Asks, and keeps the answers."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    kept = {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "text")
        file.write_text(TEXT)
        for name, attrs in TEXTS.items():
            kept |= _pairs(tf, name, str(file), attrs)
    np.savez_compressed(DATA, **kept, **_trained(tf))


def _pairs(tf: Any, name: str, file: str, attrs: dict[str, Any]) -> dict[str, Any]:
    graph = tf.GraphDef()
    graph.versions.producer = PRODUCER
    _node(graph, "pairs", "Skipgram", filename=file.encode(), **attrs)
    kept: dict[str, Any] = {}
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = [f"pairs:{i}" for i in range(7)]
        fetched = tf.import_graph_def(graph, return_elements=outputs, name="")
        for run in range(RUNS):
            for i, value in enumerate(session.run(fetched)):
                kept[f"{name}.{run}.{i}"] = value.astype(str) if i == 0 else value
    return kept


def _trained(tf: Any) -> dict[str, Any]:
    kept = {}
    with tf.Graph().as_default(), tf.Session() as session:
        one, other = (tf.Variable(v, use_resource=False) for v in (VECTORS, VECTORS[::-1].copy()))
        definition = tf.get_default_graph().as_graph_def()
    definition.versions.producer = PRODUCER
    for i, value in enumerate((EXAMPLES, LABELS, np.float32(RATE))):
        node = definition.node.add(name=f"in{i}", op="Const")
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
        node.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
    inputs = (one.op.name, other.op.name, "in0", "in1", "in2")
    attrs = dict(vocab_count=VOCABULARY, num_negative_samples=SAMPLES)
    _node(definition, "train", "NegTrain", inputs, **attrs)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(definition, name="")
        session.run([one.initializer.name, other.initializer.name])
        for run in range(RUNS):
            session.run("train")
            for i, variable in enumerate((one, other)):
                kept[f"trained.{run}.{i}"] = session.run(variable.op.name + ":0")
    return kept


if __name__ == "__main__":
    main()
