"""Input for replicas: iterators whose elements are taken by the replicas in turn."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.graph.graph import control_dependencies, device
from weft.graph.op_def import raw
from weft.graph.type_spec import TensorSpec
from weft.lib.data.dataset import Dataset, DatasetV1Adapter
from weft.lib.data.make_iterator import make_initializable_iterator
from weft.lib.data.structure import flat_tensor_shapes, flat_tensor_types
from weft.lib.distribute.input_context import InputContext
from weft.lib.distribute.values import regroup
from weft.ops.array import array
from weft.ops.control import control
from weft.ops.kit.eager import executing_eagerly


class DistributedIterator:
    """Elements of one source, as many at a time as there are replicas on `devices`."""

    def __init__(self, host: str, devices: Sequence[str], source: Any) -> None:
        self._host, self._devices, self._source = host, tuple(devices), source

    def get_next(self, name: str | None = None) -> Any:
        """The next elements: replica i has the i-th of them."""
        with device(self._host):
            elements = self._source.take(self._devices, name)
        return regroup(self._devices, elements)

    def initialize(self) -> Any:
        """The operation that starts it."""
        with device(self._host):
            return control.group(*self._source.start())

    @property
    def initializer(self) -> Any:
        return self.initialize()

    output_classes = property(lambda self: self._source.iterator.output_classes)
    output_shapes = property(lambda self: self._source.iterator.output_shapes)
    output_types = property(lambda self: self._source.iterator.output_types)


class DatasetSource:
    """The elements of a dataset."""

    def __init__(self, host: str, dataset: Any) -> None:
        with device(host):
            self.iterator = make_initializable_iterator(dataset)

    def take(self, devices: Sequence[str], name: str | None) -> list[Any]:
        taken: list[Any] = []
        for i in range(len(devices)):
            # In the order of the replicas, whichever of them runs first.
            with control_dependencies([nest.flatten(taken[-1], True)[0]] if taken else []):
                element = self.iterator.get_next(f"{name}_{i}" if name else None)
            taken.append(element)
        return [_on_device(element, where) for element, where in zip(taken, devices, strict=True)]

    def start(self) -> list[Any]:
        return [self.iterator.initializer]


def _on_device(element: Any, where: str) -> Any:
    with device(where):
        return nest.map_structure(array.identity, element, expand_composites=True)


class CallableSource:
    """Inputs from a function, which is called for each replica."""

    def __init__(self, fn: Callable[[], Any]) -> None:
        self._fn = fn

    def take(self, devices: Sequence[str], name: str | None) -> list[Any]:
        taken = []
        for where in devices:
            with device(where):
                taken.append(self._fn())
        return taken

    def start(self) -> list[Any]:
        return []


class DistributedDataset:
    """A dataset for replicas; `make_initializable_iterator` gives its iterator."""

    def __init__(self, host: str, devices: Sequence[str], dataset: Any) -> None:
        self._host, self._devices, self._dataset = host, tuple(devices), dataset

    element_spec = property(lambda self: self._dataset.element_spec)

    def make_initializable_iterator(self, shared_name: str | None = None) -> DistributedIterator:
        return DistributedIterator(
            self._host, self._devices, DatasetSource(self._host, self._dataset)
        )

    def make_one_shot_iterator(self) -> DistributedIterator:
        """An iterator that the initializers of tables start, once."""
        from weft.graph.graph import GraphKeys, add_to_collection

        iterator = self.make_initializable_iterator()
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        return iterator

    def __iter__(self) -> Iterator[Any]:
        """As many elements at a time as there are replicas; a last round that is short is none."""
        if not executing_eagerly():
            raise RuntimeError(
                "__iter__() is only supported inside of tf.function or when eager execution is"
                " enabled."
            )
        elements, count = iter(self._dataset), len(self._devices)
        while len(taken := list(itertools.islice(elements, count))) == count:
            placed = [_on_device(*each) for each in zip(taken, self._devices, strict=True)]
            yield regroup(self._devices, placed)


class InputPipeline:
    """How a strategy feeds its replicas: from `host`, to `devices`, by itself or as one of many."""

    def __init__(self, host: str, devices: Sequence[str], context: InputContext) -> None:
        self.host, self.devices, self.context = host, tuple(devices), context

    def split(self, dataset: Any) -> DistributedDataset:
        """A dataset of batches for all replicas, for those of this pipeline."""
        context, count = self.context, self.context.num_input_pipelines
        replicas = context.num_replicas_in_sync
        with device(self.host):
            if replicas > len(self.devices):  # of each batch, every worker has its part
                dataset = rebatched(dataset, count).shard(count, context.input_pipeline_id)
                replicas = len(self.devices)
            elif count > 1:
                dataset = dataset.shard(count, context.input_pipeline_id)
            dataset = rebatched(dataset, replicas)
            return DistributedDataset(self.host, self.devices, dataset.prefetch(len(self.devices)))

    def from_function(self, dataset_fn: Callable[[InputContext], Any]) -> DistributedDataset:
        with device(self.host):
            dataset = dataset_fn(self.context)
        return DistributedDataset(self.host, self.devices, dataset)

    def iterator_of(self, input_fn: Callable[[InputContext], Any]) -> DistributedIterator:
        """An iterator over what `input_fn` gives: a dataset, or a function that gives elements."""
        with device(self.host):
            made = input_fn(self.context)
        if isinstance(made, Dataset):
            source: Any = DatasetSource(self.host, made)
        elif callable(made):
            source = CallableSource(made)
        else:
            raise ValueError("input_fn must return a tf.data.Dataset or a callable.")
        return DistributedIterator(self.host, self.devices, source)


def rebatched(dataset: Any, replicas: int) -> Any:
    """Batches that are a part of those of `dataset`, one for each of so many replicas."""
    if replicas == 1:
        return dataset
    flat_spec = nest.flatten(dataset.element_spec)
    if any(isinstance(spec, TensorSpec) and spec.shape.ndims == 0 for spec in flat_spec):
        raise ValueError(
            "Call the `batch` method on the input Dataset in order to be able to split your input"
            f" across {replicas} replicas."
        )
    parts = [_part_of(spec, replicas) for spec in flat_spec]
    spec = nest.pack_sequence_as(dataset.element_spec, parts)
    variant = raw.RebatchDataset(
        dataset._variant_tensor, replicas, output_types=flat_tensor_types(spec),
        output_shapes=flat_tensor_shapes(spec),
    )  # fmt: skip
    return DatasetV1Adapter(variant, spec, [dataset])


def _part_of(spec: Any, replicas: int) -> Any:
    if not isinstance(spec, TensorSpec) or spec.shape.ndims is None:
        return spec
    size, *rest = spec.shape.as_list()
    part = None if size is None or size % replicas else size // replicas
    return TensorSpec(TensorShape([part, *rest]), spec.dtype)
