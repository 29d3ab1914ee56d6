"""Functions with the parameters of another."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from weft.core.signatures import with_parameters_of


def model(a: int, b: int = 2, *, c: int = 3) -> int:
    return a + b + c


@with_parameters_of(model, b=5)
def given(**arguments: Any) -> dict[str, Any]:
    """What it was called with."""
    return arguments


@with_parameters_of(model, without=("b",))
def fewer(**arguments: Any) -> dict[str, Any]:
    return arguments


def test_all_parameters_arrive_by_name() -> None:
    assert given(1) == {"a": 1, "b": 5, "c": 3}
    assert given(1, 2, c=4) == {"a": 1, "b": 2, "c": 4}
    assert fewer(1) == {"a": 1, "c": 3}


def test_it_looks_like_the_model() -> None:
    assert list(inspect.signature(given).parameters) == ["a", "b", "c"]
    assert inspect.signature(given).parameters["b"].default == 5
    assert list(inspect.signature(fewer).parameters) == ["a", "c"]
    assert (given.__name__, given.__doc__) == ("given", "What it was called with.")


def test_further_keywords_arrive_as_they_are() -> None:
    def takes_more(a: int, **more: Any) -> None: ...

    @with_parameters_of(takes_more)
    def given_more(**arguments: Any) -> dict[str, Any]:
        return arguments

    assert given_more(1, x=2) == {"a": 1, "x": 2}
    assert given_more(1) == {"a": 1}


def test_parameters_in_between() -> None:
    @with_parameters_of(model, without=("b",), extra={"x": ("a", 7), "y": ("x", None)})
    def given_more(**arguments: Any) -> dict[str, Any]:
        return arguments

    assert given_more(1, 2) == {"a": 1, "x": 2, "y": None, "c": 3}
    assert list(inspect.signature(given_more).parameters) == ["a", "x", "y", "c"]


def test_methods() -> None:
    class Base:
        def __init__(self, a: int, b: int = 2) -> None:
            self.sum = a + b

    class Derived(Base):
        @with_parameters_of(Base.__init__, without=("b",))
        def __init__(self, **arguments: Any) -> None:
            super().__init__(**arguments, b=10)

    assert Derived(1).sum == 11
    assert list(inspect.signature(Derived).parameters) == ["a"]


@pytest.mark.parametrize("arguments", [(), (1, 2, 3)])
def test_wrong_calls_are_refused(arguments: tuple[int, ...]) -> None:
    with pytest.raises(TypeError, match=r"^given\(\) .*argument"):
        given(*arguments)
