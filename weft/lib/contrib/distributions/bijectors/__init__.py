"""tf.contrib.distributions.bijectors: transforms that can be undone."""

from weft.lib.contrib.distributions.bijectors.affine import Affine, AffineLinearOperator
from weft.lib.contrib.distributions.bijectors.base import Bijector
from weft.lib.contrib.distributions.bijectors.batch_normalization import BatchNormalization
from weft.lib.contrib.distributions.bijectors.compose import (
    Chain,
    ConditionalBijector,
    Inline,
    Invert,
)
from weft.lib.contrib.distributions.bijectors.distribution_functions import (
    Gumbel,
    Kumaraswamy,
    Weibull,
)
from weft.lib.contrib.distributions.bijectors.elementwise import (
    AbsoluteValue,
    AffineScalar,
    Exp,
    Identity,
    PowerTransform,
    Sigmoid,
    SinhArcsinh,
    Softplus,
    Softsign,
    Square,
)
from weft.lib.contrib.distributions.bijectors.flows import (
    MaskedAutoregressiveFlow,
    RealNVP,
    masked_autoregressive_default_template,
    masked_dense,
    real_nvp_default_template,
)
from weft.lib.contrib.distributions.bijectors.matrices import (
    CholeskyOuterProduct,
    FillTriangular,
    MatrixInverseTriL,
    ScaleTriL,
    TransformDiagonal,
)
from weft.lib.contrib.distributions.bijectors.vectors import (
    Ordered,
    Permute,
    Reshape,
    SoftmaxCentered,
)

__all__ = [
    "AbsoluteValue", "Affine", "AffineLinearOperator", "AffineScalar", "BatchNormalization",
    "Bijector", "Chain", "CholeskyOuterProduct", "ConditionalBijector", "Exp", "FillTriangular",
    "Gumbel", "Identity", "Inline", "Invert", "Kumaraswamy", "MaskedAutoregressiveFlow",
    "MatrixInverseTriL", "Ordered", "Permute", "PowerTransform", "RealNVP", "Reshape",
    "ScaleTriL", "Sigmoid", "SinhArcsinh", "SoftmaxCentered", "Softplus", "Softsign", "Square",
    "TransformDiagonal", "Weibull", "masked_autoregressive_default_template", "masked_dense",
    "real_nvp_default_template",
]  # fmt: skip
