"""tf.contrib.timeseries: state space models, against their formulas in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.lib.contrib.timeseries import chaining, regressors, saved_model_utils
from weft.lib.contrib.timeseries.state_space import (
    anomalies,
    configuration,
    cycles,
    ensembles,
    kalman,
    level_trend,
    matrices,
    structural,
    varma,
)

timeseries = tf.contrib.timeseries
RANDOM = np.random.RandomState(4)
power = np.linalg.matrix_power


@pytest.fixture(autouse=True)
def closes_writers(leaves_nothing_behind: Any) -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def value(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


def covariance(size: int) -> np.ndarray:
    root = RANDOM.randn(size, size)
    return root @ root.T + np.eye(size)


def doubles(**more: Any) -> Any:
    return configuration.StateSpaceModelConfiguration(dtype=tf.float64, **more)


# ---- matrices ----------------------------------------------------------------------------------


def noise_sum(transition: np.ndarray, noise: np.ndarray, steps: int) -> np.ndarray:
    terms = (power(transition, i) @ noise @ power(transition, i).T for i in range(steps))
    return sum(terms, np.zeros_like(noise))


def test_powers_and_sums() -> None:
    transition, noise, counts = RANDOM.randn(3, 3) / 2, covariance(3), [0, 1, 2, 5, 12]
    found = matrices.powers_and_sums(
        tf.constant(transition), tf.constant(noise), tf.constant(counts, tf.int64)
    )
    powers, sums = value(found)
    np.testing.assert_allclose(powers, [power(transition, n) for n in counts], rtol=1e-9)
    expected = [noise_sum(transition, noise, n) for n in counts]
    np.testing.assert_allclose(sums, expected, rtol=1e-9)


def test_blocks() -> None:
    one, other = RANDOM.randn(4, 2, 3), RANDOM.randn(4, 1, 2)
    found = matrices.block_diagonal([one, other], tf.float64, name="blocks")
    assert found.name == "blocks:0" and found.shape == (4, 3, 5)
    expected = np.zeros([4, 3, 5])
    expected[:, :2, :3], expected[:, 2:, 3:] = one, other
    np.testing.assert_array_equal(value(found), expected)


def test_covariances_of_any_matrices() -> None:
    raw, off, scale = RANDOM.randn(3, 3), -1.5, 0.5
    found = value(matrices.sign_magnitude_positive_definite(raw, off, scale))
    entries = np.exp((raw + off + scale) / 2) * (raw.T / (1 + np.abs(raw.T)))
    factor = np.triu(entries, 1) + np.diag(np.exp((np.diag(raw) + scale) / 2))
    np.testing.assert_allclose(found, factor.T @ factor, rtol=1e-9)
    first = tf.constant([2.0, 3.0], tf.float64)
    learned = matrices.variable_covariance_matrix(2, "noise", tf.float64, first, 1.0)
    assert learned.name == "noise:0"
    names = [v.op.name for v in tf.global_variables()]
    assert names == ["noise_pre_transform", "noise_off_diagonal_scale", "noise_overall_scale"]
    np.testing.assert_allclose(value(learned), np.diag([2.0, 3.0]) * np.e, rtol=1e-9)


def test_clipped_variances_and_the_prior() -> None:
    given = np.diag([4.0, 1.0, 1e-3])
    clipped = matrices.clip_covariance(tf.constant(given), 100.0, 0.0)
    prior = matrices.log_noninformative_covariance_prior(tf.constant(given))
    found, log_prior = value([clipped, prior])
    np.testing.assert_allclose(np.diag(found), [4.0, 1.0, 0.04])
    np.testing.assert_allclose(log_prior, -2 * np.log(4e-3), rtol=1e-4)


# ---- the filter --------------------------------------------------------------------------------


@pytest.mark.parametrize("simple", [False, True])
def test_the_filter(simple: bool) -> None:
    mean, prior = RANDOM.randn(2, 3), np.stack([covariance(3), covariance(3)])
    seen_through, noise = RANDOM.randn(2, 2, 3), covariance(2)
    observed = RANDOM.randn(2, 2)
    filter_ = kalman.KalmanFilter(tf.float64, simple)
    tensors = [tf.constant(each) for each in (mean, prior, seen_through, noise)]
    seen, seen_covariance = filter_.observed_from_state(*tensors)
    found = value(
        filter_.do_filter(*tensors[:2], seen, seen_covariance, tf.constant(observed), *tensors[2:])
    )
    for i in range(2):
        h = seen_through[i]
        s = h @ prior[i] @ h.T + noise
        gain = prior[i] @ h.T @ np.linalg.inv(s)
        away = observed[i] - h @ mean[i]
        np.testing.assert_allclose(found[0][i], mean[i] + gain @ away, rtol=1e-6)
        np.testing.assert_allclose(found[1][i], prior[i] - gain @ h @ prior[i], rtol=1e-5)
        log_prob = -0.5 * (away @ np.linalg.solve(s, away) + np.log(np.linalg.det(2 * np.pi * s)))
        np.testing.assert_allclose(found[2][i], log_prob, rtol=1e-6)


# ---- models ------------------------------------------------------------------------------------


def in_scope(name: str, given: Any) -> Any:
    with tf.variable_scope(name):
        return MODELS[name](given)


MODELS: dict[str, Any] = {
    "level": lambda given: level_trend.AdderStateSpaceModel(configuration=given),
    "slope": lambda given: level_trend.AdderStateSpaceModel(False, given),
    "cycle": lambda given: cycles.CycleStateSpaceModel(5, given),
    "waves": lambda given: cycles.ResolutionCycleModel(3, 7, configuration=given),
    "waves of a part": lambda given: cycles.ResolutionCycleModel(5, 6.5, configuration=given),
    "few waves": lambda given: cycles.ResolutionCycleModel(5, 4, configuration=given),
    "varma": lambda given: varma.VARMA(2, 3, given),
    "one of two": lambda given: ensembles.StateSpaceIndependentEnsemble(
        [in_scope("level", given), in_scope("cycle", given)], given
    ),
}


@pytest.mark.parametrize("kind", MODELS)
def test_several_steps_at_once(kind: str) -> None:
    """Models that know a short way to several steps take none that leads elsewhere."""
    model = MODELS[kind](doubles(use_observation_noise=False))
    model.initialize_graph()
    counts = [0, 1, 2, 7, 16]
    steps = tf.constant(counts, tf.int64)
    fetches = (
        model._tensor(model.get_state_transition()),
        model._tensor(model.get_noise_transform()),
        model.state_transition_noise_covariance,
        model.transition_to_powers(steps),
        model.transition_power_noise_accumulator(steps),
    )
    transition, transform, noise, powers, sums = value(fetches)
    expected = [power(transition, n) for n in counts]
    np.testing.assert_allclose(powers, expected, rtol=1e-6, atol=1e-8)
    moved = transform @ noise @ transform.T
    expected = [noise_sum(transition, moved, n) for n in counts]
    np.testing.assert_allclose(sums, expected, rtol=1e-6, atol=1e-8)


def test_a_cycle_comes_again_and_sums_up_to_zero() -> None:
    model = cycles.CycleStateSpaceModel(4, doubles())
    transition = value(model.get_state_transition())
    np.testing.assert_allclose(power(transition, 4), np.eye(3))
    state, seen = RANDOM.randn(3), []
    for _ in range(4):
        seen.append(state[0])
        state = transition @ state
    np.testing.assert_allclose(sum(seen), 0, atol=1e-12)
    with pytest.raises(ValueError, match="Only odd numbers of latent values are supported"):
        cycles.ResolutionCycleModel(4, 7)


@pytest.mark.parametrize(("ar", "ma"), [(3, 1), (1, 2), (0, 0)])
def test_the_matrices_of_varma(ar: int, ma: int) -> None:
    model = varma.VARMA(ar, ma, doubles(num_features=2))
    model._define_parameters()
    transition, transform, seen = (
        model.get_state_transition(), model.get_noise_transform(), model.get_observation_model(0),
    )  # fmt: skip
    coefficients = {
        model.ar_coefs: RANDOM.randn(2, 2, ar), model.ma_coefs: RANDOM.randn(ma, 2, 2)
    }  # fmt: skip
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for variable, given in coefficients.items():
            variable.load(given, sess)
        transition, transform, seen = sess.run([transition, transform, seen])
    blocks, (ar_coefs, ma_coefs) = max(ar, ma + 1), coefficients.values()
    padded = np.concatenate([ar_coefs, np.zeros([2, 2, blocks - ar])], 2)
    np.testing.assert_allclose(transition[:2], padded.reshape(2, -1))
    np.testing.assert_allclose(transition[2:], np.eye(2 * blocks)[: 2 * (blocks - 1)])
    np.testing.assert_allclose(transform[-2:], np.eye(2))
    np.testing.assert_allclose(transform[2 * (blocks - 1 - ma) : -2], ma_coefs.reshape(-1, 2))
    whole = np.zeros([2, 2 * blocks])
    whole[:, :2] = np.eye(2)
    if ar <= ma and blocks > 1:
        whole[:, -2:] = np.eye(2)
    np.testing.assert_allclose(seen, whole)


# ---- likelihoods -------------------------------------------------------------------------------


def log_likelihoods(matrices_: Any, state: Any, times: Any, values: Any) -> list[float]:
    """Those of a series with gaps, by a filter written out."""
    transition, noise, seen_through, seen_noise = matrices_
    mean, prior, last = state
    found = []
    for time, observed in zip(times, values, strict=True):
        for _ in range(time - last):
            mean, prior = transition @ mean, transition @ prior @ transition.T + noise
        last = time
        s = seen_through @ prior @ seen_through.T + seen_noise
        away = observed - seen_through @ mean
        gain = prior @ seen_through.T @ np.linalg.inv(s)
        log_det = np.log(np.linalg.det(2 * np.pi * s))
        found.append(-0.5 * (away @ np.linalg.solve(s, away) + log_det))
        mean, prior = mean + gain @ away, prior - gain @ seen_through @ prior
    return found


@pytest.mark.parametrize("unrolled", [None, 10])
def test_the_likelihood_of_a_series_with_gaps(unrolled: int | None) -> None:
    model = structural.StructuralEnsemble(
        [3], 1, 2,
        configuration=doubles(num_features=2, static_unrolling_window_size_threshold=unrolled),
    )  # fmt: skip
    model.initialize_graph()
    times = np.array([[0, 1, 2, 5, 6, 10], [3, 4, 6, 8, 9, 10]])
    values = RANDOM.randn(2, 6, 2)
    features = {"times": tf.constant(times), "values": tf.constant(values)}
    outputs = model.define_loss(features, tf.estimator.ModeKeys.EVAL)
    transform = model.get_noise_transform()
    moved = tf.matmul(
        tf.matmul(transform, model.state_transition_noise_covariance), transform, transpose_b=True
    )
    fetches = (
        outputs.loss,
        outputs.predictions["log_likelihood"],
        (
            model.get_state_transition(),
            moved,
            model.get_broadcasted_observation_model(tf.zeros([1]))[0],
            model._observation_noise_covariance,
        ),
        model.get_start_state(),
    )
    loss, likelihoods, given, state = value(fetches)
    expected = [log_likelihoods(given, state, *each) for each in zip(times, values, strict=True)]
    np.testing.assert_allclose(likelihoods, expected, rtol=1e-3)
    np.testing.assert_allclose(loss, -np.mean(likelihoods), rtol=1e-6)
    assert outputs.end_state[0].shape.as_list()[1:] == [12]


def test_states_go_on_from_window_to_window() -> None:
    model = level_trend.AdderStateSpaceModel(configuration=doubles())
    model.initialize_graph()
    manager = chaining.ChainingStateManager(state_saving_interval=4)
    manager.initialize_graph(model)
    times = tf.placeholder(tf.int64, [1, 4])
    values = tf.placeholder(tf.float64, [1, 4, 1])
    mode = tf.estimator.ModeKeys.EVAL
    chained = manager.define_loss(model, {"times": times, "values": values}, mode)
    whole_times, whole_values = (
        tf.range(8, dtype=tf.int64)[None],
        tf.placeholder(tf.float64, [1, 8, 1]),
    )
    whole = model.define_loss({"times": whole_times, "values": whole_values}, mode)
    data = RANDOM.randn(1, 8, 1)
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        fetched = [chained.loss, chained.end_state]
        sess.run(fetched, {times: [[0, 1, 2, 3]], values: data[:, :4]})
        _, end = sess.run(fetched, {times: [[4, 5, 6, 7]], values: data[:, 4:]})
        expected = sess.run(whole.end_state, {whole_values: data})
    for mine, theirs in zip(end, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_anomalies_are_not_trusted() -> None:
    detector = anomalies.StateInterpolatingAnomalyDetector(anomaly_prior_probability=0.1)
    assert detector.output_names == ["anomaly_score"]
    mean, variance, seen = np.array([[0.0], [0.0]]), np.array([[[1.0]], [[1.0]]]), [[0.1], [30.0]]
    log_prob = -0.5 * (np.log(2 * np.pi) + np.square(seen)[:, 0])
    outputs = {
        "mean": tf.constant(mean), "covariance": tf.constant(variance),
        "log_likelihood": tf.constant(log_prob),
    }  # fmt: skip
    now = tf.constant([1, 1], tf.int64)
    before, after = (
        (tf.constant([[0.0], [0.0]], tf.float64), now),
        (tf.constant(seen, tf.float64), now),
    )
    state, told = detector.process_filtering_step(
        now, tf.constant(seen, tf.float64), before, after, outputs
    )
    mixed, score, loss = value([state[0], told["anomaly_score"], told["loss"]])
    width = np.sqrt(np.e / (8 * np.pi))
    z = np.array(seen)[:, 0] / width
    odd = -np.log(np.pi) - np.log(width) - np.log1p(z**2) + np.log(0.1)
    usual = log_prob + np.log(0.9)
    trust = 1 / (1 + np.exp(odd - usual))
    np.testing.assert_allclose(score, odd - usual, rtol=1e-6)
    np.testing.assert_allclose(mixed[:, 0], trust * np.array(seen)[:, 0], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(loss, -(trust * usual + (1 - trust) * odd), rtol=1e-6)


def test_series_are_drawn_from_a_model() -> None:
    model = level_trend.AdderStateSpaceModel(configuration=doubles())
    model.initialize_graph()
    given = model.random_model_parameters(seed=3)
    with tf.Session() as sess, sess.as_default():
        sess.run(tf.global_variables_initializer())
        quiet = {**given, model.state_transition_noise_covariance: np.zeros([2, 2])}
        found = model.generate(2, 5, quiet, seed=1, add_observation_noise=False)
        noisy = model.generate(2, 5, given, seed=1)
    level, slope = given[model.prior_state_mean]
    np.testing.assert_array_equal(found["times"], [np.arange(5)] * 2)
    expected = level + slope * np.arange(1, 6)
    np.testing.assert_allclose(found["values"][:, :, 0], [expected] * 2, rtol=1e-6)
    assert noisy["values"].shape == (2, 5, 1) and np.ptp(noisy["values"][:, 0]) > 0


# ---- the Estimator -----------------------------------------------------------------------------


def series(features: int = 1) -> dict[str, Any]:
    times = np.arange(60)
    wave = 5 + 0.1 * times + 3 * np.sin(2 * np.pi * times / 6)
    return {"times": times, "values": np.stack([wave + i for i in range(features)], 1)}


@pytest.mark.slow
def test_the_estimator(tmp_path: Path) -> None:
    model = timeseries.StructuralEnsembleRegressor(
        6, 1, cycle_num_latent_values=3, moving_average_order=1, model_dir=str(tmp_path),
        optimizer=tf.train.AdamOptimizer(0.3),
    )  # fmt: skip
    reader = timeseries.NumpyReader(series())
    model.train(timeseries.RandomWindowInputFn(reader, 12, 4), steps=30)
    names = {n for n in model.get_variable_names() if "Adam" not in n and "input_stat" not in n}
    noises = [f"state_transition_noise_{n}" for n in
              ("pre_transform", "off_diagonal_scale", "overall_scale")]  # fmt: skip
    scopes = ("adder", "adder/feature0", "varma", "cycle0", "cycle0/feature0")
    expected = {f"{scope}/{noise}" for scope in scopes for noise in noises}
    expected |= {f"{s}/prior_state_mean" for s in ("adder/feature0", "varma", "cycle0/feature0")}
    expected |= {f"observation_noise_covariance_{noise[23:]}" for noise in noises}
    expected |= {"varma/ar_coefs", "varma/ma_coefs", "observation_transition_tradeoff_log_scale"}
    assert names - {"global_step", "head/beta1_power", "head/beta2_power"} == expected
    found = model.evaluate(timeseries.WholeDatasetInputFn(reader), steps=1)
    assert found["mean"].shape == (1, 60, 1) and found["covariance"].shape == (1, 60, 1, 1)
    (told,) = model.predict(timeseries.predict_continuation_input_fn(found, steps=6))
    later = np.arange(60, 66)
    true = 5 + 0.1 * later + 3 * np.sin(2 * np.pi * later / 6)
    np.testing.assert_allclose(told["mean"][:, 0], true, atol=0.3)


def test_an_exported_model(tmp_path: Path) -> None:
    model = timeseries.StructuralEnsembleRegressor(
        None, 2, moving_average_order=0, anomaly_prior_probability=0.01, model_dir=str(tmp_path)
    )
    data = series(2)
    reader = timeseries.NumpyReader(data)
    model.train(timeseries.RandomWindowInputFn(reader, 6, 2), steps=1)
    found = model.evaluate(timeseries.WholeDatasetInputFn(reader), steps=1)
    assert found["anomaly_score"].shape == (1, 60)
    (told,) = model.predict(timeseries.predict_continuation_input_fn(found, steps=3))
    receiver = model.build_raw_serving_input_receiver_fn()
    path = model.export_saved_model(str(tmp_path / "out"), receiver)
    half = {name: each[:30] for name, each in data.items()}
    rest = {name: each[30:] for name, each in data.items()}
    with tf.Graph().as_default(), tf.Session() as sess:
        signatures = tf.saved_model.load(sess, ["serve"], path.decode())
        state = saved_model_utils.cold_start_filter(signatures, sess, half)
        state = saved_model_utils.filter_continuation(state, signatures, sess, rest)
        served = saved_model_utils.predict_continuation(state, signatures, sess, steps=3)
    assert served["times"].tolist() == [[60, 61, 62]]
    np.testing.assert_allclose(served["mean"][0], told["mean"], rtol=1e-2)


@pytest.mark.parametrize("decreases", [False, True])
def test_further_features(decreases: bool) -> None:
    column = tf.feature_column.numeric_column("extra")
    seen = []

    def condition(times: Any, features: Any) -> Any:
        seen.append(sorted(features))
        return tf.equal(features["extra"][:, 0], 1.0)

    model = level_trend.AdderStateSpaceModel(
        configuration=configuration.StateSpaceModelConfiguration(
            exogenous_feature_columns=[column],
            exogenous_noise_decreases=decreases,
            exogenous_noise_increases=not decreases,
            exogenous_update_condition=condition,
        )
    )
    model.initialize_graph()
    extra = tf.placeholder(tf.float32, [1, 4, 1])
    features = {"times": tf.range(4, dtype=tf.int64)[None], "values": tf.ones([1, 4, 1])}
    with tf.variable_scope("model"):
        with_extra = model.define_loss({**features, "extra": extra}, "eval")
    assert seen == [["extra"]]
    kind = "decreasing" if decreases else "increasing"
    scope = f"model/state_update_step/exogenous_noise_{kind}_covariance/fully_connected"
    assert f"{scope}/weights" in [v.op.name for v in tf.global_variables()]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        none, some = (
            sess.run(with_extra.end_state[1], {extra: np.reshape(given, [1, 4, 1])})
            for given in ([0.0] * 4, [0.0, 1.0, 0.0, 0.0])
        )
    assert not np.allclose(none, some)


WRONG: list[Any] = [
    (lambda: regressors.StateSpaceRegressor(object()), "only supports state space models"),
    (lambda: ensembles.StateSpaceCorrelatedFeaturesEnsemble([], doubles()), "number of members"),
    (
        lambda: structural.MultiResolutionStructuralEnsemble([3, 5], 1, 1, [4, 6, 8]),
        "Received length 2 `cycle_num_latent_values`, while `periodicities` has length 3.",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_errors(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
