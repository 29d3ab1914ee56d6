"""Whether there is memory for a program, asked before it is built and before it runs.

XLA ends the process where a shape has more bytes than it can count, and where somebody touches a
result that there was no memory for. So it is not given such shapes; and the results of a program
that needs much memory are awaited, for an error shows then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.core import machine
from weft.ops.kit.room import byte_count, out_of_memory
from weft.passes.client_graph import Node
from weft.runtime.host.expected_shapes import expected
from weft.runtime.host.interpret import with_node
from weft.runtime.xla.haste import inner

COUNTABLE = 1 << 60  # bytes: XLA's own numbers, with some to spare
MOST_EMPTY_ROWS = 1 << 20


class Largest:
    """The largest tensor of a program, and the node that makes it."""

    def __init__(self, on_host: bool) -> None:
        # No tensor of the host is larger than its memory, even where a program would not keep it.
        self._most = machine.memory() if on_host else COUNTABLE
        self.bytes, self.dims, self.dtype = 0, (), np.dtype(np.float32)
        self.node: Node | None = None

    def note(self, node: Node | None, outputs: Sequence[Any]) -> Exception | None:
        """Notes what a node has made; an error if there can be no such tensor."""
        for value in outputs:
            if hasattr(value, "dtype") and hasattr(value, "shape"):
                self._add(node, value.shape, value.dtype)
        return self.error() if self.bytes > self._most else None

    def expect(self, node: Node, inputs: Sequence[Any]) -> Exception | None:
        """An error if a node that is about to be traced makes what there cannot be.

        For kernels make constants, which are not traced.
        """
        for dims, dtype in expected(node, inputs):
            if byte_count(dims, dtype) > self._most:
                self._add(node, dims, dtype)
                return self.error()
        return None

    def _add(self, node: Node | None, dims: Any, dtype: Any) -> None:
        count = byte_count(dims, dtype)
        if count > self.bytes:
            self.bytes, self.node, self.dims, self.dtype = count, node, dims, dtype

    @property
    def has_too_many_elements(self) -> bool:
        """Whether integers do not number them: that is a mistake of the user's, not of sizes."""
        return math.prod(self.dims) >= 1 << 63

    def error(self) -> Exception:
        found = out_of_memory(self.dims, self.dtype)
        return found if self.node is None else with_node(found, self.node)


def is_hollow(value: Any) -> bool:
    """Whether an array has nothing in it but very many rows: XLA goes through them all."""
    dims = getattr(value, "shape", ())
    return 0 in dims and math.prod(d for d in dims if d) > MOST_EMPTY_ROWS


def is_countable(jaxpr: Any) -> bool:
    """Whether XLA can count the bytes of everything in a traced program."""
    return all(_bytes(variable.aval) <= COUNTABLE for variable in _variables(jaxpr))


def _variables(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield from equation.outvars
        for each in inner(equation):
            yield from _variables(each)


def _bytes(aval: Any) -> int:
    dims = getattr(aval, "shape", ())
    return byte_count(dims, getattr(aval, "dtype", np.bool_)) if len(dims) else 0


def need(executable: Any) -> int:
    """Bytes that a run of a program takes besides its arguments."""
    try:
        found = executable.memory_analysis()
        kept = found.output_size_in_bytes - found.alias_size_in_bytes
        return int(kept + found.temp_size_in_bytes)
    except Exception:
        return 0  # not every back end tells


def guarded(executable: Any, largest: Largest) -> Callable[..., Any]:
    """The program as a function: for one that needs much memory, one that first asks for it."""
    needed = need(executable)
    if needed < machine.large():
        call: Callable[..., Any] = executable
        return call

    def call_if_there_is_room(*args: Any) -> Any:
        if needed > machine.free():
            raise largest.error()
        return _awaited(executable(*args))

    return call_if_there_is_room


def _awaited(results: Any) -> Any:
    import jax

    return jax.block_until_ready(results)  # type: ignore[no-untyped-call]
