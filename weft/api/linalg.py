"""tf.linalg: public names, re-exported from where they are made."""

from weft.ops.array_shape import (
    matrix_transpose as matrix_transpose,
    matrix_transpose as transpose,
)
from weft.ops.clip import (
    global_norm as global_norm,
)
from weft.ops.diag import (
    matrix_band_part as band_part,
    matrix_diag as diag,
    matrix_diag_part as diag_part,
    matrix_set_diag as set_diag,
    diag as tensor_diag,
    diag_part as tensor_diag_part,
)
from weft.ops.linalg import (
    cholesky as cholesky,
    det as det,
    eigh as eigh,
    eigvalsh as eigvalsh,
    expm as expm,
    inv as inv,
    logdet as logdet,
    logm as logm,
    lstsq as lstsq,
    lu as lu,
    matrix_rank as matrix_rank,
    norm as norm,
    normalize as normalize,
    pinv as pinv,
    qr as qr,
    slogdet as slogdet,
    matrix_solve as solve,
    sqrtm as sqrtm,
    svd as svd,
    matrix_triangular_solve as triangular_solve,
)
from weft.ops.matmul import (
    cross as cross,
    einsum as einsum,
    matmul as matmul,
    matvec as matvec,
    tensordot as tensordot,
)
from weft.ops.matrices import (
    adjoint as adjoint,
    eye as eye,
)
from weft.ops.nn_moments import (
    l2_normalize as l2_normalize,
)
from weft.ops.reduce import (
    trace as trace,
)
from weft.ops.solve import (
    cholesky_solve as cholesky_solve,
)
from weft.ops.tridiagonal import (
    tridiagonal_matmul as tridiagonal_matmul,
    tridiagonal_solve as tridiagonal_solve,
)
