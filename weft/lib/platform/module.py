"""tf.Module: an object that owns variables, and other modules."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from weft.core import nest
from weft.core.no_dependency import TakesNoDependency
from weft.core.tracks import NAMED, Tracks
from weft.graph.graph import name_scope
from weft.ops.state.variables import Variable


def _checked_name(name: str) -> str:
    if re.fullmatch(r"[A-Za-z_]\w*", name):
        return name
    raise ValueError(
        f"{name!r} is not a valid module name. Module names must be valid Python"
        " identifiers (e.g. a valid class name)."
    )


class Module(TakesNoDependency, Tracks):
    """Base class for objects with variables in their attributes.

    Attributes are searched for variables and modules in the order of their names, also inside
    lists, tuples and dictionaries, when `variables` or `submodules` is read.
    """

    _tracks_attributes = True  # checkpoints hold what they own
    # Attributes that are not searched; classes of other projects add to them.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset({NAMED})

    def __init__(self, name: str | None = None) -> None:
        own = _snake_case(type(self).__name__) if name is None else _checked_name(name)
        self._name = own
        with name_scope(own) as scope:
            self._scope_name = scope

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> name_scope:
        """The scope that this module's operations are named in."""
        return name_scope(self._scope_name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables of this module and its submodules."""
        return tuple(self._find(_is_variable))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(self._find(lambda v: _is_variable(v) and v.trainable))

    @property
    def submodules(self) -> tuple[Module, ...]:
        """The modules in attributes of this one, and in theirs."""
        return tuple(self._find(lambda v: isinstance(v, Module)))

    def _find(self, wanted: Callable[[Any], bool]) -> Iterator[Any]:
        """Level by level: what lies in this module comes before what lies in its submodules."""
        seen = {id(self)}
        level: list[Module] = [self]
        while level:
            below: list[Module] = []
            for module in level:
                for leaf in _leaves(module):
                    if id(leaf) in seen:
                        continue
                    seen.add(id(leaf))
                    if wanted(leaf):
                        yield leaf
                    if isinstance(leaf, Module):
                        below.append(leaf)
            level = below

    def _no_dependency(self, value: Any) -> Any:
        """`value`, to be assigned to an attribute that nothing depends on."""
        return value

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: the method's operations are named in the module's scope."""

        @functools.wraps(method)
        def inside(self: Module, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return inside


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _leaves(module: Module) -> Iterator[Any]:
    for name, value in sorted(vars(module).items()):
        if name not in module._TF_MODULE_IGNORED_PROPERTIES:
            yield from nest.flatten(value)


def _snake_case(name: str) -> str:
    split = re.sub(r"([a-z0-9])([A-Z])|([A-Z]+)(?=[A-Z][a-z])", _at_border, name)
    return split.lower()


def _at_border(match: re.Match[str]) -> str:
    return f"{match[1]}_{match[2]}" if match[1] else f"{match[3]}_"
