"""The text of a profile, and where it goes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from weft.core import errors
from weft.lib.profiler.statistics import Node

_MEMORY = {
    "bytes": ("requested bytes", "requested_bytes"),
    "peak_bytes": ("peak bytes", "peak_bytes"),
    "residual_bytes": ("residual bytes", "residual_bytes"),
    "output_bytes": ("output bytes", "output_bytes"),
}
_TIMES = {
    "total": ("total execution time", "exec_micros"),
    "accelerator_micros": ("accelerator execution time", "accelerator_exec_micros"),
    "cpu_micros": ("cpu execution time", "cpu_exec_micros"),
}


def count(n: int) -> str:
    for unit, size in (("b", 10**9), ("m", 10**6), ("k", 10**3)):
        if n >= size:
            return f"{n / size:.2f}{unit}"
    return str(n)


def time(micros: int) -> str:
    if micros >= 10**6:
        return f"{micros / 1e6:.2f}sec"
    return f"{micros / 1e3:.2f}ms" if micros >= 1000 else f"{micros}us"


def memory(size: int) -> str:
    if size >= 10**6:
        return f"{size / 1e6:.2f}MB"
    return f"{size / 1e3:.2f}KB" if size >= 1000 else f"{size}B"


def _columns(select: Any) -> Iterator[tuple[str, str, Any, str]]:
    """(title, statistic, how to write a number, what follows it)."""
    if "params" in select:
        yield "# parameters", "parameters", count, " params"
    if "float_ops" in select:
        yield "# float_ops", "float_ops", count, " flops"
    for name, (title, of) in _MEMORY.items():
        if name in select:
            yield title, of, memory, ""
    for name, (title, of) in _TIMES.items():
        if "micros" in select or name in select:
            yield title, of, time, ""


def _legend(select: Any, occurrence: str) -> str:
    titles = [title for title, *_ in _columns(select)]
    for name, title in (("device", "assigned devices"), ("op_types", "op types"),
                        ("occurrence", f"op {occurrence} (run|defined)")):  # fmt: skip
        if name in select:
            titles.append(title)
    return f"node name | {' | '.join(titles)}\n"


def scope_report(root: Node, options: dict[str, Any]) -> str:
    """A line for each scope and node, indented."""
    select = options.get("select", [])
    return _legend(select, "count") + "".join(_scope_lines(root, select, 0))


def _scope_lines(node: Node, select: Any, indent: int) -> Iterator[str]:
    facts = []
    if "params" in select and node.dims:
        facts.append("x".join(map(str, node.dims)))
    for _, of, written, unit in _columns(select):
        own = written(node.own[of]) if node.accounted else "--"
        facts.append(f"{own}/{written(node.total[of])}{unit}")
    if "device" in select and node.devices:
        facts.append("|".join(node.devices))
    if "op_types" in select:
        facts.append("|".join(sorted(node.types)))
    if "occurrence" in select:
        facts.append(_occurrence(node))
    yield f"{' ' * indent}{node.name} ({', '.join(facts)})\n"
    for child in node.children:
        yield from _scope_lines(child, select, indent + 2)


def _occurrence(node: Node) -> str:
    run, defined = (count(node.own["run_count"]), "1") if node.accounted else ("--", "--")
    return f"{run}/{count(node.total['run_count'])}|{defined}/{count(node.definitions)}"


def type_report(root: Node, groups: list[Node], options: dict[str, Any]) -> str:
    """A line for each type: its share together with those after it, and by itself."""
    select = options.get("select", [])
    lines = (_type_line(root, group, select) for group in groups)
    return _legend(select, "occurrence") + "".join(lines)


def _type_line(root: Node, group: Node, select: Any) -> str:
    facts = []
    for _, of, written, unit in _columns(select):
        everything = root.total[of] or 1
        shares = (100 * group.total[of] / everything, 100 * group.own[of] / everything)
        unit = " float_ops" if of == "float_ops" else unit
        text = f"{written(group.own[of])}{unit} ({shares[0]:.2f}%, {shares[1]:.2f}%)"
        facts.append(f"{text:>30}")
    if "device" in select:
        facts.append("|".join(sorted({d for node in group.members for d in node.devices})))
    if "op_types" in select:
        facts.append("|".join(sorted(group.types)))
    if "occurrence" in select:
        facts.append(f"{group.own['run_count']}|{len(group.members)}".rjust(10))
    return f"{group.name:<25}{', '.join(facts)}\n"


# In the order in which TensorFlow lists them.
_LISTED = (
    *("max_depth", "min_bytes", "min_peak_bytes", "min_residual_bytes", "min_output_bytes"),
    *("min_micros", "min_accelerator_micros", "min_cpu_micros", "min_params", "min_float_ops"),
    *("min_occurrence", "step", "order_by", "account_type_regexes", "start_name_regexes"),
    *("trim_name_regexes", "show_name_regexes", "hide_name_regexes"),
    *("account_displayed_op_only", "select", "output"),
)


def _framed(text: str, options: dict[str, Any]) -> str:
    """The report below its options, as it is printed."""
    listed = [f"-{name:<27}{_option(name, options.get(name, 0))}\n" for name in _LISTED]
    first, second, last = (
        "=" * before + title + "=" * (61 - before - len(title))
        for before, title in ((25, "Options"), (18, "Model Analysis Report"), (22, "End of Report"))
    )
    return f"\n{first}\n{''.join(listed)}\n{second}\n\nProfile:\n{text}\n{last}\n"


def _option(name: str, value: Any) -> str:
    if name == "output":
        return value if ":" in str(value) else f"{value}:"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(sorted(value)) if isinstance(value, (list, tuple)) else str(value)


def deliver(text: str, options: dict[str, Any]) -> None:
    """Prints the report, or writes it to the file that `output` names."""
    output = options.get("output", "stdout")
    if options.get("dump_to_file"):  # how files were asked for first
        output = f"file:outfile={options['dump_to_file']}"
    kind, _, rest = output.partition(":")
    if kind == "stdout":
        sys.stdout.write(_framed(text, options))
    elif kind == "file":
        name, _, path = rest.partition("=")
        if name != "outfile" or not path:
            raise errors.InvalidArgumentError(None, None, "file output needs outfile=<path>")
        with open(path, "w", encoding="utf8") as file:
            file.write(text)
    elif kind != "none":
        raise errors.UnimplementedError(
            None, None, f"weft writes a profile to stdout or a file, not as {kind}."
        )
