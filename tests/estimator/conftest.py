"""Estimators leave the writers of their events open, for whoever goes on; tests do not."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def closes_writers(leaves_nothing_behind: Any) -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def log(caplog: Any) -> Callable[[], list[str]]:
    """The lines logged so far."""
    caplog.set_level(logging.INFO, "tensorflow")
    return lambda: [record.getMessage() for record in caplog.records]
