"""tf.train.basic_train_loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import errors
from weft.lib.train.sessions.supervisor import Supervisor


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., Any],
    args: Any = None,
    kwargs: Any = None,
    master: str = "",
) -> None:
    """Calls `train_step_fn(sess, ...)` until the supervisor stops; again when a peer was lost."""
    while True:
        try:
            with supervisor.managed_session(master) as sess:
                while not supervisor.should_stop():
                    train_step_fn(sess, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue
