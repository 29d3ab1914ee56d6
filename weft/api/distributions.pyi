# Written by `make stubs` from weft/api/distributions.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.distributions import Bernoulli as Bernoulli
from weft.lib.distributions import Beta as Beta
from weft.lib.distributions import Categorical as Categorical
from weft.lib.distributions import Dirichlet as Dirichlet
from weft.lib.distributions import DirichletMultinomial as DirichletMultinomial
from weft.lib.distributions import Distribution as Distribution
from weft.lib.distributions import Exponential as Exponential
from weft.lib.distributions import FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED
from weft.lib.distributions import Gamma as Gamma
from weft.lib.distributions import kl_divergence as kl_divergence
from weft.lib.distributions import Laplace as Laplace
from weft.lib.distributions import Multinomial as Multinomial
from weft.lib.distributions import Normal as Normal
from weft.lib.distributions import NOT_REPARAMETERIZED as NOT_REPARAMETERIZED
from weft.lib.distributions import RegisterKL as RegisterKL
from weft.lib.distributions import ReparameterizationType as ReparameterizationType
from weft.lib.distributions import StudentT as StudentT
from weft.lib.distributions import Uniform as Uniform
