"""Programs that read a file or a serialized value with something changed."""

from __future__ import annotations

import io
import json
import random
import struct
import tempfile
import wave
import zipfile
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.compat.proto.meta_graph_pb2 import MetaGraphDef

import weft as tf
from tests.fuzz import mutate
from tests.saved_model.objects import STORED
from weft.protos.saved_model import SavedModel

# What is done with bytes: each of these is one expression of `data`, a tensor of one string.
DECODERS = {
    "png": ("tf.image.decode_png(data)", "tf.image.decode_image(data)"),
    "jpeg": ("tf.image.decode_jpeg(data)", "tf.io.extract_jpeg_shape(data)"),
    "gif": ("tf.image.decode_gif(data)", "tf.image.decode_image(data)"),
    "bmp": ("tf.image.decode_bmp(data)",),
    "wav": ("tf.audio.decode_wav(data)",),
    "zlib": ("tf.io.decode_compressed([data], 'ZLIB')", "tf.io.decode_compressed([data], 'GZIP')"),
    "example": (
        "tf.io.parse_example([data], {'a': tf.FixedLenFeature([2], tf.float32),"
        " 'b': tf.VarLenFeature(tf.int64)})",
        "tf.io.parse_single_example(data, {'c': tf.FixedLenFeature([], tf.string)})",
        "tf.io.parse_single_sequence_example(data, {'b': tf.VarLenFeature(tf.int64)})",
        "tf.io.decode_raw(data, tf.float32)",
    ),
    "json": ("tf.io.decode_json_example(data)",),
    "tensor": ("tf.io.parse_tensor(data, tf.float32)", "tf.io.parse_tensor(data, tf.string)"),
    "csv": ("tf.io.decode_csv(data, [[0.0], [1], ['']])", "tf.strings.to_number(data)"),
    "text": (
        "tf.strings.unicode_decode(data, 'UTF-8')",
        "tf.strings.unicode_transcode(data, 'UTF-16-BE', 'UTF-8')",
        "tf.io.decode_base64(data)",
        "tf.strings.substr(data, 1, 3)",
    ),
}
DECODE = """\
import numpy as np, weft as tf
with tf.Graph().as_default(), tf.Session() as session:
    data = tf.constant({data!r})
    for _ in range(2): session.run({expression})
"""
READ = """\
import os, tempfile, numpy as np, weft as tf
files = {files!r}
with tempfile.TemporaryDirectory() as folder:
    for name, data in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        open(os.path.join(folder, name), "wb").write(data)
    with tf.Graph().as_default(), tf.Session() as session:
        {expression}
"""
LOADED = (
    "model = tf.saved_model.load_v2(folder + '/saved');"
    " called = lambda name, *given: getattr(model, name, print)(*given); "
)
REBUILD = """\
import weft as tf
with tf.Graph().as_default():
    tf.keras.models.model_from_json({text!r})
"""
READERS = {
    "checkpoint": (
        "r = tf.train.load_checkpoint(folder + '/model');"
        " print([r.get_tensor(k) for k in sorted(r.get_variable_to_shape_map())])",
        "v = tf.get_variable('v', [4, 3]); tf.train.Saver([v]).restore(session, folder + '/model')",
        "print(tf.train.latest_checkpoint(folder))",
        "tf.train.import_meta_graph(folder + '/model.meta').restore(session, folder + '/model')",
        "print(tf.train.list_variables(folder + '/model'))",
        "from weft.cli.main import main; main(['checkpoint', 'show', folder + '/model'])",
    ),
    "records": (
        "print(list(tf.python_io.tf_record_iterator(folder + '/records')))",
        "d = tf.data.TFRecordDataset(folder + '/records').make_one_shot_iterator().get_next();"
        " [session.run(d) for _ in range(5)]",
    ),
    "zipped": (
        "print(list(tf.python_io.tf_record_iterator(folder + '/records',"
        " tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP))))",
    ),
    "saved_model": (
        "tf.saved_model.loader.load(session, ['serve'], folder + '/saved')",
        "print(tf.contrib.predictor.from_saved_model(folder + '/saved')({'x': [1.0, 2.0]}))",
        LOADED + "[each(x=tf.constant([1.0])) for each in model.signatures.values()]",
        "from weft.cli.main import main; main(['saved-model', 'show', folder + '/saved', '--all'])",
        "from weft.cli.main import main;"
        " main(['saved-model', 'run', folder + '/saved', '--input_exprs', 'x=[1.0, 2.0]'])",
        "from weft.cli.main import main;"
        " main(['saved-model', 'freeze', folder + '/saved', '--output', folder + '/frozen.pb'])",
        "from weft.serve.servable import load; load('m', 1, folder + '/saved', ['serve'])",
    ),
    "saved_object": (
        LOADED + "called('linear', tf.constant([[1.0, 2.0]]))",
        LOADED + "called('scaled', tf.constant([1.0, 2.0])); print(vars(model))",
        LOADED + "called('numbers', tf.constant(['lake']))",
        "tf.saved_model.loader.load(session, ['serve'], folder + '/saved')",
    ),
    "events": (
        "print(list(tf.train.summary_iterator(folder + '/events')))",
        "from weft.cli.main import main;"
        " main(['trace', folder + '/events', '--output', folder + '/trace.json'])",
    ),
}

MESSAGES = {".meta": MetaGraphDef, ".pb": SavedModel}


def program(rng: random.Random) -> str:
    if rng.random() < 0.5:
        kind = rng.choice(sorted(DECODERS))
        data = mutate.bytes_of(rng, _values()[kind])
        return DECODE.format(data=data, expression=rng.choice(DECODERS[kind]))
    if rng.random() < 0.1:
        config = json.loads(rng.choice(_configs()))
        for _ in range(rng.choice((1, 1, 2))):
            mutate.plain(rng, config)
        return REBUILD.format(text=json.dumps(config))
    kind = rng.choice(sorted(READERS))
    files = dict(_folders()[kind])
    name = rng.choice(sorted(files))
    files[name] = _changed(rng, name, files[name])
    return READ.format(files=files, expression=rng.choice(READERS[kind]))


def _changed(rng: random.Random, name: str, data: bytes) -> bytes:
    """Files that hold a message are as often changed in one of its fields."""
    kind = MESSAGES.get(Path(name).suffix)
    if kind is None or rng.random() < 0.5:
        return mutate.bytes_of(rng, data)
    message = kind.FromString(data)
    for _ in range(rng.choice((1, 1, 2, 3))):
        mutate.message(rng, message)
    changed: bytes = message.SerializePartialToString(deterministic=True)
    return changed


# ---- what is changed ---------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _values() -> dict[str, bytes]:
    import zlib

    return _images() | {
        "wav": _sound(),
        "zlib": zlib.compress(b"hello" * 20),
        "example": _example().SerializeToString(deterministic=True),
        "json": b'{"features": {"feature": {"a": {"floatList": {"value": [1.5, 2]}}}}}',
        "tensor": _tensor(),
        "csv": b'1.5,2,"a ""b"" c"',
        "text": "gr\N{LATIN SMALL LETTER U WITH DIAERESIS}n\N{SNOWMAN}".encode() * 3,
    }


def _images() -> dict[str, bytes]:
    from PIL import Image

    picture = Image.fromarray(np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5)
    found = {}
    for kind in ("png", "jpeg", "gif", "bmp"):
        file = io.BytesIO()
        picture.save(file, kind)
        found[kind] = file.getvalue()
    return found


def _sound() -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(struct.pack("<8h", *range(8)))
    return file.getvalue()


def _example() -> Any:
    example = tf.train.Example()
    example.features.feature["a"].float_list.value.extend([1.0, 2.0])
    example.features.feature["b"].int64_list.value.extend([1, -2, 300])
    example.features.feature["c"].bytes_list.value.append(b"text")
    return example


@lru_cache(maxsize=1)
def _configs() -> list[str]:
    """Models of Keras as text."""
    layers = tf.keras.layers
    with tf.Graph().as_default():
        x = tf.keras.Input((8, 8, 3), name="x")
        wide = layers.Conv2D(2, 3, padding="same", kernel_regularizer="l2", name="wide")(x)
        both = layers.concatenate([x, layers.BatchNormalization(name="norm")(wide)], name="both")
        pooled = layers.GlobalAveragePooling2D(name="pool")(layers.ReLU(name="relu")(both))
        turned = layers.Bidirectional(layers.LSTM(3, return_sequences=True), name="turned")
        made = [
            tf.keras.Model(x, layers.Dense(2, activation="relu", name="end")(pooled)),
            tf.keras.Sequential(
                [
                    layers.Embedding(10, 4, input_length=5, name="words"),
                    turned,
                    layers.TimeDistributed(layers.Dense(2), name="each"),
                    layers.RNN([layers.GRUCell(2), layers.LSTMCell(3)], name="cells"),
                ]
            ),
        ]
        return [model.to_json() for model in made]


def _tensor() -> bytes:
    data: bytes = tf.make_tensor_proto(np.float32([[1, 2, 3]])).SerializeToString()
    return data


@lru_cache(maxsize=1)
def _folders() -> dict[str, dict[str, bytes]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind in READERS:
            (folder / kind).mkdir()
        _write_model(folder)
        _write_object(folder)
        _write_events(folder)
        _write_records(folder)
        return {
            kind.name: {
                str(file.relative_to(kind)): file.read_bytes()
                for file in sorted(kind.rglob("*"))
                if file.is_file()
            }
            for kind in folder.iterdir()
        }


def _write_model(folder: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None])
        v = tf.get_variable("v", [4, 3])
        tf.get_variable("s", initializer=tf.constant(["a", "bc"]))
        y = x + tf.reduce_sum(v)
        session.run(tf.global_variables_initializer())
        tf.train.Saver(save_relative_paths=True).save(session, str(folder / "checkpoint" / "model"))
        saved = str(folder / "saved_model" / "saved")
        tf.saved_model.simple_save(session, saved, {"x": x}, {"y": y})


def _write_object(folder: Path) -> None:
    """One that TensorFlow wrote."""
    with zipfile.ZipFile(STORED / "toy.zip") as file:
        file.extractall(folder / "saved_object" / "saved")


def _write_events(folder: Path) -> None:
    with tf.summary.FileWriter(str(folder / "events")) as writer:
        for step in range(3):
            value = tf.Summary.Value(tag="loss", simple_value=1.0 / (step + 1))
            writer.add_summary(tf.Summary(value=[value]), step)
    (written,) = (folder / "events").iterdir()
    written.rename(folder / "events" / "events")


def _write_records(folder: Path) -> None:
    kinds = tf.python_io.TFRecordCompressionType
    for name, kind in (("records", kinds.NONE), ("zipped", kinds.GZIP)):
        options = tf.python_io.TFRecordOptions(kind)
        with tf.python_io.TFRecordWriter(str(folder / name / "records"), options) as writer:
            for i in range(3):
                writer.write(b"record %d" % i)
