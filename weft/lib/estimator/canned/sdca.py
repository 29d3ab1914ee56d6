"""tf.estimator.experimental.LinearSDCA: linear models trained by dual coordinate ascent.

What is known of every example (its dual variable) is kept in a table, under its id. The weights
that training changes are slots; those of the model follow after each step, shrunk by L1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.core import dtypes
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, colocate_with, control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.lib.feature_column.base import CategoricalColumn, DenseColumn, is_feature_column_v2
from weft.lib.feature_column.linear import parts
from weft.lib.feature_column.transformation import FeatureTransformationCache
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import summary
from weft.lib.train.checkpoint.mutable_tables import DenseHashTable
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array import (
    array,
    gather,
)
from weft.ops.array import (
    distinct as array_sets,
)
from weft.ops.array import (
    fill as array_fill,
)
from weft.ops.array import (
    join as array_join,
)
from weft.ops.array import (
    split as array_split,
)
from weft.ops.array.one_hot_search import boolean_mask
from weft.ops.array.scatter import scatter_nd
from weft.ops.control.control import group
from weft.ops.math import casts, math, unary
from weft.ops.math.segment import unsorted_segment_min, unsorted_segment_sum
from weft.ops.state.updates import assign_add, scatter_add
from weft.ops.state.variables import Variable


class Sparse(NamedTuple):
    """Features of a batch as a list: of which example, which one, and its value."""

    examples: Tensor
    ids: Tensor
    values: Tensor


class Batch(NamedTuple):
    """Examples, and for each group of features the variable with its weights."""

    sparse: list[Sparse]
    sparse_weights: list[Any]
    dense: list[Any]
    dense_weights: list[Any]
    labels: Tensor
    weights: Tensor
    ids: Tensor


class LinearSDCA:
    """Goes where a linear classifier or regressor takes an optimizer, though it is none.

    The features must hold a string for every example, its id, as `example_id_column`. The table of
    examples is one, however many shards are asked for.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions, self._num_table_shards = num_loss_partitions, num_table_shards
        self._l1, self._l2 = symmetric_l1_regularization, symmetric_l2_regularization
        self._adaptive = adaptive

    def get_train_step(
        self, state_manager: Any, weight_column_name: Any, loss_type: str, feature_columns: Any,
        features: Any, targets: Any, bias_var: Any, global_step: Any,
    ) -> tuple[SdcaModel, Any]:  # fmt: skip
        """The model, and the operation that trains it with a batch."""
        count = array.shape(targets)[0]
        weights = array_fill.ones([count])
        if weight_column_name:
            weights = array.reshape(features[weight_column_name], [-1])
        labels = casts.cast(array.reshape(targets, [-1]), dtypes.float32)
        ids = convert_to_tensor(features[self._example_id_column])
        batch = Batch([], [], [], [], labels, weights, ids)
        cache = FeatureTransformationCache(features)
        for column in sorted(feature_columns, key=lambda each: each.name):
            _add_column(batch, column, cache, state_manager)
        batch.dense.append(array_fill.ones([count, 1]))
        batch.dense_weights.append(bias_var)
        model = SdcaModel(batch, loss_type, self)
        return model, model.minimize(global_step)


def _add_column(batch: Batch, column: Any, cache: Any, state: Any) -> None:
    kind = type(column).__name__
    if isinstance(column, CategoricalColumn):
        batch.sparse.append(without_doubles(*column.get_sparse_tensors(cache, state)))
        batch.sparse_weights.append(state.get_variable(column, "weights"))
    elif isinstance(column, DenseColumn):
        rank = column.variable_shape.ndims
        if rank != 1:
            raise ValueError(f"Column {kind} has rank {rank}, larger than 1.")
        batch.dense.append(column.get_dense_tensor(cache, state))
        batch.dense_weights.append(state.get_variable(column, "weights"))
    else:
        raise ValueError(f"LinearSDCA does not support column type {kind}.")


def without_doubles(ids: Any, weights: Any) -> Sparse:
    """Each id of an example once, its weights added up; none that is negative."""
    values = array_fill.ones([array.shape(ids.indices)[0]]) if weights is None else weights.values
    examples = array.reshape(ids.indices[:, 0], [-1])
    flat = casts.cast(array.reshape(ids.values, [-1]), dtypes.int64)
    valid = math.greater_equal(flat, 0)
    examples, flat, values = (boolean_mask(each, valid) for each in (examples, flat, values))
    stride = math.reduce_max(flat) + 1
    pairs, at = array_sets.unique(stride * examples + flat)
    count = array.shape(pairs)[0]
    of = unsorted_segment_min(examples, at, count)
    summed = array.reshape(unsorted_segment_sum(values, at, count), [-1])
    return Sparse(of, pairs - stride * of, summed)


def _whole(variable: Any) -> Tensor:
    values = [each.read_value() for each in parts(variable)]
    return values[0] if len(values) == 1 else array_join.concat(values, 0)


class Slot:
    """The weights before they are shrunk: a variable beside each part of the model's."""

    def __init__(self, variable: Any, suffix: str) -> None:
        self.variable, self.own = variable, []  # type: Any, list[Any]
        for part in parts(variable):
            with colocate_with(part.op):
                zeros = array_fill.zeros(part.shape.as_list())
                self.own.append(Variable(zeros, name=part.op.name + suffix))

    def read(self) -> Tensor:
        values = [each.read_value() for each in self.own]
        return values[0] if len(values) == 1 else array_join.concat(values, 0)

    def add_rows(self, rows: Tensor, by: Tensor) -> list[Any]:
        if len(self.own) == 1:
            return [scatter_add(self.own[0], rows, by)]
        shape = [sum(each.shape.as_list()[0] for each in self.own), *by.shape.as_list()[1:]]
        return self.add(scatter_nd(array.expand_dims(rows, 1), by, convert_to_tensor(
            shape, dtype=dtypes.int64)))  # fmt: skip

    def add(self, by: Tensor) -> list[Any]:
        sizes = [each.shape.as_list()[0] for each in self.own]
        pieces = [by] if len(sizes) == 1 else array_split.split(by, sizes)
        return [assign_add(own, piece) for own, piece in zip(self.own, pieces, strict=True)]


class SdcaModel:
    """The weights of a linear model, and the operations that train them."""

    slot_suffix = "_unshrunk"

    def __init__(self, batch: Batch, loss_type: str, options: LinearSDCA) -> None:
        _check(options._l1, options._l2)
        self._batch, self._loss_type, self._options = batch, loss_type, options
        self._sparse_slots = [Slot(each, self.slot_suffix) for each in batch.sparse_weights]
        self._dense_slots = [Slot(each, self.slot_suffix) for each in batch.dense_weights]
        self._table = DenseHashTable(
            dtypes.int64, dtypes.float32, default_value=[0.0] * 4, empty_key=[0, 0],
            deleted_key=[1, 1],
        )  # fmt: skip
        summary.scalar("approximate_duality_gap", self.approximate_duality_gap())
        summary.scalar("examples_seen", self._table.size())

    def minimize(self, global_step: Any = None, name: str | None = None) -> Any:
        """Trains with the batch."""
        batch, options = self._batch, self._options
        with name_scope(name, "sdca/minimize"):
            keys = raw.SdcaFprint(batch.ids)
            known = [array_sets.unique(each.ids)[0] for each in batch.sparse]
            rows = [
                gather.gather(slot.read(), ids)
                for slot, ids in zip(self._sparse_slots, known, strict=True)
            ]
            state, by_row, by = raw.SdcaOptimizerV2(
                [each.examples for each in batch.sparse], [each.ids for each in batch.sparse],
                [each.values for each in batch.sparse], batch.dense, batch.weights, batch.labels,
                known, rows, [slot.read() for slot in self._dense_slots],
                self._table.lookup(keys), loss_type=self._loss_type, l1=options._l1,
                l2=options._l2, num_loss_partitions=options._num_loss_partitions,
                num_inner_iterations=1, adaptive=options._adaptive,
            )  # fmt: skip
            with control_dependencies([state]):
                updates = [self._table.insert(keys, state)]
                for slot, ids, change in zip(self._sparse_slots, known, by_row, strict=True):
                    updates += slot.add_rows(ids, change)
                for slot, change in zip(self._dense_slots, by, strict=True):
                    updates += slot.add(change)
            if global_step is None:
                return group(*updates)
            with control_dependencies(updates):
                return assign_add(global_step, 1, name=name).op

    def update_weights(self, train_op: Any) -> Any:
        """After `train_op`: the weights of the model are those of the slots, shrunk."""
        shrink_by = self._options._l1 / self._options._l2
        updates = []
        with control_dependencies([train_op]):
            for slot in (*self._sparse_slots, *self._dense_slots):
                for part, own in zip(parts(slot.variable), slot.own, strict=True):
                    value = own.read_value()
                    if shrink_by > 0:
                        size = math.maximum(math.abs(value) - shrink_by, 0.0)
                        value = unary.sign(value) * size
                    updates.append(part.assign(value))
        return group(*updates)

    def approximate_duality_gap(self) -> Tensor:
        """How far the weights are at most from the best ones, by what the examples last said."""
        with name_scope("sdca/approximate_duality_gap"):
            _, values = self._table.export()
            sums = math.reduce_sum(casts.cast(values, dtypes.float64), 0)
            l1, l2 = self._options._l1, self._options._l2
            weights = [
                casts.cast(_whole(each), dtypes.float64)
                for each in (*self._batch.sparse_weights, *self._batch.dense_weights)
            ]
            size = l1 * math.add_n([math.reduce_sum(math.abs(each)) for each in weights])
            squares = l2 * math.add_n([math.reduce_sum(unary.square(each)) for each in weights])
            return (sums[1] + sums[2] + size + squares) / sums[3]


def _check(l1: float, l2: float) -> None:
    if l2 <= 0:
        raise ValueError("symmetric_l2_regularization should be positive.")
    if l2 <= 1:
        logging.warn(
            "symmetric_l2_regularization for SDCA should typically be larger than for online"
            " optimization methods. Recommended value is of the order of the average L2 norm of the"
            " training examples."
        )
    if l1 < 0:
        raise ValueError("symmetric_l1_regularization should be non-negative.")


class UpdateWeights(SessionRunHook):
    """Makes the weights of the model follow with every step."""

    def __init__(self, model: SdcaModel, train_op: Any) -> None:
        self._model, self._train_op = model, train_op

    def begin(self) -> None:
        self._update = self._model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._update)


def check_use(
    optimizer: Any, feature_columns: Any, sparse_combiner: str, classes: int = 2, numbers: int = 1
) -> None:
    """Refuses what a LinearSDCA cannot train."""
    if not isinstance(optimizer, LinearSDCA):
        return
    given = "when optimizer is a LinearSDCA object."
    if sparse_combiner != "sum":
        raise ValueError(f'sparse_combiner must be "sum" {given}')
    if not is_feature_column_v2(feature_columns):
        raise ValueError(f"V2 feature columns required {given}")
    if classes > 2:
        raise ValueError("LinearSDCA cannot be used in a multi-class setting.")
    if numbers > 1:
        raise ValueError("LinearSDCA can only be used with one-dimensional label.")
