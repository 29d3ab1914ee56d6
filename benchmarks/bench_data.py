"""How many examples a second does tf.data deliver: from memory, from files, through functions?"""

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from common import arguments, load, report

ROWS, BATCH, RECORDS, FEATURES = 20_000, 64, 4_000, 32
SAMPLES, SAMPLE_SECONDS = 7, 0.25

_WORDS = "the quick brown fox jumps over a lazy dog while twelve others watch".split()

Make = Callable[[Any, str], Any]


def slices(tf: Any, folder: str) -> Any:
    """Rows of arrays: shuffled, repeated, in batches."""
    features = np.arange(ROWS * FEATURES, dtype=np.float32).reshape(ROWS, FEATURES)
    labels = np.arange(ROWS, dtype=np.int32)
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    return dataset.shuffle(10_000, seed=1).repeat().batch(BATCH)


def mapped(tf: Any, folder: str) -> Any:
    """A small function of every row, then batches."""
    images = np.arange(ROWS * FEATURES, dtype=np.uint8).reshape(ROWS, FEATURES)
    labels = np.arange(ROWS, dtype=np.int32) % 10
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).repeat()
    scaled = dataset.map(lambda x, y: (tf.cast(x, tf.float32) / 255.0 - 0.5, tf.one_hot(y, 10)))
    return scaled.batch(BATCH)


def records(tf: Any, folder: str) -> Any:
    """Examples in record files: read, shuffled, parsed, in batches."""
    name = str(Path(folder) / "records")
    random = np.random.default_rng(0)
    with tf.python_io.TFRecordWriter(name) as writer:
        for i in range(RECORDS):
            values = random.standard_normal(FEATURES).astype(np.float32)
            feature = {
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=values)),
                "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    wanted = {
        "x": tf.FixedLenFeature([FEATURES], tf.float32),
        "y": tf.FixedLenFeature([], tf.int64),
    }
    dataset = tf.data.TFRecordDataset(name).shuffle(1_000, seed=1).repeat()
    return dataset.map(lambda record: tf.parse_single_example(record, wanted)).batch(BATCH)


def generated(tf: Any, folder: str) -> Any:
    """What a Python generator yields, in batches."""
    rows = np.arange(ROWS * FEATURES, dtype=np.float32).reshape(ROWS, FEATURES)

    def generate() -> Any:
        while True:
            for i in range(ROWS):
                yield rows[i], i

    types, shapes = (tf.float32, tf.int32), ([FEATURES], [])
    return tf.data.Dataset.from_generator(generate, types, shapes).batch(BATCH)


def images(tf: Any, folder: str) -> Any:
    """A heavier function, several calls at a time, with batches kept ready."""
    pictures = np.random.default_rng(0).integers(0, 255, (256, 64, 64, 3), np.uint8)
    dataset = tf.data.Dataset.from_tensor_slices(pictures).repeat()

    def augmented(picture: Any) -> Any:
        scaled = tf.cast(picture, tf.float32) / 255.0
        resized = tf.image.resize_images(scaled[tf.newaxis], [48, 48])[0]
        return (resized - tf.reduce_mean(resized)) / (1e-3 + tf.sqrt(tf.reduce_mean(resized**2)))

    return dataset.map(augmented, num_parallel_calls=2).batch(32).prefetch(2)


def singles(tf: Any, folder: str) -> Any:
    """One row a step: what a step costs that only takes an element."""
    rows = np.arange(ROWS * FEATURES, dtype=np.float32).reshape(ROWS, FEATURES)
    return tf.data.Dataset.from_tensor_slices(rows).repeat()


def sampled(tf: Any, folder: str) -> Any:
    """Elements of four datasets, drawn by weights, in batches."""
    parts = [tf.data.Dataset.range(i * ROWS, (i + 1) * ROWS).repeat() for i in range(4)]
    drawn = tf.data.experimental.sample_from_datasets(parts, [0.1, 0.2, 0.3, 0.4], seed=1)
    return drawn.batch(BATCH)


def noisy(tf: Any, folder: str) -> Any:
    """A function that draws random numbers, then batches."""
    dataset = tf.data.Dataset.range(ROWS).repeat()

    def with_noise(number: Any) -> Any:
        return tf.cast(number, tf.float32) + tf.random_uniform([4], seed=1)

    return dataset.map(with_noise).batch(BATCH)


def texts(tf: Any, folder: str) -> Any:
    """Lines of a file: split into words, words into buckets, filled up to the longest."""
    name = Path(folder) / "lines"
    random = np.random.default_rng(0)
    lengths = random.integers(3, 20, RECORDS)
    name.write_text("".join(" ".join(random.choice(_WORDS, n)) + "\n" for n in lengths))
    lines = tf.data.TextLineDataset(str(name)).repeat()
    words = lines.map(lambda line: tf.string_split([line]).values)
    ids = words.map(lambda found: tf.string_to_hash_bucket_fast(found, 1000))
    return ids.padded_batch(BATCH, [None])


def pictures(tf: Any, folder: str) -> Any:
    """JPEG files: read, decoded, resized, cropped and flipped at random, in batches kept ready."""
    random = np.random.default_rng(0)
    names = []
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.placeholder(tf.uint8, [240, 320, 3])
        encoded = tf.image.encode_jpeg(pixels)
        y, x = np.mgrid[:240, :320]
        for i in range(32):
            waves = np.stack([np.sin(x / 40 + i), np.cos(y / 30), np.sin((x + y) / 50)], -1)
            noisy = 127 + 100 * waves + random.integers(-8, 8, waves.shape)
            names.append(str(Path(folder) / f"{i}.jpeg"))
            data = session.run(encoded, {pixels: noisy.clip(0, 255).astype(np.uint8)})
            Path(names[-1]).write_bytes(data)

    def augmented(name: Any) -> Any:
        image = tf.image.decode_jpeg(tf.read_file(name), channels=3)
        image = tf.image.resize_images(image, [160, 160])
        image = tf.random_crop(image, [144, 144, 3], seed=1)
        return tf.image.random_flip_left_right(image, seed=2) / 127.5 - 1.0

    dataset = tf.data.Dataset.from_tensor_slices(names).shuffle(32, seed=1).repeat()
    return dataset.map(augmented, num_parallel_calls=2).batch(16).prefetch(2)


CASES: dict[str, Make] = {
    "slices": slices, "map": mapped, "records": records, "generator": generated, "images": images,
    "singles": singles, "sampled": sampled, "noisy": noisy, "texts": texts, "pictures": pictures,
}  # fmt: skip


def seconds_per_step(tf: Any, make: Make, folder: str) -> tuple[float, float]:
    """Of one batch: by the clock, and of all cores together."""
    with tf.Graph().as_default(), tf.Session() as session:
        iterator = tf.data.make_initializable_iterator(make(tf, folder))
        element = iterator.get_next()
        session.run(iterator.initializer)
        step = session.make_callable(
            element if not isinstance(element, dict) else list(element.values())
        )
        for _ in range(30):
            step()
        times, all_steps, spent_by_cores = [], 0, time.process_time()
        for _ in range(SAMPLES):
            steps, began = 0, time.perf_counter()
            while (spent := time.perf_counter() - began) < SAMPLE_SECONDS:
                step()
                steps += 1
            times.append(spent / steps)
            all_steps += steps
        spent_by_cores = time.process_time() - spent_by_cores
    return statistics.median(times), spent_by_cores / all_steps


def main() -> None:
    impl = arguments(__doc__)
    tf = load(impl)
    with tempfile.TemporaryDirectory() as folder:
        both = {name: seconds_per_step(tf, make, folder) for name, make in CASES.items()}
    found = {name: clock for name, (clock, _) in both.items()}
    cores = {f"{name} cores": spent for name, (_, spent) in both.items()}
    report("data", impl, sum(found.values()), **found, **cores)


if __name__ == "__main__":
    main()
