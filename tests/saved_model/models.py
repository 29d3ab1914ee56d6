"""Models that TensorFlow and weft both build, export and run; `tf` is either of them.

A case is a function that exports a model to a folder, what to ask the loaded model, and whether
the message is written as text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"
WORDS = "emerson\nlake\npalmer\n"
ROWS = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]], np.float32)


def _initialized(tf: Any) -> Any:
    session = tf.Session()
    session.run([tf.global_variables_initializer(), tf.tables_initializer()])
    return session


def _linear(tf: Any) -> tuple[Any, Any]:
    """Variables of both kinds and one in slices."""
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    weights = tf.get_variable("w", initializer=tf.constant([[0.5], [-1.0], [2.0]]))
    bias = tf.get_variable("b", initializer=tf.constant([0.25]), use_resource=True)
    parts = tf.get_variable(
        "parts",
        [4],
        initializer=tf.constant_initializer(2.5),
        partitioner=tf.fixed_size_partitioner(2),
    )
    y = tf.add(tf.matmul(x, weights) + bias, tf.reduce_sum(parts), name="y")
    return x, y


def simple(tf: Any, folder: Path) -> None:
    """tf.saved_model.simple_save."""
    x, y = _linear(tf)
    with _initialized(tf) as session:
        tf.saved_model.simple_save(session, str(folder), {"x": x}, {"y": y})


def words(tf: Any, folder: Path) -> None:
    """A vocabulary file that travels as an asset, a main op, two graphs, three signatures."""
    source = folder.parent / "words.txt"
    source.write_text(WORDS)
    saved_model = tf.saved_model
    builder = saved_model.builder.SavedModelBuilder(str(folder))
    file = tf.constant(str(source), name="vocabulary")
    tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, file)
    table = tf.lookup.StaticHashTable(
        tf.lookup.TextFileInitializer(
            file, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
        ),
        -1,
    )  # fmt: skip
    examples = tf.placeholder(tf.string, [None], name="examples")
    # tf.parse_example adds an op here that TensorFlow 1.15 does not have.
    parsed = tf.raw_ops.ParseExample(
        serialized=examples, names=[], sparse_keys=[], dense_keys=["word"], dense_defaults=[b""],
        sparse_types=[], dense_shapes=[[]],
    )  # fmt: skip
    ids = table.lookup(parsed[-1][0])
    scale = tf.get_variable("scale", initializer=2.0)
    score = tf.multiply(tf.cast(ids, tf.float32), scale, name="score")
    sparse = tf.sparse_placeholder(tf.float32, [None, None], name="sparse")
    total = tf.reduce_sum(tf.sparse_tensor_to_dense(sparse), 1) * scale
    signatures = {
        "regress": saved_model.signature_def_utils.regression_signature_def(examples, score),
        "classify": saved_model.signature_def_utils.classification_signature_def(
            examples, tf.as_string(ids), score
        ),
        "sparse": saved_model.signature_def_utils.build_signature_def(
            {"s": saved_model.utils.build_tensor_info(sparse)},
            {"t": saved_model.utils.build_tensor_info(total)},
            saved_model.signature_constants.PREDICT_METHOD_NAME,
        ),
    }
    with _initialized(tf) as session:
        builder.add_meta_graph_and_variables(
            session,
            [saved_model.tag_constants.SERVING],
            signatures,
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
            strip_default_attrs=True,
        )
    with tf.Graph().as_default():
        other = tf.get_variable("scale", initializer=7.0)
        doubled = tf.multiply(other, 2.0, name="doubled")
        info = saved_model.utils.build_tensor_info(doubled)
        signature = saved_model.signature_def_utils.build_signature_def(None, {"d": info}, "own")
        builder.add_meta_graph(["train", "gpu"], {"double": signature})
    builder.save(as_text=True)


def bags(tf: Any, folder: Path) -> None:
    """A ragged input and a ragged output."""
    rows = tf.ragged.placeholder(tf.int64, 1, [], name="rows")
    table = tf.get_variable("table", initializer=[[1.0], [20.0], [300.0]])
    vectors = tf.ragged.map_flat_values(tf.gather, table, rows)
    outputs = {"sums": tf.reduce_sum(vectors, axis=1), "next": rows + 1}
    with _initialized(tf) as session:
        tf.saved_model.simple_save(session, str(folder), {"rows": rows}, outputs)


def example(word: str) -> bytes:
    """A serialized tf.Example with one feature."""
    value = word.encode()
    feature = b"\x0a" + bytes([len(value) + 2]) + b"\x0a" + bytes([len(value)]) + value
    entry = b"\x0a\x04word\x12" + bytes([len(feature)]) + feature
    features = b"\x0a" + bytes([len(entry)]) + entry
    return b"\x0a" + bytes([len(features)]) + features


@dataclass(frozen=True)
class Rows:
    """A ragged value to feed."""

    values: np.ndarray
    splits: np.ndarray


@dataclass(frozen=True)
class Ask:
    """One run of a signature of a loaded model."""

    tags: tuple[str, ...]
    signature: str
    inputs: dict[str, Any]


EXAMPLES = [example("lake"), example("nobody"), example("palmer")]
SPARSE = (np.array([[0, 1], [1, 0], [1, 2]]), np.float32([1, 2, 4]), np.array([2, 3]))
CASES: dict[str, tuple[Callable[[Any, Path], None], list[Ask]]] = {
    "simple": (simple, [Ask(("serve",), "serving_default", {"x": ROWS})]),
    "words": (
        words,
        [
            Ask(("serve",), "regress", {"inputs": EXAMPLES}),
            Ask(("serve",), "classify", {"inputs": EXAMPLES}),
            Ask(("serve",), "sparse", {"s": SPARSE}),
            Ask(("train", "gpu"), "double", {}),
        ],
    ),
    "bags": (
        bags,
        [
            Ask(
                ("serve",),
                "serving_default",
                {"rows": Rows(np.array([2, 0, 1]), np.array([0, 2, 2, 3]))},
            )
        ],
    ),
}


def answers(tf: Any, folder: Path, asks: list[Ask]) -> list[dict[str, Any]]:
    """What the model in `folder` gives, each time loaded into a session of its own."""
    found = []
    tensor = tf.saved_model.utils.get_tensor_from_tensor_info
    for ask in asks:
        with tf.Graph().as_default(), tf.Session() as session:
            graph = tf.saved_model.loader.load(session, list(ask.tags), str(folder))
            signature = graph.signature_def[ask.signature]
            feeds = {tensor(signature.inputs[k]): _fed(tf, v) for k, v in ask.inputs.items()}
            fetches = {key: tensor(info) for key, info in signature.outputs.items()}
            values = session.run(fetches, feeds)
            found.append({key: _plain(value) for key, value in values.items()})
    return found


def _fed(tf: Any, value: Any) -> Any:
    if isinstance(value, Rows):
        return tf.ragged.RaggedTensorValue(value.values, value.splits)
    return value


def _plain(value: Any) -> Any:
    return value.to_list() if hasattr(value, "to_list") else np.asarray(value).tolist()
