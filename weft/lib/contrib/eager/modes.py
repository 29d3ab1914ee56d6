"""How eager execution is set up: here it is always synchronous, and tensors move by themselves."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from weft.client import eager
from weft.client.process_config import list_logical_devices
from weft.graph import stacks
from weft.graph.graph import Graph
from weft.ops.kit.eager import EagerGraph

DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN = 0, 1
DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32 = 2, 3
SYNC, ASYNC = 0, 1


def _check(mode: Any) -> None:
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")


def set_execution_mode(mode: int | None) -> None:
    """Operations are done when their call returns, in either mode."""
    _check(mode)


@contextlib.contextmanager
def execution_mode(mode: int | None) -> Iterator[None]:
    """Sets the execution mode inside of `with`; see `set_execution_mode`."""
    _check(mode)
    yield


def async_wait() -> None:
    """Returns at once: operations have run when their calls return."""


def async_clear_error() -> None:
    """An error is raised where it happens; none is kept."""


def list_devices() -> list[str]:
    """The names of the devices of this process."""
    return [device.name for device in list_logical_devices()]


def num_gpus() -> int:
    """The number of GPUs of this process."""
    return len(list_logical_devices("GPU"))


@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Eager execution inside, whatever it is outside."""
    with eager.EagerExecution().as_default():
        yield


@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """No eager execution inside: the graph that is current there is the one below it."""
    entered = reversed(stacks.graphs.items)
    graph = next((each for each in entered if not isinstance(each, EagerGraph)), None)
    with (graph or stacks.global_graph()).as_default():
        yield


def run_test_in_graph_and_eager_modes(
    func: Callable[..., Any] | None = None, config: Any = None, use_gpu: bool = True,
    reset_test: bool = True, assert_no_eager_garbage: bool = False,
) -> Any:  # fmt: skip
    """A test method that is run in a graph's session, and again eagerly."""

    def decorator(test: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(test)
        def both(self: Any, *args: Any, **kwargs: Any) -> None:
            if stacks.shared_default is None:
                with self.test_session(use_gpu=use_gpu, config=config):
                    test(self, *args, **kwargs)
                if reset_test:
                    self.tearDown()
                    self.setUp()
            with Graph().as_default(), eager_mode():
                test(self, *args, **kwargs)

        return both

    return decorator if func is None else decorator(func)


def run_all_tests_in_graph_and_eager_modes(cls: Any) -> Any:
    """A test class with all of its tests run in both modes."""
    for name, value in list(vars(cls).items()):
        if name.startswith("test") and callable(value) and name != "test_session":
            setattr(cls, name, run_test_in_graph_and_eager_modes(value))
    return cls
