"""tf.contrib.learn.datasets: sets that programs ask for by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.lib.contrib.learn.datasets import base as base
from weft.lib.contrib.learn.datasets import mnist as mnist

DATASETS: dict[str, Callable[[], Any]] = {"iris": base.load_iris, "mnist": mnist.load_mnist}


def load_dataset(name: str, size: str = "small", test_with_fake_data: bool = False) -> Any:
    """A dataset by name."""
    if name not in DATASETS:
        raise ValueError(f"Name of dataset is not found: {name}")
    return DATASETS[name]()


load_iris = base.load_iris
