"""CrossDeviceOps: how the values of replicas become one, and how that gets to where it belongs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.graph.graph import device
from weft.graph.slices import IndexedSlices
from weft.graph.tensor import Tensor
from weft.graph.tensor_util import is_tensor
from weft.lib.distribute import device_util
from weft.lib.distribute.values import DistributedValues, Mirrored, PerReplica
from weft.ops.array import array
from weft.ops.math import math
from weft.ops.state.reduce_op import ReduceOp
from weft.ops.state.variables import Variable


def check_destinations(destinations: Any) -> bool:
    """Whether it names any device."""
    if isinstance(destinations, (Variable, Tensor)):
        return bool(destinations.device)
    return bool(destinations)


def validate_destinations(destinations: Any) -> None:
    if not isinstance(destinations, (DistributedValues, Variable, Tensor, IndexedSlices, str)):
        raise ValueError(
            "destinations must be one of a `DistributedValues` object, a tf.Variable object, or a"
            " device string."
        )
    if not check_destinations(destinations):
        raise ValueError("destinations can not be empty")


def devices_of(destinations: Any) -> tuple[str, ...]:
    """The devices where something is, or that a string names."""
    if isinstance(destinations, DistributedValues):
        return destinations.devices
    name = destinations if isinstance(destinations, str) else destinations.device
    return (device_util.resolve(name),)


def broadcast(value: Any, destinations: Any, always_mirrored: bool = False) -> Any:
    """Copies of `value` where `destinations` says; a plain one if that is one device."""
    devices = devices_of(destinations)
    copies = []
    for where in devices:
        with device(where):
            copies.append(array.identity(value))
    if len(devices) == 1 and not always_mirrored:
        return copies[0]
    return Mirrored(devices, copies)


def reduce_non_distributed_value(
    reduce_op: ReduceOp, replicas: int, value: Any, destinations: Any
) -> Any:
    """The mean or sum of a value that is the same in all replicas."""
    if isinstance(value, DistributedValues):
        raise ValueError(
            "You are passing a `DistributedValue` to `reduce_non_distributed_value`, which is not"
            " allowed."
        )
    is_zero = not is_tensor(value) and value == 0
    if is_zero or reduce_op is ReduceOp.MEAN:
        return 0 if is_zero else value
    validate_destinations(destinations)
    if replicas == 1:
        return broadcast(value, destinations)
    raise ValueError(
        f"A non-DistributedValues value {value} cannot be reduced with the given reduce op"
        f" {reduce_op}."
    )


def _joined(values: Sequence[Any], add: Callable[[Any], Any], reduce_op: ReduceOp) -> Any:
    """The sum or mean; of rows, all of them: applying them adds up those of one index."""
    if reduce_op not in (ReduceOp.SUM, ReduceOp.MEAN):
        raise ValueError("`reduce_op` must be Reduce.SUM or Reduce.MEAN.")
    count = len(values)
    if any(isinstance(value, IndexedSlices) for value in values):
        rows = _concatenated([_as_slices(value) for value in values])
        if reduce_op is ReduceOp.SUM:
            return rows
        return IndexedSlices(rows.values / count, rows.indices, rows.dense_shape)
    total = add(list(values))
    return total / count if reduce_op is ReduceOp.MEAN else total


def _concatenated(parts: Sequence[IndexedSlices]) -> IndexedSlices:
    columns = zip(*((part.values, part.indices) for part in parts), strict=True)
    values, indices = (array.concat(list(column), 0) for column in columns)
    return IndexedSlices(values, indices, parts[0].dense_shape)


def _as_slices(value: Any) -> IndexedSlices:
    if isinstance(value, IndexedSlices):
        return value
    count = array.shape(value)[0]
    return IndexedSlices(value, math.range(count), array.shape(value))


class CrossDeviceOps:
    """Base of the ways to reduce. A subclass has `reduce_implementation` and its batch form."""

    # How many workers with graphs of their own take part.
    _num_between_graph_workers = 1

    def __init__(self) -> None:
        pass

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of what replicas have, on the devices of `destinations`."""
        value = _as_distributed(per_replica_value)
        validate_destinations(destinations)
        if not self._is_there(value, destinations):
            return self.reduce_implementation(reduce_op, value, destinations)
        return Mirrored(value.devices, value.values)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """`reduce` for several values at once."""
        pairs = []
        for pair in value_destination_pairs:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise ValueError(
                    "Each element of `value_destination_pairs` should be a tuple of size 2."
                )
            pairs.append((_as_distributed(pair[0]), pair[1]))
        for _, destination in pairs:
            validate_destinations(destination)
        if all(self._is_there(*pair) for pair in pairs):
            return [Mirrored(value.devices, value.values) for value, _ in pairs]
        return list(self.batch_reduce_implementation(reduce_op, pairs))

    def _is_there(self, value: Any, destinations: Any) -> bool:
        """Whether one replica has what is wanted, where it is wanted."""
        alone = self._num_between_graph_workers == 1 and len(value.values) == 1
        return alone and same_devices(value, destinations)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """Copies of `tensor` on the devices of `destinations`."""
        validate_destinations(destinations)
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        raise NotImplementedError("_reduce method must be implemented in descendants.")

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        raise NotImplementedError("_batch_reduce method must be implemented in descendants.")

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        return broadcast(tensor, destinations, always_mirrored=True)


def same_devices(left: Any, right: Any) -> bool:
    return set(devices_of(left)) == set(devices_of(right))


def _as_distributed(value: Any) -> Any:
    if isinstance(value, DistributedValues):
        return value
    if isinstance(value, (list, tuple)):
        raise ValueError(
            f"Cannot convert `input_tensor` to a `PerReplica` object, got {value!r} but expected a"
            " object that is not a tuple or list."
        )
    if not hasattr(value, "device"):
        raise ValueError(
            "Cannot convert `input_tensor` to a `PerReplica` object because it doesn't have device"
            " set."
        )
    return PerReplica((device_util.canonicalize(value.device or ""),), (value,))


class ReductionToOneDevice(CrossDeviceOps):
    """All values go to one device, are joined there, and the result goes where it is wanted."""

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Any = None) -> None:
        super().__init__()
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn or math.add_n

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        known = check_destinations(destinations)
        devices = devices_of(destinations if known else per_replica_value)
        with device(self.reduce_to_device or devices[0]):
            joined = _joined(per_replica_value.values, self.accumulation_fn, reduce_op)
        return self.broadcast(joined, destinations)

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        return [
            self.reduce_implementation(reduce_op, value, destinations)
            for value, destinations in value_destination_pairs
        ]


class AllReduceCrossDeviceOps(ReductionToOneDevice):
    """Dense values that are wanted where they come from are summed in one place for each.

    The places are dealt out, so that no device adds up everything. Which links the data take is
    XLA's and the rendezvous' business: the algorithms that TensorFlow offers are names here.
    """

    def __init__(
        self,
        all_reduce_alg: str = "nccl",
        num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0,
        agg_small_grads_max_group: int = 10,
    ) -> None:
        super().__init__()
        self._all_reduce_alg, self._num_packs = all_reduce_alg, num_packs

    def batch_reduce_implementation(self, reduce_op: Any, value_destination_pairs: Any) -> Any:
        reduced = []
        for number, (value, destinations) in enumerate(value_destination_pairs):
            devices = devices_of(destinations)
            self.reduce_to_device = devices[number % len(devices)]
            reduced.append(self.reduce_implementation(reduce_op, value, destinations))
        self.reduce_to_device = None
        return reduced


def _checked(num_packs: int, what: str) -> int:
    if num_packs < 0:
        raise ValueError(f"{what} requires num_packs >= 0, but {num_packs} is specified")
    return num_packs


class NcclAllReduce(AllReduceCrossDeviceOps):
    """All-reduce under the name of NVIDIA's library."""

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("nccl", _checked(num_packs, "NCCL all-reduce"))


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """All-reduce under the name of the algorithm for machines with two groups of GPUs."""

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("hierarchical_copy", _checked(num_packs, "HierarchicalCopy"))
