"""Parts of tf.contrib with operations of their own, by the values of TensorFlow 1.15's tests."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib import (
    all_reduce,
    cloud,
    ffmpeg,
    fused_conv,
    hadoop,
    libsvm,
    nearest_neighbor,
    rate,
    stat_summarizer,
    text,
)

import weft as tf


def value(*tensors: Any) -> Any:
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        found = session.run(tensors)
    return found[0] if len(tensors) == 1 else found


# ---- libsvm --------------------------------------------------------------------------------------

LINES = ["1 1:3.4 2:0.5 4:0.231", "1 2:2.5 3:inf 5:0.503", "2 3:2.5 2:nan 1:0.105"]
ROWS = [
    [0, 3.4, 0.5, 0, 0.231, 0],
    [0, 0, 2.5, np.inf, 0, 0.503],
    [0, 0.105, np.nan, 2.5, 0, 0],
]


@pytest.mark.parametrize("width", [None, 2])
def test_libsvm(width: int | None) -> None:
    lines = LINES if width is None else [[line] * width for line in LINES]
    kind = None if width is None else tf.float64
    features, labels = libsvm.decode_libsvm(lines, num_features=6, label_dtype=kind)
    assert labels.shape.as_list() == ([3] if width is None else [3, 2])
    dense = tf.sparse_tensor_to_dense(features, validate_indices=False)
    rows, numbers = value(dense, labels)
    expected = np.array(ROWS, np.float32)
    np.testing.assert_allclose(rows, expected if width is None else np.stack([expected] * 2, 1))
    assert numbers.reshape(3, -1)[:, 0].tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", r'No label found for input\[0\]: ""'),
        ("a", "Label format incorrect: a"),
        ("1 2", 'Invalid feature "2"'),
        ("1 x:2", "Feature format incorrect: x:2"),
        ("1 -1:2", "Feature index should be >= 0, got -1"),
    ],
)
def test_lines_that_are_not_libsvm(line: str, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        value(libsvm.decode_libsvm([line], 6)[1])


# ---- nearest neighbours --------------------------------------------------------------------------


def test_hyperplane_probes() -> None:
    points = np.array([[1.2, 0.5, -0.9, -1.0], [2.0, -3.0, 1.0, -1.5]])
    probes, tables = value(*nearest_neighbor.hyperplane_lsh_probes(points, 2, 2, 4))
    assert probes.tolist() == [[3, 0, 2, 2], [2, 2, 0, 3]]
    assert tables.tolist() == [[0, 1, 0, 1], [0, 1, 1, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be equal to num_tables"):
        value(nearest_neighbor.hyperplane_lsh_probes(points, 3, 2, 4)[0])


# ---- skip-grams ----------------------------------------------------------------------------------

WORDS = [b"the", b"quick", b"brown", b"fox", b"jumps"]


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("width", [0, 1, 2])
def test_skip_grams(width: int, own: bool) -> None:
    found = text.skip_gram_sample(
        tf.constant(WORDS), width, width, start=1, limit=3, emit_self_as_target=own
    )
    expected = [
        (WORDS[i], WORDS[j])
        for i in range(1, 4)
        for j in range(max(1, i - width), min(4, i + width + 1))
        if own or i != j
    ]
    assert list(zip(*value(*found), strict=True)) == expected


def test_random_windows() -> None:
    tf.set_random_seed(42)
    tokens, labels = value(*text.skip_gram_sample(tf.constant(WORDS), 1, 2, seed=9))
    assert len(tokens) == len(labels) and set(tokens) == set(WORDS)
    again = value(*text.skip_gram_sample(tf.constant(WORDS), 1, 2, seed=9))
    assert again[0].tolist() == tokens.tolist() and again[1].tolist() == labels.tolist()


def test_words_that_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("fox,en,1\nthe,en,30\nquick,en,3\n")
    options = {"vocab_freq_index": 2, "min_skips": 1, "max_skips": 1}
    given = tf.constant(WORDS)
    found = text.skip_gram_sample_with_text_vocab(given, str(path), vocab_min_count=3, **options)
    assert [pair.tolist() for pair in value(*found)] == [[b"the", b"quick"], [b"quick", b"the"]]
    kept = text.skip_gram_sample_with_text_vocab(
        given, str(path), vocab_subsampling=1.0, seed=3, **options
    )
    assert len(value(*kept)[0]) == 4
    path.write_text("fox,en,-1\n")
    with pytest.raises(ValueError, match="negative frequency of -1"):
        text.skip_gram_sample_with_text_vocab(given, str(path), vocab_freq_index=2)
    with pytest.raises(ValueError, match="only has 3 columns"):
        text.skip_gram_sample_with_text_vocab(given, str(path), vocab_freq_index=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_min_count": 1}, "useless without a vocab_freq_table"),
        ({"vocab_freq_table": 1, "vocab_subsampling": 0.1}, "both must be provided"),
        ({"vocab_freq_table": 1}, "must be a subclass of InitializableLookupTableBase"),
    ],
)
def test_skip_grams_that_cannot_be(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        text.skip_gram_sample(tf.constant(WORDS), **options)


def test_windows_are_checked() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="min_skips must be <= max_skips"):
        value(text.skip_gram_sample(tf.constant(WORDS), 3, 2)[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
        value(text.skip_gram_sample(tf.constant(WORDS), -1, 2)[0])


# ---- rates ---------------------------------------------------------------------------------------


def test_rates() -> None:
    made = rate.Rate()
    steps = [
        made(tf.constant([float(values)]), denominator=tf.constant([float(denominator)]))
        for values, denominator in ((1, 1), (2, 2), (4, 3), (16, 3))
    ]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        assert [session.run(step).tolist() for step in steps] == [[1], [1], [2], [0]]
    other = rate.Rate(name="has space")
    other(tf.ones([1]), tf.ones([1]))
    assert other.name == "has space"
    assert "has_space" in other.prev_values.name
    before = other.numer
    other(tf.ones([1]), tf.ones([1]))
    assert other.numer is before


# ---- exchange ------------------------------------------------------------------------------------

LOCAL = [f"/job:localhost/replica:0/task:0/cpu:{i}" for i in range(4)]
WAYS = {
    "ring": lambda x: all_reduce.build_ring_all_reduce(x, 1, 1, [0, 1, 2, 3], tf.add),
    "ring of two": lambda x: all_reduce.build_ring_all_reduce(x, 2, 2, [1, 0], tf.add),
    "ring with a root": lambda x: all_reduce.build_ring_all_reduce(
        x, 1, 2, [0, 2, 1, 3], tf.add, lambda each: each / 2
    ),
    "halves": lambda x: all_reduce.build_recursive_hd_all_reduce(x, tf.add),
    "shuffle": lambda x: all_reduce.build_shuffle_all_reduce(x, LOCAL[:3], tf.add_n),
    "shuffles": lambda x: all_reduce.build_shuffle_then_shuffle(x, LOCAL[:1], LOCAL[:1], tf.add_n),
    "shuffle and ring": lambda x: all_reduce.build_shuffle_then_ring(
        x, LOCAL[:2], 1, tf.add_n, tf.add
    ),
    "nccl": lambda x: all_reduce.build_nccl_all_reduce(x, tf.add),
    "nccl and halves": lambda x: all_reduce.build_nccl_then_recursive_hd(x, tf.add),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", [[8], [2, 4, 2], [4, 1]])
def test_every_device_has_the_sum(way: str, shape: list[int]) -> None:
    given = np.arange(4 * np.prod(shape), dtype=np.float32).reshape(4, *shape)
    tensors = []
    for place, each in zip(LOCAL, given, strict=True):
        with tf.device(place):
            tensors.append(tf.constant(each))
    made = WAYS[way](tensors)
    config = tf.ConfigProto(device_count={"CPU": 4})
    with tf.Session(config=config) as session:
        found = session.run(made)
    expected = given.sum(0) / (2 if "root" in way else 1)
    for each in found:
        np.testing.assert_allclose(each, expected)


def test_exchanges_that_cannot_be() -> None:
    with pytest.raises(ValueError, match="length 2 or longer"):
        all_reduce.build_ring_all_reduce([tf.ones([2])], 1, 1, [0], tf.add)
    with pytest.raises(ValueError, match="num_devices must be a power of 2"):
        all_reduce.build_recursive_hd_all_reduce([tf.ones([2])] * 3, tf.add)
    with pytest.raises(ValueError, match=r"num_subchunks 3 must be <= num_gpus 2"):
        all_reduce.build_ring_all_reduce([tf.ones([2])] * 2, 1, 3, [0, 1], tf.add)
    with pytest.raises(ValueError, match="red_op not supported"):
        all_reduce.build_nccl_all_reduce([tf.ones([2])] * 2, tf.maximum)


# ---- sounds --------------------------------------------------------------------------------------


def test_sounds_are_encoded() -> None:
    contents = value(ffmpeg.encode_audio([[0.0], [0.5], [-1.0]], "wav", 8000))
    samples, rate_ = value(*tf.audio.decode_wav(contents))
    assert samples.tolist() == [[0.0], [0.5], [-1.0]] and rate_ == 8000
    with pytest.raises(tf.errors.InvalidArgumentError, match='file_format must be "wav"'):
        value(ffmpeg.encode_audio([[0.0]], "mp3", 8000))


def test_ffmpeg_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\nprintf '\\000\\100\\000\\300'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    found = ffmpeg.decode_audio(b"...", "ogg", 8000, 2)
    assert found.shape.as_list() == [None, 2]
    assert value(found).tolist() == [[0.5, -0.5]]
    program.write_text("#!/bin/sh\nexit 1\n")
    assert value(ffmpeg.decode_audio(b"...", "ogg", 8000, 2)).shape == (0, 0)
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(tf.errors.UnavailableError, match="FFmpeg must be installed"):
        value(ffmpeg.decode_audio(b"...", "ogg", 8000, 2))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"file_format must be one of \{mp3, mp"
    ):
        value(ffmpeg.decode_audio(b"...", "flac", 8000, 2))


# ---- convolutions --------------------------------------------------------------------------------


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("mode", ["Relu", "None"])
def test_fused_convolutions(data_format: str, mode: str) -> None:
    generator = np.random.default_rng(3)
    x, w, b = (
        generator.normal(size=size).astype(np.float32)
        for size in ((2, 5, 6, 3), (3, 2, 3, 4), (4,))
    )
    plain = tf.nn.conv2d(x, w, [1, 2, 1, 1], "SAME")
    side = generator.normal(size=(2, 3, 6, 4)).astype(np.float32)
    expected = 0.5 * plain + 2.0 * side + b
    expected = tf.nn.relu(expected) if mode == "Relu" else expected
    to = (lambda t: np.transpose(t, (0, 3, 1, 2))) if data_format == "NCHW" else (lambda t: t)
    strides = [1, 1, 2, 1] if data_format == "NCHW" else [1, 2, 1, 1]
    found = fused_conv.fused_conv2d_bias_activation(
        to(x), np.transpose(w, (3, 2, 0, 1)), b, strides, "SAME", 0.5, 2.0, to(side), mode,
        data_format, "OIHW",
    )  # fmt: skip
    assert found.shape == to(np.empty((2, 3, 6, 4))).shape
    both = value(found, expected)
    np.testing.assert_allclose(both[0], to(both[1]), rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match=r"Output depth dimension \(4\) and bias dimension \(3\)"):
        fused_conv.fused_conv2d_bias_activation(x, w, np.ones(3, np.float32), padding="SAME")


# ---- files of Hadoop -----------------------------------------------------------------------------


def sequence_file(path: Path, records: list[tuple[bytes, bytes]], **change: bytes) -> str:
    def text_(value: bytes) -> bytes:
        length = len(value)
        return (bytes([length]) if length < 113 else b"\x8f" + bytes([length])) + value

    kind, mark = text_(b"org.apache.hadoop.io.Text"), bytes(range(16))
    head = change.get("magic", b"SEQ\x06") + kind + change.get("kind", kind)
    head += change.get("compression", b"\0\0") + struct.pack(">I", 0) + mark
    body = b""
    for key, each in records:
        pair = text_(key), text_(each)
        body += struct.pack(">II", sum(map(len, pair)), len(pair[0])) + b"".join(pair)
        body += struct.pack(">I", 2**32 - 1) + change.get("mark", mark)
    path.write_bytes(head + body)
    return str(path)


def test_sequence_files(tmp_path: Path) -> None:
    records = [(b"001", b"VALUE001"), (b"002", b"v" * 200)]
    path = sequence_file(tmp_path / "a.seq", records)
    following = tf.data.make_one_shot_iterator(hadoop.SequenceFileDataset([path, path]))
    element = following.get_next()
    with tf.Session() as session:
        assert [session.run(element) for _ in range(4)] == records * 2
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"magic": b"SEQ\x05"}, "header must starts with `SEQ6`"),
        ({"kind": b"\x03abc"}, "is currently not supported"),
        ({"compression": b"\1\0"}, "compression is currently not supported"),
        ({"mark": bytes(16)}, "should have sync marker"),
    ],
)
def test_other_sequence_files(tmp_path: Path, change: dict[str, bytes], message: str) -> None:
    path = sequence_file(tmp_path / "a.seq", [(b"a", b"b"), (b"c", b"d")], **change)
    element = tf.data.make_one_shot_iterator(hadoop.SequenceFileDataset(path)).get_next()
    with tf.Session() as session, pytest.raises(tf.errors.OpError, match=message):
        for _ in range(3):
            session.run(element)


# ---- reports -------------------------------------------------------------------------------------


def test_a_report_on_steps() -> None:
    first = tf.constant([[3.0, 3.0]], name="m1")
    second = tf.placeholder(tf.float32, [2, 1])
    product = tf.matmul(first, second, name="product")
    summarizer = stat_summarizer.NewStatSummarizer(b"")
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as session:
        for _ in range(20):
            metadata = tf.RunMetadata()
            session.run(product, {second: [[2.0], [2.0]]}, options, metadata)
            summarizer.ProcessStepStatsStr(metadata.step_stats.SerializeToString())
    report = summarizer.GetOutputString()
    stat_summarizer.DeleteStatSummarizer(summarizer)
    for expected in ("count=20", "====== Run Order ======", "Top by Memory Use", "100.000%"):
        assert expected in report
    assert any("MatMul" in line and "product" in line for line in report.splitlines())


# ---- services ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["kafka.KafkaDataset", "kinesis.KinesisDataset", "ignite.IgniteDataset",
     "bigtable.BigtableClient", "bigtable.BigtableTable", "cloud.BigQueryReader"],
)  # fmt: skip
def test_services_that_are_elsewhere(name: str) -> None:
    part, kind = name.split(".")
    with pytest.raises(tf.errors.UnimplementedError, match="has no client of"):
        getattr(getattr(tf.contrib, part), kind)("anything")


def test_cloud_storage_is_configured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import fsspec

    monkeypatch.setattr(fsspec.config, "conf", {})
    cloud.configure_gcs(None, {"refresh_token": "a"}, cloud.BlockCacheParams(block_size=7))
    assert fsspec.config.conf["gcs"] == {"token": {"refresh_token": "a"}, "default_block_size": 7}
    hook = cloud.ConfigureGcsHook('{"private_key": "b"}')
    hook.after_create_session(None, None)
    assert fsspec.config.conf["gcs"]["token"] == {"private_key": "b"}
    (tmp_path / "adc.json").write_text('{"refresh_token": "c"}')
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "adc.json"))
    cloud.configure_colab_session(None)
    assert fsspec.config.conf["gcs"]["token"] == {"refresh_token": "c"}
    for wrong, message in (("{", "well formed"), ({}, "has neither"), (3, "unknown type")):
        with pytest.raises(ValueError, match=message):
            cloud.ConfigureGcsHook(wrong)
    assert cloud.BlockCacheParams().max_bytes == 256 * 1024 * 1024
