"""tf.contrib.learn.RunConfig: the older way to say how an Estimator runs."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, GPUOptions

from weft.lib.estimator import run_config
from weft.lib.estimator.task import TaskType as TaskType

_UID_WITHOUT = ["tf_random_seed", "session_config", "model_dir", "device_fn"]


class RunConfig(run_config.RunConfig):
    """`tf.estimator.RunConfig` with arguments for sessions and addresses.

    Args:
        master, evaluation_master: addresses of servers.
        num_cores: how many cores to use; 0: all.
        log_device_placement: whether to log where operations go.
        gpu_memory_fraction: of a GPU.
        tf_random_seed, save_summary_steps, save_checkpoints_secs, save_checkpoints_steps: as in
            `tf.estimator.RunConfig`.
        keep_checkpoint_max, keep_checkpoint_every_n_hours, log_step_count_steps: likewise.
        protocol, model_dir, session_config, session_creation_timeout_secs: likewise.

    Example:
        >>> tf.contrib.learn.RunConfig(save_summary_steps=10).save_summary_steps
        10
    """

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: float | None = 0,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: Any = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        if save_checkpoints_secs == 0:  # not given
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        if master is not None:
            self._master = master
        if evaluation_master:
            self._evaluation_master = evaluation_master
        self._tf_config = ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )

    @property
    def tf_config(self) -> ConfigProto:
        """The ConfigProto made from the arguments for sessions."""
        return self._tf_config

    @property
    def environment(self) -> str:
        """The environment of the program; "local" unless TF_CONFIG says otherwise."""
        return "local" if not self.cluster_spec else "cloud"

    def uid(self, whitelist: Any = None) -> str:
        """A text that two configurations have in common if they do the same."""
        left_out = {"_" + name for name in (_UID_WITHOUT if whitelist is None else whitelist)}
        state = {key: value for key, value in sorted(vars(self).items()) if key not in left_out}
        if state.get("_cluster_spec") is not None:
            state["_cluster_spec"] = dict(sorted(state["_cluster_spec"].as_dict().items()))
        return ", ".join(f"{key}={value!r}" for key, value in state.items())
