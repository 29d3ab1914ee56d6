"""tf.linalg: public names, re-exported from where they are made."""

from weft.graph.apply import (
    normalize as normalize,
)
from weft.ops.array import (
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
from weft.ops.matmul import (
    einsum as einsum,
    matmul as matmul,
    matvec as matvec,
    tensordot as tensordot,
)
from weft.ops.reduce import (
    trace as trace,
)
