"""How long XLA thinks about a program of the host: not at all about one that is run in no time.

A fusion goes through a compiler of its own before it reaches LLVM's, and that optimizes what it
gets. Without both, a small program is compiled in a tenth of the time, and a run of it takes some
microseconds more: tens of thousands of runs pass before that is as long as compiling has been.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from weft.runtime.xla.options import Options

# Elements that the operations of a program read and make, a product's counted each time.
LIGHT = 2**13
# What takes many operations for each element, and elements that are many.
_FUNCTIONS = frozenset(
    "cos erf erf_inv erfc exp exp2 expm1 log log1p logistic pow sin tan tanh".split()
)
_MANY = 2**12
AT_ONCE: Options = {
    "xla_cpu_use_fusion_emitters": False,
    "xla_cpu_parallel_codegen_split_count": 1,
    "xla_backend_optimization_level": 0,
    "xla_llvm_disable_expensive_passes": True,
}


def options(jaxpr: Any) -> Options:
    """How XLA is to compile a traced program, where not as it does by itself."""
    return AT_ONCE if work(jaxpr) <= LIGHT else {}


def work(jaxpr: Any) -> float:
    """How many elements a run of a traced program goes through; of loops only the end tells."""
    return sum(map(_work_of, jaxpr.eqns))


def has_functions(jaxpr: Any) -> bool:
    """Whether a traced program computes functions, such as exponentials, of many floats."""
    return any(
        (each.primitive.name in _FUNCTIONS and _size(each.outvars[0]) >= _MANY)
        or any(map(has_functions, inner(each)))
        for each in jaxpr.eqns
    )


def _work_of(equation: Any) -> float:
    if equation.primitive.name == "while":
        return math.inf
    inside: float = sum(map(work, inner(equation))) * equation.params.get("length", 1)
    again = _AGAIN.get(equation.primitive.name, _once)(equation)
    made = sum(map(_size, equation.outvars)) * again
    return max(inside, made + sum(map(_size, equation.invars)))


def inner(equation: Any) -> Iterator[Any]:
    """The programs inside of an operation."""
    for value in equation.params.values():
        for each in value if isinstance(value, (tuple, list)) else (value,):
            each = getattr(each, "jaxpr", each)  # of a closed one
            if hasattr(each, "eqns"):
                yield each


def _size(variable: Any) -> int:
    return math.prod(getattr(variable.aval, "shape", ()))


def _once(equation: Any) -> int:
    return 1


def _contracted(equation: Any) -> int:
    (axes, _), _ = equation.params["dimension_numbers"]
    return math.prod(equation.invars[0].aval.shape[i] for i in axes)


def _window(equation: Any) -> int:
    return math.prod(equation.params["window_dimensions"])


# How many elements go into each that is made, of operations that take more than a few.
_AGAIN: dict[str, Callable[[Any], int]] = {
    "dot_general": _contracted,
    "conv_general_dilated": lambda equation: _size(equation.invars[1]),
    "reduce_window": _window,
    "reduce_window_sum": _window,
    "reduce_window_max": _window,
    "reduce_window_min": _window,
    "select_and_scatter_add": _window,
    "select_and_gather_add": _window,
}
