"""tf.contrib.factorization.WALSMatrixFactorization: factors of a matrix, by an Estimator.

Training alternates between sweeps over all rows and over all columns. A hook runs what a sweep
needs before it begins, and chooses the operation of each step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from weft.core import dtypes
from weft.graph.graph import colocate_with, control_dependencies, get_default_graph
from weft.graph.keys import GraphKeys
from weft.lib.contrib.factorization.wals import WALSModel
from weft.lib.contrib.learn.estimator import Estimator
from weft.lib.contrib.learn.model_fn import ModeKeys, ModelFnOps
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import summary
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook
from weft.ops.array.fill import fill, ones_like
from weft.ops.control.cond import cond
from weft.ops.control.control import group, no_op
from weft.ops.math import math
from weft.ops.state.global_step import get_global_step
from weft.ops.state.updates import assign, assign_add, scatter_update
from weft.ops.state.variables import Variable

COMPLETED_SWEEPS = "completed_sweeps"


@dataclass
class _Sweep:
    """Rows or columns in training: what comes before a sweep, and its step."""

    name: str
    prepare: list[Any]
    step: Any = None
    reset: Any = None


class _SweepHook(SessionRunHook):
    """Runs the steps of sweeps over rows and columns in turn."""

    def __init__(
        self, by_rows: Any, is_done: Any, init_op: Any, rows: _Sweep, cols: _Sweep, switch_op: Any
    ) -> None:
        self._by_rows, self._is_done = by_rows, is_done
        self._init_op, self._switch_op = init_op, switch_op
        self._sweeps = {True: rows, False: cols}
        self._begun = False

    def before_run(self, run_context: Any) -> SessionRunArgs:
        session = run_context.session
        done = session.run(self._is_done)
        if not self._begun:
            logging.info("SweepHook running init op.")
            session.run(self._init_op)
        if done:
            logging.info("SweepHook starting the next sweep.")
            session.run(self._switch_op)
        sweep = self._sweeps[bool(session.run(self._by_rows))]
        if done or not self._begun:
            logging.info("SweepHook running prep ops for the %s sweep.", sweep.name)
            for each in sweep.prepare:
                session.run(each)
        self._begun = True
        logging.info("Next fit step starting.")
        return SessionRunArgs([sweep.step])


class _IncrementGlobalStepHook(SessionRunHook):
    """Counts steps, where there is a counter."""

    def __init__(self) -> None:
        step = get_global_step()
        self._count = None
        if step is not None:
            self._count = assign_add(step, 1, name="global_step_incr").op

    def before_run(self, run_context: Any) -> None:
        if self._count is not None:
            run_context.session.run(self._count)


class _StopAtSweepHook(SessionRunHook):
    """Ends training after so many sweeps."""

    def __init__(self, last_sweep: int) -> None:
        self._last_sweep = last_sweep

    def begin(self) -> None:
        try:
            self._sweeps = get_default_graph().get_tensor_by_name(f"{COMPLETED_SWEEPS}:0")
        except KeyError:
            raise RuntimeError(
                f"{COMPLETED_SWEEPS} counter should be created to use StopAtSweepHook."
            ) from None

    def before_run(self, run_context: Any) -> SessionRunArgs:
        return SessionRunArgs(self._sweeps)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        if run_values.results >= self._last_sweep:
            run_context.request_stop()


class WALSMatrixFactorization(Estimator):
    """Factors of a `num_rows` x `num_cols` matrix, found by sweeps of least squares.

    Features are `INPUT_ROWS` and `INPUT_COLS`, sparse tensors with the indices of the whole matrix
    (columns transposed: one in each row). To project or evaluate, `PROJECT_ROW` says which is
    meant, and `PROJECTION_WEIGHTS` may have the weights of the rows that are projected.

    Args:
        num_rows, num_cols: the size of the matrix.
        embedding_dimension: the width of the factors.
        max_sweeps: after how many sweeps training ends, or None.
        model_dir: the folder of the model.
        config: a configuration of the run.

    Other arguments are those of `WALSModel`.

    Raises:
        ValueError: there is more than one worker.
    """

    INPUT_ROWS = "input_rows"
    INPUT_COLS = "input_cols"
    PROJECT_ROW = "project_row"
    PROJECTION_WEIGHTS = "projection_weights"
    PROJECTION_RESULT = "projection"
    COMPLETED_SWEEPS = COMPLETED_SWEEPS
    LOSS = "WALS_loss"
    RWSE = "WALS_RWSE"

    def __init__(
        self,
        num_rows: int,
        num_cols: int,
        embedding_dimension: int,
        unobserved_weight: float = 0.1,
        regularization_coeff: float | None = None,
        row_init: Any = "random",
        col_init: Any = "random",
        num_row_shards: int = 1,
        num_col_shards: int = 1,
        row_weights: Any = 1,
        col_weights: Any = 1,
        use_factors_weights_cache_for_training: bool = True,
        use_gramian_cache_for_training: bool = True,
        max_sweeps: int | None = None,
        model_dir: Any = None,
        config: Any = None,
    ) -> None:
        params = {
            "num_rows": num_rows,
            "num_cols": num_cols,
            "embedding_dimension": embedding_dimension,
            "unobserved_weight": unobserved_weight,
            "regularization_coeff": regularization_coeff,
            "row_init": row_init,
            "col_init": col_init,
            "num_row_shards": num_row_shards,
            "num_col_shards": num_col_shards,
            "row_weights": row_weights,
            "col_weights": col_weights,
            "max_sweeps": max_sweeps,
            "use_factors_weights_cache_for_training": use_factors_weights_cache_for_training,
            "use_gramian_cache_for_training": use_gramian_cache_for_training,
        }
        super().__init__(_model_fn, model_dir, config, params)
        self._shards = {"row": num_row_shards, "col": num_col_shards}
        if self.config.num_worker_replicas > 1:
            raise ValueError("WALSMatrixFactorization must be run on a single worker replica.")

    def _factors(self, side: str) -> list[Any]:
        names = (f"{side}_factors_shard_{i}" for i in range(self._shards[side]))
        return [self.get_variable_value(name) for name in names]

    def get_row_factors(self) -> list[Any]:
        """The shards of the row factors, from the latest checkpoint."""
        return self._factors("row")

    def get_col_factors(self) -> list[Any]:
        """The shards of the column factors, from the latest checkpoint."""
        return self._factors("col")

    def get_projections(self, input_fn: Callable[..., Any]) -> Iterator[Any]:
        """The factors that the rows or columns of the input would have."""
        return (each[self.PROJECTION_RESULT] for each in self.predict(input_fn=input_fn))


# ---- the model function ------------------------------------------------------------------------


def _model_fn(features: Any, labels: Any, mode: str, params: dict[str, Any]) -> ModelFnOps:
    assert labels is None
    if mode not in _MODES:
        raise ValueError(f"mode={mode} is not recognized.")
    keeps = {
        name: params[f"{name}_for_training"] and mode == ModeKeys.TRAIN
        for name in ("use_factors_weights_cache", "use_gramian_cache")
    }
    shared = ("num_row_shards", "num_col_shards", "row_init", "col_init", "row_weights",
              "col_weights", "unobserved_weight")  # fmt: skip
    model = WALSModel(
        params["num_rows"],
        params["num_cols"],
        params["embedding_dimension"],
        regularization=params["regularization_coeff"],
        **{name: params[name] for name in shared},
        **keeps,
    )
    return _MODES[mode](model, features, params)


def _trained(model: WALSModel, features: Any, params: dict[str, Any]) -> ModelFnOps:
    by_rows, is_done = _counter(True, "is_row_sweep"), _counter(False, "is_sweep_done")
    sweeps, loss = _counter(0, COMPLETED_SWEEPS), _counter(0.0, WALSMatrixFactorization.LOSS)
    error = _counter(0.0, WALSMatrixFactorization.RWSE)
    summary.scalar("loss", loss)
    summary.scalar("root_weighted_squared_error", error)
    summary.scalar("completed_sweeps", sweeps)

    def add_step(sweep: _Sweep, entries: Any, count: int, solved: tuple[Any, ...]) -> None:
        seen, mark = _seen(entries, count, f"{sweep.name}s")
        _, update, plain, regularization, weights = solved
        noted = assign(loss, plain + regularization), assign(error, math.sqrt(plain / weights))
        with control_dependencies([update, *noted]):
            marked = mark()
        with control_dependencies([marked]):
            all_seen = math.reduce_all(seen)
            counted = assign_add(sweeps, math.cast(all_seen, dtypes.int32))
            told = assign(is_done, all_seen)
            sweep.step = group(told, counted, name=f"{sweep.name}s_sweep_train_op")
        sweep.reset = seen.initializer

    row_input, col_input = (features[key] for key in ("input_rows", "input_cols"))
    rows = _Sweep("row", [model.row_update_prep_gramian_op, model.initialize_row_update_op])
    cols = _Sweep("col", [model.col_update_prep_gramian_op, model.initialize_col_update_op])
    add_step(rows, row_input, params["num_rows"], model.update_row_factors(row_input))
    add_step(cols, col_input, params["num_cols"], model.update_col_factors(col_input, True))
    turned = assign(by_rows, math.logical_not(by_rows))
    switch = group(turned, rows.reset, cols.reset, name="sweep_switch_op")
    hooks: list[SessionRunHook] = [
        _SweepHook(by_rows, is_done, model.worker_init, rows, cols, switch),
        _IncrementGlobalStepHook(),
    ]
    if params["max_sweeps"] is not None:
        hooks.append(_StopAtSweepHook(params["max_sweeps"]))
    return ModelFnOps(ModeKeys.TRAIN, {}, loss, no_op(), {}, training_hooks=hooks)


def _counter(value: Any, name: str) -> Any:
    among = [GraphKeys.GLOBAL_VARIABLES]
    return Variable(value, trainable=False, name=name, collections=among)


def _seen(entries: Any, count: int, name: str) -> tuple[Any, Callable[[], Any]]:
    """A variable with a flag for each row, and a function that sets those of the input."""
    none = fill([count], False)
    among = [GraphKeys.GLOBAL_VARIABLES]
    with colocate_with(none):
        seen = Variable(none, collections=among, trainable=False, name=f"processed_{name}")
    ids = entries.indices[:, 0]

    def mark() -> Any:
        with colocate_with(seen):
            flags = ones_like(ids, dtype=dtypes.bool)
            return scatter_update(seen, ids, flags, name=f"update_processed_{name}_indices")

    return seen, mark


def _projected(model: WALSModel, features: Any, params: dict[str, Any]) -> ModelFnOps:
    weights = features.get(WALSMatrixFactorization.PROJECTION_WEIGHTS)
    found = cond(
        features[WALSMatrixFactorization.PROJECT_ROW],
        lambda: model.project_row_factors(features["input_rows"], False, weights),
        lambda: model.project_col_factors(features["input_cols"], True, weights),
    )
    predictions = {WALSMatrixFactorization.PROJECTION_RESULT: found}
    return ModelFnOps(ModeKeys.INFER, predictions, None, no_op(), {})


def _evaluated(model: WALSModel, features: Any, params: dict[str, Any]) -> ModelFnOps:
    def total(solved: tuple[Any, ...]) -> Any:
        _, _, loss, regularization, _ = solved
        return loss + regularization

    loss = cond(
        features[WALSMatrixFactorization.PROJECT_ROW],
        lambda: total(model.update_row_factors(features["input_rows"])),
        lambda: total(model.update_col_factors(features["input_cols"], True)),
    )
    return ModelFnOps(ModeKeys.EVAL, {}, loss, no_op(), {})


_MODES = {
    ModeKeys.TRAIN: _trained,
    ModeKeys.INFER: _projected,
    ModeKeys.EVAL: _evaluated,
}
