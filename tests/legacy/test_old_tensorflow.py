"""Names and arguments of TensorFlow before 1.0, for programs under `weft run`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from weft.core import flags
from weft.legacy import old_world, tensorflow_import
from weft.legacy.old import loading, notices, table, tensorflow_rows
from weft.lib.platform import flags as program_flags


@pytest.fixture(autouse=True)
def installed() -> Iterator[None]:
    modules = set(sys.modules)
    tensorflow_import.install()
    yield
    sys.meta_path[:] = [
        finder
        for finder in sys.meta_path
        if not isinstance(finder, tensorflow_import.Finder) or finder.root != "tensorflow"
    ]
    for name in set(sys.modules) - modules:
        if name.partition(".")[0] == "tensorflow":
            del sys.modules[name]


def run(folder: Path, source: str) -> dict[str, Any]:
    path = folder / "train.py"
    path.write_text(f"import tensorflow as tf\n{source}")
    space: dict[str, Any] = {"__name__": "train"}
    exec(loading.compile_users(path.read_bytes(), str(path)), space)
    return space


@pytest.mark.parametrize("old", sorted(tensorflow_rows.RENAMED))
def test_a_renamed_name(old: str, tmp_path: Path) -> None:
    holder, _, name = f"tensorflow.{old}".rpartition(".")
    found = run(tmp_path, f"a = tf.{old}\nfrom {holder} import {name} as b\n")
    row = table.NAMES[holder, name]
    assert found["a"] is found["b"] or old == "nn.seq2seq"
    assert found["a"] is row.value() or hasattr(weft, old)


@pytest.mark.parametrize("row", [r for r in table.ROWS if r.old.startswith("tensorflow.") and
                                 r.kind == "module"], ids=lambda row: row.old)  # fmt: skip
def test_a_module(row: table.Row, tmp_path: Path) -> None:
    assert run(tmp_path, f"import {row.old} as m\n")["m"] is not None


VALUES: list[tuple[str, Any]] = [
    ("tf.concat(0, [[1], [2]])", [1, 2]),
    ("tf.concat(concat_dim=1, values=[[[1]], [[2]]])", [[1, 2]]),
    ("tf.concat([[1], [2]], 0)", [1, 2]),
    ("tf.concat(values=[[1], [2]], axis=0)", [1, 2]),
    ("tf.split(1, 2, [[1, 2]])[1]", [[2]]),
    ("tf.split(split_dim=0, num_split=2, value=[1, 2])[0]", [1]),
    ("tf.split([1, 2], 2)[1]", [2]),
    ("tf.split([[1, 2]], 2, axis=1)[1]", [[2]]),
    ("tf.reverse([[1, 2]], [False, True])", [[2, 1]]),
    ("tf.reverse([[1, 2]], [1])", [[2, 1]]),
    ("tf.shape(tf.image.resize_images(tf.zeros([1, 4, 4, 1]), 2, 3))", [1, 2, 3, 1]),
    ("tf.shape(tf.image.resize_images(tf.zeros([1, 4, 4, 1]), [2, 3]))", [1, 2, 3, 1]),
    ("tf.batch_matmul([[[1., 2.]]], [[[3., 4.]]], adj_y=True)", [[[11.0]]]),
    ("tf.mul(2, tf.sub(5, 2)) + tf.neg(1)", 5),
    ("tf.pack([1, tf.unpack([2, 3])[1]])", [1, 3]),
    ("tf.select([True, False], [1, 2], [3, 4])", [1, 4]),
    ("tf.nn.softmax_cross_entropy_with_logits([0., 0.], [1., 0.])", np.log(np.float32(2))),
    ("tf.nn.softmax_cross_entropy_with_logits(labels=[1., 0.], logits=[0., 0.])",
     np.log(np.float32(2))),
    ("tf.nn.sparse_softmax_cross_entropy_with_logits([[0., 0.]], [1])", [np.log(np.float32(2))]),
    ("tf.nn.sigmoid_cross_entropy_with_logits([0.], targets=[1.])", [np.log(np.float32(2))]),
    ("tf.nn.sigmoid_cross_entropy_with_logits([0.], [1.])", [np.log(np.float32(2))]),
    *(
        (f"tf.shape(tf.nn.{loss}(tf.zeros([6, 2]), tf.zeros([6]), {given}))", [4])
        for loss in ("nce_loss", "sampled_softmax_loss")
        for given in (
            "tf.zeros([4, 2]), tf.zeros([4, 1], tf.int64), 3, 6",
            "tf.zeros([4, 1], tf.int64), tf.zeros([4, 2]), 3, 6",
            "inputs=tf.zeros([4, 2]), labels=tf.constant([[0]] * 4), num_classes=6, num_sampled=3",
        )
    ),
    ("tf.TensorArray(tf.int32, 2).unpack([[1], [2]]).pack()", [[1], [2]]),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), VALUES, ids=[each for each, _ in VALUES])
def test_arguments(expression: str, expected: Any, tmp_path: Path) -> None:
    found = run(tmp_path, f"x = {expression}\n")["x"]
    with weft.Session() as session:
        np.testing.assert_allclose(session.run(found), expected, rtol=1e-6)


def test_each_use_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    source = "tf.mul(1, 2)\ntf.concat(0, [[1], [2]])\ntf.concat([[1], [2]], 0)\n"
    run(tmp_path, source)
    told = [record.getMessage().partition(" uses ")[2] for record in caplog.records]
    assert told == [
        "tf.mul, gone since TensorFlow 1.0: tf.multiply is used",
        "tf.concat with the arguments of 0.12, other arguments since TensorFlow 1.0: "
        "tf.concat(values, axis) is used",
    ]


def test_strict_is_1_15(tmp_path: Path) -> None:
    with flags.STRICT.override(True):
        with pytest.raises(notices.OldNameError, match=r"uses tf\.mul"):
            run(tmp_path, "tf.mul(1, 2)\n")
        with pytest.raises((TypeError, ValueError)):
            run(tmp_path, "tf.concat(0, [[1], [2]])\n")


def test_summaries(tmp_path: Path) -> None:
    """Tags are as they are written."""
    source = "tf.scalar_summary('a loss', 1.0)\ntf.histogram_summary('b', [1.0])\n"
    found = run(tmp_path, f"{source}x = tf.merge_all_summaries()\n")["x"]
    with weft.Session() as session:
        summary = weft.Summary.FromString(session.run(found))
    assert [value.tag for value in summary.value] == ["a loss", "b"]


TRIED = {
    "except:": "merge = tf.merge_summary\n    scalar = tf.scalar_summary",
    "except Exception:": "merge = tf.merge_summary\n    scalar = tf.scalar_summary",
    "except AttributeError:": "merge = tf.merge_summary\n    scalar = tf.scalar_summary or 1",
}


@pytest.mark.parametrize("handler", TRIED)
def test_names_that_the_program_does_without(handler: str, tmp_path: Path) -> None:
    """A program for both tries the old name first, and takes the other way in 1.15."""
    source = f"try:\n    {TRIED[handler]}\n{handler}\n    scalar = tf.summary.scalar\n"
    assert run(tmp_path, source)["scalar"] is weft.summary.scalar


def test_names_in_a_try_that_catches_all_that_fails(tmp_path: Path) -> None:
    source = "try:\n    x = tf.mul(2, 3)\n    y = 1\nexcept Exception:\n    y = 0\n"
    assert run(tmp_path, source)["y"] == 1


def test_linear(tmp_path: Path) -> None:
    """Under the names that its variables had in checkpoints."""
    source = "from tensorflow.python.ops.rnn_cell import _linear\n"
    source += "x = tf.nn.rnn_cell.linear([tf.ones([2, 3]), tf.ones([2, 1])], 5, True, 1.0)\n"
    source += "y = _linear(x, 4, False, scope='s')\n"
    source += "z = tf.nn.rnn_cell._linear(y, 3, False, scope='t')\n"
    assert run(tmp_path, source)["z"].shape == [2, 3]
    names = [variable.name for variable in weft.trainable_variables()]
    assert names == ["Linear/Matrix:0", "Linear/Bias:0", "s/Matrix:0", "t/Matrix:0"]


FUNCTIONS = {
    "labels, inputs": "tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=inputs)",
    "inputs, labels": "tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=inputs)",
    "labels, logits": "tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)",
}
MODULES = ["tf.contrib.legacy_seq2seq", "tf.nn.seq2seq"]


@pytest.mark.parametrize("arguments", FUNCTIONS)
@pytest.mark.parametrize("module", MODULES)
def test_a_loss_of_sequences(module: str, arguments: str, tmp_path: Path) -> None:
    """Its function got (logits, labels) before 1.0, (labels, logits) in 1.0, and names since."""
    source = f"def loss({arguments}):\n  return {FUNCTIONS[arguments]}\n"
    given = "[tf.constant([3.0])], [tf.constant([0.0])], [1.0]"
    source += f"x = {module}.sequence_loss({given}, softmax_loss_function=loss)\n"
    source += f"y = {module}.sequence_loss_by_example({given}, True, loss)\n"
    found = run(tmp_path, source)
    with weft.Session() as session:
        values = session.run([found["x"], found["y"]])
    expected = np.log1p(np.exp(3.0))
    np.testing.assert_allclose(values[0], expected, rtol=1e-5)
    np.testing.assert_allclose(values[1], [expected], rtol=1e-5)


def test_the_logger_inside_of_logging(tmp_path: Path) -> None:
    source = "from tensorflow.python.platform.tf_logging import _logger\nx = tf.logging._logger\n"
    found = run(tmp_path, source)
    assert found["x"] is found["_logger"] is weft.get_logger()


def test_a_flag_that_is_set_is_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    from absl import flags as absl_flags

    monkeypatch.setattr(program_flags, "define_unknown", old_world._define_flag)
    values = weft.flags.FLAGS
    values.set_by_a_program_of_2016 = [1]
    try:
        assert values.set_by_a_program_of_2016 == [1]
        values.set_by_a_program_of_2016 = 2
        assert values.set_by_a_program_of_2016 == 2
    finally:
        delattr(absl_flags.FLAGS, "set_by_a_program_of_2016")
    monkeypatch.setattr(program_flags, "define_unknown", None)
    with pytest.raises(absl_flags.UnrecognizedFlagError):
        values.not_set_by_anyone = 1


def test_flags_are_parsed_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    from absl import flags as absl_flags

    values = weft.flags.FLAGS
    weft.flags.DEFINE_integer("steps_of_2016", 3, "How many.")
    monkeypatch.setattr("sys.argv", ["train.py", "--steps_of_2016=5", "rest"])
    try:
        with pytest.raises(AttributeError):
            values._parse_flags()
        monkeypatch.setattr(program_flags, "old_attribute", old_world._flags_attribute)
        assert values._parse_flags() == ["rest"]
        assert values.steps_of_2016 == 5
        assert values.__flags["steps_of_2016"].value == 5
        assert values._parse_flags(["--steps_of_2016=6"]) == []
        assert values.steps_of_2016 == 6
        with pytest.raises(AttributeError):
            _ = values._parse_nothing
    finally:
        delattr(absl_flags.FLAGS, "steps_of_2016")


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        ("'1.4' <= v", True),
        ("v >= '1.4.0'", True),
        ("v < '1.2'", False),
        ("v > '2.0'", False),
        ("v >= 'r1.3'", True),
        ("v == '1.15.5', v != '1.4', v.startswith('1.'), 'text' > v", (True, True, True, True)),
        ("max(v, '1.9')", "1.15.5"),
        ("int(v.split('.')[1]), tf.VERSION < '1.6'", (15, False)),
    ],
)
def test_versions_as_text(test: str, expected: Any, tmp_path: Path) -> None:
    """`"1.15.5" < "1.4"`, as text: programs of 2017 did not foresee it."""
    source = f"v = tf.__version__\nassert v.startswith('1.15')\nx = {test}\n"
    found = run(tmp_path, source.replace("1.15.5", weft.__version__))["x"]
    assert found == (weft.__version__ if expected == "1.15.5" else expected)


@pytest.mark.parametrize("inner", ["cell", "tf.nn.rnn_cell.DropoutWrapper(cell, 0.5)"])
def test_a_cell_that_is_stacked_again_has_its_own_weights(
    inner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_told", set())
    monkeypatch.setattr(notices, "_reasons", set())
    cells = f"cell = tf.nn.rnn_cell.BasicLSTMCell(8)\ncell = {inner}\n"
    cells += "cell = tf.nn.rnn_cell.MultiRNNCell([cell] * 2)\n"
    cells += "is_one = isinstance(cell, tf.nn.rnn_cell.MultiRNNCell)\nx = [tf.zeros([2, 4])] * 3\n"
    found = run(tmp_path, cells + "tf.nn.rnn(cell, x, dtype=tf.float32)\n")
    names = ["kernel", "bias"]
    made = [variable.name.rpartition("multi_rnn_cell/")[2] for variable in weft.global_variables()]
    assert found["is_one"]
    assert made == [f"cell_{i}/basic_lstm_cell/{name}:0" for i in range(2) for name in names]


def test_a_cell_that_is_stacked_again_is_shared_since_1_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notices, "_reasons", set())
    cells = "cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(4)] * 2)\n"
    run(tmp_path, cells + "tf.nn.static_rnn(cell, [tf.zeros([2, 4])], dtype=tf.float32)\n")
    assert len(weft.global_variables()) == 2


def test_a_scope_that_is_not_to_reuse(tmp_path: Path) -> None:
    source = """
with tf.variable_scope("model"):
    weights = tf.get_variable("weights", [2])
    loss = tf.reduce_sum(weights)
    tf.get_variable_scope().reuse_variables()
    with tf.variable_scope(tf.get_variable_scope(), reuse=False):
        tf.train.AdamOptimizer().minimize(loss)
        again = tf.get_variable("weights", [2])
"""
    found = run(tmp_path, source)
    assert found["again"] is found["weights"]
    assert "model/model/weights/Adam:0" in [v.name for v in weft.global_variables()]
    with flags.STRICT.override(True), pytest.raises(ValueError, match="does not exist"):
        with weft.Graph().as_default():
            run(tmp_path, source)
