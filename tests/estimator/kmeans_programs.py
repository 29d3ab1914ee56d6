"""K-means that runs on TensorFlow as on weft, giving what is compared.

    VENV/bin/python -m tests.estimator.kmeans_programs

writes `kmeans_recorded.json` with TensorFlow 2.15 (see record.py), whose `clustering_ops` is the
graph of `tf.contrib.factorization`.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.estimator.programs import scalar_tags

RECORDED = Path(__file__).parent / "kmeans_recorded.json"
# What TensorFlow 2.15 makes of any seed where the graph has none.
SEED = 87654321
POINTS = np.random.RandomState(4).uniform(-3, 3, (40, 3)).astype(np.float32)
CENTERS = np.array([[0.5, 0, 0], [0, 0.5, 0], [-0.5, 0, 0.1]], np.float32)


def plain(value: Any) -> Any:
    """A value as JSON can hold it, with no more digits than are compared."""
    value = np.asarray(value)
    return (np.round(value.astype(np.float64), 6) if value.dtype.kind == "f" else value).tolist()


def some(inputs: Any, missing: Any) -> Any:
    """Centers by a function: two points at a time."""
    return inputs[0][:2]


GRAPHS: dict[str, dict[str, Any]] = {
    "random": {"num_clusters": 4},
    "random_small_batch": {"num_clusters": 30},
    "plus_plus": {"num_clusters": 5, "initial_clusters": "kmeans_plus_plus"},
    "given": {"num_clusters": 9, "initial_clusters": CENTERS},
    "function": {"num_clusters": 4, "initial_clusters": some},
    # One chain fits into a batch: the ends of several race for one place.
    "kmc2": {"num_clusters": 4, "initial_clusters": "kmc2", "kmc2_chain_length": 25},
    "kmc2_long": {"num_clusters": 3, "initial_clusters": "kmc2"},
    "cosine": {
        "num_clusters": 4, "initial_clusters": "kmeans_plus_plus", "distance_metric": "cosine",
    },
    "cosine_kmc2": {
        "num_clusters": 4, "initial_clusters": "kmc2", "kmc2_chain_length": 21,
        "distance_metric": "cosine",
    },
}  # fmt: skip

ESTIMATORS: dict[str, dict[str, Any]] = {
    "random": {"num_clusters": 4, "seed": 3, "use_mini_batch": False},
    "plus_plus": {
        "num_clusters": 4, "initial_clusters": "kmeans_plus_plus", "use_mini_batch": False,
        "kmeans_plus_plus_num_retries": 0, "seed": 5,
    },
    "cosine": {
        "num_clusters": 3, "initial_clusters": CENTERS, "distance_metric": "cosine",
        "use_mini_batch": False,
    },
    "tolerance": {
        "num_clusters": 3, "initial_clusters": CENTERS, "use_mini_batch": False,
        "relative_tolerance": 0.02,
    },
}  # fmt: skip


def graph(tf: Any, kmeans: Any, name: str, shards: int) -> dict[str, Any]:
    """Chooses centers, then moves them; `kmeans` is the class that makes the graph."""
    inputs = [tf.constant(part) for part in np.array_split(POINTS, shards)]
    made = kmeans(inputs, random_seed=SEED, **GRAPHS[name]).training_graph()
    everywhere, index, distances, initialized, init_op, train_op = made
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        centers = tf.global_variables()[0]
        begun = []
        while not session.run(initialized):
            session.run(init_op)
            begun.append(plain(session.run(centers)))
        for _ in range(4):
            session.run(train_op)
        found = session.run([centers, *everywhere, *index, *distances])
    names = [variable.op.name for variable in tf.global_variables()]
    return {"names": names, "begun": begun, "found": [plain(each) for each in found]}


def input_fn(tf: Any) -> Any:
    def points() -> Any:
        return tf.train.limit_epochs(tf.convert_to_tensor(POINTS), num_epochs=1)

    return points


def estimator(tf: Any, name: str, folder: str) -> dict[str, Any]:
    """All that the Estimator can be asked for after a few steps on all points."""
    config = tf.estimator.RunConfig(model_dir=folder, tf_random_seed=11, save_summary_steps=1)
    made = tf.estimator.experimental.KMeans(config=config, **ESTIMATORS[name])
    losses = []
    for _ in range(3):
        made.train(lambda: tf.convert_to_tensor(POINTS), steps=1)
        losses.append(plain(made.score(input_fn(tf))))
    made.train(lambda: tf.convert_to_tensor(POINTS), steps=20)
    return {
        "losses": losses,
        "variables": {each: plain(made.get_variable_value(each)) for each in
                      made.get_variable_names()},
        "centers": plain(made.cluster_centers()),
        "index": plain(list(made.predict_cluster_index(input_fn(tf)))),
        "transform": plain(list(made.transform(input_fn(tf)))),
        "tags": scalar_tags(tf, folder),
    }  # fmt: skip


def main() -> None:
    import tensorflow
    from tensorflow.python.ops.clustering_ops import KMeans

    tf = tensorflow.compat.v1
    tf.disable_v2_behavior()
    recorded: dict[str, Any] = {"graphs": {}, "estimators": {}}
    for name in GRAPHS:
        for shards in (1, 2):
            with tf.Graph().as_default():
                recorded["graphs"][f"{name}/{shards}"] = graph(tf, KMeans, name, shards)
    for name in ESTIMATORS:
        with tempfile.TemporaryDirectory() as folder:
            recorded["estimators"][name] = estimator(tf, name, folder)
    RECORDED.write_text(json.dumps(recorded, sort_keys=True))


if __name__ == "__main__":
    main()
