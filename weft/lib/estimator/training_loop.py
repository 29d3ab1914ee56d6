"""One training of an Estimator: from the operations of a model to the last loss."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import GraphKeys, add_to_collection, get_collection
from weft.lib.distribute.group_start import GroupStartHook
from weft.lib.estimator.spec import EstimatorSpec
from weft.lib.estimator.task import TaskType
from weft.lib.platform import tf_logging as logging
from weft.lib.summary import summary
from weft.lib.train.checkpoint.saver import Saver
from weft.lib.train.sessions.hooks import LoggingTensorHook, NanTensorHook, StepCounterHook
from weft.lib.train.sessions.hooks_saving import CheckpointSaverHook, SummarySaverHook
from weft.lib.train.sessions.monitored_session import MonitoredTrainingSession


def train(
    config: Any, spec: EstimatorSpec, worker_hooks: list[Any], global_step: Any, listeners: Any
) -> Any:
    """Runs steps until a hook or the input ends the training; the loss of the last one."""
    _add_loss_summary(spec.loss)
    hooks = [*worker_hooks, *_own_hooks(config, spec, global_step)]
    _add_saver(config, spec)
    saving = _saving_hooks(config, spec, hooks, listeners)
    summary_steps, log_steps = config.save_summary_steps, config.log_step_count_steps
    if _evaluates_as_master(config):
        # The master is busy with evaluations, so that the first worker writes the summaries.
        hooks += _summaries_of_first_worker(config, spec)
        summary_steps, log_steps = 0, None
    # Workers that only collectives join to each other start alike, and the first one writes.
    in_group = has_own_session(config)
    chief_hooks = [*saving, *spec.training_chief_hooks]
    if in_group and not config.is_chief:
        chief_hooks, summary_steps, log_steps = [], 0, None
    if in_group:  # before anything is saved
        chief_hooks.insert(0, GroupStartHook(config.model_dir, spec.scaffold))
    with MonitoredTrainingSession(
        master="" if in_group else config.master,
        is_chief=config.is_chief or in_group,
        checkpoint_dir=None if in_group else config.model_dir,
        summary_dir=config.model_dir,
        scaffold=spec.scaffold,
        hooks=hooks,
        chief_only_hooks=chief_hooks,
        save_checkpoint_secs=0,  # by the hooks above
        save_summaries_steps=summary_steps,
        config=config.session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=log_steps,
    ) as session:
        return _run_steps(session, spec)


def has_own_session(config: Any) -> bool:
    strategy = config.train_distribute
    return strategy is not None and bool(strategy.extended._has_own_session)


def _run_steps(session: Any, spec: EstimatorSpec) -> Any:
    loss, ran = None, False
    fetches = [spec.train_op, spec.loss]
    while not session.should_stop():
        ran = True
        _, loss = session.run(fetches)
    if not ran:
        logging.warning(
            "Training with estimator made no steps. Perhaps input is empty or misspecified."
        )
    return loss


def _add_loss_summary(loss: Any) -> None:
    if not any(each.op.name == "loss" for each in get_collection(GraphKeys.SUMMARIES)):
        summary.scalar("loss", loss)
    add_to_collection(GraphKeys.LOSSES, loss)


def _own_hooks(config: Any, spec: EstimatorSpec, global_step: Any) -> list[Any]:
    hooks: list[Any] = [NanTensorHook(spec.loss)]
    if config.log_step_count_steps is not None:
        shown = {"loss": spec.loss, "step": global_step}
        hooks.append(LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
    return [*hooks, *spec.training_hooks]


def _add_saver(config: Any, spec: EstimatorSpec) -> None:
    if spec.scaffold.saver or get_collection(GraphKeys.SAVERS):
        return
    saver = Saver(
        sharded=True,
        max_to_keep=config.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
        defer_build=True,
        save_relative_paths=True,
    )
    add_to_collection(GraphKeys.SAVERS, saver)


def _saving_hooks(config: Any, spec: EstimatorSpec, hooks: list[Any], listeners: Any) -> list[Any]:
    """A hook that saves, unless the program brought one; the listeners are told by the first."""
    made = []
    theirs = [
        each
        for each in [*hooks, *spec.training_chief_hooks]
        if isinstance(each, CheckpointSaverHook)
    ]
    if not theirs and (config.save_checkpoints_secs or config.save_checkpoints_steps):
        made = [
            CheckpointSaverHook(
                config.model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold,
            )
        ]
    savers = theirs or made
    if listeners and not savers:
        raise ValueError(
            "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
            "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
        )
    for listener in listeners:
        if listener not in savers[0]._listeners:
            savers[0]._listeners.append(listener)
    return made


def _evaluates_as_master(config: Any) -> bool:
    jobs = config.cluster_spec.jobs if config.cluster_spec else ()
    return TaskType.WORKER in jobs and TaskType.MASTER in jobs


def _summaries_of_first_worker(config: Any, spec: EstimatorSpec) -> list[Any]:
    if config.task_type != TaskType.WORKER or config.task_id != 0:
        return []
    hooks: list[Any] = []
    folder = config.model_dir
    if config.save_summary_steps and config.save_summary_steps > 0:
        hooks.append(
            SummarySaverHook(config.save_summary_steps, output_dir=folder, scaffold=spec.scaffold)
        )
    if config.log_step_count_steps and config.log_step_count_steps > 0:
        hooks.append(StepCounterHook(config.log_step_count_steps, output_dir=folder))
    return hooks
