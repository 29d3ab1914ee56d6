"""The array ops under one name: everything that makes, shapes, joins or pads arrays.

Indexing is in `indexing.py`, matrix diagonals in `diag.py`, blocks of images in `blocks.py`.
"""

from __future__ import annotations

from weft.ops.array.distinct import listdiff, setdiff1d, unique, unique_with_counts  # noqa: F401
from weft.ops.array.fill import (  # noqa: F401
    broadcast_dynamic_shape,
    broadcast_static_shape,
    broadcast_to,
    fill,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from weft.ops.array.join import autopack, concat, parallel_stack, stack  # noqa: F401
from weft.ops.array.pad import pad, pad_with  # noqa: F401
from weft.ops.array.placeholders import (  # noqa: F401
    check_numerics,
    ensure_shape,
    guarantee_const,
    identity,
    identity_n,
    placeholder,
    placeholder_with_default,
    prevent_gradient,
    sparse_placeholder,
    stop_gradient,
)
from weft.ops.array.repeat import meshgrid, repeat, tile  # noqa: F401
from weft.ops.array.reverse import reverse, reverse_sequence, reverse_v2, roll  # noqa: F401
from weft.ops.array.shape import (  # noqa: F401
    all_axes,
    expand_dims,
    invert_permutation,
    matrix_transpose,
    rank,
    rank_internal,
    reshape,
    shape,
    shape_internal,
    shape_n,
    size,
    size_internal,
    squeeze,
    squeezed_dims,
    transpose,
)
from weft.ops.array.split import split, unstack  # noqa: F401
from weft.ops.kit.shared import (  # noqa: F401
    as_array,
    blank,
    check_size,
    deprecated_alias,
    divide,
    invalid,
    is_concrete,
    is_tensor_like,
    piece,
    place,
    shape_argument,
)
