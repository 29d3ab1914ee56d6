"""Names of `tensorflow.python.ops.distributions.util`."""

from __future__ import annotations

import hashlib
from typing import Any


def gen_new_seed(seed: Any, salt: str) -> int | None:
    """Another seed that follows from `seed`; the salt tells uses apart."""
    if seed is None:
        return None
    digest = hashlib.md5(f"{seed}{salt}".encode()).hexdigest()
    return int(digest[:8], 16) % 2**31
