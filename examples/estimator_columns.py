# %% [markdown]
# # An Estimator with feature columns
#
# Does somebody go by bicycle today? Columns of a table, numbers and words, become inputs of a wide
# and deep network. As a program: `python examples/estimator_columns.py [--steps 300]`

# %%
import argparse
import tempfile

import numpy as np

import weft as tf

parser = argparse.ArgumentParser(description="Train an Estimator on a table.")
parser.add_argument("--steps", type=int, default=300, help="steps of training (300)")
options, _ = parser.parse_known_args()
tf.logging.set_verbosity(tf.logging.ERROR)

# %% [markdown]
# The table is made here. Who lives near goes by bicycle unless it rains; on weekends distance
# matters less; some towns have hills.

# %%
DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
TOWNS = ["ulm", "jena", "kiel", "bonn", "trier", "celle"]


def table(count, seed):
    """(columns by name, whether each of the people goes by bicycle)."""
    rng = np.random.default_rng(seed)
    columns = {
        "distance": rng.exponential(6, count).astype(np.float32),
        "rain": np.maximum(0, rng.normal(0, 4, count)).astype(np.float32),
        "day": rng.choice(DAYS, count),
        "town": rng.choice(TOWNS, count),
    }
    wish = 5 - columns["distance"] - columns["rain"]
    wish += 3 * np.isin(columns["day"], ["sat", "sun"]) - 2 * np.isin(columns["town"], ["ulm"])
    return columns, (wish + rng.normal(0, 0.5, count) > 0).astype(np.int64)


def input_of(columns, answers, repeats=None):
    """An input function over a table."""

    def give():
        dataset = tf.data.Dataset.from_tensor_slices((columns, answers))
        if repeats is None:
            dataset = dataset.shuffle(1000, seed=1).repeat()
        return dataset.batch(64)

    return give


# %% [markdown]
# Columns say what each name of the table is to the network.

# %%
distance = tf.feature_column.numeric_column("distance")
rain = tf.feature_column.numeric_column("rain")
near = tf.feature_column.bucketized_column(distance, [1.0, 3.0, 5.0, 8.0, 12.0])
day = tf.feature_column.categorical_column_with_vocabulary_list("day", DAYS)
town = tf.feature_column.categorical_column_with_hash_bucket("town", 20)
wide = [near, day, tf.feature_column.crossed_column([near, "day"], 100)]
deep = [
    distance,
    rain,
    tf.feature_column.indicator_column(day),
    tf.feature_column.embedding_column(town, 4),
]

# %%
estimator = tf.estimator.DNNLinearCombinedClassifier(
    model_dir=tempfile.mkdtemp(prefix="estimator_columns_"),
    linear_feature_columns=wide,
    dnn_feature_columns=deep,
    dnn_hidden_units=[32, 16],
    dnn_optimizer=tf.train.AdamOptimizer(0.01),
    config=tf.estimator.RunConfig(tf_random_seed=1),
)
train_spec = tf.estimator.TrainSpec(input_of(*table(4000, seed=1)), max_steps=options.steps)
eval_spec = tf.estimator.EvalSpec(input_of(*table(500, seed=2), repeats=1), steps=None)
scores, _ = tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
print(f"Test accuracy: {scores['accuracy']:.3f}, area under the curve: {scores['auc']:.3f}")

# %%
people = {
    "distance": np.array([1.0, 1.0, 9.0], np.float32),
    "rain": np.array([0.0, 9.0, 0.0], np.float32),
    "day": np.array(["mon", "mon", "sun"]),
    "town": np.array(["kiel", "kiel", "ulm"]),
}
asked = tf.estimator.inputs.numpy_input_fn(people, batch_size=3, shuffle=False)
for i, answer in enumerate(estimator.predict(asked)):
    about = ", ".join(str(column[i]) for column in people.values())
    print(f"{about}: goes by bicycle with {answer['probabilities'][1]:.0%}")
