"""tf.contrib.all_reduce: one value on every device, out of theirs, by several ways of exchange."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from weft.core.device_name import DeviceSpec
from weft.graph.graph import colocate_with, control_dependencies, device
from weft.graph.tensor import Tensor
from weft.lib.contrib import nccl
from weft.ops.array import array
from weft.ops.array.split import split
from weft.ops.math import math

Tensors = list[Tensor]
Work = Callable[[Tensors], Tensors]


def _each(work: Callable[[Tensor], Tensor], tensors: Tensors) -> Tensors:
    """A function of every tensor, where the tensor is."""
    made = []
    for tensor in tensors:
        with colocate_with(tensor):
            made.append(work(tensor))
    return made


def _flat(tensors: Tensors, work: Work) -> Tensors:
    """`work` on tensors of one axis, whatever their shape."""
    if not tensors:
        raise ValueError("tensors cannot be empty")
    shape = tensors[0].shape
    for tensor in tensors:
        shape = shape.merge_with(tensor.shape)
    if not shape.is_fully_defined():
        raise ValueError("Tensors must have statically known shape.")
    if len(shape) == 1:
        return work(tensors)
    done = work(_each(lambda each: array.reshape(each, [-1]), tensors))
    return _each(lambda each: array.reshape(each, shape), done)


# ---- ring ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Ring:
    """The order of devices, one for each part of a chunk."""

    orders: list[list[int]]

    @staticmethod
    def of(workers: int, parts: int, gpus: list[int]) -> _Ring:
        if parts > len(gpus):
            raise ValueError(f"num_subchunks {parts} must be <= num_gpus {len(gpus)}")
        turn = max(1, len(gpus) // parts)
        turned = [gpus[part * turn :] + gpus[: part * turn] for part in range(parts)]
        return _Ring([[w * len(gpus) + gpu for w in range(workers) for gpu in o] for o in turned])

    def hand_round(self, chunks: list[Tensors], first: int, take: Any, places: Any) -> None:
        """Each device takes a chunk from the one before it, as often as there are others."""
        count, parts = len(chunks), len(self.orders)
        for tick in range(count - 1):
            taken = {}
            for part, order in enumerate(self.orders):
                for rank, own in enumerate(order):
                    chunk = (rank + count - (first + tick)) % count * parts + part
                    with places(own):
                        given = chunks[order[rank - 1]][chunk]
                        taken[own, chunk] = take(given, chunks[own][chunk])
            for (own, chunk), value in taken.items():
                chunks[own][chunk] = value


def _in_chunks(tensor: Tensor, count: int) -> tuple[Tensors, int]:
    """(chunks of one size, how many zeros make the last ones whole)"""
    size = int(tensor.shape[0])
    missing = -size % count
    if missing:
        tensor = array.concat([tensor, array.zeros([missing], tensor.dtype)], 0)
    return split(tensor, count), missing


def _given(given: Tensor, own: Tensor) -> Tensor:
    return array.identity(given)


def build_ring_all_reduce(
    input_tensors: Tensors,
    num_workers: int,
    num_subchunks: int,
    gpu_perm: list[int],
    red_op: Callable[..., Tensor],
    un_op: Callable[..., Tensor] | None = None,
) -> Tensors:
    """Chunks go round the devices twice: first they are reduced, then all have them."""
    if len(input_tensors) < 2:
        raise ValueError("input_tensors must be length 2 or longer")
    devices = [tensor.device for tensor in input_tensors]
    ring = _Ring.of(num_workers, num_subchunks, list(gpu_perm))

    def work(tensors: Tensors) -> Tensors:
        chunks, missing = [], 0
        for place, tensor in zip(devices, tensors, strict=True):
            with device(place):
                made, missing = _in_chunks(tensor, len(tensors) * num_subchunks)
                chunks.append(made)
        ring.hand_round(chunks, 2, red_op, lambda own: device(devices[own]))
        if un_op:
            chunks = [_each(un_op, own) for own in chunks]
        ring.hand_round(chunks, 1, _given, lambda own: colocate_with(chunks[own][0]))
        whole = []
        for own in chunks:
            with colocate_with(own[0]):
                joined = array.concat(own, 0)
                whole.append(joined[: int(joined.shape[0]) - missing] if missing else joined)
        return whole

    return _flat(input_tensors, work)


# ---- halving and doubling ------------------------------------------------------------------------


def build_recursive_hd_all_reduce(
    input_tensors: Tensors,
    red_op: Callable[..., Tensor],
    un_op: Callable[..., Tensor] | None = None,
) -> Tensors:
    """Pairs of devices exchange halves, farther and farther apart; then the way back."""
    devices = [tensor.device for tensor in input_tensors]
    count = len(devices)
    if count & (count - 1):
        raise ValueError("num_devices must be a power of 2")
    spans = [1 << hop for hop in range(count.bit_length() - 1)]

    def exchange(chunks: Tensors, span: int, make: Callable[[Tensors, int], Tensor]) -> Tensors:
        made: list[Any] = list(chunks)
        for left in range(count):
            if left & span:
                continue
            pair = [chunks[left], chunks[left + span]]
            for side, own in enumerate((left, left + span)):
                with device(devices[own]):
                    made[own] = make(pair, side)
        return made

    def halved(pair: Tensors, side: int) -> Tensor:
        return red_op(*(split(each, 2)[side] for each in pair))

    def work(tensors: Tensors) -> Tensors:
        for span in spans:
            tensors = exchange(tensors, span, halved)
        if un_op:
            tensors = [un_op(each) for each in tensors]
        for span in reversed(spans):
            tensors = exchange(tensors, span, lambda pair, _: array.concat(pair, 0))
        return tensors

    return _flat(input_tensors, work)


# ---- shuffle -------------------------------------------------------------------------------------


def _shards(tensor: Tensor, count: int) -> Tensors:
    """Shards of one size, the last of which has the rest."""
    size = int(tensor.shape[0])
    each = size // count
    return split(tensor, [each] * (count - 1) + [size - each * (count - 1)])


def build_shuffle_all_reduce(
    input_tensors: Tensors,
    gather_devices: list[str],
    red_op: Callable[..., Tensor],
    un_op: Callable[..., Tensor] | None = None,
) -> Tensors:
    """Some devices reduce a shard of all values each, and every device takes all shards."""

    def work(tensors: Tensors) -> Tensors:
        places = [tensor.device for tensor in tensors]
        by_source = []
        for tensor in tensors:
            with colocate_with(tensor):
                by_source.append(_shards(tensor, len(gather_devices)))
        reduced = []
        for place, shards in zip(gather_devices, zip(*by_source, strict=True), strict=True):
            with device(place):
                found = red_op(list(shards))
                reduced.append(un_op(found) if un_op else found)
        whole = []
        for place in places:
            with device(place):
                whole.append(array.concat(reduced, 0))
        return whole

    return _flat(input_tensors, work)


# ---- in workers, then between them ---------------------------------------------------------------


def build_nccl_all_reduce(
    input_tensors: Tensors,
    red_op: Callable[..., Tensor],
    un_op: Callable[..., Tensor] | None = None,
) -> Tensors:
    """The sum by `tf.contrib.nccl`."""
    if inspect.unwrap(red_op) is not inspect.unwrap(math.add):
        raise ValueError("red_op not supported by NCCL all-reduce: ", red_op)
    total = nccl.all_sum(input_tensors)
    return _each(un_op, total) if un_op else total


def _by_task(devices: list[str], values: list[Any]) -> list[list[Any]]:
    """Values, in a list for each task of their devices."""
    if len(devices) != len(values):
        raise ValueError("len(devices) must equal len(values)")
    tasks: dict[Any, list[Any]] = {}
    for name, value in zip(devices, values, strict=True):
        spec = DeviceSpec.from_string(name)
        assert spec.task is not None, f"failed to parse device {name}"
        tasks.setdefault((spec.job or "localhost", spec.replica or 0, spec.task), []).append(value)
    return list(tasks.values())


def _two_levels(
    input_tensors: Tensors, inside: Callable[[int, Tensors], Tensors], between: Work
) -> Tensors:
    """The values of a worker reduced to one, these between workers, and the result spread."""

    def work(tensors: Tensors) -> Tensors:
        devices = [tensor.device for tensor in tensors]
        own_devices = _by_task(devices, devices)
        up = []
        for worker, values in enumerate(_by_task(devices, tensors)):
            reduced = inside(worker, values)
            with control_dependencies(reduced), device(own_devices[worker][0]):
                up.append(array.identity(reduced[0]))
        down = []
        for places, value in zip(own_devices, between(up), strict=True):
            for place in places:
                with device(place):
                    down.append(array.identity(value))
        return down

    return _flat(input_tensors, work)


def _unless_alone(way: Work, un_op: Callable[..., Tensor] | None) -> Work:
    """`way` between several workers; of one, only `un_op` is left to do."""

    def between(tensors: Tensors) -> Tensors:
        if len(tensors) > 1:
            return way(tensors)
        return _each(un_op, tensors) if un_op else tensors

    return between


def _ring_of(subdiv: int, red_op: Any, un_op: Any) -> Work:
    return lambda up: build_ring_all_reduce(up, len(up), subdiv, [0], red_op, un_op)


def _shuffle_of(devices: list[str], red_op: Any, un_op: Any) -> Work:
    return lambda up: build_shuffle_all_reduce(up, devices, red_op, un_op)


def build_nccl_then_ring(
    input_tensors: Tensors, subdiv: int, red_op: Callable[..., Tensor], un_op: Any = None
) -> Tensors:
    """NCCL in workers, a ring between them."""
    way = _unless_alone(_ring_of(subdiv, red_op, un_op), un_op)
    return _two_levels(input_tensors, lambda _, own: build_nccl_all_reduce(own, red_op), way)


def build_nccl_then_recursive_hd(
    input_tensors: Tensors, red_op: Callable[..., Tensor], un_op: Any = None
) -> Tensors:
    """NCCL in workers, halving and doubling between them."""
    way = _unless_alone(lambda up: build_recursive_hd_all_reduce(up, red_op, un_op), un_op)
    return _two_levels(input_tensors, lambda _, own: build_nccl_all_reduce(own, red_op), way)


def build_nccl_then_shuffle(
    input_tensors: Tensors,
    gather_devices: list[str],
    nccl_red_op: Callable[..., Tensor],
    shuffle_red_op: Callable[..., Tensor],
    un_op: Any = None,
) -> Tensors:
    """NCCL in workers, a shuffle between them."""
    way = _unless_alone(_shuffle_of(gather_devices, shuffle_red_op, un_op), un_op)
    return _two_levels(input_tensors, lambda _, own: build_nccl_all_reduce(own, nccl_red_op), way)


def _shuffled(input_tensors: Tensors, gather_devices: list[str], red_op: Any, way: Work) -> Tensors:
    gathering = _by_task(gather_devices, gather_devices)
    workers = len(_by_task([t.device for t in input_tensors], list(input_tensors)))
    if len(gathering) != workers:
        raise ValueError("For shuffle hybrid, gather_devices must be on the tasks of the tensors.")

    def inside(worker: int, own: Tensors) -> Tensors:
        return build_shuffle_all_reduce(own, gathering[worker], red_op)

    return _two_levels(input_tensors, inside, way)


def build_shuffle_then_ring(
    input_tensors: Tensors,
    gather_devices: list[str],
    subdiv: int,
    red_n_op: Callable[..., Tensor],
    red_op: Callable[..., Tensor],
    un_op: Any = None,
) -> Tensors:
    """A shuffle in workers, a ring between them."""
    way = _unless_alone(_ring_of(subdiv, red_op, un_op), un_op)
    return _shuffled(input_tensors, gather_devices, red_n_op, way)


def build_shuffle_then_shuffle(
    input_tensors: Tensors,
    first_gather_devices: list[str],
    second_gather_devices: list[str],
    red_op: Callable[..., Tensor],
    un_op: Any = None,
) -> Tensors:
    """A shuffle in workers, another between them."""
    way = _unless_alone(_shuffle_of(second_gather_devices, red_op, un_op), un_op)
    return _shuffled(input_tensors, first_gather_devices, red_op, way)
