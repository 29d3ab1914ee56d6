"""Weighted alternating least squares: a sparse matrix as the product of two factors.

Rows and columns are alike: each is a `_Side`, with shards of factors and weights, the product of
its factors with themselves (the gramian), and copies of all these that a worker keeps while it
solves for the other side.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.graph import Tensor, colocate_with, control_dependencies, name_scope
from weft.graph.keys import GraphKeys
from weft.graph.slices import SparseTensor
from weft.lib.contrib.factorization.wals_equations import Batch, Problem, solve
from weft.ops.array import array
from weft.ops.array.one_hot_search import where_v2
from weft.ops.array.partition import dynamic_partition
from weft.ops.control.control import group, no_op
from weft.ops.linalg.matrices import eye
from weft.ops.math import math
from weft.ops.random.random import random_normal
from weft.ops.state.updates import assign, scatter_update
from weft.ops.state.variable_lists import variables_initializer
from weft.ops.state.variables import Variable

_LOCAL = [GraphKeys.LOCAL_VARIABLES]


class _Copy(NamedTuple):
    """A worker's copy of a variable or of shards, what fills it and what empties it."""

    value: Any
    fill: Any
    empty: Any


class _Side(NamedTuple):
    """Rows or columns."""

    name: str
    size: int
    shards: int
    factors: list[Any]
    weights: list[Any] | None
    gramian: Any


class WALSModel:
    """Factors `U`, `V` of a matrix, found in turns by least squares.

    The weight of an entry is `unobserved_weight`, plus `row_weights[i] * col_weights[j]` if the
    sparse matrix has it.

    Args:
        input_rows, input_cols: the size of the matrix.
        n_components: the width of the factors.
        unobserved_weight: of entries that the sparse matrix does not have.
        regularization: of the squares of the factors, or None.
        row_init, col_init: the first factors, a list of them for several shards, or "random".
        num_row_shards, num_col_shards: how many variables the factors are in.
        row_weights, col_weights: a number, or lists of them for each shard; None for both: all
            entries count alike.
        use_factors_weights_cache, use_gramian_cache: whether workers keep copies.
        use_scoped_vars: whether variables are in name scopes of their own.
    """

    def __init__(
        self,
        input_rows: int,
        input_cols: int,
        n_components: int,
        unobserved_weight: float = 0.1,
        regularization: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache: bool = True,
        use_gramian_cache: bool = True,
        use_scoped_vars: bool = False,
    ) -> None:
        assert (row_weights is None) == (col_weights is None)
        self._unobserved_weight, self._regularization = unobserved_weight, regularization
        identity = None if regularization is None else regularization * eye(n_components)
        self._regularization_matrix = identity
        given = {
            "row": (input_rows, num_row_shards, row_init, row_weights),
            "col": (input_cols, num_col_shards, col_init, col_weights),
        }

        def named(name: str, make: Callable[..., Any], *args: Any) -> Any:
            if not use_scoped_vars:
                return make(*args, name)
            with name_scope(name):
                return make(*args, name)

        weights = {
            key: named(f"{key}_weights", _make_weights, numbers_, size, shards)
            for key, (size, shards, _, numbers_) in given.items()
        }
        factors = {
            key: named(f"{key}_factors", _make_factors, size, n_components, shards, init)
            for key, (size, shards, init, _) in given.items()
        }
        self._row, self._col = (
            _Side(key, size, shards, factors[key], weights[key], _gramian(n_components, key))
            for key, (size, shards, _, _) in given.items()
        )
        self._row_update_prep_gramian = _prepared(self._row, self._col)
        self._col_update_prep_gramian = _prepared(self._col, self._row)
        with name_scope("transient_vars"):
            self._make_copies(use_factors_weights_cache, use_gramian_cache)

    def _make_copies(self, of_factors: bool, of_gramians: bool) -> None:
        sides = (self._row, self._col)
        kept = {
            what: [_copied(getattr(side, attribute), f"{side.name}_{what}_cache", wanted)
                   for side in sides]
            for what, attribute, wanted in (
                ("factors", "factors", of_factors),
                ("wt", "weights", of_factors),
                ("gramian", "gramian", of_gramians),
            )
        }  # fmt: skip
        self._copies = {
            side.name: {what: copies[i] for what, copies in kept.items()}
            for i, side in enumerate(sides)
        }
        self._row_updates_init = self._updates_begun("col", "row")
        self._col_updates_init = self._updates_begun("row", "col")
        if self._row.weights is None:
            self._worker_init = no_op(name="worker_init")
        else:
            fills = [self._copies[side.name]["wt"].fill for side in sides]
            self._worker_init = group(*fills, name="worker_init")

    def _updates_begun(self, read: str, solved: str) -> Any:
        fills, empties = self._copies[read], self._copies[solved]
        steps = [(fills[what].fill, empties[what].empty) for what in ("factors", "gramian")]
        return group(*(op for pair in steps for op in pair))

    # ---- the variables ----

    @property
    def row_factors(self) -> list[Any]:
        """The shards of the row factors."""
        return self._row.factors

    @property
    def col_factors(self) -> list[Any]:
        """The shards of the column factors."""
        return self._col.factors

    @property
    def row_weights(self) -> list[Any] | None:
        """The shards of the row weights."""
        return self._row.weights

    @property
    def col_weights(self) -> list[Any] | None:
        """The shards of the column weights."""
        return self._col.weights

    @property
    def initialize_op(self) -> Any:
        """Initializes factors, gramians and weights."""
        sides = (self._row, self._col)
        factors = [each for side in sides for each in side.factors]
        weights = [each for side in sides for each in side.weights or ()]
        return variables_initializer([*factors, *(side.gramian for side in sides), *weights])

    # ---- what is run before a sweep ----

    @property
    def worker_init(self) -> Any:
        """Fills a worker's copies of the weights: once, before anything else."""
        return self._worker_init

    @property
    def row_update_prep_gramian_op(self) -> Any:
        """Computes the gramian of the columns; the chief runs it before rows are solved for."""
        return self._row_update_prep_gramian

    @property
    def col_update_prep_gramian_op(self) -> Any:
        """Computes the gramian of the rows; the chief runs it before columns are solved for."""
        return self._col_update_prep_gramian

    @property
    def initialize_row_update_op(self) -> Any:
        """Fills a worker's copies for solving for rows."""
        return self._row_updates_init

    @property
    def initialize_col_update_op(self) -> Any:
        """Fills a worker's copies for solving for columns."""
        return self._col_updates_init

    # ---- steps ----

    def update_row_factors(self, sp_input: Any = None, transpose_input: bool = False) -> Any:
        """(new factors, update, loss, regularization, sum of weights) for some rows.

        `sp_input` has the indices of the whole matrix; the loss is that of the rows it has, as if
        all were like them.
        """
        return self._solved(self._row, self._col, sp_input, transpose_input)

    def update_col_factors(self, sp_input: Any = None, transpose_input: bool = False) -> Any:
        """(new factors, update, loss, regularization, sum of weights) for some columns."""
        return self._solved(self._col, self._row, sp_input, not transpose_input)

    def project_row_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Tensor:
        """The factors that rows would have; their weights are 1 unless they are given."""
        weights = 1 if projection_weights is None else projection_weights
        return self._solved(self._row, self._col, sp_input, transpose_input, weights)[0]

    def project_col_factors(
        self, sp_input: Any = None, transpose_input: bool = False, projection_weights: Any = None
    ) -> Tensor:
        """The factors that columns would have; their weights are 1 unless they are given."""
        weights = 1 if projection_weights is None else projection_weights
        return self._solved(self._col, self._row, sp_input, not transpose_input, weights)[0]

    def _solved(
        self, left: _Side, right: _Side, sp_input: Any, transposed: bool, weights: Any = None
    ) -> Any:
        assert isinstance(sp_input, SparseTensor)
        copies, own = self._copies[right.name], self._copies[left.name]
        weighted = left.weights is not None
        batch = Batch.of(sp_input, transposed)
        problem = Problem(
            total_rows=left.size,
            total_cols=right.size,
            factors=copies["factors"].value,
            row_weights=own["wt"].value if weighted else None,
            col_weights=copies["wt"].value if weighted else None,
            given_weights=weights,
            gramian=copies["gramian"].value,
            unobserved_weight=self._unobserved_weight,
            regularization=self._regularization,
            regularization_matrix=self._regularization_matrix,
        )

        def update(values: Tensor) -> Any:
            name = f"{left.name}_update"
            return _scattered(left, batch.solved_ids, values, name)

        return solve(problem, batch, update)


# ---- variables ---------------------------------------------------------------------------------


def _shard_sizes(total: int, shards: int) -> list[int]:
    size, more = divmod(total, shards)
    return [size + 1] * more + [size] * (shards - more)


def _shards(name: str, total: int, shards: int, first_value: Callable[[int, int], Any]) -> Any:
    """A variable for each shard; `first_value` gets its number and its size."""
    return [
        Variable(
            lambda i=i, size=size: first_value(i, size),  # type: ignore[misc]
            dtype=dtypes.float32,
            name=f"{name}_shard_{i}",
        )
        for i, size in enumerate(_shard_sizes(total, shards))
    ]


def _make_factors(rows: int, cols: int, shards: int, init: Any, name: str) -> list[Any]:
    given = init() if callable(init) else init
    if isinstance(given, str) and given == "random":
        return _shards(name, rows, shards, lambda i, size: random_normal([size, cols]))
    if not isinstance(given, list) and shards == 1:
        given = [given]
    assert not isinstance(given, list) or len(given) == shards
    return _shards(name, rows, shards, lambda i, size: given[i])


def _make_weights(given: Any, count: int, shards: int, name: str) -> list[Any] | None:
    if given is None:
        return None
    if isinstance(given, Iterable):
        parts: Any = [given] if shards == 1 and len(given) == count else given  # type: ignore[arg-type]
        assert len(parts) == shards
        return _shards(name, count, shards, lambda i, size: parts[i])
    if isinstance(given, numbers.Real) and float(given) >= 0:
        return _shards(name, count, shards, lambda i, size: given * array.ones([size]))
    raise ValueError(
        "Invalid weight initialization argument. Must be one of these: None, a real non-negative "
        "real number, or a list of lists of non-negative real numbers (or equivalent iterables) "
        "corresponding to sharded factors."
    )


def _gramian(size: int, key: str) -> Any:
    return Variable(array.zeros([size, size]), dtype=dtypes.float32, name=f"{key}_gramian")


def _prepared(solved: _Side, read: _Side) -> Any:
    """The operation that computes the gramian which solving for one side reads."""
    with name_scope(f"{solved.name}_prepare_gramian"):
        parts = []
        for factors in read.factors:
            with colocate_with(factors):
                parts.append(math.matmul(factors, factors, transpose_a=True))
        with colocate_with(read.gramian):
            return assign(read.gramian, math.add_n(parts)).op


# ---- copies of a worker ------------------------------------------------------------------------


def _copied(var: Any, name: str, wanted: bool) -> _Copy:
    """A copy of a variable or of shards; without one, the variable stands for it."""
    if var is None:
        return _Copy(None, None, None)
    if not wanted:
        return _Copy(var, no_op(), no_op())
    if not isinstance(var, list):
        copy = _transient(name)
        with colocate_with(copy):
            fill = assign(copy, var, validate_shape=False)
            return _Copy(copy, fill, assign(copy, 1.0, validate_shape=False))
    copies = [_transient(f"{name}_shard_{i}") for i in range(len(var))]
    fill, empties = None, []
    for copy, shard in zip(copies, var, strict=True):
        # One after the other, so that few of them are on their way at once.
        with colocate_with(copy):
            with control_dependencies([] if fill is None else [fill]):
                fill = assign(copy, shard, validate_shape=False)
            empties.append(assign(copy, 1.0, validate_shape=False))
    return _Copy(copies, fill, group(*empties))


def _transient(name: str) -> Any:
    return Variable(1.0, trainable=False, collections=_LOCAL, validate_shape=False, name=name)


# ---- writing to shards -------------------------------------------------------------------------


def _scattered(side: _Side, ids: Tensor, values: Tensor, name: str) -> Any:
    """Writes rows of factors into the shards that have them."""
    if side.shards == 1:
        with colocate_with(side.factors[0]):
            return scatter_update(side.factors[0], ids, values, name=name).op
    small, more = divmod(side.size, side.shards)
    shard = math.maximum(ids // (small + 1), (ids - more) // small)
    place = where_v2(shard < more, ids % (small + 1), (ids - more) % small)
    shard = math.cast(shard, dtypes.int32)
    places = dynamic_partition(place, shard, side.shards)
    rows = dynamic_partition(values, shard, side.shards)
    updates = map(scatter_update, side.factors, places, rows)
    return group(*updates, name=name)
