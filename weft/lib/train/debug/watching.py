"""Sessions and hooks that dump what is computed on the way to what is fetched."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from typing import Any

from weft.client.session import BaseSession
from weft.core import dtypes, errors, nest
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.lib.train.debug import dump
from weft.lib.train.sessions.session_run_hook import SessionRunArgs, SessionRunHook

_UNSEEN = (dtypes.resource, dtypes.variant)


class WatchOptions:
    """The watched tensors: those whose node's name, type and dtype the patterns match."""

    def __init__(
        self, debug_ops: Any = None, node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:  # fmt: skip
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def wants(self, tensor: Tensor) -> bool:
        asked = (
            (self.node_name_regex_whitelist, tensor.op.name),
            (self.op_type_regex_whitelist, tensor.op.type),
            (self.tensor_dtype_regex_whitelist, tensor.dtype.base_dtype.name),
        )
        return all(pattern is None or re.match(pattern, text) for pattern, text in asked)

    def __repr__(self) -> str:
        return f"WatchOptions({vars(self)})"


def watched(graph: Any, fetches: Any, feeds: Any, options: WatchOptions) -> list[Tensor]:
    """The tensors that a step computes and that can be fetched along.

    Those inside of loops and conditionals have no one value, and are passed over.
    """
    fed, wave = (
        [graph.as_graph_element(each) for each in nest.flatten(asked, expand_composites=True)]
        for asked in (list(feeds or {}), fetches)
    )
    seen: dict[Operation, None] = {}
    stack = [each if isinstance(each, Operation) else each.op for each in wave]
    while stack:
        op = stack.pop()
        if op not in seen:
            seen[op] = None
            stack += [t.op for t in op.inputs if t not in fed] + op.control_inputs
    found = [t for op in seen for t in op.outputs if _can_be_fetched(graph, t)]
    found.sort(key=lambda tensor: tensor.op._id)
    return [tensor for tensor in found if tensor not in fed and options.wants(tensor)]


def _can_be_fetched(graph: Any, tensor: Tensor) -> bool:
    inside = tensor.op._get_control_flow_context() is not None
    is_reference = tensor.dtype._is_ref_dtype  # what a variable holds shows where it is read
    return not (inside or is_reference or tensor.dtype in _UNSEEN) and graph.is_fetchable(tensor)


def read_before(session: Any, tensors: list[Tensor]) -> dict[Tensor, Any]:
    """The values of reference variables before a step, by the tensors that read them in it.

    Such a tensor shares the variable's memory: fetched with the step, it shows what the step has
    left there, not what it has computed with.
    """
    reads = [tensor for tensor in tensors if _is_plain_read(tensor.op)]
    if not reads:
        return {}
    try:
        return dict(zip(reads, session.run(reads), strict=True))
    except errors.FailedPreconditionError:  # the step itself initializes them
        return {}


def _is_plain_read(op: Operation) -> bool:
    """Whether it reads a variable that nothing of the step has to come before."""
    if not op.definition.is_identity or op.control_inputs:
        return False
    (source,) = op.inputs
    return source.dtype._is_ref_dtype and not source.op.inputs and not source.op.control_inputs


def with_values_before(
    tensors: list[Tensor], values: list[Any], before: dict[Tensor, Any]
) -> list[Any]:
    """The values of a step, those of `before` where they are known."""
    return [before.get(tensor, value) for tensor, value in zip(tensors, values, strict=True)]


class WrapperSession:
    """A session that stands for another one."""

    def __init__(self, sess: BaseSession) -> None:
        self._sess: Any = sess

    @property
    def session(self) -> Any:
        return self._sess

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sess, name)

    def __enter__(self) -> Any:
        self._sess.__enter__()
        return self

    def __exit__(self, *exc: Any) -> Any:
        return self._sess.__exit__(*exc)

    def _watched_run(
        self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any, watch: WatchOptions
    ) -> tuple[Any, list[Tensor], list[Any]]:
        """(what was fetched, the tensors that were watched, their values)"""
        tensors = watched(self._sess.graph, fetches, feed_dict, watch)
        before = read_before(self._sess, tensors)
        found, values = self._sess.run([fetches, tensors], feed_dict, options, run_metadata)
        return found, tensors, with_values_before(tensors, values, before)


def _watch_options(watch_fn: Any, fetches: Any, feeds: Any) -> WatchOptions:
    if watch_fn is None:
        return WatchOptions()
    told = watch_fn(fetches, feeds)
    if isinstance(told, WatchOptions):
        return told
    return WatchOptions(*told) if isinstance(told, tuple) else WatchOptions(told)


class DumpingDebugWrapperSession(WrapperSession):
    """Every `run` writes its tensors to a new folder below `session_root`."""

    def __init__(
        self, sess: BaseSession, session_root: str, watch_fn: Callable[..., Any] | None = None,
        thread_name_filter: str | None = None, pass_through_operrors: bool | None = None,
        log_usage: bool = True,
    ) -> None:  # fmt: skip
        if os.path.isfile(session_root):
            raise ValueError(f"session_root path points to a file: {session_root}")
        super().__init__(sess)
        self._root, self._watch_fn, self.run_call_count = session_root, watch_fn, 0

    def run(
        self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None
    ) -> Any:
        """As the session's, with a dump."""
        self.run_call_count += 1
        watch = _watch_options(self._watch_fn, fetches, feed_dict)
        found, *seen = self._watched_run(fetches, feed_dict, options, run_metadata, watch)
        name = f"run_{int(time.time() * 1e6)}_{self.run_call_count}"
        dump.write(os.path.join(self._root, name), *seen)
        return found


class DumpingDebugHook(SessionRunHook):
    """As `DumpingDebugWrapperSession`, for monitored sessions and Estimators."""

    def __init__(
        self, session_root: str, watch_fn: Callable[..., Any] | None = None,
        thread_name_filter: str | None = None, log_usage: bool = True,
    ) -> None:  # fmt: skip
        self._root, self._watch_fn, self._count = session_root, watch_fn, 0
        self._tensors: list[Tensor] = []
        self._before: dict[Tensor, Any] = {}

    def before_run(self, run_context: Any) -> SessionRunArgs:
        self._count += 1
        fetches, feeds = run_context.original_args.fetches, run_context.original_args.feed_dict
        watch = _watch_options(self._watch_fn, fetches, feeds)
        self._tensors = watched(run_context.session.graph, fetches, feeds, watch)
        self._before = read_before(run_context.session, self._tensors)
        return SessionRunArgs({"watched": self._tensors})

    def after_run(self, run_context: Any, run_values: Any) -> None:
        name = f"run_{int(time.time() * 1e6)}_{self._count}"
        root = os.path.join(self._root, name)
        values = with_values_before(self._tensors, run_values.results["watched"], self._before)
        dump.write(root, self._tensors, values)
