"""Rules for combining operators: which operator a product, an inverse, a factor of others is.

A rule is written for classes; the one for the nearest classes in the inheritance order holds.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from weft.graph.graph import name_scope

Rule = Callable[..., Any]


class Rules:
    """The rules for one operation: `@rules(A, B)` adds one, `rules.apply(a, b)` follows it."""

    def __init__(self, scope: str, missing: str) -> None:
        self._scope, self._missing = scope, missing
        self._rules: dict[tuple[type, ...], Rule] = {}

    def __call__(self, *kinds: type) -> Callable[[Rule], Rule]:
        def add(rule: Rule) -> Rule:
            if kinds in self._rules:
                names = ", ".join(kind.__name__ for kind in kinds)
                raise ValueError(f"{self._scope}({names}) has already been registered.")
            self._rules[kinds] = rule
            return rule

        return add

    def find(self, *kinds: type) -> Rule | None:
        """The rule whose classes are the fewest steps of inheritance away."""
        ancestors = [enumerate(kind.__mro__) for kind in kinds]
        best: tuple[int, Rule] | None = None
        for steps in itertools.product(*ancestors):
            rule = self._rules.get(tuple(kind for _, kind in steps))
            distance = sum(count for count, _ in steps)
            if rule is not None and (best is None or distance < best[0]):
                best = distance, rule
        return None if best is None else best[1]

    def apply(self, *operators: Any) -> Any:
        kinds = [type(operator) for operator in operators]
        rule = self.find(*kinds)
        if rule is None:
            raise ValueError(self._missing.format(*kinds))
        with name_scope(None, self._scope):
            return rule(*operators)


adjoint_rules = Rules("Adjoint", "No adjoint registered for {}")
cholesky_rules = Rules("Cholesky", "No cholesky decomposition registered for {}")
inverse_rules = Rules("Inverse", "No inverse registered for {}")
matmul_rules = Rules("Matmul", "No matmul registered for {}.matmul({})")
solve_rules = Rules("Solve", "No solve registered for {}.solve({})")

adjoint = adjoint_rules.apply
cholesky = cholesky_rules.apply
inverse = inverse_rules.apply
matmul = matmul_rules.apply
solve = solve_rules.apply
