"""Arguments of Estimators: configuration, hooks, numbers of steps, checked and completed."""

from __future__ import annotations

import tempfile
from typing import Any

from weft.graph.graph import GraphKeys
from weft.lib.estimator.run_config import RunConfig, get_default_session_config, path_to_str
from weft.lib.platform import tf_logging as logging
from weft.lib.train.checkpoint.management import latest_checkpoint
from weft.lib.train.checkpoint.reader import NewCheckpointReader
from weft.lib.train.cluster.device_setter import STANDARD_PS_OPS, replica_device_setter
from weft.lib.train.evaluation import get_or_create_eval_step
from weft.lib.train.sessions.hooks_saving import CheckpointSaverListener
from weft.lib.train.sessions.scaffold import Scaffold
from weft.lib.train.sessions.session_run_hook import SessionRunHook
from weft.ops.control.control import group


def with_model_dir(config: Any, model_dir: Any) -> RunConfig:
    """A configuration that names a folder and says how sessions run."""
    config = _with_session(config)
    model_dir = path_to_str(model_dir)
    if None not in (model_dir, config.model_dir) and config.model_dir != model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
            f"In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    if model_dir:
        return RunConfig.replace(config, model_dir=model_dir)
    if config.model_dir is not None:
        return config
    folder = tempfile.mkdtemp()
    logging.warning("Using temporary folder as model directory: %s", folder)
    return RunConfig.replace(config, model_dir=folder)


def _with_session(config: Any) -> RunConfig:
    """The configuration, or one by default, that says how sessions run."""
    if config is None:
        config = RunConfig()
        logging.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if config.session_config is not None:
        return config
    return RunConfig.replace(config, session_config=get_default_session_config())


def device_setter(config: RunConfig) -> Any:
    """Variables on parameter servers, the rest on this task; None where there are no such."""
    if config.num_ps_replicas <= 0:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=worker,
        merge_devices=True,
        ps_ops=list(STANDARD_PS_OPS),
        cluster=config.cluster_spec,
    )


def check_positive(name: str, steps: int | None) -> None:
    if steps is not None and steps <= 0:
        raise ValueError(f"Must specify {name} > 0, given: {steps}")


def check_how_long(steps: int | None, max_steps: int | None) -> None:
    """A number of steps and a last step exclude each other; both are positive."""
    if None not in (steps, max_steps):
        raise ValueError("Can not provide both steps and max_steps.")
    check_positive("steps", steps)
    check_positive("max_steps", max_steps)


def checked_hooks(hooks: Any) -> list[Any]:
    hooks = list(hooks or [])
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def checked_listeners(saving_listeners: Any) -> list[Any]:
    listeners = list(saving_listeners or [])
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}"
            )
    return listeners


def check_trained(model_dir: str) -> None:
    if not latest_checkpoint(model_dir):
        raise ValueError(f"Could not find trained model in model_dir: {model_dir}.")


def step_of_checkpoint(model_dir: str) -> int:
    """The global step of the latest checkpoint; 0 if there is none, or none in it."""
    path = latest_checkpoint(model_dir)
    reader = NewCheckpointReader(path) if path else None
    if reader is None or not reader.has_tensor(GraphKeys.GLOBAL_STEP):
        return 0
    return reader.get_tensor(GraphKeys.GLOBAL_STEP)


def with_local_init(scaffold: Any) -> Any:
    """A model's own local initialization goes together with that of the metrics."""
    if not (scaffold and scaffold.local_init_op):
        return scaffold
    get_or_create_eval_step()
    both = group(scaffold.local_init_op, Scaffold.default_local_init_op())
    return Scaffold(local_init_op=both, copy_from_scaffold=scaffold)
