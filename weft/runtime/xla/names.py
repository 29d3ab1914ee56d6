"""Names in compiled programs: which node of the graph an instruction of XLA's comes from.

Every node is traced in a scope of its name, which XLA keeps with the instructions. The program is
named by its nodes and shapes, so that one of the same instructions but of other nodes is not taken
for it, neither in a profile nor in the cache on disk.
"""

from __future__ import annotations

import hashlib
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from weft.passes.client_graph import Node
from weft.passes.control_flow.structured_nodes import nodes_inside
from weft.passes.regions.units import Unit
from weft.runtime.xla.gpu_kernels import Schedule
from weft.runtime.xla.program_text import nodes_of_instructions


class Profile:
    """Whether a profile is taken: programs that are compiled meanwhile run kernel by kernel.

    Otherwise a GPU is given many kernels as one graph (see gpu_kernels.py).
    """

    is_on = False


PROFILE = Profile()


class _Known:
    """The names of a program's nodes, and the program, as long as it is in use."""

    def __init__(self, nodes: frozenset[str]) -> None:
        self.nodes = nodes
        self.executable: Callable[[], Any] = lambda: None
        self.table: Mapping[str, str] | None = None
        self.schedule: Schedule | None = None

    def text(self) -> str:
        executable = self.executable()
        return executable.as_text() if executable is not None else ""


_programs: dict[str, _Known] = {}


def scope_of(node: Node) -> Any:
    """Inside, what is traced belongs to `node`."""
    import jax

    return jax.named_scope(node.name)


def named(run: Callable[..., Any], unit: Unit, shapes: Any) -> Callable[..., Any]:
    """`run` as a function whose name stands for the nodes of a unit, compiled for these shapes."""
    nodes = [each.name for node in unit.nodes for each in (node, *nodes_inside(node))]
    text = "\n".join([*nodes, repr(shapes)])
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()

    def program(*args: Any) -> Any:
        return run(*args)

    program.__name__ = program.__qualname__ = f"weft_{digest}"
    program.__dict__["nodes"] = frozenset(nodes)
    return program


def note_program(run: Callable[..., Any], executable: Any) -> None:
    """Keeps what was compiled of a function of `named` findable, as long as it is in use."""
    name = run.__name__
    known = _programs[name] = _Known(run.__dict__["nodes"])

    def forget(executable: Any) -> None:
        latest = _programs.get(name)
        if latest is not None and latest.executable is executable:
            del _programs[name]

    known.executable = weakref.ref(executable, forget)


def nodes_by_instruction(module: str) -> Mapping[str, str]:
    """Instruction -> node, of a program by XLA's name for it."""
    known = _programs.get(module.removeprefix("jit_"))
    if known is None:
        return {}
    if known.table is None:
        known.table = nodes_of_instructions(known.text(), known.nodes)
    return known.table


def schedule_of(module: str) -> Schedule | None:
    """The order of a program's instructions; None if it is not known."""
    known = _programs.get(module.removeprefix("jit_"))
    if known is None:
        return None
    if known.schedule is None:
        known.schedule = Schedule(known.text())
    return known.schedule
