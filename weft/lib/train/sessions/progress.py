"""A line on the terminal that says how far training is. Logs never see it."""

from __future__ import annotations

import sys
import time
from typing import Any, TextIO

from weft.lib.train.sessions.session_run_hook import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
)
from weft.ops.state.global_step import _get_or_create_global_step_read


class ProgressHook(SessionRunHook):
    """Shows the global step and the speed, a few times a second, always in the same line."""

    EVERY_SECS = 0.2

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def begin(self) -> None:
        self._step_tensor = _get_or_create_global_step_read()
        self._began: tuple[float, int] | None = None
        self._shown = 0.0

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        return None if self._step_tensor is None else SessionRunArgs(self._step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results is None:
            return
        now, step = time.monotonic(), int(run_values.results) + 1
        if self._began is None:
            self._began = now, step
        elif now >= self._shown + self.EVERY_SECS:
            self._shown = now
            seconds, steps = now - self._began[0], step - self._began[1]
            self._show(f"step {step:,}  {steps / seconds:,.1f} steps/s  {seconds:,.0f} s\r")

    def _show(self, text: str) -> None:
        # The cursor goes back to the start, so that a log message takes the place of the line.
        stream = self._stream or sys.stderr
        stream.write(f"\x1b[2K{text}")
        stream.flush()

    def end(self, session: Any) -> None:
        if self._shown:
            self._show("")
