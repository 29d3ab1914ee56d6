"""Where data come from: what a training that fails leaves behind, and datasets in every place."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest

import weft as tf
from weft.lib.keras.engine import training_loop, training_sources
from weft.lib.keras.utils.data_utils import GeneratorEnqueuer

keras = tf.keras
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
Y = X.sum(1, keepdims=True)


def compiled() -> tf.keras.Sequential:
    model = keras.Sequential([keras.layers.Dense(1, input_shape=(3,), name="d")])
    model.set_weights([np.full((3, 1), 0.5), np.zeros(1)])
    model.compile("sgd", "mse")
    return model


def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    while True:
        yield X, Y


@pytest.fixture
def workers(monkeypatch) -> list[GeneratorEnqueuer]:
    """Whatever makes batches in a test; after an error, it has as long as it needs to end."""
    made = []

    class Noted(GeneratorEnqueuer):
        def __init__(self, *args, **kwargs) -> None:
            super().__init__(*args, **kwargs)
            made.append(self)

    monkeypatch.setattr(training_sources, "GeneratorEnqueuer", Noted)
    monkeypatch.setattr(training_loop, "SECONDS_TO_END", 60.0)
    return made


def has_ended(worker: GeneratorEnqueuer) -> bool:
    return worker.run_thread is None or not worker.run_thread.is_alive()


class Fails(keras.callbacks.Callback):
    def on_batch_end(self, batch, logs=None) -> None:
        raise KeyError("a mistake of the program")


class NeverBegins(keras.callbacks.Callback):
    def set_params(self, params) -> None:
        raise KeyError("a mistake of the program")


@pytest.mark.parametrize("callback", [Fails, NeverBegins])
def test_workers_end_with_a_training_that_fails(callback, workers) -> None:
    with pytest.raises(KeyError, match="a mistake"):
        compiled().fit_generator(batches(), 4, workers=2, verbose=0, callbacks=[callback()])
    (worker,) = workers
    assert has_ended(worker)


def test_workers_end_when_a_batch_cannot_be_used(workers) -> None:
    wrong = ((X[:, :2], Y) for _ in range(20))
    with pytest.raises(ValueError, match="expected d_input to have shape"):
        compiled().evaluate_generator(wrong, 3, workers=2)
    (worker,) = workers
    assert has_ended(worker)


def test_a_generator_that_is_stuck_does_not_hold_up_an_error(workers, monkeypatch) -> None:
    monkeypatch.setattr(training_loop, "SECONDS_TO_END", 0.01)
    wake = threading.Event()

    def stuck() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield X, Y
        wake.wait()
        yield X, Y

    with pytest.raises(KeyError, match="a mistake"):
        compiled().fit_generator(stuck(), 4, verbose=0, callbacks=[Fails()])
    (worker,) = workers
    assert not has_ended(worker)
    wake.set()
    worker.run_thread.join()


def test_datasets_where_generators_are_expected() -> None:
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    ways = [compiled() for _ in range(2)]
    found = [
        ways[0].fit(dataset, epochs=2, validation_data=dataset, verbose=0).history,
        ways[1].fit_generator(dataset, epochs=2, validation_data=dataset, verbose=0).history,
    ]
    assert found[0] == found[1]
    assert ways[0].evaluate(dataset, verbose=0) == ways[1].evaluate_generator(dataset)
    predicted = ways[1].predict_generator(dataset.map(lambda x, y: x), steps=1)
    np.testing.assert_array_equal(predicted, ways[0].predict(X[:4]))


def test_a_dataset_that_is_not_shuffled_is_mentioned(caplog) -> None:
    dataset = tf.data.Dataset.from_tensor_slices((X, Y))
    model = compiled()
    model.fit(dataset.shuffle(8).batch(4), verbose=0)
    model.fit(dataset.batch(4), shuffle=False, verbose=0)
    unknown = dataset.interleave(lambda x, y: tf.data.Dataset.from_tensors((x, y)))
    model.fit(unknown.batch(4), verbose=0)
    assert "shuffled" not in caplog.text
    model.fit(dataset.batch(4).repeat(2).prefetch(1), verbose=0)
    assert "Expected a shuffled dataset but input dataset `x` is not shuffled." in caplog.text


def test_arrays_that_no_input_is_there_for_are_not_used(caplog) -> None:
    expected = compiled().predict(X)
    np.testing.assert_array_equal(compiled().predict([X, Y]), expected)
    assert "The model has the inputs ['d_input']: further arrays are not used." in caplog.text


def test_predictions_are_of_samples() -> None:
    inputs = keras.Input((3,))
    mean = keras.layers.Lambda(keras.backend.mean)(inputs)
    for size in (4, 8):
        with pytest.raises(RuntimeError, match="Attempted to aggregate unsupported object"):
            keras.Model(inputs, mean).predict(X, batch_size=size)


def test_what_is_no_generator_is_refused_at_once(workers) -> None:
    model = compiled()
    for call in (model.fit_generator, model.evaluate_generator, model.predict_generator):
        with pytest.raises(ValueError, match="When passing input data as arrays, do not specify"):
            call((X, Y), 2)
    assert not workers


def test_batches_have_a_size() -> None:
    model = compiled()
    for call in (model.fit, model.evaluate):
        with pytest.raises(ZeroDivisionError):
            call(X, Y, batch_size=0, verbose=0)
        with pytest.raises(TypeError, match="slice indices must be integers"):
            call(X, Y, batch_size=3.0, verbose=0)
    with pytest.raises(ZeroDivisionError):
        model.predict(X, batch_size=0)


def test_batches_are_shuffled_as_ever() -> None:
    from weft.lib.keras.engine.training_sources import _shuffled_batches

    np.random.seed(0)
    found = [_shuffled_batches(np.arange(10), 2)[::2].tolist() for _ in range(3)]
    assert found == [[4, 0, 2, 6, 8], [0, 4, 2, 8, 6], [2, 6, 8, 0, 4]]
