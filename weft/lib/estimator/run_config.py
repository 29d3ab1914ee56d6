"""tf.estimator.RunConfig: how an Estimator runs, apart from its model."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable
from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, GraphOptions
from tensorboard.compat.proto.rewriter_config_pb2 import RewriterConfig

from weft.core.properties import stored
from weft.lib.distribute.step_fn import DistributeConfig
from weft.lib.distribute.strategy import Strategy
from weft.lib.estimator.functions import fn_args
from weft.lib.estimator.task import TaskType, task_in_group, task_of, tf_config
from weft.lib.platform import tf_logging as logging

USE_DEFAULT = object()

REPLACEABLE = [
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
]
_BOTH = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."


# ---- sessions ------------------------------------------------------------------------------------


def _session_config(**fields: Any) -> ConfigProto:
    rewrites = RewriterConfig(meta_optimizer_iterations=RewriterConfig.ONE)
    options = GraphOptions(rewrite_options=rewrites)
    return ConfigProto(allow_soft_placement=True, graph_options=options, **fields)


def get_default_session_config() -> ConfigProto:
    """How sessions run unless the program says otherwise."""
    return _session_config()


def _strategies(train: Any, evaluate: Any, both: Any) -> tuple[Any, Any]:
    """The strategies of training and evaluation, each given by itself or in a DistributeConfig."""
    together = DistributeConfig() if both is None else both
    found = []
    for name, alone, inside in (
        ("train_distribute", train, together.train_distribute),
        ("eval_distribute", evaluate, together.eval_distribute),
    ):
        if alone is not None and inside is not None:
            raise ValueError(f"Either `{name}` or`experimental_distribute.{name}` can be set.")
        strategy = inside if alone is None else alone
        if strategy is not None and not isinstance(strategy, Strategy):
            raise ValueError(f"`{name}` is not a tf.distribute.Strategy: {strategy!r}")
        found.append(strategy)
    return found[0], found[1]


def _distributed_session_config(task_type: str, task_id: int) -> ConfigProto | None:
    """A session in a cluster; it knows nothing of workers other than its own."""
    filters = {
        TaskType.MASTER: ["/job:ps", "/job:master"],
        TaskType.CHIEF: ["/job:ps", "/job:chief"],
        TaskType.WORKER: ["/job:ps", f"/job:worker/task:{task_id}"],
        TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
    }
    found = filters.get(task_type)
    return None if found is None else _session_config(device_filters=found)


# ---- checks --------------------------------------------------------------------------------------


def _takes_op(device_fn: Any) -> bool:
    return callable(device_fn) and set(fn_args(device_fn)) == {"op"}


_CHECKS: list[tuple[str, Callable[[Any], Any], str]] = [
    ("model_dir", bool, "model_dir should be non-empty"),
    ("save_summary_steps", lambda n: n >= 0, "save_summary_steps should be >= 0"),
    ("save_checkpoints_steps", lambda n: n >= 0, "save_checkpoints_steps should be >= 0"),
    ("save_checkpoints_secs", lambda n: n >= 0, "save_checkpoints_secs should be >= 0"),
    (
        "session_config",
        lambda given: isinstance(given, ConfigProto),
        "session_config must be instance of ConfigProto",
    ),
    ("keep_checkpoint_max", lambda n: n >= 0, "keep_checkpoint_max should be >= 0"),
    (
        "keep_checkpoint_every_n_hours",
        lambda n: n > 0,
        "keep_checkpoint_every_n_hours should be > 0",
    ),
    ("log_step_count_steps", lambda n: n > 0, "log_step_count_steps should be > 0"),
    ("tf_random_seed", lambda n: isinstance(n, int), "tf_random_seed must be integer."),
    (
        "experimental_max_worker_delay_secs",
        lambda n: isinstance(n, int),
        "experimental_max_worker_delay_secs must be an integer if set.",
    ),
    (
        "session_creation_timeout_secs",
        lambda n: n > 0,
        "session_creation_timeout_secs should be > 0",
    ),
    ("device_fn", _takes_op, 'device_fn must be callable with exactly one argument "op".'),
    (
        "protocol",
        lambda name: name in ("grpc", "grpc+verbs"),
        "protocol should be grpc or grpc+verbs",
    ),
]


def _check_properties(config: RunConfig) -> None:
    for name, holds, message in _CHECKS:
        value = getattr(config, name)
        if value is not None and not holds(value):
            raise ValueError(message)


def _settle_saving(config: RunConfig, replaced: Iterable[str]) -> None:
    """Steps and seconds exclude each other: the one that was set last wins."""
    steps = "save_checkpoints_steps" in replaced and config.save_checkpoints_steps is not None
    seconds = "save_checkpoints_secs" in replaced and config.save_checkpoints_secs is not None
    if steps and seconds:
        raise ValueError(_BOTH)
    if steps:
        config._save_checkpoints_secs = None
    elif seconds:
        config._save_checkpoints_steps = None


def path_to_str(path: Any) -> Any:
    """A path object as a string; anything else as it is."""
    return os.fspath(path) if hasattr(path, "__fspath__") else path


def _model_dir(config: dict[str, Any], model_dir: Any) -> Any:
    other = config.get("model_dir")
    for folder, where in ((model_dir, "model_dir"), (other, "model_dir in TF_CONFIG")):
        if folder == "":
            raise ValueError(f"{where} should be non-empty.")
    if other and model_dir and other != model_dir:
        raise ValueError(
            "`model_dir` provided in RunConfig construct, if set, must have the same value as the "
            f'model_dir in TF_CONFIG. model_dir: {model_dir}\nTF_CONFIG["model_dir"]: {other}.\n'
        )
    if other:
        logging.info("Using model_dir in TF_CONFIG: %s", other)
    return model_dir or other


# ---- the configuration ---------------------------------------------------------------------------


class RunConfig:
    """Configuration of an Estimator: its folder, how often it saves and logs, and its task.

    The task, and the cluster it belongs to, come from the environment variable TF_CONFIG.

    Args:
        model_dir: the folder of the model.
        tf_random_seed: the graph's seed.
        save_summary_steps: how often summaries are written.
        save_checkpoints_steps, save_checkpoints_secs: how often checkpoints are; one of the two.
        session_config: a `tf.ConfigProto`.
        keep_checkpoint_max: how many checkpoints stay; None or 0: all.
        keep_checkpoint_every_n_hours: one in so many hours is kept beyond that.
        log_step_count_steps: how often the speed is logged; None: never.
        train_distribute, eval_distribute: distribution strategies.
        device_fn: a function from operations to devices.
        protocol: of servers; None: gRPC.
        experimental_distribute: a `DistributeConfig`.
        experimental_max_worker_delay_secs: how long workers wait before they start.
        session_creation_timeout_secs: how long to wait for the chief.

    Raises:
        ValueError: an argument is not positive, or both ways to save are given.

    Example:
        >>> config = tf.estimator.RunConfig(model_dir="./model", save_checkpoints_steps=100)
        >>> config.model_dir, config.save_checkpoints_steps, config.is_chief
        ('./model', 100, True)
    """

    def __init__(
        self,
        model_dir: Any = None,
        tf_random_seed: int | None = None,
        save_summary_steps: int | None = 100,
        save_checkpoints_steps: Any = USE_DEFAULT,
        save_checkpoints_secs: Any = USE_DEFAULT,
        session_config: Any = None,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int | None = 100,
        train_distribute: Any = None,
        device_fn: Any = None,
        protocol: str | None = None,
        eval_distribute: Any = None,
        experimental_distribute: Any = None,
        experimental_max_worker_delay_secs: int | None = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        if save_checkpoints_steps is USE_DEFAULT and save_checkpoints_secs is USE_DEFAULT:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is USE_DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is USE_DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(_BOTH)
        train_distribute, eval_distribute = _strategies(
            train_distribute, eval_distribute, experimental_distribute
        )
        environment = tf_config()
        given = locals()
        values = {name: given[name] for name in REPLACEABLE}
        values["model_dir"] = _model_dir(environment, path_to_str(model_dir))
        RunConfig._replace(self, REPLACEABLE, **values)
        self._set_task(environment)

    def _set_task(self, environment: dict[str, Any]) -> None:
        strategy = self.train_distribute
        in_group = strategy is not None and strategy.extended._has_own_session
        task = task_in_group(environment, strategy.extended) if in_group else task_of(environment)
        for name, value in vars(task).items():
            setattr(self, "_" + name, value)
        if not self._session_config and self._cluster_spec and not in_group:
            self._default_session_config()

    def _default_session_config(self) -> None:
        made = _distributed_session_config(self._task_type, self._task_id)
        RunConfig._replace(self, REPLACEABLE, session_config=made)

    _session_config: Any
    _cluster_spec: Any
    _task_type: Any
    _task_id: Any
    _save_checkpoints_secs: Any
    _save_checkpoints_steps: Any

    cluster_spec = stored("cluster_spec", "The cluster; empty if this process is alone.")
    device_fn = stored("device_fn", "A device for each operation.")
    evaluation_master = stored("evaluation_master", "Where evaluation runs.")
    is_chief = stored("is_chief", "Whether this task initializes and saves.")
    master = stored("master", "Where training runs.")
    num_ps_replicas = stored("num_ps_replicas", "How many parameter servers there are.")
    num_worker_replicas = stored("num_worker_replicas", "How many workers, with the chief.")
    task_id = stored("task_id", "The index of this task in its job.")
    global_id_in_cluster = stored(
        "global_id_in_cluster", "A number among all tasks, the chief's being 0."
    )
    experimental_max_worker_delay_secs = stored(
        "experimental_max_worker_delay_secs", "The longest that workers wait for the chief."
    )
    task_type = stored("task_type", "The job of this task.")
    tf_random_seed = stored("tf_random_seed", "The seed of the graph.")
    save_summary_steps = stored("save_summary_steps", "Steps between summaries.")
    save_checkpoints_secs = stored("save_checkpoints_secs", "Seconds between checkpoints.")
    session_config = stored("session_config", "The ConfigProto of sessions.")
    save_checkpoints_steps = stored("save_checkpoints_steps", "Steps between checkpoints.")
    keep_checkpoint_max = stored("keep_checkpoint_max", "How many checkpoints stay.")
    session_creation_timeout_secs = stored(
        "session_creation_timeout_secs", "How long a worker waits for its session."
    )
    keep_checkpoint_every_n_hours = stored(
        "keep_checkpoint_every_n_hours", "Hours between checkpoints that stay for good."
    )
    log_step_count_steps = stored("log_step_count_steps", "Steps between lines in the log.")
    model_dir = stored("model_dir", "Where checkpoints and summaries go.")
    service = stored("service", "What TF_CONFIG says of the service it runs in.")
    train_distribute = stored("train_distribute", "The strategy of training.")
    eval_distribute = stored("eval_distribute", "The strategy of evaluation.")
    protocol = stored("protocol", "The protocol of servers.")

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with other values for some properties."""
        return RunConfig._replace(copy.deepcopy(self), REPLACEABLE, **kwargs)

    @staticmethod
    def _replace(
        config: RunConfig, allowed_properties_list: list[str] | None = None, **kwargs: Any
    ) -> RunConfig:
        allowed = allowed_properties_list or []
        for name, value in kwargs.items():
            if name not in allowed:
                raise ValueError(
                    f"Replacing {name} is not supported. Allowed properties are {allowed}."
                )
            setattr(config, "_" + name, value)
        _settle_saving(config, kwargs)
        _check_properties(config)
        return config
