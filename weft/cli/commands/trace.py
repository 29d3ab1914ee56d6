"""`weft trace`: what all processes, devices and threads did, on one time axis, in a page."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from weft.cli import credentials
from weft.cli.numbers import port, positive
from weft.cli.terminal import complain

EXAMPLES = """\
  weft trace train.py --epochs 1        run a program, then look at its steps on one time axis
  weft trace grpc://localhost:2222      the next steps of a running cluster
  weft trace steps.json.gz              a recorded trace again
"""
_DESCRIPTION = """\
Shows steps on one time axis, in a page: every process, device and thread, the operations inside of
compiled programs, transfers, waits, compilations and Python functions, and what idle time was spent
waiting for. TARGET is
  a program             it is run as `weft run` runs it, and traced from its first session on
  grpc://host:port      a server: the next steps of all tasks of its cluster
  http://host:port      a page of `weft server --status`, or a model server
  a file                a trace that was saved (also one of Chrome's or Perfetto's)
  a folder              what processes with WEFT_TRACE=folder have left
"""
_SCHEMES = "grpc://", "grpcs://", "http://", "https://"
_MISSING = (
    "the page needs libraries of its own: pip install 'weft[serve]' (missing: {});"
    " --output FILE needs none"
)
Json = dict[str, Any]


def add_parser(commands: Any) -> Any:
    parser = commands.add_parser(
        "trace", help="look at steps on a time axis", description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage="weft trace [options] TARGET [ARGS ...]",
    )  # fmt: skip
    parser.add_argument("--steps", metavar="N", type=positive, default=100,
                        help="of a server: so many steps (100)")  # fmt: skip
    parser.add_argument("--seconds", metavar="S", type=float, default=10.0,
                        help="of a server: no longer than that (10)")  # fmt: skip
    parser.add_argument("--no-ops", action="store_true",
                        help="without the operations inside of compiled programs")  # fmt: skip
    parser.add_argument("--output", metavar="FILE",
                        help="write the trace there, for later, Perfetto or chrome://tracing, and"
                        " show no page")  # fmt: skip
    parser.add_argument("--port", metavar="N", type=port, default=0,
                        help="of the page, on this machine (one that is free)")  # fmt: skip
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    credentials.add_arguments(parser)
    parser.add_argument("target", metavar="TARGET")
    parser.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS", help="of the program")
    return parser


def run(arguments: Any) -> int:
    """Makes or reads the trace, then writes it or shows it until it is interrupted."""
    from weft.core import errors

    try:
        trace, record, code = _traced(arguments)
    except (errors.OpError, ValueError, OSError) as error:
        complain("trace", getattr(error, "message", None) or error)
        return 2
    if arguments.output:
        from weft.traces import files

        files.write(trace, arguments.output)
        sys.stderr.write(f"weft trace: {_size(trace)} in {arguments.output}\n")
        return code
    return _show(arguments, trace, record) or code


def _traced(arguments: Any) -> tuple[Json, Callable[[], Json] | None, int]:
    """The trace, how to make another, and the exit code of the program."""
    from weft.traces import files

    target = arguments.target
    if target.startswith(_SCHEMES):
        record = _recorder(arguments)
        return record(), record, 0
    if os.path.isdir(target) or target.endswith((".json", ".gz")):
        trace = files.read(target)
        trace.setdefault("weft", {}).setdefault("about", {}).setdefault("title", target)
        return trace, None, 0
    trace, code = _run_program(arguments)
    return trace, None, code


def _recorder(arguments: Any) -> Callable[[], Json]:
    """A function that records the steps of a server."""
    from weft.cluster.guard.security import Identity

    target = arguments.target
    identity = Identity(credentials.credentials_of(arguments), tls=target.startswith("grpcs://"))
    limits = arguments.steps, arguments.seconds, not arguments.no_ops

    def record() -> Json:
        if target.startswith("http"):
            from weft.traces.pages import record_page

            trace = record_page(target, identity, *limits)
        else:
            from weft.traces.cluster import TracedCluster

            cluster = TracedCluster(target, identity)
            try:
                trace = cluster.record(*limits)
            finally:
                cluster.close()
        trace["weft"].setdefault("about", {})["title"] = target
        return trace

    return record


def _run_program(arguments: Any) -> tuple[Json, int]:
    """Runs the program in a process of its own, which leaves recordings, as its children do."""
    from weft.core import flags
    from weft.traces import files

    with tempfile.TemporaryDirectory(prefix="weft-trace-") as folder:
        environment = {**os.environ, flags.TRACE.name: folder}
        if arguments.no_ops:
            environment[flags.TRACE_OPS.name] = "none"
        command = [sys.executable, "-m", "weft", "run", arguments.target, *arguments.args]
        code = subprocess.run(command, env=environment, check=False).returncode
        if code:
            sys.stderr.write(f"weft trace: {arguments.target} has ended with exit code {code}\n")
        trace = files.read(folder)
    trace["weft"]["about"] = {"title": " ".join([arguments.target, *arguments.args])}
    return trace, code


def _size(trace: Json) -> str:
    return f"{sum(event['ph'] == 'X' for event in trace['traceEvents']):,} events"


def _show(arguments: Any, trace: Json, record: Callable[[], Json] | None) -> int:
    try:
        from weft.pages.trace import TracePage
    except ModuleNotFoundError as error:
        complain("trace", _MISSING.format(error.name))
        return 2
    page = TracePage(trace, record)
    address = page.site.listen("localhost", arguments.port)
    sys.stdout.write(f"{address}\n")
    sys.stderr.write(f"weft trace: {_size(trace)}; Ctrl-C ends the page\n")
    sys.stdout.flush()
    if arguments.open:
        import webbrowser

        webbrowser.open(address)
    try:
        while True:
            time.sleep(3600.0)
    except KeyboardInterrupt:
        page.site.stop()
    return 0
