"""TransformGraph: a list of named rewrites of a GraphDef, one after another."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weft.core import errors
from weft.lib.platform import tf_logging as logging
from weft.lib.tools.node_defs import source

_CALL = re.compile(r"\s*(\w+)\s*(?:\((.*?)\))?\s*(?=\w|$)", re.DOTALL)
_PARAMETER = re.compile(r'\s*(\w+)\s*=\s*(?:"([^"]*)"|([^,\s")]*))\s*(?:,|$)')


@dataclass(frozen=True)
class Call:
    """A rewrite by name, its parameters, and the inputs and outputs of the graph."""

    name: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    parameters: dict[str, list[str]] = field(default_factory=dict)

    @property
    def required(self) -> set[str]:
        """Nodes that must stay what they are."""
        return {source(name) for name in (*self.inputs, *self.outputs)}

    def one(self, name: str, default: Any) -> Any:
        """A parameter that is given once at most, of the type of its default."""
        given = self.parameters.get(name, [])
        if len(given) > 1:
            raise invalid(f"Expected a single {name} argument, but found {len(given)} instead")
        if not given:
            return default
        return given[0] == "true" if isinstance(default, bool) else type(default)(given[0])

    def all(self, name: str) -> list[str]:
        """All values of a parameter."""
        return self.parameters.get(name, [])


Transform = Callable[[Any, Call], Any]
TRANSFORMS: dict[str, Transform] = {}


def invalid(message: str) -> errors.InvalidArgumentError:
    return errors.InvalidArgumentError(None, None, message)


def transform(function: Transform) -> Transform:
    """Registers a rewrite under its own name."""
    assert function.__name__ not in TRANSFORMS
    TRANSFORMS[function.__name__] = function
    return function


def parse(text: str, inputs: Sequence[str], outputs: Sequence[str]) -> list[Call]:
    """The calls in `name(parameter=value, ...) name ...`."""
    calls, position = [], 0
    text = text.strip()
    while position < len(text):
        found = _CALL.match(text, position)
        if found is None or found.end() == position:
            raise invalid(f"Looking for transform name, but found {text[position:]}")
        parameters = _parameters(found[2] or "")
        calls.append(Call(found[1], tuple(inputs), tuple(outputs), parameters))
        position = found.end()
    return calls


def _parameters(text: str) -> dict[str, list[str]]:
    parameters: dict[str, list[str]] = {}
    position = 0
    while text[position:].strip():
        found = _PARAMETER.match(text, position)
        if found is None:
            raise invalid(f"Looking for parameter name, but found {text[position:]}")
        value = found[2] if found[2] is not None else found[3]
        parameters.setdefault(found[1], []).append(value)
        position = found.end()
    return parameters


def TransformGraph(
    input_graph_def: Any, inputs: Sequence[str], outputs: Sequence[str], transforms: Sequence[str]
) -> Any:
    """A GraphDef rewritten by each of `transforms` in turn, as `name` or `name(key=value, ...)`."""
    from weft.lib.tools import constant_transforms, node_transforms  # noqa: F401  (they register)

    graph_def = input_graph_def
    for call in parse(" ".join(transforms), inputs, outputs):
        if call.name not in TRANSFORMS:
            raise invalid(f"Transform '{call.name}' not recognized.")
        logging.info("Applying %s", call.name)
        ignored = call.one("ignore_errors", "false")
        if ignored not in ("true", "false"):
            raise invalid(f"ignore_errors should be true or false, found {ignored}")
        try:
            graph_def = TRANSFORMS[call.name](graph_def, call)
        except (errors.OpError, ValueError) as error:
            if ignored != "true":
                raise
            logging.error("%s: Ignoring error %s", call.name, error)
    return graph_def
