"""The model function of boosted trees: statistics of gradients by bucket, and a layer from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.autodiff.gradients import gradients
from weft.core import dtypes
from weft.graph.graph import control_dependencies, name_scope
from weft.graph.op_def import raw
from weft.lib.estimator.canned import boosted_trees_features as by_column
from weft.lib.estimator.canned.boosted_trees_state import QuantileAccumulator, TreeEnsemble
from weft.lib.estimator.spec import EstimatorSpec, ModeKeys
from weft.lib.feature_column.numeric import numeric_column
from weft.lib.summary import summary
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array import array
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import math
from weft.ops.queues.accumulators import ConditionalAccumulator
from weft.ops.state.global_step import get_or_create_global_step
from weft.ops.state.updates import assign_add
from weft.ops.state.variables import Variable

PRUNING_MODES = {None: 0, "none": 0, "pre": 1, "post": 2}


class TreeHParams(NamedTuple):
    """How trees are to grow."""

    n_trees: int
    max_depth: int
    learning_rate: float
    l1: float
    l2: float
    tree_complexity: float
    min_node_weight: float
    center_bias: bool
    pruning_mode: str | None
    quantile_sketch_epsilon: float

    @property
    def max_splits(self) -> int:
        return (1 << self.max_depth) - 1

    def checked_pruning(self) -> int:
        """The number of the pruning mode; ValueError if it does not fit the complexity."""
        if self.pruning_mode not in PRUNING_MODES:
            known = ", ".join(mode for mode in PRUNING_MODES if mode)
            raise ValueError(f"pruning_mode must be one of: {known}")
        mode = PRUNING_MODES[self.pruning_mode]
        if self.tree_complexity > 0 and not mode:
            raise ValueError("Tree complexity have no effect unless pruning mode is chosen.")
        if not self.tree_complexity > 0 and mode:
            raise ValueError("For pruning, tree_complexity must be positive.")
        return mode


def _flag(value: bool, name: str) -> Variable:
    return Variable(value, trainable=False, validate_shape=False, name=name, use_resource=True)


def _averaging(shape: Any, name: str) -> ConditionalAccumulator:
    return ConditionalAccumulator(dtypes.float32, shape=shape, shared_name=name)


class Grower:
    """Adds up statistics over batches, and grows a layer when there are enough of them."""

    def __init__(
        self, ensemble: TreeEnsemble, hparams: TreeHParams, stamp: Any, n_batches: int,
        buckets: list[int], feature_ids: list[list[int]],
    ) -> None:  # fmt: skip
        self._ensemble, self._hparams, self._stamp = ensemble, hparams, stamp
        self._n_batches, self._feature_ids = n_batches, feature_ids
        self._pruning = hparams.checked_pruning()
        self._stats = [
            _averaging(
                [len(ids), hparams.max_splits, size, 2], f"numeric_stats_summary_accumulator_{i}"
            )
            for i, (size, ids) in enumerate(zip(buckets, feature_ids, strict=True))
        ]
        self._bias = _averaging([2, 1], "bias_accumulator") if hparams.center_bias else None
        every = [*self._stats, *([self._bias] if self._bias else [])]
        self.init_op = group(*[each.set_global_step(stamp) for each in every])

    def center_bias(self, needed: Variable, grads: Any, hessians: Any) -> Any:
        """One batch for the constant that predictions start from."""
        assert self._bias is not None
        bias = self._bias
        both = math.reduce_mean(array.stack([grads, hessians], axis=0), axis=1)
        with control_dependencies([bias.apply_grad(both, self._stamp)]):
            enough = math.greater_equal(bias.num_accumulated(), self._n_batches)
            return cond(enough, lambda: self._center(needed), no_op)

    def _center(self, needed: Variable) -> Any:
        assert self._bias is not None
        grads, hessians = array.unstack(self._bias.take_grad(1), 2, axis=0)
        go_on = raw.BoostedTreesCenterBias(
            self._ensemble.handle, array.expand_dims(grads, 0), array.expand_dims(hessians, 0),
            self._hparams.l1, self._hparams.l2,
        )  # fmt: skip
        done = needed.assign(go_on)
        with control_dependencies([done.op]):
            return cond(needed.read_value(), no_op, self._restamp)

    def _restamp(self) -> Any:
        return group(*[each.set_global_step(self._stamp + 1) for each in self._stats])

    def grow(self, summaries: list[Any], nodes: Any) -> Any:
        """One batch for the next layer."""
        taken = [
            kept.apply_grad(array.stack(each, axis=0), self._stamp)
            for kept, each in zip(self._stats, summaries, strict=True)
        ]
        with control_dependencies(taken):
            counts = array.stack([kept.num_accumulated() for kept in self._stats])
            enough = math.greater_equal(math.reduce_min(counts), self._n_batches)
            return cond(enough, lambda: self._layer(nodes), no_op)

    def _layer(self, nodes: Any) -> Any:
        hparams, found = self._hparams, [[] for _ in range(5)]  # type: ignore[var-annotated]
        for kept, ids in zip(self._stats, self._feature_ids, strict=True):
            best = raw.BoostedTreesCalculateBestGainsPerFeature(
                nodes, array.unstack(kept.take_grad(1), len(ids), axis=0), hparams.l1, hparams.l2,
                hparams.tree_complexity, hparams.min_node_weight, max_splits=hparams.max_splits,
            )  # fmt: skip
            for collected, each in zip(found, best, strict=True):
                collected += each
        ids = [number for group_ids in self._feature_ids for number in group_ids]
        node_ids, gains, thresholds, left, right = found
        return raw.BoostedTreesUpdateEnsemble(
            self._ensemble.handle, ids, node_ids, gains, thresholds, left, right,
            hparams.max_depth, hparams.learning_rate, pruning_mode=self._pruning,
        )  # fmt: skip


class StopAtAttempts(SessionRunHook):
    """Ends training when the trees are there, or when too many layers came to nothing."""

    def __init__(self, trees: Any, layers: Any, max_trees: int, max_depth: int) -> None:
        self._tensors, self._max_trees = [trees, layers], max_trees
        self._max_layers = 2 * max_trees * max_depth

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._tensors)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        trees, layers = run_values.results
        if trees >= self._max_trees - 1 or layers > self._max_layers - 1:
            # What was fetched is of before the step.
            trees, layers = run_context.session.run(self._tensors)
        if trees >= self._max_trees or layers > self._max_layers:
            run_context.request_stop()


class InitializeGrower(SessionRunHook):
    """Tells accumulators which state of the trees they are for."""

    def __init__(self, init_op: Any) -> None:
        self._init_op = init_op

    def after_create_session(self, session: Any, coord: Any) -> None:
        session.run(self._init_op)


def model_fn(
    features: Any, labels: Any, mode: str, head: Any, feature_columns: Any, hparams: TreeHParams,
    n_batches_per_layer: int, config: Any, closed_form: Callable[..., Any] | None = None,
    weight_column: Any = None, name: str = "boosted_trees",
) -> EstimatorSpec:  # fmt: skip
    """The model: trees that predict logits, and in training one more batch for the next layer."""
    if config.num_worker_replicas > 1:
        raise ValueError("Boosted trees are trained by one worker")
    columns = sorted(feature_columns, key=lambda column: column.name)
    with name_scope(name) as scope:
        model = _Model(scope, columns, hparams)
        if mode != ModeKeys.TRAIN:
            logits = raw.BoostedTreesPredict(
                model.ensemble.handle, model.buckets(features),
                logits_dimension=head.logits_dimension,
            )  # fmt: skip
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, train_op_fn=no_op, logits=logits
            )
        training = _Training(model, features, labels, head, n_batches_per_layer, closed_form)
        training.weigh(weight_column)
    spec = head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=training.train_op,
        logits=training.logits,
    )  # fmt: skip
    stop = StopAtAttempts(training.finished, training.layers, hparams.n_trees, hparams.max_depth)
    return spec._replace(
        training_hooks=(*spec.training_hooks, stop),
        training_chief_hooks=[
            InitializeGrower(training.grower.init_op), *spec.training_chief_hooks,
        ],
    )  # fmt: skip


def explanations_fn(
    features: Any, mode: str, head: Any, columns: list[Any], hparams: TreeHParams, key: str,
    name: str = "boosted_trees",
) -> EstimatorSpec:  # fmt: skip
    """Predictions, and under `key` the way that each example takes through the trees."""
    with name_scope(name) as scope:
        model = _Model(scope, columns, hparams)
        given = (model.ensemble.handle, model.buckets(features))
        logits = raw.BoostedTreesPredict(*given, logits_dimension=head.logits_dimension)
        spec: EstimatorSpec = head.create_estimator_spec(
            features=features, mode=mode, train_op_fn=no_op, logits=logits
        )
        spec.predictions[key] = raw.BoostedTreesExampleDebugOutputs(
            *given, logits_dimension=head.logits_dimension
        )
    return spec


class _Model:
    """The trees, and how features come to them."""

    def __init__(self, scope: str, columns: list[Any], hparams: TreeHParams) -> None:
        self.columns, self.hparams = columns, hparams
        self.step = get_or_create_global_step()
        self.ensemble = TreeEnsemble(scope)
        self.float_columns = [column for column in columns if by_column.is_float(column)]
        quantiles = int(1.0 / hparams.quantile_sketch_epsilon)
        self.boundaries: dict[str, list[Any]] = {}
        if self.float_columns:
            count = sum(by_column.width(column) for column in self.float_columns)
            self.quantiles = QuantileAccumulator(
                hparams.quantile_sketch_epsilon, count, quantiles, "QuantileAccumulator"
            )
            found = iter(self.quantiles.boundaries())
            for column in self.float_columns:
                own = [next(found) for _ in range(by_column.width(column))]
                self.boundaries[column.name] = own
        self.bucket_sizes, self.feature_ids = by_column.grouped(columns, quantiles)

    def buckets(self, features: Any) -> list[Any]:
        return by_column.transformed(features, self.columns, self.boundaries)


class _Training:
    """One training step."""

    def __init__(
        self, model: _Model, features: Any, labels: Any, head: Any, n_batches: int,
        closed_form: Callable[..., Any] | None,
    ) -> None:  # fmt: skip
        self._model, self._features, self._labels = model, features, labels
        self._closed_form, self._n_batches = closed_form, n_batches
        self._ready = _flag(not model.float_columns, "are_boundaries_ready")
        self._buckets = model.buckets(features)
        stamp, trees, self.finished, self.layers, self._nodes = model.ensemble.states()
        size = array.shape(labels)[0]
        start = array.zeros([size], dtypes.int32)
        self.logits, _, self._node_ids = raw.BoostedTreesTrainingPredict(
            model.ensemble.handle, start, start - 1, self._buckets,
            logits_dimension=head.logits_dimension,
        )  # fmt: skip
        self._stamp = stamp
        self.grower = Grower(
            model.ensemble, model.hparams, stamp, n_batches, model.bucket_sizes, model.feature_ids
        )
        summary.scalar("ensemble/num_trees", trees)
        summary.scalar("ensemble/num_finalized_trees", self.finished)
        summary.scalar("ensemble/num_attempted_layers", self.layers)
        self._centering = _flag(model.hparams.center_bias, "center_bias_needed")

    def weigh(self, weight_column: Any) -> None:
        """The weights of the examples, for the quantiles."""
        self._weights: Any = array.ones([1])
        if weight_column is not None:
            if isinstance(weight_column, str):
                weight_column = numeric_column(weight_column, shape=(1,))
            self._weights = by_column.transformed(self._features, [weight_column])[0]

    def train_op(self, loss: Any) -> Any:
        """The operation that takes in this batch."""
        if not self._model.float_columns:
            return self._grow(loss)
        return cond(self._ready.read_value(), lambda: self._grow(loss), self._add_quantiles)

    def _add_quantiles(self) -> Any:
        """Until enough batches have come, they only tell how to cut floats into buckets."""
        values = by_column.transformed(self._features, self._model.float_columns)
        counter = _averaging([], "quantile_summary_accum")
        taken = group(
            self._model.quantiles.add(values, self._weights), counter.set_global_step(self._stamp),
            counter.apply_grad(0.0, self._stamp),
        )  # fmt: skip
        with control_dependencies([taken]):
            enough = math.greater_equal(counter.num_accumulated(), self._n_batches)
            return cond(enough, lambda: self._finish_quantiles(counter), no_op)

    def _finish_quantiles(self, counter: ConditionalAccumulator) -> Any:
        ready = self._ready.assign(True).op
        return group(self._model.quantiles.flush(), counter.take_grad(1), ready)

    def _grow(self, loss: Any) -> Any:
        hparams = self._model.hparams
        if self._closed_form is not None:
            grads, hessians = self._closed_form(self.logits, self._labels)
        else:
            grads = gradients(loss, self.logits, name="Gradients")[0]
            hessians = gradients(grads, self.logits, name="Hessians")[0]
        summaries = [
            [self._summary(grads, hessians, number, size) for number in ids]
            for size, ids in zip(self._model.bucket_sizes, self._model.feature_ids, strict=True)
        ]
        if hparams.center_bias:
            update = cond(
                self._centering.read_value(),
                lambda: self.grower.center_bias(self._centering, grads, hessians),
                lambda: self.grower.grow(summaries, self._nodes),
            )
        else:
            update = self.grower.grow(summaries, self._nodes)
        with control_dependencies([update]):
            return group(update, assign_add(self._model.step, 1).op, name="grow_op")

    def _summary(self, grads: Any, hessians: Any, number: int, size: int) -> Any:
        made = raw.BoostedTreesMakeStatsSummary(
            self._node_ids, grads, hessians, [self._buckets[number]],
            max_splits=self._model.hparams.max_splits, num_buckets=size,
        )  # fmt: skip
        return array.squeeze(made, [0])
