"""The tasks of a step, and what every iteration of it starts from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core.deferred import Deferred
from weft.ops.devices.transfer import key
from weft.passes.client_graph import Node

# An input of a task: the task, and which of its inputs.
Place = tuple["Task", int]


class Task:
    """A node, or a unit of several, as the executor sees it.

    `outs[i]` lists (task, input position) fed by output i; `control_outs` lists tasks that wait for
    it. `run(values)` fills the task's slots and may return a `Deferred`. `reads` are slots whose
    values are let go after their last reader. `arrive` is what becomes of a value that it receives.
    """

    __slots__ = (
        "arrive", "control_outs", "data_inputs", "followers", "in_slots", "index", "is_quick",
        "kind", "name", "node", "out_slots", "outs", "reads", "run", "transfer_key", "users",
    )  # fmt: skip

    def __init__(self, index: int, kind: str, node: Node | None, name: str) -> None:
        self.index, self.kind, self.node, self.name = index, kind, node, name
        self.run: Callable[[list[Any]], Deferred | None] = lambda values: None
        self.in_slots: tuple[int, ...] = ()
        self.out_slots: tuple[int, ...] = ()
        self.outs: list[list[Place]] = []
        self.control_outs: list[Task] = []
        self.data_inputs = 0
        self.reads: tuple[int, ...] = ()
        self.arrive: Callable[[Any], Any] = to_host
        self.transfer_key = ""
        if node is not None and node.definition.transfer is not None:
            self.kind, self.transfer_key = node.definition.transfer, key(node.attrs)
        # All that wait for it, once for each edge.
        self.followers: tuple[Task, ...] = ()
        # For each slot that it fills, its users: tasks, and merges with the position there.
        self.users: list[tuple[int, tuple[Task, ...], tuple[Place, ...]]] = []
        # Whether it takes so little time that it need not wait for its turn.
        self.is_quick = self.kind in ("switch", "merge", "loop_cond")

    def settle_users(self) -> None:
        """Sorts the users of each output into tasks and merges, which do not wait for all."""
        data = [user for edges in self.outs for user, _ in edges]
        self.followers = (*data, *self.control_outs)
        self.users = []
        for slot, edges in zip(self.out_slots, self.outs, strict=True):
            plain = tuple(user for user, _ in edges if user.kind != "merge")
            merges = tuple(edge for edge in edges if edge[0].kind == "merge")
            self.users.append((slot, plain, merges))


class TaskGraph:
    """Tasks of a plan and the counts every iteration starts from.

    `has_tokens`: there are tasks for control flow, which pass values on as tokens.
    `settled_merges`: merges with an input that is there from the start, and its position. `enters`:
    how many Enter tasks each frame has. `readers`: how many tasks read each slot that is let go.
    """

    def __init__(
        self, tasks: list[Task], template: list[Any], settled_merges: list[Place] | None = None
    ) -> None:
        self.tasks, self.template = tasks, template
        self.settled_merges = settled_merges or []
        self.has_tokens = any(task.kind not in ("plain", "send", "recv") for task in tasks)
        self.pending = [0] * len(tasks)
        self._count_inputs()
        for task in tasks:
            if task.kind == "merge":
                # It waits for its control inputs, and for one live or all dead data inputs.
                self.pending[task.index] -= task.data_inputs
        self.roots = [t for t in tasks if t.kind != "merge" and not self.pending[t.index]]
        for task in tasks:
            task.settle_users()
        self.enters = self._count_enters()
        self.readers: dict[int, int] = {}

    def _count_inputs(self) -> None:
        for task in self.tasks:
            for user, _ in (edge for edges in task.outs for edge in edges):
                self.pending[user.index] += 1
                user.data_inputs += 1
            for user in task.control_outs:
                self.pending[user.index] += 1

    def _count_enters(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for task in self.tasks:
            if task.kind == "enter":
                assert task.node is not None
                name = task.node.attrs["frame_name"]
                counts[name] = counts.get(name, 0) + 1
        return counts

    def release(self, reads: list[set[int]], kept: set[int]) -> None:
        """Lets go of values after their last reader; `reads` are the slots that each task reads."""
        for task, slots in zip(self.tasks, reads, strict=True):
            task.reads = tuple(sorted(slots - kept))
            for slot in task.reads:
                self.readers[slot] = self.readers.get(slot, 0) + 1


def to_host(value: Any) -> Any:
    """A value that arrived from another device, as nodes on the host take it."""
    return np.asarray(value) if hasattr(value, "block_until_ready") else value
