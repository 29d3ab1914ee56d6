"""tf.distributions: batches of distributions that can be sampled, scored and compared."""

from weft.distributions.base import Distribution
from weft.distributions.bernoulli import Bernoulli
from weft.distributions.beta import Beta
from weft.distributions.categorical import Categorical
from weft.distributions.dirichlet import Dirichlet
from weft.distributions.dirichlet_multinomial import DirichletMultinomial
from weft.distributions.exponential import Exponential
from weft.distributions.gamma import Gamma
from weft.distributions.kullback_leibler import RegisterKL, kl_divergence
from weft.distributions.laplace import Laplace
from weft.distributions.multinomial import Multinomial
from weft.distributions.normal import Normal
from weft.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    ReparameterizationType,
)
from weft.distributions.student_t import StudentT
from weft.distributions.uniform import Uniform

__all__ = [
    "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Bernoulli", "Beta", "Categorical",
    "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential", "Gamma", "Laplace",
    "Multinomial", "Normal", "RegisterKL", "ReparameterizationType", "StudentT", "Uniform",
    "kl_divergence",
]  # fmt: skip
