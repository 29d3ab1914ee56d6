"""slim's records: readers, decoders and providers."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

slim = tf.contrib.slim
decoder = slim.tfexample_decoder


def feature(value):
    first = value[0]
    if isinstance(first, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    if isinstance(first, float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def example(**values) -> bytes:
    features = {key.replace("__", "/"): feature(value) for key, value in values.items()}
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()


def decoded(serialized, features, handlers, items=None):
    made = decoder.TFExampleDecoder(features, handlers)
    assert made.list_items() == list(handlers)
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        return session.run(made.decode(tf.constant(serialized), items))


def test_tensors_in_shapes() -> None:
    features = {
        "a": tf.VarLenFeature(tf.float32),
        "b": tf.FixedLenFeature([4], tf.int64),
        "h": tf.FixedLenFeature([], tf.int64),
        "w": tf.VarLenFeature(tf.int64),
    }
    handlers = {
        "plain": decoder.Tensor("b"),
        "fixed": decoder.Tensor("a", shape=[2, 3]),
        "told": decoder.Tensor("b", shape_keys="w"),
        "count": decoder.ItemHandlerCallback(["b", "h"], lambda t: tf.reduce_sum(t["b"]) + t["h"]),
        "other": decoder.BackupHandler(decoder.Tensor("none"), decoder.Tensor("b")),
    }
    features["none"] = tf.VarLenFeature(tf.int64)
    data = example(a=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], b=[1, 2, 3, 4], h=[2], w=[2, 2])
    plain, fixed, told, count, other = decoded(data, features, handlers)
    assert plain.tolist() == [1, 2, 3, 4] and other.tolist() == [1, 2, 3, 4]
    assert fixed.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert told.tolist() == [[1, 2], [3, 4]]
    assert count == 12
    assert decoded(data, features, handlers, ["count"]) == [12]
    with pytest.raises(ValueError, match="Cannot specify both"):
        decoder.Tensor("a", shape_keys="w", shape=[2])
    with pytest.raises(ValueError, match="Backup handler is of type"):
        decoder.BackupHandler(decoder.Tensor("a"), None)


def test_boxes_and_sparse_tensors_and_tables() -> None:
    features = {f"box/{side}": tf.VarLenFeature(tf.float32) for side in ("y0", "x0", "y1", "x1")}
    features |= {"i": tf.VarLenFeature(tf.int64), "v": tf.VarLenFeature(tf.float32)}
    features |= {"word": tf.FixedLenFeature([2], tf.string)}
    table = tf.contrib.lookup.index_table_from_tensor(tf.constant(["a", "b"]))
    handlers = {
        "boxes": decoder.BoundingBox(["y0", "x0", "y1", "x1"], "box/"),
        "sparse": decoder.SparseTensor("i", "v", shape=[5], densify=True),
        "id": decoder.LookupTensor("word", table),
    }
    data = example(
        box__y0=[0.0, 4.0], box__x0=[1.0, 5.0], box__y1=[2.0, 6.0], box__x1=[3.0, 7.0],
        i=[1, 3], v=[0.5, 0.25], word=[b"b", b"a"],
    )  # fmt: skip
    boxes, sparse, ids = decoded(data, features, handlers)
    assert boxes.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert sparse.tolist() == [0, 0.5, 0, 0.25, 0]
    assert ids.tolist() == [1, 0]
    with pytest.raises(ValueError, match="expects 4 keys but got 3"):
        decoder.BoundingBox(["a", "b", "c"])


@pytest.mark.parametrize("kind", ["png", "jpeg", "raw"])
def test_images(kind) -> None:
    image = np.full([4, 6, 3], 128, np.uint8)
    with tf.Session() as session:
        encode = {"png": tf.image.encode_png, "jpeg": tf.image.encode_jpeg}
        encoded = session.run(encode[kind](image)) if kind in encode else image.tobytes()
    features = {
        "image/encoded": tf.FixedLenFeature([], tf.string),
        "image/format": tf.FixedLenFeature([], tf.string),
    }
    shape = [4, 6, 3] if kind == "raw" else None
    data = example(image__encoded=[encoded], image__format=[kind.encode()])
    (found,) = decoded(data, features, {"image": decoder.Image(shape=shape)})
    assert np.abs(found.astype(int) - image).max() <= 1


@pytest.mark.parametrize("shuffle", [True, False])
def test_a_provider_reads_every_record(tmp_path, shuffle) -> None:
    for file in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part{file}")) as writer:
            for i in range(5):
                writer.write(example(label=[10 * file + i]))
    made = slim.dataset.Dataset(
        data_sources=str(tmp_path / "part*"),
        reader=tf.TFRecordReader,
        decoder=decoder.TFExampleDecoder(
            {"label": tf.FixedLenFeature([], tf.int64)}, {"label": decoder.Tensor("label")}
        ),
        num_samples=10,
        items_to_descriptions={"label": "a number"},
        num_classes=15,
    )
    provider = slim.dataset_data_provider.DatasetDataProvider(
        made, num_readers=2, shuffle=shuffle, num_epochs=1, common_queue_min=2
    )
    assert set(provider.list_items()) == {"label", "record_key"}
    assert provider.num_samples() == 10 and made.num_classes == 15
    with pytest.raises(ValueError, match=r"Item \[x\] is invalid"):
        provider.get(["x"])
    label, key = provider.get(["label", "record_key"])
    key.set_shape([])
    queue = slim.prefetch_queue.prefetch_queue({"label": label, "key": key})
    ahead = queue.dequeue()
    found = []
    with tf.train.SingularMonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run(ahead))
    assert sorted(int(each["label"]) for each in found) == [*range(5), *range(10, 15)]
    assert all(b"part" in each["key"] for each in found)
    with pytest.raises(ValueError, match="No data files found"):
        slim.parallel_reader.parallel_read(str(tmp_path / "none*"), tf.TFRecordReader)
