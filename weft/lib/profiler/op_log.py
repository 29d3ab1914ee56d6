"""The log of operations that profilers and debug servers read: costs, types and lines of Python."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from tensorboard.compat.proto.tfprof_log_pb2 import CodeDef, OpLogProto

from weft.graph.graph import get_default_graph
from weft.lib.profiler.flops import UnknownShape, flops_of
from weft.lib.profiler.options import TRAINABLE_VARIABLES


class Strings:
    """Strings by numbers, for messages that name files and functions again and again."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str | None) -> int:
        return self._numbers.setdefault(text or "", len(self._numbers))

    def code_def(self, frames: Iterable[Any]) -> CodeDef:
        """A stack: (file, line, function, text, first line of the function) of each frame."""
        code = CodeDef()
        for path, line, function, text, start in frames:
            code.traces.add(
                file_id=self.number(path), lineno=line or 0, function_id=self.number(function),
                line_id=self.number(text), func_start_line=start,
            )  # fmt: skip
        return code

    def by_number(self) -> dict[int, str]:
        return {number: text for text, number in self._numbers.items()}


def merge_default_with_oplog(
    graph: Any, op_log: Any = None, run_meta: Any = None, add_trace: bool = True,
    add_trainable_var: bool = True,
) -> OpLogProto:  # fmt: skip
    """What is known of a graph's operations, joined with what `op_log` says of them."""
    graph = graph or get_default_graph()
    log, strings = OpLogProto(), Strings()
    given = {entry.name: entry for entry in (op_log.log_entries if op_log is not None else ())}
    trainable: set[str] = set()
    if add_trainable_var:
        trainable = {v.op.name for v in graph.get_collection("trainable_variables")}
    for op in graph.get_operations():
        entry = log.log_entries.add(name=op.name, float_ops=_flops(op))
        if op.name in trainable:
            entry.types.append(TRAINABLE_VARIABLES)
        if op.name in given:
            entry.types.extend(t for t in given[op.name].types if t not in entry.types)
            entry.float_ops = given[op.name].float_ops or entry.float_ops
        if add_trace:
            entry.code_def.CopyFrom(strings.code_def(op.traceback_with_start_lines))
    for number, text in strings.by_number().items() if add_trace else ():
        log.id_to_string[number] = text
    return log


def _flops(op: Any) -> int:
    try:
        return flops_of(op)
    except UnknownShape:
        return 0


def write_op_log(
    graph: Any, log_dir: str, op_log: Any = None, run_meta: Any = None, add_trace: bool = True
) -> None:
    """Writes operations' costs, types and lines to `log_dir/tfprof_log`, for profilers to read."""
    log = merge_default_with_oplog(graph, op_log, run_meta, add_trace)
    with open(os.path.join(log_dir, "tfprof_log"), "wb") as file:
        file.write(log.SerializeToString())
