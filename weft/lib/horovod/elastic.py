"""`hvd.elastic`: training that goes on when processes come and go.

A process that has ended is noticed by the others in the middle of a step; of those that come, or
have to go, the keeper of the group tells when the state is committed. Each process then keeps
the state it has committed in a file, and begins its program anew, so that all meet again: nothing
is left of the group that was. The state comes from the process with the newest one, and the step
is done again. XLA cannot do it in one process: it does not let go of a group before all agree.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from weft.core.errors import UnknownError
from weft.core.meeting import CHANGED, LOST, MEETING, STATE, begin_anew
from weft.graph.stacks import get_default_session
from weft.lib.horovod.basics import rank, size
from weft.lib.horovod.objects import broadcast_object, gather_numbers
from weft.lib.horovod.which_keras import backend_of
from weft.lib.keras.callbacks.base import Callback
from weft.lib.platform import tf_logging as logging
from weft.ops.kit.process_group import ENDED
from weft.ops.state.variable_lists import global_variables

_LAST_TO_GO = 0.5  # seconds; less than a program takes to begin
# A step finds out by itself that another process has ended, unless it waits where it cannot.
_PATIENCE_SECONDS = 5.0

Logs = dict[str, Any] | None


class HorovodInternalError(RuntimeError):
    """Raised by a program itself, this means that the group has to meet again."""


class HostsUpdatedInterrupt(RuntimeError):
    """Processes want to join the group, or have to leave it: it meets again."""


class ObjectState:
    """The attributes that training goes on from: `ObjectState(epoch=0, batch=0)`."""

    def __init__(self, **attributes: Any) -> None:
        self._names = tuple(attributes)
        self._callbacks: list[Callable[[], Any]] = []
        self.__dict__.update(attributes)
        # How often it was saved, and what was: one value, since another thread may write it down.
        self._kept: tuple[int, dict[str, Any]] = 0, {}

    def register_reset_callbacks(self, callbacks: Sequence[Callable[[], Any]]) -> None:
        """Functions that are called when the group has met again."""
        self._callbacks.extend(callbacks)

    def on_reset(self) -> None:
        for callback in self._callbacks:
            callback()

    def commit(self) -> None:
        """Keeps the state as it is now: training goes on from here."""
        self.save()
        self.check_host_updates()

    def check_host_updates(self) -> None:
        """Raises `HostsUpdatedInterrupt` if processes wait to join, or have to leave."""
        if MEETING.has_heard(LOST, CHANGED):
            raise HostsUpdatedInterrupt

    def save(self) -> None:
        """Keeps the state as it is now, in this process."""
        self._kept = self._kept[0] + 1, self.held()

    def restore(self) -> None:
        """Goes back to what was kept."""
        self.load(self._kept[1])

    def sync(self) -> None:
        """All processes get the state of the one that has kept it most often."""
        counts = gather_numbers([self._kept[0]])[:, 0]
        root = int(counts.argmax())
        self._kept = int(counts[root]), broadcast_object(self.held(), root)
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
        with MEETING.watched(lambda: _begin_anew(state), _PATIENCE_SECONDS):
            try:
                state.sync()
                _forget_kept()
                return function(state, *args, **kwargs)
            except Exception as error:
                if not _must_meet_again(error):
                    raise
                logging.warning("The group of processes meets again: this one begins anew.")
                if isinstance(error, HostsUpdatedInterrupt):
                    state.save()  # it was not in a step, so this is a state that all have
                _begin_anew(state)

    return wrapper


def _must_meet_again(error: Exception) -> bool:
    if isinstance(error, HostsUpdatedInterrupt):
        return True
    is_lost = isinstance(error, UnknownError) and ENDED in str(error)
    can_meet = size() > 1 or MEETING.is_kept()
    return can_meet and (is_lost or isinstance(error, HorovodInternalError))


def _take_kept(state: Any) -> bool:
    """Gives the state what a run before this one has committed, if there was one."""
    path = os.environ.get(STATE, "")
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        state._kept = pickle.load(file)
    state.restore()
    return True


def _forget_kept() -> None:
    """What was kept is not needed once all processes have it."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(os.environ.get(STATE, ""))


def _begin_anew(state: Any) -> None:
    """Keeps what was committed for a new run in the place of this one. This does not return."""
    if state._kept[0]:
        _keep(state._kept)
    if not rank() and not MEETING.is_kept():  # those that meet here are ended if they stay
        time.sleep(_LAST_TO_GO)
    begin_anew()


def _keep(kept: tuple[int, dict[str, Any]]) -> None:
    folder = os.path.dirname(os.environ.get(STATE, "")) or None
    handle, path = tempfile.mkstemp(prefix="weft-state-", dir=folder)
    with os.fdopen(handle, "wb") as file:
        pickle.dump(kept, file)
    os.replace(path, os.environ.setdefault(STATE, path))


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
