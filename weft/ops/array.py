"""The array ops under one name: everything that makes, shapes, joins or pads arrays.

Indexing is in `indexing.py`, matrix diagonals in `diag.py`, blocks of images in `blocks.py`.
"""

from __future__ import annotations

from weft.ops.array_fill import (
    broadcast_dynamic_shape as broadcast_dynamic_shape,
)
from weft.ops.array_fill import (
    broadcast_static_shape as broadcast_static_shape,
)
from weft.ops.array_fill import (
    broadcast_to as broadcast_to,
)
from weft.ops.array_fill import (
    fill as fill,
)
from weft.ops.array_fill import (
    ones as ones,
)
from weft.ops.array_fill import (
    ones_like as ones_like,
)
from weft.ops.array_fill import (
    zeros as zeros,
)
from weft.ops.array_fill import (
    zeros_like as zeros_like,
)
from weft.ops.array_join import (
    autopack as autopack,
)
from weft.ops.array_join import (
    concat as concat,
)
from weft.ops.array_join import (
    parallel_stack as parallel_stack,
)
from weft.ops.array_join import (
    split as split,
)
from weft.ops.array_join import (
    stack as stack,
)
from weft.ops.array_join import (
    unstack as unstack,
)
from weft.ops.array_pad import (
    meshgrid as meshgrid,
)
from weft.ops.array_pad import (
    pad as pad,
)
from weft.ops.array_pad import (
    pad_with as pad_with,
)
from weft.ops.array_pad import (
    repeat as repeat,
)
from weft.ops.array_pad import (
    reverse as reverse,
)
from weft.ops.array_pad import (
    reverse_sequence as reverse_sequence,
)
from weft.ops.array_pad import (
    reverse_v2 as reverse_v2,
)
from weft.ops.array_pad import (
    roll as roll,
)
from weft.ops.array_pad import (
    tile as tile,
)
from weft.ops.array_pass import (
    check_numerics as check_numerics,
)
from weft.ops.array_pass import (
    ensure_shape as ensure_shape,
)
from weft.ops.array_pass import (
    guarantee_const as guarantee_const,
)
from weft.ops.array_pass import (
    identity as identity,
)
from weft.ops.array_pass import (
    identity_n as identity_n,
)
from weft.ops.array_pass import (
    placeholder as placeholder,
)
from weft.ops.array_pass import (
    placeholder_with_default as placeholder_with_default,
)
from weft.ops.array_pass import (
    prevent_gradient as prevent_gradient,
)
from weft.ops.array_pass import (
    sparse_placeholder as sparse_placeholder,
)
from weft.ops.array_pass import (
    stop_gradient as stop_gradient,
)
from weft.ops.array_sets import (
    listdiff as listdiff,
)
from weft.ops.array_sets import (
    setdiff1d as setdiff1d,
)
from weft.ops.array_sets import (
    unique as unique,
)
from weft.ops.array_sets import (
    unique_with_counts as unique_with_counts,
)
from weft.ops.array_shape import (
    all_axes as all_axes,
)
from weft.ops.array_shape import (
    expand_dims as expand_dims,
)
from weft.ops.array_shape import (
    invert_permutation as invert_permutation,
)
from weft.ops.array_shape import (
    matrix_transpose as matrix_transpose,
)
from weft.ops.array_shape import (
    rank as rank,
)
from weft.ops.array_shape import (
    rank_internal as rank_internal,
)
from weft.ops.array_shape import (
    reshape as reshape,
)
from weft.ops.array_shape import (
    shape as shape,
)
from weft.ops.array_shape import (
    shape_internal as shape_internal,
)
from weft.ops.array_shape import (
    shape_n as shape_n,
)
from weft.ops.array_shape import (
    size as size,
)
from weft.ops.array_shape import (
    size_internal as size_internal,
)
from weft.ops.array_shape import (
    squeeze as squeeze,
)
from weft.ops.array_shape import (
    squeezed_dims as squeezed_dims,
)
from weft.ops.array_shape import (
    transpose as transpose,
)
from weft.ops.kernels import (
    as_array as as_array,
)
from weft.ops.kernels import (
    blank as blank,
)
from weft.ops.kernels import (
    check_size as check_size,
)
from weft.ops.kernels import (
    deprecated_alias as deprecated_alias,
)
from weft.ops.kernels import (
    divide as divide,
)
from weft.ops.kernels import (
    invalid as invalid,
)
from weft.ops.kernels import (
    is_concrete as is_concrete,
)
from weft.ops.kernels import (
    is_tensor_like as is_tensor_like,
)
from weft.ops.kernels import (
    piece as piece,
)
from weft.ops.kernels import (
    place as place,
)
from weft.ops.kernels import (
    shape_argument as shape_argument,
)
