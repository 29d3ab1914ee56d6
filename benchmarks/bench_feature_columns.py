"""How long does a step of a wide and deep model of 50 feature columns take, and building it?

The columns are those of the census tutorial, several times: numbers, buckets of them, words that
are looked up or hashed, crosses, and embeddings of words and crosses; 128 examples a step.
"""

from __future__ import annotations

import gc
import statistics
import time
from typing import Any

import numpy as np
from common import arguments, load, median_call, report

BATCH, NUMBERS, LISTED, HASHED = 128, 8, 8, 8
VOCABULARY = [f"word{number}" for number in range(20)]


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    model(tf)  # Not counted: it imports what the model needs.
    built = []
    for _ in range(5):
        tf.reset_default_graph()
        gc.collect()  # or some of the builds would pay for the graphs before them
        began = time.perf_counter()
        fed, loss, train = model(tf)
        built.append(time.perf_counter() - began)
    batches = [batch(np.random.RandomState(seed)) for seed in range(16)]
    feeds = [{fed[name]: values for name, values in each.items()} for each in batches]
    number = [0]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        first = session.run(loss, feeds[0])

        def step() -> None:
            number[0] += 1
            session.run(train, feeds[number[0] % len(feeds)])

        seconds = median_call(step)
        assert session.run(loss, feeds[0]) < first
    build = statistics.median(built)
    wide, deep = columns(tf)
    count = len({*wide, *deep})
    report("feature_columns", impl, seconds, build_seconds=build, columns=count)


def batch(generator: np.random.RandomState) -> dict[str, np.ndarray]:
    made: dict[str, np.ndarray] = {"label": generator.randint(0, 2, [BATCH, 1]).astype(np.float32)}
    for number in range(NUMBERS):
        made[f"number{number}"] = generator.uniform(0, 90, [BATCH, 1]).astype(np.float32)
    words = np.array([*VOCABULARY, "unknown"], object)
    for name in word_features():
        made[name] = words[generator.randint(0, len(words), [BATCH, 1])]
    return made


def word_features() -> list[str]:
    return [f"listed{n}" for n in range(LISTED)] + [f"hashed{n}" for n in range(HASHED)]


def columns(tf: Any) -> tuple[list[Any], list[Any]]:
    """The columns of the linear part and those of the network."""
    fc = tf.feature_column
    numbers = [fc.numeric_column(f"number{n}") for n in range(NUMBERS)]
    buckets = [fc.bucketized_column(each, [18, 25, 35, 45, 55, 65]) for each in numbers[:5]]
    listed = [
        fc.categorical_column_with_vocabulary_list(f"listed{n}", VOCABULARY) for n in range(LISTED)
    ]
    hashed = [fc.categorical_column_with_hash_bucket(f"hashed{n}", 1000) for n in range(HASHED)]
    crosses = [
        fc.crossed_column([buckets[n], f"listed{n}", f"hashed{n}"], 10_000) for n in range(5)
    ]
    wide = [*buckets, *listed, *hashed, *crosses]
    deep = [
        *numbers,
        *[fc.indicator_column(each) for each in listed],
        *[fc.embedding_column(each, 8) for each in hashed],
    ]
    return wide, deep


def model(tf: Any) -> tuple[dict[str, Any], Any, Any]:
    """Placeholders by feature, the loss, and a training step of both parts."""
    fed = {name: tf.placeholder(tf.string, [None, 1]) for name in word_features()}
    for name in ["label", *(f"number{n}" for n in range(NUMBERS))]:
        fed[name] = tf.placeholder(tf.float32, [None, 1])
    features = {name: tensor for name, tensor in fed.items() if name != "label"}
    wide, deep = columns(tf)
    with tf.variable_scope("linear"):
        logits = tf.feature_column.linear_model(features, wide)
    with tf.variable_scope("dnn"):
        hidden = tf.feature_column.input_layer(features, deep) / 10
        for units in (100, 50):
            weights = tf.get_variable(f"weights{units}", [hidden.shape[1].value, units])
            hidden = tf.nn.relu(tf.matmul(hidden, weights))
        logits += tf.matmul(hidden, tf.get_variable("out", [50, 1]))
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=fed["label"], logits=logits)
    loss = tf.reduce_mean(losses)
    linear = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "linear")
    network = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, "dnn")
    train = tf.group(
        tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=linear),
        tf.train.AdagradOptimizer(0.05).minimize(loss, var_list=network),
    )
    return fed, loss, train


if __name__ == "__main__":
    main()
