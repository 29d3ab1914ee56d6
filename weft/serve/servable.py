"""One version of a model in memory: its session, its signatures, and who is using it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from weft.client.session import Session
from weft.core import errors
from weft.core.dtypes import DType
from weft.graph.graph import Graph
from weft.lib.saved_model.loader import SavedModelLoader
from weft.runtime.limits import limits
from weft.serve.errors import invalid
from weft.serve.pace import Pace
from weft.serve.signatures import Signature, read_signatures
from weft.serve.tensors import to_array

_MOST_CALLABLES = 256
Step = Callable[..., list[Any]]
Runner = Callable[[dict[str, np.ndarray], Sequence[str], float | None], list[np.ndarray]]


class Servable:
    """A loaded version. Requests `run` it, by batches where it has been given a batcher."""

    def __init__(self, name: str, version: int, path: str, session: Session, meta: Any) -> None:
        self.name, self.version, self.path = name, version, path
        self.session = session
        self.signatures: dict[str, Signature] = read_signatures(meta)
        self.run: Runner = self.run_alone
        self.batcher: Any = None
        self.spec_bytes: dict[tuple[int, str, str], bytes] = {}  # ModelSpecs of answers, serialized
        self.questions: dict[tuple[str, tuple[str, ...]], Any] = {}  # that Predict has asked
        self.pace = Pace()
        self.harmless: set[Any] = set()  # fetches and feeds that are known to change nothing
        self.plain_rows: dict[str, Any] = {}  # the shortest way through a signature, or None
        self._callables: OrderedDict[Any, tuple[Step, list[DType]]] = OrderedDict()
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._users: list[None] = []  # an element for each
        self._closing = False

    # ---- who uses it ----

    def enter(self) -> bool:
        """Counts a user, unless the version is on its way out. No lock is taken until it is."""
        self._users.append(None)
        if self._closing:
            self.leave()
            return False
        return True

    def leave(self, *error: Any) -> None:
        self._users.pop()
        if self._closing:
            with self._lock:
                self._idle.notify_all()

    def __enter__(self) -> Servable:
        """For a user who is counted already, and leaves at the end."""
        return self

    __exit__ = leave

    def drain(self, seconds: float | None = None) -> bool:
        """Lets nobody in any more, and waits until all have left; whether they did."""
        with self._lock:
            self._closing = True
            return self._idle.wait_for(lambda: not self._users, seconds)

    def close(self) -> None:
        """Frees what it holds."""
        self._callables.clear()
        self.plain_rows.clear()
        self.session.close()

    # ---- steps ----

    def run_alone(
        self, feeds: dict[str, np.ndarray], fetches: Sequence[str], deadline: float | None = None
    ) -> list[np.ndarray]:
        """One step for one request: values of the fetched tensors, all by name."""
        call, kinds = self._callable((tuple(feeds), tuple(fetches)))
        return [*map(to_array, self.call(call, feeds.values(), deadline), kinds)]

    @staticmethod
    def call(step: Step, values: Iterable[Any], deadline: float | None) -> list[Any]:
        """Runs a step; its loops end at the deadline."""
        before = limits.deadline
        if deadline is not None:
            limits.deadline = deadline
        try:
            return step(*values)
        finally:
            limits.deadline = before

    def _callable(self, key: tuple[tuple[str, ...], tuple[str, ...]]) -> tuple[Step, list[DType]]:
        found = self._callables.get(key)
        if found is None:
            found = self._made(*key)
            with self._lock:
                self._callables[key] = found
                while len(self._callables) > _MOST_CALLABLES:
                    self._callables.popitem(last=False)
        return found

    def _made(self, feeds: Sequence[str], fetches: Sequence[str]) -> tuple[Step, list[DType]]:
        inputs = [self.tensor(name) for name in feeds]
        outputs = [self.tensor(name) for name in fetches]
        call = self.session.make_callable(outputs, inputs)
        return call, [tensor.dtype.base_dtype for tensor in outputs]

    def tensor(self, name: str) -> Any:
        """A tensor of the graph by name. InvalidArgumentError if there is none."""
        full = name if ":" in name else f"{name}:0"
        try:
            return self.session.graph.get_tensor_by_name(full)
        except (KeyError, ValueError, TypeError):
            raise invalid(
                f"Tensor {full}, specified in either feed_devices or fetch_devices was not found in"
                " the Graph"
            ) from None


def load(name: str, version: int, path: str, tags: Sequence[str]) -> Servable:
    """Reads a SavedModel into a session of its own. TensorFlow's errors if that fails."""
    session = Session(graph=Graph())
    try:
        with session.graph.as_default():
            meta = SavedModelLoader(path).load(session, tags)
        return Servable(name, version, path, session, meta)
    except BaseException as error:
        session.close()
        if isinstance(error, errors.OpError) or not isinstance(error, Exception):
            raise
        raise _as_status(error) from error


def _as_status(error: Exception) -> errors.OpError:
    text = str(error) or type(error).__name__
    if isinstance(error, (OSError, RuntimeError)):
        return errors.NotFoundError(None, None, text)
    return errors.InvalidArgumentError(None, None, text)
