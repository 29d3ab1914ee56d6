"""tf.distributions: batches of distributions that can be sampled, scored and compared."""

from weft.lib.distributions.base import Distribution
from weft.lib.distributions.bernoulli import Bernoulli
from weft.lib.distributions.beta import Beta
from weft.lib.distributions.categorical import Categorical
from weft.lib.distributions.dirichlet import Dirichlet
from weft.lib.distributions.dirichlet_multinomial import DirichletMultinomial
from weft.lib.distributions.exponential import Exponential
from weft.lib.distributions.gamma import Gamma
from weft.lib.distributions.kullback_leibler import RegisterKL, kl_divergence
from weft.lib.distributions.laplace import Laplace
from weft.lib.distributions.multinomial import Multinomial
from weft.lib.distributions.normal import Normal
from weft.lib.distributions.reparameterization import (
    FULLY_REPARAMETERIZED,
    NOT_REPARAMETERIZED,
    ReparameterizationType,
)
from weft.lib.distributions.student_t import StudentT
from weft.lib.distributions.uniform import Uniform

__all__ = [
    "FULLY_REPARAMETERIZED", "NOT_REPARAMETERIZED", "Bernoulli", "Beta", "Categorical",
    "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential", "Gamma", "Laplace",
    "Multinomial", "Normal", "RegisterKL", "ReparameterizationType", "StudentT", "Uniform",
    "kl_divergence",
]  # fmt: skip
