"""`replica_device_setter`: variables on parameter servers, everything else on the worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from weft.core.device_name import DeviceSpec
from weft.lib.platform import tf_logging
from weft.lib.train.cluster.cluster_spec import ClusterSpec

# What lives on a parameter server unless the program names other types of operation.
STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
)


class _RoundRobinStrategy:
    """Task 0, 1, ... and from the start again, whatever the operation."""

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks, self._next_task = num_tasks, 0

    def __call__(self, op: Any) -> int:
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return task


@dataclass
class _ReplicaDeviceChooser:
    """A device for each operation as it is made."""

    ps_tasks: int
    ps_device: str
    worker_device: str
    merge_devices: bool
    ps_ops: Sequence[str]
    ps_strategy: Callable[[Any], int]

    def device_function(self, op: Any) -> str:
        """The device for `op`; what it asks for itself wins over what is chosen here."""
        if not self.merge_devices and op.device:
            return op.device
        asked = DeviceSpec.from_string(op.device or "")
        kind = getattr(op, "type", None) or op.op  # an Operation, or a NodeDef
        on_ps = self.ps_tasks and self.ps_device and kind in self.ps_ops
        chosen = self._ps(op, asked) if on_ps else DeviceSpec.from_string(self.worker_device)
        return chosen.make_merged_spec(asked).to_string()

    def _ps(self, op: Any, asked: DeviceSpec) -> DeviceSpec:
        """A task is picked, and counted by the strategy, only where the job is not overruled."""
        spec = DeviceSpec.from_string(self.ps_device)
        if spec.job and asked.job in (None, "", spec.job):
            spec = spec.replace(task=self.ps_strategy(op))
        return spec


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """A function for `tf.device`; None where there are no parameter servers.

    The number of parameter servers is `ps_tasks`, or what `cluster` says. `ps_strategy(op)` picks
    one for each operation whose type is in `ps_ops`.

    Args:
        ps_tasks: how many parameter servers there are, where `cluster` does not tell.
        ps_device, worker_device: the jobs for variables and for everything else.
        merge_devices: whether a device that an operation names itself adds to these.
        cluster: a ClusterSpec, a dict or a message.
        ps_ops: types of operations that hold variables; None: the usual ones.
        ps_strategy: see above; None: in turn.

    Returns:
        A function from operations to devices, or None.

    Raises:
        TypeError: `cluster` is something else, or `ps_strategy` cannot be called.

    Example:
        >>> with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
        ...     v, w = tf.Variable(1), tf.Variable(2)
        >>> v.device, w.device
        ('/job:ps/task:0', '/job:ps/task:1')
    """
    if cluster is not None:
        job = DeviceSpec.from_string(ps_device).job
        ps_tasks = len(ClusterSpec(cluster).as_dict().get(job or "", ()))
    if ps_tasks == 0:
        return None
    if not merge_devices:
        tf_logging.warning(
            "DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter"
        )
    strategy = _RoundRobinStrategy(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")
    chooser = _ReplicaDeviceChooser(
        ps_tasks, ps_device, worker_device, merge_devices,
        STANDARD_PS_OPS if ps_ops is None else ps_ops, strategy,
    )  # fmt: skip
    return chooser.device_function
