# Written by `make stubs` from weft/api/linalg.py and the functions that it exports.
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from weft.lib.linalg.base import LinearOperator as LinearOperator
from weft.lib.linalg.circulant import LinearOperatorCirculant as LinearOperatorCirculant
from weft.lib.linalg.circulant import LinearOperatorCirculant2D as LinearOperatorCirculant2D
from weft.lib.linalg.circulant import LinearOperatorCirculant3D as LinearOperatorCirculant3D
from weft.lib.linalg.dense import LinearOperatorFullMatrix as LinearOperatorFullMatrix
from weft.lib.linalg.dense import LinearOperatorLowerTriangular as LinearOperatorLowerTriangular
from weft.lib.linalg.identity import LinearOperatorIdentity as LinearOperatorIdentity
from weft.lib.linalg.identity import LinearOperatorScaledIdentity as LinearOperatorScaledIdentity
from weft.lib.linalg.inversion import LinearOperatorAdjoint as LinearOperatorAdjoint
from weft.lib.linalg.inversion import LinearOperatorInversion as LinearOperatorInversion
from weft.lib.linalg.joined import LinearOperatorBlockDiag as LinearOperatorBlockDiag
from weft.lib.linalg.joined import LinearOperatorComposition as LinearOperatorComposition
from weft.lib.linalg.kronecker import LinearOperatorKronecker as LinearOperatorKronecker
from weft.lib.linalg.low_rank import LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate
from weft.lib.linalg.toeplitz import LinearOperatorToeplitz as LinearOperatorToeplitz
from weft.lib.linalg.vectors import LinearOperatorDiag as LinearOperatorDiag
from weft.lib.linalg.vectors import LinearOperatorHouseholder as LinearOperatorHouseholder
from weft.lib.linalg.zeros import LinearOperatorZeros as LinearOperatorZeros
from weft.ops.array.shape import matrix_transpose as matrix_transpose
from weft.ops.array.shape import matrix_transpose as _is_transpose
from weft.ops.math.clip import global_norm as global_norm
from weft.ops.array.diag import matrix_band_part as _is_band_part
from weft.ops.array.diag import matrix_diag as _is_diag
from weft.ops.array.diag import matrix_set_diag as _is_set_diag
from weft.ops.array.diag import diag as _is_tensor_diag
from weft.ops.array.diag import diag_part as _is_tensor_diag_part
from weft.ops.math.einsum import einsum as einsum
from weft.ops.linalg.linalg import lu as lu
from weft.ops.linalg.linalg import matrix_rank as matrix_rank
from weft.ops.linalg.linalg import norm as norm
from weft.ops.linalg.linalg import normalize as normalize
from weft.ops.linalg.linalg import pinv as pinv
from weft.ops.linalg.linalg import qr as qr
from weft.ops.linalg.linalg import slogdet as slogdet
from weft.ops.linalg.linalg import svd as svd
from weft.ops.linalg.linalg import matrix_triangular_solve as _is_triangular_solve
from weft.ops.math.matmul import matvec as matvec
from weft.ops.math.matmul import tensordot as tensordot
from weft.ops.linalg.matrices import eye as eye
from weft.ops.math.moments import l2_normalize as l2_normalize
from weft.ops.linalg.solve import cholesky_solve as cholesky_solve
from weft.ops.linalg.tridiagonal import tridiagonal_matmul as tridiagonal_matmul
from weft.ops.linalg.tridiagonal import tridiagonal_solve as tridiagonal_solve
def adjoint(matrix: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def cholesky(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def det(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def diag_part(input: _Any, name: _builtins.str | None = 'diag_part', k: _Any = 0, padding_value: _Any = 0) -> _Tensor: ...
def inv(input: _Any, adjoint: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def logdet(matrix: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def matmul(a: _Any, b: _Any, transpose_a: _builtins.bool = False, transpose_b: _builtins.bool = False, adjoint_a: _builtins.bool = False, adjoint_b: _builtins.bool = False, a_is_sparse: _builtins.bool = False, b_is_sparse: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def solve(matrix: _Any, rhs: _Any, adjoint: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def trace(x: _Any, name: _builtins.str | None = None) -> _Tensor: ...
transpose = _is_transpose
band_part = _is_band_part
diag = _is_diag
set_diag = _is_set_diag
tensor_diag = _is_tensor_diag
tensor_diag_part = _is_tensor_diag_part
def eigh(tensor: _Any, name: _builtins.str | None = None) -> _builtins.tuple[_Tensor, _Tensor]: ...
def eigvalsh(tensor: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def expm(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def logm(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def lstsq(matrix: _Any, rhs: _Any, l2_regularizer: _Any = 0.0, fast: _builtins.bool = True, name: _builtins.str | None = None) -> _Tensor: ...
def sqrtm(input: _Any, name: _builtins.str | None = None) -> _Tensor: ...
triangular_solve = _is_triangular_solve
def cross(a: _Any, b: _Any, name: _builtins.str | None = None) -> _Tensor: ...
