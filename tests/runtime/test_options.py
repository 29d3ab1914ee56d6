"""Options of XLA's compiler that a release does not know."""

from __future__ import annotations

from typing import Any

import pytest

from weft.runtime.xla import options
from weft.runtime.xla.compile import load


class Lowered:
    """A program whose compiler knows some options; it notes those it was given."""

    def __init__(self, *known: str) -> None:
        self.known, self.asked = known, list[Any]()

    def compile(self, compiler_options: Any) -> str:
        self.asked.append(compiler_options)
        for name in compiler_options or ():
            if name not in self.known:
                raise RuntimeError(f"INVALID_ARGUMENT: No such compile option: '{name}'")
        return "compiled"


@pytest.fixture(autouse=True)
def nothing_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_unknown", set())


def test_only_what_is_unknown_is_left_out() -> None:
    program = Lowered("b")
    for _ in range(2):
        assert options.compile_with(program, {"a": 1, "b": 2, "c": 3}) == "compiled"
    assert program.asked == [{"a": 1, "b": 2, "c": 3}, {"b": 2, "c": 3}, {"b": 2}, {"b": 2}]
    assert options.compile_with(program, {"a": 1}) == "compiled"
    assert program.asked[-1] is None


def test_other_errors_are_not_asked_again() -> None:
    class Broken(Lowered):
        def compile(self, compiler_options: Any) -> str:
            self.asked.append(compiler_options)
            raise RuntimeError("No such compile option: 'of_somebody_else'")

    program = Broken()
    with pytest.raises(RuntimeError, match="of_somebody_else"):
        options.compile_with(program, {"a": 1})
    assert len(program.asked) == 1


def test_xla_says_so() -> None:
    lowered = load().jit(lambda x: x + 1).lower(1)
    assert options.compile_with(lowered, {"xla_of_another_release": True})(2) == 3
    assert "xla_of_another_release" in options._unknown
