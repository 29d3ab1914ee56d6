"""Scopes of a graph: what the names, devices and dependencies of the next operations will be.

They belong to a thread. A graph takes the methods that open and apply them from here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any

from weft.core import device_name
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor

# Most operations have one of a few names, to which numbers are added later.
VALID_OP_NAME = lru_cache(maxsize=1024)(re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*").fullmatch)
VALID_SCOPE_NAME = lru_cache(maxsize=1024)(re.compile(r"[A-Za-z0-9_.\\/>-]*").fullmatch)


class _Controller:
    """One `control_dependencies` block: what it waits for, and the nodes made inside it."""

    __slots__ = ("ops", "seen")

    def __init__(self, ops: list[Operation]) -> None:
        self.ops = ops
        self.seen: set[Operation] = set()


class _Scopes(threading.local):
    """The scopes that are open on this thread of one graph."""

    def __init__(self) -> None:
        self.name = ""
        self.devices: list[Any] = []
        self.controllers: list[_Controller] = []
        self.colocated: list[Operation] = []
        self.context: Any = None
        # Whether nodes get their control-flow context only after all of them were made.
        self.context_comes_later = False
        self.attrs: dict[str, Any] = {}
        self.gradients: dict[str, str] = {}
        self.container = ""
        self.original: Operation | None = None

    def holding(self, **values: Any) -> _Holding:
        """Sets some of them inside, and puts these back as they were."""
        return _Holding(self, values)


class _Holding:
    """A class, not a generator: graphs open scopes by the thousand."""

    __slots__ = ("saved", "scopes", "values")

    def __init__(self, scopes: _Scopes, values: dict[str, Any]) -> None:
        self.scopes, self.values = vars(scopes), values

    def __enter__(self) -> None:
        scopes = self.scopes
        self.saved = {name: scopes[name] for name in self.values}
        scopes.update(self.values)

    def __exit__(self, *exc: Any) -> None:
        self.scopes.update(self.saved)


class NameScope:
    """Opens a name scope of one graph; `as` gives its name with a trailing slash."""

    __slots__ = ("graph", "name", "saved")

    def __init__(self, graph: ScopedGraph, name: str | None) -> None:
        self.graph, self.name = graph, name

    def __enter__(self) -> str:
        graph, name = self.graph, self.name
        scopes = graph._scopes
        self.saved = scopes.name
        if not name:
            scopes.name = ""
            return ""
        if name[-1] == "/":
            scopes.name = name[:-1]
            return name
        if not (VALID_SCOPE_NAME if self.saved else VALID_OP_NAME)(name):
            raise ValueError(f"'{name}' is not a valid scope name")
        scopes.name = graph._new_name(name)
        return scopes.name + "/"

    def __exit__(self, *exc: Any) -> None:
        self.graph._scopes.name = self.saved


class ScopedGraph:
    """The part of a graph that knows which scopes are open, and names operations by them."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._names_in_use: dict[str, int] = {}
        self._scopes = _Scopes()

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The Tensor or Operation of this graph that `obj` (object or name) stands for."""
        raise NotImplementedError

    # ---- names ----

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` in the current scope, with a number appended if it is taken.

        Names are compared without regard to case, as TensorFlow does.
        """
        scope = self._scopes.name
        if scope:
            name = f"{scope}/{name}"
        used = self._names_in_use
        key = name.lower()
        with self._lock:
            number = used.get(key, 0)
            if mark_as_used:
                used[key] = number + 1
            if number == 0:
                return name
            base = key
            while key in used:
                key = f"{base}_{number}"
                number += 1
            if mark_as_used:
                used[key] = 1
            return f"{name}_{number - 1}"

    # The name of a new operation or scope.
    _new_name = unique_name

    def _unique_full_name(self, name: str) -> str:
        scope, self._scopes.name = self._scopes.name, ""
        try:
            return self.unique_name(name)
        finally:
            self._scopes.name = scope

    # ---- opening ----

    @contextmanager
    def _without_scopes(self) -> Iterator[None]:
        """Lifts every scope of this thread: names, devices, dependencies, attributes, contexts."""
        with self._scopes.holding(**vars(_Scopes())):
            yield

    def name_scope(self, name: str | None) -> NameScope:
        return NameScope(self, name)

    def switch_to_thread_local(self) -> None:
        """Scopes are always those of the current thread: nothing to switch."""

    def get_name_scope(self) -> str:
        return self._scopes.name

    @property
    def _name_stack(self) -> str:
        return self._scopes.name

    @contextmanager
    def device(self, device_name_or_function: Any) -> Iterator[None]:
        spec = device_name_or_function
        if spec is not None and not callable(spec):
            spec = device_name.canonical_name(spec)
        devices = self._scopes.devices
        depth = len(devices)
        devices.append(spec)
        try:
            yield
        finally:
            if len(devices) != depth + 1:
                raise RuntimeError("Exiting device scope without proper scope nesting.")
            devices.pop()

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """New operations share the device of `op`; None lifts the enclosing requests."""
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        colocated = [] if ignore_existing else self._scopes.colocated
        if op is not None:
            colocated = [*colocated, _operation_of(self, op)]
        # Colocation replaces the enclosing device scopes.
        with self._scopes.holding(colocated=colocated, devices=[]):
            yield

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[Any]:
        """New operations run after `control_inputs`; None lifts the enclosing dependencies."""
        scopes = self._scopes
        saved = scopes.controllers, scopes.context
        if control_inputs is None:
            scopes.controllers, scopes.context = [], None
        else:
            ops: dict[Operation, None] = {}
            for item in control_inputs:
                if isinstance(item, str | bytes):
                    item = self.as_graph_element(item)
                ops[_operation_of(self, item)] = None
            scopes.controllers = [*scopes.controllers, _Controller(list(ops))]
        try:
            yield
        finally:
            scopes.controllers, scopes.context = saved

    def _current_control_dependencies(self) -> set[Operation]:
        return {op for controller in self._scopes.controllers for op in controller.ops}

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        with self._scopes.holding(container=container_name):
            yield container_name

    @contextmanager
    def gradient_override_map(self, op_type_map: dict[str, str]) -> Iterator[None]:
        if not isinstance(op_type_map, dict):
            raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        for key, value in op_type_map.items():
            if not (isinstance(key, str) and isinstance(value, str)):
                raise TypeError("op_type_map must be a dictionary mapping strings to strings")
        with self._scopes.holding(gradients={**self._scopes.gradients, **op_type_map}):
            yield

    @contextmanager
    def _attr_scope(self, attr_map: dict[str, Any]) -> Iterator[None]:
        from weft.graph.graph_def import attr_from_proto

        added = {k: attr_from_proto(v) for k, v in attr_map.items() if v is not None}
        removed = {k for k, v in attr_map.items() if v is None}
        attrs = {k: v for k, v in {**self._scopes.attrs, **added}.items() if k not in removed}
        with self._scopes.holding(attrs=attrs):
            yield

    @contextmanager
    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Iterator[None]:
        yield

    def _get_control_flow_context(self) -> Any:
        return self._scopes.context

    def _set_control_flow_context(self, context: Any) -> None:
        self._scopes.context = context

    def _original_op(self, op: Operation) -> AbstractContextManager[None]:
        """Operations made inside are derived from `op`: their errors name it, too."""
        return self._scopes.holding(original=op)

    # ---- applying ----

    def _apply_scopes(self, op: Operation) -> None:
        scopes = self._scopes
        op._original_op = scopes.original
        if scopes.attrs:
            for key, value in scopes.attrs.items():
                op.attrs.setdefault(key, value)
        if scopes.gradients and op.type in scopes.gradients:
            op.attrs["_gradient_op_type"] = scopes.gradients[op.type]
        if scopes.container and op.attrs.get("container") == "":
            op.attrs["container"] = scopes.container
        if scopes.devices:
            self._apply_devices(op)
        if scopes.colocated:
            # Colocation replaces what an attribute scope says of it.
            given = scopes.attrs.get("_class", ())
            groups = {g for g in op.attrs.get("_class", ()) if g not in given}
            for other in scopes.colocated:
                groups.update(group.decode() for group in other.colocation_groups())
                if other.device:
                    op._device = other.device
            op.attrs["_class"] = sorted(groups)

    def _apply_devices(self, op: Operation) -> None:
        for spec in reversed(self._scopes.devices):
            if spec is None:
                break
            if callable(spec):
                op._device = _as_written(spec(op))
            elif op._device:
                op._device = device_name.merge(spec, op._device)
            else:
                op._device = spec

    def _apply_device_functions(self, op: Any) -> None:
        """Tells an object of a library's own which device operations made here would ask for."""
        asked: str | None = None
        for spec in reversed(self._scopes.devices):
            if spec is None:
                break
            if callable(spec):
                asked = _as_written(spec(op))
            else:
                asked = device_name.merge(spec, asked) if asked else spec
            op._set_device_from_string(asked)

    def _controls_for(self, inputs: tuple[Tensor, ...]) -> tuple[Operation, ...]:
        """The current control inputs, less those that a data input already waits for."""
        producers = {tensor.op for tensor in inputs}
        found: dict[Operation, None] = {}
        for controller in self._scopes.controllers:
            if not controller.seen.isdisjoint(producers):
                continue
            found.update((op, None) for op in controller.ops if op not in producers)
        return tuple(found)


def _as_written(device: Any) -> str:
    """The result of a device function as a name: a string stays as the program spells it."""
    return device if isinstance(device, str) else device_name.canonical_name(device)


def _operation_of(graph: ScopedGraph, item: Any) -> Operation:
    if isinstance(item, Operation):
        op = item
    elif isinstance(item, Tensor):
        op = item.op
    elif isinstance(getattr(item, "handle", None), Tensor):
        # A resource variable stands for its handle; the result of assigning to it, for that.
        op = item.op
    else:
        convert = getattr(item, "_as_graph_element", None)
        found = convert() if convert is not None else item
        op = getattr(found, "op", found)
        if not isinstance(op, Operation):
            raise TypeError(f"Control input must be an Operation, a Tensor, or a Variable: {item}")
    if op.graph is not graph:
        kind = "Operation" if isinstance(item, Operation) else "Tensor"
        raise ValueError(f"{kind} {item} is not an element of this graph.")
    return op
