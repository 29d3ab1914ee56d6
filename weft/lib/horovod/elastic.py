"""`hvd.elastic`: training that goes on when a process of the group has ended.

Whoever started the processes starts one that has ended again; `weft launch` does. The others find
that out in the middle of a step. Each of them keeps the state it has committed in a file, and
begins its program anew, so that all meet again: nothing is left of the group that was. The state
then comes from the process with the newest one, and the step is done again.
"""

from __future__ import annotations

import functools
import os
import pickle
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft.core.errors import UnknownError
from weft.graph.stacks import get_default_session
from weft.lib.horovod.basics import rank, size
from weft.lib.horovod.objects import broadcast_object, gather_numbers
from weft.lib.horovod.which_keras import backend_of
from weft.lib.keras.callbacks.base import Callback
from weft.lib.platform import tf_logging as logging
from weft.ops.kit.process_group import ENDED
from weft.ops.state.variable_lists import global_variables

_LAST_TO_GO = 0.5  # seconds; less than a program takes to begin
_KEPT = "WEFT_ELASTIC_STATE"  # the file with the state of a program that begins anew

Logs = dict[str, Any] | None


class HorovodInternalError(RuntimeError):
    """Raised by a program itself, this means that the group has to meet again."""


class HostsUpdatedInterrupt(RuntimeError):
    """In Horovod, that processes came or went. Here they are as many from beginning to end."""


class ObjectState:
    """The attributes that training goes on from: `ObjectState(epoch=0, batch=0)`."""

    def __init__(self, **attributes: Any) -> None:
        self._names = tuple(attributes)
        self._callbacks: list[Callable[[], Any]] = []
        self._commits = 0
        self.__dict__.update(attributes)
        self._saved: dict[str, Any] = {}

    def register_reset_callbacks(self, callbacks: Sequence[Callable[[], Any]]) -> None:
        """Functions that are called when the group has met again."""
        self._callbacks.extend(callbacks)

    def on_reset(self) -> None:
        for callback in self._callbacks:
            callback()

    def commit(self) -> None:
        """Keeps the state as it is now: training goes on from here."""
        self.save()
        self._commits += 1
        self.check_host_updates()

    def check_host_updates(self) -> None:
        """Whether processes came or went: that shows in the next step."""

    def save(self) -> None:
        self._saved = self.held()

    def restore(self) -> None:
        self.load(self._saved)

    def sync(self) -> None:
        """All processes get the state of the one that has committed most."""
        commits = gather_numbers([self._commits])[:, 0]
        root = int(commits.argmax())
        self._commits = int(commits[root])
        self.save()
        self._saved = broadcast_object(self._saved, root)
        self.restore()

    def held(self) -> dict[str, Any]:
        """The state, as something to keep."""
        return {name: getattr(self, name) for name in self._names}

    def load(self, held: dict[str, Any]) -> None:
        """The reverse."""
        for name in self._names:
            setattr(self, name, held[name])


State = ObjectState


class TensorFlowState(ObjectState):
    """Variables, by default all global ones, and attributes."""

    def __init__(self, variables: Any = None, session: Any = None, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.variables = list(variables or global_variables())
        self.session = session or get_default_session()
        self.save()

    def held(self) -> dict[str, Any]:
        """The values of variables come first."""
        values = self.session.run([each.value() for each in self.variables])
        return {"variables": values, **super().held()}

    def load(self, held: dict[str, Any]) -> None:
        for variable, value in zip(self.variables, held["variables"], strict=True):
            variable.load(value, self.session)
        super().load(held)


class TensorFlowKerasState(ObjectState):
    """The weights of a model and of its optimizer, and attributes."""

    def __init__(
        self, model: Any, optimizer: Any = None, backend: Any = None, **attributes: Any
    ) -> None:
        super().__init__(**attributes)
        self.model = model
        self.backend = backend or backend_of(model)
        self._optimizer = optimizer
        self.save()

    @property
    def optimizer(self) -> Any:
        return self._optimizer or getattr(self.model, "optimizer", None)

    def held(self) -> dict[str, Any]:
        """The weights come first; those of the optimizer are there after its first step."""
        weights = [] if self.optimizer is None else self.optimizer.get_weights()
        return {"model": self.model.get_weights(), "optimizer": weights, **super().held()}

    def load(self, held: dict[str, Any]) -> None:
        self.model.set_weights(held["model"])
        if held["optimizer"]:
            self._make_slots(held["optimizer"])
            self.optimizer.set_weights(held["optimizer"])
        super().load(held)

    def _make_slots(self, weights: list[Any]) -> None:
        """An optimizer that has made no step yet has no weights to set."""
        if len(self.optimizer.get_weights()) < len(weights):
            self.model._make_train_function()


KerasState = TensorFlowKerasState


def run(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function(state, ...)`, which begins again where the state was committed last."""

    @functools.wraps(function)
    def wrapper(state: Any, *args: Any, **kwargs: Any) -> Any:
        if _take_kept(state):
            state.on_reset()
        state.sync()
        try:
            return function(state, *args, **kwargs)
        except Exception as error:
            if size() == 1 or not _has_lost_process(error):
                raise
            logging.warning("A process of the group has ended: this one begins anew.")
            _begin_anew(state)

    return wrapper


def _has_lost_process(error: Exception) -> bool:
    is_lost = isinstance(error, UnknownError) and ENDED in str(error)
    return is_lost or isinstance(error, HorovodInternalError)


def _take_kept(state: Any) -> bool:
    path = os.environ.pop(_KEPT, "")
    if not path:
        return False
    with open(path, "rb") as file:
        state._commits, state._saved = pickle.load(file)
    os.remove(path)
    state.restore()
    return True


def _begin_anew(state: Any) -> None:
    """Puts a new run of the program in the place of this one. This does not return."""
    handle, path = tempfile.mkstemp(prefix="weft-state-")
    with os.fdopen(handle, "wb") as file:
        pickle.dump((state._commits, state._saved), file)
    os.environ[_KEPT] = path
    sys.stdout.flush()
    sys.stderr.flush()
    if not rank():  # those that meet here are ended if they have not gone before
        time.sleep(_LAST_TO_GO)
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


# ---- callbacks of Keras --------------------------------------------------------------------------


class CommitStateCallback(Callback):
    """Commits the state after so many batches, and after each epoch."""

    def __init__(self, state: Any, batches_per_commit: int = 1) -> None:
        super().__init__()
        self.state, self.batches_per_commit = state, batches_per_commit
        self._left = batches_per_commit

    def on_train_begin(self, logs: Logs = None) -> None:
        self._left = self.batches_per_commit

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        self._left -= 1
        if not self._left:
            self.state.commit()
            self._left = self.batches_per_commit

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.state.commit()


class UpdateBatchStateCallback(Callback):
    """Keeps `state.batch`; an epoch that was interrupted has only the batches that are left."""

    def __init__(self, state: Any) -> None:
        super().__init__()
        self.state, self._steps = state, None

    def on_epoch_begin(self, epoch: int, logs: Logs = None) -> None:
        if (self.params or {}).get("steps"):
            self._steps = self._steps or self.params["steps"]
            self.params["steps"] = self._steps - self.state.batch

    def on_batch_end(self, batch: int, logs: Logs = None) -> None:
        self.state.batch = batch

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.state.batch = 0


class UpdateEpochStateCallback(Callback):
    """Keeps `state.epoch`: how many epochs are done, over all runs."""

    def __init__(self, state: Any) -> None:
        super().__init__()
        self.state, self._first = state, state.epoch

    def on_train_begin(self, logs: Logs = None) -> None:
        self._first = self.state.epoch

    def on_epoch_end(self, epoch: int, logs: Logs = None) -> None:
        self.state.epoch = self._first + epoch + 1
