"""tf.contrib.distributions: further distributions, and transforms of them."""

from weft.contrib.distributions import bijectors
from weft.contrib.distributions.autoregressive import Autoregressive
from weft.contrib.distributions.batch_reshape import BatchReshape
from weft.contrib.distributions.conditional import (
    ConditionalDistribution,
    ConditionalTransformedDistribution,
)
from weft.contrib.distributions.counts import Binomial, Geometric, NegativeBinomial, Poisson
from weft.contrib.distributions.deterministic import Deterministic, VectorDeterministic
from weft.contrib.distributions.independent import Independent
from weft.contrib.distributions.location_scale import Cauchy, Gumbel, Logistic
from weft.contrib.distributions.mixture import Mixture
from weft.contrib.distributions.mixture_same_family import MixtureSameFamily
from weft.contrib.distributions.mvn import (
    MultivariateNormalDiag,
    MultivariateNormalDiagPlusLowRank,
    MultivariateNormalDiagWithSoftplusScale,
    MultivariateNormalFullCovariance,
    MultivariateNormalLinearOperator,
    MultivariateNormalTriL,
)
from weft.contrib.distributions.onehot import (
    ExpRelaxedOneHotCategorical,
    OneHotCategorical,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from weft.contrib.distributions.poisson_lognormal import (
    PoissonLogNormalQuadratureCompound,
    quadrature_scheme_lognormal_gauss_hermite,
    quadrature_scheme_lognormal_quantiles,
)
from weft.contrib.distributions.positive import (
    Chi2,
    Chi2WithAbsDf,
    HalfNormal,
    InverseGamma,
    InverseGammaWithSoftplusConcentrationRate,
    Kumaraswamy,
)
from weft.contrib.distributions.quantized import QuantizedDistribution
from weft.contrib.distributions.statistics import (
    SeedStream,
    assign_log_moving_mean_exp,
    assign_moving_mean_variance,
    auto_correlation,
    moving_mean_variance,
    normal_conjugates_known_scale_posterior,
    normal_conjugates_known_scale_predictive,
    percentile,
)
from weft.contrib.distributions.transformed import TransformedDistribution
from weft.contrib.distributions.triangular import (
    fill_triangular,
    fill_triangular_inverse,
    matrix_diag_transform,
    tridiag,
)
from weft.contrib.distributions.vectors import (
    SinhArcsinh,
    VectorExponentialDiag,
    VectorLaplaceDiag,
    VectorSinhArcsinhDiag,
    VectorStudentT,
)
from weft.contrib.distributions.wishart import WishartCholesky, WishartFull
from weft.distributions import (
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
from weft.distributions.beta import BetaWithSoftplusConcentration
from weft.distributions.exponential import ExponentialWithSoftplusRate
from weft.distributions.gamma import GammaWithSoftplusConcentrationRate
from weft.distributions.laplace import LaplaceWithSoftplusScale
from weft.distributions.normal import NormalWithSoftplusScale
from weft.distributions.special import reduce_weighted_logsumexp, softplus_inverse
from weft.distributions.student_t import StudentTWithAbsDfSoftplusScale

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
