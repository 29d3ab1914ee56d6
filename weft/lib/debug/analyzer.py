"""The commands that look at a dump, put together, and a prompt with all of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from weft.lib.debug import words
from weft.lib.debug.answers import nodes, source, tensors, values
from weft.lib.debug.configuration import CLIConfig
from weft.lib.debug.expressions import ExpressionEvaluator
from weft.lib.debug.text import RichTextLines
from weft.lib.debug.ui import get_ui

_EXPECTED = "is expected to be {}, but is not."


class _Command(NamedTuple):
    alias: str
    description: str
    add_arguments: Callable[[argparse.ArgumentParser, Any], None] | None
    answer: Callable[[Any, Any, Any], RichTextLines]


_COMMANDS = {
    "list_tensors": _Command(
        "lt", "List dumped intermediate tensors.", tensors.add_arguments, tensors.answer
    ),
    "node_info": _Command(
        "ni", "Show information about a node.", nodes.add_info_arguments, nodes.info
    ),
    "list_inputs": _Command("li", "Show inputs to a node.", nodes.add_tree_arguments, nodes.inputs),
    "list_outputs": _Command(
        "lo", "Show the nodes that receive the outputs of given node.", nodes.add_tree_arguments,
        nodes.outputs,
    ),
    "print_tensor": _Command(
        "pt", "Print the value of a dumped tensor.", None, values.print_tensor
    ),
    "print_source": _Command(
        "ps", "Print a Python file with the nodes or tensors that its lines made.",
        source.add_print_arguments, source.print_source,
    ),
    "list_source": _Command(
        "ls", "List the Python files that made the nodes of this run.", source.add_list_arguments,
        source.list_source,
    ),
    "eval": _Command(
        "ev", "Evaluate an expression of NumPy over dumped tensors.", values.add_eval_arguments,
        values.evaluate,
    ),
}  # fmt: skip


class DebugAnalyzer:
    """Answers commands about a dump; each is a method that takes the words after the command."""

    def __init__(self, debug_dump: Any, config: Any) -> None:
        self.dump = debug_dump
        self.evaluator = ExpressionEvaluator(debug_dump)
        self.tensor_filters: dict[str, Callable[[Any, Any], bool]] = {}
        self._parsers: dict[str, argparse.ArgumentParser] = {}
        self._set_parsers(config)
        config.set_callback("graph_recursion_depth", self._set_parsers)

    def _set_parsers(self, config: Any) -> None:
        for name, command in _COMMANDS.items():
            if command.add_arguments is None:
                parser = words.get_print_tensor_argparser(command.description)
            else:
                parser = words.new_parser(command.description)
                command.add_arguments(parser, config)
            self._parsers[name] = parser

    def add_tensor_filter(self, filter_name: str, filter_callable: Any) -> None:
        """A filter that `lt -f` knows by name: `filter_callable(datum, value)`."""
        begin = "Input argument filter_"
        checks = [
            (isinstance(filter_name, str), TypeError(f"{begin}name {_EXPECTED.format('str')}")),
            (filter_name != "", ValueError(f"{begin}name cannot be empty.")),
            (
                callable(filter_callable),
                TypeError(f"{begin}callable {_EXPECTED.format('callable')}"),
            ),
        ]
        for holds, error in checks:
            if not holds:
                raise error
        self.tensor_filters |= {filter_name: filter_callable}

    def get_tensor_filter(self, filter_name: str) -> Callable[[Any, Any], bool]:
        if filter_name not in self.tensor_filters:
            raise ValueError(f'There is no tensor filter named "{filter_name}"')
        return self.tensor_filters[filter_name]

    def get_help(self, handler_name: str) -> str:
        return self._parsers[handler_name].format_help()

    def _answer(self, name: str, args: Sequence[str], screen_info: Any) -> RichTextLines:
        parsed = self._parsers[name].parse_args(args)
        return _COMMANDS[name].answer(self, parsed, screen_info)

    def handler(self, name: str) -> Callable[..., RichTextLines]:
        """The method that answers a command."""
        return getattr(self, "evaluate_expression" if name == "eval" else name)  # type: ignore[no-any-return]


def _method(name: str) -> Callable[..., RichTextLines]:
    def handle(self: DebugAnalyzer, args: Sequence[str], screen_info: Any = None) -> RichTextLines:
        return self._answer(name, args, screen_info)

    handle.__doc__ = _COMMANDS[name].description
    return handle


for _name in _COMMANDS:
    setattr(DebugAnalyzer, "evaluate_expression" if _name == "eval" else _name, _method(_name))


def create_analyzer_ui(
    debug_dump: Any, tensor_filters: dict[str, Any] | None = None, ui_type: str = "curses",
    on_ui_exit: Callable[[], object] | None = None, config: Any = None,
) -> Any:  # fmt: skip
    """A prompt with all commands about a dump."""
    config = CLIConfig() if config is None else config
    analyzer = DebugAnalyzer(debug_dump, config=config)
    for name, chosen in (tensor_filters or {}).items():
        analyzer.add_tensor_filter(name, chosen)
    ui = get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for name, command in _COMMANDS.items():
        ui.register_command_handler(
            name, analyzer.handler(name), analyzer.get_help(name), prefix_aliases=[command.alias]
        )
    dumped = [datum.tensor_name for datum in debug_dump.dumped_tensor_data]
    ui.register_tab_comp_context(["print_tensor", "pt"], dumped)
    if debug_dump.loaded_partition_graphs():
        of_nodes = ["node_info", "ni", "list_inputs", "li", "list_outputs", "lo"]
        ui.register_tab_comp_context(of_nodes, list(map(str, debug_dump.nodes())))
    return ui
