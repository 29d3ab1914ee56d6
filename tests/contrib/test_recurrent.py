"""tf.contrib.recurrent and tf.contrib.session_bundle."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.session_bundle import bundle_shim, exporter, gc, session_bundle

INPUTS = np.random.default_rng(3).normal(size=(2, 4, 3)).astype(np.float32)


def _doubled(theta: Any, state: Any, row: Any) -> Any:
    return {"s": theta["w"] * state["s"] + row}, {"kept": row * 2.0}


def _doubled_gradient(theta: Any, state: Any, row: Any, extras: Any, upstream: Any) -> Any:
    d = upstream["s"]
    return {"w": d * state["s"]}, {"s": d * theta["w"]}, d * extras["kept"] / (2.0 * row)


@pytest.mark.parametrize("gradient", [None, _doubled_gradient])
@pytest.mark.parametrize(
    ("length", "at_end", "states", "of_rows"),
    [
        (None, False, [5.0, 17.0, 55.0], [22.0, 7.0, 2.0]),
        (2, False, [5.0, 17.0, 0.0], [7.0, 2.0, 0.0]),
        (2, True, [0.0, 5.0, 19.0], [0.0, 7.0, 2.0]),
    ],
)
def test_states_and_gradients(
    gradient: Any, length: Any, at_end: bool, states: Any, of_rows: Any
) -> None:
    w, rows = tf.constant(3.0), tf.constant([2.0, 2.0, 4.0])
    all_states, last = tf.contrib.recurrent.Recurrent(
        {"w": w}, {"s": tf.constant(1.0)}, rows, _doubled, gradient,
        max_input_length=None if length is None else tf.constant(length), aligned_end=at_end,
    )  # fmt: skip
    total = tf.reduce_sum(all_states["s"]) + last["s"]
    with tf.Session() as session:
        found, end = session.run([all_states["s"], last["s"]])
        np.testing.assert_allclose(found, states)
        assert end == max(states)
        d_w, d_rows = session.run(tf.gradients(total, [w, rows]))
    count, step = length or 3, 1e-3
    used = [2.0, 4.0] if at_end else [2.0, 2.0, 4.0][:count]

    def value(weight: float) -> float:
        state, total = 1.0, 0.0
        for row in used:
            state = weight * state + row
            total += state
        return total + state

    np.testing.assert_allclose(d_w, (value(3 + step) - value(3 - step)) / (2 * step), rtol=1e-3)
    np.testing.assert_allclose(d_rows, of_rows)


@pytest.mark.parametrize("lengths", [None, [4, 2]])
def test_networks_compute_what_dynamic_ones_do(lengths: Any) -> None:
    cells = [tf.nn.rnn_cell.LSTMCell(2), tf.nn.rnn_cell.LSTMCell(2)]
    ends = lengths and tf.constant(lengths)
    functional = tf.contrib.recurrent.bidirectional_functional_rnn(
        *cells, tf.constant(INPUTS), dtype=tf.float32, sequence_length=ends
    )
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        dynamic = tf.nn.bidirectional_dynamic_rnn(
            *cells, tf.constant(INPUTS), dtype=tf.float32, sequence_length=lengths
        )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, expected = session.run([functional, dynamic])
    for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert len(tf.trainable_variables()) == 4


def _export(folder: Path, steps: tuple[int, ...], keep: Any = None) -> bytes:
    x = tf.placeholder(tf.float32, name="x")
    y = tf.add(x * tf.Variable(0.5), 2.0, name="y")
    asset = folder / "words.txt"
    asset.write_text("hello")
    path = tf.constant(str(asset))
    step = tf.Variable(0, name="step")
    writer = exporter.Exporter(tf.train.Saver())
    writer.init(
        init_op=tf.group(tf.identity(path)),
        default_graph_signature=exporter.regression_signature(x, y),
        named_graph_signatures={
            "inputs": exporter.generic_signature({"x": x}),
            "outputs": exporter.generic_signature({"y": y}),
        },
        assets_collection=[path],
    )
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for each in steps:
            session.run(step.assign(each))
            found = writer.export(f"{folder}/out/", step, session, keep)
    return found


def test_an_export_is_read_back(tmp_path: Path) -> None:
    path = _export(tmp_path, (7,)).decode()
    assert path.endswith("out/00000007")
    assert sorted(os.listdir(path)) == [
        "assets", "checkpoint", "export.data-00000-of-00001", "export.index", "export.meta",
    ]  # fmt: skip
    assert session_bundle.maybe_session_bundle_dir(path)
    session, meta_graph = bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(path)
    with session:
        assert session.run("y:0", {"x:0": [1.0, 2.0]}).tolist() == [2.5, 3.0]
    default = meta_graph.signature_def["serving_default"]
    assert (default.method_name, default.inputs["inputs"].name) == (
        "tensorflow/serving/regress", "x:0",
    )  # fmt: skip
    named = meta_graph.signature_def["serving_default_from_named"]
    assert (named.method_name, named.outputs["y"].name) == ("tensorflow/serving/predict", "y:0")
    with pytest.raises(RuntimeError, match="SessionBundle or SavedModelBundle not found"):
        bundle_shim.load_session_bundle_or_saved_model_bundle_from_path(str(tmp_path))


def test_old_exports_are_deleted_and_none_is_overwritten(tmp_path: Path) -> None:
    _export(tmp_path, (1, 2, 3), gc.largest_export_versions(2))
    assert sorted(os.listdir(tmp_path / "out")) == ["00000002", "00000003"]
    tf.reset_default_graph()
    with pytest.raises(RuntimeError, match="Overwriting exports can cause corruption"):
        _export(tmp_path, (3,))


def test_filters_of_versions() -> None:
    paths = [gc.Path(f"/{version:02}", version) for version in (0, 1, 3, 8, 9, 10)]
    versions = lambda keep: [path.export_version for path in keep(paths)]  # noqa: E731
    assert versions(gc.one_of_every_n_export_versions(3)) == [3, 9, 10]
    assert versions(gc.mod_export_version(3)) == [0, 3, 9]
    assert versions(gc.union(gc.mod_export_version(8), gc.largest_export_versions(1))) == [0, 8, 10]
    assert versions(gc.negation(gc.mod_export_version(2))) == [1, 3, 9]
