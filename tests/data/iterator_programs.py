"""Programs with iterators: `program(tf)` builds a graph, runs it and returns what came out.

What they leave in the graph of TensorFlow 1.15, and what comes out there, is in
`recorded/iterators.json` (see record_iterators.py).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[function.__name__] = function
    return function


def taken(tf: Any, iterator: Any, passes: int = 1) -> list[Any]:
    """The initial value of a variable made after the iterator, then its elements."""
    element = iterator.get_next()
    weights = tf.get_variable("weights", [2], initializer=tf.random_uniform_initializer())
    found: list[Any] = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found.append(session.run(weights))
        for _ in range(passes):
            if iterator._initializer is not None:
                session.run(iterator.initializer)
            found += drained(tf, session, element)
    return found


def drained(tf: Any, session: Any, element: Any) -> list[Any]:
    """Up to 60 elements, and what is said at the end."""
    found = []
    try:
        while len(found) < 60:
            found.append(session.run(element))
    except tf.errors.OutOfRangeError as error:
        found.append(error.message.split("\n")[0])
    return found


def initializable(tf: Any, dataset: Any, passes: int = 2) -> list[Any]:
    return taken(tf, tf.data.make_initializable_iterator(dataset), passes)


def one_shot(tf: Any, dataset: Any) -> list[Any]:
    return taken(tf, tf.data.make_one_shot_iterator(dataset))


def numbers(tf: Any, count: int = 10) -> Any:
    return tf.data.Dataset.range(count)


# ---- iterators -----------------------------------------------------------------------------------


@program
def plain_iterator(tf: Any) -> Any:
    return initializable(tf, numbers(tf, 5).shuffle(3).batch(2))


@program
def plain_one_shot(tf: Any) -> Any:
    return one_shot(tf, numbers(tf, 5).shuffle(3).batch(2))


@program
def of_a_structure(tf: Any) -> Any:
    iterator = tf.data.Iterator.from_structure(tf.int64, [])
    first = iterator.make_initializer(numbers(tf, 3))
    second = iterator.make_initializer(numbers(tf).shuffle(4, seed=1).repeat(2), name="second")
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(first)
        found = [session.run(element)]
        session.run(second)
        return found + [session.run(element) for _ in range(20)]


@program
def fed_handles(tf: Any) -> Any:
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    first = numbers(tf, 3).make_one_shot_iterator()
    second = tf.data.Dataset.range(10, 20).make_initializable_iterator(shared_name="shared")
    element = iterator.get_next(name="element")
    with tf.Session() as session:
        handles = session.run([first.string_handle(), second.string_handle("name")])
        session.run(second.initializer)
        return [session.run(element, {handle: each}) for each in handles]


@program
def where_iterators_are(tf: Any) -> Any:
    with tf.device("/cpu:0"):
        dataset = numbers(tf, 3).batch(2)
    dataset.prefetch(1).make_initializable_iterator().get_next()
    dataset.make_one_shot_iterator()
    with tf.device("/cpu:1"):
        iterator = tf.data.Iterator.from_structure(tf.int64, [None])
    iterator.make_initializer(dataset)


@program
def of_a_reference_variable(tf: Any) -> Any:
    variable = tf.get_variable("variable", [], tf.int64, initializer=tf.zeros_initializer())
    return initializable(tf, numbers(tf).map(lambda x: x + variable).shuffle(4, seed=1).repeat(2))


# ---- what options ask for ------------------------------------------------------------------------


def option(name: str, **values: Any) -> None:
    """A program with these options, set by their dotted names (`__` for the dot)."""

    def run(tf: Any) -> Any:
        options = tf.data.Options()
        for path, value in values.items():
            *way, last = path.split("__")
            holder = options
            for part in way:
                holder = getattr(holder, f"experimental_{part}" if holder is options else part)
            setattr(holder, last if way else f"experimental_{last}", value)
        dataset = numbers(tf).shuffle(4, seed=1).repeat(2).batch(4).with_options(options)
        return initializable(tf, dataset, 1)

    run.__name__ = f"option_{name}"
    program(run)


option("none")
option("fusions", optimization__map_fusion=True, optimization__filter_fusion=True)
option("no_shuffle_fusion", optimization__shuffle_and_repeat_fusion=False)
option("no_defaults", optimization__apply_default_optimizations=False)
option(
    "only_one", optimization__apply_default_optimizations=False, optimization__noop_elimination=True
)
option("no_autotune", optimization__autotune=False)
option("buffers", optimization__autotune_buffers=True, optimization__autotune_cpu_budget=3)
option("algorithm", optimization__autotune_algorithm=1)
option("vectorized", optimization__map_vectorization__enabled=True)
option(
    "vectorized_fastest", optimization__map_vectorization__enabled=True,
    optimization__map_vectorization__use_choose_fastest=True,
)  # fmt: skip
option("in_any_order", deterministic=False, stats__latency_all_edges=True)
option("threads", threading__max_intra_op_parallelism=2, threading__private_threadpool_size=3)
option("hoisted", optimization__hoist_random_uniform=True, optimization__parallel_batch=True)


@program
def option_slack(tf: Any) -> Any:
    options = tf.data.Options()
    options.experimental_slack = True
    options.experimental_distribute.num_devices = 3
    return initializable(tf, numbers(tf, 3).prefetch(1).with_options(options), 1)


# ---- shuffles that are repeated ------------------------------------------------------------------


def repeated(name: str, make: Callable[[Any, Any], Any]) -> None:
    def run(tf: Any) -> Any:
        return initializable(tf, make(tf, numbers(tf)))

    run.__name__ = f"repeated_{name}"
    program(run)


repeated("shuffle", lambda tf, d: d.shuffle(4, seed=1).repeat(3))
repeated("for_ever", lambda tf, d: d.shuffle(4, seed=1).repeat())
repeated("by_graph_seed", lambda tf, d: d.shuffle(4).repeat(2).batch(3))
repeated("once", lambda tf, d: d.shuffle(4, seed=1).repeat(1))
repeated("alike", lambda tf, d: d.shuffle(4, seed=1, reshuffle_each_iteration=False).repeat(3))
repeated("twice", lambda tf, d: d.shuffle(4, seed=1).repeat(2).repeat(2))
repeated("two_shuffles", lambda tf, d: d.shuffle(4, seed=1).shuffle(3, seed=2).repeat(2))
repeated("all_taken", lambda tf, d: d.shuffle(4, seed=1).take(-1).skip(0).repeat(2))
repeated("once_more", lambda tf, d: d.shuffle(4, seed=1).repeat(1).prefetch(0).repeat(2))
repeated("mapped", lambda tf, d: d.shuffle(4, seed=1).map(lambda x: x + 1).repeat(2))
repeated("whole", lambda tf, d: d.shuffle(100, seed=1).repeat(3))
repeated("zipped", lambda tf, d: tf.data.Dataset.zip((d.shuffle(4, seed=1).repeat(2), d)))
repeated("and_not", lambda tf, d: _twice(tf, d.shuffle(4, seed=1)))


def _twice(tf: Any, shuffled: Any) -> Any:
    return tf.data.Dataset.zip((shuffled.repeat(2), shuffled.map(lambda x: x).repeat(2)))


@program
def repeated_generator(tf: Any) -> Any:
    dataset = tf.data.Dataset.from_generator(lambda: iter(range(8)), tf.int32)
    return initializable(tf, dataset.shuffle(4, seed=1).repeat(2))


@program
def reduced_shuffle(tf: Any) -> Any:
    dataset = numbers(tf).shuffle(4, seed=1).repeat(2)
    with tf.Session() as session:
        return session.run(dataset.reduce(np.int64(0), lambda a, b: a * 3 + b))


# ---- functions -----------------------------------------------------------------------------------


def mapped(name: str, function: Callable[[Any], Callable[..., Any]], method: str = "map") -> None:
    def run(tf: Any) -> Any:
        return initializable(tf, getattr(numbers(tf, 5), method)(function(tf)), 1)

    run.__name__ = f"{method}_{name}"
    program(run)


mapped("unchanged", lambda tf: lambda x: x)
mapped("number", lambda tf: lambda x: 3)
mapped("array", lambda tf: lambda x: (np.arange(3), 2.5))
mapped("structure", lambda tf: lambda x: (x, {"b": x + 1, "a": (x, "text")}))
mapped("random", lambda tf: lambda x: (tf.random_uniform([]), tf.random_shuffle([1, 2, 3, 4])))
mapped("sparse_made", lambda tf: lambda x: tf.sparse.to_dense(tf.SparseTensor([[x]], [x], [5])))
mapped("first_kind", lambda tf: lambda x: x, "map_with_legacy_function")
mapped("first_kind", lambda tf: lambda x: x > 2, "filter_with_legacy_function")
mapped("random", lambda tf: lambda x: tf.random_uniform([]) < 0.5, "filter")
mapped("made", lambda tf: lambda x: tf.data.Dataset.from_tensors(x).repeat(2), "flat_map")
mapped("nested", lambda tf: lambda x: tf.data.Dataset.range(3).map(lambda y: y + x), "flat_map")
mapped("shuffled", lambda tf: lambda x: tf.data.Dataset.range(4).shuffle(4), "flat_map")


@program
def map_callable(tf: Any) -> Any:
    class Doubled:
        def __call__(self, x: Any) -> Any:
            return x * 2

    found = initializable(tf, numbers(tf, 3).map(Doubled()), 1)
    names = [
        function.signature.name
        for function in tf.get_default_graph().as_graph_def().library.function
    ]
    assert any("Dataset_map_<class " in name for name in names), names
    return found


@program
def map_captured(tf: Any) -> Any:
    captured = tf.constant(5, tf.int64, name="captured")
    return initializable(tf, numbers(tf, 3).map(lambda x: x + captured), 1)


@program
def map_makes_a_variable(tf: Any) -> Any:
    def add(x: Any) -> Any:
        return x + tf.get_variable("w", [], tf.int64, initializer=tf.ones_initializer())

    return initializable(tf, numbers(tf, 3).map(add), 1)


def drawn_after(name: str, branch: Callable[[Any, Any], Any]) -> None:
    """A random number that is drawn after control flow, whose operations count for its seed."""

    def run(tf: Any) -> Any:
        def draw(x: Any) -> Any:
            return branch(tf, x), tf.random_uniform([])

        return values_only(tf, numbers(tf, 4).map(draw))

    run.__name__ = f"draws_after_{name}"
    program(run)


def values_only(tf: Any, dataset: Any) -> Any:
    return initializable(tf, dataset, 1)


def _augmented(tf: Any, x: Any) -> Any:
    image = tf.cast(tf.reshape(tf.range(48), [4, 4, 3]), tf.float32) + tf.cast(x, tf.float32)
    image = tf.image.random_flip_left_right(tf.random_crop(image, [3, 3, 3]))
    return tf.image.random_contrast(tf.image.random_brightness(image, 0.3), 0.5, 1.5)


drawn_after(
    "a_conditional",
    lambda tf, x: tf.cond(x > 1, lambda: tf.random_uniform([]), lambda: tf.random_normal([])),
)
drawn_after("an_assertion", lambda tf, x: [tf.assert_less(x, tf.constant(9, tf.int64)), x][1])
drawn_after("an_image", _augmented)
drawn_after(
    "a_loop",
    lambda tf, x: tf.while_loop(
        lambda i, a: i < 3,
        lambda i, a: (i + 1, a + tf.random_uniform([])),
        [tf.constant(0), tf.constant(0.0)],
    )[1],
)


# ---- datasets ------------------------------------------------------------------------------------


def dataset(name: str, make: Callable[[Any, Any], Any]) -> None:
    def run(tf: Any) -> Any:
        return initializable(tf, make(tf, numbers(tf)), 1)

    run.__name__ = f"dataset_{name}"
    program(run)


def _uneven(tf: Any, numbers: Any) -> Any:
    return numbers.map(lambda x: tf.fill([x % 4 + 1], x))


def _buckets(tf: Any, numbers: Any, **options: Any) -> Any:
    by_length = tf.data.experimental.bucket_by_sequence_length
    return _uneven(tf, numbers).apply(by_length(lambda x: tf.size(x), [2, 4], [2, 2, 2], **options))


def _resampled(tf: Any, **options: Any) -> Any:
    labels = tf.data.Dataset.from_tensor_slices([0, 1, 0, 0, 1, 1, 0, 0, 0, 1] * 2)
    resample = tf.data.experimental.rejection_resample
    return labels.apply(resample(lambda x: x, [0.3, 0.7], seed=3, **options))


def _sampled(tf: Any, numbers: Any, weights: Any = None, seed: int | None = None) -> Any:
    sample = tf.data.experimental.sample_from_datasets
    return sample([numbers.take(5), numbers.skip(5)], weights, seed)


dataset("padded", lambda tf, d: _uneven(tf, d).padded_batch(3, [None]))
dataset("padded_whole", lambda tf, d: _uneven(tf, d).padded_batch(3, [6], np.int64(-1), True))
dataset("unbatched", lambda tf, d: d.batch(4).unbatch())
dataset("unbatched_too", lambda tf, d: d.batch(4).apply(tf.data.experimental.unbatch()))
dataset("seed_tensor", lambda tf, d: d.shuffle(5, tf.constant(3, tf.int64)))
dataset("windows", lambda tf, d: d.window(3, 2, 2, True).flat_map(lambda w: w.batch(3)))
dataset("grouped", lambda tf, d: d.apply(tf.data.experimental.group_by_window(
    lambda x: x % 3, lambda key, window: window.batch(2), 2)))  # fmt: skip
dataset("buckets", _buckets)
dataset("buckets_filled", lambda tf, d: _buckets(tf, d, padding_values=np.int64(-1)))
dataset("buckets_unpadded", lambda tf, d: _buckets(tf, d.take(1), no_padding=True))
dataset("sampled", _sampled)
dataset("sampled_by_weights", lambda tf, d: _sampled(tf, d, [0.3, 0.7], 2))
dataset("sampled_by_tensor", lambda tf, d: _sampled(tf, d, tf.constant([0.2, 0.8]), 1))
dataset("resampled", lambda tf, d: _resampled(tf, initial_dist=[0.6, 0.4]))
dataset("resampled_unknown", lambda tf, d: _resampled(tf))
dataset("random", lambda tf, d: tf.data.experimental.RandomDataset().take(4))
dataset("counter", lambda tf, d: tf.data.experimental.Counter(3, 2).take(4))
dataset("scanned", lambda tf, d: d.apply(
    tf.data.experimental.scan(np.int64(0), lambda a, x: (a + x, a * x))))  # fmt: skip
dataset("sparse_batches", lambda tf, d: _uneven(tf, d).apply(
    tf.data.experimental.dense_to_sparse_batch(4, [5])).map(tf.sparse.to_dense))  # fmt: skip
dataset("measured", lambda tf, d: d.take(2).apply(tf.data.experimental.latency_stats("tag")))
dataset("batches_of_results", lambda tf, d: d.apply(
    tf.data.experimental.map_and_batch(lambda x: x * 2, 4)))  # fmt: skip
dataset("batches_of_results_too", lambda tf, d: d.apply(
    tf.data.experimental.map_and_batch_with_legacy_function(lambda x: (x,), 4)))  # fmt: skip
dataset("interleaved", lambda tf, d: d.take(4).interleave(
    lambda x: tf.data.Dataset.from_tensors(x).repeat(3), 2, block_length=2))  # fmt: skip
dataset("interleaved_in_parallel", lambda tf, d: d.take(4).apply(
    tf.data.experimental.parallel_interleave(
        lambda x: tf.data.Dataset.from_tensors(x).repeat(3), cycle_length=2)))  # fmt: skip
dataset("of_structures", lambda tf, d: tf.data.Dataset.from_generator(
    lambda: iter([(1, {"a": [1.0, 2.0]})] * 2), (tf.int32, {"a": tf.float32}),
    ([], {"a": [None]})))  # fmt: skip


def from_files(name: str, make: Callable[[Any, str], Any]) -> None:
    """A program with a folder of lines.txt, rows.csv, and the files 0, 1 and 2 of records."""

    def run(tf: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            _write(tf, folder)
            return initializable(tf, make(tf, folder), 1)

    run.__name__ = f"files_{name}"
    program(run)


def _write(tf: Any, folder: str) -> None:
    texts = {"lines.txt": "a\nbb\r\n\nccc", "rows.csv": "a,b,c\n1,0.5,x\n2,1.5,y\n3,2.5,z\n"}
    for name, text in texts.items():
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    for name in "012":
        with tf.python_io.TFRecordWriter(f"{folder}/{name}") as writer:
            for i in range(4):
                ids = tf.train.Feature(int64_list=tf.train.Int64List(value=[i, int(name)]))
                features = tf.train.Features(feature={"ids": ids})
                writer.write(tf.train.Example(features=features).SerializeToString())


def _records(folder: str) -> list[str]:
    return [f"{folder}/{name}" for name in "012"]


def _features(tf: Any, folder: str, **options: Any) -> Any:
    wanted = {"ids": tf.FixedLenFeature([2], tf.int64)}
    make = tf.data.experimental.make_batched_features_dataset
    return make(f"{folder}/[012]", 2, wanted, num_epochs=1, **options)


def _rows(tf: Any, folder: str, **options: Any) -> Any:
    return tf.data.experimental.make_csv_dataset(f"{folder}/rows.csv", 2, num_epochs=1, **options)


def _ends(tf: Any, names: Any) -> Any:
    return names.map(lambda name: tf.strings.substr(name, -1, 1))


from_files("lines", lambda tf, folder: tf.data.TextLineDataset(f"{folder}/lines.txt"))
from_files(
    "records", lambda tf, folder: tf.data.TFRecordDataset(_records(folder), num_parallel_reads=2)
)
from_files(
    "pieces", lambda tf, folder: tf.data.FixedLengthRecordDataset(f"{folder}/lines.txt", 4, 1, 1)
)
from_files(
    "listed",
    lambda tf, folder: _ends(tf, tf.data.Dataset.list_files(f"{folder}/[012]", shuffle=False)),
)
from_files(
    "listed_at_random",
    lambda tf, folder: _ends(tf, tf.data.Dataset.list_files(f"{folder}/[012]", seed=3)),
)
from_files("csv", lambda tf, folder: tf.data.experimental.CsvDataset(
    f"{folder}/rows.csv", [0, tf.float32, tf.constant(["?"])], header=True))  # fmt: skip
from_files("rows", lambda tf, folder: _rows(tf, folder, shuffle=False))
from_files("rows_shuffled", lambda tf, folder: _rows(tf, folder, shuffle_seed=3, label_name="c"))
from_files("features", lambda tf, folder: _features(tf, folder, shuffle=False))
from_files("features_shuffled", lambda tf, folder: _features(tf, folder, shuffle_seed=3))
