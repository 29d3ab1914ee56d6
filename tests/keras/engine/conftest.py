"""Small models run on NumPy: compiling them would take longer than the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from weft.core import flags


@pytest.fixture(autouse=True)
def without_compiling() -> Iterator[None]:
    with flags.XLA.override(False):
        yield
