"""Tracebacks as they are shown: the user's frames, and the call of weft that failed.

An exception keeps all its frames, for programs that look at them and for debuggers: only what is
printed at the end of a program, a thread, or a cell of a notebook is shorter.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

from weft.core import flags
from weft.core.user_frames import is_below, is_own

Hook = Callable[[type[BaseException], BaseException, TracebackType | None], Any]


def install() -> None:
    """Shortens what Python and IPython show, unless the program has its own way to show errors."""
    if flags.TRACEBACK.value == "full":
        return
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = shortening(sys.__excepthook__)
    if threading.excepthook is threading.__excepthook__:
        threading.excepthook = _show_of_thread
    _install_in_ipython()


def shortening(show: Hook) -> Hook:
    """A hook that shows an error as `show` does, with fewer frames."""

    def show_short(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        with _shortened(error):
            show(kind, error, shortened(trace))

    return show_short


def _show_of_thread(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is None:
        threading.__excepthook__(args)
        return
    with _shortened(args.exc_value):
        trace = shortened(args.exc_traceback)
        short = (args.exc_type, args.exc_value, trace, args.thread)
        threading.__excepthook__(threading.ExceptHookArgs(short))


def _install_in_ipython() -> None:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or shell.custom_exceptions:
        return

    def show(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: int | None = None) -> None:
        with _shortened(error):
            shell.showtraceback((kind, error, shortened(trace)), tb_offset=tb_offset)
        sys.last_traceback = trace  # for `%debug`

    shell.set_custom_exc((Exception,), show)


@contextlib.contextmanager
def _shortened(error: BaseException) -> Iterator[None]:
    """Inside, an error and those it came from have short tracebacks.

    A cause that came up inside of weft alone is left out: the error that it led to says as much.
    """
    before = [(each, each.__traceback__, _reasons(each)) for each in _chain(error)]
    for each, trace, (cause, context, is_suppressed) in before:
        each.__traceback__ = shortened(trace)
        if is_suppressed or cause is not None:
            context = None
        _set_reasons(each, _told(cause), _told(context), is_suppressed)
    try:
        yield
    finally:
        for each, trace, reasons in before:
            each.__traceback__ = trace
            _set_reasons(each, *reasons)


Reasons = tuple[BaseException | None, BaseException | None, bool]


def _reasons(error: BaseException) -> Reasons:
    return error.__cause__, error.__context__, error.__suppress_context__


def _set_reasons(
    error: BaseException,
    cause: BaseException | None,
    context: BaseException | None,
    is_suppressed: bool,
) -> None:
    error.__cause__, error.__context__ = cause, context
    error.__suppress_context__ = is_suppressed  # last, for the cause sets it


def _told(reason: BaseException | None) -> BaseException | None:
    """The reason of an error, if the user's code had a part in it."""
    if reason is None or flags.TRACEBACK.value == "full":
        return reason
    frames = [entry.tb_frame for entry in _entries(reason.__traceback__)]
    of_user = [frame for frame in frames if not (is_own(frame) or is_below(frame))]
    return reason if of_user or not frames else None


def _chain(error: BaseException | None) -> list[BaseException]:
    """An error, and all that are shown with it."""
    found: dict[int, BaseException] = {}
    rest = [error]
    while rest:
        each = rest.pop()
        if each is not None and id(each) not in found:
            found[id(each)] = each
            rest += [each.__cause__, each.__context__]
            rest += each.exceptions if isinstance(each, BaseExceptionGroup) else ()
    return list(found.values())


def shortened(trace: TracebackType | None) -> TracebackType | None:
    """A traceback without weft's frames, but for the call that led to the end.

    What weft calls goes with it, unless that is the user's again, as in a `model_fn`. Where no
    frame is the user's, as in a thread of weft's own, all stay.
    """
    kept: list[TracebackType] = []
    call: TracebackType | None = None  # of weft, which has not called the user's code again
    for entry in _entries(trace):
        if is_own(entry.tb_frame):
            call = call or entry
        elif call is None or not is_below(entry.tb_frame):
            kept.append(entry)
            call = None
    if not kept or flags.TRACEBACK.value == "full":
        return trace
    return _linked(kept if call is None else [*kept, call])


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


def _linked(entries: list[TracebackType]) -> TracebackType | None:
    linked: TracebackType | None = None
    for entry in reversed(entries):
        linked = TracebackType(linked, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return linked
