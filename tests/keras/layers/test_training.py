"""What layers do in training: the learning phase, noise, updates, variables of functions."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

L = tf.keras.layers

ONES = np.ones([40, 50], np.float32)


def run(fetches, training: bool | None = None):
    feed = {} if training is None else {tf.keras.backend.learning_phase(): training}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def test_dropout_follows_the_learning_phase() -> None:
    y = L.Dropout(0.25, seed=3)(tf.constant(ONES))
    np.testing.assert_array_equal(run(y), ONES)
    np.testing.assert_array_equal(run(y, False), ONES)
    dropped = run(y, True)
    assert set(np.round(np.unique(dropped), 4)) == {0, np.float32(1.3333)}
    assert abs((dropped == 0).mean() - 0.25) < 0.05


def test_dropout_by_argument_and_by_what_was_set() -> None:
    x = tf.constant(ONES)
    now = L.Dropout(0.5)(x, training=True)
    never = L.Dropout(0.5)(x, training=False)
    tf.keras.backend.set_learning_phase(1)
    by_phase = L.Dropout(0.5)(x)
    assert [bool((y == 0).any()) for y in run([now, never, by_phase])] == [True, False, True]


def test_noise_shapes() -> None:
    x = np.ones([3, 4, 5, 6], np.float32)
    rows = run(L.Dropout(0.5, noise_shape=(None, 1, None, 1), seed=1)(tf.constant(x)), True)
    channels = run(L.SpatialDropout2D(0.5)(tf.constant(x)), True)
    first = run(L.SpatialDropout2D(0.5, "channels_first")(tf.constant(x)), True)
    steps = run(L.SpatialDropout1D(0.5)(tf.constant(x[0])), True)
    volumes = run(L.SpatialDropout3D(0.5)(tf.constant(x[..., None] + np.zeros(8))), True)
    for y, axes in ((rows, (1, 3)), (channels, (1, 2)), (first, (2, 3)), (steps, 1)):
        assert (y.min(axes) == y.max(axes)).all()
        assert set(np.unique(y)) <= {0.0, 2.0}
    assert (volumes.min((1, 2, 3)) == volumes.max((1, 2, 3))).all()


@pytest.mark.parametrize(
    ("make", "mean", "stddev"),
    [
        (lambda: L.GaussianNoise(0.5), 1.0, 0.5),
        (lambda: L.GaussianDropout(0.2), 1.0, 0.5),
    ],
)
def test_noise(make, mean, stddev) -> None:
    tf.set_random_seed(1)
    y = make()(tf.constant(ONES))
    np.testing.assert_array_equal(run(y, False), ONES)
    drawn = run(y, True)
    assert abs(drawn.mean() - mean) < 0.05
    assert abs(drawn.std() - stddev) < 0.05


def test_alpha_dropout_keeps_mean_and_variance() -> None:
    x = np.random.RandomState(0).randn(200, 100).astype(np.float32)
    y = L.AlphaDropout(0.3, seed=4)(tf.constant(x))
    np.testing.assert_array_equal(run(y, False), x)
    drawn = run(y, True)
    assert abs(drawn.mean()) < 0.05
    assert abs(drawn.std() - 1) < 0.05
    # What was dropped is the same everywhere.
    assert np.unique(drawn, return_counts=True)[1].max() / drawn.size == pytest.approx(
        0.3, abs=0.02
    )


def test_rates_that_change_nothing() -> None:
    x = tf.constant(ONES)
    for layer in (L.GaussianDropout(0.0), L.AlphaDropout(0.0)):
        np.testing.assert_array_equal(run(layer(x, training=True)), ONES)


def test_updates_of_batch_normalization_belong_to_their_inputs() -> None:
    a, b = tf.constant(ONES), tf.constant(ONES * 2)
    layer = L.BatchNormalization()
    layer(a), layer(b)
    assert len(layer.updates) == 4
    assert len(layer.get_updates_for(a)) == len(layer.get_updates_for(b)) == 2
    assert layer.get_updates_for(None) == []
    # Those of tf.layers are in the collection; Keras leaves them to its models.
    assert tf.get_collection(tf.GraphKeys.UPDATE_OPS) == []
    layer.trainable = False
    assert layer.updates == []
    assert layer.trainable_weights == []


def test_batch_normalization_that_is_always_one_or_the_other() -> None:
    x = tf.constant(np.random.RandomState(0).randn(8, 3).astype(np.float32))
    trained, tested = L.BatchNormalization(), L.BatchNormalization()
    y, z = trained(x, training=True), tested(x, training=False)
    assert len(trained.updates) == 2
    assert tested.updates == []
    got, plain, x = run([y, z, x])
    np.testing.assert_allclose(got.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(plain, x / np.sqrt(1.001), rtol=1e-5)


def test_adjustment() -> None:
    x = tf.constant(np.random.RandomState(0).randn(8, 3).astype(np.float32))
    layer = L.BatchNormalization(adjustment=lambda shape: (tf.constant(2.0), tf.constant(1.0)))
    y = layer(x)
    np.testing.assert_allclose(run(y, True).mean(0), 1, atol=1e-5)
    np.testing.assert_allclose(run(y, True).std(0), 2, atol=1e-2)
    assert abs(run(y, False).mean()) < 0.5
    assert "adjustment" not in layer.get_config()


def test_a_lambda_keeps_the_variables_it_makes() -> None:
    def scaled(x):
        return x * tf.Variable(3.0, name="by")

    layer = L.Lambda(scaled)
    first, second = layer(tf.constant(ONES)), layer(tf.constant(ONES * 2))
    assert len(layer.trainable_weights) == 1
    a, b = run([first, second])
    assert (a[0, 0], b[0, 0]) == (3.0, 6.0)
    assert layer.compute_output_shape((None, 7)).as_list() == [None, 7]


def test_lambda_gets_mask_and_training() -> None:
    x = tf.constant(ONES)
    x._keras_mask = tf.constant(True)
    layer = L.Lambda(
        lambda x, mask, training: x * tf.cast(mask, x.dtype) * (2.0 if training else 1.0)
    )
    assert run(layer(x, training=True))[0, 0] == 2.0
    assert L.Lambda(lambda x: x, output_shape=(4, 5)).compute_output_shape((3, 2)).as_list() == [
        3,
        4,
        5,
    ]


def test_merging_functions() -> None:
    a, b = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 5.0]])
    names = ("add", "subtract", "multiply", "average", "maximum", "minimum")
    got = run([getattr(L, name)([a, b]) for name in names])
    wanted = [[4, 7], [-2, -3], [3, 10], [2, 3.5], [3, 5], [1, 2]]
    np.testing.assert_array_equal(np.concatenate(got), wanted)
    assert run(L.concatenate([a, b], axis=0)).shape == (2, 2)
    assert run(L.dot([a, b], 1)).item() == 13.0


def test_merging_what_has_no_known_rank() -> None:
    x, y = np.arange(24.0).reshape(2, 3, 4), np.arange(8.0).reshape(2, 4)
    a, b = tf.placeholder(tf.float64, None), tf.placeholder(tf.float64, [None, 4])
    total = L.Add()([a, b])
    assert total.shape.ndims is None
    with tf.Session() as session:
        got = session.run(total, {a: x, b: y})
    np.testing.assert_array_equal(got, x + y[:, None])


def test_time_distributed_steps_through_layers_it_does_not_know() -> None:
    class Counted(L.Layer):
        def call(self, inputs):
            return inputs * 2.0

        def compute_output_shape(self, input_shape):
            return input_shape

    x = np.random.RandomState(0).randn(2, 3, 4).astype(np.float32)
    y = L.TimeDistributed(Counted())(tf.constant(x))
    assert any(op.type == "Exit" or op.type == "While" for op in y.graph.get_operations())
    np.testing.assert_array_equal(run(y), x * 2)


def test_time_distributed_takes_models_whole() -> None:
    x = np.random.RandomState(0).randn(2, 3, 4).astype(np.float32)
    inner = tf.keras.Sequential([L.Dense(5, input_shape=(4,)), L.ReLU()])
    y = L.TimeDistributed(inner)(tf.constant(x))
    assert not any(op.type in ("Exit", "While") for op in y.graph.get_operations())
    got, kernel = run([y, inner.layers[0].kernel])
    np.testing.assert_allclose(got, np.maximum(x @ kernel, 0), rtol=1e-4, atol=1e-6)


def test_those_of_tf_layers_are_keras_layers() -> None:
    for name in ("Dense", "Dropout", "Flatten", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose"):
        assert issubclass(getattr(tf.layers, name), getattr(L, name))
    for name in ("SeparableConv2D", "MaxPooling2D", "AveragePooling1D", "BatchNormalization"):
        assert issubclass(getattr(tf.layers, name), (getattr(L, name), tf.layers.Layer))
    assert issubclass(L.Conv2DTranspose, L.Conv2D)
    assert issubclass(L.DepthwiseConv2D, L.Conv2D)
