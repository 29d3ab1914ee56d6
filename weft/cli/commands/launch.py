"""`weft launch`: a whole cluster, every task a process that runs one program.

Each process learns from TF_CONFIG, and from what is put in for `{job}`, `{task}`, `{ps_hosts}` and
`{worker_hosts}` in its arguments, who it is and where the others are. An engine decides where the
processes run.
"""

from __future__ import annotations

from typing import Any

from weft.cli import credentials
from weft.cli.launching.engines import ENGINES, all_options, given_options
from weft.cli.launching.launcher import USAGE
from weft.cli.launching.plan import GRACE_SECONDS
from weft.cli.launching.request import STANDARD_FLAGS, LaunchError, Request, variables
from weft.cli.numbers import count
from weft.cli.terminal import complain

EXAMPLES = """\
  weft launch --ps 2 --workers 4 train.py
                                        a whole cluster on this machine
  weft launch -n 4 train.py             four processes that sum their gradients, as for Horovod
  weft launch -n 4 --min-np 2 train.py  the same, with hvd.elastic: goes on with those that are left
  weft launch --engine ray --address auto --workers 4 --gpus 1 train.py
                                        the same on a cluster of Ray
  weft launch --engine kubernetes --image weft train.py | kubectl apply -f -
                                        the same on Kubernetes
"""


def add_parser(commands: Any) -> Any:
    launch = commands.add_parser(
        "launch",
        help="run a whole cluster, here, on Ray or on Kubernetes",
        description="Starts PROGRAM once for every task of a cluster, as `weft run` does, on this"
        " machine or by the engine that --engine names. Each finds its place in TF_CONFIG; in ARGS,"
        " {job}, {task}, {ps_hosts}, {worker_hosts} and {chief_hosts} are put in. It is over when"
        " all workers have ended, or one task has failed for good; the exit code is the chief's"
        " (worker 0, or the one of --chief).",
        usage="weft launch [options] PROGRAM [ARGS ...]\n"
        "       weft launch [options] -m MODULE [ARGS ...]",
    )
    launch.add_argument(
        "--engine", choices=tuple(ENGINES), default="local",
        help="what runs the tasks: this machine (local), Ray, or Kubernetes by manifests",
    )  # fmt: skip
    _add_tasks(launch)
    _add_policy(launch)
    _add_engines(launch)
    credentials.add_arguments(launch)
    launch.add_argument("-m", dest="is_module", action="store_true", help="PROGRAM is a module")
    launch.add_argument("program", metavar="PROGRAM", help="a Python file")
    args = launch.add_argument("args", metavar="ARGS", nargs="...", help="the program's own")
    args.required = False  # or argparse asks for them
    return launch


def _add_tasks(launch: Any) -> None:
    launch.add_argument(
        "-n", metavar="N", dest="processes", type=count, default=0,
        help="N processes that know each other by rank, in place of a cluster",
    )  # fmt: skip
    launch.add_argument("--ps", metavar="N", type=count, default=1, help="parameter servers (1)")
    launch.add_argument("--workers", metavar="N", type=count, default=2, help="workers (2)")
    launch.add_argument("--chief", action="store_true", help="a chief besides the workers")
    launch.add_argument(
        "--evaluator", action="store_true", help="an evaluator, outside the cluster"
    )
    launch.add_argument(
        "--flags", action="store_true", help=f"add {' '.join(STANDARD_FLAGS)} to the arguments"
    )
    launch.add_argument(
        "--env", metavar="NAME[=VALUE]", action="append", default=[],
        help="a variable of every task; without a value, the one that is set here",
    )  # fmt: skip


def _add_policy(launch: Any) -> None:
    launch.add_argument(
        "--restarts", metavar="N", type=count, default=3,
        help="how often in a row each task that dies within a minute is started again (3)",
    )  # fmt: skip
    launch.add_argument(
        "--no-restart", dest="restarts", action="store_const", const=0, help="never start one again"
    )
    launch.add_argument(
        "--until", choices=("workers", "chief"), default="workers",
        help="who must have ended for the run to be over (workers: all of them)",
    )  # fmt: skip
    launch.add_argument(
        "--grace", metavar="SECONDS", type=float, default=GRACE_SECONDS,
        help="how long a task may take to end after each of SIGINT, SIGTERM, SIGKILL (10)",
    )  # fmt: skip


def _add_engines(launch: Any) -> None:
    groups: dict[str, Any] = {}
    for option, engines in all_options().items():
        title = f"engine {' or '.join(engines)}"
        if title not in groups:
            groups[title] = launch.add_argument_group(title)
        option.add_to(groups[title])


def run(arguments: Any) -> int:
    """Carries the request out by the engine."""
    try:
        options = given_options(arguments)
        return ENGINES[arguments.engine].launch(_request(arguments), options)
    except LaunchError as error:
        complain("launch", error)
        return USAGE


def _request(arguments: Any) -> Request:
    """The cluster that was asked for."""
    counts = {"chief": int(arguments.chief), "worker": arguments.workers, "ps": arguments.ps}
    processes = arguments.processes or arguments.max_np or arguments.min_np
    if processes:
        counts = {"worker": processes}
    return Request(
        arguments.program,
        [*arguments.args, *(STANDARD_FLAGS if arguments.flags else ())],
        arguments.is_module,
        counts,
        arguments.evaluator,
        arguments.restarts,
        arguments.until == "chief",
        arguments.grace,
        {**credentials.environment_of(arguments), **variables(arguments.env)},
        arguments.cpus or 1.0,
        arguments.gpus or 0.0,
        bool(processes),
    )
