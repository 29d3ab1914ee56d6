"""tf.contrib.timeseries: readers, windows, autoregressive models and their Estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from weft.contrib import timeseries

import weft as tf
from weft.lib.contrib.timeseries import (
    autoregressive,
    head,
    inputs,
    models,
    readers,
    regressors,
)

LENGTH = 60


@pytest.fixture(autouse=True)
def _close_writers() -> Any:
    yield
    tf.summary.FileWriterCache.clear()


def series(features: int = 1) -> dict[str, Any]:
    times = np.arange(LENGTH)
    waves = [np.sin(2 * np.pi * times / 10 + phase) * 5 + 3 for phase in range(features)]
    return {"times": times, "values": np.stack(waves, 1).astype(np.float32)}


def run(made: Any, count: int = 1) -> list[Any]:
    coordinator = tf.train.Coordinator()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(made) for _ in range(count)]
        coordinator.request_stop()
        session.run(
            [op for op in tf.get_default_graph().get_operations() if "close_Cancel" in op.name]
        )
        coordinator.join(threads, ignore_live_threads=True)
    return found


# ---- readers -------------------------------------------------------------------------------------


def test_arrays() -> None:
    reader = timeseries.NumpyReader({"times": [1, 2, 3], "values": [4.0, 5.0, 6.0]})
    features, labels = timeseries.WholeDatasetInputFn(reader)()
    assert labels is None
    (found,) = run(features)
    assert found["times"].tolist() == [[1, 2, 3]]
    assert found["values"].tolist() == [[[4.0], [5.0], [6.0]]]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"times": [1]}, "times and values are required features"),
        ({"times": [1, 2], "values": [1.0]}, "prefixed by the shape of the times feature"),
        ({"times": [1], "values": [[[1.0]]]}, r"at most 2 dimensions \(\[series length"),
        ({"times": 1, "values": [[1.0]]}, r"at most 1 dimension \(\[number of features"),
        ({"times": [[[1]]], "values": [[[1.0]]]}, "dimensions for times"),
        ({"times": [[1], [2]], "values": [[1.0], [2.0]]}, "expecting unbatched input"),
    ],
)
def test_arrays_that_are_no_series(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        timeseries.NumpyReader(data)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("time,a,b\n1,2.0,3.0\n2,4.0,5.0\n")
    reader = timeseries.CSVReader(
        [str(path), str(path)], ("times", "values", "values"), skip_header_lines=1
    )
    (found,) = run(timeseries.WholeDatasetInputFn(reader)()[0])
    assert found["times"].tolist() == [[1, 2, 1, 2]]
    assert found["values"].tolist() == [[[2, 3], [4, 5], [2, 3], [4, 5]]]
    for names, message in (
        (("values",), "'times' is a required column"),
        (("times",), "'values' is a required column"),
        (("times", "times", "values"), "more than one times column"),
    ):
        with pytest.raises(ValueError, match=message):
            timeseries.CSVReader("x", names)
    with pytest.raises(ValueError, match="the length of column_dtypes must match"):
        timeseries.CSVReader("x", column_dtypes=[tf.int64])


def test_examples(tmp_path: Path) -> None:
    path = str(tmp_path / "a.tfrecord")
    with tf.python_io.TFRecordWriter(path) as writer:
        for time in range(3):
            example = tf.train.Example()
            example.features.feature["times"].int64_list.value.append(time)
            example.features.feature["values"].float_list.value.append(time * 2)
            writer.write(example.SerializeToString())
    spec = {
        "times": tf.FixedLenFeature([], tf.int64),
        "values": tf.FixedLenFeature([1], tf.float32),
    }
    (found,) = run(readers.TFExampleReader(path, spec).read_full())
    assert found["values"].tolist() == [[0.0], [2.0], [4.0]]


# ---- windows -------------------------------------------------------------------------------------


@pytest.mark.parametrize("jitter", [False, True])
@pytest.mark.parametrize("discard", [False, True])
def test_windows(jitter: bool, discard: bool) -> None:
    reader = timeseries.NumpyReader(series())
    windows = timeseries.RandomWindowInputFn(
        reader, window_size=7, batch_size=4, jitter=jitter, discard_out_of_order=discard,
        num_threads=1, queue_capacity_multiplier=10,
    )  # fmt: skip
    features = windows()[0]
    assert features["values"].shape.as_list() == [4, 7, 1]
    for found in run(features, 3):
        steps = np.diff(found["times"], axis=1)
        assert (steps >= 0).all()
        if discard:
            assert (steps == 1).all()
        expected = series()["values"][found["times"]]
        np.testing.assert_array_equal(found["values"], expected)
    with pytest.raises(ValueError, match="windows of size 70, but only 60 records"):
        timeseries.RandomWindowInputFn(reader, window_size=70, batch_size=4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "One of `steps` and `times` must be specified"),
        ({"steps": 1, "times": [5]}, "Only one of `steps` and `times`"),
        ({"times": [[5], [6]]}, "batch dimension of 2 for `times` and 1"),
        ({"times": [4]}, "must be after the corresponding"),
    ],
)
def test_times_to_come(options: dict[str, Any], message: str) -> None:
    evaluation = {"times": np.array([[3, 4]]), "start_tuple": ()}
    with pytest.raises(ValueError, match=message):
        timeseries.predict_continuation_input_fn(evaluation, **options)
    assert inputs.later_times(evaluation, 3, None).tolist() == [[5, 6, 7]]
    assert inputs.later_times(evaluation, None, [6, 9]).tolist() == [[6, 9]]


# ---- models --------------------------------------------------------------------------------------


def test_the_time_in_a_cycle() -> None:
    model = timeseries.ARModel([10, 1], 0, 3, 1, num_time_buckets=2)
    found = model._time_features(tf.constant([[9, 15, 22]]))
    (values,) = run(found)
    # Half a cycle is one bucket: 9 is 0.8 into the second of 10, 15 at its start, 22 in the first.
    np.testing.assert_allclose(values[0, :, :2], [[0, 0.8], [0, 0], [0.4, 0]], atol=1e-6)


def test_densities() -> None:
    found = autoregressive.normal_log_prob(1.0, tf.constant(2.0), 4.0)
    cauchy = autoregressive.cauchy_log_prob(1.0, tf.constant(2.0), 4.0)
    values = run([found, cauchy])[0]
    z = 1.5
    expected = [-0.5 * (z**2 + np.log(2 * np.pi) + np.log(2)),
                -np.log(np.pi) - np.log(2) - np.log1p(z**2)]  # fmt: skip
    np.testing.assert_allclose(values, expected, rtol=1e-6)


def test_losses() -> None:
    made = timeseries.ARModel(None, 2, 1, 1, loss=timeseries.ARModel.SQUARED_LOSS)
    targets, predicted = tf.constant([[[1.0], [3.0]]]), {"mean": tf.constant([[[2.0], [6.0]]])}
    assert run(made.loss_op(targets, predicted))[0] == 5.0
    mixture = autoregressive.AnomalyMixtureARModel(None, 0.1, 2, 1, 1)
    predicted |= {"covariance": tf.ones([1, 2, 1]), "anomaly_params": tf.constant(4.0)}
    usual = np.array([0.5, 4.5]) + 0.5 * np.log(2 * np.pi)
    odd = np.array([1, 9]) / 8 + 0.5 * (np.log(2 * np.pi) + np.log(2))
    expected = -np.mean(np.log(0.9 * np.exp(-usual) + 0.1 * np.exp(-odd)))
    np.testing.assert_allclose(run(mixture.loss_op(targets, predicted))[0], expected, rtol=1e-6)


def windows(reader: Any, size: int) -> Any:
    return timeseries.RandomWindowInputFn(
        reader, window_size=size, batch_size=8, num_threads=1, shuffle_seed=2
    )


@pytest.mark.parametrize(
    ("before", "after", "options"),
    [
        (6, 3, {}),
        (4, 6, {"loss": "squared_loss", "hidden_layer_sizes": [8]}),
        (0, 5, {"num_time_buckets": 7}),
        (6, 2, {"anomaly_prior_probability": 0.05, "anomaly_distribution": "cauchy"}),
    ],
)
def test_regression(before: int, after: int, options: Any, tmp_path: Path) -> None:
    reader = timeseries.NumpyReader(series(2))
    made = timeseries.ARRegressor(
        10, before, after, 2, optimizer=tf.train.AdamOptimizer(0.05), model_dir=str(tmp_path),
        **options,
    )  # fmt: skip
    made.train(windows(reader, before + after), steps=150)
    evaluation = made.evaluate(timeseries.WholeDatasetInputFn(reader), steps=1)
    count = (LENGTH - before) // after * after
    assert evaluation["mean"].shape == (1, count, 2)
    assert evaluation["times"].tolist() == [list(range(LENGTH - count, LENGTH))]
    np.testing.assert_array_equal(evaluation["observed"][0], series(2)["values"][-count:])
    assert np.abs(evaluation["mean"] - evaluation["observed"]).mean() < 1.0
    states = evaluation["start_tuple"]
    assert [each.shape for each in states] == [(1, before), (1, before, 2), (1, before, 0)]
    (found,) = made.predict(timeseries.predict_continuation_input_fn(evaluation, steps=7))
    assert found["times"].tolist() == list(range(LENGTH, LENGTH + 7))
    times = np.arange(LENGTH, LENGTH + 7)
    expected = np.stack([np.sin(2 * np.pi * times / 10 + phase) * 5 + 3 for phase in range(2)], 1)
    assert np.abs(found["mean"] - expected).mean() < 1.5
    assert (found["covariance"] > 0).all()


def test_further_features(tmp_path: Path) -> None:
    data = series()
    data["holiday"] = (data["times"] % 7 == 0).astype(np.float32)
    data["values"] = data["values"] + 4 * data["holiday"][:, None]
    reader = timeseries.NumpyReader(data)
    made = timeseries.ARRegressor(
        10, 6, 3, 1, exogenous_feature_columns=[tf.feature_column.numeric_column("holiday")],
        model_dir=str(tmp_path), optimizer=tf.train.AdamOptimizer(0.05),
    )  # fmt: skip
    made.train(windows(reader, 9), steps=100)
    evaluation = made.evaluate(timeseries.WholeDatasetInputFn(reader), steps=1)
    found = next(made.predict(timeseries.predict_continuation_input_fn(
        evaluation, steps=4, exogenous_features={"holiday": np.array([[0.0, 0, 0, 1]], np.float32)}
    )))  # fmt: skip
    assert found["mean"].shape == (4, 1)


def test_exported_models(tmp_path: Path) -> None:
    reader = timeseries.NumpyReader(series())
    made = timeseries.ARRegressor(10, 6, 3, 1, model_dir=str(tmp_path / "m"))
    made.train(windows(reader, 9), steps=2)
    path = made.export_saved_model(
        str(tmp_path / "e"), made.build_raw_serving_input_receiver_fn()
    ).decode()
    with tf.Session(graph=tf.Graph()) as session:
        graph = tf.saved_model.loader.load(session, ["serve"], path)
        signatures = graph.signature_def
        assert set(signatures) == {"serving_default", "filter", "cold_start_filter"}
        cold = signatures["cold_start_filter"]
        assert set(cold.inputs) == {"times", "values"}
        data = series()
        state = session.run(
            {name: each.name for name, each in cold.outputs.items()},
            {
                cold.inputs["times"].name: data["times"][None],
                cold.inputs["values"].name: data["values"][None],
            },
        )
        predict = signatures["serving_default"]
        feeds = {predict.inputs[name].name: each for name, each in state.items()}
        feeds[predict.inputs["times"].name] = np.arange(60, 65)[None]
        assert session.run(predict.outputs["mean"].name, feeds).shape == (1, 5, 1)


def test_recurrent_networks(tmp_path: Path) -> None:
    reader = timeseries.NumpyReader(series())
    made = regressors.LSTMAutoRegressor(10, 6, 3, str(tmp_path), num_units=8)
    made.train(windows(reader, 9), steps=3)
    evaluation = made.evaluate(timeseries.WholeDatasetInputFn(reader), steps=1)
    assert "start_tuple" not in evaluation and evaluation["mean"].shape == (1, 54, 1)
    receiver = made.build_one_shot_parsing_serving_input_receiver_fn(20, 5)
    path = made.export_saved_model(str(tmp_path / "e"), receiver).decode()
    example = tf.train.Example()
    example.features.feature["times"].int64_list.value.extend(range(25))
    example.features.feature["values"].float_list.value.extend(series()["values"][:20, 0])
    with tf.Session(graph=tf.Graph()) as session:
        graph = tf.saved_model.loader.load(session, ["serve"], path)
        predict = graph.signature_def["serving_default"]
        found = session.run(
            predict.outputs["mean"].name,
            {predict.inputs["examples"].name: [example.SerializeToString()]},
        )
    assert found.shape == (1, 5, 1)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"times": [[1]]}, "Expected a 'values' feature for training/evaluation"),
        ({"values": [[[1.0]]]}, "Expected a 'times' feature"),
        ({"times": [1], "values": [[[1.0]]]}, r"Expected shape \(batch dimension, window size\)"),
        ({"times": [[1, 2]], "values": [[[1.0]]]}, "match the 'times' feature"),
        ({"times": [[1]], "values": [[[1.0, 2.0]]]}, "configured with num_features=1"),
        ({"times": [[1] * 8], "values": [[[1.0]] * 8]}, r"set window_size=9 or adjust"),
    ],
)
def test_features_that_do_not_fit(features: dict[str, Any], message: str) -> None:
    model = timeseries.ARModel(10, 6, 3, 1)
    made = head.TimeSeriesRegressionHead(model, models.FilteringOnlyStateManager(), None)
    given = {name: tf.constant(each) for name, each in features.items()}
    with pytest.raises(ValueError, match=message):
        made.create_estimator_spec(given, tf.estimator.ModeKeys.TRAIN)
    with pytest.raises(ValueError, match="received a `labels`, which is not supported"):
        made.create_estimator_spec(given, tf.estimator.ModeKeys.TRAIN, tf.ones([1]))
