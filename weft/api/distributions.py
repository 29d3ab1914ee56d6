"""tf.distributions: public names, re-exported from where they are made."""

from weft.lib.distributions import (
    Bernoulli as Bernoulli,
    Beta as Beta,
    Categorical as Categorical,
    Dirichlet as Dirichlet,
    DirichletMultinomial as DirichletMultinomial,
    Distribution as Distribution,
    Exponential as Exponential,
    FULLY_REPARAMETERIZED as FULLY_REPARAMETERIZED,
    Gamma as Gamma,
    kl_divergence as kl_divergence,
    Laplace as Laplace,
    Multinomial as Multinomial,
    Normal as Normal,
    NOT_REPARAMETERIZED as NOT_REPARAMETERIZED,
    RegisterKL as RegisterKL,
    ReparameterizationType as ReparameterizationType,
    StudentT as StudentT,
    Uniform as Uniform,
)
