"""Optimizers of canned estimators, which may be given by name."""

from __future__ import annotations

from typing import Any

from weft.lib.train.optimizers.adagrad import AdagradOptimizer
from weft.lib.train.optimizers.adam import AdamOptimizer
from weft.lib.train.optimizers.ftrl import FtrlOptimizer
from weft.lib.train.optimizers.gradient_descent import GradientDescentOptimizer
from weft.lib.train.optimizers.optimizer import Optimizer
from weft.lib.train.optimizers.rmsprop import RMSPropOptimizer

BY_NAME: dict[str, Any] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def get_optimizer_instance(opt: Any, learning_rate: float | None = None) -> Any:
    """An optimizer: as given, made by a function, or by name with this learning rate."""
    if isinstance(opt, str):
        return _by_name(opt, learning_rate)
    made = opt() if callable(opt) else opt
    if not isinstance(made, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {made}")
    return made


def _by_name(name: str, learning_rate: float | None) -> Optimizer:
    if name not in BY_NAME:
        raise ValueError(
            f"Unsupported optimizer name: {name}. Supported names are: {tuple(sorted(BY_NAME))}"
        )
    if not learning_rate:
        raise ValueError("learning_rate must be specified when opt is string.")
    return BY_NAME[name](learning_rate=learning_rate)
