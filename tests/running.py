"""Ways to run things that many tests share."""

from __future__ import annotations

from typing import Any

import weft as tf


def run_initialized(*fetches: Any) -> list[Any]:
    """The values of `fetches` in a new session, once all variables are initialized."""
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(list(fetches))
