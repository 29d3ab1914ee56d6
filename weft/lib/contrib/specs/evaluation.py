"""Specifications as text: `net = Cr(64, [3, 3]) | Mp([2, 2]) | Flat | Fm(10)`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.lib.contrib.specs import operations, parameters
from weft.lib.contrib.specs.composing import check_keywords


def _run(text: str, names: Any, environment: Any) -> dict[str, Any]:
    """The names that some statements bind."""
    check_keywords(text)
    bindings = dict(environment or {})
    exec(text, dict(vars(names)), bindings)
    return bindings


def eval_params(params: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """The parameters that a specification makes, at random if it says so."""
    return _run(params, parameters, environment)


def eval_spec(spec: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """The parts of networks that a specification makes."""
    return _run(spec, operations, environment)


def create_net_fun(spec: str, environment: dict[str, Any] | None = None) -> Callable[[Any], Any]:
    """The network `net` of a specification, as a function of its input."""
    net = eval_spec(spec, environment).get("net")
    if net is None:
        raise ValueError(f"spec failed to create 'net': {spec}")
    return net.funcall


def create_net(spec: str, inputs: Any, environment: dict[str, Any] | None = None) -> Any:
    """The network `net` of a specification, on top of its input."""
    return create_net_fun(spec, environment)(inputs)


class LocalImport:
    """Makes names known to the module that enters it, until it leaves."""

    def __init__(self, names: Any) -> None:
        self.names = names if isinstance(names, dict) else vars(names)

    def __enter__(self) -> None:
        frame: Any = inspect.currentframe()
        self._globals = frame.f_back.f_globals
        self._before = {name: self._globals[name] for name in self.names if name in self._globals}
        self._globals.update(self.names)

    def __exit__(self, *error: Any) -> None:
        for name in self.names:
            del self._globals[name]
        self._globals.update(self._before)


ops = LocalImport({name: each for name, each in vars(operations).items() if name[0].isupper()})
