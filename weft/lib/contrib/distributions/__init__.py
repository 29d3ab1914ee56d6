"""tf.contrib.distributions: further distributions, and transforms of them."""

from weft.lib.contrib.distributions import bijectors
from weft.lib.contrib.distributions.autoregressive import Autoregressive
from weft.lib.contrib.distributions.batch_reshape import BatchReshape
from weft.lib.contrib.distributions.conditional import (
    ConditionalDistribution,
    ConditionalTransformedDistribution,
)
from weft.lib.contrib.distributions.counts import Binomial, Geometric, NegativeBinomial, Poisson
from weft.lib.contrib.distributions.deterministic import Deterministic, VectorDeterministic
from weft.lib.contrib.distributions.independent import Independent
from weft.lib.contrib.distributions.location_scale import Cauchy, Gumbel, Logistic
from weft.lib.contrib.distributions.mixture import Mixture
from weft.lib.contrib.distributions.mixture_same_family import MixtureSameFamily
from weft.lib.contrib.distributions.mvn import (
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalLinearOperator,
    MultivariateNormalTriL,
)
from weft.lib.contrib.distributions.onehot import (
    ExpRelaxedOneHotCategorical,
    OneHotCategorical,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from weft.lib.contrib.distributions.poisson_lognormal import (
    PoissonLogNormalQuadratureCompound,
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
)
from weft.lib.contrib.distributions.positive import (
    Chi2,
    Chi2WithAbsDf,
    HalfNormal,
    InverseGamma,
    InverseGammaWithSoftplusConcentrationRate,
    Kumaraswamy,
)
from weft.lib.contrib.distributions.quantized import QuantizedDistribution
from weft.lib.contrib.distributions.statistics import (
    SeedStream,
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
    percentile,
)
from weft.lib.contrib.distributions.transformed import TransformedDistribution
from weft.lib.contrib.distributions.triangular import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    tridiag,
)
from weft.lib.contrib.distributions.vectors import (
    SinhArcsinh,
    VectorExponentialDiag,
    VectorLaplaceDiag,
    VectorSinhArcsinhDiag,
    VectorStudentT,
)
from weft.lib.contrib.distributions.wishart import WishartCholesky, WishartFull
from weft.lib.distributions import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    DirichletMultinomial,
    Distribution,
    Exponential,
    Gamma,
    Laplace,
    Multinomial,
    Normal,
    RegisterKL,
    ReparameterizationType,
    StudentT,
    Uniform,
    kl_divergence,
)
from weft.lib.distributions.beta import BetaWithSoftplusConcentration
from weft.lib.distributions.exponential import ExponentialWithSoftplusRate
from weft.lib.distributions.gamma import GammaWithSoftplusConcentrationRate
from weft.lib.distributions.laplace import LaplaceWithSoftplusScale
from weft.lib.distributions.normal import NormalWithSoftplusScale
from weft.lib.distributions.special import reduce_weighted_logsumexp, softplus_inverse
from weft.lib.distributions.student_t import StudentTWithAbsDfSoftplusScale

__all__ = [
    "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Autoregressive", "BatchReshape", "Bernoulli",
    "Beta", "BetaWithSoftplusConcentration", "Binomial", "Categorical", "Cauchy", "Chi2",
    "Chi2WithAbsDf", "ConditionalDistribution", "ConditionalTransformedDistribution",
    "Deterministic", "Dirichlet", "DirichletMultinomial", "Distribution",
    "ExpRelaxedOneHotCategorical", "Exponential", "ExponentialWithSoftplusRate", "Gamma",
    "GammaWithSoftplusConcentrationRate", "Geometric", "Gumbel", "HalfNormal", "Independent",
    "InverseGamma", "InverseGammaWithSoftplusConcentrationRate", "Kumaraswamy", "Laplace",
    "LaplaceWithSoftplusScale", "Logistic", "Mixture", "MixtureSameFamily", "Multinomial",
    "MultivariateNormalDiag", "MultivariateNormalDiagPlusLowRank",
    "MultivariateNormalDiagWithSoftplusScale", "MultivariateNormalFullCovariance",
    "MultivariateNormalLinearOperator", "MultivariateNormalTriL", "NegativeBinomial", "Normal",
    "NormalWithSoftplusScale", "OneHotCategorical", "Poisson",
    "PoissonLogNormalQuadratureCompound", "QuantizedDistribution", "RegisterKL",
    "RelaxedBernoulli", "RelaxedOneHotCategorical", "ReparameterizationType", "SeedStream",
    "SinhArcsinh", "StudentT", "StudentTWithAbsDfSoftplusScale", "TransformedDistribution",
    "Uniform", "VectorDeterministic", "VectorExponentialDiag", "VectorLaplaceDiag",
    "VectorSinhArcsinhDiag", "VectorStudentT", "WishartCholesky", "WishartFull",
    "assign_log_moving_mean_exp", "assign_moving_mean_variance", "auto_correlation", "bijectors",
    "fill_triangular", "fill_triangular_inverse", "kl_divergence", "matrix_diag_transform",
    "moving_mean_variance", "normal_conjugates_known_scale_posterior",
    "normal_conjugates_known_scale_predictive", "percentile",
    "quadrature_scheme_lognormal_gauss_hermite", "quadrature_scheme_lognormal_quantiles",
    "reduce_weighted_logsumexp", "softplus_inverse", "tridiag",
]  # fmt: skip
