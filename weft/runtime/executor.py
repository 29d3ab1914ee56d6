"""The dataflow executor: runs a graph with loops, branches and waiting operations.

A task runs when its inputs are there. Values carry tags (frame, iteration); an output that was
decided against is dead, and deadness spreads to whatever needs it until a Merge takes a live input.
An operation that must wait hands back a `Deferred` and holds no thread.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors
from weft.core.deferred import Deferred
from weft.ops.transfer import key
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.runtime.frames import DEAD, Frame, Iteration
from weft.runtime.interpret import HostNode, Observer, located, run_one
from weft.runtime.rendezvous import Rendezvous
from weft.runtime.resources import ResourceStore
from weft.runtime.running import RunningSteps

# So deep may tasks that take no time follow from one another before they wait for their turn.
_DEPTH = 40


class Task:
    """A node, or a unit of several, as the executor sees it.

    `outs[i]` lists (task, input position) fed by output i; `control_outs` lists tasks that wait for
    it. `run(values)` fills the task's slots and may return a `Deferred`.
    """

    __slots__ = (
        "arrive", "control_outs", "data_inputs", "in_slots", "index", "is_quick", "kind", "name",
        "node", "out_slots", "outs", "reads", "run", "transfer_key", "users",
    )  # fmt: skip

    def __init__(self, index: int, kind: str, node: Node | None, name: str) -> None:
        self.index, self.kind, self.node, self.name = index, kind, node, name
        self.run: Callable[[list[Any]], Deferred | None] = lambda values: None
        self.in_slots: tuple[int, ...] = ()
        self.out_slots: tuple[int, ...] = ()
        self.outs: list[list[tuple[Task, int]]] = []
        self.control_outs: list[Task] = []
        self.data_inputs = 0
        self.reads: tuple[int, ...] = ()
        self.arrive: Callable[[Any], Any] = to_host
        self.transfer_key = ""
        if node is not None and node.definition.transfer is not None:
            self.kind, self.transfer_key = node.definition.transfer, key(node.attrs)
        # For each slot that it fills, who waits for it: tasks, and merges with the position there.
        self.users: list[tuple[int, tuple[Task, ...], tuple[tuple[Task, int], ...]]] = []
        # Whether it takes so little time that it need not wait for its turn.
        self.is_quick = self.kind in ("switch", "merge", "loop_cond")


class TaskGraph:
    """Tasks of a plan and the counts every iteration starts from."""

    def __init__(self, tasks: list[Task], template: list[Any]) -> None:
        self.tasks, self.template = tasks, template
        self.pending = [0] * len(tasks)
        for task in tasks:
            for edges in task.outs:
                for user, _ in edges:
                    self.pending[user.index] += 1
                    user.data_inputs += 1
            for user in task.control_outs:
                self.pending[user.index] += 1
        # A merge waits for its control inputs and for one live (or all dead) data inputs.
        self.merges = {t.index for t in tasks if t.kind == "merge"}
        for index in self.merges:
            self.pending[index] -= tasks[index].data_inputs
        self.roots = [t for t in tasks if not self.pending[t.index] and t.index not in self.merges]
        for task in tasks:
            task.users = [
                (slot, *_apart(edges))
                for slot, edges in zip(task.out_slots, task.outs, strict=True)
            ]
        # Merges with an input that is there from the start, and its position.
        self.settled_merges: list[tuple[Task, int]] = []
        self.enters: dict[str, int] = {}
        for task in tasks:
            if task.kind == "enter":
                assert task.node is not None
                name = task.node.attrs["frame_name"]
                self.enters[name] = self.enters.get(name, 0) + 1
        self.readers: dict[int, int] = {}
        # Called with the values of the step after every task, by those who want to look.
        self.watch: Callable[[list[Any]], None] | None = None

    def release(self, reads: list[set[int]], kept: set[int]) -> None:
        """Lets go of values after their last reader; `reads` are the slots that each task reads."""
        for task, slots in zip(self.tasks, reads, strict=True):
            task.reads = tuple(sorted(slots - kept))
            for slot in task.reads:
                self.readers[slot] = self.readers.get(slot, 0) + 1


def _apart(edges: list[tuple[Task, int]]) -> tuple[tuple[Task, ...], tuple[tuple[Task, int], ...]]:
    """Users that wait for all their inputs, and merges, which do not."""
    plain = tuple(user for user, _ in edges if user.kind != "merge")
    return plain, tuple(edge for edge in edges if edge[0].kind == "merge")


def build_tasks(
    graph: ClientGraph, items: dict[Node, HostNode], slots: dict[Edge, int], settled: set[Node],
    template: list[Any], store: ResourceStore,
) -> TaskGraph:  # fmt: skip
    """One task per node: the general form, for graphs whose control flow has no structure."""
    check_frames(graph, settled)
    tasks: dict[Node, Task] = {}
    for node in graph.nodes:
        if node in settled:
            continue
        task = Task(len(tasks), node.definition.control_flow or "plain", node, node.name)
        task.in_slots = tuple(slots[edge] for edge in node.inputs)
        task.out_slots = tuple(slots[node, i] for i in range(len(node.dtypes)))
        task.outs = [[] for _ in node.dtypes]
        if task.kind == "plain":
            task.run = node_runner(items[node], store)
        tasks[node] = task
    settled_merges = []
    for node, task in tasks.items():
        for position, (source, i) in enumerate(node.inputs):
            if source in tasks:
                tasks[source].outs[i].append((task, position))
            elif task.kind == "merge":
                settled_merges.append((task, position))
        for control in node.controls:
            if control in tasks:
                tasks[control].control_outs.append(task)
    task_graph = TaskGraph(list(tasks.values()), template)
    task_graph.settled_merges = settled_merges
    return task_graph


def unit_tasks(
    graph: ClientGraph, units: list[tuple[Any, Any]], items: dict[Node, HostNode],
    slots: dict[Edge, int], template: list[Any],
) -> TaskGraph:  # fmt: skip
    """One task per unit: those of the layout, each with what runs it."""
    home: dict[Node, Task] = {}
    tasks: list[Task] = []
    for layout, unit in units:
        node = layout.nodes[0] if len(layout.nodes) == 1 and not layout.is_region else None
        kind = "plain" if node is None else node.definition.control_flow or "plain"
        task = Task(
            len(tasks), kind, node, node.name if node is not None else f"piece {len(tasks)}"
        )
        if node is not None:
            task.in_slots, task.out_slots = items[node].ins, items[node].outs
        task.run = unit.run
        if node is not None and node.definition.blocking:
            task.run = node_runner(items[node], unit.store)
        tasks.append(task)
        home.update(dict.fromkeys(layout.nodes, task))
    check_frames(graph, {n for n in graph.nodes if n not in home})
    links = _Links(home, slots, set(graph.fetches))
    for layout, _ in units:
        links.add(layout.nodes)
    for task in tasks:
        task.outs += [[] for _ in task.out_slots[len(task.outs) :]]
    task_graph = TaskGraph(tasks, template)
    task_graph.settled_merges = links.settled_merges
    return task_graph


class _Links:
    """Tells each task who waits for it."""

    def __init__(self, home: dict[Node, Task], slots: dict[Edge, int], fetched: set[Edge]) -> None:
        self.home, self.slots = home, slots
        self.seen: set[tuple[Any, Task]] = set()
        self.settled_merges: list[tuple[Task, int]] = []
        for node, i in fetched:
            if node in home:
                self._out(home[node], slots[node, i])

    def add(self, nodes: list[Node]) -> None:
        task = self.home[nodes[0]]
        for node in nodes:
            for position, edge in enumerate(node.inputs):
                self._data(edge, task, position)
            for control in node.controls:
                source = self.home.get(control)
                if source is not None and source is not task and self._is_new(source, task):
                    source.control_outs.append(task)

    def _data(self, edge: Edge, task: Task, position: int) -> None:
        source = self.home.get(edge[0])
        if source is None:
            if task.kind == "merge":
                self.settled_merges.append((task, position))
        elif source is not task:
            users = self._out(source, self.slots[edge])
            # All that a plain task makes is there, or dead, at once: one word of it will do.
            what = source if source.kind == "plain" and task.kind != "merge" else edge
            if task.kind == "merge" or self._is_new(what, task):
                users.append((task, position))

    def _is_new(self, what: Any, task: Task) -> bool:
        new = (what, task) not in self.seen
        self.seen.add((what, task))
        return new

    @staticmethod
    def _out(source: Task, slot: int) -> list[tuple[Task, int]]:
        """Who waits for a slot of a task."""
        if slot not in source.out_slots:
            source.out_slots = (*source.out_slots, slot)
        source.outs += [[] for _ in source.out_slots[len(source.outs) :]]
        return source.outs[source.out_slots.index(slot)]


def check_frames(graph: ClientGraph, settled: set[Node]) -> None:
    """A node whose inputs come from different loops would never run: that is an error."""
    frame: dict[Node, str] = {}  # where the outputs of a node are; nodes that may be anywhere: none
    outer: dict[str, str] = {}
    for node in graph.nodes:
        sources = dict.fromkeys([n for n, _ in node.inputs] + node.controls)
        known = [n for n in sources if n in frame]
        for other in known[1:]:
            if frame[other] != frame[known[0]]:
                raise errors.InvalidArgumentError(
                    None, node.op,
                    f"{node.name} has inputs from different frames. The input {known[0].name} is in"
                    f" frame '{frame[known[0]]}'. The input {other.name} is in frame"
                    f" '{frame[other]}'.",
                )  # fmt: skip
        kind = node.definition.control_flow
        if kind == "enter":
            frame[node] = node.attrs["frame_name"]
            if known:
                outer[frame[node]] = frame[known[0]]
        elif kind == "exit" and known:
            if frame[known[0]] in outer:
                frame[node] = outer[frame[known[0]]]
        elif known:
            frame[node] = frame[known[0]]
        elif node not in settled:
            frame[node] = ""


def node_runner(item: HostNode, store: ResourceStore) -> Callable[[list[Any]], Deferred | None]:
    def run(values: list[Any]) -> Deferred | None:
        with np.errstate(all="ignore"):
            outputs = run_one(item, [values[i] for i in item.ins], store)
        if isinstance(outputs, Deferred):
            return outputs
        if len(outputs) == 1 and isinstance(outputs[0], Deferred):
            return outputs[0]
        for slot, value in zip(item.outs, outputs, strict=True):
            values[slot] = value
        return None

    return run


class Executor:
    """One step over a `TaskGraph`, on the calling thread; deferred results reach it by queue."""

    def __init__(
        self,
        graph: TaskGraph,
        feeds: list[tuple[int, Any]],
        deadline: float | None = None,
        running: RunningSteps | None = None,
        observe: Observer | None = None,
        rendezvous: Rendezvous | None = None,
    ) -> None:
        self.graph, self.deadline, self.running = graph, deadline, running
        self.observe, self.rendezvous = observe, rendezvous
        self.starts: dict[tuple[Task, Iteration], float] = {}
        self.ready: deque[tuple[Task, Frame, Iteration, bool]] = deque()
        self.arrived: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.waiting: dict[int, tuple[Deferred, Task]] = {}
        self.ends: list[Callable[[], None]] = []
        self.stopped = False
        self.depth = 0
        self.frames: dict[Any, Frame] = {}
        self.root = Frame("", None, None, 0, 0, 1)
        self.first = self._new_iteration(self.root)
        self.readers = graph.readers.copy()
        for slot, value in feeds:
            self.first.values[slot] = value

    def run(self) -> list[Any]:
        """Runs the step; returns the slots of the root frame."""

        def start() -> None:
            for merge, position in self.graph.settled_merges:
                if self.first.alive.setdefault(merge.index, position) == position:
                    self._merge_ready(merge, self.root, self.first)
            for task in self.graph.roots:
                self._push(task, self.root, self.first, False)

        return self._run(start)

    def resume(self, values: list[Any], done: int, deferred: Deferred) -> list[Any]:
        """Goes on with a step whose first `done` tasks have run and whose next one waits."""
        self.first.values, tasks = values, self.graph.tasks

        def start() -> None:
            for task in tasks[:done]:
                self.first.outstanding += 1
                self._finish(task, self.root, self.first, False)
            self.ready.clear()
            self.first.outstanding = 1
            self._defer(deferred, tasks[done], self.root, self.first)
            for task in tasks[done + 1 :]:
                if not self.first.pending[task.index]:
                    self._push(task, self.root, self.first, False)

        return self._run(start)

    def _run(self, start: Callable[[], None]) -> list[Any]:
        if self.running is not None:
            self.running.add(self)
        try:
            start()
            while self.ready or self.waiting:
                if self.ready and not self.stopped:
                    self._step(*self.ready.popleft())
                    if self.deadline is not None and time.monotonic() >= self.deadline:
                        raise self._too_late()
                else:
                    self._wait()
            if self.rendezvous is not None:
                self.rendezvous.flush()
        except BaseException:
            for deferred, _ in self.waiting.values():
                deferred.cancel()
            raise
        finally:
            self.waiting.clear()
            if self.running is not None:
                self.running.remove(self)
            for end in self.ends:
                end()
        return self.first.values

    def abort(self, error: errors.OpError) -> None:
        """Ends the step with `error`, from any thread; what it waits for is withdrawn."""
        self.stopped = True
        self.arrived.put(error)

    # ---- running one task ----

    def _push(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        if dead:
            if task.kind == "exit":
                # An exit is dead in every iteration but the last; the frame's end decides.
                frame.dead_exits.add(task.index)
                return
            # A trigger only gathers control edges, whichever branch they come from.
            dead = task.kind != "trigger"
        iteration.outstanding += 1
        if (dead or task.is_quick) and self.depth < _DEPTH:
            self.depth += 1
            self._step(task, frame, iteration, dead)
            self.depth -= 1
        else:
            self.ready.append((task, frame, iteration, dead))

    def _step(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        values = iteration.values
        kind = task.kind
        if kind == "send":
            self._send(task, frame, iteration, dead)
            return
        if dead:
            self._finish(task, frame, iteration, True)
            return
        if kind == "plain":
            if self.rendezvous is not None:
                self.rendezvous.flush()
            if self.observe is not None:
                self.starts[task, iteration] = time.perf_counter()
            try:
                deferred = task.run(values)
            except Exception as error:
                raise self._failed(error, task, frame, iteration) from error
            if deferred is not None:
                self._defer(deferred, task, frame, iteration)
                return
        elif kind == "recv":
            self._recv(task, frame, iteration)
            return
        elif kind == "switch":
            data, pred = task.in_slots
            taken = 1 if _read(values[pred]) else 0
            values[task.out_slots[taken]] = values[data]
            values[task.out_slots[1 - taken]] = DEAD
        elif kind == "merge":
            position = iteration.alive[task.index]
            values[task.out_slots[0]] = _merged(task.node, values[task.in_slots[position]])
            values[task.out_slots[1]] = np.array(position, np.int32)
        elif task.out_slots:
            values[task.out_slots[0]] = values[task.in_slots[0]]
        self._finish(task, frame, iteration, False)

    def _send(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        """Sends also what is dead, so that whoever waits for it knows."""
        assert self.rendezvous is not None
        value = DEAD if dead else _read(iteration.values[task.in_slots[0]])
        if self.observe is not None:
            self.starts[task, iteration] = time.perf_counter()
        self.rendezvous.send(f"{task.transfer_key};{frame.tag(iteration)}", value)
        self._finish(task, frame, iteration, dead)

    def _recv(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        assert self.rendezvous is not None
        if self.observe is not None:
            self.starts[task, iteration] = time.perf_counter()
        found = self.rendezvous.recv(f"{task.transfer_key};{frame.tag(iteration)}")
        if isinstance(found, Deferred):
            self._defer(found, task, frame, iteration)
            return
        self._received(found[0], task, frame, iteration)

    def _received(self, value: Any, task: Task, frame: Frame, iteration: Iteration) -> None:
        dead = value is DEAD
        iteration.values[task.out_slots[0]] = value if dead else task.arrive(value)
        self._finish(task, frame, iteration, dead)

    def _failed(
        self, error: Exception, task: Task, frame: Frame, iteration: Iteration
    ) -> Exception:
        where = frame.describe(iteration)
        if task.node is None or (isinstance(error, errors.OpError) and error.op is not None):
            if where and isinstance(error, errors.OpError):
                error._message += where  # whoever ran it has said which node it was
            return error
        if where and isinstance(error, errors.OpError) and error.op is None:
            error = type(error)(None, None, error.message + where)  # type: ignore[call-arg]
        elif where and not isinstance(error, errors.OpError):
            error = type(error)(f"{error}{where}")
        return located(error, task.node)

    def _defer(self, deferred: Deferred, task: Task, frame: Frame, iteration: Iteration) -> None:
        self.waiting[id(deferred)] = deferred, task
        if deferred.at_end is not None:
            self.ends.append(deferred.at_end)
        arrived = self.arrived

        def sink(outputs: Any, error: BaseException | None) -> None:
            arrived.put((deferred, task, frame, iteration, outputs, error))

        deferred.deliver_to(sink)

    def _wait(self) -> None:
        """Takes the next result that arrives, and fails when the deadline comes first."""
        if self.rendezvous is not None:
            self.rendezvous.flush()
        event = self._next_event()
        if isinstance(event, errors.OpError):
            event = self._first_withdrawn(event)
        deferred, task, frame, iteration, outputs, error = event
        del self.waiting[id(deferred)]
        try:
            if error is not None:
                raise error
            if deferred.then is not None:
                outputs = deferred.then(outputs)
        except Exception as problem:
            raise self._failed(problem, task, frame, iteration) from problem
        if isinstance(outputs, Deferred):
            self._defer(outputs, task, frame, iteration)
            return
        if task.kind == "recv":
            self._received(outputs[0], task, frame, iteration)
            return
        for slot, value in zip(task.out_slots, outputs, strict=True):
            iteration.values[slot] = value
        self._finish(task, frame, iteration, False)

    def _next_event(self) -> Any:
        if self.deadline is None:
            return self.arrived.get()
        try:
            return self.arrived.get(timeout=max(0.0, self.deadline - time.monotonic()))
        except queue.Empty:
            raise self._too_late() from None

    def _too_late(self) -> errors.OpError:
        names = ", ".join(sorted(task.name for _, task in self.waiting.values()))
        message = "Timed out waiting for notification" + (f": {names}" if names else "")
        return errors.DeadlineExceededError(None, None, message)

    def _first_withdrawn(self, error: errors.OpError) -> Any:
        """Withdraws whatever the step waits for; the first that says so by failing is the event."""
        for deferred, _ in list(self.waiting.values()):
            deferred.cancel()
        while not self.arrived.empty():
            event = self.arrived.get()
            if isinstance(event, tuple) and event[-1] is not None:
                return event
        raise error

    def _observe(self, task: Task, iteration: Iteration) -> None:
        assert self.observe is not None
        start, values = self.starts.pop((task, iteration)), iteration.values
        if task.node is not None:
            inputs = [values[i] for i in task.in_slots]
            outputs = [values[i] for i in task.out_slots]
            self.observe(task.node, inputs, outputs, start, time.perf_counter())

    # ---- passing results on ----

    def _finish(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        kind = task.kind
        if kind == "enter":
            self._enter(task, frame, iteration, dead)
        elif kind == "exit":
            self._exit(task, frame, iteration, dead)
        elif kind == "next_iteration":
            if not dead:
                self._next(task, frame, iteration)
        else:
            if self.observe is not None and kind in ("plain", "send", "recv") and not dead:
                self._observe(task, iteration)
            self._activate(task, frame, iteration, dead)
            if self.graph.watch is not None:
                self.graph.watch(iteration.values)
            for slot in task.reads:
                self.readers[slot] -= 1
                if not self.readers[slot]:
                    iteration.values[slot] = None
        iteration.outstanding -= 1
        if not iteration.outstanding:
            self._tidy(frame, iteration)

    def _activate(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        """Tells the users of `task` in `iteration` that its outputs are there."""
        pending, values, doomed = iteration.pending, iteration.values, iteration.dead
        if dead:
            for slot in task.out_slots:
                values[slot] = DEAD
        for slot, users, merges in task.users:
            gone = values[slot] is DEAD
            for user in users:
                index = user.index
                if gone:
                    doomed[index] = 1
                pending[index] -= 1
                if not pending[index]:
                    self._push(user, frame, iteration, index in doomed)
            for merge, position in merges:
                self._merge_input(merge, position, task, frame, iteration, gone)
        for user in task.control_outs:
            index = user.index
            pending[index] -= 1
            if user.kind == "merge":
                self._merge_ready(user, frame, iteration)
                continue
            if dead:
                doomed[index] = 1
            if not pending[index]:
                self._push(user, frame, iteration, index in doomed)

    def _merge_input(
        self,
        merge: Task,
        position: int,
        source: Task,
        frame: Frame,
        iteration: Iteration,
        dead: bool,
    ) -> None:
        if not dead:
            if merge.index not in iteration.alive:
                iteration.alive[merge.index] = position
                self._merge_ready(merge, frame, iteration)
            return
        count = iteration.dead.get(merge.index, 0) + 1
        # A loop on an untaken branch never gets a next iteration: a dead Enter settles its merge.
        iteration.dead[merge.index] = merge.data_inputs if source.kind == "enter" else count
        self._merge_ready(merge, frame, iteration)

    def _merge_ready(self, merge: Task, frame: Frame, iteration: Iteration) -> None:
        """Starts a merge that has its controls and either a live input or only dead ones."""
        if iteration.pending[merge.index]:
            return
        if merge.index in iteration.alive:
            iteration.pending[merge.index] = -1  # it fires once
            self._push(merge, frame, iteration, False)
        elif iteration.dead.get(merge.index, 0) >= merge.data_inputs:
            iteration.pending[merge.index] = -1
            self._push(merge, frame, iteration, True)

    # ---- frames ----

    def _new_iteration(self, frame: Frame) -> Iteration:
        frame.last += 1
        iteration = Iteration(frame.last, self.graph.pending.copy(), self.graph.template.copy())
        frame.iterations[frame.last] = iteration
        return iteration

    def _enter(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        assert task.node is not None
        name = task.node.attrs["frame_name"]
        key = frame.key, iteration.index, name
        child = self.frames.get(key)
        if child is None:
            limit = task.node.attrs.get("parallel_iterations", 10)
            child = Frame(name, key, frame, iteration.index, self.graph.enters[name], limit)
            self.frames[key] = child
            iteration.child_frames += 1
            self._new_iteration(child)
        value = DEAD if dead else iteration.values[task.in_slots[0]]
        child.waiting_enters -= 1
        reached = [child.iterations[0]]
        if task.node.attrs.get("is_constant"):
            child.invariants.append((task.index, value))
            reached = list(child.iterations.values())
        for inner in reached:
            inner.outstanding += 1  # it is not over before this is delivered
            self._deliver(task, child, inner, value)
            inner.outstanding -= 1
        self._tidy(child, child.iterations.get(0))

    def _deliver(self, task: Task, frame: Frame, iteration: Iteration, value: Any) -> None:
        iteration.values[task.out_slots[0]] = value
        self._activate(task, frame, iteration, value is DEAD)

    def _exit(self, task: Task, frame: Frame, iteration: Iteration, dead: bool) -> None:
        if dead:
            frame.dead_exits.add(task.index)
            return
        assert frame.parent is not None
        outer = frame.parent.iterations[frame.parent_iteration]
        frame.live_exits.add(task.index)
        self._deliver(task, frame.parent, outer, iteration.values[task.in_slots[0]])

    def _next(self, task: Task, frame: Frame, iteration: Iteration) -> None:
        value = iteration.values[task.in_slots[0]]
        following = frame.iterations.get(iteration.index + 1)
        if following is None:
            if len(frame.iterations) >= frame.limit:
                frame.held.append((task.index, value))
                return
            following = self._advance(frame)
        self._deliver(task, frame, following, value)

    def _advance(self, frame: Frame) -> Iteration:
        iteration = self._new_iteration(frame)
        iteration.outstanding += 1  # it is not over before all of this is delivered
        held, frame.held = frame.held, []
        for index, value in [*frame.invariants, *held]:
            self._deliver(self.graph.tasks[index], frame, iteration, value)
        iteration.outstanding -= 1
        return iteration

    def _tidy(self, frame: Frame, iteration: Iteration | None) -> None:
        """Drops iterations that are over, and the frame with the last of them."""
        while (
            iteration is not None and frame is not self.root and frame.iteration_is_done(iteration)
        ):
            del frame.iterations[iteration.index]
            following = iteration.index + 1
            if frame.held:
                self._advance(frame)
            iteration = frame.iterations.get(following)
        if frame is not self.root and frame.is_done() and frame.key in self.frames:
            self._end(frame)

    def _end(self, frame: Frame) -> None:
        assert frame.parent is not None
        del self.frames[frame.key]
        outer = frame.parent.iterations[frame.parent_iteration]
        for index in sorted(frame.dead_exits - frame.live_exits):
            self._deliver(self.graph.tasks[index], frame.parent, outer, DEAD)
        outer.child_frames -= 1
        self._tidy(frame.parent, outer)


def _merged(node: Node | None, value: Any) -> Any:
    """What a merge passes on. One of values, not references, may be given a reference."""
    assert node is not None
    dtype = node.dtypes[0]
    return value if dtype._is_ref_dtype or dtype is dtypes.resource else _read(value)


def to_host(value: Any) -> Any:
    """What arrived from another device, for nodes that run on the host."""
    return np.asarray(value) if hasattr(value, "block_until_ready") else value


def _read(value: Any) -> Any:
    if type(value) in (np.ndarray, np.bool_):
        return value
    return value.read() if hasattr(value, "read") else value
