"""Hooks: what a program wants done before and after every step of a monitored session."""

from __future__ import annotations

from typing import Any, NamedTuple


class SessionRunArgs(NamedTuple):
    """Additions of a hook to a step: fetches in any structure, feeds, options."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """Results of a step: the values of the hook's fetches, and the options it ran with."""

    results: Any
    options: Any
    run_metadata: Any


class SessionRunContext:
    """The step as a hook sees it, by which it can also ask for the end of training."""

    def __init__(self, original_args: SessionRunArgs, session: Any) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """The arguments that the program passed to `run`."""
        return self._original_args

    @property
    def session(self) -> Any:
        return self._session

    @property
    def stop_requested(self) -> bool:
        return self._stop_requested

    def request_stop(self) -> None:
        """`should_stop()` of the session is true from now on."""
        self._stop_requested = True


class SessionRunHook:
    """Called by monitored sessions. Each method may be left out."""

    def begin(self) -> None:
        """Before the session is made: the last chance to change the graph."""

    def after_create_session(self, session: Any, coord: Any) -> None:
        """When the session is initialized, also after it had to be made anew."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Before a step; what it returns is run with the step."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """After a step that did not fail."""

    def end(self, session: Any) -> None:
        """At the end of training, unless by an error."""
