"""Writing a checkpoint while training goes on.

A variable's value is never changed in place, so the arrays of one moment can be held while later
steps make new ones. They are taken at once; a thread then runs the save with them fed in.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.graph.graph import Tensor
from weft.graph.operation import Operation
from weft.runtime.resources import Variable

_SAVES = {"SaveV2": 3, "SaveSlices": 3, "Save": 2}


class BackgroundSave:
    """A save under way in a thread of its own. The process does not end before it has."""

    def __init__(
        self, sess: Any, save_tensor_name: str, write: Callable[[dict[Any, Any]], str]
    ) -> None:
        save = sess.graph.as_graph_element(save_tensor_name)
        values = snapshot(sess, saved_tensors(save.op))
        self._path, self._error = "", None
        self._thread = threading.Thread(
            target=self._run, args=(write, values), name="checkpoint writer"
        )
        self._thread.start()

    def _run(self, write: Callable[[dict[Any, Any]], str], values: dict[Any, Any]) -> None:
        try:
            self._path = write(values)
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


def snapshot(sess: Any, tensors: list[Tensor]) -> dict[Tensor, np.ndarray]:
    """The values of `tensors` at one moment, as arrays that no step changes and nobody copied."""
    runner = sess._runner
    plan = runner.make_plan(tensors, (), ())
    with runner.store.lock:
        values = plan.run((), None, runner.running)
        return {
            tensor: value.read() if isinstance(value, Variable) else np.asarray(value)
            for tensor, value in zip(tensors, values, strict=True)
        }
