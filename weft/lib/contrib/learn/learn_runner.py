"""tf.contrib.learn.learn_runner: makes an Experiment and runs the method that the task is for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.contrib.learn.experiment import Experiment
from weft.lib.contrib.learn.run_config import RunConfig
from weft.lib.estimator.task import TaskType
from weft.lib.platform import tf_logging as logging

_SCHEDULES = {
    TaskType.PS: "run_std_server",
    TaskType.WORKER: "train",
    TaskType.CHIEF: "train",
    TaskType.MASTER: "train_and_evaluate",
    TaskType.EVALUATOR: "continuous_eval",
}


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Calls a method of `experiment_fn(run_config, hparams)`: `schedule`, or the task's own.

    In the older form, `experiment_fn(output_dir)` is called.
    """
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = experiment_fn(run_config, hparams)
        config = run_config
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory; use `output_dir` or `run_config`.")
        experiment = experiment_fn(output_dir)
        config = getattr(experiment, "estimator", None) and experiment.estimator.config
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment instance")
    return _execute(experiment, schedule or _schedule_of(config or RunConfig()))


def _schedule_of(config: Any) -> str:
    if not config.cluster_spec or not config.task_type:
        return "train_and_evaluate"
    if config.task_type not in _SCHEDULES:
        raise ValueError(f"No default schedule for task type: {config.task_type}.")
    return _SCHEDULES[config.task_type]


def _execute(experiment: Experiment, schedule: str) -> Any:
    task = getattr(experiment, schedule, None)
    if task is None or not callable(task):
        known = [
            name
            for name in dir(experiment)
            if not name.startswith("_") and callable(getattr(experiment, name))
        ]
        message = f"Schedule references non-existent task {schedule}"
        logging.error(message)
        logging.error("Allowed values for this experiment are: %s", known)
        raise ValueError(message)
    return task()
