"""Traits: what passes and the runtime ask of an operation, so that they need not know its name.

A declaration joins them: `@op("Stage", traits=HOST | STATEFUL | BLOCKING, ...)`. The fields of the
groups below are fields of every `OpDef`: `node.definition.blocking`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True, eq=False)
class Effects:
    """The changes that running a node makes, besides its outputs.

    `reads_only`: it looks at its reference or resource input but leaves it as it is. `blocking`: it
    may wait for another node. `allows_uninitialized`: its reference inputs need not hold a value
    yet. `calls_python`: it runs a function of the user's. `collective`: it runs in all processes
    of a group at once. `asserts`: it only fails unless its first input is true, and then shows the
    others. `random(out_dims, attrs)` counts the Philox blocks that one run consumes;
    `redraws`: it draws in a loop, until what it has will do.
    """

    stateful: bool = False
    reads_only: bool = False
    blocking: bool = False
    allows_uninitialized: bool = False
    calls_python: bool = False
    collective: bool = False
    asserts: bool = False
    random: Callable[..., int] | None = None
    redraws: bool = False


@dataclass(frozen=True, eq=False)
class Tracing:
    """How a node gets into a compiled program.

    `runs_on == "host"`: NumPy values only, never traced. `needs_xla`: the kernel needs jax.lax and
    is compiled singly when interpreted. `static` inputs must have concrete values before XLA
    compiles; `static_rule(c)` says which of them a given node really needs. `known` inputs stay
    NumPy's in a trace where their values are known; all others are arrays of xp. `flops(dims,
    attrs)` counts the arithmetic of a node whose time is not that of moving its values.
    """

    runs_on: str = "any"
    needs_xla: bool = False
    static: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    static_rule: Callable[[Any], frozenset[str]] | None = None
    flops: Callable[..., float] | None = None


@dataclass(frozen=True, eq=False)
class Flow:
    """The part of a node in the order of a step.

    `control_flow`: switch, merge, enter, exit, next_iteration, loop_cond or trigger; the executor
    runs these, as it does one whose `transfer` is send or recv, which moves a tensor between
    devices. `calls`: function, attribute, gradient, if, case, while or for; the called functions
    take the node's place.
    """

    control_flow: str | None = None
    transfer: str | None = None
    calls: str | None = None


@dataclass(frozen=True, eq=False)
class Algebra:
    """Rules of arithmetic that rewrites may use.

    `elementwise`: an element of the output follows from the elements of the inputs in its place.
    `infix`: the operator of Python that does the same for numbers. `differentiable` is False where
    the gradient is None by design.
    """

    commutative: bool = False
    aggregate: bool = False
    elementwise: bool = False
    infix: str | None = None
    differentiable: bool = True
    deprecated: bool = False


@dataclass(frozen=True, eq=False)
class Sources:
    """Nodes that bring a value into a graph.

    `is_constant`: an attribute holds the value. `is_argument`: an input of the step, or of a graph
    that a node holds. `is_given`: either of them, whose values are there before the step runs.
    `is_placeholder`: the value must be fed. `is_variable`: the node names a variable. `on_device`:
    what it names lies in the memory of its device; or it runs on the host, but may be placed with
    the work of a device.
    """

    is_constant: bool = False
    is_argument: bool = False
    is_given: bool = False
    is_placeholder: bool = False
    is_variable: bool = False
    on_device: bool = False


@dataclass(frozen=True, eq=False)
class Movement:
    """The way of the elements of a node's inputs, of nodes that change none of them.

    `is_identity`: the output is the input. `is_transparent`: so it is in a step, whatever it means
    to gradients and feeds. `reads_variable`: the output is the value of a variable. `assigns`: the
    second input becomes the value of the variable that is the first. `hands_on`: a whole tensor
    goes on as it is, or none; NumPy touches no element for it, a program copies. `moves`: the
    output has elements of the inputs, in other places. `keeps_places`: each element of the output
    is that of the input in its place. `gathers_rows`: the second input chooses rows.
    `updates_rows`: so it does of a variable, which changes there; compiled, it drops rows out of
    range. `pads_rows`: compiled, it gives rows too many, for such updates to drop. `measures`: the
    shape, size or rank of the inputs. `of_shapes`: the output follows from the shapes of the
    inputs. `is_free`: it takes no time at all.
    """

    is_identity: bool = False
    is_transparent: bool = False
    reads_variable: bool = False
    assigns: bool = False
    hands_on: bool = False
    moves: bool = False
    keeps_places: bool = False
    gathers_rows: bool = False
    updates_rows: bool = False
    pads_rows: bool = False
    measures: str | None = None
    of_shapes: bool = False
    is_free: bool = False


@dataclass(frozen=True, eq=False, init=False)
class Traits(Effects, Tracing, Flow, Algebra, Sources, Movement):
    """All traits of one operation; `a | b` has those of both.

    An instance holds those that differ from the defaults: an operation has two of the fifty.
    """

    def __init__(self, **given: Any) -> None:
        if unknown := given.keys() - DEFAULTS.keys():
            raise TypeError(f"No traits: {sorted(unknown)}")
        vars(self).update({k: value for k, value in given.items() if value != DEFAULTS[k]})

    def __or__(self, other: Traits) -> Traits:
        return Traits(**(vars(self) | vars(other)))


DEFAULTS = {field.name: field.default for field in fields(Traits)}
PLAIN = Traits()

HOST = Traits(runs_on="host")
XLA = Traits(needs_xla=True)
STATEFUL = Traits(stateful=True)
READS_ONLY = Traits(reads_only=True)
BLOCKING = Traits(blocking=True)
HOST_STATE = HOST | STATEFUL
REDRAWS = Traits(redraws=True)
UNINITIALIZED = Traits(allows_uninitialized=True)
PYTHON = Traits(calls_python=True)
COLLECTIVE = XLA | STATEFUL | Traits(collective=True)
ASSERTS = HOST_STATE | Traits(asserts=True)
COMMUTATIVE = Traits(commutative=True)
AGGREGATE = Traits(aggregate=True)
NO_GRADIENT = Traits(differentiable=False)
DEPRECATED = Traits(deprecated=True)


FREE = Traits(is_free=True)
CONSTANT = FREE | Traits(is_constant=True, is_given=True)
ARGUMENT = FREE | Traits(is_argument=True, is_given=True)
PLACEHOLDER = FREE | Traits(is_placeholder=True)
ON_DEVICE = Traits(on_device=True)
VARIABLE = STATEFUL | ON_DEVICE | Traits(is_variable=True)
HANDS_ON = Traits(hands_on=True)
MOVES = Traits(moves=True)
KEEPS_PLACES = Traits(keeps_places=True)
TRANSPARENT = Traits(is_transparent=True)
IDENTITY = FREE | HANDS_ON | MOVES | KEEPS_PLACES | TRANSPARENT | Traits(is_identity=True)
READS_VARIABLE = HANDS_ON | Traits(reads_variable=True)
ASSIGNS = HANDS_ON | Traits(assigns=True)
GATHERS_ROWS = Traits(gathers_rows=True)
UPDATES_ROWS = Traits(updates_rows=True)
PADS_ROWS = Traits(pads_rows=True)
OF_SHAPES = Traits(of_shapes=True)
ELEMENTWISE = Traits(elementwise=True)


def measures(what: str) -> Traits:
    """The "shape", "size" or "rank" of the inputs, whatever their values."""
    return OF_SHAPES | FREE | Traits(measures=what)


def draws(blocks: Callable[..., int]) -> Traits:
    """Random numbers: `blocks(out_dims, attrs)` of Philox in each run."""
    return Traits(random=blocks, stateful=True)


def costs(flops: Callable[..., float]) -> Traits:
    """Arithmetic: `flops(dims, attrs)` in each run."""
    return Traits(flops=flops)


def known(names: str) -> Traits:
    """Inputs that stay NumPy's in a trace where their values are known."""
    return Traits(known=split_names(names))


def static_by(rule: Callable[[Any], frozenset[str]]) -> Traits:
    """Static inputs of which `rule(c)` says whether a given node needs them."""
    return Traits(static_rule=rule)


def split_names(text: str) -> frozenset[str]:
    """The names in a list such as "begin, end"."""
    return frozenset(part.strip() for part in text.split(",") if part.strip())
