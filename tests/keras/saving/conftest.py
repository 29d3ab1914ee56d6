"""Models run node by node here: what XLA makes of them is not the question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft.core import flags


@pytest.fixture(autouse=True)
def without_compiling() -> Iterator[None]:
    with flags.XLA.override(False):
        yield
