"""Configurations of TPUEstimator. There are no TPUs here; programs written for them run anyway."""

from __future__ import annotations

import json
import os
import re
from typing import Any, NamedTuple

from tensorboard.compat.proto.config_pb2 import ConfigProto

from weft.lib.estimator import run_config
from weft.lib.estimator.task import TaskType
from weft.lib.platform import tf_logging as logging

_CORES = [1, 2, 4, 8, 16, 32, 64, 128]
_SECONDS = {"s": 1, "m": 60, "h": 3600}


class InputPipelineConfig:
    """The places where a TPU's input can be made."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class IterationsPerLoop(NamedTuple):
    """The number of steps, or seconds, between returns to the host."""

    value: int
    unit: str


def check_positive_integer(value: Any, name: str) -> None:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be int, got {type(value)}")
    if value <= 0:
        raise ValueError(f"{name} must be positive, got {value}")


def parse_iterations_per_loop(iterations_per_loop: Any) -> IterationsPerLoop:
    """A number of steps, or a time such as "30m"."""
    found = re.match(r"^([1-9]\d*)([smh]?)$", str(iterations_per_loop))
    if found is None:
        raise ValueError(
            "Invalid TPUConfig `iterations_per_loop` value. Value must be positive integer value "
            "or time-based value `<N><s|m|h>` where <N> is anypositive integer and `s`, `m`, `h` "
            "are unit of time in seconds, minutes, hours respectively. Examples of valid values: "
            "`3600s`, `60m`, `1h`."
        )
    number, unit = int(found[1]), found[2]
    return IterationsPerLoop(number * _SECONDS.get(unit, 1), "seconds" if unit else "count")


class _TPUConfig(NamedTuple):
    iterations_per_loop: Any = 2
    num_shards: int | None = None
    num_cores_per_replica: int | None = None
    per_host_input_for_training: Any = True
    tpu_job_name: str | None = None
    initial_infeed_sleep_secs: int | None = None
    input_partition_dims: Any = None
    eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1
    experimental_host_call_every_n_steps: int = 1


class TPUConfig(_TPUConfig):
    """Settings of a TPU, kept so that programs that give them run; there is none here.

    Args:
        *args, **kwargs: `iterations_per_loop`, `num_shards`, `num_cores_per_replica`,
            `per_host_input_for_training`, `tpu_job_name`, `initial_infeed_sleep_secs`,
            `input_partition_dims` and `eval_training_input_configuration`.

    Returns:
        A named tuple.

    Raises:
        ValueError: a number is not positive, or settings contradict each other.

    Example:
        >>> tf.contrib.tpu.TPUConfig(iterations_per_loop=100).iterations_per_loop
        100
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> TPUConfig:
        given = _TPUConfig(*args, **kwargs)
        parse_iterations_per_loop(given.iterations_per_loop)
        if given.num_shards is not None:
            check_positive_integer(given.num_shards, "TPUConfig num_shards")
        _check_partitions(given)
        training_input = InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED
        if given.eval_training_input_configuration not in training_input:
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; got "
                f"{given.eval_training_input_configuration}"
            )
        if given.initial_infeed_sleep_secs:
            check_positive_integer(
                given.initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs"
            )
        where = given.per_host_input_for_training
        if isinstance(where, bool):
            where = InputPipelineConfig.PER_HOST_V1 if where else InputPipelineConfig.PER_SHARD_V1
        job = given.tpu_job_name or _job_in_environment()
        changed = given._replace(per_host_input_for_training=where, tpu_job_name=job)
        return super().__new__(cls, *changed)


def _check_partitions(given: _TPUConfig) -> None:
    cores = given.num_cores_per_replica
    if given.input_partition_dims is not None:
        if len(given.input_partition_dims) not in (1, 2):
            raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
        if given.per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
            raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
        if cores is None:
            raise ValueError("input_partition_dims requires setting num_cores_per_replica.")
    if cores is not None and cores not in _CORES:
        raise ValueError(f"num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got {cores}")


def _job_in_environment() -> str | None:
    job = json.loads(os.environ.get("TF_CONFIG", "{}"))
    for key in ("service", "tpu_worker_job_name"):
        job = job.get(key) or {}
    if not job:
        return None
    logging.info("Load TPU job name from TF_CONFIG: %s", job)
    return job


class RunConfig(run_config.RunConfig):
    """`RunConfig` with a TPUConfig; addresses may be given instead of found in TF_CONFIG.

    Args:
        tpu_config: a `TPUConfig`; None: one with defaults.
        evaluation_master, master: addresses.
        cluster: a cluster resolver.
        **kwargs: the arguments of `tf.estimator.RunConfig`.

    Raises:
        ValueError: an address comes with a `cluster` that also gives one.

    Example:
        >>> config = tf.contrib.tpu.RunConfig(model_dir="./model")
        >>> config.model_dir, config.tpu_config.iterations_per_loop
        ('./model', 2)
    """

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None and cluster is not None:
            raise ValueError("Both master and cluster are set.")
        master = cluster.master() if cluster else master
        self._master = self._master if master is None else master
        # An evaluator has a master of its own, or none.
        known = self._evaluation_master
        if self.task_type != TaskType.EVALUATOR:
            known = known or self._master
        self._evaluation_master = known if evaluation_master is None else evaluation_master
        if cluster:
            self._use_cluster(cluster)

    _master: Any
    _evaluation_master: Any

    def _use_cluster(self, cluster: Any) -> None:
        spec, given = cluster.cluster_spec(), self._session_config
        self._cluster_spec = spec
        if given is not None and given.HasField("cluster_def"):
            raise ValueError("You cannot provide a ClusterResolver and session_config.cluster_def.")
        placed = ConfigProto(allow_soft_placement=True, isolate_session_state=True)
        self._session_config = options = placed if given is None else given
        if spec:
            options.cluster_def.CopyFrom(spec.as_cluster_def())

    def _default_session_config(self) -> None:
        """Sets nothing: TPUEstimator decides on the session's configuration."""

    @property
    def tpu_config(self) -> TPUConfig:
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        made = super().replace(**kwargs)
        assert isinstance(made, RunConfig)
        made._tpu_config = tpu_config
        return made
