"""A short run of `soak.py`: clients that ask and are killed while versions come and go."""

from __future__ import annotations

import pytest

from tests.serve.serving import LIBRARIES as LIBRARIES
from tests.serve.soak import is_good, run


@pytest.mark.cluster
@pytest.mark.timeout(300)
def test_versions_change_under_load() -> None:
    found = run(minutes=0.25, clients=4)
    assert is_good(found), found
