"""tf.distributions gives TensorFlow's answers, interpreted and compiled, and its errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.distributions.programs import CASES, DATA, answers
from weft.core import errors

RECORDED = dict(np.load(DATA))
tfd = tf.distributions


def run(value: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(value, feeds)


@pytest.mark.parametrize("times", [1, 3], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", CASES)
def test_answers_are_tensorflows(name: str, times: int) -> None:
    found = answers(tf, name, times)
    expected = {
        key.partition("/")[2]: v for key, v in RECORDED.items() if key.startswith(f"{name}/")
    }
    assert set(found) == set(expected)
    for key, value in found.items():
        if key == "sample" and times > 1:
            continue  # the third draw is another one
        wanted = expected[key]
        if value.dtype == object or wanted.dtype.kind == "S":
            assert value.tolist() == wanted.tolist(), key
            continue
        assert (value.dtype, value.shape) == (wanted.dtype, wanted.shape), key
        np.testing.assert_allclose(value, wanted, rtol=2e-4, atol=1e-5, err_msg=key)


def test_shapes_of_parameters_that_are_fed() -> None:
    loc, scale = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    made = tfd.Normal(loc, scale)
    assert made.batch_shape.ndims is None and made.event_shape.as_list() == []
    feeds = {loc: np.zeros((3, 1)), scale: np.ones(2)}
    sample = made.sample([4, 5])
    shapes = run([made.batch_shape_tensor(), tf.shape(sample), made.is_scalar_batch()], feeds)
    assert [each.tolist() for each in shapes] == [[3, 2], [4, 5, 3, 2], False]


def test_the_static_shape_of_samples() -> None:
    made = tfd.Dirichlet(tf.placeholder(tf.float32, [None, 3]))
    assert made.sample([4]).shape.as_list() == [4, None, 3]
    assert made.sample(tf.placeholder(tf.int32, [2])).shape.as_list() == [None, None, None, 3]
    assert tfd.Normal([0.0, 1.0], 1.0).sample().shape.as_list() == [2]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tfd.Normal(0.0, tf.placeholder_with_default(-1.0, []), True).mean(), "positive|0"),
        (lambda: tfd.Gamma(tf.placeholder_with_default(-1.0, []), 1.0, True).mean(), "x > 0"),
        (lambda: tfd.Beta(2.0, 2.0, True).prob(tf.placeholder_with_default(1.5, [])), "less than"),
        (lambda: tfd.Bernoulli(0.0, validate_args=True).prob(_fed(2)), "cannot exceed 1"),
        (lambda: tfd.Categorical([0.0, 0.0], validate_args=True).prob(_fed(-1)), "non-negative"),
        (lambda: tfd.Uniform(_fed(2.0), 1.0, True).mean(), "low >= high"),
    ],
)
def test_validation(build: Any, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError, match=message):
        run(build())


def _fed(value: Any) -> tf.Tensor:
    return tf.placeholder_with_default(value, [])


def test_statistics_that_are_not_defined() -> None:
    assert np.isnan(run(tfd.Gamma(0.5, 1.0).mode()))
    with pytest.raises(errors.InvalidArgumentError, match="mode not defined"):
        run(tfd.Gamma(_fed(0.5), 1.0, allow_nan_stats=False).mode())


def test_a_copy_with_other_parameters() -> None:
    first = tfd.Normal(1.0, 2.0, name="first")
    second = first.copy(scale=3.0)
    assert second.parameters == {**first.parameters, "scale": 3.0}
    assert run([second.mean(), second.stddev()]) == [1.0, 3.0]
    assert (first.name, second.name) == ("first/", "first_1/")


def test_names_of_nodes_are_tensorflows() -> None:
    made = tfd.Normal(tf.constant(1.0), tf.constant(2.0), name="n")
    made.log_prob(0.5)
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert {"n/loc", "n/scale", "n/log_prob/value", "n/log_prob/standardize/sub"} <= names
    assert (
        str(made) == 'tfp.distributions.Normal("n/", batch_shape=(), event_shape=(), dtype=float32)'
    )


def test_shapes_of_parameters_for_a_sample() -> None:
    shapes = tfd.Normal.param_static_shapes([2, 3])
    assert {name: shape.as_list() for name, shape in shapes.items()} == {
        "loc": [2, 3], "scale": [2, 3]
    }  # fmt: skip
    assert list(tfd.Exponential.param_static_shapes([2])) == ["rate"]
    assert list(tfd.Bernoulli.param_static_shapes([2])) == ["logits"]
    with pytest.raises(NotImplementedError):
        tfd.Dirichlet.param_shapes([2])


def test_divergences_are_registered_by_class() -> None:
    class Mine(tfd.Normal):
        pass

    class Other(tfd.Distribution):
        pass

    a, b = Mine(0.0, 1.0), tfd.Normal(0.0, 1.0)
    assert run(tfd.kl_divergence(a, b)) == 0

    @tfd.RegisterKL(Mine, tfd.Normal)
    def _mine(a: Any, b: Any, name: str | None = None) -> tf.Tensor:
        return tf.constant(np.nan)

    assert np.isnan(run(a.kl_divergence(b)))
    assert run(b.kl_divergence(a)) == 0
    with pytest.raises(ValueError, match="already been registered"):
        tfd.RegisterKL(Mine, tfd.Normal)(_mine)
    with pytest.raises(NotImplementedError, match="No KL"):
        tfd.kl_divergence(a, tfd.Gamma(1.0, 1.0))
    with pytest.raises(errors.InvalidArgumentError, match=r"returned NaN.*nan"):
        run(tfd.kl_divergence(a, b, allow_nan_stats=False))


def test_a_distribution_of_ones_own() -> None:
    class Constant(tfd.Distribution):
        def __init__(self) -> None:
            super().__init__(tf.float32, tfd.NOT_REPARAMETERIZED, False, True)

        def _prob(self, value: Any) -> tf.Tensor:
            return tf.cast(tf.equal(value, 3.0), tf.float32)

        def _sample_n(self, n: Any, seed: int | None = None) -> tf.Tensor:
            return tf.fill([n], 3.0)

    made = Constant()
    assert made.name == "Constant/" and made.batch_shape.ndims is None
    assert run(made.log_prob(3.0)) == 0
    assert run(made.sample([2, 1])).tolist() == [[3.0], [3.0]]
    with pytest.raises(NotImplementedError, match="mean is not implemented: Constant"):
        made.mean()


def test_gradients_flow_through_samples() -> None:
    concentration = tf.constant([0.5, 3.0])
    sample = tfd.Gamma(concentration, 2.0).sample(2000, seed=3)
    (found,) = tf.gradients(tf.reduce_mean(sample, 0), concentration)
    np.testing.assert_allclose(run(found), [0.5, 0.5], atol=0.05)
