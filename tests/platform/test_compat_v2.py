"""tf.compat.v2: TensorFlow 2's parameters over TensorFlow 1's functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.api import compat_v2

v2 = tf.compat.v2
X = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


@pytest.mark.parametrize("name", [*compat_v2._declared(), *compat_v2._PLACES])
def test_every_name_of_the_tables_is_there(name: str) -> None:
    assert attrgetter(name)(v2) is not None


# As TensorFlow 2 prints them.
SIGNATURES = {
    "argmax": "(input, axis=None, output_type=tf.int64, name=None)",
    "cond": "(pred, true_fn=None, false_fn=None, name=None)",
    "expand_dims": "(input, axis, name=None)",
    "math.reduce_sum": "(input_tensor, axis=None, keepdims=False, name=None)",
    "nn.dropout": "(x, rate, noise_shape=None, seed=None, name=None)",
    "pad": "(tensor, paddings, mode='CONSTANT', constant_values=0, name=None)",
    "random.poisson": "(shape, lam, dtype=tf.float32, seed=None, name=None)",
    "transpose": "(a, perm=None, conjugate=False, name='transpose')",
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    assert str(inspect.signature(attrgetter(name)(v2))) == SIGNATURES[name]


VALUES: dict[str, tuple[Callable[[], Any], Any]] = {
    "order of arguments": (lambda: v2.gather(X, [1], None, 1), X[:, 1:]),
    "another name": (lambda: v2.ones_like(input=X), np.ones_like(X)),
    "broadcasting where": (lambda: v2.where(X > 2, X, 0.0), np.where(X > 2, X, 0)),
    "the structure is kept": (
        lambda: v2.while_loop(lambda i: i < 3, lambda i: (i + 1,), [0])[0],
        3,
    ),
    "an alias": (lambda: v2.math.argmax(X, 1, tf.int32), [1, 1]),
}


@pytest.mark.parametrize("case", VALUES)
def test_values(case: str) -> None:
    make, wanted = VALUES[case]
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(make()), wanted)


def test_variables_are_resources() -> None:
    made = v2.Variable(1.0)
    assert hasattr(made, "handle") and isinstance(made, v2.Variable)
    assert isinstance(tf.Variable(1.0, use_resource=False), v2.Variable)
    assert issubclass(tf.Variable, v2.Variable)


def test_name_scopes_have_a_name_only() -> None:
    with v2.name_scope("a") as scope:
        assert scope == "a/" and tf.constant(1).op.name == "a/Const"
    with pytest.raises(ValueError, match="must be a string"):
        v2.name_scope(None)


def test_names_that_are_none_and_names_that_are_not_there() -> None:
    import weft.legacy.tensorflow.compat.v2 as view

    assert v2.newaxis is None and view.newaxis is None
    for holder in (v2, view, v2.math):
        with pytest.raises(AttributeError, match="no_such_name"):
            holder.no_such_name  # noqa: B018


def test_gradients_of_functions() -> None:
    arguments = [np.array([1.0, 2.0], np.float32), 3.0]
    with tf.Session():
        exact, steps = v2.test.compute_gradient(lambda x, y: x * x * y, arguments)
    np.testing.assert_allclose(exact[0], [[6.0, 0.0], [0.0, 12.0]])
    np.testing.assert_allclose(exact[1], [[1.0, 4.0]])
    for a, b in zip(exact, steps, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-2)
    with pytest.raises(ValueError, match="must be a list"):
        v2.test.compute_gradient(lambda x: x, 1.0)


def test_namespaces_are_modules() -> None:
    import weft.compat.v2 as imported

    assert imported is v2 and v2.keras.models is tf.keras.models
    assert v2.metrics is tf.keras.metrics
    assert "reduce_sum" in dir(v2.math) and "Session" not in dir(v2)
    for gone in ("Session", "contrib", "placeholder"):
        assert not hasattr(v2, gone)


@pytest.mark.parametrize("name", ["LSTM", "LSTMCell", "GRU", "GRUCell"])
def test_recurrent_layers_have_the_settings_of_cudnn(name: str) -> None:
    later, before = getattr(v2.keras.layers, name), getattr(tf.keras.layers, name)
    assert issubclass(later, before) and later.__name__ == name
    config = later(2).get_config()
    assert (config["recurrent_activation"], config["implementation"]) == ("sigmoid", 2)
    assert config.get("reset_after", True)
    assert before(2).get_config()["recurrent_activation"] == "hard_sigmoid"


def test_recurrent_layers_by_hand() -> None:
    x = np.array([[[0.5], [-1.0]]], np.float32)
    layer = v2.keras.layers.LSTM(1, kernel_initializer="ones", recurrent_initializer="ones")
    with tf.Session() as session:
        output = layer(tf.constant(x))
        session.run(tf.global_variables_initializer())
        found = session.run(output)
    h = c = 0.0
    for value in x[0, :, 0]:
        z = value + h
        gate, forget = 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(-z - 1))
        c = forget * c + gate * np.tanh(z)
        h = gate * np.tanh(c)
    np.testing.assert_allclose(found, [[h]], rtol=1e-5)


def test_batch_normalization_that_is_not_trainable_uses_its_averages() -> None:
    x = np.array([[1.0], [3.0]], np.float32)
    for layers, expected in ((v2.keras.layers, x), (tf.keras.layers, [[-1.0], [1.0]])):
        layer = layers.BatchNormalization(trainable=False, epsilon=1e-6)
        with tf.Session() as session:
            output = layer(tf.constant(x), training=True)
            session.run(tf.global_variables_initializer())
            np.testing.assert_allclose(session.run(output), expected, rtol=1e-4)


def test_namespaces_of_keras_at_the_top() -> None:
    assert v2.losses.Reduction.SUM == "sum" and v2.losses is v2.keras.losses
    assert v2.metrics.Mean is tf.keras.metrics.Mean
    assert v2.optimizers.Adam is tf.keras.optimizers.Adam
    assert not hasattr(tf.keras.losses, "Reduction")


def _row(*args: Any, **kwargs: Any) -> list[float]:
    with tf.Session() as session:
        return session.run(v2.image.resize(*args, **kwargs))[0, :, 0].tolist()


def test_resize_takes_pixels_by_their_centres() -> None:
    row = np.array([[[1], [3]]], np.float32)
    assert _row(row, [1, 4]) == [1.0, 1.5, 2.5, 3.0]
    assert _row(row, [1, 4], "nearest") == [1.0, 1.0, 3.0, 3.0]
    assert _row(row, [1, 1], v2.image.ResizeMethod.AREA) == [2.0]
    image = v2.image.resize(np.ones([1, 4, 4, 3], np.uint8), [2, 8], "lanczos3")
    assert (image.dtype, image.shape.as_list()) == (tf.float32, [1, 2, 8, 3])
    same = v2.image.resize(np.ones([4, 4, 3], np.uint8), [4, 4])
    assert (same.dtype, same.op.type) == (tf.float32, "Squeeze")


def test_antialias_takes_a_wider_kernel_where_the_image_gets_smaller() -> None:
    row = np.array([[[0], [0], [0], [8], [0], [0], [0], [0]]], np.float32)
    assert _row(row, [1, 2]) == [0.0, 0.0]
    # A triangle that reaches four pixels to either side of 2.0, where the pixel is 1.5 away.
    assert _row(row, [1, 2], antialias=True)[0] == pytest.approx(8 * 2.5 / 14)


def test_resize_refuses_other_methods() -> None:
    with pytest.raises(ValueError, match="Resize method is not implemented: cubic"):
        v2.image.resize(np.ones([1, 2, 1]), [1, 4], "cubic")


def test_resize_with_pad_keeps_proportions() -> None:
    framed = v2.image.resize_with_pad(np.ones([1, 2, 1], np.float32), 4, 4, antialias=True)
    with tf.Session() as session:
        rows = session.run(framed)[:, :, 0]
    np.testing.assert_allclose(rows, [[0] * 4, [1] * 4, [1] * 4, [0] * 4], rtol=1e-6)
