"""Estimators run node by node here, and leave no writers of events open."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import weft as tf
from weft.core import flags


@pytest.fixture(autouse=True)
def closes_writers(leaves_nothing_behind: Any) -> Iterator[None]:
    with flags.XLA.override(False):
        yield
    tf.summary.FileWriterCache.clear()
