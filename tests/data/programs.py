"""Pipelines that run the same in weft and in TensorFlow: `program(tf, folder)` gives a dataset.

What comes out of each in TensorFlow is in `recorded/` (see record.py).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

Program = Callable[[Any, str], Any]
PROGRAMS: dict[str, Program] = {}
# Programs whose functions are Python's: their graphs mean nothing elsewhere.
LOCAL = {"generator", "generator_args", "py_func"}
# Where 1.15 gives other elements than later versions: a graph's seed numbers operations, and
# repeated shuffles are fused.
OLDER = {"shuffled", "shuffled_by_graph_seed", "shuffled_twice", "shuffled_whole"}
# Programs that TensorFlow writes with operations that 1.15 did not have.
NEWER = {
    "cache", "csv", "enumerated", "generator", "parallel_interleave", "parallel_map", "pieces",
    "records", "text_files",
}  # fmt: skip


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def files(folder: str) -> tuple[str, str]:
    """A text file and a record file that programs read."""
    return os.path.join(folder, "lines.txt"), os.path.join(folder, "records")


def write_files(tf: Any, folder: str) -> None:
    lines, records = files(folder)
    with open(lines, "w") as file:
        file.write("1,a\n2,b\r\n3,\n4,d")
    with tf.python_io.TFRecordWriter(records) as writer:
        for i in range(7):
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i / 2])),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i] * (i % 3))),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())


# ---- sources and choice --------------------------------------------------------------------------


@program
def range_(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(7, -3, -3)


@program
def structured(tf: Any, folder: str) -> Any:
    parts = {"b": np.arange(6.0), "a": (np.array(["x", "yy", ""] * 2), np.eye(6, dtype=np.int32))}
    return tf.data.Dataset.from_tensor_slices(parts).skip(1).take(4)


@program
def sparse(tf: Any, folder: str) -> Any:
    value = tf.SparseTensorValue([[0, 1], [2, 0], [2, 3]], [1.0, 2.0, 3.0], [4, 5])
    return tf.data.Dataset.from_tensor_slices(value).batch(3)


@program
def concatenated(tf: Any, folder: str) -> Any:
    ones = tf.data.Dataset.from_tensors(np.ones([2, 3]))
    return ones.repeat(2).concatenate(tf.data.Dataset.from_tensors(np.zeros([4, 3])))


@program
def zipped(tf: Any, folder: str) -> Any:
    numbers = tf.data.Dataset.range(10)
    return tf.data.Dataset.zip((numbers.shard(3, 1), {"n": numbers.repeat(2)})).batch(2)


@program
def enumerated(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).enumerate(start=5)


# ---- shuffling -----------------------------------------------------------------------------------


@program
def shuffled(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(20).shuffle(6, seed=7).repeat(2)


@program
def shuffled_whole(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(9).shuffle(100, seed=42).repeat(3).batch(4)


@program
def shuffled_alike(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(8).shuffle(5, seed=1, reshuffle_each_iteration=False).repeat(2)


@program
def shuffled_by_graph_seed(tf: Any, folder: str) -> Any:
    tf.set_random_seed(3)
    return tf.data.Dataset.range(10).shuffle(100)


@program
def shuffled_twice(tf: Any, folder: str) -> Any:
    dataset = tf.data.Dataset.range(12).shuffle(4, seed=2).shuffle(3, seed=5)
    return dataset.repeat(2).batch(5, drop_remainder=True)


@program
def random_numbers(tf: Any, folder: str) -> Any:
    return tf.data.experimental.RandomDataset(seed=4).take(9)


@program
def sampled(tf: Any, folder: str) -> Any:
    parts = [tf.data.Dataset.from_tensors(i).repeat(10) for i in range(3)]
    return tf.data.experimental.sample_from_datasets(parts, [0.5, 0.3, 0.2], seed=6)


# ---- functions -----------------------------------------------------------------------------------


@program
def mapped(tf: Any, folder: str) -> Any:
    offset = tf.constant([1.0, 2.0])
    return tf.data.Dataset.range(5).map(lambda x: (x * x, tf.cast(x, tf.float32) + offset))


@program
def mapped_batches(tf: Any, folder: str) -> Any:
    rows = np.arange(42, dtype=np.uint8).reshape(7, 3, 2)
    dataset = tf.data.Dataset.from_tensor_slices((rows, np.arange(7, dtype=np.int32) % 4))

    def prepared(x: Any, y: Any) -> Any:
        x = tf.cast(x, tf.float32) / 255.0
        flat = tf.reshape(x, [6]) - tf.constant([0.5])
        return {
            "flat": flat, "top": x[0], "turned": tf.transpose(x, [1, 0])[:, ::-1],
            "sum": tf.reduce_sum(x, axis=-1), "hot": tf.one_hot(y, 4), "y": y + 1,
            "both": tf.stack([x[0, 0], x[1, 1]]), "wide": tf.expand_dims(y, 0) * tf.range(3),
        }  # fmt: skip

    return dataset.map(prepared).batch(3)


@program
def mapped_random(tf: Any, folder: str) -> Any:
    def draw(x: Any) -> Any:
        return x + tf.random_uniform([], 0, 1000, tf.int64, seed=9)

    return tf.data.Dataset.range(4).map(draw).repeat(2)


@program
def parallel_map(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(9).map(lambda x: x * 2 + 1, num_parallel_calls=3).prefetch(2)


@program
def filtered(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(20).filter(lambda x: tf.less(x % 5, 2)).batch(3)


@program
def flat_mapped(tf: Any, folder: str) -> Any:
    numbers = tf.data.Dataset.range
    return numbers(5).flat_map(lambda n: numbers(n).map(lambda i: (n, i * 10)))


@program
def interleaved(tf: Any, folder: str) -> Any:
    numbers = tf.data.Dataset.range
    return numbers(1, 6).interleave(lambda n: numbers(n), cycle_length=3, block_length=2)


@program
def parallel_interleave(tf: Any, folder: str) -> Any:
    numbers = tf.data.Dataset.range
    return numbers(1, 6).interleave(lambda n: numbers(n), 2, 2, num_parallel_calls=2)


@program
def scanned(tf: Any, folder: str) -> Any:
    fibonacci = tf.data.experimental.scan((0, 1), lambda s, _: ((s[1], s[0] + s[1]), s[1]))
    return tf.data.Dataset.from_tensors(0).repeat(9).apply(fibonacci)


@program
def taken_while(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(10).apply(tf.data.experimental.take_while(lambda x: x < 4))


@program
def generator(tf: Any, folder: str) -> Any:
    def generate() -> Any:
        for i in range(5):
            yield {"n": i, "row": [i / 2] * i, "text": "x" * i}

    types = {"n": tf.int32, "row": tf.float32, "text": tf.string}
    shapes = {"n": [], "row": [None], "text": []}
    dataset = tf.data.Dataset.from_generator(generate, types, shapes).repeat(2)
    return dataset.padded_batch(3, shapes)


@program
def generator_args(tf: Any, folder: str) -> Any:
    def generate(first: Any, texts: Any) -> Any:
        for text in texts:
            yield first, text + b"!"

    args = np.array([1, 2]), np.array(["a", "b"])
    return tf.data.Dataset.from_generator(generate, (tf.int64, tf.string), args=args)


@program
def py_func(tf: Any, folder: str) -> Any:
    def python(x: Any) -> Any:
        return np.float64(x) * 0.5, b"%d" % x

    return tf.data.Dataset.range(4).map(
        lambda x: tuple(tf.py_func(python, [x], [tf.float64, tf.string]))
    )


# ---- batches and groups --------------------------------------------------------------------------


@program
def padded(tf: Any, folder: str) -> Any:
    dataset = tf.data.Dataset.range(1, 6).map(
        lambda n: (tf.fill([n], n), tf.as_string(tf.range(n)))
    )
    shapes, fills = ([None], [6]), (tf.constant(-1, tf.int64), "none")
    return dataset.padded_batch(2, shapes, padding_values=fills)


@program
def unbatched(tf: Any, folder: str) -> Any:
    rows = {"a": np.arange(6).reshape(3, 2), "b": np.array([["x", "y"]] * 3)}
    return tf.data.Dataset.from_tensor_slices(rows).apply(tf.data.experimental.unbatch())


@program
def windows(tf: Any, folder: str) -> Any:
    dataset = tf.data.Dataset.range(10).window(3, shift=2, stride=2, drop_remainder=True)
    return dataset.flat_map(lambda window: window.batch(3))


@program
def grouped(tf: Any, folder: str) -> Any:
    group = tf.data.experimental.group_by_window(
        lambda x: x % 3, lambda key, window: window.batch(4).map(lambda w: (key, w)), 4
    )
    return tf.data.Dataset.range(20).apply(group)


@program
def reduced_groups(tf: Any, folder: str) -> Any:
    reducer = tf.data.experimental.Reducer(
        lambda key: (0.0, key),
        lambda s, x: (s[0] + tf.cast(x, tf.float32), s[1]),
        lambda a, b: (b, a),
    )
    return tf.data.Dataset.range(10).apply(
        tf.data.experimental.group_by_reducer(lambda x: x % 4, reducer)
    )


@program
def buckets(tf: Any, folder: str) -> Any:
    lengths = tf.data.Dataset.from_tensor_slices(np.array([1, 7, 2, 8, 3, 4, 9, 2], np.int64))
    bucket = tf.data.experimental.bucket_by_sequence_length(
        lambda row: tf.shape(row)[0], [3, 6], [2, 2, 2]
    )
    return lengths.map(lambda n: tf.range(n)).apply(bucket)


@program
def sparse_batches(tf: Any, folder: str) -> Any:
    rows = tf.data.Dataset.range(5).map(lambda n: tf.fill([n], n))
    return rows.apply(tf.data.experimental.dense_to_sparse_batch(3, [8]))


@program
def map_and_batch(tf: Any, folder: str) -> Any:
    both = tf.data.experimental.map_and_batch(lambda x: (x, tf.fill([2], x)), 3)
    return tf.data.Dataset.range(8).apply(both)


@program
def cache(tf: Any, folder: str) -> Any:
    return tf.data.Dataset.range(3).cache().repeat(2)


@program
def unique(tf: Any, folder: str) -> Any:
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "a", "c", "b"])
    return words.apply(tf.data.experimental.unique())


@program
def without_errors(tf: Any, folder: str) -> Any:
    numbers = tf.data.Dataset.from_tensor_slices([1.0, 0.0, 2.0])
    checked = numbers.map(lambda x: tf.check_numerics(1.0 / x, "infinite"))
    return checked.apply(tf.data.experimental.ignore_errors())


# ---- files ---------------------------------------------------------------------------------------


@program
def text_files(tf: Any, folder: str) -> Any:
    lines, _ = files(folder)
    return tf.data.TextLineDataset([lines, lines]).skip(1)


@program
def records(tf: Any, folder: str) -> Any:
    _, name = files(folder)
    wanted = {"x": tf.FixedLenFeature([2], tf.float32), "y": tf.VarLenFeature(tf.int64)}
    dataset = tf.data.TFRecordDataset(name).shuffle(4, seed=3).batch(4)
    return dataset.map(lambda batch: tf.parse_example(batch, wanted))


@program
def single_records(tf: Any, folder: str) -> Any:
    _, name = files(folder)
    wanted = {"x": tf.FixedLenFeature([2], tf.float32)}
    parsed = tf.data.TFRecordDataset([name]).map(lambda one: tf.parse_single_example(one, wanted))
    return parsed.map(lambda features: features["x"] * 2.0).batch(3)


@program
def pieces(tf: Any, folder: str) -> Any:
    lines, _ = files(folder)
    return tf.data.FixedLengthRecordDataset(lines, 4, header_bytes=1, footer_bytes=2)


@program
def csv(tf: Any, folder: str) -> Any:
    lines, _ = files(folder)
    return tf.data.experimental.CsvDataset(lines, [tf.int32, ["none"]])


# ---- operations without a public function --------------------------------------------------------


def _by_operation(tf: Any, name: str, dims: list[Any], **inputs: Any) -> Any:
    """The dataset of int64 that an operation makes."""
    inputs = {key: _variant(tf, value) for key, value in inputs.items()}
    made = getattr(tf.raw_ops, name)(**inputs, output_types=[tf.int64], output_shapes=[dims])
    return tf.data.experimental.from_variant(made, tf.TensorSpec(dims, tf.int64))


def _variant(tf: Any, value: Any) -> Any:
    if isinstance(value, list):
        return [_variant(tf, each) for each in value]
    return tf.data.experimental.to_variant(value) if hasattr(value, "batch") else value


@program
def sampled_at_a_rate(tf: Any, folder: str) -> Any:
    numbers = tf.data.Dataset.range(40)
    return _by_operation(
        tf, "SamplingDataset", [], input_dataset=numbers, rate=0.3, seed=3, seed2=5
    )


@program
def chosen_fastest(tf: Any, folder: str) -> Any:
    ways = [tf.data.Dataset.range(5), tf.data.Dataset.range(5).prefetch(1)]
    return _by_operation(tf, "ChooseFastestDataset", [], input_datasets=ways, num_experiments=2)


@program
def thread_pool(tf: Any, folder: str) -> Any:
    pool = tf.raw_ops.ThreadPoolHandle(num_threads=2, display_name="pool")
    return _by_operation(
        tf, "ThreadPoolDataset", [], input_dataset=tf.data.Dataset.range(4), thread_pool=pool
    )
