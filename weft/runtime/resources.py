"""State that outlives steps: variables and other resources, by container and name.

A value is never changed in place: an update puts a new array in the cell, so a reader of the old
one keeps a snapshot. `ResourceStore.lock` guards reading and replacing together; it is held while
a compiled step is *dispatched* (buffers may be donated), not while it computes.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.core.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from weft.core.freed_memory import keep_freed_memory
from weft.graph.shape_fn import Dims
from weft.runtime.devices import kinds

DEFAULT_CONTAINER = "localhost"


class Variable:
    """A cell that holds one array, on the host (NumPy) or on a device (jax.Array).

    Kernels know it by `read`, `write` and `initialized`; a trace puts a stand-in with the same
    methods in its place (runtime/xla/checks.py).
    """

    __slots__ = ("container", "dims", "dtype", "is_reference", "name", "store", "value")

    def __init__(self, store: ResourceStore, name: str, dtype: DType, dims: Dims) -> None:
        self.store, self.name, self.dtype, self.dims = store, name, dtype, dims
        self.value: Any = None
        self.is_reference, self.container = True, DEFAULT_CONTAINER

    @property
    def initialized(self) -> bool:
        return self.value is not None

    def read(self) -> np.ndarray:
        """The current value on the host."""
        value = self.value
        if type(value) is np.ndarray:
            return value
        if value is None:
            raise self.uninitialized()
        try:
            return np.asarray(value)
        except RuntimeError:
            # A step of another thread was given the buffer meanwhile; it has put a new one here.
            with self.store.lock:
                return np.asarray(self.value)

    def update(self, value: Any) -> None:
        """As `write`, of a value that has the shape the cell holds already."""
        self.value = value

    def write(self, value: Any) -> None:
        if type(value) is np.ndarray and value.base is not None and not value.flags.writeable:
            value = value.copy()  # of an array that somebody else may write to
        old = self.value
        if old is None or old.shape != value.shape:
            self.store.shape_epoch += 1
        self.value = value

    def uninitialized(self) -> FailedPreconditionError:
        """The error for a value that is needed and missing."""
        name, container = self.name, self.container
        if self.is_reference:
            text = f"Attempting to use uninitialized value {name}"
        else:
            text = (
                f"Error while reading resource variable {name} from Container: {container}. This"
                f" could mean that the variable was uninitialized. Not found: Resource"
                f" {container}/{name} does not exist."
            )
        found = FailedPreconditionError(None, None, text)
        found.variable = name  # type: ignore[attr-defined]
        return found

    def __repr__(self) -> str:
        return f"<Variable cell {self.name} {self.dtype.name} {self.dims}>"


def released(resource: Any) -> None:
    """Tells a resource that its store has let go of it, if it wants to know (it has threads)."""
    tell = getattr(resource, "released", None)
    if tell is not None:
        tell()


class ResourceStore:
    """The containers of one device, of a process (a server) or of a session (a local session).

    `generation` counts removals, so that plans know when the cells they hold are stale;
    `shape_epoch` counts removals and changes of a variable's shape, so that compiled programs know.
    """

    def __init__(self, device: Any = None) -> None:
        keep_freed_memory()
        self.device = device  # the jax device that programs run on; None: jax's default
        self.lock = threading.RLock()
        self.generation = 0
        self.shape_epoch = 0
        self._containers: dict[str, dict[tuple[str, str], Any]] = {}
        self.rng: dict[str, np.ndarray] = {}

    @property
    def is_host(self) -> bool:
        """Whether programs run in the memory of the host."""
        return kinds.is_host(self.device)

    @functools.cached_property
    def functions(self) -> dict[Any, Any]:
        """Idle instances of functions (runtime/functions.py)."""
        return {}

    def empty(self) -> ResourceStore:
        """A private store."""
        return ResourceStore(self.device)

    def take_over(self, value: Any) -> Any:
        """A value that comes from another device, on this one."""
        if self.device is None or not hasattr(value, "block_until_ready"):
            return value
        from weft.runtime.xla.compile import load

        return load().device_put(value, self.device)

    def get_or_make(self, container: str, kind: str, name: str, make: Callable[[], Any]) -> Any:
        """The resource `name` of type `kind`, made by `make` when it is not there."""
        with self.lock:
            items = self._containers.setdefault(container or DEFAULT_CONTAINER, {})
            found = items.get((kind, name))
            if found is None:
                found = items[kind, name] = make()
            return found

    def get_or_make_private(
        self, container: str, kind: str, node: str, make: Callable[[], Any]
    ) -> Any:
        """The resource of a node that gives it no name: no other session has it."""
        return self.get_or_make(container, kind, f"{node} (private)", make)

    def lookup(self, container: str, kind: str, name: str) -> Any:
        with self.lock:
            items = self._containers.get(container or DEFAULT_CONTAINER, {})
            if (kind, name) not in items:
                raise NotFoundError(
                    None,
                    None,
                    f"Resource {container or DEFAULT_CONTAINER}/{name}/{kind} does not exist.",
                )
            return items[kind, name]

    def variable(
        self, container: str, name: str, dtype: DType, dims: Dims, reference: bool = True
    ) -> Variable:
        dtype = dtype.base_dtype

        def make() -> Variable:
            cell = Variable(self, name, dtype, dims)
            cell.is_reference, cell.container = reference, container or DEFAULT_CONTAINER
            if reference and dims is not None and 0 in dims and None not in dims:
                # Nothing is missing where there is nothing: TensorFlow takes it for initialized.
                cell.value = np.zeros(dims, dtype.as_numpy_dtype)
            return cell

        cell: Variable = self.get_or_make(container, "variable", name, make)
        if cell.dtype != dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"Trying to access variable {name} with wrong dtype. Expected"
                f" {cell.dtype.name} got {dtype.name}",
            )
        return cell

    def remove(self, resource: Any) -> bool:
        """Takes a resource out; what plans hold of it becomes stale."""
        with self.lock:
            for items in self._containers.values():
                for key, value in list(items.items()):
                    if value is resource:
                        del items[key]
                        self.generation += 1
                        self.shape_epoch += 1
                        released(resource)
                        return True
        return False

    def clear(self, containers: list[str] | None = None) -> None:
        with self.lock:
            gone = [self._containers.pop(n, {}) for n in containers or list(self._containers)]
            self.generation += 1
            self.shape_epoch += 1
        for items in gone:
            for resource in items.values():
                released(resource)

    def end_session(self, containers: list[str] | None = None) -> None:
        """Lets go of what is there for one session alone: of a store of its own, everything."""
        self.clear(containers)

    def __iter__(self) -> Iterator[tuple[str, str, str, Any]]:
        with self.lock:
            for container, items in self._containers.items():
                for (kind, name), value in items.items():
                    yield container, kind, name, value
