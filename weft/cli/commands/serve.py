"""`weft serve`: the command line of the model server."""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import signal
import sys
from dataclasses import replace
from typing import Any

from weft.cli import credentials
from weft.cli.numbers import count, port, positive
from weft.cli.terminal import complain

EXAMPLES = """\
  weft serve --model NAME=folder        a model server, for TensorFlow Serving's clients
"""

_MEGABYTE = 1 << 20
_LOOK_EVERY = 0.5  # seconds until signals are looked for again
_EXAMPLE = """\
example:
  weft serve --model half_plus_two=/models/half_plus_two
  curl http://localhost:8501/v1/models/half_plus_two:predict -d '{"instances": [1.0, 2.0, 5.0]}'

The page at http://localhost:8501/ shows the models and tries them. A model's folder holds a folder
for each version, named by its number; a folder that is a SavedModel itself is served as version 1.
SIGHUP reads the config file again; SIGTERM ends the server when what it has begun is done.
"""
_LIBRARIES = "prometheus_client", "starlette", "uvicorn"
_MISSING = "the server needs libraries of its own: pip install 'weft[serve]' (missing: {})"


def add_parser(commands: Any) -> Any:
    parser = commands.add_parser(
        "serve",
        help="serve SavedModels, as tensorflow_model_server does",
        description="Serves SavedModels by TensorFlow Serving's gRPC and REST interfaces. The"
        " options of tensorflow_model_server have their names here too.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_models(parser)
    _add_addresses(parser)
    _add_batching(parser)
    _add_operation(parser)
    credentials.add_arguments(parser)
    parser.add_argument(
        "--insecure", action="store_true",
        help="listen to other machines without a token or TLS: anyone who reaches a port may ask",
    )  # fmt: skip
    return parser


def _both(*names: str) -> list[str]:
    """Options in weft's spelling and in TensorFlow Serving's."""
    return [f"--{name}" for name in names]


def _add_models(parser: Any) -> None:
    group = parser.add_argument_group("models")
    group.add_argument(
        "--model", metavar="NAME=PATH", action="append", default=[],
        help="a model and its folder; may be given several times",
    )  # fmt: skip
    group.add_argument("--model_name", metavar="NAME", help=argparse.SUPPRESS, default="default")
    group.add_argument("--model_base_path", metavar="PATH", help=argparse.SUPPRESS)
    group.add_argument(
        *_both("config", "model_config_file"), dest="config", metavar="FILE",
        help="a ModelServerConfig as text: several models, versions, labels",
    )  # fmt: skip
    group.add_argument(
        *_both("config-poll", "model_config_file_poll_wait_seconds"), dest="config_poll",
        metavar="SECONDS", type=float, default=0.0, help="read it again so often (never)",
    )  # fmt: skip
    group.add_argument(
        *_both("poll", "file_system_poll_wait_seconds"), dest="poll", metavar="SECONDS", type=float,
        default=1.0, help="look for new versions so often (1)",
    )  # fmt: skip
    group.add_argument(
        *_both("tags", "saved_model_tags"), dest="tags", metavar="TAGS", default="serve",
        help="of the graph in a SavedModel (serve)",
    )  # fmt: skip
    group.add_argument(
        "--memory", metavar="MB", type=positive,
        help="memory for all models; a version beyond that is refused",
    )  # fmt: skip
    group.add_argument(
        *_both("labels-in-advance", "allow_version_labels_for_unavailable_models"),
        dest="labels_in_advance", nargs="?", const=True, type=_truth, default=False,
        help="new labels may name versions that are not there yet",
    )  # fmt: skip
    group.add_argument("--enable_model_warmup", type=_truth, default=True, help=argparse.SUPPRESS)
    group.add_argument(
        "--num_request_iterations_for_warmup", type=count, default=0, help=argparse.SUPPRESS
    )


def _add_addresses(parser: Any) -> None:
    group = parser.add_argument_group("addresses")
    group.add_argument("--host", default="localhost", help="where to listen (localhost)")
    group.add_argument(
        *_both("port", "grpc-port"), dest="port", metavar="N", type=port, default=8500,
        help="of gRPC (8500); 0: none",
    )  # fmt: skip
    group.add_argument(
        *_both("rest-port", "rest_api_port"), dest="rest_port", metavar="N", type=port,
        default=8501, help="of REST, metrics and the page (8501); 0: none",
    )  # fmt: skip
    group.add_argument(
        *_both("socket", "grpc_socket_path"), dest="socket", metavar="PATH", default="",
        help="a Unix socket for gRPC",
    )  # fmt: skip
    group.add_argument("--rest-socket", metavar="PATH", default="", help="one for REST")


def _add_batching(parser: Any) -> None:
    group = parser.add_argument_group("batching")
    group.add_argument(
        *_both("batch", "enable_batching"), dest="batch", nargs="?", const=True, type=_truth,
        default=False, help="put requests together",
    )  # fmt: skip
    group.add_argument(
        *_both("batching", "batching_parameters_file"), dest="batching", metavar="FILE",
        help="BatchingParameters as text",
    )  # fmt: skip
    group.add_argument(
        "--enable_per_model_batching_parameters", dest="own_batching", nargs="?", const=True,
        type=_truth, default=False,
        help="a version's own batching_params.pbtxt counts",
    )  # fmt: skip


def _add_operation(parser: Any) -> None:
    group = parser.add_argument_group("operation")
    group.add_argument("--max-message", metavar="MB", type=positive, help="memory for one request")
    group.add_argument("--max-calls", metavar="N", type=positive, default=1000,
                       help="requests at once (1000)")  # fmt: skip
    group.add_argument(
        *_both("rest-timeout", "rest_api_timeout_in_ms"), dest="rest_timeout", metavar="MS",
        type=positive, default=30000, help="for an answer by REST (30000)",
    )  # fmt: skip
    group.add_argument("--rest_api_num_threads", type=count, default=0, help=argparse.SUPPRESS)
    group.add_argument("--grpc_max_threads", type=count, default=0, help=argparse.SUPPRESS)
    group.add_argument("--rest_api_enable_cors_support", dest="cors", nargs="?", const=True,
                       type=_truth, default=False, help="answer pages of other sites")  # fmt: skip
    group.add_argument("--enable_serialization_as_tensor_content", dest="as_content", nargs="?",
                       const=True, type=_truth, default=False, help=argparse.SUPPRESS)  # fmt: skip
    group.add_argument("--monitoring_config_file", help=argparse.SUPPRESS)
    group.add_argument("--request-log", metavar="FILE", default="",
                       help="a line of JSON for each request; - is the standard error")  # fmt: skip
    group.add_argument("--request-log-sample", metavar="PART", type=_part, default=1.0,
                       help="the part of requests that is logged, 0 to 1 (1)")  # fmt: skip
    group.add_argument("--grace", metavar="SECONDS", type=float, default=15.0,
                       help="for requests under way when the server is to end (15)")  # fmt: skip


def _truth(text: str) -> bool:
    if text.lower() in ("true", "1", "t", "yes"):
        return True
    if text.lower() in ("false", "0", "f", "no"):
        return False
    raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")


def _part(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0.0 <= found <= 1.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return found


# ---- running ------------------------------------------------------------------------------------


def run(arguments: Any) -> int:
    """Serves until the process is told to stop."""
    try:
        from weft.serve.server import ModelServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _LIBRARIES:
            raise
        complain("serve", _MISSING.format(error.name))
        return 2
    from weft.core import errors

    orders = _Orders()
    try:
        server = ModelServer(options_of(arguments))
        server.start()
    except (errors.OpError, ValueError, OSError) as error:
        complain("serve", getattr(error, "message", None) or error)
        return 2
    for address in server.addresses:
        sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    sys.stderr.write(f"weft serve: {server.reach}\n")
    while orders.next() == "reload":
        server.reload_or_complain()
    server.stop(arguments.grace)
    return 0


class _Orders:
    """What signals ask for: SIGHUP to read the config again, SIGTERM and SIGINT to stop."""

    def __init__(self) -> None:
        self._given: queue.SimpleQueue[str] = queue.SimpleQueue()
        signals = {"SIGTERM": "stop", "SIGINT": "stop", "SIGHUP": "reload"}
        for name, order in signals.items():
            number = getattr(signal, name, None)  # not every system has all of them
            if number is not None:
                signal.signal(number, lambda *_, order=order: self._given.put(order))

    def next(self) -> str:
        """The next order, when it comes.

        A signal that comes just as the wait begins does not end it, so waits are short.
        """
        while True:
            with contextlib.suppress(queue.Empty):
                return self._given.get(timeout=_LOOK_EVERY)


def options_of(arguments: Any) -> Any:
    """The options that the command line means. OpError or ValueError if it makes no sense."""
    from weft.cluster.guard.security import Identity
    from weft.serve.config import read_metrics_path
    from weft.serve.server import Options
    from weft.storage import file_io

    if not any((arguments.port, arguments.rest_port, arguments.socket, arguments.rest_socket)):
        raise ValueError("nowhere to listen: it takes a port or a Unix socket")
    own = credentials.credentials_of(arguments)
    Identity(own).check_open_to(f"{arguments.host}:0", arguments.insecure)
    made = Options(
        models=_models(arguments), config_file=os.path.abspath(arguments.config or "") if
        arguments.config else "", host=arguments.host, grpc_port=arguments.port or None,
        rest_port=arguments.rest_port or None, grpc_socket=arguments.socket,
        rest_socket=arguments.rest_socket, batching=_batching(arguments),
        own_batching=arguments.own_batching, tags=tuple(arguments.tags.split(",")),
        poll_seconds=arguments.poll, config_poll_seconds=arguments.config_poll,
        memory=(arguments.memory or 0) * _MEGABYTE, labels_in_advance=arguments.labels_in_advance,
        warms_up=arguments.enable_model_warmup,
        warm_up_runs=max(1, arguments.num_request_iterations_for_warmup), credentials=own,
        calls=arguments.max_calls, rest_seconds=arguments.rest_timeout / 1e3,
        rest_threads=arguments.rest_api_num_threads, grpc_threads=arguments.grpc_max_threads,
        cors=arguments.cors,
        as_content=arguments.as_content, request_log=arguments.request_log,
        sampling=arguments.request_log_sample,
    )  # fmt: skip
    if arguments.monitoring_config_file:
        path = read_metrics_path(file_io.read_file_to_string(arguments.monitoring_config_file))
        made = replace(made, metrics_path=path or made.metrics_path)
    if arguments.max_message is not None:
        made = replace(made, message_limit=arguments.max_message * _MEGABYTE)
    return made


def _models(arguments: Any) -> tuple[Any, ...]:
    from weft.serve.config import ModelConfig

    given = list(arguments.model)
    if arguments.model_base_path:
        given.append(f"{arguments.model_name}={arguments.model_base_path}")
    if not given and not arguments.config:
        raise ValueError("no model: it takes --model NAME=PATH, or --config FILE")
    found = {}
    for each in given:
        name, equals, path = each.partition("=")
        if not (name and equals and path):
            raise ValueError(f"{each!r} is not of the form NAME=PATH")
        if name in found:
            raise ValueError(f"the model {name} is given twice")
        found[name] = path if "://" in path else os.path.abspath(path)
    return tuple(ModelConfig(name, path) for name, path in found.items())


def _batching(arguments: Any) -> Any:
    from weft.serve.config import Batching, read_batching
    from weft.storage import file_io

    if arguments.batching:
        return read_batching(file_io.read_file_to_string(arguments.batching))
    return Batching() if arguments.batch else None
