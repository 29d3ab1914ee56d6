"""tf.linalg: public names, re-exported from where they are made."""

from weft.lib.linalg.base import LinearOperator as LinearOperator
from weft.lib.linalg.circulant import (
    LinearOperatorCirculant as LinearOperatorCirculant,
    LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    LinearOperatorCirculant3D as LinearOperatorCirculant3D,
)
from weft.lib.linalg.dense import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from weft.lib.linalg.dispatch import (
    adjoint as adjoint,
    cholesky as cholesky,
    matrix_determinant as det,
    matrix_diag_part as diag_part,
    matrix_inverse as inv,
    logdet as logdet,
    matmul as matmul,
    matrix_solve as solve,
    trace as trace,
)
from weft.lib.linalg.identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from weft.lib.linalg.inversion import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
    LinearOperatorInversion as LinearOperatorInversion,
)
from weft.lib.linalg.joined import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
    LinearOperatorComposition as LinearOperatorComposition,
)
from weft.lib.linalg.kronecker import LinearOperatorKronecker as LinearOperatorKronecker
from weft.lib.linalg.low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from weft.lib.linalg.toeplitz import LinearOperatorToeplitz as LinearOperatorToeplitz
from weft.lib.linalg.vectors import (
    LinearOperatorDiag as LinearOperatorDiag,
    LinearOperatorHouseholder as LinearOperatorHouseholder,
)
from weft.lib.linalg.zeros import LinearOperatorZeros as LinearOperatorZeros
from weft.ops.array.shape import matrix_transpose as matrix_transpose, matrix_transpose as transpose
from weft.ops.math.clip import global_norm as global_norm
from weft.ops.array.diag import (
    matrix_band_part as band_part,
    matrix_diag as diag,
    matrix_set_diag as set_diag,
    diag as tensor_diag,
    diag_part as tensor_diag_part,
)
from weft.ops.math.einsum import einsum as einsum
from weft.ops.linalg.linalg import (
    eigh as eigh,
    eigvalsh as eigvalsh,
    expm as expm,
    logm as logm,
    lstsq as lstsq,
    lu as lu,
    matrix_rank as matrix_rank,
    norm as norm,
    normalize as normalize,
    pinv as pinv,
    qr as qr,
    slogdet as slogdet,
    sqrtm as sqrtm,
    svd as svd,
    matrix_triangular_solve as triangular_solve,
)
from weft.ops.math.matmul import cross as cross, matvec as matvec, tensordot as tensordot
from weft.ops.linalg.matrices import eye as eye
from weft.ops.math.moments import l2_normalize as l2_normalize
from weft.ops.linalg.solve import cholesky_solve as cholesky_solve
from weft.ops.linalg.tridiagonal import (
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
