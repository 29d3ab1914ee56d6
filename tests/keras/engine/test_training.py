"""Training: what data may be, what is refused, and what is remembered between calls."""

from __future__ import annotations

import re

import numpy as np
import pytest

import weft as tf
from weft.core import flags
from weft.lib.keras.engine import layer_dtype
from weft.lib.keras.premade.linear import LinearModel
from weft.lib.keras.premade.wide_deep import WideDeepModel

keras = tf.keras
layers = keras.layers


def stack(outputs: int = 1, **kwargs) -> tf.keras.Sequential:
    model = keras.Sequential([layers.Dense(outputs, input_shape=(3,), name="d", **kwargs)])
    model.set_weights([np.full((3, outputs), 0.5), np.zeros(outputs)])
    return model


X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
Y = X.sum(1)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.ones((4, 2)), np.ones(4), r"expected d_input to have shape \(3,\) but got array"),
        (np.ones((4, 3, 1)), np.ones(4), "expected d_input to have 2 dimensions"),
        (np.ones((4, 3)), np.ones(5), "Found 4 input samples and 5 target samples"),
        (np.ones((4, 3)), [np.ones(4)] * 2, r"Expected to see 1 array\(s\), but instead got"),
        (
            np.ones((4, 3)).tolist(),
            np.ones(4),
            r"to have shape \(3,\) but got array with shape \(1",
        ),
        (np.ones((4, 3)), np.ones((4, 2)), "expects targets to have the same shape"),
        ({"wrong": np.ones((4, 3))}, np.ones(4), 'No data provided for "d_input"'),
    ],
)
def test_wrong_data_are_refused(x, y, message) -> None:
    model = stack()
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match=message):
        model.fit(x, y, verbose=0)


def test_wrong_settings_are_refused() -> None:
    model = stack()
    with pytest.raises(RuntimeError, match="must compile your model"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="one entry per model outputs"):
        model.compile("sgd", ["mse", "mse"])
    with pytest.raises(ValueError, match="Unknown entries in loss dictionary"):
        model.compile("sgd", {"nothing": "mse"})
    with pytest.raises(ValueError, match="no loss to optimize"):
        model.compile("sgd")
    with pytest.raises(ValueError, match="if eager execution is enabled"):
        model.compile("sgd", "mse", run_eagerly=True)
    with pytest.raises(TypeError, match="Type of `metrics` argument"):
        model.compile("sgd", "mse", metrics="mae")
    model.compile("sgd", "mse")
    with pytest.raises(TypeError, match="Unrecognized keyword arguments"):
        model.fit(X, Y, spam=1)
    with pytest.raises(ValueError, match="`validation_steps` should not be specified"):
        model.fit(X, Y, validation_steps=2)
    with pytest.raises(ValueError, match="sample_weight cannot be broadcast"):
        model.fit(X, Y, sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="must contain all classes"):
        model.fit(X, np.arange(8) % 3, class_weight={0: 1.0})


def test_datasets_bring_their_targets() -> None:
    model = stack()
    model.compile("sgd", "mse")
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    with pytest.raises(ValueError, match="should not specify a target"):
        model.fit(dataset, Y)
    with pytest.raises(ValueError, match="`batch_size` argument must not be specified"):
        model.fit(dataset, batch_size=3)
    with pytest.raises(ValueError, match="infinitely repeating dataset"):
        model.fit(dataset.repeat())
    with pytest.raises(ValueError, match="not iterators"):
        model.fit(tf.data.make_one_shot_iterator(dataset), steps_per_epoch=1)
    weighted = tf.data.Dataset.from_tensor_slices((X, Y, np.zeros(8, np.float32))).batch(8)
    assert model.evaluate(weighted, verbose=0) == 0.0


def test_more_steps_than_a_dataset_has_end_the_training(caplog) -> None:
    model = stack()
    model.compile("sgd", "mse")
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    ran = model.fit(dataset, epochs=3, steps_per_epoch=3, verbose=0)
    assert len(ran.history["loss"]) == 1
    assert "`steps_per_epoch * epochs` batches (in this case, 9 batches)" in caplog.text
    counted = model.fit(dataset, epochs=2, steps_per_epoch=1, verbose=0)
    assert len(counted.history["loss"]) == 2


def test_a_training_without_targets_takes_the_learning_phase_for_them(caplog) -> None:
    model, same = stack(), stack()
    model.compile("sgd", "mse")
    same.compile("sgd", "mse")
    # The placeholder for targets claims the rank of the output.
    with flags.CHECK.override(False):
        found = model.fit(X, epochs=2, shuffle=False, verbose=0).history["loss"]
    assert "['d'], but no data were passed" in caplog.text
    expected = same.fit(X, np.ones(8), epochs=2, shuffle=False, verbose=0).history["loss"]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must feed a value for placeholder"):
        model.evaluate(X, verbose=0)


def test_outputs_without_a_loss_need_no_targets() -> None:
    inputs = keras.Input((3,))
    first, second = layers.Dense(1, name="a")(inputs), layers.Dense(1, name="b")(inputs)
    model = keras.Model(inputs, [first, second])
    model.add_loss(tf.reduce_mean(tf.square(first) + tf.square(second)))
    model.compile("sgd", [None, None])
    losses = model.fit(X, epochs=3, verbose=0).history["loss"]
    assert losses[0] > losses[1] > losses[2]
    assert model.evaluate(X, verbose=0) < losses[2]


class Uneven(keras.utils.Sequence):
    """Eight samples in batches of three, three and two."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int):
        return X[3 * index : 3 * index + 3], Y[3 * index : 3 * index + 3]


def test_arrays_that_validate_a_sequence_are_cut_as_its_last_batch() -> None:
    model = stack()
    model.compile("sgd", "mse")
    history = model.fit(
        Uneven(), validation_data=(X[:5], Y[:5], None), shuffle=False, verbose=0, workers=0
    ).history
    parts = [model.test_on_batch(X[i : min(i + 2, 5)], Y[i : min(i + 2, 5)]) for i in (0, 2, 4)]
    assert history["val_loss"][0] == pytest.approx(np.mean(parts), rel=1e-6)


def test_an_iterator_feeds_single_batches() -> None:
    model = stack()
    model.compile("sgd", "mse")
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    iterator = tf.data.make_one_shot_iterator(dataset)
    keras.backend.get_session()
    expected = model.test_on_batch(X[:4], Y[:4])
    assert model.test_on_batch(iterator) == pytest.approx(expected)


def test_tensors_of_the_program_as_data() -> None:
    x, y = tf.constant(X), tf.constant(Y[:, None])
    inputs = keras.Input(tensor=x)
    model = keras.Model(inputs, layers.Dense(1)(inputs))
    model.compile("sgd", "mse", target_tensors=y)
    losses = model.fit(epochs=3, steps_per_epoch=4, verbose=0).history["loss"]
    assert losses[0] > losses[1] > losses[2]
    assert model.predict(None, steps=2).shape == (16, 1)
    with pytest.raises(ValueError, match="should specify the `steps_per_epoch`"):
        model.fit(epochs=1)


def test_labels_may_have_an_axis_less_than_outputs() -> None:
    model = keras.Sequential([layers.Dense(4, activation="softmax", input_shape=(2, 3))])
    model.compile("sgd", "sparse_categorical_crossentropy")
    x, y = np.ones((5, 2, 3), np.float32), np.arange(10).reshape(5, 2) % 4
    # The placeholder for labels claims the rank of the output, as TensorFlow's does.
    with flags.CHECK.override(False):
        assert np.isfinite(model.train_on_batch(x, y))


def test_weights_of_samples_come_and_go_without_a_new_function() -> None:
    model = stack()
    model.compile("sgd", "mse")
    plain = model.test_on_batch(X, Y)
    first = model.test_function
    assert model.test_on_batch(X, Y, sample_weight=np.zeros(8)) == 0.0
    assert model.test_function is not first
    assert model.test_on_batch(X, Y) == plain
    assert model.test_function is first


def test_metrics_start_again_with_every_epoch_and_batch() -> None:
    model = stack()
    model.compile("sgd", "mse", metrics=["mae"])
    one = model.test_on_batch(X[:4], Y[:4])
    assert model.test_on_batch(X[:4], Y[:4]) == one
    model.test_on_batch(X[:4], Y[:4], reset_metrics=False)
    both = model.test_on_batch(X[4:], Y[4:], reset_metrics=False)
    error = np.abs(X.sum(1) * 0.5 - Y).mean()
    assert both[1] == pytest.approx(error, rel=1e-5)


def test_what_is_trained_was_settled_by_compile() -> None:
    model = stack()
    model.compile("sgd", "mse")
    model.trainable = False
    before = model.get_weights()[0]
    model.train_on_batch(X, Y)
    assert not np.array_equal(model.get_weights()[0], before)
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    model.train_on_batch(X, Y)
    np.testing.assert_array_equal(model.get_weights()[0], before)


def test_dropout_is_for_training_only() -> None:
    model = keras.Sequential([layers.Dropout(0.5, input_shape=(100,))])
    model.compile("sgd", "mse")
    x = np.ones((2, 100), np.float32)
    np.testing.assert_array_equal(model.predict(x), x)
    assert model.test_on_batch(x, x) == 0.0
    assert model.train_on_batch(x, x) > 0.5


def test_a_fixed_batch_size_is_kept_to() -> None:
    model = keras.Sequential([layers.Dense(1, batch_input_shape=(4, 3))])
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    with pytest.raises(ValueError, match="incompatible with the specified batch size"):
        model.fit(X, Y, batch_size=3)


def test_a_stateful_model_wants_whole_batches() -> None:
    model = keras.Sequential([layers.SimpleRNN(2, stateful=True, batch_input_shape=(4, 2, 3))])
    model.compile("sgd", "mse")
    with pytest.raises(ValueError, match="divided by the batch size"):
        model.fit(np.ones((6, 2, 3)), np.ones((6, 2)), verbose=0)


def test_validation_at_some_epochs() -> None:
    model = stack()
    model.compile("sgd", "mse")
    history = model.fit(
        X, Y, epochs=4, verbose=0, validation_data=(X, Y), validation_freq=[2, 3]
    ).history
    assert len(history["loss"]) == 4 and len(history["val_loss"]) == 2
    with pytest.raises(ValueError, match="can not be less than 1"):
        model.fit(X, Y, verbose=0, validation_split=0.5, validation_freq=0)


def test_generators_that_end_stop_the_training() -> None:
    model = stack()
    model.compile("sgd", "mse")
    history = model.fit_generator(
        ((X, Y) for _ in range(3)), steps_per_epoch=2, epochs=3, verbose=0, workers=0
    )
    assert history.epoch == [0, 1]
    with pytest.raises(ValueError, match="specify the number of steps"):
        model.fit_generator((X, Y) for _ in range(3))
    with pytest.raises(ValueError, match="`y` argument is not supported"):
        model.fit(((X, Y) for _ in range(3)), Y, steps_per_epoch=1)


def test_what_is_printed(capsys) -> None:
    model = stack()
    model.compile("sgd", "mse")
    model.fit(X, Y, epochs=2, verbose=2, validation_split=0.25)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Train on 6 samples, validate on 2 samples"
    assert lines[1] == "Epoch 1/2"
    assert re.fullmatch(r"6/6 - \d+s - loss: \d+\.\d{4} - val_loss: \d+\.\d{4}", lines[2])


def test_names_of_operations() -> None:
    model = stack()
    model.compile(tf.train.GradientDescentOptimizer(0.1), "mse", metrics=["mae"])
    model.train_on_batch(X, Y, sample_weight=np.ones(8))
    ops = {op.name for op in tf.get_default_graph().get_operations()}
    expected = {"d_target", "d_sample_weights", "keras_learning_phase", "d/MatMul", "d_input"}
    assert expected <= ops
    assert model.total_loss.op.name.startswith("loss_1/")
    assert any(name.startswith("metrics/mean_absolute_error/") for name in ops)
    assert any(name.startswith("loss/d_loss/") for name in ops)


def test_a_session_of_the_program_is_used() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        model = stack()
        model.compile("sgd", "mse")
        model.train_on_batch(X, Y)
        assert session.run(model.weights[0]).shape == (3, 1)
        assert keras.backend.get_session() is session


def test_mixed_precision_keeps_variables_in_float32() -> None:
    layer_dtype.enable_v2_dtype_behavior()
    experimental = keras.mixed_precision.experimental
    try:
        experimental.set_policy("mixed_float16")
        model = keras.Sequential([layers.Dense(2, input_shape=(3,)), layers.Dense(1)])
        model.compile("sgd", "mse")
        model.train_on_batch(X, Y)
    finally:
        experimental.set_policy("infer")
        layer_dtype.disable_v2_dtype_behavior()
    assert model.output.dtype == tf.float16
    assert {w.dtype.base_dtype for w in model.weights} == {tf.float32}
    assert isinstance(model.optimizer, experimental.LossScaleOptimizer)


def test_models_that_are_ready() -> None:
    deep = keras.Sequential([layers.Dense(4, activation="relu"), layers.Dense(1)])
    model = WideDeepModel(LinearModel(), deep)
    model.compile([keras.optimizers.SGD(0.1), "adam"], "mse")
    losses = model.fit(X, Y, epochs=4, verbose=0).history["loss"]
    assert losses[-1] < losses[0]
    again = WideDeepModel.from_config(model.get_config())
    assert isinstance(again.linear_model, LinearModel) and len(again.dnn_model.layers) == 2
    made = LinearModel.from_config(LinearModel(units=3, activation="relu").get_config())
    assert made.units == 3 and made.activation is keras.activations.relu
    two = LinearModel()
    assert two([tf.ones([2, 3]), tf.ones([2, 4])]).shape.as_list() == [2, 1]
    assert len(two.weights) == 3


def test_call_may_be_a_function_of_the_graph() -> None:
    class Doubles(keras.Model):
        @tf.function
        def call(self, inputs):
            return 2.0 * inputs

    np.testing.assert_array_equal(Doubles().predict(np.ones((2, 3))), np.full((2, 3), 2))


def test_a_stack_on_columns_of_features() -> None:
    column = tf.feature_column.numeric_column("a", shape=(2,))
    model = keras.Sequential([layers.DenseFeatures([column]), layers.Dense(1)])
    model.compile("sgd", "mse")
    x = {"a": np.ones((4, 2))}
    assert model.fit(x, np.ones(4), epochs=2, verbose=0).history["loss"][1] >= 0
    assert model.predict(x).shape == (4, 1)
