"""Runs a function once for each replica, in threads that wait for each other at `merge_call`.

Only one of the threads runs at a time: first replica 0 up to its next `merge_call`, then replica 1
up to its, and so on; then the caller's thread runs the function to merge with. So the graph that
is built is always the same.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

from weft.core import dtypes
from weft.graph.convert import constant
from weft.graph.graph import control_dependencies, device, get_default_graph, name_scope
from weft.lib.distribute.replica_context import ReplicaContext
from weft.lib.distribute.values import regroup, select_replica
from weft.ops.kit.replicas import Mode, entered
from weft.ops.state.variable_creators import (
    creators_in_force,
    holding_creators,
    variable_creator_scope,
)
from weft.ops.state.variable_scope import get_variable_scope, variable_scope

# What makes a name unique need not be the same in all replicas.
_UNIQUE_ENDING = re.compile(r"_\d(?=/|$)")


class _Stopped(BaseException):
    """Unwinds the thread of a replica when another one has failed."""


class _Merge:
    """A replica's merge call: a function to call, its arguments, and the scopes it is in."""

    def __init__(self, fn: Any, args: Any, kwargs: Any) -> None:
        graph = get_default_graph()
        self.fn, self.args, self.kwargs = fn, args, kwargs
        self.name_scope = graph.get_name_scope()
        self.variable_scope = get_variable_scope()
        self.controls = graph._current_control_dependencies()


class _Replica(threading.Thread):
    """The thread of one replica. `resume` lets it run until it merges, ends or fails."""

    def __init__(self, number: int, where: str, fn: Callable[[], Any], enter: Any) -> None:
        super().__init__(name=f"replica_{number}", daemon=True)
        self.number, self._where, self._fn, self._enter = number, where, fn, enter
        self._may_run, self._paused = threading.Event(), threading.Event()
        self._stopping = False
        self.merge: _Merge | None = None
        self.merged: Any = None
        self.result: Any = None
        self.error: BaseException | None = None
        self.start()

    def resume(self, merged: Any = None) -> None:
        self.merge, self.merged = None, merged
        self._may_run.set()
        self._paused.wait()
        self._paused.clear()
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        """Ends the thread, wherever it waits."""
        self._stopping = True
        self._may_run.set()
        self.join()

    def run(self) -> None:
        try:
            self._wait()
            with ExitStack() as stack:
                self._enter(stack, self)
                self.result = self._fn()
        except _Stopped:
            pass
        except BaseException as error:
            self.error = error
        finally:
            self._paused.set()

    def _wait(self) -> None:
        self._may_run.wait()
        if self._stopping:  # for good: nothing would wake the thread if it came here once more
            raise _Stopped
        self._may_run.clear()

    def merge_call(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """Called on the thread itself: waits until all replicas are here."""
        self.merge = _Merge(fn, args, kwargs)
        self._paused.set()
        self._wait()
        return self.merged


class _ThreadContext(ReplicaContext):
    """The context of a replica that has a thread."""

    def __init__(self, strategy: Any, number: Any, thread: _Replica) -> None:
        super().__init__(strategy, number)
        self._thread, self._graph = thread, get_default_graph()

    def _merge_call(self, merge_fn: Any, args: Any, kwargs: Any) -> Any:
        if get_default_graph() is not self._graph:
            raise RuntimeError(
                "`merge_call` called while defining a new graph or a tf.function. This can happen"
                " if the function passed to `strategy.experimental_run()` is decorated with"
                " `@tf.function`, or calls one that is, and contains a synchronization point, such"
                " as aggregating gradients. Wrap the entire call of"
                " `strategy.experimental_run(fn)` in a `@tf.function` instead."
            )
        return self._thread.merge_call(merge_fn, args, kwargs)

    @property
    def devices(self) -> tuple[str, ...]:
        return (self._thread._where,)


class _Calls:
    """One call of `call_for_each_replica`: the scopes it was made in, and what replicas share."""

    def __init__(self, strategy: Any, devices: Sequence[str], first_id: int) -> None:
        self._strategy, self._devices, self._first_id = strategy, devices, first_id
        self._graph = get_default_graph()
        self._creators = creators_in_force(self._graph)
        self._variable_scope = get_variable_scope()
        self._names = self._graph.get_name_scope()
        self._context = self._graph._get_control_flow_context()
        self._made: dict[str, list[Any]] = {}

    def enter(self, stack: ExitStack, replica: _Replica) -> None:
        """Opens, on a replica's thread, the scopes of the caller and those of the replica."""
        enter = stack.enter_context
        enter(self._graph.as_default())
        self._graph._set_control_flow_context(self._context)
        enter(holding_creators(self._graph, self._creators))
        number = constant(self._first_id + replica.number, dtype=dtypes.int32)
        enter(_ThreadContext(self._strategy, number, replica))
        enter(device(self._devices[replica.number]))
        enter(name_scope(self._name_scope_of(replica.number)))
        enter(variable_scope(self._variable_scope, reuse=replica.number > 0))
        enter(variable_creator_scope(self._shared_creator(replica.number)))

    def _name_scope_of(self, number: int) -> str | None:
        parts = [self._names] if self._names else []
        if number:
            parts.append(f"replica_{number}")
        return "/".join(parts) + "/" if parts else None

    def _shared_creator(self, number: int) -> Callable[..., Any]:
        """Replica 0 makes variables; the others get those it made of the same name, in order."""
        taken: Counter[str] = Counter()

        def create(next_creator: Callable[..., Any], **kwargs: Any) -> Any:
            name = _UNIQUE_ENDING.sub("", kwargs.get("name") or "Variable")
            made = self._made.setdefault(name, [])
            if number == 0:
                made.append(next_creator(**kwargs))
                return made[-1]
            at = taken[name]
            if at >= len(made):
                raise RuntimeError(
                    f"Tried to create variable {kwargs.get('name')} with mismatching name on device"
                    f" {number}"
                )
            taken[name] += 1
            return made[at]

        return create


def call_for_each_replica(
    strategy: Any,
    devices: Sequence[str],
    fn: Callable[..., Any],
    args: Any,
    kwargs: Any,
    first_id: int = 0,
) -> Any:
    """The results of `fn` in the replicas on `devices`, as one structure."""
    calls = _Calls(strategy, devices, first_id)

    def of(number: int) -> Callable[[], Any]:
        own = select_replica(number, args), select_replica(number, kwargs)
        return lambda: fn(*own[0], **own[1])

    replicas = [_Replica(i, where, of(i), calls.enter) for i, where in enumerate(devices)]
    try:
        merged = [None] * len(replicas)
        while True:
            for replica, value in zip(replicas, merged, strict=True):
                replica.resume(value)
            merges = [replica.merge for replica in replicas]
            if all(merge is None for merge in merges):
                break
            if any(merge is None for merge in merges):
                raise RuntimeError(
                    "Some replicas made a different number of replica_context().merge_call() calls."
                )
            result = _run_merge(strategy, devices, merges)
            merged = [select_replica(i, result) for i in range(len(replicas))]
    finally:
        for replica in replicas:
            replica.stop()
    return regroup(devices, [replica.result for replica in replicas])


def _run_merge(strategy: Any, devices: Sequence[str], merges: list[Any]) -> Any:
    """Calls the function that replicas stopped for, in the scopes of the first."""
    args = regroup(devices, [merge.args for merge in merges])
    kwargs = regroup(devices, [merge.kwargs for merge in merges])
    controls = list(dict.fromkeys(op for merge in merges for op in merge.controls))
    first = merges[0]
    names = first.name_scope + "/" if first.name_scope else None
    with ExitStack() as stack:
        stack.enter_context(entered(Mode(strategy)))
        stack.enter_context(name_scope(names))
        stack.enter_context(control_dependencies(controls))
        stack.enter_context(variable_scope(first.variable_scope))
        return first.fn(strategy, *args, **kwargs)
