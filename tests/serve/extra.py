"""Skips the tests that import it where the extra `weft[serve]` is not installed."""

from __future__ import annotations

import pytest

LIBRARIES = "starlette", "uvicorn", "prometheus_client"
for _library in LIBRARIES:
    pytest.importorskip(_library, reason="a library of the extra weft[serve] is not installed")
