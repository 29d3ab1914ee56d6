"""tf.linalg: public names, re-exported from where they are made."""

from weft.linalg.base import (
    LinearOperator as LinearOperator,
)
from weft.linalg.dense import (
    LinearOperatorFullMatrix as LinearOperatorFullMatrix,
)
from weft.linalg.dense import (
    LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
)
from weft.linalg.dispatch import (
    adjoint as adjoint,
)
from weft.linalg.dispatch import (
    cholesky as cholesky,
)
from weft.linalg.dispatch import (
    logdet as logdet,
)
from weft.linalg.dispatch import (
    matmul as matmul,
)
from weft.linalg.dispatch import (
    matrix_determinant as det,
)
from weft.linalg.dispatch import (
    matrix_diag_part as diag_part,
)
from weft.linalg.dispatch import (
    matrix_inverse as inv,
)
from weft.linalg.dispatch import (
    matrix_solve as solve,
)
from weft.linalg.dispatch import (
    trace as trace,
)
from weft.linalg.identity import (
    LinearOperatorIdentity as LinearOperatorIdentity,
)
from weft.linalg.identity import (
    LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
)
from weft.linalg.inversion import (
    LinearOperatorAdjoint as LinearOperatorAdjoint,
)
from weft.linalg.inversion import (
    LinearOperatorInversion as LinearOperatorInversion,
)
from weft.linalg.joined import (
    LinearOperatorBlockDiag as LinearOperatorBlockDiag,
)
from weft.linalg.joined import (
    LinearOperatorComposition as LinearOperatorComposition,
)
from weft.linalg.kronecker import (
    LinearOperatorKronecker as LinearOperatorKronecker,
)
from weft.linalg.low_rank import (
    LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
)
from weft.linalg.toeplitz import (
    LinearOperatorToeplitz as LinearOperatorToeplitz,
)
from weft.linalg.vectors import (
    LinearOperatorDiag as LinearOperatorDiag,
)
from weft.linalg.vectors import (
    LinearOperatorHouseholder as LinearOperatorHouseholder,
)
from weft.linalg.zeros import (
    LinearOperatorZeros as LinearOperatorZeros,
)
from weft.ops.array_shape import (
    matrix_transpose as matrix_transpose,
)
from weft.ops.array_shape import (
    matrix_transpose as transpose,
)
from weft.ops.clip import (
    global_norm as global_norm,
)
from weft.ops.diag import (
    diag as tensor_diag,
)
from weft.ops.diag import (
    diag_part as tensor_diag_part,
)
from weft.ops.diag import (
    matrix_band_part as band_part,
)
from weft.ops.diag import (
    matrix_diag as diag,
)
from weft.ops.diag import (
    matrix_set_diag as set_diag,
)
from weft.ops.linalg import (
    eigh as eigh,
)
from weft.ops.linalg import (
    eigvalsh as eigvalsh,
)
from weft.ops.linalg import (
    expm as expm,
)
from weft.ops.linalg import (
    logm as logm,
)
from weft.ops.linalg import (
    lstsq as lstsq,
)
from weft.ops.linalg import (
    lu as lu,
)
from weft.ops.linalg import (
    matrix_rank as matrix_rank,
)
from weft.ops.linalg import (
    matrix_triangular_solve as triangular_solve,
)
from weft.ops.linalg import (
    norm as norm,
)
from weft.ops.linalg import (
    normalize as normalize,
)
from weft.ops.linalg import (
    pinv as pinv,
)
from weft.ops.linalg import (
    qr as qr,
)
from weft.ops.linalg import (
    slogdet as slogdet,
)
from weft.ops.linalg import (
    sqrtm as sqrtm,
)
from weft.ops.linalg import (
    svd as svd,
)
from weft.ops.matmul import (
    cross as cross,
)
from weft.ops.matmul import (
    einsum as einsum,
)
from weft.ops.matmul import (
    matvec as matvec,
)
from weft.ops.matmul import (
    tensordot as tensordot,
)
from weft.ops.matrices import (
    eye as eye,
)
from weft.ops.nn_moments import (
    l2_normalize as l2_normalize,
)
from weft.ops.solve import (
    cholesky_solve as cholesky_solve,
)
from weft.ops.tridiagonal import (
    tridiagonal_matmul as tridiagonal_matmul,
)
from weft.ops.tridiagonal import (
    tridiagonal_solve as tridiagonal_solve,
)
