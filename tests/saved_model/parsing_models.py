"""Models of TensorFlow 2 that are served serialized examples, and the examples to serve them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.ops.samples.parsing import EXAMPLES, SEQUENCES

STORED = Path(__file__).parent / "stored_parsing"
# The batches that each model is asked for.
BATCHES: dict[str, list[list[bytes]]] = {
    "examples": [list(EXAMPLES), [EXAMPLES[1]]],
    "sequences": [list(SEQUENCES), [SEQUENCES[1]]],
    "one_by_one": [list(SEQUENCES), [SEQUENCES[0]]],
    "classifier": [list(EXAMPLES), [EXAMPLES[2]]],
    "vectorizer": [[b"The cat, the dog!", b"a dog ran"], [b"unheard of"]],
}


def parsed_examples(tf: Any, serialized: Any) -> dict[str, Any]:
    """Features of every form, words that are cleaned and looked up in ragged rows."""
    io = tf.io
    features = {
        "f": io.FixedLenFeature([2], tf.float32),
        "one": io.VarLenFeature(tf.string),
        "s": io.RaggedFeature(tf.string),
        "i": io.RaggedFeature(tf.int64, row_splits_dtype=tf.int64),
        "missing": io.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    }
    found = io.parse_example(serialized, features)
    words = tf.strings.upper(tf.strings.regex_replace(found["s"], "y+", "z"))
    return {
        "sums": tf.reduce_sum(found["f"], 1),
        "lengths": tf.strings.length(tf.sparse.to_dense(found["one"])),
        "words": words.to_tensor("-"),
        "totals": tf.reduce_sum(found["i"], 1),
        "missing": found["missing"],
    }


def parsed_sequences(tf: Any, serialized: Any) -> dict[str, Any]:
    """Context and lists, dense, sparse and ragged."""
    io = tf.io
    context, lists, lengths = io.parse_sequence_example(
        serialized,
        {"c": io.FixedLenFeature([], tf.int64), "v": io.RaggedFeature(tf.float32)},
        {"t": io.FixedLenSequenceFeature([2], tf.int64), "w": io.RaggedFeature(tf.string)},
    )
    return {
        "c": context["c"],
        "v": tf.reduce_sum(context["v"], 1),
        "t": lists["t"],
        "steps": lengths["t"],
        "w": tf.strings.reduce_join(lists["w"], -1, separator="+").to_tensor("none"),
    }


def parsed_one_by_one(tf: Any, serialized: Any) -> dict[str, Any]:
    """A sequence example at a time, in a loop."""

    def first_row(one: Any) -> Any:
        context, lists = tf.io.parse_single_sequence_example(
            one,
            {"c": tf.io.FixedLenFeature([], tf.int64)},
            {"t": tf.io.FixedLenSequenceFeature([2], tf.int64)},
        )
        return lists["t"][0] * context["c"]

    return {"rows": tf.map_fn(first_row, serialized, fn_output_signature=tf.int64)}


SERVED = {
    "examples": parsed_examples,
    "sequences": parsed_sequences,
    "one_by_one": parsed_one_by_one,
}


def save_served(tf: Any, name: str, folder: str) -> None:
    """An object of TensorFlow 2 whose signature is one of the functions above."""
    module, spec = tf.Module(), tf.TensorSpec([None], tf.string, name="examples")
    module.serve = tf.function(lambda examples: SERVED[name](tf, examples), input_signature=[spec])
    tf.saved_model.save(module, folder, signatures=module.serve)


def save_classifier(tf: Any, folder: str) -> None:
    """A graph with feature columns and a signature to classify, as an Estimator exports it."""
    v1, columns = tf.compat.v1, tf.feature_column
    words = columns.categorical_column_with_vocabulary_list("s", ["x", "yy"])
    numbers = columns.categorical_column_with_identity("i", 4, 0)
    used = [columns.numeric_column("f", (2,)), columns.indicator_column(words)]
    used.append(columns.embedding_column(numbers, 2, initializer=tf.ones_initializer()))
    with v1.Graph().as_default(), v1.Session() as session:
        examples = v1.placeholder(tf.string, [None], name="input_example_tensor")
        found = v1.io.parse_example(examples, columns.make_parse_example_spec(used))
        inputs = v1.feature_column.input_layer(found, used)
        weights = v1.get_variable("w", initializer=[[0.5, -1.0], [2.0, 0.0], [1.0, 1.5]] * 2)
        scores = tf.nn.softmax(tf.matmul(inputs, weights))
        labels = tf.tile(tf.constant([["no", "yes"]]), [tf.shape(scores)[0], 1])
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        made = v1.saved_model.signature_def_utils
        signature = made.classification_signature_def(examples, labels, scores)
        builder = v1.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, main_op=v1.tables_initializer()
        )
        builder.save()


def save_vectorizer(tf: Any, folder: str) -> None:
    """Words to numbers by a table that was adapted, as Keras 3 exports it."""
    keras = tf.keras
    layer = keras.layers.TextVectorization(output_sequence_length=4, ngrams=2)
    layer.adapt(tf.constant(["the cat sat", "a dog ran"]))
    keras.Sequential([keras.Input((), dtype="string"), layer]).export(folder, verbose=False)


OTHERS = {"classifier": save_classifier, "vectorizer": save_vectorizer}


def answers(v1: Any, name: str, folder: str) -> list[dict[str, Any]]:
    """What a session computes of each batch; `v1` is TensorFlow or weft."""
    with v1.Graph().as_default(), v1.Session() as session:
        loaded = v1.saved_model.loader.load(session, ["serve"], folder)
        signature = loaded.signature_def["serving_default"]
        (fed,) = (info.name for info in signature.inputs.values())
        fetches = {alias: info.name for alias, info in signature.outputs.items()}
        return [session.run(fetches, {fed: batch}) for batch in BATCHES[name]]
