"""tf.contrib.distributions against SciPy, closed forms, and Jacobians by differences."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.stats as st

import weft as tf
from tests.running import run_initialized
from weft.lib.contrib import distributions as tfd

tfb = tfd.bijectors
f64 = np.float64
X = np.array([0.2, 0.7, 0.9])
K = np.array([0.0, 1.0, 5.0])
LOWER = np.array([[1.0, 0, 0], [0.5, 2, 0], [0.1, 0.2, 0.7]])
MEAN = np.array([1.0, 2.0, 3.0])


def run(value: Any, feeds: Any = None, times: int = 1) -> Any:
    with tf.Session() as session:
        for _ in range(times):
            found = session.run(value, feeds)
    return found


FAMILIES = {
    "Cauchy": (lambda: tfd.Cauchy(f64(1), f64(2)), st.cauchy(1, 2), X),
    "Gumbel": (lambda: tfd.Gumbel(f64(1), f64(2)), st.gumbel_r(1, 2), X),
    "Logistic": (lambda: tfd.Logistic(f64(1), f64(2)), st.logistic(1, 2), X),
    "HalfNormal": (lambda: tfd.HalfNormal(f64(2)), st.halfnorm(scale=2), X),
    "InverseGamma": (lambda: tfd.InverseGamma(f64(3), f64(2)), st.invgamma(3, scale=2), X),
    "Chi2": (lambda: tfd.Chi2(f64(3)), st.chi2(3), X),
    "Poisson": (lambda: tfd.Poisson(f64(3)), st.poisson(3), K),
    "Geometric": (lambda: tfd.Geometric(probs=f64(0.3)), st.geom(0.3, loc=-1), K),
    "Binomial": (lambda: tfd.Binomial(f64(5), probs=f64(0.3)), st.binom(5, 0.3), K),
    "NegativeBinomial": (
        lambda: tfd.NegativeBinomial(f64(5), probs=f64(0.3)), st.nbinom(5, 0.7), K
    ),
    "LogNormal": (
        lambda: tfd.TransformedDistribution(tfd.Normal(f64(0), f64(1)), tfb.Exp()),
        st.lognorm(1), X,
    ),
    "Weibull": (
        lambda: tfd.TransformedDistribution(
            tfd.Uniform(f64(0), f64(1)), tfb.Invert(tfb.Weibull(f64(2), f64(1.5)))
        ),
        st.weibull_min(1.5, scale=2), X,
    ),
    "Absolute": (
        lambda: tfd.TransformedDistribution(tfd.Normal(f64(0), f64(1)), tfb.AbsoluteValue()),
        st.halfnorm(), X,
    ),
    "Kumaraswamy": (lambda: tfd.Kumaraswamy(f64(2), f64(1)), st.beta(2, 1), X),
}  # fmt: skip
DISCRETE = {"Poisson", "Geometric", "Binomial", "NegativeBinomial"}


@pytest.mark.parametrize("times", [1, 2], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("name", FAMILIES)
def test_families_are_scipys(name: str, times: int) -> None:
    build, expected, x = FAMILIES[name]
    made = build()
    asked = {"log_prob": made.log_prob(x), "prob": made.prob(x)}
    logs = expected.logpmf(x) if name in DISCRETE else expected.logpdf(x)
    wanted = {"log_prob": logs, "prob": np.exp(logs)}
    for key, value in (
        ("cdf", expected.cdf(x)), ("survival_function", expected.sf(x)),
        ("mean", expected.mean()), ("variance", expected.var()), ("entropy", expected.entropy()),
    ):  # fmt: skip
        if name == "Kumaraswamy" and key == "entropy":
            continue  # TensorFlow's is not the entropy
        try:
            asked[key] = (
                getattr(made, key)(x)
                if key in ("cdf", "survival_function")
                else (getattr(made, key)())
            )
            wanted[key] = value
        except NotImplementedError:
            pass
    for key, found in run(asked, times=times).items():
        np.testing.assert_allclose(found, wanted[key], rtol=1e-9, atol=1e-12, err_msg=key)


@pytest.mark.parametrize("name", sorted(set(FAMILIES) - {"Cauchy", "Binomial"}))
def test_samples_have_the_mean(name: str) -> None:
    build, expected, _ = FAMILIES[name]
    found = run(build().sample(20000, seed=5))
    np.testing.assert_allclose(found.mean(), expected.mean(), atol=0.05 * (1 + expected.std()))


# ---- vectors -------------------------------------------------------------------------------------

NORMALS = {
    "TriL": lambda: tfd.MultivariateNormalTriL(MEAN, LOWER),
    "FullCovariance": lambda: tfd.MultivariateNormalFullCovariance(MEAN, LOWER @ LOWER.T),
    "Diag": lambda: tfd.MultivariateNormalDiag(MEAN, np.array([1.0, 2.0, 3.0])),
    "DiagPlusLowRank": lambda: tfd.MultivariateNormalDiagPlusLowRank(
        MEAN, np.array([1.0, 2.0, 3.0]), scale_perturb_factor=np.ones((3, 1))
    ),
}


@pytest.mark.parametrize("name", NORMALS)
def test_multivariate_normals(name: str) -> None:
    made = NORMALS[name]()
    x = np.random.RandomState(1).randn(4, 3)
    asked = [made.covariance(), made.log_prob(x), made.entropy(), made.mean(), made.variance()]
    asked += [made.stddev(), made.sample(40000, seed=2)]
    covariance, logs, entropy, mean, variance, deviation, sample = run(asked)
    expected = st.multivariate_normal(MEAN, covariance)
    np.testing.assert_allclose(logs, expected.logpdf(x))
    np.testing.assert_allclose(entropy, expected.entropy())
    np.testing.assert_allclose(mean, MEAN)
    np.testing.assert_allclose(variance, np.diag(covariance))
    np.testing.assert_allclose(deviation, np.sqrt(np.diag(covariance)))
    np.testing.assert_allclose(np.cov(sample.T), covariance, atol=0.04 * covariance.max())
    assert (made.batch_shape.as_list(), made.event_shape.as_list()) == ([], [3])


def test_divergence_of_normals() -> None:
    a, b = NORMALS["TriL"](), NORMALS["Diag"]()
    va, vb = LOWER @ LOWER.T, np.diag([1.0, 4.0, 9.0])
    trace = np.trace(np.linalg.solve(vb, va))
    expected = 0.5 * (trace - 3 + np.log(np.linalg.det(vb) / np.linalg.det(va)))
    np.testing.assert_allclose(run(tfd.kl_divergence(a, b)), expected)


def test_a_batch_of_normals_with_shapes_that_are_fed() -> None:
    loc, diag = tf.placeholder(tf.float64), tf.placeholder(tf.float64)
    made = tfd.MultivariateNormalDiag(loc, diag)
    feeds = {loc: np.zeros((2, 1, 3)), diag: np.ones((4, 3))}
    values = np.random.RandomState(0).randn(5, 2, 4, 3)
    logs, shape = run([made.log_prob(values), tf.shape(made.sample(7))], feeds)
    np.testing.assert_allclose(logs, st.norm.logpdf(values).sum(-1))
    assert shape.tolist() == [7, 2, 4, 3]


def test_an_event_made_of_a_batch() -> None:
    base = tfd.Normal(np.array([0.0, 1.0]), f64(1))
    made = tfd.TransformedDistribution(base, tfb.Identity(), event_shape=[3])
    assert (made.batch_shape.as_list(), made.event_shape.as_list()) == ([2], [3])
    sample, values = made.sample(5000, seed=1), np.zeros((4, 2, 3))
    drawn, logs, entropy = run([sample, made.log_prob(values), made.entropy()])
    assert sample.shape.as_list() == [5000, 2, 3]
    np.testing.assert_allclose(drawn.mean(0), [[0] * 3, [1] * 3], atol=0.06)
    np.testing.assert_allclose(logs, [3 * st.norm.logpdf([0.0, 1.0])] * 4)
    np.testing.assert_allclose(entropy, [3 * st.norm.entropy()] * 2)


def test_wishart() -> None:
    made = tfd.WishartFull(f64(5), LOWER @ LOWER.T)
    expected = st.wishart(5, LOWER @ LOWER.T)
    x = expected.rvs(random_state=3)
    logs, entropy, mean, sample = run(
        [made.log_prob(x), made.entropy(), made.mean(), made.sample(20000, seed=4)]
    )
    np.testing.assert_allclose(logs, expected.logpdf(x))
    np.testing.assert_allclose(entropy, expected.entropy())
    np.testing.assert_allclose(mean, expected.mean())
    np.testing.assert_allclose(sample.mean(0), mean, atol=0.3)
    factors = tfd.WishartCholesky(f64(5), LOWER, cholesky_input_output_matrices=True)
    np.testing.assert_allclose(run(factors.log_prob(np.linalg.cholesky(x))), logs)
    with pytest.raises(ValueError, match="cannot be less than dimension"):
        tfd.WishartFull(f64(2), np.eye(3))


def test_vectors_of_other_numbers() -> None:
    loc, diag = [1.0, 2.0], [1.0, 3.0]
    x = np.array([2.0, 5.0])
    z = (x - loc) / diag
    found = run([
        tfd.VectorLaplaceDiag(loc, diag).log_prob(np.float32(x)),
        tfd.VectorExponentialDiag(loc, diag).log_prob(np.float32(x)),
        tfd.VectorStudentT(5.0, loc, scale_diag=diag).log_prob(np.float32(x)),
        tfd.VectorSinhArcsinhDiag(loc, diag).log_prob(np.float32(x)),
    ])  # fmt: skip
    families = [st.laplace, st.expon, st.t(5), st.norm]
    expected = [family.logpdf(z).sum() - np.log(3) for family in families]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


# ---- made of others ------------------------------------------------------------------------------


def test_mixtures() -> None:
    probs, locs, scales = [0.3, 0.7], np.array([-1.0, 2.0]), np.array([0.5, 1.0])
    cat = tfd.Categorical(probs=np.array(probs))
    parts = [tfd.Normal(loc, scale) for loc, scale in zip(locs, scales, strict=True)]
    density = sum(p * st.norm(m, s).pdf(X) for p, m, s in zip(probs, locs, scales, strict=True))
    mean = np.dot(probs, locs)
    variance = np.dot(probs, scales**2 + (locs - mean) ** 2)
    for made in (
        tfd.Mixture(cat, parts), tfd.MixtureSameFamily(cat, tfd.Normal(locs, scales))
    ):  # fmt: skip
        found = run([made.prob(X), made.mean(), made.variance(), made.sample(40000, seed=1)])
        np.testing.assert_allclose(found[0], density)
        np.testing.assert_allclose(found[1:3], [mean, variance])
        np.testing.assert_allclose([found[3].mean(), found[3].var()], [mean, variance], atol=0.05)
    with pytest.raises(ValueError, match=r"cat\.num_classes != len"):
        tfd.Mixture(cat, parts[:1])


def test_a_mixture_of_vectors_in_a_batch() -> None:
    locs = np.arange(12.0).reshape(2, 2, 3)  # batch, component, event
    family = tfd.MultivariateNormalDiag(locs, np.ones(3))
    made = tfd.MixtureSameFamily(tfd.Categorical(probs=np.array([0.5, 0.5])), family)
    x = np.zeros((2, 3))
    logs = st.norm.logpdf(x[:, None], locs).sum(-1)
    expected = np.log(0.5 * np.exp(logs).sum(-1))
    found, covariance, sample = run([made.log_prob(x), made.covariance(), made.sample(3)])
    np.testing.assert_allclose(found, expected)
    assert covariance.shape == (2, 3, 3) and sample.shape == (3, 2, 3)


def test_counts_whose_rate_is_drawn() -> None:
    scheme = tfd.quadrature_scheme_lognormal_gauss_hermite
    made = tfd.PoissonLogNormalQuadratureCompound(f64(0.5), f64(0.3), 12, scheme)
    rates = np.exp(np.random.RandomState(0).normal(0.5, 0.3, 200000))
    expected = st.poisson(rates[:, None]).pmf(K).mean(0)
    mean = np.exp(0.5 + 0.045)
    variance = mean + mean**2 * np.expm1(0.09)
    found = run([made.prob(K), made.mean(), made.variance(), made.sample(20000, seed=1)])
    np.testing.assert_allclose(found[0], expected, atol=1e-3)
    np.testing.assert_allclose(found[1:3], [mean, variance], rtol=1e-9)
    np.testing.assert_allclose([found[3].mean(), found[3].var()], [mean, variance], rtol=0.05)
    assert made.batch_shape.as_list() == [] and made.quadrature_size == 12


def test_independent_and_reshaped_batches() -> None:
    base = tfd.Normal(np.zeros((4, 2, 3)), np.ones(3))
    made = tfd.Independent(base, 2)
    assert (made.batch_shape.as_list(), made.event_shape.as_list()) == ([4], [2, 3])
    reshaped = tfd.BatchReshape(base, [8, 3])
    x = np.random.RandomState(1).randn(5, 4, 2, 3)
    logs, other, entropy = run(
        [made.log_prob(x), reshaped.log_prob(x.reshape(5, 8, 3)), made.entropy()]
    )
    np.testing.assert_allclose(logs, st.norm.logpdf(x).sum((-1, -2)))
    np.testing.assert_allclose(other, st.norm.logpdf(x).reshape(5, 8, 3))
    np.testing.assert_allclose(entropy, [6 * st.norm.entropy()] * 4)
    assert run(tfd.kl_divergence(made, made)).tolist() == [0.0] * 4


def test_quantized() -> None:
    made = tfd.QuantizedDistribution(tfd.Normal(f64(0), f64(2)), low=f64(-3), high=f64(4))
    y = np.arange(-3.0, 5.0)
    cdf = st.norm(0, 2).cdf
    expected = cdf(y) - cdf(y - 1)
    expected[0], expected[-1] = cdf(-3), 1 - cdf(3)
    found, logs, sample = run([made.prob(y), made.log_prob(y), made.sample(1000, seed=2)])
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(np.exp(logs), expected)
    assert set(np.unique(sample)) <= set(y)


def test_soft_categories() -> None:
    logits = np.array([[0.1, 1.0, -1.0], [2.0, 0.0, 0.0]])
    hard = tfd.OneHotCategorical(logits=logits, dtype=tf.float64)
    soft = tfd.RelaxedOneHotCategorical(f64(0.5), logits=logits)
    coin = tfd.RelaxedBernoulli(f64(2.0), probs=np.array([0.2, 0.9]))
    found = run([hard.sample(20000, seed=1), hard.probs, hard.mode(), soft.sample(6, seed=1)])
    np.testing.assert_allclose(found[0].mean(0), found[1], atol=0.02)
    assert found[2].tolist() == [[0, 1, 0], [1, 0, 0]]
    np.testing.assert_allclose(found[3].sum(-1), np.ones((6, 2)))
    assert run(hard.log_prob(np.eye(3)[[0, 0]])).shape == (2,)
    # The densities integrate to one: of a coin over (0, 1), as a sum over its middle points.
    points = ((np.arange(20000) + 0.5) / 20000)[:, None]
    np.testing.assert_allclose(run(coin.prob(points)).mean(0), [1, 1], rtol=2e-3)


def test_autoregressive() -> None:
    def following(x: Any = None) -> tfd.Distribution:
        before = tf.zeros([1], tf.float64) if x is None else x[..., :1]
        loc = tf.concat([tf.zeros_like(before), 2 * before], -1)
        return tfd.Independent(tfd.Normal(loc, f64(0.1)), 1)

    made = tfd.Autoregressive(following, tf.zeros([2], tf.float64))
    x = np.array([[0.05, 0.2]])
    sample, logs = run([made.sample(500, seed=3), made.log_prob(x)])
    np.testing.assert_allclose(logs, st.norm(0, 0.1).logpdf([[0.05, 0.1]]).sum(-1))
    assert np.corrcoef(sample.T)[0, 1] > 0.8


# ---- transforms ----------------------------------------------------------------------------------

INPUTS = np.random.RandomState(0).randn(2, 3) * 0.5
BIJECTORS = {
    "Exp": (tfb.Exp, INPUTS), "Sigmoid": (tfb.Sigmoid, INPUTS), "Softplus": (tfb.Softplus, INPUTS),
    "SoftplusHinge": (lambda: tfb.Softplus(hinge_softness=f64(0.5)), INPUTS),
    "Softsign": (tfb.Softsign, INPUTS), "Square": (tfb.Square, np.exp(INPUTS)),
    "PowerTransform": (lambda: tfb.PowerTransform(f64(0.5)), INPUTS),
    "SinhArcsinh": (lambda: tfb.SinhArcsinh(f64(0.3), f64(1.5)), INPUTS),
    "Gumbel": (lambda: tfb.Gumbel(f64(0), f64(1)), INPUTS),
    "AffineScalar": (lambda: tfb.AffineScalar(f64(1), f64(-2)), INPUTS),
    "Affine": (lambda: tfb.Affine(MEAN, scale_tril=LOWER), INPUTS),
    "AffineUpdate": (
        lambda: tfb.Affine(scale_diag=MEAN, scale_perturb_factor=np.ones((3, 1))), INPUTS
    ),
    "Permute": (lambda: tfb.Permute([2, 0, 1]), INPUTS),
    "Ordered": (tfb.Ordered, np.cumsum(np.exp(INPUTS), -1)),
    "Chain": (lambda: tfb.Chain([tfb.Exp(), tfb.Affine(scale_diag=MEAN)]), INPUTS),
    "Invert": (lambda: tfb.Invert(tfb.Exp()), np.exp(INPUTS)),
    "RealNVP": (lambda: tfb.RealNVP(1, tfb.real_nvp_default_template([8])), INPUTS),
    "Flow": (
        lambda: tfb.MaskedAutoregressiveFlow(tfb.masked_autoregressive_default_template([9])),
        INPUTS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BIJECTORS)
def test_transforms_are_undone_and_know_their_volume(name: str) -> None:
    build, inputs = BIJECTORS[name]
    made, x = build(), tf.constant(inputs)
    y = made.forward(x)
    forward = made.forward_log_det_jacobian(x, 1)
    jacobian = tf.stack([tf.gradients(y[:, i], x)[0] for i in range(3)], 1)
    given = tf.identity(y)
    inverse = made.inverse_log_det_jacobian(given, 1)
    back = made.inverse(given)
    found = run_initialized(back, forward, inverse, jacobian)
    np.testing.assert_allclose(found[0], inputs, atol=1e-9)
    expected = np.log(np.abs(np.linalg.det(found[3])))
    np.testing.assert_allclose(np.broadcast_to(found[1], 2), expected, atol=1e-8)
    np.testing.assert_allclose(found[2], -found[1], atol=1e-8)


def test_what_a_transform_made_is_remembered() -> None:
    made, x = tfb.Exp(), tf.constant([1.0])
    y = made.forward(x)
    assert made.inverse(y) is x and made.forward(x) is y


def test_triangles() -> None:
    vector = np.arange(1.0, 7.0)
    matrix = tfd.fill_triangular(vector)
    upper = tfd.fill_triangular(vector, upper=True)
    found, above, back = run([matrix, upper, tfd.fill_triangular_inverse(matrix)])
    assert found.tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    assert above.tolist() == [[1, 2, 3], [0, 5, 6], [0, 0, 4]]
    assert back.tolist() == vector.tolist()
    scale = tfb.ScaleTriL()
    there = tf.identity(scale.forward(np.float32(vector)))
    np.testing.assert_allclose(run(scale.inverse(there)), vector, rtol=1e-5)
    bands = run(tfd.tridiag([4.0, 5.0], [1.0, 2.0, 3.0], [6.0, 7.0]))
    assert bands.tolist() == [[1, 6, 0], [4, 2, 7], [0, 5, 3]]
    products = tfb.CholeskyOuterProduct()
    np.testing.assert_allclose(run(products.forward(LOWER)), LOWER @ LOWER.T)


def test_shapes_of_events() -> None:
    made = tfb.Reshape([3, 2], [6])
    assert made.forward_event_shape([6]).as_list() == [3, 2]
    assert made.forward(tf.zeros([5, 6])).shape.as_list() == [5, 3, 2]
    chain = tfb.Chain([tfb.SoftmaxCentered(), tfb.Exp()])
    assert chain.forward_event_shape([3]).as_list() == [4]
    assert tfb.FillTriangular().forward_event_shape([6]).as_list() == [3, 3]
    with pytest.raises(ValueError, match="does not match"):
        made.forward(tf.zeros([5, 5]))


# ---- statistics ----------------------------------------------------------------------------------


def test_percentiles_and_correlations() -> None:
    x = np.random.RandomState(2).randn(4, 30)
    for how in ("lower", "higher", "nearest"):
        found = run(tfd.percentile(x, 30.0, axis=1, interpolation=how))
        np.testing.assert_array_equal(found, np.percentile(x, 30.0, axis=1, method=how))
    centered = x - x.mean(1, keepdims=True)
    lags = [(centered[:, : 30 - k] * centered[:, k:]).sum(1) / (30 - k) for k in range(6)]
    expected = np.stack(lags, 1) / lags[0][:, None]
    np.testing.assert_allclose(run(tfd.auto_correlation(x, max_lags=5)), expected)


def test_averages_that_move() -> None:
    value = tf.placeholder(tf.float64, [])
    both = tfd.moving_mean_variance(value, decay=0.9)
    mean = variance = 0.0
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for each in (1.0, 3.0, -2.0):
            found = session.run(both, {value: each})
            delta = each - mean
            mean, variance = mean + 0.1 * delta, 0.9 * (variance + 0.1 * delta**2)
            np.testing.assert_allclose(found, [mean, variance])


def test_what_is_known_of_a_mean() -> None:
    prior = tfd.Normal(f64(0), f64(3))
    posterior = tfd.normal_conjugates_known_scale_posterior(prior, f64(1), tf.constant(f64(8)), 4)
    mean, deviation = run([posterior.mean(), posterior.stddev()])
    variance = 1 / (1 / 9 + 4)
    np.testing.assert_allclose([mean, deviation], [8 * variance, np.sqrt(variance)])


def test_streams_of_seeds() -> None:
    first, second = tfd.SeedStream(3, "a"), tfd.SeedStream(3, "b")
    seeds = [first(), first(), second()]
    assert len(set(seeds)) == 3 and tfd.SeedStream(first, "a")() == seeds[0]
    assert tfd.SeedStream(None, "a")() is None


@pytest.mark.parametrize(
    ("name", "given", "reparameterized"),
    [
        ("NormalWithSoftplusScale", {"loc": 0.0, "scale": 1.0}, True),
        ("GammaWithSoftplusConcentrationRate", {"concentration": 1.0, "rate": 2.0}, True),
        ("InverseGamma", {"concentration": 1.0, "rate": 2.0}, False),
        ("Chi2WithAbsDf", {"df": 3.0}, True),
        ("Poisson", {"rate": 3.0, "log_rate": None}, False),
        ("RelaxedBernoulli", {"temperature": 0.5, "logits": None, "probs": 0.3}, True),
        ("Deterministic", {"loc": 1.0, "atol": None, "rtol": None}, False),
    ],
)
def test_a_constructor_keeps_its_arguments(name: str, given: Any, reparameterized: bool) -> None:
    kind = getattr(tfd, name)
    made = kind(*given.values(), validate_args=True)
    usual = {"validate_args": True, "allow_nan_stats": True, "name": name}
    assert made.parameters == {**given, **usual}
    assert made.name == f"{name}/" and made.copy(name="other").name == "other/"
    assert list(inspect.signature(kind).parameters) == list(made.parameters)
    wanted = tfd.FULLY_REPARAMETERIZED if reparameterized else tfd.NOT_REPARAMETERIZED
    assert made.reparameterization_type == wanted
