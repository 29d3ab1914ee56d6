"""The values of one moment, and writing them to a checkpoint while training goes on.

A variable's value is never changed in place, so the arrays of one moment can be held while later
steps make new ones. They are taken at once, under the lock that orders steps; the save is then run
with them fed in, if need be in a thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np

from weft.client.feeds import fits
from weft.core.errors import FailedPreconditionError
from weft.graph.graph import Tensor
from weft.graph.operation import Operation
from weft.runtime.continuation import StepContext
from weft.runtime.resources import Variable

_SAVES = {"SaveV2": 3, "SaveSlices": 3, "Save": 2}


class BackgroundSave:
    """A save under way in a thread of its own. The process does not end before it has."""

    def __init__(self, write: Callable[[], str]) -> None:
        self._write, self._path = write, ""
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="checkpoint writer")
        self._thread.start()

    def _run(self) -> None:
        try:
            self._path = self._write()
        except BaseException as error:
            self._error = error

    def wait(self) -> str:
        """Waits for the end; returns the checkpoint's prefix, or raises what went wrong."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._path


def saved_tensors(op: Operation) -> list[Tensor]:
    """The tensors that the operations before `op` save."""
    found: dict[Tensor, None] = {}
    seen = {op}
    waiting = [op]
    while waiting:
        current = waiting.pop()
        if current.type in _SAVES:
            found |= dict.fromkeys(current.inputs[_SAVES[current.type] :])
            continue
        before = {*(tensor.op for tensor in current.inputs), *current.control_inputs} - seen
        seen |= before
        waiting += before
    return list(found)


def _source(tensor: Tensor) -> Tensor:
    """The handle of the variable that `tensor` reads, or else `tensor`: a read may be a copy."""
    op = tensor.op
    while op.definition.is_identity and not op.control_inputs:
        op = op.inputs[0].op
    reads = op.definition.reads_variable and not op.control_inputs
    return op.inputs[0] if reads else tensor


def snapshot(sess: Any, save_tensor_name: str) -> dict[Tensor, np.ndarray]:
    """The values that a save is to write, as of this moment: arrays no step changes, not copies.

    Empty when some variable has no value: the save itself then says which; and when variables are
    in other processes, which write them. What a table gives in another shape than it says cannot
    be fed, and is read by the save.
    """
    if not hasattr(sess._runner, "store"):
        return {}
    tensors = saved_tensors(sess.graph.as_graph_element(save_tensor_name).op)
    runner = sess._runner
    sources = [_source(tensor) for tensor in tensors]
    plan = runner._plan(sources, (), (), ("snapshot", save_tensor_name))
    try:
        with ExitStack() as locks:
            if len(runner.stores) == 1:  # or else other threads may have to run a part of it
                locks.enter_context(runner.store.lock)
            values = plan.run((), StepContext(running=runner.running))
            for store in runner.stores.values():
                locks.enter_context(store.lock)
            arrays = [v.read() if isinstance(v, Variable) else np.asarray(v) for v in values]
    except FailedPreconditionError:
        return {}
    found = dict(zip(tensors, arrays, strict=True))
    odd = {
        tensor.op
        for tensor, array in found.items()
        if tensor.dims is not None and not fits(tensor.dims, array.shape)
    }
    return {tensor: array for tensor, array in found.items() if tensor.op not in odd}
