"""tf.CriticalSection: parts of the graph of which only one runs at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from weft.core import dtypes, nest
from weft.graph import shape_fn as s
from weft.graph.graph import (
    add_to_collections,
    colocate_with,
    control_dependencies,
    get_collection,
    get_default_graph,
    init_scope,
    name_scope,
)
from weft.graph.op_def import op, raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.graph.traits import BLOCKING, HOST_STATE
from weft.ops.control.control import group, tuple_
from weft.ops.control.mutex import Lock, Mutex
from weft.ops.kit.eager import executing_eagerly
from weft.ops.kit.resource_names import named_or_node
from weft.ops.kit.shared import invalid

CRITICAL_SECTIONS = "critical_sections"
CRITICAL_SECTION_EXECUTIONS = "critical_section_executions"


@op(
    "MutexV2", outputs="resource: resource",
    attrs='container: string = "", shared_name: string = ""', shape=s.scalar, traits=HOST_STATE,
)  # fmt: skip
def mutex_v2(xp: Any, ctx: Any, *, container: str, shared_name: str) -> Mutex:
    return named_or_node(ctx, "mutex", container, shared_name, Mutex)


@op(
    "MutexLock", inputs="mutex: resource", outputs="mutex_lock: variant", shape=s.scalar,
    traits=HOST_STATE | BLOCKING,
)  # fmt: skip
def mutex_lock(xp: Any, ctx: Any, mutex: Mutex) -> Any:
    return mutex.acquire()


@op("ConsumeMutexLock", inputs="mutex_lock: variant", shape=s.none, traits=HOST_STATE)
def consume_mutex_lock(xp: Any, ctx: Any, mutex_lock: Any) -> None:
    if not isinstance(mutex_lock, Lock):
        raise invalid(
            "Expected input to contain a SharedLockReleaser object, but saw variant:"
            f" '{mutex_lock}'"
        )
    mutex_lock.release()


class _Execution(NamedTuple):
    """A use of a critical section: its lock, the section's handle, what it touches."""

    op: Operation
    handle: Tensor
    resources: list[Tensor]
    exclusive_resource_access: bool


def _identity(x: Any) -> Any:
    if isinstance(x, Operation):
        return group(x)
    if hasattr(x, "identity"):
        return x.identity()  # a TensorArray
    return raw.Identity(x)


class CriticalSection:
    """Functions executed in it never run at the same time, in one step or in several."""

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def and name is not None:
            raise ValueError("critical_section_def and shared_name are mutually exclusive.")
        if critical_section_def:
            graph = get_default_graph()
            handle = critical_section_def.critical_section_name
            if import_scope:
                handle = f"{import_scope}/{handle}"
            self._handle = graph.as_graph_element(handle)
            return
        with name_scope(name, "CriticalSection", []) as scope, init_scope():
            shared_name = scope if shared_name is None else shared_name
            self._handle = raw.MutexV2(shared_name=shared_name, name=scope)
        if not executing_eagerly():
            add_to_collections(CRITICAL_SECTIONS, self)

    @property
    def name(self) -> str:
        return self._handle.op.name

    def execute(
        self,
        fn: Callable[[], Any],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Any:
        """The results of `fn()`, computed while no other execution of this section runs.

        What `fn` needs from outside is computed before the section is entered. With
        `exclusive_resource_access` no other section may use the resources that `fn` uses.
        """
        graph = get_default_graph()
        with name_scope(name, "critical_section_execute", []):
            lock = raw.MutexLock(self._handle)
            if executing_eagerly():
                return _held(lock, fn)
            before = set(graph.get_operations())
            with control_dependencies([lock]):
                result = fn()
            made = [each for each in graph.get_operations() if each not in before]
            _enter_after_arguments(lock.op, made)
            inputs = {id(t): t for each in made for t in each.inputs}.values()
            resources = [t for t in inputs if t.dtype == dtypes.resource]
            self._check(resources, exclusive_resource_access)
            with control_dependencies([_identity(x) for x in nest.flatten(result)]):
                with colocate_with(self._handle):
                    leave = raw.ConsumeMutexLock(lock)
                # A step that uses one of the results runs all of the section.
                result = nest.pack_sequence_as(result, tuple_(nest.flatten(result)))
            with control_dependencies([leave]):
                outputs = nest.map_structure(_identity, result)
            add_to_collections(
                CRITICAL_SECTION_EXECUTIONS,
                _Execution(lock.op, self._handle, resources, exclusive_resource_access),
            )
            return outputs

    def _check(self, resources: list[Tensor], exclusive: bool) -> None:
        if any(self._is_own(handle) for handle in resources):
            raise ValueError(
                "The function fn attempts to directly access the CriticalSection in which it would"
                " be running.  This is illegal and would cause deadlocks."
            )
        for other in get_collection(CRITICAL_SECTION_EXECUTIONS):
            if self._is_own(other.handle):
                continue
            if not (exclusive or other.exclusive_resource_access):
                continue
            shared = [t for t in resources if any(t is o for o in other.resources)]
            if shared:
                raise ValueError(
                    f"This execution would access resources: {shared}.  Either this lock"
                    f" (CriticalSection: {self._handle}) or lock '{other}' (CriticalSection:"
                    f" {other.handle}) requested exclusive resource access of this resource.  Did"
                    " you mean to call execute with keyword argument"
                    " exclusive_resource_access=False?"
                )

    def _is_own(self, handle: Tensor) -> bool:
        """Whether a handle means the mutex of this section."""
        own, other = self._handle.op, handle.op
        return other is own or (
            other.type == "MutexV2"
            and bool(other.get_attr("shared_name"))
            and other.get_attr("shared_name") == own.get_attr("shared_name")
            and other.device == own.device
        )


def _held(lock: Tensor, fn: Callable[[], Any]) -> Any:
    """The results of `fn()`, computed at once; the lock is given back however that ends."""
    try:
        return nest.map_structure(_identity, fn())
    finally:
        raw.ConsumeMutexLock(lock)


def _enter_after_arguments(lock: Operation, made: list[Operation]) -> None:
    """Makes the lock wait for all that the section needs from outside; else two might deadlock."""
    inside = {*made, lock, *lock.control_inputs, *(t.op for t in lock.inputs)}
    needed = [t.op for each in made for t in each.inputs]
    needed += [control for each in made for control in each.control_inputs]
    outside = list(dict.fromkeys(each for each in needed if each not in inside))
    if outside:
        lock._add_control_input(group(*outside))
