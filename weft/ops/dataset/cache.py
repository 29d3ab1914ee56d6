"""Elements kept for the next time around: in memory, or in a file."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import errors
from weft.graph.tensor_proto import make_ndarray, make_tensor_proto
from weft.ops.dataset.declare import INPUT, dataset_op
from weft.ops.dataset.objects import Dataset, Element, Iterator, Reopening, Unary
from weft.ops.dataset.scope import Scope
from weft.ops.dataset.values import for_kernels, from_kernels
from weft.storage.confinement import permitted
from weft.storage.tf_record import TFRecordWriter, tf_record_iterator


class MemoryCache(Unary):
    """Keeps the elements of the first complete traversal."""

    def __init__(self, input: Dataset) -> None:
        super().__init__(input)
        self.kept: list[Element] | None = None

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        return Keeping(lambda: self.input.open(scope), self._keep, self.kept)

    def _keep(self, elements: list[Element]) -> None:
        self.kept = elements


class Keeping(Reopening):
    """Passes elements on and hands all of them over at the end; or gives those that are kept."""

    state = ("opened", "elements", "position", "done")

    def __init__(
        self, make: Callable[[], Iterator], keep: Callable[[list[Element]], None],
        kept: list[Element] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(make)
        self.keep = keep
        self.elements: list[Element] = [] if kept is None else kept
        self.position, self.done = 0, kept is not None

    def next(self) -> Any:
        if self.position == len(self.elements) and not self.done:
            element = (self.input or self.reopen()).next()
            if element is None:
                self.done = True
                self.keep(self.elements)
            else:
                self.elements.append(element)
        if self.position == len(self.elements):
            return None
        self.position += 1
        return self.elements[self.position - 1]

    def restore(self, saved: Any) -> None:
        super().restore(saved)
        if self.done:
            self.keep(self.elements)


def write_elements(path: str, elements: list[Element]) -> None:
    """A record file: for each element the number of its components, and each of them."""
    with TFRecordWriter(path) as file:
        for element in elements:
            file.write(str(len(element)).encode())
            for value in element:
                file.write(make_tensor_proto(for_kernels((value,))[0]).SerializeToString())


def read_elements(path: str) -> list[Element]:
    from tensorboard.compat.proto.tensor_pb2 import TensorProto

    found: list[Element] = []
    records = tf_record_iterator(path)
    for count in records:
        parts = [make_ndarray(TensorProto.FromString(next(records))) for _ in range(int(count))]
        found.append(from_kernels(parts))
    return found


class FileCache(Unary):
    """As above, in the file `name.index`; while it is written there is `name.lockfile`."""

    def __init__(self, input: Dataset, name: str) -> None:
        super().__init__(input)
        self.name, self.lock = name, threading.Lock()

    def open(self, scope: Scope, raw: bool = False) -> Iterator:
        permitted(self.name)
        with self.lock:
            if os.path.exists(f"{self.name}.index"):
                kept = read_elements(f"{self.name}.index")
                return Keeping(lambda: self.input.open(scope), _nothing, kept)
            self._claim()
        return FileKeeping(lambda: self.input.open(scope), self._keep, f"{self.name}.lockfile")

    def _claim(self) -> None:
        try:
            os.close(os.open(f"{self.name}.lockfile", os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            raise errors.AlreadyExistsError(
                None, None,
                "There appears to be a concurrent caching iterator running - cache lockfile already"
                f" exists ('{self.name}.lockfile'). If you are sure no other running TF"
                " computations are using this cache prefix, delete the lockfile and re-initialize"
                " the iterator.",
            ) from None  # fmt: skip
        except FileNotFoundError as error:
            raise errors.NotFoundError(None, None, str(error)) from None

    def _keep(self, elements: list[Element]) -> None:
        with self.lock:
            write_elements(f"{self.name}.partial", elements)
            os.replace(f"{self.name}.partial", f"{self.name}.index")
            os.remove(f"{self.name}.lockfile")


def _nothing(elements: list[Element]) -> None:
    """Does nothing: the elements are kept already."""


class FileKeeping(Keeping):
    def __init__(
        self, make: Callable[[], Iterator], keep: Callable[[list[Element]], None], lock: str
    ) -> None:
        super().__init__(make, keep)
        self.lock = lock

    def close(self) -> None:
        if not self.done and os.path.exists(self.lock):
            os.remove(self.lock)
        super().close()


@dataset_op("CacheDataset", f"{INPUT}, filename: string")
def cache_dataset(xp: Any, input_dataset: Dataset, filename: Any) -> Dataset:
    name = np.asarray(filename).item().decode()
    return FileCache(input_dataset, name) if name else MemoryCache(input_dataset)
