"""Tables and drawings of models; weights turned around; models on several devices."""

from __future__ import annotations

import numpy as np
import pytest

from weft.lib.keras import backend as K
from weft.lib.keras.engine.input_layer import Input
from weft.lib.keras.engine.sequential import Sequential
from weft.lib.keras.engine.training import Model
from weft.lib.keras.layers.convolutional import Conv2D
from weft.lib.keras.layers.core import Dense, Flatten
from weft.lib.keras.layers.merge import Add
from weft.lib.keras.utils.io_utils import HDF5Matrix
from weft.lib.keras.utils.layer_utils import (
    convert_all_kernels_in_model,
    convert_dense_weights_data_format,
    convert_kernel,
)
from weft.lib.keras.utils.multi_gpu import get_slice, multi_gpu_model
from weft.lib.keras.utils.vis_utils import model_to_dot, plot_model
from weft.lib.platform import tf_logging


def test_a_table_of_a_chain() -> None:
    model = Sequential([Dense(4, input_shape=(3,)), Dense(2, trainable=False)], name="chain")
    lines: list[str] = []
    model.summary(line_length=40, print_fn=lines.append)
    assert lines == [
        'Model: "chain"',
        "_" * 40,
        "Layer (type)      Output Shape    Param ",
        "=" * 40,
        "dense (Dense)     (None, 4)       16    ",
        "_" * 40,
        "dense_1 (Dense)   (None, 2)       10    ",
        "=" * 40,
        "Total params: 26",
        "Trainable params: 16",
        "Non-trainable params: 10",
        "_" * 40,
    ]


def test_a_table_warns_of_what_was_frozen_since_it_was_compiled(monkeypatch) -> None:
    said, lines = [], []
    monkeypatch.setattr(tf_logging, "log_first_n", lambda level, text, n: said.append(text))
    model = Sequential([Dense(2, input_shape=(3,)), Dense(1)])
    model.compile("sgd", "mse")
    model.summary(print_fn=lines.append)
    assert not said
    model.layers[0].trainable = False
    model.summary(print_fn=lines.append)
    assert said[0].startswith("Discrepancy between trainable weights and collected")
    # What was frozen is counted as both.
    assert lines[-4:-1] == [
        "Total params: 19",
        "Trainable params: 11",
        "Non-trainable params: 8",
    ]


def test_a_table_with_connections() -> None:
    inputs = Input((3,), name="in")
    left, right = Dense(2, name="left")(inputs), Dense(2, name="right")(inputs)
    model = Model(inputs, Add(name="sum")([left, right]))
    lines: list[str] = []
    model.summary(print_fn=lines.append)
    assert lines[2].split() == "Layer (type) Output Shape Param # Connected to".split()
    at = next(i for i, line in enumerate(lines) if line.startswith("sum"))
    assert lines[at].split()[-1] == "left[0][0]"
    assert lines[at + 1].split() == ["right[0][0]"]
    assert all(len(line) in (0, 98) for line in lines[1:-4])


def test_kernels_are_turned() -> None:
    kernel = np.arange(12).reshape(3, 2, 1, 2)
    turned = convert_kernel(kernel)
    np.testing.assert_array_equal(turned, kernel[::-1, ::-1])
    model = Sequential([Conv2D(2, (3, 2), input_shape=(5, 5, 1)), Flatten(), Dense(1)])
    before = model.get_weights()[0]
    convert_all_kernels_in_model(model)
    np.testing.assert_array_equal(model.get_weights()[0], before[::-1, ::-1])
    with pytest.raises(ValueError, match="Invalid kernel shape"):
        convert_kernel(np.zeros((2, 2)))


def test_dense_weights_for_another_data_format() -> None:
    dense = Dense(2)
    Sequential([Flatten(input_shape=(2, 3, 4)), dense])
    image = np.random.RandomState(0).rand(2, 3, 4)
    kernel = dense.get_weights()[0]
    expected = image.ravel() @ kernel
    convert_dense_weights_data_format(dense, (4, 2, 3), "channels_first")
    turned = image.transpose(2, 0, 1).ravel() @ dense.get_weights()[0]
    np.testing.assert_allclose(turned, expected, rtol=1e-5)
    convert_dense_weights_data_format(dense, (2, 3, 4), "channels_last")
    np.testing.assert_array_equal(dense.get_weights()[0], kernel)


def test_parts_of_a_batch() -> None:
    x = K.constant(np.arange(14).reshape(7, 2))
    parts = [K.get_value(get_slice(x, i, 3)) for i in range(3)]
    assert [len(part) for part in parts] == [2, 2, 3]
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(14).reshape(7, 2))


def test_several_devices_have_to_be_there() -> None:
    model = Sequential([Dense(2, input_shape=(3,))])
    with pytest.raises(ValueError, match="with `gpus >= 2`"):
        multi_gpu_model(model, 1)
    with pytest.raises(ValueError, match=r"with `len\(gpus\) >= 2`"):
        multi_gpu_model(model, [0])
    with pytest.raises(ValueError, match="However this machine only has: "):
        multi_gpu_model(model, [97, 98])


def test_a_drawing(tmp_path) -> None:
    pytest.importorskip("pydot")
    inputs = Input((3,), name="in")
    inner = Sequential([Dense(3, input_shape=(3,), name="deep")], name="inner")
    model = Model(inputs, Add(name="sum")([inner(inputs), inputs]))
    text = model_to_dot(model, show_shapes=True).to_string()
    assert "sum: Add" in text
    assert "(?, 3)" in text
    assert text.count("->") == 3
    nested = model_to_dot(model, expand_nested=True, show_layer_names=False).to_string()
    assert "subgraph cluster_inner" in nested
    assert nested.count("->") == 4
    plot_model(model, tmp_path / "model.dot")
    assert (tmp_path / "model.dot").read_text().startswith("digraph")


def test_a_layer_that_keeps_something_called_layer_is_no_wrapper() -> None:
    pytest.importorskip("pydot")

    class Own(Dense):
        layer = 3

    model = Sequential([Own(2, input_shape=(3,), name="own")])
    assert "own: Own" in model_to_dot(model, expand_nested=True).to_string()


def test_rows_of_a_file(tmp_path) -> None:
    h5py = pytest.importorskip("h5py")
    path = str(tmp_path / "data.h5")
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(12).reshape(6, 2)
    calls = []

    def halved(rows):
        calls.append(rows)
        return rows / 2

    rows = HDF5Matrix(path, "x", start=1, end=5, normalizer=halved)
    # They are those of the file: the normalizer is called for what is read, and only then.
    assert (rows.shape, rows.dtype, rows.ndim, rows.size, calls) == ((4, 2), np.int64, 2, 8, [])
    np.testing.assert_array_equal(rows[1:3], [[2, 2.5], [3, 3.5]])
    np.testing.assert_array_equal(rows[[0, 3]], [[1, 1.5], [4, 4.5]])
    np.testing.assert_array_equal(rows[0], [1, 1.5])
    for beyond in (slice(2, 5), 4, [0, 4]):
        with pytest.raises(IndexError):
            rows[beyond]
    HDF5Matrix.refs.pop(path).close()
