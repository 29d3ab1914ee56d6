"""Patterns of operations, and the places of a graph that fit them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from weft.graph.operation import Operation
from weft.graph.tensor import Tensor

_MOST_INPUTS = 8


class Pattern:
    """Something that an operation, reached through one of its outputs, may fit."""

    name: str | None = None

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What fitted which part of the pattern; None if `op` does not fit."""
        raise NotImplementedError('Method "match" not implemented.')


class MatchResult:
    """The operation, and the output of it that was used, for each part of a pattern."""

    def __init__(self) -> None:
        self._found: dict[Pattern, tuple[Operation, Tensor | None]] = {}
        self._names: dict[str, Pattern] = {}

    def add(self, pattern: Pattern, op: Operation, tensor: Tensor | None) -> None:
        """Notes that `op` fits `pattern`."""
        label = pattern.name
        if label is not None and self._names.setdefault(label, pattern) is not pattern:
            raise ValueError(f"Name {label} is already bound to another pattern")
        self._found[pattern] = (op, tensor)

    def merge_from(self, other_match_result: MatchResult) -> None:
        """Takes over what another match found."""
        self._found |= other_match_result._found
        self._names |= other_match_result._names

    def _look_up(self, key: Any) -> tuple[Operation | None, Tensor | None]:
        if not isinstance(key, Pattern | str):
            raise ValueError(f"pattern_or_name has type {type(key)}. Expect Pattern or str.")
        pattern = self._names.get(key) if isinstance(key, str) else key
        return self._found.get(pattern, (None, None))  # type: ignore[arg-type]

    def get_op(self, pattern_or_name: Any) -> Operation | None:
        """The operation that fits a pattern, or None."""
        return self._look_up(pattern_or_name)[0]

    def get_tensor(self, pattern_or_name: Any) -> Tensor | None:
        """The output through which the operation of a pattern was reached, or None."""
        return self._look_up(pattern_or_name)[1]


class OpTypePattern(Pattern):
    """Operations of given types ("Relu|Relu6", or "*" for any) with inputs that fit patterns."""

    def __init__(
        self,
        op_type: str,
        name: str | None = None,
        inputs: Sequence[Any] | None = None,
        ordered_inputs: bool = True,
    ) -> None:
        if len(inputs or ()) > _MOST_INPUTS:
            raise ValueError("Only < 8 inputs are allowed when ordered_inputs is False.")
        self.name = name
        self._types = None if op_type == "*" else frozenset(op_type.split("|"))
        self._inputs = tuple(
            OpTypePattern(each) if isinstance(each, str) else each for each in inputs or ()
        )
        self._ordered = ordered_inputs

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """What fitted; no patterns of inputs accept any inputs."""
        if self._types is not None and op.type not in self._types:
            return None
        if self._inputs and len(op.inputs) != len(self._inputs):
            return None
        orders = [self._inputs] if self._ordered else itertools.permutations(self._inputs)
        parts = next(filter(None, (_all_fit(op, order) for order in orders)), None)
        if self._inputs and parts is None:
            return None
        result = MatchResult()
        result.add(self, op, tensor)
        for part in parts or ():
            result.merge_from(part)
        return result


def _all_fit(op: Operation, patterns: Sequence[Pattern]) -> list[MatchResult] | None:
    """The matches of every input with its pattern; None as soon as one fails."""
    found = []
    for tensor, pattern in zip(op.inputs, patterns, strict=False):
        result = pattern.match(tensor.op, tensor)
        if result is None:
            return None
        found.append(result)
    return found


class OneofPattern(Pattern):
    """The first of several patterns that fits."""

    def __init__(self, sub_patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(sub_patterns)

    def match(self, op: Operation, tensor: Tensor | None) -> MatchResult | None:
        """The match of the first pattern that fits."""
        tries = (pattern.match(op, tensor) for pattern in self._patterns)
        return next((result for result in tries if result is not None), None)


class GraphMatcher:
    """Finds where a pattern fits."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern

    def match_op(self, op: Operation) -> MatchResult | None:
        """The match that ends at `op`, or None."""
        return self._pattern.match(op, None)

    def match_ops(self, ops: Iterable[Operation]) -> Iterator[MatchResult]:
        """The matches that end at any of `ops`."""
        return (result for op in ops if (result := self.match_op(op)) is not None)

    def match_graph(self, graph: Any) -> Iterator[MatchResult]:
        """The matches that end anywhere in a graph."""
        return self.match_ops(graph.get_operations())
