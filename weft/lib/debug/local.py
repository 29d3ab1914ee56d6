"""A session with a prompt before and after its runs: tfdbg's command line."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.lib.debug import shared, words
from weft.lib.debug.analyzer import create_analyzer_ui
from weft.lib.debug.commands import (
    EXPLICIT_USER_EXIT,
    CommandLineExit,
    get_tensorflow_version_lines,
)
from weft.lib.debug.configuration import CLIConfig
from weft.lib.debug.dump import DebugDumpDir, has_inf_or_nan
from weft.lib.debug.dumping import check_free
from weft.lib.debug.names import get_graph_element_name
from weft.lib.debug.sessions import (
    BaseDebugWrapperSession,
    OnRunEndRequest,
    OnRunEndResponse,
    OnRunStartAction,
    OnRunStartRequest,
    OnRunStartResponse,
    OnSessionInitAction,
    OnSessionInitRequest,
    OnSessionInitResponse,
)
from weft.lib.debug.text import MAIN_MENU_KEY, MenuItem, RichTextLines
from weft.lib.debug.ui import get_ui


def _run_parser() -> argparse.ArgumentParser:
    parser = words.new_parser("Run through, with or without debug tensor watching.")
    add = parser.add_argument
    add("-t", "--times", type=int, default=1, help="How many runs to go on for.")
    add("-n", "--no_debug", action="store_true", help="Go on without watching.")
    add("-f", "--till_filter_pass", default="", help="Go on until this filter holds for a tensor.")
    add(
        "-fenn", "--filter_exclude_node_names", default="",
        help="With -f: nodes whose names match this pattern are passed over.",
    )  # fmt: skip
    for what in ("node_name", "op_type", "tensor_dtype"):
        named = what.replace("_", " ")
        add(f"--{what}_filter", default="", help=f"Watch only where the {named} matches.")
    add("-p", "--profile", action="store_true", help="Run with a trace, and show the profile.")
    return parser


class LocalCLIDebugWrapperSession(BaseDebugWrapperSession):
    """A session that stops before and after `run`, for the user to look at its tensors.

    Args:
        sess: the session.
        dump_root: a folder for the tensors of a run, empty or new; None: a temporary one.
        ui_type: "curses" fills the terminal; "readline" goes by lines.
        thread_name_filter: a pattern; runs of threads with other names are left alone.
        config_file_path: a file for the settings of the prompt.
    """

    def __init__(
        self, sess: Any, dump_root: str | None = None, log_usage: bool = True,
        ui_type: str = "curses", thread_name_filter: str | None = None,
        config_file_path: str | bool | None = False,
    ) -> None:  # fmt: skip
        super().__init__(sess, thread_name_filter=thread_name_filter)
        self._dump_root = os.path.expanduser(dump_root) if dump_root else ""
        check_free(self._dump_root, "dump_root")
        self._dump_root = self._dump_root or tempfile.mkdtemp(prefix="tfdbg_")
        self._ui_type = ui_type
        self._config = CLIConfig(str(config_file_path)) if config_file_path else None
        self._parsers = {
            "run": _run_parser(),
            "run_info": words.new_parser("Display information about this Session.run() call."),
            "print_feed": words.get_print_tensor_argparser(
                "Print the value of a feed in feed_dict."
            ),
        }
        self._tensor_filters: dict[str, Any] = {}
        self.add_tensor_filter("has_inf_or_nan", has_inf_or_nan)
        self._active_tensor_filter: str | None = None
        self._excluded: str | None = None  # by the filter that is active
        self._filter_response: Any = None
        self._run_through_times, self._skip_debug = 1, False
        self._run_start_response: Any = None
        self._is_run_start = True

    def add_tensor_filter(self, filter_name: str, tensor_filter: Any) -> None:
        """A filter that `run -f` and `lt -f` know by name: `tensor_filter(datum, value)`."""
        self._tensor_filters[filter_name] = tensor_filter

    def _is_disk_usage_reset_each_run(self) -> bool:
        return True  # dumps are removed when they have been looked at

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    # ---- before a run ----

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """The user's wish for this run; asked for unless it is known already."""
        self._is_run_start = True
        self._describe(request)
        if self._active_tensor_filter:
            return self._filter_response  # type: ignore[no-any-return]
        self._exit_if_asked()
        return self._response_of_before() or self._asked_response()

    def _response_of_before(self) -> OnRunStartResponse | None:
        """The response that an earlier `run -t TIMES` settled for this run."""
        left = self._run_through_times
        if self._run_call_count == 1 or self._skip_debug or left < 0:
            return None
        if left:
            return OnRunStartResponse(OnRunStartAction.NON_DEBUG_RUN, [])
        watched = OnRunStartResponse(OnRunStartAction.DEBUG_RUN, self._get_run_debug_urls())
        return self._run_start_response or watched

    def _asked_response(self) -> OnRunStartResponse:
        if self._run_start_response is None:
            self._ask_at_start()
        self._exit_if_asked()
        return self._run_start_response  # type: ignore[no-any-return]

    def _ask_at_start(self) -> None:
        self._prep_cli_for_run_start()
        self._run_start_response = self._launch_cli()
        if self._active_tensor_filter:
            self._filter_response = self._run_start_response
        # The run that begins now is one of those asked for.
        self._run_through_times -= self._run_through_times > 1

    def _describe(self, request: OnRunStartRequest) -> None:
        self._feed_dict = request.feed_dict
        self._run_through_times -= 1
        about = request.run_call_count, request.fetches, request.feed_dict
        by_callable = request.is_callable_runner
        self._run_description = shared.get_run_short_description(*about, by_callable)
        self._run_info = shared.get_run_start_intro(*about, self._tensor_filters, by_callable)

    def _exit_if_asked(self) -> None:
        if self._run_start_response == EXPLICIT_USER_EXIT:
            print(  # noqa: T201
                "Note: user exited from debugger CLI: Calling sys.exit(1).", file=sys.stderr
            )
            sys.exit(1)

    def _prep_cli_for_run_start(self) -> None:
        self._run_cli = get_ui(self._ui_type, config=self._config)
        intro = self._headed(RichTextLines("Upcoming run:"))
        intro.extend(self._run_info)
        self._run_cli.set_help_intro(intro)
        self._title = f"run-start: {self._run_description}"
        self._init_command, self._title_color = "run_info", "blue_on_white"

    def _headed(self, text: RichTextLines) -> RichTextLines:
        """The text, below the versions if this is the first run."""
        if self._run_call_count != 1:
            return text
        headed = shared.get_tfdbg_logo()
        headed.extend(get_tensorflow_version_lines())
        headed.extend(text)
        return headed

    # ---- after a run ----

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Shows a run that was watched, or traced."""
        self._is_run_start = False
        ends = {
            OnRunStartAction.DEBUG_RUN: self._end_debug_run,
            OnRunStartAction.PROFILE_RUN: self._end_profile_run,
        }
        ends.get(request.performed_action, self._end_plain_run)(request)
        return OnRunEndResponse()

    def _end_plain_run(self, request: OnRunEndRequest) -> None:
        self._run_start_response = None

    def _end_profile_run(self, request: OnRunEndRequest) -> None:
        self._prep_profile_cli_for_run_end(self._sess.graph, request.run_metadata)
        self._run_start_response = self._launch_cli()

    def _end_debug_run(self, request: OnRunEndRequest) -> None:
        if request.tf_error is not None and not os.path.isdir(self._dump_root):
            raise request.tf_error  # it came before anything could be dumped
        metadata, graph_def = request.run_metadata, request.client_graph_def
        graphs = list(metadata.partition_graphs) if metadata is not None else []
        dump = DebugDumpDir(self._dump_root, partition_graphs=graphs or [graph_def])
        dump.set_python_graph(self._sess.graph)
        passed = excluded = None
        if self._active_tensor_filter:
            chosen = self._tensor_filters[self._active_tensor_filter]
            if not dump.find(chosen, first_n=1, exclude_node_names=self._excluded):
                self._remove_dump_root()
                return
            passed, excluded = self._active_tensor_filter, self._excluded
            self._active_tensor_filter = self._excluded = None
        self._prep_debug_cli_for_run_end(dump, request.tf_error, passed, excluded)
        self._run_start_response = self._launch_cli()
        self._remove_dump_root()

    def _remove_dump_root(self) -> None:
        shutil.rmtree(self._dump_root, ignore_errors=True)

    def _prep_debug_cli_for_run_end(
        self, debug_dump: Any, tf_error: Any, passed_filter: str | None,
        passed_filter_exclude_node_names: str | None,
    ) -> None:  # fmt: skip
        self._run_cli = create_analyzer_ui(
            debug_dump, self._tensor_filters, ui_type=self._ui_type,
            on_ui_exit=self._remove_dump_root, config=self._config,
        )  # fmt: skip
        self._title = f"run-end: {self._run_description}"
        self._init_command, self._title_color = "lt", "black_on_white"
        if tf_error is not None:
            self._run_cli.set_help_intro(shared.get_error_intro(tf_error))
            self._init_command, self._title_color = "help", "red_on_white"
        elif passed_filter is not None:
            excluded = passed_filter_exclude_node_names
            more = f" --filter_exclude_node_names {excluded}" if excluded else ""
            self._init_command = f"lt -f {passed_filter}{more}"
            self._title_color = "red_on_white"

    def _prep_profile_cli_for_run_end(self, py_graph: Any, run_metadata: Any) -> None:
        from weft.lib.debug.profile_analyzer import create_profiler_ui

        self._run_cli = create_profiler_ui(
            py_graph, run_metadata, ui_type=self._ui_type, config=self._run_cli.config
        )
        self._init_command = "lp"
        self._title = f"run-end (profiler mode): {self._run_description}"

    # ---- the prompt ----

    def _launch_cli(self) -> Any:
        """Asks the user; what the prompt ends with."""
        self._register_this_run_info(self._run_cli)
        return self._run_cli.run_ui(
            init_command=self._init_command, title=self._title, title_color=self._title_color
        )

    def _register_this_run_info(self, cli: Any) -> None:
        handlers = {
            "run": (self._run_handler, "r"),
            "run_info": (self._run_info_handler, "ri"),
            "print_feed": (self._print_feed_handler, "pf"),
        }
        for name, (handler, alias) in handlers.items():
            text = self._parsers[name].format_help()
            cli.register_command_handler(name, handler, text, prefix_aliases=[alias])
        cli.register_tab_comp_context(["run", "r"], list(self._tensor_filters))
        fed = [get_graph_element_name(key) for key in self._feed_dict or ()]
        cli.register_tab_comp_context(["print_feed", "pf"], fed)

    def _get_run_debug_urls(self) -> list[str]:
        return [f"file://{self._dump_root}"]

    def _run_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        parsed = self._parsers["run"].parse_args(args)
        until = parsed.till_filter_pass
        if parsed.filter_exclude_node_names and not until:
            raise ValueError(
                "The --filter_exclude_node_names (or -feon) flag is valid only if the"
                " --till_filter_pass (or -f) flag is used."
            )
        if parsed.profile:
            raise CommandLineExit(OnRunStartResponse(OnRunStartAction.PROFILE_RUN, []))
        self._skip_debug, self._run_through_times = parsed.no_debug, parsed.times
        is_watched = parsed.times <= 1 and not parsed.no_debug
        response = OnRunStartResponse(
            OnRunStartAction.DEBUG_RUN if is_watched else OnRunStartAction.NON_DEBUG_RUN,
            self._get_run_debug_urls() if is_watched else [],
            node_name_regex_whitelist=parsed.node_name_filter or None,
            op_type_regex_whitelist=parsed.op_type_filter or None,
            tensor_dtype_regex_whitelist=parsed.tensor_dtype_filter or None,
        )
        if until and until not in self._tensor_filters:
            return RichTextLines([f'ERROR: tensor filter "{until}" does not exist.'])
        if until:
            self._active_tensor_filter, self._filter_response = until, response
            self._excluded = parsed.filter_exclude_node_names
        raise CommandLineExit(response)

    def _run_info_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        output = self._headed(RichTextLines([]))
        output.extend(self._run_info)
        menu = output.annotations.get(MAIN_MENU_KEY)
        if not self._is_run_start and menu and "list_tensors" not in menu.captions():
            menu.insert(0, MenuItem("list_tensors", "list_tensors"))
        return output

    def _print_feed_handler(self, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        if not self._feed_dict:
            return shared.error("The feed_dict of the current run is None or empty.")
        parsed = self._parsers["print_feed"].parse_args(args)
        name, slicing = words.parse_tensor_name_with_slicing(parsed.tensor_name)
        fed = {get_graph_element_name(key): value for key, value in self._feed_dict.items()}
        if name not in fed:
            return shared.error(f"The feed_dict of the current run does not contain the key {name}")
        value = fed[name]
        return shared.format_tensor(
            value if not slicing else np.asarray(value),
            f"{name} (feed)",
            shared.numpy_printoptions_from_screen_info(screen_info),
            print_all=parsed.print_all,
            tensor_slicing=slicing,
            highlight_options=shared.parse_ranges_highlight(parsed.ranges),
            include_numeric_summary=parsed.numeric_summary,
        )
